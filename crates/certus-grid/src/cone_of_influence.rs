//! Cone-of-influence reduction: the state variables that a property depends on.
//!
//! Clarke, Grumberg and Peled, "Model Checking", MIT Press 1999, section 13.1. A state variable is in the cone if an atom of the property, the condition on transitions, the end of runs, a policy or the
//! domain of an operation reads it, or the next value of another variable in the cone. The others, a counter or the cost of a run so far, would cost the grid a dimension each.
//! Departure: a variable that might leave its declared range while the property is open is kept as well, since leaving it is a model error.
//!
//! Sound: every run of the system, restricted to the cone, is a run of the reduced system, and no run ends because a variable outside of the cone leaves its range. So what holds of
//! all runs of the reduced system holds of the system.

use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::{ActionRole, AtomId, NetworkRole, Output, Roles, System, Truth, Variable};
use certus_model::CheckError;

use crate::range_invariants::{stays_in_range, stays_in_range_for};
use crate::transition_relation::{definedness, reads};

/// Steps up to which it is tried whether a variable stays in its range.
const MOST_STEPS: usize = 2000;

/// A system restricted to the cone of influence of some atoms.
pub(crate) struct ConeOfInfluence {
    /// The restricted system.
    pub system: System,
    /// For each state coordinate of it, its place in the state of the whole system.
    pub kept: Vec<usize>,
    /// The names of the variables outside of the cone.
    pub without: Vec<String>,
    /// How many state coordinates the whole system has.
    whole: usize,
}

impl ConeOfInfluence {
    /// The cone of influence of the atoms of a property, with the network itself or a policy extracted from it. If the property is about
    /// so many steps only, what a variable does later does not matter.
    pub fn of(
        system: &System,
        atoms: &[AtomId],
        horizon: Option<usize>,
        extracted: bool,
    ) -> Result<ConeOfInfluence, CheckError> {
        let mut in_cone = cone_of(system, atoms, &vec![false; system.states.len()]);
        // Without a range there is nothing to leave.
        let has_range = |own: &Variable| own.lower.iter().chain(&own.upper).any(|end| end.is_finite());
        if system.states.iter().zip(&in_cone).any(|(own, in_cone)| !in_cone && has_range(own)) {
            let mut stays = stays_in_range(system, extracted)?;
            // Intervals alone say little of differential equations, and take long.
            let may_help = !extracted && !system.is_exact() && stays.contains(&false);
            let short = horizon.filter(|horizon| may_help && *horizon < MOST_STEPS);
            if let Some(horizon) = short {
                // The last position that matters has a successor, too.
                stays.iter_mut().zip(stays_in_range_for(system, horizon + 1)?).for_each(|(own, short)| *own |= short);
            }
            let leaves = system.states.iter().zip(&stays).map(|(own, stays)| !stays && has_range(own));
            in_cone = cone_of(system, atoms, &leaves.collect::<Vec<_>>());
        }
        let offsets = system.state_offsets();
        let variables = || system.states.iter().zip(&in_cone).zip(&offsets);
        let kept = variables().filter(|((_, in_cone), _)| **in_cone);
        let without = variables().filter(|((_, in_cone), _)| !**in_cone);
        Ok(ConeOfInfluence {
            kept: kept.flat_map(|((own, _), &offset)| offset..offset + own.len).collect(),
            without: without.map(|((own, _), _)| own.name.clone()).collect(),
            whole: system.state_len(),
            system: if in_cone.contains(&false) { restricted(system, &in_cone)? } else { system.clone() },
        })
    }

    /// The entries of a state, or of another vector of its length, that are in the cone.
    pub fn of_state<T: Copy>(&self, state: &[T]) -> Vec<T> {
        self.kept.iter().map(|&place| state[place]).collect()
    }

    /// A vector over all state coordinates from one over those in the cone.
    pub fn lifted<T: Copy>(&self, own: &[T], others: impl Fn(usize) -> T) -> Vec<T> {
        let mut all: Vec<T> = (0..self.whole).map(others).collect();
        self.kept.iter().zip(own).for_each(|(&place, &own)| all[place] = own);
        all
    }
}

