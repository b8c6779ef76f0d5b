//! Interval MDPs against brute force.

use certus_prob::imdp::property::{Property, answer};
use certus_prob::imdp::robust_value_iteration::Resources;
use certus_prob::imdp::{
    Builder, Imdp, Objective, Players, drn, explicit, interval_iteration, prism, robust_value_iteration,
};
use proptest::prelude::*;

/// All corners of {lo ≤ p ≤ hi, Σp = 1}: all entries but one at an end.
fn corners(intervals: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let n = intervals.len();
    let mut found = Vec::new();
    for free in 0..n {
        for pattern in 0..1usize << (n - 1) {
            let mut point = vec![0.0; n];
            for (bit, i) in (0..n).filter(|&i| i != free).enumerate() {
                point[i] = if pattern >> bit & 1 == 1 { intervals[i].1 } else { intervals[i].0 };
            }
            point[free] = 1.0 - point.iter().sum::<f64>();
            if point[free] >= intervals[free].0 - 1e-12 && point[free] <= intervals[free].1 + 1e-12 {
                found.push(point);
            }
        }
    }
    found
}

fn best(aim: Objective, values: impl Iterator<Item = f64>) -> f64 {
    match aim {
        Objective::Max => values.fold(f64::NEG_INFINITY, f64::max),
        Objective::Min => values.fold(f64::INFINITY, f64::min),
    }
}

/// The targets of a choice, and the corners of its distributions.
type Corners = (Vec<usize>, Vec<Vec<f64>>);

fn brute(model: &Imdp, stay: &[bool], goal: &[bool], steps: usize, players: Players) -> Vec<f64> {
    let choices: Vec<Vec<Corners>> = (0..model.states())
        .map(|state| {
            let own = model.choices(state).map(|choice| {
                let edges: Vec<(usize, f64, f64)> = model.transitions(choice).collect();
                let intervals: Vec<(f64, f64)> = edges.iter().map(|edge| (edge.1, edge.2)).collect();
                (edges.iter().map(|edge| edge.0).collect(), corners(&intervals))
            });
            own.collect()
        })
        .collect();
    let mut values: Vec<f64> = goal.iter().map(|&goal| f64::from(u8::from(goal))).collect();
    for _ in 0..steps {
        let next: Vec<f64> = (0..model.states())
            .map(|state| {
                if goal[state] || !stay[state] {
                    return values[state];
                }
                let of_choice = |(targets, corners): &Corners| {
                    let expected = |p: &Vec<f64>| p.iter().zip(targets).map(|(p, &target)| p * values[target]).sum();
                    best(players.nature, corners.iter().map(expected))
                };
                best(players.scheduler, choices[state].iter().map(of_choice))
            })
            .collect();
        let moved = next.iter().zip(&values).any(|(a, b)| (a - b).abs() > 1e-13);
        values = next;
        if !moved {
            break;
        }
    }
    values
}

type Edge = (usize, f64, f64, f64);

/// A model from raw numbers: for each state its choices, each a list of (target, nominal weight, width below, width above).
fn build(raw: &[Vec<Vec<Edge>>]) -> Imdp {
    let states = raw.len();
    let mut builder = Builder::new();
    builder.declare("goal");
    for choices in raw {
        builder.state();
        for edges in choices {
            let mut targets: Vec<(usize, f64, f64, f64)> = Vec::new();
            for &(target, weight, below, above) in edges {
                if !targets.iter().any(|other| other.0 == target % states) {
                    targets.push((target % states, weight, below, above));
                }
            }
            let sum: f64 = targets.iter().map(|edge| edge.1).sum();
            let own: Vec<(usize, f64, f64)> = targets
                .iter()
                .map(|&(target, weight, below, above)| {
                    let p = weight / sum;
                    // Some lower ends are zero: nature may drop the transition.
                    let low = if below > 0.35 { 0.0 } else { (p - below).max(0.0) };
                    (target, low, (p + above).min(1.0))
                })
                .collect();
            builder.choice(&own);
        }
    }
    builder.initial(0);
    builder.label("goal", states - 1);
    if states > 2 {
        builder.label("bad", states - 2);
    }
    builder.finish().unwrap()
}

