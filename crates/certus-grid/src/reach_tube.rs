//! Interval enclosures of a run: what a run of doubles shows over the reals.
//!
//! Every state of the run is enclosed in a box, step by step, with the choices of the run (a reach tube of a single run). A loop is one over the reals if a box around it
//! returns into itself while no atom changes: then every real run from that box stays in the boxes for ever and reads the same letters (an inductive set found by widening, after
//! Cousot and Cousot, "Abstract interpretation", POPL 1977). A deadlock counts if branch and bound over the inputs shows that nothing is allowed.

use certus_automata::system::Truths;
use certus_graph::Interval;
use certus_lang::system::{ActionRole, AtomId, System, Variable};
use certus_model::{CheckError, Run};

use crate::concrete_step::{Enclosed, Labels};
use crate::concretise::Concretisation;

/// Longer runs than this are not enclosed: their intervals are too wide to be of use.
const MOST_ENCLOSED: usize = 1024;

/// The most pieces of input ranges in the search for an allowed input.
const PIECES: usize = 64;

/// How often a box around a loop is widened so that it returns into itself.
const WIDENINGS: usize = 4;

/// By how much each time, beside the box's width.
const WIDER: f64 = 0.5;

/// By how much each time, beside the magnitude of its numbers.
const WIDER_BY_SIZE: f64 = 1e-12;

/// The enclosure of a run, as far as every condition of being a run is certain.
pub(crate) struct ReachTube {
    pub(crate) states: Vec<Vec<Interval>>,
    pub(crate) letters: Vec<Truths>,
    /// Positions at which it is not certain that the successor is in its ranges; what follows is about those that are.
    pub(crate) straddles: Vec<usize>,
}

