//! A verdict beside the truth.

use certus_check::{Outcome, Run, Scope, Verdict};
use certus_reference::Replayed;

use crate::engines::Asked;
use crate::truth::Truth;

/// How an engine can disagree with the interpreter; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// It says that a violated property holds.
    HoldsThoughViolated,
    /// It says that a property holds on whose runs the model errs.
    HoldsThoughModelError,
    /// It says that a property holds, but not as far as was asked.
    HoldsTooShort,
    /// It says that a property is violated that no run violates.
    ViolatedWrongly,
    /// It says that the model errs, and it does not before the property is decided.
    ModelErrorWrongly,
    /// Its run is not what it is said to be.
    TraceDoesNotReplay,
    /// Its run violates the property without what is chosen at the last position, and that choice is not allowed.
    EndNotAllowed,
    /// The run is right, but the interpreter has not found it: its lattice is too coarse.
    LatticeTooCoarse,
    /// A simulated run is not what is said of it.
    SimulatedWrongly,
    /// A probability lies elsewhere, or is on the other side of its bound.
    ProbabilityWrong,
}

/// What a verdict comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It agrees with the truth.
    Right(&'static str),
    /// It says nothing.
    Unknown,
    /// It is wrong.
    Wrong(Class, String),
}

/// Judges a verdict.
pub fn judge(asked: Asked, outcome: &Outcome, truth: &Truth) -> Judged {
    match &outcome.verdict {
        Verdict::Unknown(_) => Judged::Unknown,
        Verdict::Holds(scope) => holds(asked, *scope, truth),
        Verdict::Violated(run) if run.comes_to_rest => match truth.decision.violated() {
            true => Judged::Right("violated"),
            false => Judged::Wrong(Class::ViolatedWrongly, "by coming to rest".to_owned()),
        },
        Verdict::Violated(run) => match (truth.replayed(run, false), truth.decision.violated()) {
            (Replayed::Violates, true) => Judged::Right("violated"),
            (Replayed::Violates, false) => Judged::Wrong(Class::LatticeTooCoarse, format!("{run:?}")),
            (Replayed::NotKnown(_), true) => Judged::Right("violated"),
            (Replayed::NoRun(_), true) if without_the_last_choice(run, truth) => {
                Judged::Wrong(Class::EndNotAllowed, format!("{run:?}"))
            }
            (other, true) => Judged::Wrong(Class::TraceDoesNotReplay, format!("{other:?}: {run:?}")),
            (other, false) => Judged::Wrong(Class::ViolatedWrongly, format!("{other:?}: {run:?}")),
        },
        Verdict::ModelError(error) => match (truth.replayed(&error.run, true), truth.decision.error.is_some()) {
            (Replayed::Errs(_) | Replayed::NotKnown(_), true) => Judged::Right("model error"),
            // That no choice at all is allowed is not seen from one choice.
            (Replayed::NoRun(_) | Replayed::Innocent(_), true)
                if error.kind == certus_check::ModelErrorKind::Deadlock =>
            {
                Judged::Right("model error")
            }
            (Replayed::Errs(_), false) => Judged::Wrong(Class::LatticeTooCoarse, format!("{error:?}")),
            (other, true) => Judged::Wrong(Class::TraceDoesNotReplay, format!("{other:?}: {error:?}")),
            (other, false) => Judged::Wrong(Class::ModelErrorWrongly, format!("{other:?}: {error:?}")),
        },
    }
}

/// Whether the state at the end is bad, whatever is chosen there.
fn without_the_last_choice(run: &Run, truth: &Truth) -> bool {
    let open = Run { open_end: true, ..run.clone() };
    run.loop_to.is_none() && truth.replayed(&open, false) == Replayed::Violates
}

fn holds(asked: Asked, scope: Scope, truth: &Truth) -> Judged {
    let said = format!("{scope:?}");
    match (scope, asked.steps) {
        (Scope::Bounded(reached), Some(steps)) if reached >= steps => {
            if !truth.depths.refutes(steps) {
                return Judged::Right("holds");
            }
            let class = match truth.depths.error.is_some_and(|depth| depth < steps) && !shows(truth, steps) {
                true => Class::HoldsThoughModelError,
                false => Class::HoldsThoughViolated,
            };
            Judged::Wrong(class, said)
        }
        (Scope::Bounded(_), _) => Judged::Wrong(Class::HoldsTooShort, said),
        (Scope::Unbounded | Scope::Horizon(_), _) if truth.decision.violated() => {
            Judged::Wrong(Class::HoldsThoughViolated, said)
        }
        (Scope::Unbounded | Scope::Horizon(_), _) if truth.decision.error.is_some() => {
            Judged::Wrong(Class::HoldsThoughModelError, said)
        }
        _ => Judged::Right("holds"),
    }
}

/// Whether so many steps show a violation.
fn shows(truth: &Truth, steps: usize) -> bool {
    truth.depths.violation.is_some_and(|depth| depth <= steps) || truth.depths.loops.is_some_and(|depth| depth <= steps)
}
