//! A verdict beside the truth.

use certus_reference::Replayed;

use crate::campaign::Tally;
use crate::engines::{Asked, ask};
use crate::rows::Study;
use crate::truth::Truth;
use certus_model::{Outcome, Run, Scope, Verdict};

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
    /// A formatted file is another one, or is formatted otherwise.
    FormattedWrongly,
    /// A certificate is accepted for something that is not true, or as something else than it is.
    AcceptedWrongly,
    /// A certificate that was just written is rejected.
    RejectedWrongly,
    /// A point that was found is none, or one that exists is said not to.
    AnswerWrong,
    /// A run under a shield is unsafe.
    ShieldUnsafe,
    /// An exit code is not that of the verdicts.
    ExitCodeWrong,
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

/// Compares an engine on every property of a system.
pub fn compare(asked: Asked, study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let said = ask(asked, study.case, study.folder)?;
    for ((property, truth), said) in study.case.properties.iter().zip(study.truths).zip(said) {
        match (truth, said) {
            (None, _) => {}
            (Some(truth), Ok(outcome)) => {
                let judged = judge(asked.steps, &outcome, truth);
                tally.note((study.number, study.case, property, asked.name), judged, || truth.in_words());
            }
            (Some(_), Err(message)) => tally.refuse(asked.name, message),
        }
    }
    Ok(())
}

/// Judges a verdict about so many steps, or about all time.
pub fn judge(steps: Option<usize>, outcome: &Outcome, truth: &Truth) -> Judged {
    match &outcome.verdict {
        Verdict::Probability(_) | Verdict::Unknown(_) => Judged::Unknown,
        Verdict::Holds(scope) => holds(steps, *scope, truth),
        Verdict::Violated(run) if run.converges => match truth.decision.violated() {
            true => Judged::Right("violated"),
            false => Judged::Wrong(Class::ViolatedWrongly, "by coming to rest".to_owned()),
        },
        Verdict::Violated(run) => match (truth.replayed(run, false), truth.decision.violated()) {
            (Replayed::Violates, true) => Judged::Right("violated"),
            (Replayed::Violates, false) => Judged::Wrong(Class::LatticeTooCoarse, format!("{run:?}")),
            (Replayed::NotKnown(_), true) => Judged::Right("violated"),
            // A state such as 2/3 is no double, and the run is one up to rounding; a loop must be exact.
            (Replayed::ViolatesInDoubles, true) if run.loop_to.is_none() => Judged::Right("violated"),
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
                if error.kind == certus_model::ModelErrorKind::Deadlock =>
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

/// Judges that a property holds.
pub fn holds(steps: Option<usize>, scope: Scope, truth: &Truth) -> Judged {
    let said = format!("{scope:?}");
    match (scope, steps) {
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
