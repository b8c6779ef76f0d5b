//! Runs that somebody else has found, walked through again.

use crate::decide::explained;
use crate::eval::Choice;
use crate::formula::Specification;
use crate::look::{Looker, ModelError, Position, Then};
use crate::model::{Model, State};
use crate::monitor::{Monitor, Shown};
use crate::real::{AbsValue, Rational, rational, whole};
use crate::word::Word;

/// A run as an outcome shows it, in doubles.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The state at each position.
    pub states: Vec<Vec<f64>>,
    /// The inputs at each position; none where they do not matter.
    pub inputs: Vec<Option<Vec<f64>>>,
    /// The labels of the chance variables at each position.
    pub chances: Vec<Vec<usize>>,
    /// The labels of the actions at each position.
    pub actions: Vec<Vec<usize>>,
    /// The position to which the run returns.
    pub back: Option<usize>,
}

/// What a trace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// A run that violates the property, shown exactly.
    Violates,
    /// It violates the property if doubles are taken for reals: some state is the successor up to rounding only.
    ViolatesInDoubles,
    /// A run that ends with a model error before the property is decided.
    Errs(ModelError),
    /// A run that leaves the property open, or satisfies it.
    Innocent(Shown),
    /// No run at all.
    NoRun(String),
    /// The enclosures are too wide to tell.
    NotKnown(String),
}

/// How far a state may be from the successor, relative to its size, to pass for it in doubles.
const ROUNDING: f64 = 1e-9;

/// Walks through a trace.
pub fn replay(model: &Model, specification: &Specification, trace: &Trace) -> Result<Replayed, String> {
    let monitor = Monitor::new(&specification.formula)?;
    let looker = Looker::new(model, specification);
    let mut states: Vec<State> = Vec::new();
    for state in &trace.states {
        let exact: Option<State> = state.iter().copied().map(rational).collect();
        match exact.filter(|state| state.len() == model.state_len()) {
            Some(exact) => states.push(exact),
            None => {
                return Ok(Replayed::NoRun(
                    "a state is not finite, or has not as many numbers as the system".to_owned(),
                ));
            }
        }
    }
    let Some(first) = states.first() else { return Ok(Replayed::NoRun("there is no position".to_owned())) };
    match looker.is_initial(first) {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Ok(Replayed::NoRun("the first state is not initial".to_owned())),
        Ok(Err(error)) => return Ok(Replayed::Errs(error)),
        Err(stop) => return Ok(Replayed::NotKnown(explained(stop))),
    }
    let mut standing = monitor.beginning();
    let (mut letters, mut exact) = (Vec::new(), true);
    for (place, state) in states.iter().enumerate() {
        let last = place + 1 == states.len();
        let position = match found(&looker, trace, place, state) {
            Ok(Some(position)) => position,
            Ok(None) => return Ok(Replayed::NoRun(format!("the choice at position {place} is not allowed"))),
            Err(stop) => return Ok(Replayed::NotKnown(stop)),
        };
        standing = monitor.after(&standing, &position.letter);
        match standing.shown() {
            Shown::Violated if exact => return Ok(Replayed::Violates),
            Shown::Violated => return Ok(Replayed::ViolatesInDoubles),
            shown @ Shown::Satisfied => return Ok(Replayed::Innocent(shown)),
            Shown::Open => {}
        }
        letters.push(position.letter.iter().map(|truth| *truth == Some(true)).collect());
        let next = match (last, trace.back) {
            (false, _) => &states[place + 1],
            (true, Some(back)) if back < states.len() => &states[back],
            (true, Some(_)) => return Ok(Replayed::NoRun("it returns to a position that there is not".to_owned())),
            (true, None) => {
                return Ok(match position.then {
                    Then::Error(error) => Replayed::Errs(error),
                    _ => Replayed::Innocent(Shown::Open),
                });
            }
        };
        match position.then {
            Then::State(successor) => match distance(&successor, next) {
                Distance::None => {}
                Distance::Rounding => exact = false,
                Distance::Far => return Ok(Replayed::NoRun(format!("position {} is not the successor", place + 1))),
            },
            Then::Error(error) => return Ok(Replayed::Errs(error)),
            Then::Nothing => return Ok(Replayed::NoRun(format!("nothing follows position {place}"))),
        }
    }
    let Some(back) = trace.back else { return Ok(Replayed::Innocent(Shown::Open)) };
    let violates = !Word { letters: &letters, back }.satisfies(&specification.formula);
    Ok(match (violates, exact) {
        (true, true) => Replayed::Violates,
        (true, false) => Replayed::ViolatesInDoubles,
        (false, _) => Replayed::Innocent(Shown::Open),
    })
}

/// The position that a trace shows; none if its choice is not allowed.
fn found(looker: &Looker<'_>, trace: &Trace, place: usize, state: &State) -> Result<Option<Position>, String> {
    let given = trace.inputs.get(place).and_then(Option::as_ref);
    let inputs = match given {
        Some(inputs) => inputs.iter().copied().map(rational).collect::<Option<Vec<Rational>>>(),
        None => None,
    };
    let Some(inputs) = inputs.filter(|inputs| looker.model.permits(inputs)) else {
        // Without a choice, the state speaks for itself.
        let mut positions = looker.positions(state, &[]).map_err(explained)?;
        return Ok(positions.pop().filter(|_| given.is_none()).map(|position| match position.then {
            Then::Error(ModelError::Deadlock) => Position { then: Then::Nothing, ..position },
            _ => position,
        }));
    };
    let mut choices = looker.draws.iter().filter(|draw| {
        let labels = trace.actions.get(place);
        let agrees = |(action, label): (usize, &Option<usize>)| {
            label.is_none_or(|label| labels.and_then(|labels| labels.get(action)) == Some(&label))
        };
        trace.chances.get(place) == Some(&draw.chances) && draw.actions.iter().enumerate().all(agrees)
    });
    let Some(draw) = choices.next() else { return Ok(None) };
    let choice: Choice = draw.with(&inputs);
    let mut positions = looker.positions(state, &[inputs]).map_err(explained)?;
    positions.retain(|position| position.choice.as_ref().is_none_or(|own| *own == choice));
    if positions.iter().any(|position| position.then == Then::Error(ModelError::Deadlock)) {
        return Ok(None);
    }
    Ok(positions.pop())
}

enum Distance {
    None,
    Rounding,
    Far,
}

fn distance(successor: &[Rational], next: &[Rational]) -> Distance {
    if successor == next {
        return Distance::None;
    }
    let near = |(a, b): (&Rational, &Rational)| {
        let size = a.clone().abs_value().max(whole(1));
        rational(ROUNDING).is_some_and(|rounding| (a - b).abs_value() <= size * rounding)
    };
    if successor.iter().zip(next).all(near) { Distance::Rounding } else { Distance::Far }
}
