//! The sets of states that a property speaks of are where its conditions say.

use certus_check::state_sets::{Role, StateSet, state_sets};
use certus_graph::eval::evaluate;
use certus_lang::{FileNetworks, LowerOptions, System, load_str};
use proptest::prelude::*;

fn system(body: &str) -> System {
    let text = format!("system s\nstate x in [-9, 9]\nstate y in [-9, 9]\nstate z in [-9, 9]\n{body}\n");
    load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default())
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// A discrete system with one property, and its sets.
fn sets_of(formula: &str) -> Vec<StateSet> {
    let own = system(&format!("next x = x\nnext y = y\nnext z = z\nproperty p = {formula}"));
    state_sets(&own, &own.properties[0]).unwrap()
}

#[test]
fn operators_say_what_is_unsafe_and_what_a_goal() {
    let told = |formula: &str| -> Vec<(Role, String, u64, Option<u64>)> {
        sets_of(formula).into_iter().map(|own| (own.role, own.condition, own.from, own.until)).collect()
    };
    let own = |role, condition: &str, from, until| (role, condition.to_owned(), from, until);
    assert_eq!(told("G x < 1"), [own(Role::Unsafe, "x < 1", 0, None)]);
    assert_eq!(told("G[3, 5] x < 1"), [own(Role::Unsafe, "x < 1", 3, Some(5))]);
    assert_eq!(told("F[7, 7] x < 1"), [own(Role::Goal, "x < 1", 7, Some(7))]);
    assert_eq!(told("x > 0"), [own(Role::Unsafe, "x > 0", 0, Some(0))]);
    assert_eq!(
        told("(y > 0) U[0, 4] (x < 1)"),
        [own(Role::Unsafe, "y > 0", 0, Some(4)), own(Role::Goal, "x < 1", 0, Some(4))]
    );
    assert_eq!(told("F G x < 1"), [own(Role::Goal, "x < 1", 0, None)]);
    assert_eq!(told("G F x < 1"), [own(Role::Goal, "x < 1", 0, None)]);
    assert_eq!(told("G (x > 2 -> F[0, 3] y > 1)"), [own(Role::Goal, "y > 1", 0, None)]);
    assert_eq!(told("G (x > 2 -> y > 1)"), [own(Role::Unsafe, "!(x > 2) | y > 1", 0, None)]);
    assert_eq!(told("X G x < 1"), [own(Role::Unsafe, "x < 1", 1, None)]);
    // Either way satisfies it, so neither is asked of every run.
    assert_eq!(told("G x < 1 | G y < 1"), []);
}

#[test]
fn linear_conditions_are_half_spaces() {
    let faces = |formula: &str| -> Vec<(usize, bool)> {
        sets_of(formula)[0].parts.iter().map(|part| (part.faces.len(), part.is_linear())).collect()
    };
    assert_eq!(faces("F (abs(x) <= 1 & y in [2, 3])"), [(4, true)], "a box has no seams");
    assert_eq!(faces("G abs(x) <= 1"), [(1, true), (1, true)]);
    assert_eq!(faces("F abs(x) - abs(y) <= 1"), [(3, true); 4], "neither convex nor concave");
    assert_eq!(faces("G (x in [0, 1])"), [(1, true), (1, true)]);
    assert_eq!(faces("G x^2 <= 1"), [(0, false)]);
    let part = &sets_of("G 2 * x <= 4")[0].parts[0];
    assert_eq!((part.faces[0].factors.get(&0), part.faces[0].constant), (Some(&-1.0), 2.0));
}

#[test]
fn a_condition_throughout_periods_is_the_condition_itself() {
    let own = system("step 0.5 exact\nder x = y\nder y = 0\nnext z = z\nproperty p = G[0s, 2s] throughout(x <= 1 + z)");
    let sets = state_sets(&own, &own.properties[0]).unwrap();
    assert_eq!(sets.len(), 1);
    // The last period ends one step after it begins.
    let bounds = (sets[0].from, sets[0].until);
    assert!(matches!(bounds, (0, Some(4 | 5))), "{bounds:?}");
    assert_eq!(sets[0].parts[0].elements.iter().copied().collect::<Vec<_>>(), [0, 2]);
    let excess = sets[0].parts[0].excess(&[vec![2.0, 0.0, 0.5], vec![1.0, 0.0, 0.5]]).unwrap();
    assert!(excess[0] < 0.0 && excess[1] > 0.0, "{excess:?}");
}

#[test]
fn what_depends_on_more_than_the_state_is_left_out() {
    let own = system("input w in [0, 1]\nnext x = x\nnext y = y\nnext z = z\nproperty p = G (x < 1 & y < w)");
    let sets = state_sets(&own, &own.properties[0]).unwrap();
    assert_eq!((sets[0].parts.len(), sets[0].is_all), (1, false));
    let own = system("input w in [0, 1]\nnext x = x\nnext y = y\nnext z = z\nproperty p = F (x < 1 & y < w)");
    assert!(state_sets(&own, &own.properties[0]).unwrap().is_empty());
}

const CONDITIONS: &[&str] = &[
    "x <= 1",
    "abs(x - y) <= 2 & z > -1",
    "max(x, 2 * y) < 3 | min(y, z) > 1",
    "x in [-2, 5] & !(y in [0, 1])",
    "x^2 + y^2 <= 16",
    "abs(x) * y < 4 & z >= -3",
    "sqrt(x^2 + y^2) <= 0.2 + 0.5 * abs(z)",
    "x < 1 -> (y > 0 | clamp(z, -1, 1) <= 0.5)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sets_are_where_conditions_say(
        which in 0..CONDITIONS.len(), states in prop::collection::vec(prop::collection::vec(-9.0f64..9.0, 3), 20),
    ) {
        for (formula, role) in [("G", Role::Unsafe), ("F", Role::Goal)] {
            let own = system(&format!(
                "next x = x\nnext y = y\nnext z = z\ndefine c = {0}\nproperty p = {formula} ({0})", CONDITIONS[which]
            ));
            let sets = state_sets(&own, &own.properties[0]).unwrap();
            prop_assert_eq!((sets.len(), sets[0].role, sets[0].is_all), (1, role, true));
            let truth = own.step.keep_outputs(&[own.roles.defines[0].port]);
            let parts: Vec<Vec<f64>> = sets[0].parts.iter().map(|part| part.excess(&states).unwrap()).collect();
            for (place, state) in states.iter().enumerate() {
                let inputs: Vec<&[f64]> = state.chunks(1).collect();
                let holds = evaluate(&truth, &inputs).unwrap()[0][0] == 1.0;
                let inside = parts.iter().any(|part| part[place] <= 0.0);
                prop_assert_eq!(inside, holds == (role == Role::Goal), "{}: {:?}", CONDITIONS[which], state);
            }
        }
    }
}
