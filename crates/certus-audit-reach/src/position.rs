//! What is certain at a position whose state is somewhere in a set, by `docs/semantics.md`.
//!
//! *Letters.* An atom counts where it is true, or false, for every state of the set and every choice that `assume` may allow. One that mentions the successor has a value only where
//! the successor is a state.
//!
//! *Restrictions.* Where `assume` is open, its margin is at least zero for every choice that is allowed: the ranges of choices are narrowed by that, and the successors of what is
//! forbidden are cut off. No state of the set is a deadlock if there is one choice that is allowed in all of them: constants are tried.
//!
//! *Errors.* The position is *sound* if no choice in its range is undefined, something is allowed, and no atom of the property is undefined: then no deadlock and no undefined
//! operation of the position itself is possible. It *goes on* if besides the successor is defined and in its declared ranges for every choice that may be allowed.

use std::rc::Rc;

use certus_graph::ops::Op;
use certus_graph::{Graph, Interval, NodeId};
use certus_lang::system::{ActionRole, AtomId, System, Truth};
use certus_obligations::Refused;

use crate::form::Form;
use crate::pass::{Cases, Guard, Passed, Program, sign};
use crate::set::Set;

/// One step of a system, prepared for sets.
#[derive(Debug)]
pub(crate) struct Step {
    program: Program,
    next: usize,
    /// The atoms of the property, with the outputs of their truth and margin.
    atoms: Vec<(AtomId, usize, usize)>,
    /// The initial condition: its truth, then the margins of its parts.
    begins: Option<Program>,
    /// Of what is assumed of choices the truth, and the margins of its parts.
    assumed: Option<(usize, Vec<usize>)>,
    terminal: Option<usize>,
    /// Whether every choice in its range is defined.
    choice_defined: Option<usize>,
    /// Truths that must be certain at a position.
    sound: Vec<usize>,
    /// Whether the successor is defined.
    defined: Option<usize>,
    /// Whether a node depends on the state alone.
    of_state: Vec<bool>,
    /// The declared ranges of the state.
    pub(crate) ranges: Vec<Interval>,
    /// The ranges of all that is chosen at a position: inputs first, then labels.
    chosen: Vec<Interval>,
    inputs: usize,
    /// Which atoms mention the successor.
    mentions_next: Vec<bool>,
}

/// What is certain at a position.
pub(crate) struct Position {
    pub(crate) successor: Set,
    pub(crate) letter: Vec<Option<bool>>,
    pub(crate) is_sound: bool,
    pub(crate) goes_on: bool,
    /// Whether all states are terminal, so that each is its own successor.
    pub(crate) has_ended: bool,
    /// The first comparison that the successor depends on and that is open.
    pub(crate) open: Option<(Guard, Rc<Form>)>,
    /// The margins of atoms that are open, to split by.
    pub(crate) margins: Vec<Rc<Form>>,
}

impl Step {
    pub(crate) fn new(system: &System, atoms: &[AtomId], order: usize) -> Result<Step, Refused> {
        let roles = &system.roles;
        let mut ports: Vec<usize> = roles.next.iter().map(|own| own.port).collect();
        let next = ports.len();
        let mut keep = |port: usize| {
            ports.push(port);
            ports.len() - 1
        };
        let atoms: Vec<(AtomId, usize, usize)> = atoms
            .iter()
            .map(|&atom| {
                let own = roles.atoms.get(atom.0).ok_or_else(|| Refused::new("the property has an unknown atom"))?;
                Ok((atom, keep(own.truth.port), keep(own.margin.port)))
            })
            .collect::<Result<_, Refused>>()?;
        let mut whole = system.step.clone();
        let mut parts = |own: &Truth| {
            let mut ports = Vec::new();
            for node in all_of(&system.step, own.margin.port) {
                ports.push(whole.outputs().len());
                whole.output("part", node);
            }
            ports
        };
        let [starts, restrictions] = [&roles.init, &roles.assume].map(|own| own.as_ref().map(&mut parts));
        let assumed = roles.assume.as_ref().zip(restrictions.as_ref());
        let assumed =
            assumed.map(|(own, parts)| (keep(own.truth.port), parts.iter().map(|port| keep(*port)).collect()));
        let mut truth = |own: Option<&Truth>| own.map(|own| keep(own.truth.port));
        let terminal = truth(roles.terminal.as_ref());
        let defined = truth(roles.defined.as_ref());
        let choice_defined = truth(roles.choice_defined.as_ref());
        let sound: Vec<usize> = atoms
            .iter()
            .filter_map(|(atom, ..)| truth(roles.atoms_defined.get(atom.0).and_then(Option::as_ref)))
            .collect();
        let begins = roles.init.as_ref().zip(starts).map(|(own, parts)| [vec![own.truth.port], parts].concat());
        let begins = begins.map(|ports| Program::new(&whole.keep_outputs(&ports), 0, order)).transpose()?;
        let program = Program::new(&whole.keep_outputs(&ports), next, order)?;
        let ranges: Vec<Interval> = system
            .states
            .iter()
            .flat_map(|own| own.lower.iter().zip(&own.upper).map(|(&lo, &hi)| Interval { lo, hi }))
            .collect();
        let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        let mut chosen: Vec<Interval> = inputs.map(|(&lo, &hi)| Interval { lo, hi }).collect();
        let inputs = chosen.len();
        let actions = system.actions.iter().zip(&roles.actions);
        let random = actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
        let labels = system.chances.iter().map(|own| own.labels.len()).chain(random.map(|(own, _)| own.labels.len()));
        chosen.extend(labels.flat_map(|count| std::iter::repeat_n(Interval::UNKNOWN_TRUTH, count)));
        let read: usize = program.graph.inputs().iter().map(|port| program.graph.elements(port.node)).sum();
        if read != ranges.len() + chosen.len() || chosen.iter().any(|own| !own.is_well_formed()) {
            return Err(Refused::new("the step reads more than a state and its choices"));
        }
        let of_state = of_state(&program.graph, ranges.len());
        let mentions_next = system.atoms.iter().map(|own| own.uses_next).collect();
        Ok(Step {
            program,
            next,
            atoms,
            begins,
            assumed,
            terminal,
            choice_defined,
            sound,
            defined,
            of_state,
            ranges,
            chosen,
            inputs,
            mentions_next,
        })
    }

