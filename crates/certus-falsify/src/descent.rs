//! Gradient descent on robustness, through the steps of a run.
//!
//! Robustness is a minimum and maximum of atoms' margins, so near a run it is the margin of one atom at one position, the *critical* one (Abbas, Winn, Fainekos and Julius,
//! "Functional gradient descent method for Metric Temporal Logic specifications", ACC 2014). Its derivative by every earlier choice comes from one sweep backwards through
//! the run (backpropagation through time), by the gradients of the lowered step that the solver's attack has. Then the first state and the inputs of every step move against the signs of it, as in
//! projected gradient descent.
//!
//! Labels stay as they are. At jumps the gradient points to the other side, as in the attack; where an operator has no gradient, nothing moves,
//! and other searches have to help.

use certus_check::replay::{Drive, split};
use certus_graph::lower::lower;
use certus_graph::{Graph, GraphError};
use certus_lang::system::{AtomId, Formula, System};
use certus_model::nnf;
use certus_sim::semantics::{self, Tail, Value};
use certus_solver::gradient::{Gradient, Tape};

/// The step, prepared for derivatives.
pub(crate) struct Descent<'t> {
    system: &'t System,
    formula: &'t Formula,
    gradient: Gradient<f64>,
    /// For each element of the successor, then for each atom that is asked about, its node and element.
    next: Vec<(usize, usize)>,
    margins: Vec<(AtomId, usize)>,
}

/// The derivative of a run's robustness.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slope {
    /// By the elements of the first state.
    pub(crate) start: Vec<f64>,
    /// By the inputs at each position.
    pub(crate) inputs: Vec<Vec<f64>>,
}

/// A margin with the place that it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Critical {
    margin: f64,
    position: usize,
    atom: usize,
    /// Whether it is the atom's margin, or that of its negation.
    positive: bool,
}

impl PartialOrd for Critical {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.margin.partial_cmp(&other.margin)
    }
}

impl Value for Critical {
    const BOTTOM: Critical = Critical { margin: f64::NEG_INFINITY, position: usize::MAX, atom: 0, positive: true };
    const TOP: Critical = Critical { margin: f64::INFINITY, ..Critical::BOTTOM };

    fn negate(self) -> Critical {
        Critical { margin: -self.margin, positive: !self.positive, ..self }
    }
}

