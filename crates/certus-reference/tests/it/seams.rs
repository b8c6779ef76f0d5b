//! Small systems about which engines once disagreed with the semantics: what the truth is.

use certus_reference::{
    Decision, Depths, Lattice, Model, ModelError, Rational, Replayed, Specification, State, Trace, Visited, rational,
    replay,
};

fn number(value: f64) -> Rational {
    rational(value).unwrap()
}

fn specification(model: &Model) -> Specification {
    Specification::new(model, model.properties[0].body.over_runs().unwrap()).unwrap()
}

/// A system of one state variable, decided from some of its states with some values of its one input.
fn decided(text: &str, starts: &[f64], inputs: &[f64]) -> (Decision, Depths) {
    let model = Model::read(text, &[]).unwrap();
    let starts: Vec<State> = starts.iter().map(|&start| vec![number(start)]).collect();
    let inputs = match model.inputs.is_empty() {
        true => vec![Vec::new()],
        false => inputs.iter().map(|&input| vec![number(input)]).collect(),
    };
    let visited = Visited::new(&model, specification(&model), &Lattice { starts, inputs }).unwrap();
    let decision = visited.decide();
    let depths = visited.depths(&decision, 4);
    (decision, depths)
}

#[test]
fn row_3_an_assumption_about_successors_does_not_apply_in_terminal_states() {
    let text = "system s\nstate x in [-2, 10]\ninput u in [0, 1]\nnext x = x - u\nassume next(x) <= x - 0.125\n\
                init x in [2, 3]\nterminal x <= 0\nproperty p = F x >= 5";
    let (decision, _) = decided(text, &[2.0, 3.0], &[0.0, 0.125, 0.5, 1.0]);
    assert!(decision.violated() && decision.error.is_none());
    // Without the exemption no run would end in the terminal state: a deadlock instead.
    let (held, _) = decided(&text.replace("F x >= 5", "F x <= 0"), &[2.0, 3.0], &[0.0, 0.125, 0.5, 1.0]);
    assert!(held.holds());
    let (stuck, _) = decided(&text.replace("terminal x <= 0\n", ""), &[2.0, 3.0], &[0.125, 0.5]);
    assert!(matches!(stuck.error, Some((_, ModelError::RangeExit { .. }))));
}

#[test]
fn row_5_leaving_a_range_is_a_model_error() {
    let text = "system s\nstate x in [0, 10]\nnext x = x + 0.125\ninit x == 0\nproperty p = F x > 100";
    let (decision, depths) = decided(text, &[0.0, 5.0], &[]);
    assert!(!decision.violated() && !decision.holds());
    assert!(matches!(decision.error, Some((_, ModelError::RangeExit { ref variable, .. })) if variable == "x"));
    assert_eq!(depths.error, Some(80));
    // What lies behind the decision does not matter.
    assert!(decided(&text.replace("F x > 100", "F x > 9"), &[0.0], &[]).0.holds());
    assert!(decided(&text.replace("F x > 100", "F<=80 x > 100"), &[0.0], &[]).0.violated());
    assert!(decided(&text.replace("F x > 100", "F<=81 x > 100"), &[0.0], &[]).0.error.is_some());
}

#[test]
fn row_6_an_atom_about_successors_hides_no_bad_state() {
    let text = "system s\nstate x in [0, 10]\nnext x = if x > 6.5 then 100 else x - x\ninit x in [0, 8]\n\
                property p = G (x < 7 & next(x) <= 20)";
    let starts = [0.0, 6.5, 6.75, 7.0, 8.0];
    let (decision, depths) = decided(text, &starts, &[]);
    assert!(decision.violated() && decision.error.is_some());
    assert_eq!((depths.violation, depths.error), (Some(0), Some(0)));
    // From 6.75 the property is still open when the range is left.
    let (open, _) = decided(text, &[6.75], &[]);
    assert!(!open.violated() && open.error.is_some());
}