/// For each state variable, whether it is in the cone; those of `kept` are in any case.
fn cone_of(system: &System, atoms: &[AtomId], kept: &[bool]) -> Vec<bool> {
    let roles = &system.roles;
    let truths = atoms.iter().map(|atom| roles.atoms[atom.0]).chain(roles.assume).chain(roles.terminal);
    let actions = roles.actions.iter().map(|role| match role {
        ActionRole::Argmax { scores, .. } => scores.node,
        ActionRole::Softmax { logits, .. } => logits.node,
    });
    let policies = roles.policies.iter().map(|policy| policy.node);
    let defined = definedness(system, atoms).into_iter().map(|own| own.node);
    let mut pending: Vec<NodeId> =
        truths.map(|own| own.truth.node).chain(actions).chain(policies).chain(defined).collect();
    let mut in_cone = kept.to_vec();
    pending.extend(roles.next.iter().zip(kept).filter(|(_, kept)| **kept).map(|(next, _)| next.node));
    while let Some(node) = pending.pop() {
        for (variable, input) in roles.states.iter().enumerate() {
            if !in_cone[variable] && reads(&system.step, node, |other| other == *input) {
                in_cone[variable] = true;
                pending.push(roles.next[variable].node);
            }
        }
    }
    // A grid needs at least one axis.
    if let (false, Some(first)) = (in_cone.contains(&true), in_cone.first_mut()) {
        *first = true;
    }
    in_cone
}

/// The system with some of its state variables. Outputs that depend on the others are still there, without a meaning.
fn restricted(system: &System, in_cone: &[bool]) -> Result<System, GraphError> {
    let mut step = Graph::new();
    let mut inputs = Vec::new();
    for (place, port) in system.step.inputs().iter().enumerate() {
        let shape = system.step.shape(port.node).to_vec();
        inputs.push(match in_cone.get(place) {
            Some(false) => {
                let zeros = vec![0.0; shape.iter().product()];
                step.constant(Tensor::new(shape, zeros)?)
            }
            _ => step.input(&port.name, &shape),
        });
    }
    let outputs = step.inline(&system.step, &inputs)?;
    for (port, &node) in system.step.outputs().iter().zip(&outputs) {
        step.output(&port.name, node);
    }
    let output = |own: Output| Output { node: outputs[own.port], ..own };
    let truth = |own: Truth| Truth { truth: output(own.truth), margin: output(own.margin) };
    let input = |node: NodeId| {
        let place = system.step.inputs().iter().position(|port| port.node == node);
        place.map_or(node, |place| inputs[place])
    };
    let action = |role: &ActionRole| match *role {
        ActionRole::Argmax { choice, scores } => ActionRole::Argmax { choice: output(choice), scores: output(scores) },
        ActionRole::Softmax { choice, probabilities, logits } => {
            ActionRole::Softmax { choice: input(choice), probabilities: output(probabilities), logits: output(logits) }
        }
    };
    let network = |role: &NetworkRole| NetworkRole { result: input(role.result), arguments: output(role.arguments) };
    let own = &system.roles;
    let states = own.states.iter().zip(in_cone).filter(|(_, in_cone)| **in_cone);
    let next = own.next.iter().zip(in_cone).filter(|(_, in_cone)| **in_cone);
    let roles = Roles {
        states: states.map(|(&node, _)| input(node)).collect(),
        inputs: own.inputs.iter().map(|&node| input(node)).collect(),
        chances: own.chances.iter().map(|&node| input(node)).collect(),
        free_params: own.free_params.iter().map(|&(place, node)| (place, input(node))).collect(),
        policies: own.policies.iter().map(|&own| output(own)).collect(),
        actions: own.actions.iter().map(action).collect(),
        next: next.map(|(&own, _)| output(own)).collect(),
        atoms: own.atoms.iter().map(|&own| truth(own)).collect(),
        assume: own.assume.map(truth),
        choice_defined: own.choice_defined.map(truth),
        defined: own.defined.map(truth),
        atoms_defined: own.atoms_defined.iter().map(|defined| defined.map(truth)).collect(),
        init_defined: own.init_defined.map(truth),
        integral: None,
        terminal: own.terminal.map(truth),
        networks: own.networks.iter().map(network).collect(),
        ..Roles::default()
    };
    let numbers = system.states.iter().zip(in_cone).flat_map(|(own, &in_cone)| std::iter::repeat_n(in_cone, own.len));
    let numbers: Vec<bool> = numbers.collect();
    let ends = |ends: &[f64]| ends.iter().zip(&numbers).filter(|(_, kept)| **kept).map(|(&end, _)| end).collect();
    let init_boxes = system.init_boxes.iter().map(|(lower, upper)| (ends(lower), ends(upper)));
    let states = system.states.iter().zip(in_cone).filter(|(_, in_cone)| **in_cone);
    Ok(System {
        states: states.map(|(own, _)| own.clone()).collect(),
        init_box: (ends(&system.init_box.0), ends(&system.init_box.1)),
        init_boxes: init_boxes.collect(),
        defines: Vec::new(),
        step,
        roles,
        ..system.clone()
    })
}

