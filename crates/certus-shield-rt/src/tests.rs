//! What a monitor does, step by step, with a shield for x' = x + a, |x| ≤ 1.

extern crate std;

use super::*;

const NEXT: &[Op] = &[Op::Number(1.0), Op::Times(0), Op::Number(1.0), Op::Times(1), Op::Plus];
const ABOVE: &[Op] = &[Op::Number(1.0), Op::Times(0), Op::Number(-1.0), Op::Plus];
const BELOW: &[Op] = &[Op::Number(-1.0), Op::Times(0), Op::Number(-1.0), Op::Plus];
const HALVE: &[Op] = &[Op::Number(-0.5), Op::Times(0)];

fn tables() -> Tables<'static> {
    const SURFACES: &[Surface<'static>] = &[
        Surface { ops: ABOVE, reserve: 1e-9, release: 1e-9, rounding: 1e-12 },
        Surface { ops: BELOW, reserve: 1e-9, release: 1e-9, rounding: 1e-12 },
    ];
    Tables {
        limits: &[(-2.0, 2.0)],
        domain: &[(-1.5, 1.5)],
        next: &[NEXT],
        corners: &[&[]],
        branches: &[Branch { surfaces: SURFACES, inner_box: &[], program: &[HALVE] }],
    }
}

fn decide(monitor: &mut Monitor, state: f64, action: f64) -> (Decision, f64) {
    let mut actions = [action];
    let decision = monitor.decide(&tables(), &[state], &mut actions, &mut [0.0], Fallback::LastBranch);
    (decision, actions[0])
}

#[test]
fn safe_actions_pass_and_others_are_replaced() {
    let mut monitor = Monitor::new();
    assert_eq!(decide(&mut monitor, 0.5, 0.25), (Decision::Passed(0), 0.25));
    assert_eq!(decide(&mut monitor, 0.5, 0.75), (Decision::Overridden(0), -0.25));
    // Limited before it is judged: 0.5 − 2 is too far.
    assert_eq!(decide(&mut monitor, 0.5, -9.0), (Decision::Overridden(0), -0.25));
    assert_eq!((monitor.steps(), monitor.interventions(), monitor.alarm()), (3, 2, false));
    let log: std::vec::Vec<Intervention> = monitor.log().collect();
    assert_eq!(log, [Intervention { step: 1, branch: 0 }, Intervention { step: 2, branch: 0 }]);
}

#[test]
fn what_is_not_a_number_does_not_pass() {
    let mut monitor = Monitor::new();
    let (decision, action) = decide(&mut monitor, 0.0, f64::NAN);
    assert_eq!((decision, action), (Decision::Overridden(0), 0.0));
}

#[test]
fn outside_of_every_branch_the_alarm_latches() {
    let mut monitor = Monitor::new();
    assert_eq!(decide(&mut monitor, 1.25, 2.0).0, Decision::Alarm);
    assert_eq!(decide(&mut monitor, 0.0, 0.0).0, Decision::Passed(0));
    assert!(monitor.alarm());
    monitor.clear_alarm();
    assert!(!monitor.alarm());
    let mut actions = [2.0];
    let own = Fallback::Actions(&[-0.125]);
    assert_eq!(monitor.decide(&tables(), &[1.25], &mut actions, &mut [0.0], own), Decision::Alarm);
    assert_eq!(actions, [-0.125]);
}

#[test]
fn the_log_keeps_the_last_interventions() {
    let mut monitor = Monitor::new();
    (0..40).for_each(|_| {
        decide(&mut monitor, 0.5, 1.0);
    });
    assert_eq!(monitor.log().count(), LOG);
    assert_eq!(monitor.log().next().map(|entry| entry.step), Some(24));
}

#[test]
fn strange_tables_give_no_pass_and_no_panic() {
    let strange = Tables { next: &[&[Op::Plus, Op::Times(9)]], ..tables() };
    let mut monitor = Monitor::new();
    let mut actions = [0.0];
    let decision = monitor.decide(&strange, &[0.5], &mut actions, &mut [0.0], Fallback::LastBranch);
    assert_eq!(decision, Decision::Overridden(0));
}

#[test]
fn a_policy_gets_control_back_well_inside_only() {
    let surfaces = [
        Surface { ops: ABOVE, reserve: 1e-9, release: 0.5, rounding: 1e-12 },
        Surface { ops: BELOW, reserve: 1e-9, release: 0.5, rounding: 1e-12 },
    ];
    let branches = [Branch { surfaces: &surfaces, inner_box: &[], program: &[HALVE] }];
    let shield = Tables { branches: &branches, ..tables() };
    let mut monitor = Monitor::new();
    let mut decide = |state: f64, action: f64| {
        let mut actions = [action];
        monitor.decide(&shield, &[state], &mut actions, &mut [0.0], Fallback::LastBranch)
    };
    // Up to the boundary it passes; beyond, the program takes over, and goes on until the policy leads to 0.5 or less.
    assert_eq!(decide(0.5, 0.4), Decision::Passed(0));
    assert_eq!(decide(0.9, 0.2), Decision::Overridden(0));
    assert_eq!(decide(0.45, 0.2), Decision::Overridden(0));
    assert_eq!(decide(0.225, 0.2), Decision::Passed(0));
    assert_eq!(decide(0.5, 0.4), Decision::Passed(0));
}