#[test]
fn row_7_assumptions_apply_at_the_last_position() {
    let text = "system s\nstate x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(floor(x + u), 0, 10)\nassume u > 0.5\n\
                init x == 0\nproperty p = G u > 0.25";
    assert!(decided(text, &[0.0], &[0.0, 0.25, 0.5, 0.75, 1.0]).0.holds());
    assert!(decided(&text.replace("0.25", "0.75"), &[0.0], &[0.0, 0.25, 0.5, 0.75, 1.0]).0.violated());
}

#[test]
fn row_8_a_loop_of_doubles_is_not_one_of_reals() {
    let text = "system s\nstate x in [0, 4]\nnext x = 0.5 * x + 0.5\ninit x == 2\nproperty p = F G x > 1";
    let model = Model::read(text, &[]).unwrap();
    let mut states = vec![vec![2.0]];
    for _ in 0..53 {
        let last = states[states.len() - 1][0];
        states.push(vec![0.5 * last + 0.5]);
    }
    let count = states.len();
    let trace = Trace {
        states,
        inputs: vec![Some(Vec::new()); count],
        chances: vec![Vec::new(); count],
        actions: vec![Vec::new(); count],
        back: Some(count - 1),
    };
    assert_eq!(trace.states[count - 1], [1.0]);
    assert_eq!(replay(&model, &specification(&model), &trace).unwrap(), Replayed::ViolatesInDoubles);
    // The run never comes back over the reals, so its states are not finitely many.
    let lattice = Lattice { starts: vec![vec![number(2.0)]], inputs: vec![Vec::new()] };
    assert!(Visited::new(&model, specification(&model), &lattice).is_err());
}

#[test]
fn row_10_a_loop_within_the_steps_shows_a_violation() {
    let text = "system s\nstate x in [0, 10]\nnext x = x\ninit x == 0\nproperty p = F<=3 x > 5";
    let (decision, depths) = decided(text, &[0.0], &[]);
    assert!(decision.violated());
    assert_eq!((depths.violation, depths.loops), (Some(3), Some(1)));
    assert!(depths.refutes(1) && !depths.refutes(0));
}

#[test]
fn row_11_undefined_operations_are_model_errors_whatever_is_made_of_them() {
    let clamped = "system s\nstate x in [-4, 4]\nnext x = clamp(log(x), -4, 3)\ninit x == 0\nproperty p = G x >= -4";
    assert!(matches!(decided(clamped, &[0.0], &[]).0.error, Some((_, ModelError::Undefined(_)))));
    let compared = "system s\nstate y in [0, 4]\nnext y = y\ninit y == 0\nproperty p = G (0 / y) == (0 / y)";
    assert!(decided(compared, &[0.0], &[]).0.error.is_some());
    let lazy = compared.replace("(0 / y) == (0 / y)", "(if y > 0 then 1 / y else 0) == 0");
    assert!(decided(&lazy, &[0.0], &[]).0.holds());
    let strict = compared.replace("(0 / y) == (0 / y)", "(y > 0 & 1 / y > 2)");
    assert!(decided(&strict, &[0.0], &[]).0.error.is_some());
    // An atom with a value decides even where another one has none.
    let decided_first = compared.replace("(0 / y) == (0 / y)", "y > 1 & G (1 / y > 2)");
    let (decision, _) = decided(&decided_first, &[0.0], &[]);
    assert!(decision.violated());
}

#[test]
fn row_13_a_scheme_is_a_discrete_system() {
    // Each step of the scheme with dt = 2 makes the oscillation smaller, which the differential equation does not.
    let text = "system s\nstate x in [-2, 2]\nstate v in [-2, 2]\nstep 2 rk4\nder x = v\nder v = -x\n\
                init x == 1 & v == 0\nproperty p = F<=6 (abs(x) < 0.25 & abs(v) < 0.25)";
    let model = Model::read(text, &[]).unwrap();
    let lattice = Lattice { starts: vec![vec![number(1.0), number(0.0)]], inputs: vec![Vec::new()] };
    assert!(Visited::new(&model, specification(&model), &lattice).unwrap().decide().holds());
    let model = Model::read(&text.replace("F<=6", "F<=2"), &[]).unwrap();
    assert!(Visited::new(&model, specification(&model), &lattice).unwrap().decide().violated());
}
