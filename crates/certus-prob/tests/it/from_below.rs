//! Probabilities that may not be small, and formulas without a bound on their steps.

use std::path::Path;

use certus_lang::system::{PathProbability, Quantifier};
use certus_lang::{FileNetworks, LowerOptions, System, load_file, load_str};
use certus_numerics::Random;
use certus_prob::abstraction::{Abstraction, Task};
use certus_prob::engine::concrete::{Following, sampled};
use certus_prob::template_polyhedron::Template;
use certus_prob::{Budget, Method, Options, Outcome, check};

fn inline(text: &str) -> System {
    let mut networks = FileNetworks::new(Path::new("."));
    load_str(text, &mut networks, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(system: &System, property: &str, options: &Options) -> Outcome {
    let property = system.property(property).unwrap();
    check(system, property, options, &Budget { threads: 1, ..Budget::default() }, &mut |_| {}).unwrap()
}

const METHODS: [Method; 5] = [
    Method::Automatic,
    Method::Unfold { containment: false },
    Method::Unfold { containment: true },
    Method::Search { containment: true },
    Method::Partition,
];

const SLIPS: &str = "system slips
chance c of { ok: 0.9, slip: 0.1 }
state x in [0, 20]
next x = match c { ok: x, slip: x + 1 }
init x in [0.1, 0.75]
property least = Pmin=? [ F<=6 x >= 2 ]
property stays = Pmax=? [ G<=6 x < 2 ]
property enough = P>=0.11 [ F<=6 x >= 2 ]
property much = P>0.12 [ F<=6 x >= 2 ]
property skips = Pmin=? [ x < 1 U<=6 x >= 2 ]
property steps_up = Pmin=? [ x < 1 U<=3 x >= 1 ]
property varies = Pmin=? [ F<=4 x >= 1.5 ]
";

#[test]
fn the_least_probability_is_bounded_by_every_method() {
    let system = inline(SLIPS);
    let two_of_six = 1.0 - 0.9f64.powi(6) - 6.0 * 0.1 * 0.9f64.powi(5);
    for method in METHODS {
        let options = Options { method, most: 2_000, ..Options::default() };
        let close = |property: &str, exact: f64| {
            let found = outcome(&system, property, &options);
            assert!(found.lower <= exact + 1e-12 && exact <= found.upper + 1e-12, "{method:?} {property}: {found:?}");
            // The cells of a partition meet their neighbours' images by a rounding error.
            let room = if method == Method::Partition { 2e-3 } else { 1e-9 };
            assert!(found.upper - found.lower < room, "{method:?} {property}: {} {}", found.lower, found.upper);
        };
        close("least", two_of_six);
        close("stays", 1.0 - two_of_six);
        close("skips", 0.0);
        close("steps_up", 1.0 - 0.9f64.powi(3));
        assert_eq!(outcome(&system, "enough", &options).holds, Some(true), "{method:?}");
        assert_eq!(outcome(&system, "much", &options).holds, Some(false), "{method:?}");
    }
    // From 0.5 on one slip is enough, below it two are needed.
    let two_of_four = 1.0 - 0.9f64.powi(4) - 4.0 * 0.1 * 0.9f64.powi(3);
    for method in [Method::Search { containment: false }, Method::Partition] {
        let found = outcome(&system, "varies", &Options { method, ..Options::default() });
        assert!(found.lower <= two_of_four && two_of_four <= found.upper + 1e-12, "{method:?}: {found:?}");
        assert!(found.narrow && found.start.is_some_and(|start| start[0] < 0.5), "{method:?}");
    }
}

/// Tries that succeed with 0.3, fail with 0.2, and are repeated otherwise, closer to 1 each time.
const TRIES: &str = "system tries
chance c of { succeeds: 0.3, fails: 0.2, again: 0.5 }
state x in [-1, 5]
define over = x <= 0.5 | x >= 2.5
next x = if over then x else match c { succeeds: 3, fails: 0, again: 0.5 * x + 0.5 }
init x in [0.8, 1.2]
property wins = Pmax=? [ F x >= 2.5 ]
property often = P<=0.61 [ F x >= 2.5 ]
property seldom = P<=0.59 [ F x >= 2.5 ]
property loses = P>=0.39 [ F x <= 0.5 ]
property surely = P>=0.41 [ F x <= 0.5 ]
property solvent = Pmin=? [ G x < 2.5 ]
property afloat = P<=0.61 [ G x > 0.5 ]
";

#[test]
fn formulas_without_a_bound_on_their_steps() {
    let system = inline(TRIES);
    let options = Options::default();
    let found = outcome(&system, "wins", &options);
    assert!(found.steps.is_none() && found.narrow, "{found:?}");
    assert!(found.lower <= 0.6 && 0.6 <= found.upper && found.upper < 0.6 + 1e-3, "{found:?}");
    let solvent = outcome(&system, "solvent", &options);
    assert!(solvent.lower <= 0.4 && 0.4 <= solvent.upper && solvent.narrow, "{solvent:?}");
    for (property, verdict) in
        [("often", Some(true)), ("seldom", Some(false)), ("loses", Some(true)), ("afloat", Some(true))]
    {
        assert_eq!(outcome(&system, property, &options).holds, verdict, "{property}");
    }
    // It is false, but no number of steps shows that.
    let surely = outcome(&system, "surely", &options);
    assert!(surely.holds.is_none() && surely.lower <= 0.4 && surely.upper == 1.0, "{surely:?}");
}

/// A partition that runs leave has no bound, and one that is too small for them has none either.
#[test]
fn what_does_not_close_is_not_bounded() {
    let system = inline(
        "system drifts
chance c of { on: 0.5, back: 0.5 }
state x in [0, 50]
next x = x + match c { on: 1, back: -0.25 }
init x in [20, 20.5]
property ends = Pmax=? [ F x >= 60 ]
",
    );
    let found = outcome(&system, "ends", &Options::default());
    assert!(found.errors.range && found.upper == 1.0, "{found:?}");
    let found = outcome(&system, "ends", &Options { most: 5, ..Options::default() });
    assert!(found.upper == 1.0 && !found.narrow, "{found:?}");
}

/// No sampled start state of the zoo's policies lies below the bound from below.
#[test]
fn sampled_start_states_stay_above_the_least_probability() {
    for (name, steps) in [("stopping_car", 9), ("ball", 24)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
        let mut system = load_file(path, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        // Start states that are sure to fail are near the goal, so that the least probability is not zero.
        let (lower, upper): (Vec<f64>, Vec<f64>) = match name {
            "ball" => (vec![1.2, -3.0], vec![1.3, -2.9]),
            _ => (vec![0.3, 31.0], vec![0.5, 31.2]),
        };
        system.init_box = (lower.clone(), upper.clone());
        system.init_boxes = vec![system.init_box.clone()];
        let asked = system.properties[0].probability().expect("no probability");
        let path = asked.path.clone();
        system.properties[0].kind = PathProbability { quantifier: Quantifier::Min, ..asked.clone() }.into();
        for method in [Method::Search { containment: false }, Method::Partition, Method::Unfold { containment: true }] {
            let options = Options { method, steps: Some(steps), most: 600, grid: 3, ..Options::default() };
            let budget = Budget { threads: 1, ..Budget::default() };
            let found = check(&system, &system.properties[0], &options, &budget, &mut |_| {}).unwrap();
            let task = Task::of(&system, &path, Some(steps)).unwrap();
            let plain = Abstraction::new(&system, &task, Template::boxes(2)).unwrap();
            let mut random = Random::new(5, 6);
            let starts: Vec<Vec<f64>> =
                (0..40).map(|_| (0..2).map(|i| random.between(lower[i], upper[i])).collect()).collect();
            let values = sampled(&plain, &starts, Following { steps, behaviour: 0 }, 1e-9);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(found.lower <= least + 1e-6 && found.lower <= found.upper, "{name}: {least} and {found:?}");
            assert!(least > 0.5 || name == "ball", "{least}");
        }
    }
}

fn asked(text: &str, property: &str, options: &Options) -> Result<Outcome, String> {
    let system = inline(text);
    let own = system.property(property).unwrap();
    check(&system, own, options, &Budget { threads: 1, ..Budget::default() }, &mut |_| {})
}

/// The input is 0.9 at least, so x jumps over what is asked about.
const JUMPS: &str = "system jumps
state x in [0, 4]
input u in [0.5, 1]
chance c of { a: 0.5, b: 0.5 }
next x = clamp(x + u + match c { a: 0, b: 0.01 }, 0, 4)
assume u > 0.9
init x == 2
property between = P<=0.1 [ F<=1 (x > 2.1 & x <= 2.8) ]
property beyond = P>=0.9 [ F<=1 x > 2.85 ]
";

#[test]
fn assumptions_restrict_the_inputs() {
    for method in METHODS {
        let options = Options { method, most: 500, ..Options::default() };
        let between = asked(JUMPS, "between", &options).unwrap();
        assert_eq!(
            (between.holds, between.lower, between.upper, between.error),
            (Some(true), 0.0, 0.0, Some(0.0)),
            "{method:?}"
        );
        assert_eq!(asked(JUMPS, "beyond", &options).unwrap().holds, Some(true), "{method:?}");
        let free = JUMPS.replace("assume u > 0.9\n", "");
        assert_eq!(asked(&free, "between", &options).unwrap().holds, Some(false), "{method:?}");
    }
}

#[test]
fn the_environment_cannot_restrict_a_draw() {
    for (assumed, line) in [("c == a", 6), ("next(x) < 3", 6), ("u > 0.9\nassume c != b | u > 0.6", 7)] {
        let text = JUMPS.replace("u > 0.9", assumed);
        let message = asked(&text, "between", &Options::default()).unwrap_err();
        assert!(
            message.starts_with(&format!("line {line}: `assume ")) && message.contains("random outcome"),
            "{message}"
        );
    }
    // A successor that no draw changes may be spoken of.
    let text = JUMPS
        .replace("u > 0.9", "next(y) > 0.9")
        .replace("init x == 2", "state y in [0, 1]\nnext y = u\ninit x == 2 & y == 0");
    assert_eq!(asked(&text, "between", &Options::default()).unwrap().holds, Some(true));
}

/// After either draw there is an input that reaches the goal, but not the same one.
const AFTERWARDS: &str = "system afterwards
state x in [0, 1]
input u in [0, 1]
chance c of { a: 0.5, b: 0.5 }
define low = u < 0.5
next x = match c { a: if low then 1 else 0, b: if low then 0 else 1 }
init x == 0
property most = P<=0.75 [ F<=1 x > 0.5 ]
";

#[test]
fn inputs_are_chosen_after_the_draws() {
    for method in METHODS {
        let found = asked(AFTERWARDS, "most", &Options { method, most: 500, ..Options::default() }).unwrap();
        assert!(found.upper == 1.0 && found.holds != Some(true), "{method:?}: {found:?}");
    }
}

#[test]
fn model_errors_count_against_the_property() {
    let text = |next: &str, rest: &str| {
        format!(
            "system errs\nstate x in [0, 4]\ninput u in [0, 1]\nchance c of {{ a: 0.25, b: 0.75 }}\nnext x = {next}\n{rest}\ninit x == 1\n\
             property rare = P<=0.3 [ F<=2 x > 3.5 ]\nproperty never = P<=0.2 [ F<=2 x > 3.5 ]\nproperty likely = P>=0.8 [ F<=2 x < 0.5 ]\n"
        )
    };
    let half = Options::default();
    // Out of range with 0.25.
    let out = text("match c { a: 5, b: 0 }", "terminal x < 0.5");
    let rare = asked(&out, "rare", &half).unwrap();
    assert_eq!(rare.holds, Some(true));
    assert!(rare.errors.range && rare.error.is_some_and(|p| (0.25..0.25 + 1e-9).contains(&p)), "{rare:?}");
    assert_eq!(asked(&out, "never", &half).unwrap().holds, Some(false));
    assert_eq!(asked(&out, "likely", &half).unwrap().holds, Some(false));
    // By the width of a hair.
    let hair = text("match c { a: x + 3.0000000001, b: 0 }", "terminal x < 0.5");
    assert_eq!(asked(&hair, "never", &half).unwrap().holds, Some(false));
    // At the end of the range, exactly.
    let edge = text("match c { a: 4 - x, b: 0 }", "terminal x < 0.5");
    assert_eq!(asked(&edge, "rare", &half).unwrap().error, Some(0.0));
    // A deadlock at 2, where no input is allowed.
    let dead = text("match c { a: 2, b: 0 }", "assume u > x - 1\nterminal x < 0.5");
    let never = asked(&dead, "never", &half).unwrap();
    assert!(never.errors.deadlock && never.holds != Some(true) && never.upper >= 0.25, "{never:?}");
    assert_eq!(asked(&dead, "rare", &half).unwrap().holds, Some(true));
    // An operation that is undefined at 2, whatever is made of it.
    let undefined = text("clamp(match c { a: 2, b: 0 } + min(0, abs(log(2 - x))), 0, 4)", "terminal x < 0.5");
    let never = asked(&undefined, "never", &half).unwrap();
    assert!(never.errors.undefined && never.holds != Some(true) && never.upper >= 0.25, "{never:?}");
    assert_eq!(asked(&undefined, "rare", &half).unwrap().holds, Some(true));
    let start = text("match c { a: 1, b: 0 }", "terminal x < 0.5").replace("init x == 1", "init x == 1 & 1 / x > 0.5");
    assert!(asked(&start, "rare", &half).unwrap_err().contains("`init` might be undefined"));
    // So is one in what is asked.
    let atom = text("match c { a: 2, b: 0 }", "terminal x < 0.5").replace("x > 3.5", "1 / (x - 2) > 5");
    let never = asked(&atom, "never", &half).unwrap();
    assert!(never.holds != Some(true) && never.upper >= 0.25, "{never:?}");
    // Undefined after the formula is decided: that does not matter.
    let late = undefined.replace("F<=2", "F<=1");
    assert_eq!(asked(&late, "never", &half).unwrap().error, Some(0.0));
}