impl<'t> Descent<'t> {
    /// Prepares a system.
    pub(crate) fn new(system: &'t System, formula: &'t Formula) -> Result<Descent<'t>, GraphError> {
        let mut atoms = nnf(formula, false).atoms();
        atoms.sort_unstable();
        atoms.dedup();
        let roles = &system.roles;
        let ports: Vec<usize> = roles.next.iter().map(|next| next.port).collect();
        let margins = atoms.iter().map(|id| roles.atoms[id.0].margin.port);
        let graph: Graph = lower(&system.step.keep_outputs(&ports.iter().copied().chain(margins).collect::<Vec<_>>()))?;
        let node = |output: usize| graph.outputs()[output].node.index();
        let next = system.states.iter().enumerate();
        let next = next.flat_map(|(output, state)| (0..state.len).map(move |element| (output, element)));
        let next = next.map(|(output, element)| (node(output), element)).collect();
        let margins = atoms.iter().enumerate().map(|(place, &id)| (id, node(ports.len() + place))).collect();
        Ok(Descent { system, formula, gradient: Gradient::new(&graph), next, margins })
    }

    /// Puts a position of a run on the tape, and evaluates the step there.
    fn forward(&self, tape: &mut Tape<f64>, state: &[f64], drive: &Drive, position: usize) {
        let numbers = split(&self.system.states, state).chain(split(&self.system.inputs, &drive.inputs[position]));
        let labels = drive.one_hots(self.system, position);
        let all = numbers.chain(labels.iter().map(Vec::as_slice));
        for (&node, values) in self.gradient.inputs().iter().zip(all) {
            tape.node_mut(node).copy_from_slice(values);
        }
        self.gradient.forward(tape);
    }

    /// How the robustness of a run changes with its choices; nothing if no margin decides it, or nothing that is chosen does.
    pub(crate) fn slope(&self, states: &[Vec<f64>], drive: &Drive) -> Option<Slope> {
        let mut tape = self.gradient.tape(1);
        let mut margins = Vec::with_capacity(states.len());
        for (position, state) in states.iter().enumerate() {
            self.forward(&mut tape, state, drive, position);
            margins.push(self.margins.iter().map(|&(_, node)| tape.values(node, 0)[0]).collect::<Vec<f64>>());
        }
        let place = |id: AtomId| self.margins.iter().position(|(own, _)| *own == id).unwrap_or(0);
        let critical = semantics::evaluate(self.formula, states.len(), Tail::Repeats, &|id, position| {
            let atom = place(id);
            Critical { margin: margins[position][atom], position, atom, positive: true }
        });
        let Critical { position: last, atom, positive, margin } = critical.greatest;
        if !margin.is_finite() {
            return None;
        }
        let lengths: Vec<usize> = self.system.states.iter().map(|state| state.len).collect();
        let mut slope =
            Slope { start: Vec::new(), inputs: drive.inputs.iter().map(|own| vec![0.0; own.len()]).collect() };
        let mut adjoints: Option<Vec<f64>> = None;
        for position in (0..=last).rev() {
            self.forward(&mut tape, &states[position], drive, position);
            self.gradient.clear(&mut tape);
            match &adjoints {
                None => tape.adjoints_mut(self.margins[atom].1, 0)[0] = if positive { 1.0 } else { -1.0 },
                Some(own) => {
                    for (&(node, element), &value) in self.next.iter().zip(own) {
                        tape.adjoints_mut(node, element)[0] += value;
                    }
                }
            }
            self.gradient.backward(&mut tape);
            let (of_states, of_inputs) = self.gradient.inputs().split_at(lengths.len());
            let own: Vec<f64> = of_states.iter().flat_map(|&node| tape.node_adjoints(node).iter().copied()).collect();
            let inputs = of_inputs.iter().take(self.system.inputs.len());
            slope.inputs[position] = inputs.flat_map(|&node| tape.node_adjoints(node).iter().copied()).collect();
            let finite = own.iter().chain(&slope.inputs[position]).all(|value| value.is_finite());
            if !finite {
                return None;
            }
            adjoints = Some(own);
        }
        slope.start = adjoints.unwrap_or_default();
        let moves = slope.start.iter().chain(slope.inputs.iter().flatten()).any(|&value| value != 0.0);
        moves.then_some(slope)
    }
}

#[cfg(test)]
mod tests {
    use certus_check::walked;
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use certus_model::formula_of;

    use super::*;

    #[test]
    fn the_derivative_of_the_critical_margin_is_found() {
        let text = "system s\nstate x in [-99, 99]\ninput u in [-1, 1]\ninit x >= 0 & x <= 1\n\
                    next x = 2 * x + 3 * u\nproperty p = G x < 5\nproperty q = F x > 5\n";
        let system = load_str(text, &mut FileNetworks::default(), &LowerOptions::default()).unwrap();
        let drive = Drive {
            state: vec![0.5],
            inputs: vec![vec![0.25], vec![0.5], vec![-1.0]],
            chances: vec![Vec::new(); 3],
            choices: vec![Vec::new(); 3],
            loop_to: None,
        };
        // x is 0.5, 1.75, 5: both properties are decided by the last one, 4 x0 + 6 u0 + 3 u1.
        let states = walked(&system, &drive).unwrap().states;
        let slope = |property: usize| {
            let formula = formula_of(&system.properties[property]).unwrap();
            Descent::new(&system, formula).unwrap().slope(&states, &drive).unwrap()
        };
        assert_eq!(slope(0), Slope { start: vec![-4.0], inputs: vec![vec![-6.0], vec![-3.0], vec![0.0]] });
        assert_eq!(slope(1), Slope { start: vec![4.0], inputs: vec![vec![6.0], vec![3.0], vec![0.0]] });
    }
}