    /// What is certain of a set, in a case.
    pub(crate) fn at(&self, set: &Set, cases: &Cases) -> Position {
        let mut space = set.space.clone();
        let mut inputs = set.state.clone();
        inputs.extend(self.chosen.iter().map(|range| Rc::new(space.noise(*range))));
        let before = space.clone();
        let mut passed = self.program.run(&mut space, &inputs, cases);
        let is_true = |passed: &Passed, port: usize| truth_of(passed, port) == Some(true);
        let is_defined = self.choice_defined.is_none_or(|port| is_true(&passed, port));
        let has_ended = self.terminal.is_some_and(|port| is_true(&passed, port));
        // Nothing need be allowed where a run has ended.
        let restriction = self.assumed.as_ref().filter(|(own, _)| !has_ended && !is_true(&passed, *own));
        let is_alive = restriction.is_none() || self.allows_something(set, cases);
        let parts: &[usize] = restriction.map_or(&[], |(_, parts)| parts);
        if restriction.is_some() {
            // Only choices are narrowed: comparisons of both passes then speak of the same states.
            let allowed = self.narrowed(Set { space: before, state: inputs }, set.space.columns, cases);
            space = allowed.space;
            passed = self.program.run(&mut space, &allowed.state, cases);
        }
        let Passed { outputs, open, hints } = &passed;
        let truth = |port: usize| truth_of(&passed, port);
        let state: Vec<Rc<Form>> = match has_ended {
            true => set.state.clone(),
            false => outputs[..self.next].iter().flatten().cloned().collect(),
        };
        let mut successor = Set { space, state };
        if !parts.is_empty() {
            successor = successor.cut_from(&passed.of(parts), true, 1).unwrap_or(successor);
        }
        let state = &successor.state;
        let in_range = state.len() == self.ranges.len()
            && state.iter().zip(&self.ranges).all(|(form, range)| range.encloses(form.range));
        let goes_on = in_range && self.defined.is_none_or(|port| is_true(&passed, port));
        let mut letter = vec![None; self.mentions_next.len()];
        let mut margins = Vec::new();
        for &(atom, own, margin) in &self.atoms {
            let by_margin = outputs[margin].first().and_then(|form| sign(form.range));
            let has_value = goes_on || !self.mentions_next[atom.0];
            letter[atom.0] = truth(own).or(by_margin).filter(|_| has_value);
            if letter[atom.0].is_none() {
                margins.extend(outputs[margin].first().cloned());
            }
        }
        if !margins.is_empty() {
            margins.extend(hints.iter().cloned());
        }
        Position {
            letter,
            is_sound: is_defined && is_alive && self.sound.iter().all(|&port| is_true(&passed, port)),
            goes_on,
            has_ended,
            open: open.clone(),
            margins,
            successor,
        }
    }

    /// What of a set may be initial: all of it, a smaller set, or nothing.
    pub(crate) fn initial_part(&self, set: Set) -> Option<Set> {
        let Some(begins) = &self.begins else { return Some(set) };
        let mut space = set.space.clone();
        let mut inputs = set.state.clone();
        inputs.extend(self.chosen.iter().map(|range| Rc::new(space.noise(*range))));
        let passed = begins.run(&mut space, &inputs, &Cases::new());
        match truth_of(&passed, 0) {
            Some(true) => Some(set),
            Some(false) => None,
            None => set.cut_from(&passed.of(&(1..passed.outputs.len()).collect::<Vec<_>>()), true, 1),
        }
    }

