//! Where features meet: systems of a few lines that once had a wrong or misleading verdict.
//!
//! What is expected is what docs/semantics.md says, and was worked out by hand.

use crate::support::{Folder, certus};

/// Checks a system that is given as text: the exit code, and what is printed.
fn check(name: &str, text: &str, arguments: &[&str]) -> (i32, String) {
    let folder = Folder::new(&format!("seams-{name}"));
    let path = folder.write("system.certus", text);
    let mut all = vec!["check", path.as_str()];
    all.extend_from_slice(arguments);
    let ran = certus(&all);
    (ran.code, ran.stdout + &ran.stderr)
}

#[track_caller]
fn expect(found: (i32, String), code: i32, words: &str) {
    assert_eq!(found.0, code, "{}", found.1);
    assert!(found.1.contains(words), "expected '{words}' in\n{}", found.1);
}

const CLOCK: &str = "system clock\nstate n in [0, 100]\nnext n = min(n + 1, 100)\ninit n == 0\n\
                     property small = G n <= 90\nproperty ends = G n <= 5\n";

#[test]
fn less_than_was_asked_is_unknown() {
    // Seam 1: no time at all is the shortest deadline, and nobody's clock matters.
    for arguments in [&["small", "--timeout", "0"][..], &["--timeout", "0", "--expect"]] {
        let found = check("clock", CLOCK, arguments);
        assert_eq!(found.0, 3, "{}", found.1);
        assert!(!found.1.contains("holds up to") && !found.1.contains("holds for"), "{}", found.1);
    }
    expect(check("clock", CLOCK, &["small", "--engine", "bmc", "-k", "3"]), 0, "holds up to 3 steps");
    expect(check("clock", CLOCK, &["small", "--engine", "bmc"]), 3, "no violation up to 10 steps");
    expect(check("clock", CLOCK, &["ends"]), 1, "violated at step 6");
}

#[test]
fn ended_runs_are_spared_what_is_assumed_of_successors() {
    // Seam 3: every run ends at x <= 0 and stays there.
    let text = "system r3\nstate x in [-2, 10]\ninput u in [0, 1]\nnext x = x - u\nassume next(x) <= x - 0.1\n\
                init x in [2, 3]\nterminal x <= 0\nproperty p = F x >= 5\n";
    expect(check("r3", text, &[]), 1, "violated for ever");
}

#[test]
fn a_run_that_leaves_its_range_proves_nothing() {
    // Seam 5.
    let text = "system r5\nstate x in [0, 10]\nnext x = x + 1\ninit x == 0\nproperty p = F x > 100\nproperty q = G x >= 0\n\
                property soon = F<=5 x > 3\n";
    expect(check("r5", text, &["p"]), 2, "x leaves its declared range");
    expect(check("r5", text, &["q"]), 2, "model error at step 10");
    // What lies behind a property's own bounds does not matter.
    expect(check("r5", text, &["soon"]), 0, "holds");
}

#[test]
fn a_bad_state_is_bad_whatever_follows() {
    // Seam 6.
    let text = "system r6\nstate x in [0, 10]\nnext x = if x > 6.5 then 100 else x * 0.5\ninit x in [0, 8]\n\
                property a = G x < 7\nproperty b = G (x < 7 & next(x) <= 20)\nproperty c = G next(x) <= 20\n";
    expect(check("r6", text, &["a"]), 1, "violated at step 0");
    expect(check("r6", text, &["b"]), 1, "violated at step 0");
    expect(check("r6", text, &["c"]), 2, "x leaves its declared range");
}

#[test]
fn assumptions_bind_the_last_position_too() {
    // Seam 7.
    let text = "system r7\nstate x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(x + u, 0, 10)\nassume u > 0.5\n\
                property p = G u > 0.4\nproperty q = G u > 0.6\n";
    expect(check("r7", text, &["p"]), 0, "holds for all time");
    expect(check("r7", text, &["q"]), 1, "violated at step 0");
}

#[test]
fn a_loop_of_doubles_is_a_candidate() {
    // Seam 8: over the reals x stays above 1 for ever, and tanh never reaches 1.
    let half = "system r8\nstate x in [0, 4]\nnext x = 0.5 * x + 0.5\ninit x == 2\nproperty p = F G x > 1\n";
    let squashed = "system r8\nstate x in [-1, 1]\nnext x = tanh(20 * x)\ninit x == 0.5\nproperty p = F G x < 1\n";
    let tiny = "system r8\nstate x in [0, 4]\nnext x = clamp(x + 1e-17, 0, 4)\ninit x == 1\nproperty p = F x > 1\n";
    for (name, text) in [("half", half), ("squashed", squashed), ("tiny", tiny)] {
        let found = check(name, text, &["-k", "60", "--timeout", "30"]);
        assert!(found.0 == 0 || found.0 == 3, "{}", found.1);
    }
    // A loop that is one: the state repeats exactly, or by a choice that intervals can adjust.
    let still = "system r8\nstate x in [0, 4]\nnext x = 4 - x\ninit x == 1\nproperty p = F G x > 1\n";
    expect(check("still", still, &[]), 1, "violated for ever");
    let steered = "system r8\nstate x in [-10, 10]\ninput u in [-1, 1]\nnext x = clamp(x + 0.3 * u, -10, 10)\n\
                   init x in [0, 1]\nproperty p = F G x > 0.5\n";
    expect(check("steered", steered, &[]), 1, "violated for ever");
}

