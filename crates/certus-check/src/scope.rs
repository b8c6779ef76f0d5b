//! How far a verdict must reach.
//!
//! `holds` reaches at least as far as was asked: all time for a property without bounds of its own, all of its steps for one with, or the
//! steps that were named. Less is `unknown`, with what was settled, whatever stopped the work (docs/semantics.md, "Scope"). Every engine and
//! every command comes through here, so that none can say more than was shown.

use certus_solver::UnknownReason;

use crate::outcome::{Outcome, Scope, Unknown, Verdict};

/// An outcome that says no more than was asked for and shown. `asked` is the number of steps that somebody named, `stopped` why the work
/// ended early, if it did.
pub fn within_scope(outcome: Outcome, asked: Option<usize>, stopped: Option<UnknownReason>) -> Outcome {
    let Verdict::Holds(Scope::Bounded(steps)) = outcome.verdict else { return outcome };
    if asked.is_some_and(|asked| steps >= asked) {
        return outcome;
    }
    let place = match asked {
        Some(asked) => format!("{asked} steps"),
        None => "all time".to_owned(),
    };
    let unknown = Unknown { settled: Some(steps), ..Unknown::at(stopped, place) };
    Outcome { verdict: Verdict::Unknown(unknown), proof: None, no_errors: None, ..outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_was_asked_is_unknown() {
        let after = |scope: Scope, asked: Option<usize>| {
            within_scope(Outcome::new("bmc", Verdict::Holds(scope)), asked, None).verdict
        };
        for asked in [None, Some(3)] {
            for scope in [Scope::Unbounded, Scope::Horizon(2)] {
                assert_eq!(after(scope, asked), Verdict::Holds(scope));
            }
        }
        assert_eq!(after(Scope::Bounded(3), Some(3)), Verdict::Holds(Scope::Bounded(3)));
        for asked in [None, Some(4)] {
            let Verdict::Unknown(unknown) = after(Scope::Bounded(3), asked) else { panic!("{asked:?}") };
            assert_eq!(unknown.settled, Some(3));
        }
    }
}