    /// States and choices, with the symbols from a column on narrowed to what may be allowed: each part of what is assumed takes from what the others left.
    fn narrowed(&self, mut all: Set, first: usize, cases: &Cases) -> Set {
        let Some((truth, parts)) = &self.assumed else { return all };
        for _ in 0..MOST_NARROWINGS {
            let passed = self.program.run(&mut all.space.clone(), &all.state, cases);
            match all.cut_from(&passed.of(parts), true, first) {
                Some(cut) if truth_of(&passed, *truth) != Some(true) => all = cut,
                _ => break,
            }
        }
        all
    }

    /// Whether there are inputs that are allowed in every state of a set, in a case, whatever the labels are.
    fn allows_something(&self, set: &Set, cases: &Cases) -> bool {
        let Some((truth, _)) = &self.assumed else { return false };
        // What a case says of choices does not hold of any choice; the witness may be in another case.
        let of_states = cases.iter().filter(|((node, _), _)| self.of_state[*node]);
        let cases: Cases = of_states.map(|(guard, above)| (*guard, *above)).collect();
        let (inputs, labels) = self.chosen.split_at(self.inputs);
        candidates(inputs).iter().any(|choice| {
            let mut space = set.space.clone();
            let mut all = set.state.clone();
            all.extend(choice.iter().map(|own| Rc::new(Form::within(Interval::point(*own)))));
            all.extend(labels.iter().map(|range| Rc::new(space.noise(*range))));
            truth_of(&self.program.run(&mut space, &all, &cases), *truth) == Some(true)
        })
    }
}

/// Which nodes depend on nothing but the first inputs.
fn of_state(graph: &Graph, states: usize) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::with_capacity(graph.len());
    let mut read = 0;
    for id in graph.ids() {
        let node = graph.node(id);
        found.push(match node.op {
            Op::Input(_) => {
                read += graph.elements(id);
                read <= states
            }
            // Inputs may vary along these.
            Op::Flow(_) | Op::Throughout(_) => false,
            _ => node.inputs.iter().all(|input| found[input.index()]),
        });
    }
    found
}

/// What a margin is the least of: minima of single numbers are taken apart.
fn all_of(graph: &Graph, port: usize) -> Vec<NodeId> {
    let mut parts = vec![graph.outputs()[port].node];
    let mut place = 0;
    while let Some(&id) = parts.get(place) {
        let node = graph.node(id);
        if matches!(node.op, Op::Min(_)) && node.inputs.iter().all(|own| graph.elements(*own) == 1) {
            parts.splice(place..=place, node.inputs.iter().copied());
        } else {
            place += 1;
        }
    }
    parts
}

/// The truth of an output, if it is certain.
fn truth_of(passed: &Passed, port: usize) -> Option<bool> {
    passed.outputs[port].first().and_then(|form| form.range.certainty())
}

/// How often choices are narrowed, at most.
const MOST_NARROWINGS: usize = 4;

/// Up to this many inputs, every corner of their box is tried.
const FEW_INPUTS: usize = 5;

/// Points of a box that may be allowed choices: its middle, its corners, and some on its diagonal.
fn candidates(ranges: &[Interval]) -> Vec<Vec<f64>> {
    let between =
        |range: &Interval, share: f64| (range.lo * (1.0 - share) + range.hi * share).max(range.lo).min(range.hi);
    let diagonal = [0.5, 0.0, 1.0, 0.75, 0.25].map(|share| ranges.iter().map(|own| between(own, share)).collect());
    let mut found: Vec<Vec<f64>> = diagonal.into();
    if ranges.len() <= FEW_INPUTS {
        for corner in 0..1usize << ranges.len() {
            let end = |(place, range): (usize, &Interval)| if corner >> place & 1 == 0 { range.lo } else { range.hi };
            found.push(ranges.iter().enumerate().map(end).collect());
        }
    }
    found.retain(|choice| choice.iter().all(|own| own.is_finite()));
    found
}

#[cfg(test)]
mod tests {
    use certus_graph::eval::evaluate;
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use proptest::prelude::*;

    use super::*;
    use crate::form::tests::value;

