//! Falsification through the binary: what simulation breaks, `check` finds.

use crate::support::{Folder, certus};
use serde_json::Value;

fn result(arguments: &[&str]) -> Value {
    let ran = certus(&[arguments, &["--json", "--quiet"]].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    document["results"][0].clone()
}

#[test]
fn what_simulation_breaks_is_found_by_the_portfolio() {
    // Some of a thousand simulated runs break these late: after 595 and after 309 steps.
    for (file, property) in
        [("zoo/biology/biology.certus", "no_hypoglycaemia"), ("zoo/oscillator/oscillator.certus", "stays_below")]
    {
        let found = result(&["check", file, property]);
        assert_eq!((&found["verdict"], &found["engine"]), (&"violated".into(), &"falsify".into()), "{found}");
    }
}

#[test]
fn bounded_properties_lassos_and_model_errors_are_found() {
    let found = result(&["check", "zoo/b2/b2.certus", "at_goal_after_7", "--engine", "falsify"]);
    assert_eq!((&found["verdict"], found["trace"].as_array().unwrap().len()), (&"violated".into(), 8));
    let folder = Folder::new("falsify");
    let text = "system s\nstate x in [0, 5]\ninput u in [0, 1]\ninit x <= 1\nnext x = x + LAW\n\
                property grows = F x > 4\nproperty stays = G x >= 0\n";
    let file = folder.write("stays.certus", text.replace("LAW", "(if x > 3 then 0 else u)"));
    let found = result(&["check", &file, "grows", "--engine", "falsify"]);
    assert_eq!(found["verdict"], "violated", "{found}");
    assert!(found["loop"].is_u64(), "{found}");
    let file = folder.write("leaves.certus", text.replace("LAW", "u"));
    let ran = certus(&["check", &file, "stays"]);
    assert!(ran.code == 2 && ran.stdout.contains("x leaves its declared range"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_is_not_found_is_unknown_with_the_smallest_robustness() {
    let ran = certus(&["check", "zoo/toy/toy.certus", "below_ten", "--engine", "falsify"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the smallest robustness in"), "{}", ran.stdout);
    let ran = certus(&["check", "zoo/ball/ball.certus", "worst", "--engine", "falsify"]);
    assert!(ran.code == 2 && ran.stdout.contains("asks for a probability"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn runs_and_steps_are_counted() {
    let ran = certus(&["check", "zoo/toy/toy.certus", "below_five", "--engine", "falsify", "--stats"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    for word in ["falsify", "simulated runs", "simulated steps"] {
        assert!(all.contains(word), "{all}");
    }
}

#[test]
fn numbers_that_must_be_equal_are_met() {
    let folder = Folder::new("equal");
    // tanh passes 0.7 between two doubles; where exactly, the last bits decide.
    let text = "system s\nstate x in [0, 1]\nstate y in [0, 1]\ninit x in [0, 1] & y == 0.25\nnext x = 0.5 * x\nnext y = y\n\
                property apart = G (tanh(3 * x) + y != 0.7)\nproperty far = G (tanh(3 * x) + y != 1.7)\n\
                property nested = G (x <= 0.1 -> (y > 1 | tanh(3 * x) + y != 0.5))\n";
    let file = folder.write("equal.certus", text);
    for (property, verdict) in [("apart", "violated"), ("nested", "violated")] {
        let found = result(&["check", &file, property, "--engine", "falsify"]);
        assert_eq!(found["verdict"], verdict, "{property}: {found}");
        // Over the reals, not by rounding.
        let notes = found["notes"].as_array().unwrap();
        assert!(notes.iter().all(|note| !note.as_str().unwrap().contains("a run of doubles")), "{property}: {notes:?}");
    }
    assert_eq!(result(&["check", &file, "far"])["verdict"], "holds");
}

#[test]
fn equalities_are_met_between_two_sides() {
    // In thirty dimensions no search meets them by luck.
    let found = result(&["check", "zoo/aurora/aurora.certus", "mined"]);
    assert_eq!((&found["verdict"], &found["engine"]), (&"violated".into(), &"bmc".into()), "{found}");
    let folder = Folder::new("sides");
    // Touched without a change of sign; equal in doubles alone, which a verdict may be about if it says so.
    let text = "system s\nstate x in [0, 2]\nstate z in [-1, 1]\ninit x == 1 & z in [-1, 1]\nnext x = x\nnext z = z\n\
                property rounded = G (x + 1e-20 != 1)\nproperty touched = G (z * z + 1e-30 != 0)\n";
    let file = folder.write("sides.certus", text);
    let touched = result(&["check", &file, "touched", "--timeout", "5"]);
    assert_ne!(touched["verdict"], "violated", "{touched}");
    let rounded = result(&["check", &file, "rounded", "--timeout", "5"]);
    let told = rounded["notes"].to_string().contains("a run of doubles");
    assert!(rounded["verdict"] != "violated" || told, "{rounded}");
}