#[test]
fn a_loop_within_the_steps_shows_what_a_bound_beyond_them_hides() {
    // Seam 10.
    let text = "system r10\nstate x in [0, 10]\nnext x = x\ninit x == 0\nproperty p = F<=3 x > 5\n";
    expect(check("r10", text, &["--engine", "bmc", "-k", "1"]), 1, "violated for ever");
}

#[test]
fn an_undefined_operation_is_no_value() {
    // Seam 11.
    let text = "system r11\nstate y in [0, 1]\nnext y = y\ninit y == 0\nproperty a = G (0 / y) == (0 / y)\n\
                property b = G clamp(log(y), -4, 3) >= -4\nproperty c = G (if y > 0 then 1 / y else 1) >= 1\n";
    for engine in ["auto", "bmc", "grid"] {
        for property in ["a", "b"] {
            let found = check("r11", text, &[property, "--engine", engine]);
            assert!(found.0 == 2 || found.0 == 3, "{engine} {property}: {}", found.1);
        }
    }
    expect(check("r11", text, &["a"]), 2, "outside of its domain");
    // A branch that is not taken is not evaluated.
    expect(check("r11", text, &["c"]), 0, "holds");
}

#[test]
fn an_action_settles_nothing_where_something_is_undefined() {
    // Where `terminal` has no value, neither has an atom that reads an action; found by the conformance suite.
    let text = "system undefined\nstate x in [-4, 12]\naction kick = argmax([x + 2, 1]) of { l, r }\n\
                next x = if x >= 0 then 0 else x + 1\nterminal 1 / x < 0.5\ninit x == 0\n\
                property is_left = kick == l\nproperty not_right = kick != r\nproperty plain = x != 7\n";
    for property in ["is_left", "not_right"] {
        expect(check("undefined", text, &[property, "--engine", "bmc", "-k", "2"]), 2, "model error at step 0");
        expect(check("undefined", text, &[property, "-k", "2"]), 2, "model error at step 0");
    }
    expect(check("undefined", text, &["plain"]), 0, "holds up to step 0");
}

#[test]
fn what_is_false_whatever_an_undefined_atom_would_be_is_violated() {
    // At 0, `1 / x > 0.5` has no value, and `contradiction` is false with either; found by the conformance suite.
    let text = "system pole\nstate x in [-4, 12]\nnext x = min(x + 1, 3)\ninit x == 0\n\
                property contradiction = ((1 / x > 0.5) -> (x > 0)) & (1 / x > 0.5)\n\
                property open = (1 / x > 0.5) -> (x > 0)\n";
    for engine in ["auto", "bmc", "explicit"] {
        let asked = |property: &str| check("pole", text, &[property, "--engine", engine, "-k", "2"]);
        expect(asked("contradiction"), 1, "violated at step 0");
        expect(asked("open"), 2, "model error at step 0");
    }
    expect(check("pole", text, &["contradiction", "--engine", "grid"]), 1, "violated at step 0");
}

#[test]
fn a_terminal_state_in_which_nothing_is_allowed_is_no_run() {
    // The property reads a chance, so its last position needs an allowed choice; found by the conformance suite.
    let text = "system stuck\nstate x in [-1, 3]\ninput u in [0, 1]\nchance c of { a: 0.25, b: 0.75 }\nnext x = 1\nassume u > x\n\
                terminal x > 1.5\ninit x == 2\nproperty p = (x < 1) U[1, 2] c == a\n";
    let found = check("stuck", text, &["--engine", "bmc", "-k", "1"]);
    assert!(found.0 != 1 && !found.1.contains("violated"), "{}", found.1);
    let free = text.replace("assume u > x", "assume u > 0.5");
    expect(check("stuck", &free, &["--engine", "bmc", "-k", "1"]), 1, "violated at step 0");
}

#[test]
fn a_deadlock_is_a_model_error() {
    let text = "system stuck\nstate x in [0, 10]\ninput u in [1, 2]\nnext x = clamp(x + u, 0, 10)\nassume next(x) <= 5\n\
                init x == 0\nproperty p = G x <= 5\nproperty q = F<=1 x >= 1\n";
    expect(check("stuck", text, &["p"]), 2, "deadlock");
    expect(check("stuck", text, &["q"]), 0, "holds");
    // Where standing still is allowed, there is none.
    let free = text.replace("[1, 2]", "[0, 2]");
    expect(check("free", &free, &["p"]), 0, "holds for all time");
}

#[test]
fn an_implication_whose_left_side_never_holds_is_vacuous() {
    let text = "system calm\nstate x in [0, 1]\nnext x = x\nproperty p = G (x > 5 -> x < 0)\nproperty q = G (x > 0.5 -> x > 0.2)\n";
    expect(check("calm", text, &["p"]), 0, "vacuous: `x > 5` never becomes true");
    let (code, shown) = check("calm", text, &["q"]);
    assert!(code == 0 && !shown.contains("vacuous"), "{shown}");
}

#[test]
fn conditions_that_were_not_shown_can_be_accepted_and_are_then_told() {
    // The range holds only by a nonlinear argument that nothing here finds.
    let text = "system wide\nstate x in [0, 10]\nnext x = x + 1\ninit x == 0\nproperty p = G x >= 0\n";
    let (code, shown) = check("wide", text, &["p", "--assume-no-model-errors"]);
    assert!(code == 0 && shown.contains("was assumed, not shown"), "{shown}");
}
