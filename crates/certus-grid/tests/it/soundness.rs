//! What is said of a cell is true of every state in it: atoms, actions and successors of samples.

use std::path::PathBuf;

use certus_graph::eval::evaluate;
use certus_grid::expand::Expander;
use certus_grid::extract::{ExtractOptions, Extraction};
use certus_grid::grid::{Cell, DEPTH, Grid};
use certus_grid::possible_errors::PossibleErrors;
use certus_grid::transition_relation::TransitionRelation;
use certus_grid::{Options, Policy, check};
use certus_lang::system::{AtomId, Output, System};
use certus_lang::{FileNetworks, LowerOptions, load_file, load_str};
use certus_numerics::Random;
use certus_solver::Budget;
use proptest::prelude::*;

fn zoo(name: &str) -> System {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
    load_file(path, &LowerOptions::default()).unwrap()
}

/// A run that ends, with atoms about what is chosen there, a number that never changes, and a window over the past.
const ENDING: &str = "system ending\nstate x in [0, 2]\nstate m in [0, 1]\nstate past[2] in [0, 2]\n\
    action a = argmax([1.5 - x, x - 1.5]) of { left, right }\nchance c of { slow: 0.5, fast: 0.5 }\n\
    next x = x + match c { slow: 0.01, fast: 0.02 } * m\nnext m = m\nnext past = shift(past, x)\n\
    init x in [1.3, 1.6] & m in [0.2, 0.9] & all(past in [0, 0.1])\nterminal x > 1.45\n\
    property left_at_end = G (x > 1.45 -> a == left)\nproperty slow_at_end = F (c == slow)\n";

/// A policy that changes much within a cell, and a state that shows it.
const STEEP: &str = "system steep\nstate x in [-2, 2]\nstate y in [-2, 2]\nstate shown in [-500, 500]\n\
    policy u = 40 * net(\"b1.onnx\", x, y)\naction a = argmax([u, -u]) of { left, right }\nnext x = x\nnext y = y\n\
    next shown = u\ninit x in [0.8, 0.9] & y in [0.5, 0.6] & shown in [0, 0]\nproperty small = G shown <= 1\n\
    property left = G a == left\n";

fn written(text: &str) -> System {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../zoo/b1");
    load_str(text, &mut FileNetworks::new(folder), &LowerOptions::default()).unwrap()
}

/// Systems with the widths of their cells.
fn systems() -> Vec<(System, Vec<f64>)> {
    vec![
        (zoo("mountain_car"), vec![0.01, 0.002]),
        (zoo("gym_pendulum"), vec![0.02, 0.1]),
        (zoo("b1"), vec![0.05, 0.05]),
        (zoo("b2"), vec![0.01, 0.02]),
        (zoo("ball"), vec![0.3, 0.5]),
        (zoo("lanekeeping"), vec![0.05; 4]),
        // Narrow enough for whole blocks to be bounded together.
        (zoo("mountain_car"), vec![0.0005, 0.0001]),
        (zoo("b1"), vec![0.001, 0.001]),
        (zoo("b2"), vec![0.001, 0.001]),
        (zoo("lanekeeping"), vec![0.002; 4]),
        (written(ENDING), vec![0.02; 4]),
    ]
}

