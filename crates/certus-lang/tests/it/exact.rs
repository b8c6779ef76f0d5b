//! Steps that are flows of differential equations, against closed forms.

use crate::support::Linear;
use certus_graph::Interval;
use certus_graph::eval::{enclose, evaluate};
use certus_lang::system::{Bounds, Formula, Integrator};
use certus_lang::{LowerOptions, System, load_str};

fn load(text: &str) -> System {
    load_str(text, &mut Linear, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"))
}

/// The value of an output in doubles, and its enclosure at that point.
fn output(system: &System, inputs: &[&[f64]], name: &str) -> (Vec<f64>, Vec<Interval>) {
    let values = evaluate::<f64>(&system.step, inputs).expect("an evaluation");
    let points: Vec<Vec<Interval>> =
        inputs.iter().map(|own| own.iter().map(|&value| Interval::point(value)).collect()).collect();
    let slices: Vec<&[Interval]> = points.iter().map(Vec::as_slice).collect();
    let enclosed = enclose(&system.step, &slices).expect("an enclosure");
    let place = system.step.outputs().iter().position(|port| port.name == name).expect("an output of this name");
    (values[place].clone(), enclosed[place].clone())
}

const DECAY: &str = "system decay
state x in [-10, 10]
state mode in [0, 1]
policy u = net(\"linear_1x1\", x)
input w in [-1, 1]
param rate in [0.5, 2] = 1
define pull = -rate * x
step 0.5 exact
der x = pull + u + w
next mode = 1 - mode
property low = G throughout(x < 1 | mode > 0.5)
property between = G[0.6s, 1.7s] throughout(x < 1)
property late = F[1s, 2s] x < 0.1
";

#[test]
fn a_step_is_the_flow_with_all_else_held() {
    let system = load(DECAY);
    assert_eq!((system.integrator, system.dt), (Some(Integrator::Exact), Some(0.5)));
    // x' = -x + u + w with u = 2 and w = -1 held: x(t) = 1 + e^-t.
    let expected = 1.0 + (-0.5f64).exp();
    let (value, enclosed) = output(&system, &[&[2.0], &[0.0], &[-1.0]], "next(x)");
    assert!((value[0] - expected).abs() < 1e-14, "{value:?}");
    assert!(enclosed[0].contains(expected) && enclosed[0].width() < 1e-12, "{enclosed:?}");
    assert_eq!(output(&system, &[&[2.0], &[0.0], &[-1.0]], "next(mode)").0, [1.0]);
}

#[test]
fn conditions_throughout_a_step_read_what_is_held() {
    let system = load(DECAY);
    let ask = |x: f64, mode: f64| output(&system, &[&[x], &[mode], &[-1.0]], "atom0.truth");
    assert_eq!(system.atoms[0].text, "throughout(x < 1 | mode > 0.5)");
    assert!(system.atoms[0].uses_next);
    assert_eq!(ask(2.0, 0.0), (vec![0.0], vec![Interval::ZERO]));
    assert_eq!(ask(2.0, 1.0), (vec![1.0], vec![Interval::ONE]));
    // u = x, so x' = -1: from 0.9 down to 0.4.
    assert_eq!(ask(0.9, 0.0), (vec![1.0], vec![Interval::ONE]));
    let margin = output(&system, &[&[0.9], &[0.0], &[-1.0]], "atom0.margin");
    assert!((margin.0[0] - 0.1).abs() < 1e-12 && margin.1[0].lo > 0.0, "{margin:?}");
}

#[test]
fn seconds_are_steps_and_parts_of_steps() {
    let system = load(DECAY);
    let formula = |name: &str| system.property(name).expect("a property").over_runs().unwrap().clone();
    let Formula::And(parts) = formula("between") else { panic!("{:?}", formula("between")) };
    let bounds: Vec<(u64, Option<u64>, &str)> = parts
        .iter()
        .map(|part| match part {
            Formula::Globally(Bounds { lower, upper }, inner) => match **inner {
                Formula::Atom(id) => (*lower, *upper, system.atoms[id.0].text.as_str()),
                ref other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bounds.len(), 3, "{bounds:?}");
    assert_eq!((bounds[0].0, bounds[0].1), (1, Some(1)));
    assert!(bounds[0].2.starts_with("throughout(x < 1) from 0.1"), "{bounds:?}");
    assert_eq!(bounds[1], (2, Some(2), "throughout(x < 1)"));
    assert_eq!((bounds[2].0, bounds[2].1), (3, Some(3)));
    let Formula::Finally(late, _) = formula("late") else { panic!("{:?}", formula("late")) };
    assert_eq!(late, Bounds { lower: 2, upper: Some(4) });
}

#[test]
fn a_terminal_state_stays_and_so_does_what_holds_there() {
    let system = load(
        "system t\nstate x in [-10, 10]\nstep 0.5 exact\nder x = 2\nterminal x >= 1\nproperty p = G throughout(x <= 1)\n",
    );
    assert_eq!(output(&system, &[&[1.0]], "next(x)").0, [1.0]);
    assert_eq!(output(&system, &[&[1.0]], "atom0.truth"), (vec![1.0], vec![Interval::ONE]));
    // Numbers that doubles hold are not rounded.
    assert_eq!(output(&system, &[&[0.0]], "next(x)"), (vec![1.0], vec![Interval::ONE]));
    assert_eq!(output(&system, &[&[0.0]], "atom0.truth").1, [Interval::ONE]);
    assert_eq!(output(&system, &[&[0.25]], "atom0.truth").1, [Interval::ZERO]);
}

#[test]
fn varying_inputs_take_their_whole_range() {
    let system = load(
        "system t\nstate x in [-10, 10]\ninput w varying in [-1, 1]\nstep 0.5 exact\nder x = w\nproperty p = G throughout(w < 2 & x < 1)\n",
    );
    assert!(system.inputs[0].varying);
    let (value, enclosed) = output(&system, &[&[0.0], &[0.5]], "next(x)");
    assert_eq!(value, [0.25]);
    assert!(enclosed[0].encloses(Interval::new(-0.5, 0.5)) && enclosed[0].width() < 1.01, "{enclosed:?}");
    assert_eq!(output(&system, &[&[0.0], &[0.5]], "atom0.truth").1, [Interval::ONE]);
}

#[test]
fn what_comes_after_reads_integrated_values() {
    let text = "system t\nstate x in [-10, 10]\nstate v in [-10, 10]\nstep 0.5 METHOD\nder x = v\nder v = 2\n\
                after v = if x > 1 then -v else v\nafter x = clamp(x, -1, 1)\nproperty p = G x <= 1\n";
    for (method, x, v) in [("exact", 1.0, -3.0), ("euler", 1.0, 3.0), ("rk4", 1.0, -3.0)] {
        let system = load(&text.replace("METHOD", method));
        // From x = 0.5, v = 2: 1.75 and 3 exactly, 1.5 and 3 by Euler's method with the guard at 1.
        let start: [&[f64]; 2] = if method == "euler" { [&[0.0], &[2.0]] } else { [&[0.5], &[2.0]] };
        assert_eq!(output(&system, &start, "next(x)").0, [x], "{method}");
        assert_eq!(output(&system, &start, "next(v)").0, [v], "{method}");
    }
}

#[test]
fn a_flow_that_leaves_its_domain_is_undefined() {
    let system =
        load("system t\nstate x in [-10, 10]\nstep 1 exact\nder x = -1 / x\nproperty p = G throughout(1 / x > 0)\n");
    // x(t) = sqrt(x0² - 2 t) ends at x0² / 2.
    assert_eq!(output(&system, &[&[2.0]], "defined.truth"), (vec![1.0], vec![Interval::ONE]));
    assert_eq!(output(&system, &[&[1.0]], "defined.truth"), (vec![0.0], vec![Interval::UNKNOWN_TRUTH]));
    assert_eq!(output(&system, &[&[2.0]], "atom0.defined.truth").1, [Interval::ONE]);
}

#[test]
fn without_exact_flows_a_step_has_no_inside() {
    let system = load("system t\nstate x in [-10, 10]\nstep 0.5\nder x = 2\nproperty p = G<=1s throughout(x <= 1)\n");
    assert_eq!(system.atoms[0].text, "throughout(x <= 1)");
    assert!(!system.atoms[0].uses_next);
}
