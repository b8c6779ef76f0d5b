//! Robust value iteration: step-bounded reachability and until.
//!
//! R. Givan, S. Leach and T. Dean, 'Bounded-parameter Markov decision processes', Artificial Intelligence 122 (2000); E. M. Wolff, U. Topcu
//! and R. M. Murray, 'Robust control of uncertain Markov decision processes with temporal logic specifications', CDC 2012. The Bellman
//! operator (`bellman.rs`) is applied once per step, from the indicator of the goal.
//!
//! *Soundness.* One step is computed with an error of at most γ of the value plus γ; the exact step is monotone, non-expansive and
//! positively homogeneous. So after k steps a value is off by at most ((1+γ)ᵏ − 1)(1 + 1/γ·γ) < 2kγ·(value + 1) as long as kγ is
//! small, and that much is put around it. States that no run can lead to the goal are found on the graph, and are exactly zero.

use certus_numerics::parallel;

use super::Imdp;
use super::bellman::{Block, Players, blocks, step_error};

/// Values with what rounding may have changed: lower and upper ends, one per state.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// What a computation may use.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// How many threads; at least one.
    pub threads: usize,
    /// Asked now and then whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Resources<'_> {
    fn default() -> Self {
        Resources { threads: 1, stop: &|| false }
    }
}

/// Fewer transitions than this are not worth a second thread.
const WORTH_THREADS: usize = 20_000;

/// The states that may reach the goal by states of `stay` in so many steps, whatever the players do.
pub(crate) fn may_reach(model: &Imdp, stay: &[bool], goal: &[bool], steps: u64) -> Vec<bool> {
    let (starts, sources) = model.predecessors();
    let mut found = goal.to_vec();
    let mut layer: Vec<usize> = (0..model.states()).filter(|&state| goal[state]).collect();
    let mut distance = 0;
    while !layer.is_empty() && distance < steps {
        distance += 1;
        let mut after = Vec::new();
        for state in layer {
            for &source in &sources[starts[state] as usize..starts[state + 1] as usize] {
                let source = source as usize;
                if stay[source] && !found[source] {
                    found[source] = true;
                    after.push(source);
                }
            }
        }
        layer = after;
    }
    found
}

/// One step for all states of interest: `values` to `next`.
pub(crate) fn step(
    blocks: &mut [Block],
    values: &[f64],
    next: &mut [f64],
    wanted: &(dyn Fn(usize) -> bool + Sync),
    players: Players,
) {
    let run = |block: &mut Block, out: &mut [f64]| {
        for (place, slot) in out.iter_mut().enumerate() {
            let state = block.first + place;
            *slot = if wanted(state) { block.state_value(place, values, players).0 } else { values[state] };
        }
    };
    let mut rest = next;
    let mut shares = Vec::with_capacity(blocks.len());
    for block in blocks.iter_mut() {
        let (own, after) = rest.split_at_mut(block.states());
        shares.push((block, own));
        rest = after;
    }
    let threads = shares.len();
    parallel::map_owned(shares, threads, |(block, out)| run(block, out));
}

/// The best choices of every step, by their places within the states: those with all steps left come last.
pub type Plan = Vec<Vec<u32>>;

/// Plans of more choices than this are not made: they would cost more than the values.
const LONGEST_PLAN: u64 = 2_000_000;

/// A choice per state and number of steps left that attains the values; nothing when stopped, or when it would be too long.
///
/// Computed values are what they are by the first best choice, so the same choices give the same values again.
pub fn plan(
    model: &Imdp,
    stay: &[bool],
    goal: &[bool],
    steps: u64,
    players: Players,
    resources: Resources<'_>,
) -> Option<Plan> {
    if steps.saturating_mul(model.states() as u64) > LONGEST_PLAN {
        return None;
    }
    let possible = may_reach(model, stay, goal, steps);
    let mut block = Block::new(model, 0..model.states());
    let mut values: Vec<f64> = goal.iter().map(|&goal| f64::from(u8::from(goal))).collect();
    let mut found = Plan::new();
    for _ in 0..steps {
        if (resources.stop)() {
            return None;
        }
        let mut next = values.clone();
        let mut chosen = vec![0; model.states()];
        for state in (0..model.states()).filter(|&state| possible[state] && !goal[state]) {
            let (value, place) = block.state_value(state, &values, players);
            (next[state], chosen[state]) = (value, place as u32);
        }
        values = next;
        found.push(chosen);
    }
    Some(found)
}

/// Probabilities of `stay U<=steps goal` where the scheduler follows a plan; nothing when stopped.
pub fn following(
    model: &Imdp,
    stay: &[bool],
    goal: &[bool],
    plan: &Plan,
    players: Players,
    resources: Resources<'_>,
) -> Option<Values> {
    let steps = plan.len() as u64;
    let possible = may_reach(model, stay, goal, steps);
    let mut block = Block::new(model, 0..model.states());
    let mut values: Vec<f64> = goal.iter().map(|&goal| f64::from(u8::from(goal))).collect();
    for chosen in plan {
        if (resources.stop)() {
            return None;
        }
        let mut next = values.clone();
        for state in (0..model.states()).filter(|&state| possible[state] && !goal[state]) {
            next[state] = block.one_choice(state, chosen[state] as usize, &values, players.nature);
        }
        values = next;
    }
    Some(around(model, goal, &possible, &values, steps))
}

/// Probabilities of `stay U<=steps goal`, one per state; nothing when stopped.
#[tracing::instrument(level = "debug", name = "robust value iteration", skip_all)]
pub fn until(
    model: &Imdp,
    stay: &[bool],
    goal: &[bool],
    steps: u64,
    players: Players,
    resources: Resources<'_>,
) -> Option<Values> {
    let possible = may_reach(model, stay, goal, steps);
    let threads = if model.transition_count() < WORTH_THREADS { 1 } else { resources.threads };
    let mut blocks = blocks(model, threads);
    let mut values: Vec<f64> = goal.iter().map(|&goal| f64::from(u8::from(goal))).collect();
    let mut next = values.clone();
    let wanted = |state: usize| possible[state] && !goal[state];
    for _ in 0..steps {
        if (resources.stop)() {
            return None;
        }
        step(&mut blocks, &values, &mut next, &wanted, players);
        std::mem::swap(&mut values, &mut next);
        if values == next {
            // Computed values stay as they are from now on; exact ones may still move, within the error of all steps.
            break;
        }
    }
    Some(around(model, goal, &possible, &values, steps))
}

/// Computed values with what rounding may have changed in so many steps.
fn around(model: &Imdp, goal: &[bool], possible: &[bool], values: &[f64], steps: u64) -> Values {
    let states = model.states();
    let error = 2.0 * steps as f64 * step_error(model);
    let lower = |state: usize| {
        let value = values[state];
        if goal[state] { 1.0 } else { (value - error * (value + 1.0)).clamp(0.0, 1.0) }
    };
    let upper = |state: usize| {
        let value = values[state];
        if !possible[state] { 0.0 } else { (value + error * (value + 1.0)).clamp(0.0, 1.0) }
    };
    let values = Values { lower: (0..states).map(lower).collect(), upper: (0..states).map(upper).collect() };
    debug_assert!((0..states).all(|state| values.lower[state] <= values.upper[state]), "crossed values");
    values
}
