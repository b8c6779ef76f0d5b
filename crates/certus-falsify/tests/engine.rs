//! What the engine finds, and that it finds the same for any number of threads.

use certus_check::replay::{Drive, replay};
use certus_engine::{Budget, Engine, Support, Task, run_alone};
use certus_falsify::{Falsify, NAME};
use certus_lang::{FileNetworks, LowerOptions, System, load_str};
use certus_model::{ModelErrorKind, Outcome, Run, Verdict, formula_of};
use proptest::prelude::*;

fn loaded(text: &str) -> System {
    load_str(&format!("system s\n{text}"), &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
}

/// What the engine says of the first property, alone and with a fixed amount of work.
fn asked(system: &System, steps: Option<usize>, budget: Budget<'_>) -> Outcome {
    let task = Task { system, property: &system.properties[0], steps, assume_no_model_errors: false };
    run_alone(&Falsify, &task, &budget, &mut |_| {}).unwrap().outcome
}

fn outcome(system: &System) -> Outcome {
    asked(system, None, Budget { subproblems: 2_000, ..Budget::default() })
}

#[track_caller]
fn violated(text: &str) -> Run {
    let system = loaded(text);
    let found = outcome(&system);
    assert_eq!(found.engine, NAME);
    let Verdict::Violated(run) = found.verdict else { panic!("{:?}", found.verdict) };
    if !run.converges {
        let formula = formula_of(&system.properties[0]).unwrap();
        assert_eq!(replay(&system, formula, &Drive::of(&system, &run)).unwrap().as_ref(), Some(&run));
    }
    run
}

#[test]
fn a_bad_state_is_reached_in_the_fewest_steps_by_what_is_needed() {
    let run = violated(
        "state x in [-50, 50]\ninput u in [-1, 1]\ninput v in [-1, 1]\ninit x >= -1 & x <= 1\n\
         next x = clamp(x + u, -50, 50)\nproperty p = G x < 4\n",
    );
    // From 1 it takes three steps up; what the other input does is of no matter, and is shown as nothing.
    assert_eq!(run.states.iter().map(|state| state[0]).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert!(run.inputs.iter().take(3).all(|own| own[0] == 1.0 && own[1] == 0.0), "{:?}", run.inputs);
}

#[test]
fn robustness_leads_to_what_samples_do_not_meet() {
    // A target that is a millionth of the initial box.
    let run = violated(
        "state x in [-1, 1]\nstate y in [-1, 1]\nnext x = x\nnext y = y\n\
         property p = G (x - 0.3) ^ 2 + (y + 0.7) ^ 2 > 0.000001\n",
    );
    assert_eq!(run.states.len(), 1);
    assert!((run.states[0][0] - 0.3).abs() < 1e-3 && (run.states[0][1] + 0.7).abs() < 1e-3);
}

#[test]
fn gradients_lead_through_many_steps() {
    // Nearly every one of thirty inputs has to be at its end, in an order that no constant signal has.
    let run = violated(
        "state x in [-99, 99]\nstate n in [0, 99]\ninput u in [-1, 1]\ninit x == 0 & n == 0\n\
         next x = clamp(x + u * sin(2 * n), -99, 99)\nnext n = min(n + 1, 99)\nproperty p = G<=30 x < 18.7\n",
    );
    assert_eq!(run.states.len(), 31);
}

#[test]
fn a_loop_violates_what_must_happen() {
    let run = violated(
        "state x in [0, 5]\ninput u in [0, 1]\ninit x == 0\nnext x = if u > 0.25 then min(x + 1, 5) else x\n\
         property p = F x >= 4\n",
    );
    assert!(run.loop_to.is_some(), "{run:?}");
}

#[test]
fn a_run_that_converges_violates_what_must_happen() {
    let run = violated("state x in [0, 8]\ninit x >= 7 & x <= 8\nnext x = 0.5 * x + 1\nproperty p = F x < 1.5\n");
    assert!(run.converges, "{run:?}");
}

#[test]
fn a_terminal_state_violates_what_must_happen() {
    let run = violated("state x in [0, 5]\ninit x <= 1\nnext x = x + 1\nterminal x >= 3\nproperty p = F x >= 4.5\n");
    assert_eq!(run.loop_to, Some(run.states.len() - 1));
}

#[test]
fn an_unlucky_draw_violates_what_must_not_happen() {
    let run = violated(
        "state x in [0, 9]\nchance c of { up: 0.1, stay: 0.9 }\ninit x == 0\n\
         next x = match c { up: min(x + 1, 9), stay: 0 }\nproperty p = G x < 6\n",
    );
    assert_eq!(run.chances.iter().take(6).flatten().sum::<usize>(), 0);
}

#[test]
fn a_model_error_is_confirmed() {
    let system = loaded("state x in [0, 5]\ninput u in [0, 1]\ninit x <= 1\nnext x = x + u\nproperty p = G x >= 0\n");
    let Verdict::ModelError(error) = outcome(&system).verdict else { panic!("the range is left") };
    let ModelErrorKind::RangeExit { variable, value } = &error.kind else { panic!("{:?}", error.kind) };
    assert!(variable == "x" && *value > 5.0);
    let task = Task { system: &system, property: &system.properties[0], steps: None, assume_no_model_errors: true };
    let budget = Budget { subproblems: 2_000, ..Budget::default() };
    let assumed = run_alone(&Falsify, &task, &budget, &mut |_| {}).unwrap().outcome;
    assert!(matches!(assumed.verdict, Verdict::Unknown(_)), "{:?}", assumed.verdict);
}

#[test]
fn what_rounding_alone_violates_is_a_candidate() {
    let system = loaded("state x in [0, 1]\ninit x == 0.3\nnext x = sqrt(x) ^ 2\nproperty p = G x >= 0.3\n");
    let Verdict::Unknown(unknown) = outcome(&system).verdict else { panic!("over the reals x stays") };
    let candidate = unknown.candidate.expect("doubles violate it");
    assert!(candidate.states.last().unwrap()[0] < 0.3);
}

#[test]
fn what_was_not_found_is_said_with_the_smallest_robustness() {
    let system = loaded("state x in [0, 1]\ninit x <= 0.5\nnext x = x / 2\nproperty p = G x < 0.75\n");
    let found = outcome(&system);
    let Verdict::Unknown(unknown) = &found.verdict else { panic!("it holds") };
    assert!(unknown.place.ends_with("simulated runs"), "{unknown:?}");
    let [note] = found.notes.as_slice() else { panic!("{:?}", found.notes) };
    assert!(note.starts_with("the smallest robustness in") && note.ends_with("is 0.25"), "{note}");
}

#[test]
fn no_more_steps_are_looked_at_than_were_asked_for() {
    let system = loaded("state x in [0, 50]\ninit x <= 1\nnext x = min(x + 1, 50)\nproperty p = G x < 9\n");
    let found = |steps| asked(&system, Some(steps), Budget { subproblems: 2_000, ..Budget::default() }).verdict;
    assert!(matches!(found(7), Verdict::Unknown(_)));
    let Verdict::Violated(run) = found(8) else { panic!("nine steps are enough") };
    assert_eq!(run.states.len(), 9);
}

#[test]
fn an_initial_state_that_no_draw_meets_is_asked_for() {
    let run = violated(
        "state x in [0, 9]\nstate y in [0, 9]\ninit x == y & x + y >= 3\nnext x = min(x + 1, 9)\nnext y = y\nproperty p = G x - y < 2\n",
    );
    assert_eq!(run.states.len(), 3);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let support = |text: &str| {
        let system = loaded(text);
        Falsify.supports(&system, &system.properties[0])
    };
    let Support::No(reason) =
        support("state x in [0, 1]\nchance c of { a: 0.5, b: 0.5 }\nnext x = x\nproperty p = P<=0.5 [ F x > 2 ]\n")
    else {
        panic!("it asks for a probability")
    };
    assert!(reason.contains("probability"), "{reason}");
    let Support::No(reason) = support("state x\nnext x = x\nproperty p = G x < 2\n") else { panic!("no bounds") };
    assert!(reason.contains("no bounds"), "{reason}");
}

#[test]
fn the_same_seed_finds_the_same_run_with_any_number_of_threads() {
    let system = loaded(
        "state x in [-9, 9]\nstate v in [-9, 9]\ninput u in [-1, 1]\nchance c of { a: 0.5, b: 0.5 }\ninit x <= 1 & x >= -1 & v == 0\n\
         next x = clamp(x + 0.1 * v, -9, 9)\nnext v = clamp(v + 0.3 * u * (match c { a: 1, b: 0.5 }) - 0.1 * x, -9, 9)\nproperty p = G x < 2.5\n",
    );
    let found = |threads, seed| asked(&system, None, Budget { threads, seed, subproblems: 2_000, ..Budget::default() });
    let first = found(1, 7);
    assert!(matches!(first.verdict, Verdict::Violated(_)), "{:?}", first.verdict);
    for threads in [2, 5] {
        assert_eq!(found(threads, 7), first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// x' = clamp(a x + b u) from x in [-1, 1]: after k steps the largest x is the one of the greedy environment.
    #[test]
    fn what_is_found_is_there_and_what_is_near_is_found(a in 0.5f64..1.2, b in 0.1f64..1.0, limit in 1.1f64..6.0) {
        let system = loaded(&format!(
            "state x in [-8, 8]\ninput u in [-1, 1]\ninit x >= -1 & x <= 1\nnext x = clamp({a} * x + {b} * u, -8, 8)\n\
             property p = G<=20 x < {limit}\n"
        ));
        let mut largest = vec![1.0f64];
        for _ in 0..20 {
            largest.push((a * largest[largest.len() - 1] + b).clamp(-8.0, 8.0));
        }
        let most = largest.iter().copied().fold(0.0, f64::max);
        match outcome(&system).verdict {
            Verdict::Violated(run) => {
                prop_assert!(most >= limit - 1e-9);
                prop_assert!(run.states.len() > largest.iter().position(|&x| x >= limit - 1e-9).unwrap());
                let formula = formula_of(&system.properties[0]).unwrap();
                prop_assert!(replay(&system, formula, &Drive::of(&system, &run)).unwrap().is_some());
            }
            _ => prop_assert!(most < limit + 1e-9, "{most} reaches {limit}"),
        }
    }
}