    /// Systems whose steps have everything that a pass knows; the numbers of each lie in [−1, 1] at first.
    const SYSTEMS: [&str; 8] = [
        "next x = 0.5 * x + x * y + tanh(x - y) + w\nnext y = max(x, y) - abs(x) + clamp(x + y, -0.3, 0.4)",
        "next x = sin(x) * cos(y) + exp(x) / (2 + y) + sqrt(y + 1.5)\nnext y = if x > 0 then x^3 else log(2 - x) + w",
        "next x = if x + y >= 0.2 then 1 - x else y * y * y\nnext y = if x > y & y < 0.5 then -x else w",
        "step 0.3 exact\nder x = y\nder y = -x + 0.2 * x^3 + w",
        "step 0.5 exact\nder x = sin(y) - x / (3 + y)\nder y = exp(-y) - 1 + 0.3 * x * y",
        "step 0.2 exact\nder x = tanh(x + y) + w\nder y = max(x, 0) - y",
        "step 0.4 exact\nder x = sqrt(3 + x) - log(3 + y)\nder y = -y + w\nafter y = clamp(y, -0.5, 0.5)",
        "step 0.25 exact\nder x = (2 + x)^1.5 * cos(y)\nder y = 1 / (2 + x) - y",
    ];

    fn system(dynamics: &str, input: &str) -> System {
        let text = format!(
            "system t\nstate x in [-9, 9]\nstate y in [-9, 9]\ninput w {input} in [-0.1, 0.1]\n{dynamics}\ninit x in [-1, 1] & y in [-1, 1]\n\
             property p = G (x < 2 & next(x) < 3)\n"
        );
        load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Whether a form allows a value at a point of the box, whatever the symbols are.
    fn allows(set: &Set, form: &Form, at: &[f64], wanted: f64) -> bool {
        let symbols = set.space.columns - set.space.basis.len();
        let centre = value(&set.space, form, &[at, &vec![0.0; symbols]].concat());
        let noise: f64 = form.coefficients.iter().skip(set.space.basis.len()).map(|c| c.abs()).sum();
        let slack = 1e-7 * (1.0 + wanted.abs());
        (centre - wanted).abs() <= noise + form.error + slack && form.range.widen(slack).contains(wanted)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
        #[test]
        fn successors_and_letters_are_enclosed(
            corner in (-1.0..0.8f64, -1.0..0.8f64),
            width in prop::sample::select(vec![0.01, 0.1, 0.2]),
            points in prop::collection::vec((-1.0..=1.0f64, -1.0..=1.0f64, -0.1..=0.1f64), 6),
        ) {
            for (number, dynamics) in SYSTEMS.iter().enumerate() {
                for input in ["", "varying"].into_iter().filter(|input| input.is_empty() || dynamics.contains("exact")) {
                    let system = system(dynamics, input);
                    let atoms: Vec<AtomId> = (0..system.atoms.len()).map(AtomId).collect();
                    let step = Step::new(&system, &atoms, 6).unwrap();
                    let range = |lo: f64| Interval::new(lo, lo + width);
                    let set = Set::of_box(&[range(corner.0), range(corner.1)], 3).unwrap();
                    let found = step.at(&set, &Cases::new());
                    for (s, t, w) in &points {
                        let state = [corner.0 + width * (s + 1.0) / 2.0, corner.1 + width * (t + 1.0) / 2.0];
                        let inputs: [&[f64]; 3] = [&state[..1], &state[1..], &[*w]];
                        let outputs = evaluate(&system.step, &inputs).unwrap();
                        for (form, next) in found.successor.state.iter().zip(&system.roles.next) {
                            let wanted = outputs[next.port][0];
                            prop_assert!(
                                !form.is_bounded() || allows(&found.successor, form, &[*s, *t], wanted),
                                "system {number} at {state:?}: {wanted} in {form:?}"
                            );
                        }
                        for atom in &atoms {
                            let truth = outputs[system.roles.atoms[atom.0].truth.port][0] != 0.0;
                            prop_assert!(found.letter[atom.0].is_none_or(|own| own == truth));
                        }
                    }
                }
            }
        }
    }

    /// Two numbers of which nothing is known are not one: their product has no sign.
    #[test]
    fn what_is_not_known_is_not_the_same() {
        let system = system("step 9 exact\nder x = x^2 + 1\nder y = y^2 + 1 + w\nafter x = x * y", "");
        let step = Step::new(&system, &[], 6).unwrap();
        let set = Set::of_box(&[Interval::new(0.3, 0.4), Interval::new(0.3, 0.4)], 2).unwrap();
        let found = step.at(&set, &Cases::new());
        assert_eq!(found.successor.state[0].range, Interval::ENTIRE);
        assert!(!found.goes_on);
    }

    #[test]
    fn narrow_sets_have_narrow_successors() {
        for (number, dynamics) in SYSTEMS.iter().enumerate() {
            let system = system(dynamics, "");
            let step = Step::new(&system, &[], 6).unwrap();
            let set = Set::of_box(&[Interval::new(0.3, 0.31), Interval::new(0.4, 0.41)], 3).unwrap();
            let found = step.at(&set, &Cases::new());
            assert!(found.open.is_none() && found.goes_on, "system {number}");
            for form in &found.successor.state {
                assert!(form.range.width() < 0.3, "system {number}: {}", form.range);
            }
        }
    }
}
