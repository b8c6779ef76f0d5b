//! Maps of parameters against what is known of small systems, and against checks at single values.

use certus_check::bmc;
use certus_check::errors::Errors;
use certus_check::parametric::{narrow, with_parameters_as_states};
use certus_check::region::{Axis, Cell, Map, Standing, Tools, survey};
use certus_check::replay::replay;
use certus_lang::system::System;
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::{CheckError, Scope, Verdict};
use certus_solver::Budget;
use proptest::prelude::*;

fn load(text: &str, free: &[&str], set: &[(&str, f64)]) -> System {
    let options = LowerOptions {
        overrides: set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        free_params: free.iter().map(|name| (*name).to_owned()).collect(),
        ..LowerOptions::default()
    };
    load_str(text, &mut FileNetworks::new("."), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn map(text: &str, names: &[&str], steps: usize, resolution: usize) -> Map {
    let owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let varied = with_parameters_as_states(&load(text, names, &[]), &owned).unwrap();
    let axes: Vec<Axis> = varied.states[varied.states.len() - names.len()..]
        .iter()
        .map(|state| Axis { name: state.name.clone(), lower: state.lower[0], upper: state.upper[0] })
        .collect();
    assert_eq!(axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>(), names);
    let property = &varied.properties[0];
    let tools = Tools {
        ask: &mut |system, budget| {
            bmc::check(system, property, Some(steps), &Errors::new(system, false), budget, &mut |_| {})
        },
        confirm: &mut |values, drive| {
            let set: Vec<(&str, f64)> = names.iter().copied().zip(values.iter().copied()).collect();
            let system = load(text, &[], &set);
            let formula = system.properties[0].over_runs().unwrap();
            replay(&system, formula, drive).map_err(CheckError::from)
        },
        watch: &mut |_, _| {},
    };
    survey(&varied, property, &axes, resolution, &Budget::default(), tools).unwrap()
}

/// Whether the property holds with these values, by a check of the system with them.
fn holds_at(text: &str, names: &[&str], values: &[f64], steps: usize) -> bool {
    let set: Vec<(&str, f64)> = names.iter().copied().zip(values.iter().copied()).collect();
    let system = load(text, &[], &set);
    match bmc::check(
        &system,
        &system.properties[0],
        Some(steps),
        &Errors::new(&system, false),
        &Budget::default(),
        &mut |_| {},
    )
    .unwrap()
    .verdict
    {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        verdict => panic!("{verdict:?}"),
    }
}

/// Every step of the grid lies in exactly one cell.
fn assert_covers(map: &Map) {
    let whole: usize = map.resolution.pow(map.axes.len() as u32);
    let size =
        |cell: &Cell| cell.extent.from.iter().zip(&cell.extent.to).map(|(from, to)| to - from).product::<usize>();
    assert_eq!(map.cells.iter().map(size).sum::<usize>(), whole);
    for (index, cell) in map.cells.iter().enumerate() {
        for other in &map.cells[index + 1..] {
            let apart = (0..map.axes.len()).any(|axis| {
                cell.extent.to[axis] <= other.extent.from[axis] || other.extent.to[axis] <= cell.extent.from[axis]
            });
            assert!(apart, "{cell:?} and {other:?} overlap");
        }
    }
}

const ADDS: &str = "system adds\nparam a in [0, 1] = 0.5\nstate x in [0, 100]\nnext x = x + a\ninit x == 0\n\
                    property p = G (x < 2)\n";

#[test]
fn a_threshold_is_found_to_the_resolution() {
    // Three steps reach 3a: violated from 2/3 on, which lies in the step from 10/16 to 11/16.
    let map = map(ADDS, &["a"], 3, 16);
    assert_covers(&map);
    for cell in &map.cells {
        let (low, high) = map.ends(&cell.extent)[0];
        match cell.standing {
            Standing::Holds(Scope::Bounded(3)) => assert!(high <= 0.625, "{cell:?}"),
            Standing::Violated(_) => assert!(low >= 0.6875, "{cell:?}"),
            Standing::ViolatedAt(witness) => {
                assert_eq!((low, high), (0.625, 0.6875));
                assert!(map.witnesses[witness].values[0] >= 2.0 / 3.0);
            }
            ref other => panic!("{other:?}"),
        }
    }
    assert_eq!(map.share(|standing| matches!(standing, Standing::Holds(_))), 0.625);
    assert_eq!(map.share(|standing| matches!(standing, Standing::ViolatedAt(_))), 0.0625);
    // Witnesses are runs of the system with those values.
    for witness in &map.witnesses {
        let run = &witness.run;
        assert!(run.states.windows(2).all(|pair| pair[1][0] == pair[0][0] + witness.values[0]));
        assert!(run.states.last().unwrap()[0] >= 2.0);
    }
}

#[test]
fn a_loop_returns_whatever_the_parameter() {
    // Stays at x = d for ever, which never exceeds a, exactly if a >= 0.25 (the smallest d).
    let text = "system stays\nparam a in [0, 1] = 0.5\nstate x in [0.25, 1]\nnext x = x\nproperty p = F (x > a)\n";
    let map = map(text, &["a"], 1, 8);
    assert_covers(&map);
    for cell in &map.cells {
        let (low, high) = map.ends(&cell.extent)[0];
        let expected = if high <= 0.125 {
            "holds"
        } else if low >= 0.25 {
            "violated"
        } else {
            "border"
        };
        let found = match cell.standing {
            Standing::Holds(_) => "holds",
            Standing::Violated(_) => "violated",
            _ => "border",
        };
        assert_eq!(found, expected, "[{low}, {high}]: {:?}", cell.standing);
    }
}

#[test]
fn what_was_left_behind_is_open() {
    let mut map = map(ADDS, &["a"], 3, 16);
    let kept = map.cells.split_off(1);
    assert!(!kept.is_empty());
    map.leave_the_rest_open(certus_solver::UnknownReason::Deadline);
    assert_covers(&map);
}

#[test]
fn parameters_become_states_that_stay() {
    let text = "system two\nparam a in [0, 1] = 0.5\nparam b in [2, 3] = 2\nstate x in [0, 9]\ninput u in [0, 1]\n\
                next x = a * x + b * u\nproperty p = G (x < 8)\n";
    let names = ["b".to_owned(), "a".to_owned()];
    let mut varied = with_parameters_as_states(&load(text, &["a", "b"], &[]), &names).unwrap();
    let order: Vec<&str> = varied.step.inputs().iter().map(|port| port.name.as_str()).collect();
    assert_eq!(order, ["x", "b", "a", "u"]);
    narrow(&mut varied, &[2.5, 0.25], &[2.75, 0.25]);
    let evaluator = certus_graph::eval::Evaluator::<f64>::new(&varied.step);
    let mut workspace = certus_graph::eval::Workspace::default();
    let arguments: [&[f64]; 4] = [&[4.0], &[2.5], &[0.25], &[1.0]];
    evaluator.run(&mut workspace, &arguments, 1).unwrap();
    let next: Vec<f64> =
        varied.roles.next.iter().map(|next| evaluator.output(&workspace, &arguments, next.port)[0]).collect();
    assert_eq!(next, [3.5, 2.5, 0.25]);
    assert_eq!(varied.init_box, (vec![0.0, 2.5, 0.25], vec![9.0, 2.75, 0.25]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Parameters in the plant, the initial states and the property, in either direction, against single values.
    #[test]
    fn cells_agree_with_checks_at_single_values(
        gain in -1.0..1.0f64, start in -1.0..1.0f64, limit in 0.5..3.0f64,
        inside in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 2),
    ) {
        let text = format!(
            "system any\nparam a in [0, 1] = 0\nparam b in [-1, 1] = 0\nstate x in [-100, 100]\ninput u in [-0.5, 0.5]\n\
             next x = {gain} * x + a + b * u\ninit x >= {start} - a & x <= {start} + a\nproperty p = G (abs(x) < {limit} + b)\n"
        );
        let names = ["a", "b"];
        let map = map(&text, &names, 2, 4);
        assert_covers(&map);
        for cell in &map.cells {
            let ends = map.ends(&cell.extent);
            for &(across, up) in &inside {
                let at = |(low, high): (f64, f64), share: f64| (low + (high - low) * share).clamp(low, high);
                let values = [at(ends[0], across), at(ends[1], up)];
                match cell.standing {
                    Standing::Holds(_) => prop_assert!(holds_at(&text, &names, &values, 2), "{values:?} in {cell:?}"),
                    Standing::Violated(_) => prop_assert!(!holds_at(&text, &names, &values, 2), "{values:?} in {cell:?}"),
                    Standing::ViolatedAt(_) | Standing::Open(_) => {}
                }
            }
            if let Standing::ViolatedAt(witness) | Standing::Violated(witness) = cell.standing {
                prop_assert!(!holds_at(&text, &names, &map.witnesses[witness].values, 2));
            }
        }
        let undecided = map.share(|standing| matches!(standing, Standing::Open(_)));
        prop_assert!(undecided < 0.5, "{undecided}");
    }
}
