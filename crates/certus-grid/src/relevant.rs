//! The part of a system that a property can tell apart.
//!
//! A state variable matters if an atom of the property, the condition on transitions, the end of runs, a policy or the domain of an operation reads it, or the next value of
//! another one that matters; and so does one that might leave its range. The others, a counter or what a run has cost so far, would cost a grid a dimension each.
//! Without them every run of the system is still one, and none ends where a variable that was left out leaves its range, so what holds of all runs of the part
//! holds of the system.

use certus_graph::{Graph, GraphError, NodeId, Tensor};
use certus_lang::system::{ActionRole, AtomId, NetworkRole, Output, Roles, System, Truth, Variable};

use crate::bounded::stays;
use crate::moves::{definedness, reads};
use certus_model::CheckError;

/// A system without the state variables that do not matter.
pub(crate) struct Part {
    /// It.
    pub system: System,
    /// For each number of its state, its place in the state of the whole.
    pub kept: Vec<usize>,
    /// The names of the variables that were left out.
    pub without: Vec<String>,
    /// How many numbers the state of the whole has.
    whole: usize,
}

impl Part {
    /// The part of a system that matters to some atoms, with the network itself or a policy that is extracted from it.
    pub fn of(system: &System, atoms: &[AtomId], extracted: bool) -> Result<Part, CheckError> {
        let mut matters = relevant(system, atoms, &vec![false; system.states.len()]);
        // Without a range there is nothing to leave.
        let has_range = |own: &Variable| own.lower.iter().chain(&own.upper).any(|end| end.is_finite());
        if system.states.iter().zip(&matters).any(|(own, matters)| !matters && has_range(own)) {
            let stays = stays(system, extracted)?;
            let leaves = system.states.iter().zip(&stays).map(|(own, stays)| !stays && has_range(own));
            matters = relevant(system, atoms, &leaves.collect::<Vec<_>>());
        }
        let offsets = system.state_offsets();
        let variables = || system.states.iter().zip(&matters).zip(&offsets);
        let kept = variables().filter(|((_, matters), _)| **matters);
        let without = variables().filter(|((_, matters), _)| !**matters);
        Ok(Part {
            kept: kept.flat_map(|((own, _), &offset)| offset..offset + own.len).collect(),
            without: without.map(|((own, _), _)| own.name.clone()).collect(),
            whole: system.state_len(),
            system: if matters.contains(&false) { restricted(system, &matters)? } else { system.clone() },
        })
    }

    /// The numbers of a state of the whole, or of something else of its length, that matter.
    pub fn of_state<T: Copy>(&self, state: &[T]) -> Vec<T> {
        self.kept.iter().map(|&place| state[place]).collect()
    }

    /// Something for every number of the whole, from what there is for those that matter.
    pub fn lifted<T: Copy>(&self, own: &[T], others: impl Fn(usize) -> T) -> Vec<T> {
        let mut all: Vec<T> = (0..self.whole).map(others).collect();
        self.kept.iter().zip(own).for_each(|(&place, &own)| all[place] = own);
        all
    }
}

/// For each state variable, whether it matters; some do in any case.
fn relevant(system: &System, atoms: &[AtomId], kept: &[bool]) -> Vec<bool> {
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
    let mut matters = kept.to_vec();
    pending.extend(roles.next.iter().zip(kept).filter(|(_, kept)| **kept).map(|(next, _)| next.node));
    while let Some(node) = pending.pop() {
        for (variable, input) in roles.states.iter().enumerate() {
            if !matters[variable] && reads(&system.step, node, |other| other == *input) {
                matters[variable] = true;
                pending.push(roles.next[variable].node);
            }
        }
    }
    // Something has to be left.
    if let (false, Some(first)) = (matters.contains(&true), matters.first_mut()) {
        *first = true;
    }
    matters
}

/// The system with some of its state variables. What depends on the others is still there, and means nothing.
fn restricted(system: &System, matters: &[bool]) -> Result<System, GraphError> {
    let mut step = Graph::new();
    let mut inputs = Vec::new();
    for (place, port) in system.step.inputs().iter().enumerate() {
        let shape = system.step.shape(port.node).to_vec();
        inputs.push(match matters.get(place) {
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
    let states = own.states.iter().zip(matters).filter(|(_, matters)| **matters);
    let next = own.next.iter().zip(matters).filter(|(_, matters)| **matters);
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
        terminal: own.terminal.map(truth),
        networks: own.networks.iter().map(network).collect(),
        ..Roles::default()
    };
    let numbers = system.states.iter().zip(matters).flat_map(|(own, &matters)| std::iter::repeat_n(matters, own.len));
    let numbers: Vec<bool> = numbers.collect();
    let ends = |ends: &[f64]| ends.iter().zip(&numbers).filter(|(_, kept)| **kept).map(|(&end, _)| end).collect();
    let states = system.states.iter().zip(matters).filter(|(_, matters)| **matters);
    Ok(System {
        states: states.map(|(own, _)| own.clone()).collect(),
        init_box: (ends(&system.init_box.0), ends(&system.init_box.1)),
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
    fn what_is_read_by_nothing_that_matters_is_left_out() {
        let system = load_str(COUNTING, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let part = |name: &str| {
            let place = system.properties.iter().position(|own| own.name == name).unwrap();
            Part::of(&system, &[AtomId(place)], false).unwrap()
        };
        let small = part("small");
        assert_eq!((small.kept.as_slice(), small.without.join(" ").as_str()), (&[1, 4][..], "cost past"));
        assert!(part("cheap").without.is_empty());
        assert_eq!(small.of_state(&[1, 2, 3, 4, 5]), [2, 5]);
        assert_eq!(small.lifted(&[7, 8], |place| place), [0, 7, 2, 3, 8]);
    }

    #[test]
    fn the_part_does_what_the_whole_does() {
        let system = load_str(COUNTING, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let part = Part::of(&system, &[AtomId(0)], false).unwrap().system;
        for (x, v) in [(0.3, 0.5), (1.5, 0.0), (0.9, 1.0)] {
            let whole = evaluate(&system.step, &[&[3.0], &[x], &[0.1, 0.2], &[v], &[0.0, 1.0]]).unwrap();
            let values = evaluate(&part.step, &[&[x], &[v], &[0.0, 1.0]]).unwrap();
            for (own, other) in part.roles.next.iter().zip([1, 3]) {
                assert_eq!(values[own.port], whole[system.roles.next[other].port]);
            }
            assert_eq!(values[part.roles.atoms[0].truth.port], whole[system.roles.atoms[0].truth.port]);
            assert_eq!(part.step.outputs()[part.roles.next[0].port].node, part.roles.next[0].node);
        }
    }
}
