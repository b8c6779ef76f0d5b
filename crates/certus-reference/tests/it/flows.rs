//! Flows that are polynomials in time, and what holds throughout them.

use certus_reference::{Lattice, Model, Specification, Visited, whole};

/// Whether a property is violated, and whether some run has a model error.
fn decided(text: &str, starts: &[&[i64]]) -> Result<(bool, bool), String> {
    let model = Model::read(text, &[])?;
    let property = &model.properties[0];
    let formula = property.body.over_runs().ok_or("no formula")?;
    let specification = Specification::new(&model, formula)?;
    let starts = starts.iter().map(|own| own.iter().map(|&value| whole(value)).collect()).collect();
    let visited = Visited::new(&model, specification, &Lattice { starts, inputs: vec![Vec::new()] })?;
    let decision = visited.decide();
    Ok((decision.violated(), decision.error.is_some()))
}

/// Up to x + 1 at half time and back: x + 4 t − 4 t².
fn hop(property: &str) -> Result<(bool, bool), String> {
    let text = format!(
        "system hop\nstate x in [-4, 4]\nstate v in [-8, 8]\nstep 1 exact\nder x = 4 - v\nder v = 8\nafter v = 0\n\
         init x == 0 & v == 0\nproperty p = {property}\n"
    );
    decided(&text, &[&[0, 0]])
}

#[test]
fn the_vertex_of_a_parabola_counts() {
    assert_eq!(hop("G throughout(x <= 1)"), Ok((false, false)));
    assert_eq!(hop("G throughout(x < 1)"), Ok((true, false)));
    assert_eq!(hop("G x == 0"), Ok((false, false)));
    assert_eq!(hop("G throughout(x != 0.5)"), Ok((true, false)));
    assert_eq!(hop("G throughout(x in [0, 1] & v >= 0)"), Ok((false, false)));
}

#[test]
fn seconds_end_within_steps() {
    assert_eq!(hop("G[0s, 0.25s] throughout(x <= 0.75)"), Ok((false, false)));
    assert_eq!(hop("G[0s, 0.25s] throughout(x < 0.75)"), Ok((true, false)));
    assert_eq!(hop("G[0.9s, 1.1s] throughout(x < 0.5)"), Ok((false, false)));
    assert_eq!(hop("G[0.9s, 1.2s] throughout(x < 0.5)"), Ok((true, false)));
    assert_eq!(hop("G[1s, 1s] throughout(x == 0)"), Ok((false, false)));
    assert_eq!(hop("G[1s, 2s] throughout(v <= 8 & x >= 0)"), Ok((false, false)));
    assert!(hop("F[0.2s, 0.8s] x > 5").is_err(), "there is no step in between");
}

#[test]
fn other_equations_are_not_decided() {
    let text = "system t\nstate x in [-4, 4]\nstep 1 exact\nder x = -x\ninit x == 1\nproperty p = G x > 0\n";
    assert!(decided(text, &[&[1]]).is_err());
}

#[test]
fn the_end_of_a_step_may_leave_a_range() {
    let text = "system t\nstate x in [0, 1]\nstep 1 exact\nder x = 2\ninit x == 0\nproperty p = F x > 5\n";
    assert_eq!(decided(text, &[&[0]]), Ok((false, true)));
}

#[test]
fn without_exact_it_is_the_condition_even_where_terminal_has_no_value() {
    let text = "system t\nstate x in [0, 4]\nnext x = x\nterminal 1 / x < 0.5\ninit x == 0\nproperty p = ";
    assert_eq!(decided(&format!("{text}F<=2 throughout(x < 1)\n"), &[&[0]]), Ok((false, false)));
    assert_eq!(decided(&format!("{text}F<=2 x < 1\n"), &[&[0]]), Ok((false, false)));
}
