//! Runs that come to rest: on which side they do is proved, and only what is so.

use certus_check::convergence::{Convergence, OVER_THE_REALS};
use certus_check::engines::auto;
use certus_check::errors::Errors;
use certus_engine::Task;
use certus_lang::system::System;
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::{Run, Verdict};
use certus_solver::Budget;
use proptest::prelude::*;

fn load(text: &str) -> System {
    load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn violation(system: &System, start: &[f64]) -> Option<Run> {
    let formula = system.properties[0].over_runs().unwrap();
    Convergence::new(system).unwrap().unwrap().violation(formula, start).unwrap()
}

/// A damped spring that pulls towards −1: v' = keep·v − pull·(x + 1), x' = x + 0.1·v'.
fn spring(keep: f64, pull: f64, rest: f64, motion: &str) -> String {
    format!(
        "system spring\nstate x in [-10, 10]\nstate v in [-10, 10]\n\
         define after = {keep} * v - {pull} * (x - ({rest})) + 0.01 * tanh(x - ({rest}))\n\
         next v = after\nnext x = x + 0.1 * {motion}\n\
         init x in [-5, 5] & v in [-5, 5]\nproperty returns = G (x < 4 -> F v > 0)\n"
    )
}

#[test]
fn a_spring_that_settles_from_above_never_moves_up_again() {
    for motion in ["after", "v"] {
        let system = load(&spring(0.2, 0.5, -1.0, motion));
        let run = violation(&system, &[1.0, 0.0]).unwrap_or_else(|| panic!("moved by {motion}"));
        assert!(run.converges);
        assert_eq!(run.loop_to, Some(run.states.len() - 1));
        // It is a run of the system, and it is still on its way.
        assert_eq!(run.states[0], [1.0, 0.0]);
        let last = run.states.last().unwrap();
        assert!(last[0] > -1.0 && last[1] < 0.0, "{last:?}");
    }
}

#[test]
fn a_terminal_state_that_is_far_away_does_not_matter() {
    // Speeds are those of states that move, and where it settles the spring does.
    let ended =
        |condition: &str| spring(0.2, 0.5, -1.0, "after").replace("init", &format!("terminal {condition}\ninit"));
    assert!(violation(&load(&ended("x > 3")), &[1.0, 0.0]).is_some_and(|run| run.converges));
    // It stops before it settles, and keeps the speed that it has there.
    assert_eq!(violation(&load(&ended("x < -0.5")), &[1.0, 0.0]), None);
}

#[test]
fn auto_looks_at_runs_that_come_to_rest() {
    let system =
        load(&spring(0.2, 0.5, -1.0, "after").replace("init x in [-5, 5] & v in [-5, 5]", "init x == 1 & v == 0"));
    let task = Task { system: &system, property: &system.properties[0], steps: Some(4), assume_no_model_errors: false };
    let found = auto(&task, &Errors::new(&system, false), &Budget::default(), &mut |_| {}).unwrap();
    assert!(matches!(found.verdict, Verdict::Violated(run) if run.converges));
    // A run of doubles alone would not show it, and that is told.
    assert_eq!(found.notes, [OVER_THE_REALS]);
}

#[test]
fn from_below_it_always_moves_up_and_nothing_is_claimed() {
    assert_eq!(violation(&load(&spring(0.2, 0.5, -1.0, "after")), &[-3.0, 0.0]), None);
}

#[test]
fn a_spring_that_swings_is_left_alone() {
    assert_eq!(violation(&load(&spring(0.9, 0.5, -1.0, "after")), &[1.0, 0.0]), None);
}

#[test]
fn a_speed_that_only_resembles_one_is_none() {
    // The velocity comes to rest at 1e-9, not at zero, so it is positive in the end although the position falls until then.
    let text = "system drift\nstate x in [-10, 10]\nstate v in [-10, 10]\n\
                next v = 0.5 * v + 0.0000000005\nnext x = 0.9 * x + 0.1 * v - 0.0000000001\n\
                init x in [-5, 5] & v in [-5, 5]\nproperty returns = G (x < 4 -> F v > 0)\n";
    assert_eq!(violation(&load(text), &[1.0, -1.0]), None);
}

#[test]
fn where_somebody_chooses_there_is_no_single_run() {
    let text = "system pushed\nstate x in [-10, 10]\ninput w in [0, 1]\nnext x = 0.5 * x + w\n\
                init x in [-5, 5]\nproperty up = F x > 3\n";
    assert!(Convergence::new(&load(text)).unwrap().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// About zero, doubles are as exact as elsewhere, so a long run shows on which side it comes to rest.
    #[test]
    fn what_is_claimed_is_what_a_long_run_shows(
        keep in 0.0..1.0f64, pull in 0.05..1.0f64, x in -3.0..3.0f64, v in -3.0..3.0f64,
    ) {
        let system = load(&spring(keep, pull, 0.0, "after"));
        if violation(&system, &[x, v]).is_some() {
            let (mut x, mut v) = (x, v);
            for step in 0..600 {
                v = keep * v - pull * x + 0.01 * x.tanh();
                x += 0.1 * v;
                prop_assert!(step < 400 || v <= 0.0, "{v} at {step}");
            }
        }
    }
}
