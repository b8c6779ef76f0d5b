//! How far a verdict must reach.
//!
//! `holds` reaches at least as far as was asked: all time for a property without bounds of its own, all of its steps for one with, or the
//! steps that were named. Less is `unknown`, with what was settled, whatever stopped the work (docs/semantics.md, "Scope"). Every engine and
//! every command comes through here, so that none can say more than was shown.

use certus_lang::system::Property;
use certus_solver::UnknownReason;

use crate::ltl::nnf;
use crate::outcome::{Outcome, Scope, Unknown, Verdict};

/// The steps within which an engine looks for a violation if nobody says how far: ten, or as far as the property's own bounds reach.
pub fn usual_steps(property: &Property) -> usize {
    const LEAST: usize = 10;
    own_horizon(property).map_or(LEAST, |horizon| horizon.max(LEAST))
}

/// The last step that a property's own bounds reach; none if they do not end.
pub fn own_horizon(property: &Property) -> Option<usize> {
    nnf(property.over_runs().ok()?, true).horizon().and_then(|horizon| usize::try_from(horizon).ok())
}

/// An outcome that says no more than was asked for and shown. `asked` is the number of steps that somebody named, `stopped` why the work
/// ended early, if it did. A property that its own bounds decide holds up to its last step, whatever the proof.
pub fn within_scope(
    property: &Property,
    outcome: Outcome,
    asked: Option<usize>,
    stopped: Option<UnknownReason>,
) -> Outcome {
    if let (Verdict::Holds(Scope::Unbounded), Some(last)) = (&outcome.verdict, own_horizon(property)) {
        return Outcome { verdict: Verdict::Holds(Scope::Horizon(last)), ..outcome };
    }
    debug_assert!(
        !matches!(&outcome.verdict, Verdict::Violated(run) if !run.is_complete()),
        "a run that violates {} has positions without values",
        property.name
    );
    let Verdict::Holds(Scope::Bounded(steps)) = outcome.verdict else { return outcome };
    if asked.is_some_and(|asked| steps >= asked) {
        return outcome;
    }
    let place = match asked {
        Some(asked) => crate::steps(asked),
        None => "a proof for all time".to_owned(),
    };
    let unknown = Unknown { settled: Some(steps), ..Unknown::at(stopped, place) };
    Outcome { verdict: Verdict::Unknown(unknown), proof: None, no_errors: None, ..outcome }
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, System, load_str};

    use super::*;

    fn loaded(text: &str) -> System {
        load_str(&format!("system s\n{text}"), &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
    }

    #[test]
    fn less_than_was_asked_is_unknown() {
        let system = loaded("state x in [0, 1]\nnext x = x\nproperty p = G x >= 0\nproperty q = F<=2 x >= 0\n");
        let after = |scope: Scope, asked: Option<usize>| {
            within_scope(&system.properties[0], Outcome::new("bmc", Verdict::Holds(scope)), asked, None).verdict
        };
        let found = Outcome::new("induction", Verdict::Holds(Scope::Unbounded));
        assert_eq!(within_scope(&system.properties[1], found, None, None).verdict, Verdict::Holds(Scope::Horizon(2)));
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
