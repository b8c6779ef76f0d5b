//! Where features of the language meet: small systems whose verdicts were wrong once, or could be.

use certus_grid::extract::ExtractOptions;
use certus_grid::{Options, Policy, Report, check};
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::{ModelErrorKind, Outcome, Scope, Verdict};
use certus_solver::Budget;

fn asked_with(text: &str, formula: &str, options: &Options, threads: usize) -> (Outcome, Report) {
    let text = format!("system seam\n{text}\nproperty wish = {formula}\n");
    let system = load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    let budget = Budget { threads, ..Budget::default() };
    check(&system, system.property("wish").unwrap(), options, &budget, &mut |_| {}).unwrap()
}

fn asked(text: &str, formula: &str) -> Verdict {
    let options = Options { most: Some(50_000), ..Options::default() };
    asked_with(text, formula, &options, 1).0.verdict
}

/// The variable that leaves its range, and the step at which it does.
fn exit(verdict: &Verdict) -> Option<(&str, usize)> {
    match verdict {
        Verdict::ModelError(error) => match &error.kind {
            ModelErrorKind::RangeExit { variable, .. } => Some((variable, error.run.states.len() - 1)),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn a_run_that_leaves_its_range_is_not_cut_off() {
    let counter = "state x in [0, 10]\nnext x = x + 0.1\ninit x == 0";
    let verdict = asked(counter, "F x > 100");
    assert_eq!(exit(&verdict), Some(("x", 100)), "{verdict:?}");
    // What is decided before does not mind what follows.
    assert_eq!(asked(counter, "F[0,20] x > 1.95"), Verdict::Holds(Scope::Horizon(20)));
    assert_eq!(asked(counter, "F x > 5"), Verdict::Holds(Scope::Unbounded));
    assert!(exit(&asked(counter, "G (x >= 0 | x < -1)")).is_some());
}

#[test]
fn a_bad_state_is_bad_where_the_successor_is_out_of_its_range() {
    let jump = "state x in [0, 10]\nnext x = if x > 6.5 then 100 else x * 0.5\ninit x in [0, 8]";
    for formula in ["G x < 7", "G (x < 7 & next(x) <= 20)", "G next(x) <= 200", "G x < 9"] {
        let verdict = asked(jump, formula);
        assert!(matches!(verdict, Verdict::Violated(_) | Verdict::ModelError(_)), "{formula}: {verdict:?}");
    }
    assert_eq!(asked(&jump.replace("[0, 8]", "[0, 6]"), "G (x < 7 & next(x) <= 20)"), Verdict::Holds(Scope::Unbounded));
}

#[test]
fn a_limit_that_states_reach_and_do_not_cross_can_be_a_cut() {
    // Both cells that meet at 1 contain it; of the upper one nothing else is reached.
    let touching = "state x in [-2, 2]\nstate t in [0, 1]\nnext x = if t < 0.5 then 2 * x else 0.25 * x\nnext t = 1\n\
                    init x in [-0.5, 0.5] & t == 0";
    assert_eq!(asked(touching, "G abs(x) <= 1"), Verdict::Holds(Scope::Unbounded));
    assert!(!matches!(asked(touching, "G abs(x) < 1"), Verdict::Holds(_)));
    let beyond = touching.replace("2 * x", "2.0000000001 * x");
    assert!(!matches!(asked(&beyond, "G abs(x) <= 1"), Verdict::Holds(_)));
}

#[test]
fn the_last_position_is_allowed_where_the_property_reads_what_is_chosen() {
    let pushed = "state x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(x + u, 0, 10)\nassume u > 0.5\ninit x == 0";
    assert_eq!(asked(pushed, "G u > 0.4"), Verdict::Holds(Scope::Unbounded));
    assert!(matches!(asked(pushed, "G u > 0.6"), Verdict::Violated(_)));
    // The other property's atoms make no difference.
    let both = format!("{pushed}\nproperty other = G next(x) > -1");
    assert!(matches!(asked(&both, "G x < 5"), Verdict::Violated(_)));
}

#[test]
fn loops_of_doubles_are_candidates_until_they_are_loops_over_the_reals() {
    let halved = "state x in [0, 4]\nnext x = 0.5 * x + 0.5\ninit x == 2";
    for (text, formula) in [
        (halved, "F G x > 1"),
        ("state x in [-2, 2]\nnext x = tanh(20 * x)\ninit x == 1", "G F x < 1"),
        ("state x in [0, 2]\nnext x = min(x + 1e-17, 2)\ninit x == 1", "F x > 1.5"),
    ] {
        let verdict = asked(text, formula);
        assert!(!matches!(verdict, Verdict::Violated(_)), "{text} {formula}: {verdict:?}");
    }
    let Verdict::Unknown(unknown) = asked(halved, "F G x > 1") else { panic!("decided") };
    assert!(unknown.candidate.is_some_and(|run| run.loop_to.is_some()));
    // These are loops over the reals, although not every number on the way is exact.
    for (text, formula) in [
        ("state x in [0, 4]\nnext x = min(x + 0.1, 1)\ninit x == 0", "F x > 1"),
        (halved, "F x > 3"),
        ("state x in [0, 4]\nnext x = 3 - x\ninit x == 1", "F G x > 1.5"),
    ] {
        let verdict = asked(text, formula);
        assert!(
            matches!(&verdict, Verdict::Violated(run) if run.loop_to.is_some() || run.converges),
            "{text} {formula}: {verdict:?}"
        );
    }
}

/// Seam 18: left `unknown` by one seed in some hundred.
#[test]
fn a_step_after_a_step_is_followed_to_where_the_automaton_wants_it() {
    let cells = "state x in [-0.5, 5.5]\nchance c of { one: 0.5, other: 0.5 }\n\
        next x = match c { one: (if x < 0.5 then 2 else (if x < 1.5 then 3 else (if x < 2.5 then 0 else 1))), \
        other: (if x < 0.5 then 0 else (if x < 1.5 then 0 else (if x < 2.5 then 3 else 0))) }\ninit x in [-0.09, 0.09]";
    for seed in 0..40 {
        let options = Options { widths: vec![0.18], refinements: Some(0), ..Options::default() };
        let text = format!(
            "system seam\n{cells}\ndefine p = abs(x - 1) < 0.3\ndefine q = abs(x - 3) < 0.3\nproperty wish = G (p -> X q)\n"
        );
        let system = load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let budget = Budget { seed, ..Budget::default() };
        let (outcome, _) = check(&system, &system.properties[0], &options, &budget, &mut |_| {}).unwrap();
        assert!(matches!(outcome.verdict, Verdict::Violated(_)), "seed {seed}: {:?}", outcome.verdict);
    }
}

#[test]
fn what_the_property_does_not_read_may_not_leave_its_range_either() {
    let costly = "state cost in [0, 10]\nstate x in [-2, 2]\nnext cost = cost + 1\nnext x = x / 2\ninit x in [1.3, 1.4] & cost == 0";
    assert_eq!(exit(&asked(costly, "F G x < 0.5")), Some(("cost", 10)));
    assert_eq!(asked(costly, "F x < 0.5"), Verdict::Holds(Scope::Unbounded));
    assert_eq!(
        asked(&costly.replace("cost + 1", "min(cost + 1, 10)"), "F G x < 0.5"),
        Verdict::Holds(Scope::Unbounded)
    );
    assert_eq!(asked(&costly.replace(" in [0, 10]", ""), "F G x < 0.5"), Verdict::Holds(Scope::Unbounded));
}

#[test]
fn ended_runs_are_spared_what_is_assumed_of_the_successor() {
    let falling = "state x in [-2, 10]\ninput u in [0, 1]\nnext x = x - u\nassume next(x) <= x - 0.1\ninit x in [2, 3]\nterminal x <= 0";
    let verdict = asked(falling, "F x >= 5");
    assert!(matches!(verdict, Verdict::Violated(_)), "{verdict:?}");
}

#[test]
fn deadlocks_are_errors_and_not_in_ended_runs() {
    let stuck = "state x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(x + 1, 0, 10)\nassume u + x <= 5.5\ninit x == 0";
    let verdict = asked(stuck, "G x < 20");
    assert!(
        matches!(&verdict, Verdict::ModelError(error) if error.kind == ModelErrorKind::Deadlock && error.run.states.len() == 7),
        "{verdict:?}"
    );
    assert_eq!(asked(stuck, "F x > 4"), Verdict::Holds(Scope::Unbounded));
    let ended = format!("{stuck}\nterminal x > 4.5");
    assert_eq!(asked(&ended, "G x < 20"), Verdict::Holds(Scope::Unbounded));
}

#[test]
fn undefined_operations_are_errors_wherever_they_are_evaluated() {
    let by_zero = |next: &str, more: &str| format!("state x in [-1, 8]\nnext x = {next}\ninit x == 4{more}");
    for (text, formula) in [
        (by_zero("clamp(log(x - 4), -1, 3)", ""), "G x < 20"),
        (by_zero("x / 2 + 0 / (x - 1)", ""), "G x < 20"),
        (by_zero("x - 1", "\nterminal 1 / (x - 2) > 5"), "G x < 20"),
        (by_zero("clamp(x - 1, 0, 8)", ""), "G 1 / x > -5"),
    ] {
        let verdict = asked(&text, formula);
        let undefined = |kind: &ModelErrorKind| matches!(kind, ModelErrorKind::Undefined { .. });
        assert!(
            matches!(&verdict, Verdict::ModelError(error) if undefined(&error.kind)),
            "{text} {formula}: {verdict:?}"
        );
    }
    // A branch that is not taken is no error, nor is what another property would evaluate.
    let lazy = by_zero("if x > 0.5 then x - 1 / x / 4 else 4", "\nproperty other = G 1 / (x - 4) > 0");
    assert_eq!(asked(&lazy, "G x < 20"), Verdict::Holds(Scope::Unbounded));
}

#[test]
fn an_atom_that_intervals_leave_open_may_decide_the_property_before_an_error() {
    // A tie over the reals, so `act` is `l` and the property is violated where the successor is undefined; intervals do not see it.
    let text = "state x in [0, 3]\naction act = argmax([sqrt(x) * sqrt(x), 2]) of { l, r }\ninit x == 2\nnext x = sqrt(x - 3)\n";
    let verdict = asked(text, "G act == r");
    assert!(!matches!(verdict, Verdict::ModelError(_) | Verdict::Holds(_)), "{verdict:?}");
    // Where the atom does not matter, the error does.
    let verdict = asked(text, "G (act == r | x < 2.5)");
    assert!(matches!(verdict, Verdict::ModelError(_)), "{verdict:?}");
}

#[test]
fn what_is_assumed_is_not_shown() {
    let counter = "state x in [0, 10]\nnext x = x + 0.1\ninit x == 0";
    let options = Options { assume_no_model_errors: true, ..Options::default() };
    let (outcome, _) = asked_with(counter, "G x < 20", &options, 1);
    assert_eq!(outcome.verdict, Verdict::Holds(Scope::Unbounded));
}

#[test]
fn ranges_without_width_and_an_empty_set_of_initial_states_are_no_trouble() {
    let flat = "state k in [3, 3]\nstate x in [0, 10]\nnext k = k\nnext x = x / k\ninit x in [0, 9]";
    assert_eq!(asked(flat, "G (x <= 9.5 & k > 2)"), Verdict::Holds(Scope::Unbounded));
    let empty = "state x in [0, 10]\nnext x = x + 1\ninit x > 1 & x * x < 0.5";
    assert_eq!(asked(empty, "G x < 5"), Verdict::Holds(Scope::Unbounded));
}

#[test]
fn errors_loops_and_traces_do_not_depend_on_the_threads() {
    let noisy = "state x in [0, 10]\nstate y in [-3, 3]\ninput u in [-0.1, 0.1]\naction a = argmax([5 - x, x - 5]) of { up, down }\n\
        next x = x + match a { up: 0.3, down: -0.3 } + u\nnext y = 0.9 * y + 0.1 * u\ninit x in [1, 2] & y in [0, 0.5]";
    for (formula, policy) in [
        ("G x < 8", Policy::Network),
        ("F G x < 5.05", Policy::Network),
        ("G x > 1.2", Policy::Network),
        ("G x < 8", Policy::Extracted(ExtractOptions::default())),
    ] {
        let options = Options { widths: vec![0.02, 0.05], policy, most: Some(20_000), ..Options::default() };
        let found = [1, 2].map(|threads| {
            let (outcome, mut report) = asked_with(noisy, formula, &options, threads);
            (report.expanding, report.propagation) = (0.0, 0.0);
            (outcome, report)
        });
        assert_eq!(found[0], found[1], "{formula}");
    }
}

#[test]
fn only_runs_from_open_initial_states_are_followed() {
    use certus_graph::Interval;
    // A thousand initial cells, and work for a hundred.
    let shrinking = "state x in [0, 1000]\nnext x = 0.5 * x\ninit x in [0, 1000]";
    let within = |boxes: &[(f64, f64)]| Options {
        widths: vec![1.0],
        most: Some(100),
        open: Some(boxes.iter().map(|&(lo, hi)| vec![Interval::new(lo, hi)]).collect()),
        ..Options::default()
    };
    let asked = |options: &Options| asked_with(shrinking, "G x < 1000.5", options, 1);
    let holds = |options: &Options| asked(options).0.verdict == Verdict::Holds(Scope::Unbounded);
    assert!(!holds(&Options { open: None, ..within(&[]) }));
    assert!(holds(&within(&[(10.0, 12.5), (600.25, 600.5)])));
    assert!(!holds(&within(&[(10.0, 12.5), (300.0, 900.0)])));
    let (outcome, _) = asked(&within(&[(10.0, 12.5)]));
    assert!(outcome.notes.iter().any(|note| note.contains("reachable sets left open")), "{:?}", outcome.notes);
}