impl Concretisation<'_> {
    /// The first positions of a run, enclosed, and the state after them; nothing where something is not certain.
    pub(crate) fn tube(
        &mut self,
        run: &Run,
        positions: usize,
        may_leave: bool,
    ) -> Result<Option<ReachTube>, CheckError> {
        if positions > MOST_ENCLOSED {
            return Ok(None);
        }
        let Some(first) = run.states.first() else { return Ok(None) };
        let mut tube = ReachTube {
            states: vec![first.iter().map(|&value| Interval::point(value)).collect()],
            letters: Vec::new(),
            straddles: Vec::new(),
        };
        for position in 0..positions {
            let Some(own) = self.certain(run, position, &tube.states[position], may_leave)? else { return Ok(None) };
            let Some(letter) = letter(&self.atoms, &own) else { return Ok(None) };
            if position == 0 && own.initial != Some(true) {
                return Ok(None);
            }
            if may_leave && !stays(&self.system.states, &own.next) {
                tube.straddles.push(position);
            }
            let ends = own.next.iter().zip(ranges(&self.system.states));
            let inside = ends.map(|(next, (&low, &high))| next.intersection(Interval::new(low, high)));
            let Some(inside) = inside.collect() else { return Ok(None) };
            tube.states.push(inside);
            tube.letters.push(letter);
        }
        Ok(Some(tube))
    }

    /// Whether a loop of doubles is a loop over the reals as far as the atoms can tell.
    pub(crate) fn repeats_over_the_reals(&mut self, run: &Run, start: usize) -> Result<bool, CheckError> {
        let positions = run.states.len();
        let Some(tube) = self.tube(run, positions, false)? else { return Ok(false) };
        let (mut from, mut to) = (tube.states[start].clone(), tube.states[positions].clone());
        for _ in 0..=WIDENINGS {
            if to.iter().zip(&from).all(|(after, before)| before.lo <= after.lo && after.hi <= before.hi) {
                return Ok(true);
            }
            let joined = from.iter().zip(&to).map(|(before, after)| {
                let (low, high) = (before.lo.min(after.lo), before.hi.max(after.hi));
                let more = WIDER * (high - low) + WIDER_BY_SIZE * low.abs().max(high.abs());
                Interval::new(low - more, high + more)
            });
            from = joined.collect();
            let mut states = from.clone();
            for position in start..positions {
                let Some(own) = self.certain(run, position, &states, false)? else { return Ok(false) };
                if letter(&self.atoms, &own) != Some(tube.letters[position]) {
                    return Ok(false);
                }
                states = own.next;
            }
            to = states;
        }
        Ok(false)
    }

    /// Whether nothing is allowed anywhere in a box.
    pub(crate) fn is_deadlock(&mut self, state: &[Interval]) -> Result<bool, CheckError> {
        let inputs = self.system.inputs.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        let whole: Vec<Interval> = inputs.map(|(&low, &high)| Interval::new(low, high)).collect();
        for labels in self.labels.clone() {
            let mut pending = vec![whole.clone()];
            let mut pieces = 0;
            while let Some(piece) = pending.pop() {
                let Some(own) = self.stepper.enclosed(state, &piece, &labels)? else { return Ok(false) };
                if own.ended != Some(false) || own.allowed == Some(true) || own.defined == Some(false) {
                    return Ok(false);
                }
                if own.allowed == Some(false) && own.defined == Some(true) {
                    continue;
                }
                pieces += 2;
                let widest = (0..piece.len()).max_by(|&a, &b| width(&piece[a]).total_cmp(&width(&piece[b])));
                let Some(axis) = widest.filter(|&axis| width(&piece[axis]) > 0.0 && pieces <= PIECES) else {
                    return Ok(false);
                };
                let middle = certus_solver::middle(piece[axis].lo, piece[axis].hi).0;
                let (mut below, mut above) = (piece.clone(), piece);
                below[axis].hi = middle;
                above[axis].lo = middle;
                pending.extend([below, above]);
            }
        }
        Ok(true)
    }

    /// A step from a box with the choices of a run, if it is allowed and defined and stays in the ranges, if it is not to leave them, for certain.
    fn certain(
        &mut self,
        run: &Run,
        position: usize,
        state: &[Interval],
        may_leave: bool,
    ) -> Result<Option<Enclosed>, CheckError> {
        let inputs: Vec<Interval> = run.inputs[position].iter().map(|&value| Interval::point(value)).collect();
        let own = self.stepper.enclosed(state, &inputs, &labels_of(self.system, run, position))?;
        let is_certain = |own: &Enclosed| {
            own.allowed == Some(true)
                && own.defined == Some(true)
                && (may_leave || stays(&self.system.states, &own.next))
        };
        Ok(own.filter(is_certain))
    }
}

fn width(range: &Interval) -> f64 {
    range.hi - range.lo
}

/// What the automaton reads, if all of it is certain.
fn letter(atoms: &[AtomId], own: &Enclosed) -> Option<Truths> {
    atoms.iter().enumerate().try_fold(Truths::default(), |mut letter, (place, atom)| {
        if own.atoms[atom.0]? {
            letter.yes |= 1 << place
        } else {
            letter.no |= 1 << place
        }
        Some(letter)
    })
}

/// The labels of random choices at a position of a run.
pub(crate) fn labels_of(system: &System, run: &Run, position: usize) -> Labels {
    let actions = run.actions[position].iter().zip(&system.roles.actions);
    let random = actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
    Labels { chances: run.chances[position].clone(), actions: random.map(|(&label, _)| label).collect() }
}

pub(crate) fn ranges(variables: &[Variable]) -> impl Iterator<Item = (&f64, &f64)> {
    variables.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper))
}

/// Whether numbers lie in the ranges of their variables for certain; what may not be a number at all does not.
fn stays(variables: &[Variable], values: &[Interval]) -> bool {
    let finite = |value: &Interval| value.lo.is_finite() && value.hi.is_finite();
    values
        .iter()
        .zip(ranges(variables))
        .all(|(value, (low, high))| finite(value) && *low <= value.lo && value.hi <= *high)
}
