//! Finite systems: every state is visited, and what is said holds over the reals.

use certus_check::explicit::decide;
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::{ModelErrorKind, Outcome, Scope, Verdict};
use certus_solver::Budget;

/// What is said of the first property of a system.
fn said(text: &str) -> Option<Outcome> {
    let text = format!("system s\n{text}\n");
    let system = load_str(&text, &mut FileNetworks::default(), &LowerOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    decide(&system, &system.properties[0], None, false, &Budget::default()).unwrap()
}

fn verdict(text: &str) -> Option<Verdict> {
    said(text).map(|outcome| outcome.verdict)
}

const WALK: &str = "state x in [0, 9]\nstate y in [0, 9]\ninput u in [0, 1]\naction go = argmax([x - y, y - x]) of { up, right }\n\
    next x = match go { up: x, right: min(x + 1, 9) }\nnext y = match go { up: min(y + (if u > 0.25 then 1 else 2), 9), right: y }\n\
    init x in [0, 3] & floor(x) == x & y == 0\n";

#[test]
fn a_gridworld_from_four_integers_is_decided_for_all_time() {
    let holds = |property: &str| verdict(&format!("{WALK}property p = {property}"));
    assert_eq!(holds("F (x == 9 & y == 9)"), Some(Verdict::Holds(Scope::Unbounded)));
    assert_eq!(holds("G abs(x - y) <= 3"), Some(Verdict::Holds(Scope::Unbounded)));
    assert_eq!(holds("F<=3 x + y >= 3"), Some(Verdict::Holds(Scope::Horizon(3))));
    let Some(Verdict::Violated(run)) = holds("G abs(x - y) <= 2") else { panic!("three apart at the beginning") };
    assert_eq!(run.states, [[3.0, 0.0]]);
    // Only the quarter of the inputs that includes its border climbs by two.
    let Some(Verdict::Violated(run)) = holds("G next(y) <= y + 1") else { panic!("it climbs by two") };
    assert!(run.inputs.last().unwrap()[0] <= 0.25);
}

#[test]
fn borders_belong_to_one_side() {
    let cycle = "state x in [0, 2]\ninput u in [0, 1]\nnext x = if u > 0.3 then 1 else 2\ninit x == 0\n";
    let at = |condition: &str| verdict(&format!("{cycle}property p = G ({condition} -> next(x) == 2)"));
    assert_eq!(at("u <= 0.3"), Some(Verdict::Holds(Scope::Unbounded)));
    assert!(matches!(at("u <= 0.5"), Some(Verdict::Violated(_))));
    let next_to_a_pole =
        "state x in [0, 1]\ninput u in [0, 1]\nnext x = if u > 0 then min(floor(1 / u), 1) else 0\ninit x == 0\n";
    let holds = verdict(&format!("{next_to_a_pole}property p = G (u > 0 -> next(x) == 1)"));
    assert_eq!(holds, Some(Verdict::Holds(Scope::Unbounded)));
}

#[test]
fn loops_and_model_errors_are_found() {
    let Some(Verdict::Violated(run)) = verdict("state x in [0, 3]\nnext x = 3 - x\ninit x == 1\nproperty p = F x == 3")
    else {
        panic!("it goes to and fro")
    };
    assert_eq!((run.states, run.loop_to), (vec![vec![1.0], vec![2.0]], Some(0)));
    let kind = |text: &str| match verdict(text) {
        Some(Verdict::ModelError(error)) => Some((error.run.states.len(), error.kind)),
        _ => None,
    };
    let exit = ModelErrorKind::RangeExit { variable: "x".to_owned(), value: 4.0 };
    assert_eq!(kind("state x in [0, 3]\nnext x = x + 1\ninit x == 2\nproperty p = G x >= 0"), Some((2, exit)));
    let stuck = "state x in [0, 3]\ninput u in [0, 1]\nnext x = min(x + 1, 3)\nassume u >= x\ninit x == 0\n";
    assert_eq!(kind(&format!("{stuck}property p = G x >= 0")), Some((3, ModelErrorKind::Deadlock)));
    assert_eq!(verdict(&format!("{stuck}property p = F x == 1")), Some(Verdict::Holds(Scope::Unbounded)));
}

#[test]
fn what_exercises_a_property_is_shown() {
    let clock = "state n in [0, 5]\nnext n = min(n + 1, 5)\ninit n == 0\n";
    let outcome = said(&format!("{clock}property p = G (n >= 3 -> next(n) >= 4)")).unwrap();
    assert_eq!((outcome.vacuous, outcome.exercised.unwrap().states.len()), (false, 4));
    assert!(said(&format!("{clock}property p = G (n > 5 -> next(n) == 0)")).unwrap().vacuous);
}

#[test]
fn what_is_not_finite_is_left_to_others() {
    // Rounded successors, a box of initial states, states that never end.
    assert_eq!(verdict("state x in [0, 3]\nnext x = 0.1 * x\ninit x == 1\nproperty p = G x <= 1"), None);
    assert_eq!(verdict("state x in [0, 3]\nnext x = x\ninit x in [0, 1]\nproperty p = G x <= 1"), None);
    assert_eq!(verdict("state x in [0, 3]\ninput u in [0, 1]\nnext x = u\ninit x == 0\nproperty p = G x <= 1"), None);
}
