//! Systems of the zoo, checked up to a few steps.

use certus_check::bmc::check;
use certus_check::errors::Errors;
use certus_lang::{LowerOptions, System, load_file};
use certus_model::{Outcome, Scope, Verdict};
use certus_solver::Budget;

fn load(name: &str) -> System {
    let path = format!("{}/../../zoo/{name}/{name}.certus", env!("CARGO_MANIFEST_DIR"));
    load_file(path, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn ask(system: &System, property: &str, steps: usize) -> Outcome {
    let property = system.property(property).unwrap();
    let budget = Budget { subproblems: 20_000, ..Budget::default() };
    check(system, property, Some(steps), &Errors::new(system, false), &budget, &mut |_| {}).unwrap()
}

#[test]
fn the_toy_of_the_paper() {
    let toy = load("toy");
    assert_eq!(ask(&toy, "below_ten", 3).verdict, Verdict::Holds(Scope::Bounded(3)));
    let Verdict::Violated(run) = ask(&toy, "below_five", 3).verdict else { panic!() };
    assert_eq!((run.states.len(), run.loop_to), (1, None));
    assert!(run.policies[0][0] >= 5.0);
    // A negative output that repeats itself for ever.
    let Verdict::Violated(run) = ask(&toy, "turns_positive", 3).verdict else { panic!() };
    assert_eq!((run.states.len(), run.loop_to), (1, Some(0)));
    assert!(run.policies[0][0] <= 0.0);
}

#[test]
fn windows_are_substituted_away() {
    use certus_check::ltl_encoding::Shape;
    use certus_check::unroll::{Start, unroll};
    let aurora = load("aurora");
    for (positions, loop_to, free) in [(3, Some(0), 9), (12, Some(0), 36), (2, None, 36), (4, Some(3), 12)] {
        let unrolled = unroll(&aurora, Shape { positions, loop_to }, Start::Initial, false).unwrap();
        assert_eq!(unrolled.region.lower.len(), free, "{positions} positions, back to {loop_to:?}");
    }
}
