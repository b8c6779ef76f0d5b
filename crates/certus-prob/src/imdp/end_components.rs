//! Graph analysis of an interval MDP: states of value zero, and maximal end components.
//!
//! States with probability zero follow Prob0A/Prob0E of qualitative model checking (A. Bianco and L. de Alfaro, 'Model checking of
//! probabilistic and nondeterministic systems', FSTTCS 1995), with nature as a second player. The decomposition into maximal end components
//! (L. de Alfaro, 'Formal verification of probabilistic systems', Stanford 1997) alternates two steps until nothing changes: drop the
//! choices that leave a component, then split it into strongly connected components.
//!
//! *Departure.* A choice of an interval MDP belongs to an end component if nature *can* keep it inside, so the components are those in which
//! both players together can stay.

use certus_numerics::components::{self, Digraph};

use super::{Imdp, Objective, Players};

/// Whether nature can keep a choice inside of a set: nothing must leave, and what stays can take all.
pub(crate) fn can_stay(model: &Imdp, choice: usize, inside: &dyn Fn(usize) -> bool) -> bool {
    let mut sum = 0.0;
    for (target, lower, upper) in model.transitions(choice) {
        match inside(target) {
            true => sum += upper,
            false if lower > 0.0 => return false,
            false => {}
        }
    }
    // Sums of decimals may be short of one by rounding.
    sum >= 1.0 - 1e-9
}

/// Whether nature can give a set any probability.
pub(crate) fn can_enter(model: &Imdp, choice: usize, inside: &dyn Fn(usize) -> bool) -> bool {
    let (mut certain, mut sum) = (false, 0.0);
    let mut possible = false;
    for (target, lower, upper) in model.transitions(choice) {
        sum += lower;
        if inside(target) {
            certain |= lower > 0.0;
            possible |= upper > 0.0;
        }
    }
    certain || (possible && sum < 1.0)
}

/// The states from which the goal is reached with some probability when both players play as they do. All others have value zero.
pub(crate) fn positive(model: &Imdp, stay: &[bool], goal: &[bool], players: Players) -> Vec<bool> {
    let (starts, sources) = model.predecessors();
    let mut found = goal.to_vec();
    let mut pending: Vec<usize> = (0..model.states()).filter(|&state| goal[state]).collect();
    while let Some(state) = pending.pop() {
        for &source in &sources[starts[state] as usize..starts[state + 1] as usize] {
            let source = source as usize;
            if found[source] || !stay[source] {
                continue;
            }
            let enters = |choice: usize| match players.nature {
                Objective::Max => can_enter(model, choice, &|target| found[target]),
                Objective::Min => !can_stay(model, choice, &|target| !found[target]),
            };
            let mut choices = model.choices(source);
            let all = match players.scheduler {
                Objective::Max => choices.any(enters),
                Objective::Min => choices.all(enters),
            };
            if all {
                found[source] = true;
                pending.push(source);
            }
        }
    }
    found
}

/// Maximal sets of states (among those allowed) in which the two players together can stay for ever and reach every state from every other.
pub(crate) fn end_components(model: &Imdp, allowed: &[bool]) -> Vec<Vec<usize>> {
    let mut component: Vec<u32> = allowed.iter().map(|&allowed| if allowed { 0 } else { u32::MAX }).collect();
    loop {
        let inside =
            |state: usize, target: usize| component[target] == component[state] && component[state] != u32::MAX;
        let stays: Vec<bool> = (0..model.states())
            .flat_map(|state| model.choices(state).map(move |choice| (state, choice)))
            .map(|(state, choice)| component[state] != u32::MAX && can_stay(model, choice, &|t| inside(state, t)))
            .collect();
        let next = strongly_connected(model, &component, &stays);
        if next == component {
            break;
        }
        component = next;
    }
    let count = component.iter().filter(|&&number| number != u32::MAX).max().map_or(0, |&most| most as usize + 1);
    let mut sets = vec![Vec::new(); count];
    for (state, &number) in component.iter().enumerate().filter(|(_, number)| **number != u32::MAX) {
        sets[number as usize].push(state);
    }
    sets.retain(|set| !set.is_empty());
    sets
}

/// The graph whose edges are those of choices that stay, within the present components.
struct Staying<'a> {
    model: &'a Imdp,
    component: &'a [u32],
    stays: &'a [bool],
}

impl Staying<'_> {
    /// Whether a state has a choice that stays; the others belong to no component.
    fn takes_part(&self, state: usize) -> bool {
        self.component[state] != u32::MAX && self.model.choices(state).any(|choice| self.stays[choice])
    }
}

impl Digraph for Staying<'_> {
    type Node = usize;
    // Edges have no labels.
    type Label = bool;
    type Error = std::convert::Infallible;

    fn len(&self) -> usize {
        self.model.states()
    }

    fn index(&self, state: usize) -> usize {
        state
    }

    fn successors(&mut self, state: usize, found: &mut Vec<(usize, bool)>) {
        let choices = self.model.choices(state).filter(|&choice| self.stays[choice]);
        let targets = choices.flat_map(|choice| self.model.transitions(choice)).filter(|&(target, _, upper)| {
            upper > 0.0 && self.component[target] == self.component[state] && self.takes_part(target)
        });
        found.extend(targets.map(|(target, ..)| (target, false)));
    }
}

/// Strongly connected components of that graph.
fn strongly_connected(model: &Imdp, component: &[u32], stays: &[bool]) -> Vec<u32> {
    let mut graph = Staying { model, component, stays };
    let roots: Vec<usize> = (0..model.states()).filter(|&state| graph.takes_part(state)).collect();
    let mut result = vec![u32::MAX; model.states()];
    let mut found = 0u32;
    let Ok(()) = components::strongly_connected(&mut graph, roots, |own| {
        own.nodes.iter().for_each(|&state| result[state] = found);
        found += 1;
    });
    // Numbers in the order of first states, so that equal partitions are equal lists.
    let mut renumbered = vec![u32::MAX; found as usize];
    let mut next = 0;
    for number in result.iter_mut().filter(|number| **number != u32::MAX) {
        let own = &mut renumbered[*number as usize];
        if *own == u32::MAX {
            *own = next;
            next += 1;
        }
        *number = *own;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imdp::Builder;

    /// 0 ⇄ 1 with a way out to 2 (goal) or 3 (nothing).
    fn model() -> Imdp {
        let mut builder = Builder::new();
        builder.state();
        builder.choice(&[(1, 1.0, 1.0)]);
        builder.state();
        builder.choice(&[(0, 1.0, 1.0)]);
        builder.choice(&[(2, 0.0, 0.6), (3, 0.4, 1.0)]);
        builder.state();
        builder.state();
        builder.finish().unwrap()
    }

    #[test]
    fn a_loop_is_a_component_and_players_decide_what_is_zero() {
        let model = model();
        let goal = [false, false, true, false];
        let sets = end_components(&model, &[true, true, false, true]);
        assert_eq!(sets, [vec![0, 1], vec![3]]);
        let zero = |scheduler, nature| {
            let found = positive(&model, &[true; 4], &goal, Players { scheduler, nature });
            (0..4).filter(|&state| !found[state]).collect::<Vec<_>>()
        };
        assert_eq!(zero(Objective::Max, Objective::Max), [3]);
        assert_eq!(zero(Objective::Max, Objective::Min), [0, 1, 3]);
        assert_eq!(zero(Objective::Min, Objective::Max), [0, 1, 3]);
    }
}
