//! What a run of the system shows: a violation, a model error, or nothing.
//!
//! A violation by finitely many positions counts after it was made again: by `certus-check` for the network, and for an extracted policy by the evaluation that
//! defines it. A loop of doubles is a candidate only. It counts if intervals around the run return into themselves with the same atoms, so that the run does over the reals
//! what it does in doubles, for ever. A model error counts if intervals around the run confirm every step before it, the error itself, and that the
//! property is open by then.

use certus_automata::system::Truths;
use certus_check::loops::proved_loop;
use certus_check::replay::{Drive, replay};
use certus_check::{lasso_semantics, with_allowed_end};
use certus_graph::Interval;
use certus_lang::system::{ActionRole, AtomId, Formula, System, Variable};
use certus_model::{CheckError, Run};
use certus_sim::semantics::{self, Tail};
use certus_solver::Budget;

use crate::concrete::{Concrete, End};
use crate::doubts::Doubts;
use crate::reading::Reading;
use crate::stepping::{Enclosed, Labels};

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A run that violates the property.
    Violation(Run),
    /// A run that meets a model error at its last position, before the property is decided.
    Error(Run, Wrong),
}

/// A model error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// A number of the state leaves its range.
    Leaves {
        /// Its place in the state.
        element: usize,
        /// What it would be.
        value: f64,
    },
    /// Nothing can be chosen.
    Deadlock,
    /// An operation is undefined.
    Undefined,
}

/// Longer runs than this are not enclosed: intervals around them say nothing any more.
const MOST_ENCLOSED: usize = 1024;

/// More atoms than this that have no value are not tried both ways.
const MOST_OPEN: u32 = 6;

/// Ranges of inputs are cut into so many pieces to show that nothing is allowed in them.
const PIECES: usize = 64;

/// How often a box around a loop is widened so that it returns into itself, and how much each time, beside its own width and the size of its numbers.
const WIDENINGS: usize = 4;
const WIDER: f64 = 0.5;
const WIDER_BY_SIZE: f64 = 1e-12;

/// The automata of a property's violations and of its satisfactions: it is open where both have something left to accept.
pub(crate) struct Undecided {
    both: [Reading; 2],
}

impl Undecided {
    fn new(system: &System, formula: &Formula) -> Option<Undecided> {
        let opposite = Formula::Not(Box::new(formula.clone()));
        Some(Undecided { both: [Reading::new(system, formula).ok()?, Reading::new(system, &opposite).ok()?] })
    }

    /// Whether positions with such atoms, in the order of the property's atoms, leave the property open.
    fn is_open(&self, letters: &[Truths]) -> bool {
        self.both.iter().all(|reading| {
            let mut states: Vec<u32> = reading.automaton.initial.clone();
            for letter in letters {
                let edges = states.iter().flat_map(|&state| &reading.automaton.edges[state as usize]);
                let mut next: Vec<u32> =
                    edges.filter(|edge| letter.may_satisfy(&edge.label)).map(|edge| edge.target).collect();
                next.sort_unstable();
                next.dedup();
                states = next;
            }
            !states.is_empty()
        })
    }
}

/// A run in which every number is enclosed, as far as every condition of being a run is certain.
struct Tube {
    states: Vec<Vec<Interval>>,
    letters: Vec<Truths>,
    /// Positions at which it is not certain that the successor is in its ranges; what follows is about those that are.
    straddles: Vec<usize>,
}