/// What can be at each of a few states of a cell.
fn check_cell(
    system: &System,
    widths: &[f64],
    shares: &[f64],
    (halvings, coarsening): (&[u32], u32),
    extracted: bool,
    seed: u64,
) {
    let grid = Grid::coarsened(system, widths, &vec![coarsening; widths.len()]).unwrap();
    let atoms: Vec<AtomId> = (0..system.atoms.len()).map(AtomId).collect();
    let relation = TransitionRelation::new(system, &atoms, extracted).unwrap();
    // The step in one piece says what samples do.
    let truths = system.roles.atoms.iter().chain(&system.roles.assume);
    let wanted: Vec<Output> = truths.map(|own| own.truth).collect();
    let whole = TransitionRelation::with(system, &wanted, extracted).unwrap();
    let extraction = || Extraction::new(system, &relation, ExtractOptions::default()).unwrap();
    let expander = Expander::new(system, &grid, &relation, &atoms, extracted.then(extraction)).unwrap();
    let axes = grid.axes.len();
    // A cell near the initial states, where systems are at home.
    let centre = (0..axes).map(|axis| {
        let (low, high) = (system.init_box.0[axis], system.init_box.1[axis]);
        let reach = 20.0 * widths[axis];
        (low - reach + (high - low + 2.0 * reach) * shares[axis]).clamp(grid.axes[axis].lower, grid.axes[axis].upper)
    });
    let centre: Vec<f64> = centre.collect();
    let places: Vec<u64> = (0..axes)
        .map(|axis| grid.axes[axis].place(centre[axis]) >> (DEPTH - halvings[axis]) << (DEPTH - halvings[axis]))
        .collect();
    let cell = Cell { places, levels: halvings[..axes].to_vec() };
    let mut key = vec![0; grid.words()];
    grid.pack(&cell.places, &cell.levels, &mut key);
    let expansion = expander.expand(&key).unwrap();
    let own = extraction();
    let mut random = Random::new(seed, 7);
    for _ in 0..12 {
        let state: Vec<f64> = (0..axes)
            .map(|axis| {
                let (low, high) = grid.ends(&key, axis);
                random.between(low, high)
            })
            .collect();
        // In a wide cell each state has an action of its own.
        let given = extracted.then(|| {
            let whole = grid.requested_cell(if grid.is_wide(&key) { &state } else { &centre });
            own.actions(&grid, &[whole]).unwrap().remove(0)
        });
        let mut values: Vec<f64> = state.clone();
        let inputs = system.inputs.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        values.extend(inputs.map(|(&low, &high)| random.between(low, high)));
        // Which transition is made there.
        let mut arguments: Vec<Vec<f64>> = Vec::new();
        let mut rest = values.as_slice();
        for variable in system.states.iter().chain(&system.inputs) {
            let (own, after) = rest.split_at(variable.len);
            arguments.push(own.to_vec());
            rest = after;
        }
        let one_hots: Vec<Vec<f64>> = relation.policy.inputs()[arguments.len()..]
            .iter()
            .map(|port| {
                let labels = relation.policy.elements(port.node);
                let chosen = (random.bits() % labels as u64) as usize;
                (0..labels).map(|label| f64::from(u8::from(label == chosen))).collect()
            })
            .collect();
        let all: Vec<&[f64]> = arguments.iter().chain(&one_hots).map(Vec::as_slice).collect();
        let network = evaluate(&relation.policy, &all).unwrap();
        let policies = system.policies.len();
        let mut chosen = one_hots.iter().map(|own| own.iter().position(|&value| value != 0.0).unwrap());
        let mut largest = network[policies..].iter().map(|own| own.iter().position(|&value| value != 0.0).unwrap());
        let mut extracted_labels = given.iter().flat_map(|given| given.labels.iter().copied());
        let labels: Vec<usize> = relation
            .choices
            .iter()
            .map(|choice| match choice {
                certus_grid::transition_relation::Choice::Argmax(_) if extracted => extracted_labels.next().unwrap(),
                certus_grid::transition_relation::Choice::Argmax(_) => largest.next().unwrap(),
                _ => chosen.next().unwrap(),
            })
            .collect();
        let Some(own) = whole.transitions.iter().find(|own| own.labels == labels) else { continue };
        if let Some(given) = &given {
            let mut rest = given.outputs.as_slice();
            for policy in &system.policies {
                let (own, after) = rest.split_at(policy.len);
                arguments.push(own.to_vec());
                rest = after;
            }
        }
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        let made = evaluate(&own.step, &slices).unwrap();
        let next: Vec<f64> = made[..system.states.len()].concat();
        let truths = expansion.truths[0];
        for atom in 0..atoms.len() {
            let holds = made[system.states.len() + atom][0] != 0.0;
            let said = (truths.yes >> atom & 1 == 1, truths.no >> atom & 1 == 1);
            assert!(said != (!holds, holds), "{}: atom {atom} at {state:?} is {holds}", system.name);
        }
        let allowed = system.roles.assume.is_none() || made[made.len() - 1][0] != 0.0;
        let inside = next.iter().zip(&grid.axes).all(|(value, axis)| axis.lower <= *value && *value <= axis.upper);
        if !allowed || !inside {
            assert!(expansion.errors[0] != PossibleErrors::default(), "{}: a run ends at {state:?}", system.name);
            continue;
        }
        let words = grid.words();
        let contained = expansion.images.chunks_exact(2 * words).zip(&expansion.box_truths).any(|(corners, truths)| {
            let may_be = |atom: usize| match made[system.states.len() + atom][0] != 0.0 {
                true => truths.no >> atom & 1 == 0,
                false => truths.yes >> atom & 1 == 0,
            };
            (0..atoms.len()).all(may_be)
                && (0..axes).all(|axis| {
                    let place = grid.axes[axis].place(next[axis]);
                    let (low, high) = (grid.unpack(&corners[..words], axis).0, grid.unpack(&corners[words..], axis).0);
                    // The samples themselves are rounded, by less than a fine place.
                    low <= place + 1 && place <= high + 1
                })
        });
        assert!(contained, "{}: {state:?} goes to {next:?}", system.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn samples_do_what_their_cell_says(
        which in 0usize..11,
        shares in prop::array::uniform4(0.0..1.0f64),
        halvings in prop_oneof![(0u32..4).prop_map(|all| [all; 4]), prop::array::uniform4(0u32..8)],
        coarsening in 0u32..6,
        extracted in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let (system, widths) = systems().swap_remove(which);
        check_cell(&system, &widths, &shares, (&halvings, coarsening), extracted, seed);
    }
}

proptest! {
    #[test]
    fn cells_wide_one_way_and_narrow_another_have_the_actions_of_whole_cells(
        shares in prop::array::uniform4(0.0..1.0f64),
        halvings in prop::array::uniform4(0u32..8),
        extracted in any::<bool>(),
        seed in any::<u64>(),
    ) {
        check_cell(&written(STEEP), &[0.1, 0.1, 0.01], &shares, (&halvings, 3), extracted, seed);
    }
}

#[test]
fn an_extracted_policy_does_not_depend_on_who_asks_when() {
    let system = zoo("mountain_car");
    let grid = Grid::new(&system, &[0.01, 0.002]).unwrap();
    let relation = TransitionRelation::new(&system, &[], true).unwrap();
    let extraction = Extraction::new(&system, &relation, ExtractOptions::default()).unwrap();
    let states = (0..200).map(|place| [-1.19 + 0.008 * f64::from(place), -0.06 + 0.0006 * f64::from(place)]);
    let cells: Vec<Cell> = states.map(|state| grid.requested_cell(&state)).collect();
    let together = extraction.actions(&grid, &cells).unwrap();
    let apart: Vec<_> = cells
        .iter()
        .rev()
        .map(|cell| extraction.actions(&grid, std::slice::from_ref(cell)).unwrap().remove(0))
        .collect();
    assert_eq!(together, apart.into_iter().rev().collect::<Vec<_>>());
    // Labels change somewhere among these cells, and some cell takes more than the first five states.
    assert!(together.iter().any(|given| given.labels != together[0].labels));
    assert!(together.iter().any(|given| given.asked > 5));
}

#[test]
fn very_many_initial_cells_are_taken_together_first() {
    let system = zoo("b2");
    let property = system.property("at_goal_after_9").unwrap();
    for policy in [Policy::Network, Policy::Extracted(ExtractOptions::default())] {
        // 200 times 2000 initial cells.
        let options = Options { widths: vec![0.001, 0.0001], policy, ..Options::default() };
        let (outcome, report) = check(&system, property, &options, &Budget::default(), &mut |_| {}).unwrap();
        assert_eq!(outcome.verdict, certus_model::Verdict::Holds(certus_model::Scope::Horizon(9)), "{policy:?}");
        assert!(report.cells < 100_000, "{}", report.cells);
    }
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let system = zoo("b2");
    let property = system.property("reaches_goal").unwrap();
    for policy in [Policy::Network, Policy::Extracted(ExtractOptions::default())] {
        let options = Options { widths: vec![0.02], policy, ..Options::default() };
        let options = Options { widths: vec![options.widths[0]; 2], ..options };
        let results: Vec<_> = [1, 2]
            .into_iter()
            .map(|threads| {
                let budget = Budget { threads, ..Budget::default() };
                let (outcome, mut report) = check(&system, property, &options, &budget, &mut |_| {}).unwrap();
                (report.expanding, report.propagation) = (0.0, 0.0);
                (outcome, report)
            })
            .collect();
        assert_eq!(results[0], results[1]);
        assert!(results[0].1.cells > 500);
    }
}