#[cfg(test)]
mod tests {
    use certus_graph::eval::evaluate;
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    const COUNTING: &str = "system counting\nstate cost\nstate x in [0, 2]\nstate past[2] in [0, 2]\nstate v in [0, 1]\n\
        chance c of { ok: 0.5, bad: 0.5 }\naction a = argmax([x, 1]) of { left, right }\n\
        next cost = cost + past[0]\nnext x = x / 2 + v / 4\nnext past = shift(past, x)\n\
        next v = match a { left: v, right: match c { ok: 0, bad: 1 } }\n\
        init x in [0, 1] & cost == 0\nproperty small = G x < 2\nproperty cheap = G cost < 50\n";

    #[test]
    fn variables_that_nothing_in_the_cone_reads_are_left_out() {
        let system = load_str(COUNTING, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let cone = |name: &str| {
            let place = system.properties.iter().position(|own| own.name == name).unwrap();
            ConeOfInfluence::of(&system, &[AtomId(place)], None, false).unwrap()
        };
        let small = cone("small");
        assert_eq!((small.kept.as_slice(), small.without.join(" ").as_str()), (&[1, 4][..], "cost past"));
        assert!(cone("cheap").without.is_empty());
        assert_eq!(small.of_state(&[1, 2, 3, 4, 5]), [2, 5]);
        assert_eq!(small.lifted(&[7, 8], |place| place), [0, 7, 2, 3, 8]);
    }

    #[test]
    fn a_variable_that_leaves_its_range_later_than_the_property_looks_is_left_out() {
        let text = "system s\nstate t in [0, 10]\nstate x in [-1, 1]\nnext t = t + 1\nnext x = -x\ninit t == 0 & x == 1\nproperty p = G x < 2\n";
        let system = load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let without = |horizon| ConeOfInfluence::of(&system, &[AtomId(0)], horizon, false).unwrap().without;
        assert!(without(None).is_empty() && without(Some(10)).is_empty());
        // After nine steps, and their last successor, t is 10.
        assert_eq!(without(Some(9)), ["t"]);
    }

    #[test]
    fn the_restricted_system_does_what_the_whole_does() {
        let system = load_str(COUNTING, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let cone = ConeOfInfluence::of(&system, &[AtomId(0)], None, false).unwrap().system;
        for (x, v) in [(0.3, 0.5), (1.5, 0.0), (0.9, 1.0)] {
            let whole = evaluate(&system.step, &[&[3.0], &[x], &[0.1, 0.2], &[v], &[0.0, 1.0]]).unwrap();
            let values = evaluate(&cone.step, &[&[x], &[v], &[0.0, 1.0]]).unwrap();
            for (own, other) in cone.roles.next.iter().zip([1, 3]) {
                assert_eq!(values[own.port], whole[system.roles.next[other].port]);
            }
            assert_eq!(values[cone.roles.atoms[0].truth.port], whole[system.roles.atoms[0].truth.port]);
            assert_eq!(cone.step.outputs()[cone.roles.next[0].port].node, cone.roles.next[0].node);
        }
    }
}