impl Concrete<'_> {
    /// A run cut to what shows a violation, if it does; with an allowed choice at its end where the property reads choices.
    pub(crate) fn violation(&mut self, run: &Run, end: End) -> Result<Option<Run>, CheckError> {
        let Some(found) = self.violation_by(run, end)? else { return Ok(None) };
        if self.stepper.is_network() {
            return with_allowed_end(self.system, self.formula, found, &Budget::default());
        }
        let reads = |atom: &AtomId| self.system.atoms[atom.0].uses_choice || self.system.atoms[atom.0].uses_next;
        let (true, true, Some(state)) = (found.open_end, self.atoms.iter().any(reads), found.states.last()) else {
            return Ok(Some(found));
        };
        let point: Vec<Interval> = state.iter().map(|&value| Interval::point(value)).collect();
        Ok(self.is_deadlock(&point)?.then_some(found))
    }

    fn violation_by(&mut self, run: &Run, end: End) -> Result<Option<Run>, CheckError> {
        let positions = run.states.len();
        let goes_wrong = doubts_of(end) != Doubts::default();
        let whole = positions - usize::from(goes_wrong && positions > 0);
        let atom = |id: AtomId, position: usize| run.atoms[position][id.0];
        let shows = |positions: usize| !semantics::evaluate(self.formula, positions, Tail::Unknown, &atom).greatest;
        if whole > 0 && shows(whole) {
            let (mut without, mut with) = (0, whole);
            while with - without > 1 {
                let middle = (with + without) / 2;
                if shows(middle) { with = middle } else { without = middle }
            }
            return self.made_again(cut(run.clone(), with), false);
        }
        if goes_wrong && self.shows_at_last(run, end) {
            return self.made_again(run.clone(), matches!(end, End::Forbidden | End::Undefined));
        }
        let Some(start) = run.loop_to else { return Ok(None) };
        if lasso_semantics::holds(self.formula, positions, start, &atom)[0] {
            return Ok(None);
        }
        let Some(run) = self.made_again(run.clone(), false)? else { return Ok(None) };
        let is_proved = self.stepper.is_network() && proved_loop(self.system, self.formula, &run)?;
        if is_proved || self.is_for_ever(&run, start)? {
            return Ok(Some(run));
        }
        self.candidate.get_or_insert(run);
        Ok(None)
    }

    /// Whether a run that goes wrong at its last position violates the property whatever the atoms are that have no value there.
    fn shows_at_last(&self, run: &Run, end: End) -> bool {
        let Some(last) = run.states.len().checked_sub(1) else { return false };
        let mut valued = self.valued.at(Truths { yes: u64::MAX, no: 0 }, doubts_of(end)).yes;
        if end == End::Undefined {
            // The choice need not be allowed, and then says nothing.
            valued &= self.valued.without_choice;
        }
        let open: Vec<AtomId> =
            self.atoms.iter().enumerate().filter(|(place, _)| valued >> place & 1 == 0).map(|(_, &id)| id).collect();
        if open.len() as u32 > MOST_OPEN {
            return false;
        }
        (0..1u32 << open.len()).all(|values| {
            let atom = |id: AtomId, position: usize| match open.iter().position(|&own| own == id) {
                Some(place) if position == last => values >> place & 1 == 1,
                _ => run.atoms[position][id.0],
            };
            !semantics::evaluate(self.formula, last + 1, Tail::Unknown, &atom).greatest
        })
    }

    /// The run again; `forbidden` says that what was chosen at its end is not allowed.
    fn made_again(&self, run: Run, forbidden: bool) -> Result<Option<Run>, CheckError> {
        match self.stepper.is_network() {
            true => Ok(replay(self.system, self.formula, &Drive::of(self.system, &run))?),
            false => {
                // Without an atom that reads them, choices at the end do not matter.
                let reads =
                    |atom: &AtomId| self.system.atoms[atom.0].uses_choice || self.system.atoms[atom.0].uses_next;
                let open_end = run.loop_to.is_none() && (forbidden || !self.atoms.iter().any(reads));
                Ok(Some(Run { open_end, ..run }))
            }
        }
    }

    /// Whether a run that repeats itself in doubles does so over the reals, as far as atoms can tell.
    fn is_for_ever(&mut self, run: &Run, start: usize) -> Result<bool, CheckError> {
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

    /// The model error that a run meets at its last position, if it is one over the reals and the property is open by then.
    pub(crate) fn error(&mut self, run: &Run, end: End) -> Result<Option<Found>, CheckError> {
        let doubts = doubts_of(end);
        let Some(last) = run.states.len().checked_sub(1).filter(|_| doubts != Doubts::default()) else {
            return Ok(None);
        };
        // Where rounding leaves open whether a range is left now or later, it is left.
        let Some(tube) = self.tube(run, last, end == End::Leaves)? else { return Ok(None) };
        let state = &tube.states[last];
        let inputs: Vec<Interval> = run.inputs[last].iter().map(|&value| Interval::point(value)).collect();
        let Some(own) = self.stepper.enclosed(state, &inputs, &labels_of(self.system, run, last))? else {
            return Ok(None);
        };
        if last == 0 && own.initial != Some(true) {
            return Ok(None);
        }
        // Whether an atom that reads a choice has a value depends on whether that is allowed.
        let reads = |atom: &AtomId| self.system.atoms[atom.0].uses_choice;
        let wrong = match end {
            End::Undefined if own.allowed != Some(true) && self.atoms.iter().any(reads) => None,
            End::Undefined => (own.defined == Some(false)).then_some(Wrong::Undefined),
            End::Forbidden => self.is_deadlock(state)?.then_some(Wrong::Deadlock),
            _ if own.allowed == Some(true) && own.defined == Some(true) => left(&self.system.states, &own.next),
            _ => None,
        };
        let Some(wrong) = wrong else { return Ok(None) };
        let valued = self.valued.at(Truths { yes: u64::MAX, no: 0 }, doubts).yes;
        // Where something is undefined, an atom that is certain has a value.
        let wanted = if end == End::Undefined { u64::MAX } else { valued };
        let mut letter = Truths::default();
        for (place, atom) in self.atoms.iter().enumerate().filter(|(place, _)| wanted >> place & 1 == 1) {
            match own.atoms[atom.0] {
                Some(true) => letter.yes |= 1 << place,
                Some(false) => letter.no |= 1 << place,
                None if valued >> place & 1 == 1 => return Ok(None),
                None => {}
            }
        }
        let Tube { mut letters, straddles, .. } = tube;
        letters.push(letter);
        let (system, formula) = (self.system, self.formula);
        let undecided = self.undecided.get_or_insert_with(|| Undecided::new(system, formula));
        let is_open = undecided.as_ref().is_some_and(|own| {
            straddles.iter().all(|&position| {
                let mut letters = letters[..=position].to_vec();
                letters[position] = self.valued.at(letters[position], Doubts::RANGE);
                own.is_open(&letters)
            }) && own.is_open(&letters)
        });
        // An atom that has no value whatever is chosen: a choice that is not allowed is not shown.
        let by_its_state = match own.allowed {
            Some(allowed) => !allowed,
            None => self.system.roles.choice_defined.is_none(),
        };
        let open_end = wrong == Wrong::Deadlock || by_its_state;
        Ok(is_open.then(|| Found::Error(Run { loop_to: None, open_end, ..run.clone() }, wrong)))
    }

    /// Whether nothing is allowed anywhere in a box.
    fn is_deadlock(&mut self, state: &[Interval]) -> Result<bool, CheckError> {
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

    /// The first positions of a run, enclosed, and the state after them; nothing where something is not certain.
    fn tube(&mut self, run: &Run, positions: usize, may_leave: bool) -> Result<Option<Tube>, CheckError> {
        if positions > MOST_ENCLOSED {
            return Ok(None);
        }
        let Some(first) = run.states.first() else { return Ok(None) };
        let mut tube = Tube {
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

/// What goes wrong where a run ends.
fn doubts_of(end: End) -> Doubts {
    match end {
        End::Cut | End::Repeats => Doubts::default(),
        End::Forbidden => Doubts::DEADLOCK,
        End::Leaves => Doubts::RANGE,
        End::Undefined => Doubts::UNDEFINED,
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
fn labels_of(system: &System, run: &Run, position: usize) -> Labels {
    let actions = run.actions[position].iter().zip(&system.roles.actions);
    let random = actions.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
    Labels { chances: run.chances[position].clone(), actions: random.map(|(&label, _)| label).collect() }
}

/// A run up to so many positions.
fn cut(mut run: Run, positions: usize) -> Run {
    run.loop_to = None;
    for table in [&mut run.states, &mut run.inputs, &mut run.policies] {
        table.truncate(positions);
    }
    run.chances.truncate(positions);
    run.actions.truncate(positions);
    run.atoms.truncate(positions);
    run
}

fn ranges(variables: &[Variable]) -> impl Iterator<Item = (&f64, &f64)> {
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

/// A number that is out of its range for certain.
fn left(variables: &[Variable], values: &[Interval]) -> Option<Wrong> {
    let mut all = values.iter().zip(ranges(variables)).enumerate();
    let found = all.find(|(_, (value, (low, high)))| value.hi < **low || value.lo > **high);
    found.map(|(element, (value, _))| Wrong::Leaves { element, value: certus_solver::middle(value.lo, value.hi).0 })
}