fn bad(model: &Imdp) -> Vec<bool> {
    model.labelled("bad").unwrap_or(vec![false; model.states()])
}

fn models() -> impl Strategy<Value = Imdp> {
    let edge = (0usize..6, 0.1f64..1.0, 0.0f64..0.5, 0.0f64..0.4);
    let choice = prop::collection::vec(edge, 1..4);
    let state = prop::collection::vec(choice, 1..4);
    prop::collection::vec(state, 2..7).prop_map(|raw| build(&raw))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn bounded_values_contain_brute_force(model in models(), steps in 0u64..12) {
        let goal = model.labelled("goal").unwrap();
        let stay: Vec<bool> = bad(&model).iter().map(|bad| !bad).collect();
        for players in Players::ALL {
            let found = robust_value_iteration::until(&model, &stay, &goal, steps, players, Resources::default()).unwrap();
            let exact = brute(&model, &stay, &goal, steps as usize, players);
            for (state, &exact) in exact.iter().enumerate() {
                prop_assert!(found.lower[state] <= exact + 1e-12 && exact <= found.upper[state] + 1e-12,
                    "{players:?}, state {state}: {exact} not in [{}, {}]", found.lower[state], found.upper[state]);
                prop_assert!(found.upper[state] - found.lower[state] < 1e-11);
            }
        }
    }

    #[test]
    fn unbounded_values_contain_the_limit(model in models()) {
        let goal = model.labelled("goal").unwrap();
        let stay: Vec<bool> = bad(&model).iter().map(|bad| !bad).collect();
        for players in Players::ALL {
            let (found, narrow) = interval_iteration::until(&model, &stay, &goal, 1e-8, players, Resources::default());
            let exact = brute(&model, &stay, &goal, 100_000, players);
            for (state, &own) in exact.iter().enumerate() {
                prop_assert!(found.lower[state] <= own + 1e-6, "{players:?} {state} {found:?} {exact:?}");
                prop_assert!(own <= found.upper[state] + 1e-9, "{players:?} {state} {found:?} {exact:?}");
            }
            // Where the players are against each other, one of them may keep a set closed that the other could leave: the
            // interval is right, but may stay wide.
            if players.scheduler == players.nature {
                prop_assert!(narrow, "{players:?} {found:?} {exact:?}");
            }
        }
    }

    #[test]
    fn strategies_attain_what_was_found(model in models()) {
        for text in ["Pmaxmax=? [ F \"goal\" ]", "Pmaxmin=? [ F \"goal\" ]", "Pminmin=? [ F \"goal\" ]"] {
            let property = Property::parse(text).unwrap();
            let found = answer(&model, &property, 1e-8, Resources::default()).unwrap().unwrap();
            let again = found.rechecked.unwrap();
            prop_assert!(again.0 <= found.initial.1 + 1e-6 && found.initial.0 <= again.1 + 1e-6, "{text}: {found:?}");
        }
    }

    #[test]
    fn plans_attain_bounded_values(model in models(), steps in 0u64..9) {
        let goal = model.labelled("goal").unwrap();
        let stay: Vec<bool> = bad(&model).into_iter().map(|bad| !bad).collect();
        for players in Players::ALL {
            let resources = robust_value_iteration::Resources::default();
            let values = robust_value_iteration::until(&model, &stay, &goal, steps, players, resources).unwrap();
            let plan = robust_value_iteration::plan(&model, &stay, &goal, steps, players, resources).unwrap();
            prop_assert_eq!(plan.len() as u64, steps);
            let again = robust_value_iteration::following(&model, &stay, &goal, &plan, players, resources).unwrap();
            for state in 0..model.states() {
                prop_assert!((again.lower[state] - values.lower[state]).abs() < 1e-12);
                prop_assert!((again.upper[state] - values.upper[state]).abs() < 1e-12);
            }
            // Another plan is no better.
            let first: robust_value_iteration::Plan = plan.iter().map(|chosen| vec![0; chosen.len()]).collect();
            let other = robust_value_iteration::following(&model, &stay, &goal, &first, players, resources).unwrap();
            for state in 0..model.states() {
                match players.scheduler {
                    Objective::Max => prop_assert!(other.lower[state] <= values.upper[state]),
                    Objective::Min => prop_assert!(other.upper[state] >= values.lower[state]),
                }
            }
        }
    }

    #[test]
    fn formats_give_the_model_back(model in models()) {
        prop_assert_eq!(&drn::read(&drn::write(&model)).unwrap(), &model);
        let (transitions, labels) = explicit::write(&model);
        prop_assert_eq!(&explicit::read(&transitions, Some(&labels)).unwrap(), &model);
        // PRISM's language numbers the states that can be reached: values stay.
        let again = prism::read(&prism::write(&model), &[]).unwrap();
        let property = Property::parse("Pmaxmin=? [ F<=5 \"goal\" ]").unwrap();
        let value = |model: &Imdp| answer(model, &property, 1e-8, Resources::default()).map(|found| found.unwrap().initial);
        if again.is_plain() == model.is_plain() {
            let ((a, _), (b, _)) = (value(&model).unwrap(), value(&again).unwrap());
            prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn nature_must_be_named_for_intervals() {
    let model = build(&[vec![vec![(1, 1.0, 0.1, 0.1), (0, 1.0, 0.1, 0.1)]], vec![vec![(1, 1.0, 0.0, 0.0)]]]);
    let property = Property::parse("Pmax=? [ F \"goal\" ]").unwrap();
    assert!(answer(&model, &property, 1e-6, Resources::default()).unwrap_err().contains("Pmaxmin"));
    let missing = Property::parse("Pmaxmax=? [ F \"gaol\" ]").unwrap();
    assert!(answer(&model, &missing, 1e-6, Resources::default()).unwrap_err().contains("it has goal"));
}

#[test]
fn wrong_models_are_refused() {
    let mut builder = Builder::new();
    builder.state();
    builder.choice(&[(0, 0.6, 0.7), (1, 0.5, 0.6)]);
    builder.state();
    assert!(builder.finish().unwrap_err().to_string().contains("lower ends sum to 1.1"));
    let mut builder = Builder::new();
    builder.state();
    builder.choice(&[(4, 1.0, 1.0)]);
    assert_eq!(builder.finish().unwrap_err().to_string(), "state 0 leads to 4, which does not exist");
    assert!(drn::read("@type: CTMC\n@model\n").unwrap_err().contains("line 1"));
    assert!(drn::read("@type: MDP\n@model\nstate 0\n\taction 0\n\t\t0 : x\n").unwrap_err().contains("line 5"));
    assert!(explicit::read("2 1 1\n0 0 5 1.0\n", None).unwrap_err().contains("line 2"));
    assert!(explicit::read("99999999999 1 1\n0 0 0 1.0\n", None).unwrap_err().contains("can be read"));
    let wide = "mdp\nmodule m\n x : [-9000000000000000000..9000000000000000000];\nendmodule\ninit true endinit\n";
    assert!(prism::read(wide, &[]).unwrap_err().contains("too many states"));
}

#[test]
fn many_threads_give_the_same_values() {
    let mut builder = Builder::new();
    let states = 5000;
    for state in 0..states {
        builder.state();
        let own = |k: usize| (state * 31 + k * 977 + 1) % states;
        builder.choice(&[
            (own(1), 0.1, 0.5),
            (own(2), 0.2, 0.6),
            (own(3), 0.1, 0.4),
            (own(4), 0.0, 0.3),
            (own(5), 0.05, 0.2),
        ]);
    }
    builder.initial(0);
    builder.label("goal", 17);
    let model = builder.finish().unwrap();
    let goal = model.labelled("goal").unwrap();
    let players = Players { scheduler: Objective::Max, nature: Objective::Min };
    let of = |threads| {
        robust_value_iteration::until(
            &model,
            &vec![true; states],
            &goal,
            30,
            players,
            Resources { threads, ..Resources::default() },
        )
    };
    assert_eq!(of(1), of(4));
}
