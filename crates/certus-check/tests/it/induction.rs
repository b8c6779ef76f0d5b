//! Proofs for all time: what they show is true, and what is clearly true is shown.

use certus_check::engines::auto;
use certus_check::errors::Errors;
use certus_check::explicit::decide;
use certus_check::induction::prove;
use certus_check::proof::{Obligation, obligations};
use certus_engine::Task;
use certus_lang::{FileNetworks, LowerOptions, System, load_file, load_str};
use certus_model::proof::{Face, Invariant, Method, Proof};
use certus_model::{Outcome, Scope, Verdict};
use certus_numerics::Random;
use certus_solver::{Answer, Budget, solve};
use proptest::prelude::*;

fn system(text: &str) -> System {
    load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn zoo(name: &str) -> System {
    let path = format!("{}/../../zoo/{name}/{name}.certus", env!("CARGO_MANIFEST_DIR"));
    load_file(path, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

const BUDGET: Budget<'static> = Budget {
    deadline: None,
    stop: None,
    threads: 1,
    seed: 0,
    memory: 1 << 30,
    subproblems: 8_000,
    effort: u64::MAX,
    certify: false,
};

fn proved(system: &System, property: &str) -> Outcome {
    prove(system, system.property(property).unwrap(), &Errors::new(system, false), &BUDGET, &mut |_| ()).unwrap()
}

fn method(outcome: &Outcome) -> &Method {
    match &outcome.proof {
        Some(Proof::ForAllTime(methods)) if methods.len() == 1 => &methods[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_holds_in_every_state_needs_no_step() {
    let toy = zoo("toy");
    let outcome = proved(&toy, "below_ten");
    let Method::Induction { depth: 0, invariant, .. } = method(&outcome).clone() else { panic!() };
    assert!(invariant.faces.is_empty());
    let queries = obligations(&toy, toy.property("below_ten").unwrap(), outcome.proof.as_ref().unwrap()).unwrap();
    assert_eq!(queries.iter().map(|own| own.title.as_str()).collect::<Vec<_>>(), ["a bad state"]);
}

#[test]
fn what_no_single_step_breaks_needs_no_invariant() {
    // No box is kept by a turn, but a disc is: the property itself is inductive.
    let text = "system turn\nstate x in [-9, 9]\nstate y in [-9, 9]\nnext x = 0.66 * x - 0.66 * y\nnext y = 0.66 * x + 0.66 * y\n\
                init x in [-1, 1] & y in [-1, 1]\nproperty p = G (x * x + y * y <= 3)\n";
    let Method::Induction { depth: 1, invariant, .. } = method(&proved(&system(text), "p")).clone() else { panic!() };
    assert!(invariant.faces.is_empty());
}

#[test]
fn a_trained_policy_stays_safe_for_ever_within_a_box() {
    let outcome = proved(&zoo("dcmotor"), "stays_safe");
    assert_eq!(outcome.verdict, Verdict::Holds(Scope::Unbounded));
    let Method::Induction { depth: 1, invariant, .. } = method(&outcome) else { panic!() };
    assert!(!invariant.faces.is_empty());
}

#[test]
fn two_states_in_a_row_tell_more_than_one() {
    // x takes the value that y had: from x good and y bad the next x is bad, but y is never bad two steps running.
    let text = "system relay\nstate x in [0, 4]\nstate y in [0, 4]\nnext x = y\nnext y = x\ninit x <= 1 & y <= 1\n\
                property p = G (x <= 2)\n";
    let outcome = proved(&system(text), "p");
    let Method::Induction { depth, .. } = method(&outcome) else { panic!() };
    assert!(*depth <= 2);
}

#[test]
fn a_rotation_needs_more_than_a_box() {
    // A slow contraction that turns by 45 degrees: the box around the initial square is left at once.
    let text = "system turn\nstate x in [-9, 9]\nstate y in [-9, 9]\nnext x = 0.66 * x - 0.66 * y\nnext y = 0.66 * x + 0.66 * y\n\
                init x in [-1, 1] & y in [-1, 1]\nproperty p = G (x <= 1.5 & x >= -1.5)\n";
    assert_eq!(proved(&system(text), "p").verdict, Verdict::Holds(Scope::Unbounded));
}

#[test]
fn what_goes_down_ends() {
    let text = "system drain\nstate level in [0, 10]\ninput inflow in [0, 0.5]\nnext level = max(level - 1 + inflow, 0)\n\
                property empties = F level <= 0\nproperty answers = G (level >= 5 -> F level <= 0)\n";
    let drain = system(text);
    for property in ["empties", "answers"] {
        let outcome = proved(&drain, property);
        let Method::Ranking(ranking) = method(&outcome) else { panic!() };
        assert!(ranking.coefficients[0] > 0.0 && ranking.decrease > 0.0);
    }
}

#[test]
fn both_parts_of_a_conjunction_are_proved() {
    let text =
        "system both\nstate x in [0, 10]\nnext x = max(x - 1, 0)\ninit x <= 5\nproperty p = G (x <= 6) & F x <= 0\n";
    let both = system(text);
    let outcome = proved(&both, "p");
    let Some(Proof::ForAllTime(methods)) = &outcome.proof else { panic!("{outcome:?}") };
    assert!(
        matches!(methods[0], Method::Induction { ahead: 0, .. })
            && !matches!(methods[1], Method::Induction { ahead: 0, .. })
    );
    let queries = obligations(&both, both.property("p").unwrap(), outcome.proof.as_ref().unwrap()).unwrap();
    assert!(queries.len() >= 2);
    for obligation in queries {
        let answer = solve(&obligation.query.query().unwrap(), &BUDGET, &mut |_| ()).unwrap();
        assert!(matches!(answer, Answer::Unsat(_)), "{}", obligation.title);
    }
}

#[test]
fn auto_finds_violations_and_proofs() {
    let check = |system: &System, property: &str| {
        let property = system.property(property).unwrap();
        let task = Task { system, property, steps: Some(5), assume_no_model_errors: false };
        auto(&task, &Errors::new(system, false), &BUDGET, &mut |_| ()).unwrap()
    };
    let toy = zoo("toy");
    let outcome = check(&toy, "below_ten");
    assert_eq!((outcome.verdict, outcome.engine), (Verdict::Holds(Scope::Unbounded), "induction"));
    let outcome = check(&toy, "turns_positive");
    assert!(matches!(outcome.verdict, Verdict::Violated(_)) && outcome.engine == "bmc");
    // Nothing proves it, and its violation is too far away: what is known is said.
    let text = "system far\nstate x in [0, 100]\nnext x = x + 1\ninit x <= 0\nproperty p = G (x <= 50)\n";
    let outcome = check(&system(text), "p");
    assert_eq!(outcome.verdict, Verdict::Holds(Scope::Bounded(5)));
    assert!(outcome.notes.iter().any(|note| note.contains("no proof for all time")), "{:?}", outcome.notes);
}

#[test]
fn states_that_come_again_tell_nothing_new() {
    // x and y change places for ever, 0 and 4. Near (2, 2), in the middle, an alarm could go off: no convex set tells, and a
    // counterexample to induction only has to wait.
    let text = "system detour\nstate x in [0, 4]\nstate y in [0, 4]\nstate alarm in [0, 1]\ninput go in [0, 1]\n\
                next x = y\nnext y = x\n\
                next alarm = if x in [1.5, 2.5] & y in [1.5, 2.5] & go >= 0.5 then 1 else alarm\n\
                init x <= 0 & y >= 4 & alarm <= 0\nproperty p = G (alarm <= 0)\n";
    let detour = system(text);
    let property = detour.property("p").unwrap();
    let outcome = prove(&detour, property, &Errors::new(&detour, false), &BUDGET, &mut |_| ()).unwrap();
    let of = |depth: usize, simple: bool| {
        Proof::ForAllTime(vec![Method::Induction { depth, ahead: 0, invariant: Invariant::default(), simple }])
    };
    let stands = |proof: &Proof| {
        let refuted = |obligation: Obligation| {
            matches!(solve(&obligation.query.query().unwrap(), &BUDGET, &mut |_| ()).unwrap(), Answer::Unsat(_))
        };
        obligations(&detour, property, proof).unwrap().into_iter().all(refuted)
    };
    assert_eq!(outcome.proof, Some(of(3, true)));
    assert!(!stands(&of(3, false)) && !stands(&of(4, false)) && !stands(&of(2, true)));
    assert!(stands(&of(3, true)));
}

#[test]
fn invariants_speak_of_what_the_policy_does() {
    // A policy that brakes: the state is safe as long as what the policy adds to it is.
    let text = "system brake\nstate x in [-20, 20]\npolicy u = net(\"../../zoo/toy/toy.onnx\", [x, x])\n\
                next x = 0.5 * x - 0.05 * u\ninit x in [-1, 1]\nproperty p = G (x <= 3)\n";
    let brake = system(text);
    let property = brake.property("p").unwrap();
    let face = |x: f64, u: f64, bound: f64| Face { coefficients: vec![x, u], bound };
    let stands = |faces: Vec<Face>| {
        let proof = Proof::ForAllTime(vec![Method::Induction {
            depth: 1,
            ahead: 0,
            invariant: Invariant { faces },
            simple: false,
        }]);
        let refuted = |obligation: Obligation| {
            matches!(solve(&obligation.query.query().unwrap(), &BUDGET, &mut |_| ()).unwrap(), Answer::Unsat(_))
        };
        obligations(&brake, property, &proof).unwrap().into_iter().all(refuted)
    };
    assert!(stands(vec![face(1.0, 0.0, 2.0), face(-1.0, 0.0, 2.0), face(0.5, -0.05, 2.0), face(-0.5, 0.05, 2.0)]));
    // Initial states outside of it, and steps out of it, are seen.
    assert!(!stands(vec![face(0.5, -0.05, -0.6)]));
    assert!(!stands(vec![face(1.0, 0.0, 2.0), face(0.5, -1.0, 0.1)]));
}

#[test]
fn bounded_responses_are_shown_by_looking_ahead() {
    // A level that falls by three from six on and rises by at most one below: above seven it never is.
    let text = "system level\nstate x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(if x >= 6 then x - 3 else x + u, 0, 10)\ninit x in [0, 1]\n\
                property twice = G (x >= 6.5 -> F<=2 x < 6.5)\nproperty once = G (x >= 6.5 -> F<=1 x < 6.5)\n\
                property later = G (x >= 6.5 -> F<=40 x < 6.5)\nproperty unbounded = G (x >= 6.5 -> F x < 6.5)\nproperty again = G F x < 6.5\n\
                property climbs = G (x in [1, 2] -> X x >= 1)\nproperty none = G (x > 8 -> F<=9 x > 9)\n\
                property wrong = G (x >= 5 -> F<=1 x < 5)\nproperty never = G (x >= 6.5 -> F x > 8)\n";
    let level = system(text);
    let ahead = |property: &str| match method(&proved(&level, property)) {
        Method::Induction { depth, ahead, invariant, .. } => (*depth, *ahead, invariant.faces.is_empty()),
        other => panic!("{other:?}"),
    };
    assert_eq!(ahead("twice"), (0, 2, true));
    // From any state one step is not enough: what came before tells, or an invariant.
    let (depth, steps, plain) = ahead("once");
    assert!(steps == 1 && (depth > 0 || !plain), "{depth} {plain}");
    // What is shown is stronger than what was asked for.
    assert_eq!((ahead("later"), ahead("unbounded"), ahead("again")), ((0, 2, true), (0, 2, true), (0, 2, true)));
    assert_eq!(ahead("climbs").1, 1);
    assert_eq!(ahead("none").1, 0);
    for property in ["wrong", "never"] {
        assert!(matches!(proved(&level, property).verdict, Verdict::Unknown(_)), "{property}");
    }
}

#[test]
fn a_violation_may_show_before_the_run_ends() {
    // At 3 no choice is allowed, and what is bad of that state is bad for all that.
    let text = "system stuck\nstate x in [0, 4]\ninput u in [0, 1]\nnext x = clamp(x + u, 0, 4)\nassume u >= x - 1\ninit x == 0\n\
                property p = G (x <= 2 | X X x <= 2)\nproperty q = G (x <= 2 & X x <= 4)\n";
    let stuck = system(text);
    for property in ["p", "q"] {
        let outcome =
            prove(&stuck, stuck.property(property).unwrap(), &Errors::new(&stuck, true), &BUDGET, &mut |_| ()).unwrap();
        // The first of the two needs two more steps to be violated, and there are none.
        assert_eq!(outcome.verdict == Verdict::Holds(Scope::Unbounded), property == "p", "{property}: {outcome:?}");
    }
}

/// Systems of few states, each of an interval of numbers, and what they do in one step; every property is of a kind that induction takes.
#[test]
fn what_is_proved_of_finite_systems_is_true() {
    let mut random = Random::new(2026, 6);
    let (mut proved_ones, mut true_ones) = (0, 0);
    for _ in 0..12 {
        let states = 2 + random.below(4);
        let mut next = String::new();
        for state in 0..states {
            let (first, second) = (random.below(states), random.below(states));
            let step = if random.below(2) == 0 {
                format!("{first}")
            } else {
                format!("(if u > 0.5 then {first} else {second})")
            };
            next += &if state + 1 == states { step } else { format!("if x < {state}.5 then {step} else ") };
        }
        let mut text =
            format!("system s\nstate x in [0, {}]\ninput u in [0, 1]\nnext x = {next}\ninit x == 0\n", states - 1);
        let mut condition = || {
            let place = random.below(states);
            match random.below(3) {
                0 => format!("x == {place}"),
                1 => format!("x < {place}.5"),
                _ => format!("x > {place}.5"),
            }
        };
        let (p, q, r) = (condition(), condition(), condition());
        let properties = [
            format!("G ({p} -> F<=2 {q})"),
            format!("G ({p} -> F {q})"),
            format!("G F {q}"),
            format!("F {q}"),
            format!("G ({p} -> X {q})"),
            format!("G ({p} -> X X ({q} | F<=1 {r}))"),
            format!("G ({p} -> F ({q} & F {r}))"),
            format!("G ({p} -> ({q} U {r}))"),
            format!("G ({p} -> F ({q} & X {r}))"),
            format!("G ({p} -> (G<=1 {q} | X X {r}))"),
        ];
        for (number, property) in properties.iter().enumerate() {
            text += &format!("property p{number} = {property}\n");
        }
        let own = system(&text);
        for (number, property) in own.properties.iter().enumerate() {
            let Ok(outcome) = prove(&own, property, &Errors::new(&own, false), &BUDGET, &mut |_| ()) else { continue };
            let truth = decide(&own, property, None, false, &BUDGET).unwrap().unwrap().verdict;
            let (is_proved, is_true) =
                (matches!(outcome.verdict, Verdict::Holds(_)), matches!(truth, Verdict::Holds(_)));
            assert!(is_true || !is_proved, "p{number} is proved and false: {:?}\n{text}", outcome.proof);
            proved_ones += usize::from(is_proved);
            true_ones += usize::from(is_true);
        }
    }
    assert!(true_ones > 15 && 2 * proved_ones > true_ones, "{proved_ones} of {true_ones}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// x' = a·x + w with |w| ≤ d from |x| ≤ 1 reaches max(1, d / (1 − |a|)), and no more.
    #[test]
    fn contractions_with_noise(a in -0.9f64..0.9, d in 0.0f64..0.5, limit in 1.0f64..6.0) {
        let reach = (d / (1.0 - a.abs())).max(1.0);
        let text = format!(
            "system noise\nstate x in [-50, 50]\ninput w in [-{d}, {d}]\nnext x = {a} * x + w\ninit x in [-1, 1]\n\
             property p = G (x <= {limit} & x >= -{limit})\n"
        );
        let verdict = proved(&system(&text), "p").verdict;
        if verdict == Verdict::Holds(Scope::Unbounded) {
            prop_assert!(reach <= limit * (1.0 + 1e-9), "proved, but {reach} is reached");
        } else {
            prop_assert!(reach > 0.7 * limit, "not proved, although no more than {reach} is reached");
        }
    }

    /// A level that falls by 1 and rises by at most `inflow` ends if and only if that is less.
    #[test]
    fn levels_that_fall(inflow in 0.0f64..2.0) {
        let text = format!(
            "system drain\nstate level in [0, 10]\ninput w in [0, {inflow}]\nnext level = max(min(level - 1 + w, 10), 0)\n\
             property p = F level <= 0\n"
        );
        let verdict = proved(&system(&text), "p").verdict;
        if verdict == Verdict::Holds(Scope::Unbounded) {
            prop_assert!(inflow < 1.0);
        } else {
            prop_assert!(inflow > 0.9, "{verdict:?}");
        }
    }
}
