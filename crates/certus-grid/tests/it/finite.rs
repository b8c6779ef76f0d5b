//! On systems with finitely many states, written as continuous ones, the engine agrees with a search of the finite graph.

use certus_automata::{emptiness, explicit, formula, graph, parse, system, translate};
use certus_grid::counterexample::path_by_rounds;
use certus_grid::expand::Expander;
use certus_grid::extract::ExtractOptions;
use certus_grid::grid::Grid;
use certus_grid::product::Product;
use certus_grid::transition_relation::TransitionRelation;
use certus_grid::violation_automaton::ViolationAutomaton;
use certus_grid::{Options, Policy, check};
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::Verdict;
use certus_solver::Budget;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const FORMULAS: &[&str] = &[
    "G p",
    "F p",
    "G (p -> F q)",
    "F G p",
    "G F p",
    "p U q",
    "p W q",
    "X X q",
    "F[0,3] p",
    "G[1,2] p",
    "(G F p) -> (G F q)",
    "G (p -> X q)",
    "F (p & X q)",
];

/// A state `x` near an integer; two tables of successors between which chance chooses.
fn source(tables: &[Vec<usize>; 2], atoms: &[Vec<bool>; 2], formula: &str) -> String {
    let states = tables[0].len();
    let lookup = |table: &[usize]| {
        let last = table[states - 1].to_string();
        (0..states - 1).rev().fold(last, |rest, state| format!("if x < {state}.5 then {} else ({rest})", table[state]))
    };
    let members = |own: &[bool]| {
        let near = (0..states).filter(|&state| own[state]).map(|state| format!("abs(x - {state}) < 0.3"));
        let near: Vec<String> = near.collect();
        if near.is_empty() { "x < -5".to_owned() } else { near.join(" | ") }
    };
    format!(
        "system finite\nstate x in [-0.5, {states}.5]\nchance c of {{ one: 0.5, other: 0.5 }}\n\
         next x = match c {{ one: ({}), other: ({}) }}\ninit x in [-0.09, 0.09]\n\
         define p = {}\ndefine q = {}\nproperty wish = {formula}\n",
        lookup(&tables[0]),
        lookup(&tables[1]),
        members(&atoms[0]),
        members(&atoms[1]),
    )
}

/// Whether every run of the finite graph satisfies the formula.
fn holds(tables: &[Vec<usize>; 2], atoms: &[Vec<bool>; 2], text: &str) -> bool {
    let mut file = "system 1\natoms p q\ninitial 0\n".to_owned();
    for state in 0..tables[0].len() {
        let names: Vec<&str> =
            ["p", "q"].iter().zip(atoms).filter(|(_, own)| own[state]).map(|(name, _)| *name).collect();
        file += &format!("state {state} {} -> {} {}\n", names.join(" "), tables[0][state], tables[1][state]);
    }
    let mut graph = explicit::Explicit::read(&file).unwrap();
    let (mut store, mut names) = (formula::Formulas::new(), formula::Names(vec!["p".to_owned(), "q".to_owned()]));
    let wish = parse::parse(text, &mut store, &mut names).unwrap();
    let violation = store.not(wish);
    let automaton = translate::translate(&mut store, violation, &names, &translate::Options::default()).unwrap();
    let mut product = system::Product::new(&mut graph, automaton);
    emptiness::emptiness(&mut product, &mut graph::never).is_empty()
}

fn tables() -> impl Strategy<Value = ([Vec<usize>; 2], [Vec<bool>; 2])> {
    (2usize..6).prop_flat_map(|states| {
        let table = prop::collection::vec(0..states, states);
        let atom = prop::collection::vec(any::<bool>(), states);
        ([table.clone(), table], [atom.clone(), atom])
    })
}

proptest! {
    // The same cases everywhere: whoever wants others sets another seed here.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(18), failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn verdicts_are_those_of_the_finite_graph((tables, atoms) in tables(), which in 0..FORMULAS.len()) {
        let text = source(&tables, &atoms, FORMULAS[which]);
        let system = load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
        let options = Options { widths: vec![0.18], refinements: Some(0), ..Options::default() };
        let (outcome, report) = check(&system, &system.properties[0], &options, &Budget::default(), &mut |_| {}).unwrap();
        let expected = holds(&tables, &atoms, FORMULAS[which]);
        let found = matches!(outcome.verdict, Verdict::Holds(_));
        prop_assert_eq!(found, expected, "{} {:?}\n{}", FORMULAS[which], outcome.verdict, text);
        // A violation is a run that was replayed; here no counterexample is spurious.
        let violated = matches!(outcome.verdict, Verdict::Violated(_));
        prop_assert_eq!(violated, !expected, "{} {:?}\n{}", FORMULAS[which], outcome.verdict, text);
        prop_assert!(report.refinements == 0);
    }
}

#[test]
fn a_cell_across_the_border_of_the_terminal_states_does_not_hold_a_run_up() {
    // Cells begin at 0, so one of them lies across 1: a hull of staying there and going on would stay there for ever.
    let file = "system climb\nstate x in [0, 3]\nnext x = x + 0.3\ninit x in [0, 0.04]\n\
                define up = x > 1\nterminal up\nproperty arrives = F up\n";
    let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    for width in [0.07, 0.2] {
        let options = Options { widths: vec![width], refinements: Some(0), ..Options::default() };
        let property = system.property("arrives").unwrap();
        let (outcome, _) = check(&system, property, &options, &Budget::default(), &mut |_| {}).unwrap();
        assert!(matches!(outcome.verdict, Verdict::Holds(_)), "width {width}: {:?}", outcome.verdict);
    }
}

#[test]
fn what_is_chosen_where_a_run_has_ended_is_what_the_policy_chooses_there() {
    let file = "system ending\nstate x in [0, 2]\nstate m in [0, 1]\n\
                action a = argmax([1.2 - x, x - 1.2]) of { left, right }\nnext x = x + 0.1\nnext m = m\n\
                init x in [0, 0.1] & m in [0.2, 0.3]\nterminal x > 1.5\n\
                property ends_right = F (x > 1.5 & a == right)\nproperty never_ends_left = G (x > 1.5 -> a == right)\n\
                property stays = G x <= 1.65\nproperty constant = G m <= 0.35\n";
    let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    for property in &system.properties {
        let options = Options { refinements: Some(0), ..Options::default() };
        let (outcome, _) = check(&system, property, &options, &Budget::default(), &mut |_| {}).unwrap();
        assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{}: {:?}", property.name, outcome.verdict);
    }
}

#[test]
fn as_many_moves_as_there_can_be_are_all_made() {
    // Sixty-four ways to go on and as many to have ended, in a cell across the border of the terminal states.
    let chances: String = (0..6).map(|place| format!("chance c{place} of {{ ok: 0.5, bad: 0.5 }}\n")).collect();
    let file = format!(
        "system many\nstate x in [0, 10]\n{chances}next x = x + match c5 {{ ok: 1, bad: 2 }}\ninit x in [1, 2]\n\
         terminal x > 1.55\nproperty ends_well = G !(x > 1.55 & c0 == bad)\nproperty stays = G x < 3.5\n"
    );
    let system = load_str(&file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    for property in &system.properties {
        let options = Options { widths: vec![1.0], refinements: Some(0), ..Options::default() };
        let (outcome, _) = check(&system, property, &options, &Budget::default(), &mut |_| {}).unwrap();
        assert!(!matches!(outcome.verdict, Verdict::Holds(_)), "{}: {:?}", property.name, outcome.verdict);
    }
}

#[test]
fn cells_on_the_way_to_an_abstract_loop_are_halved_too() {
    // The first cell is across a border: from one side of it runs leave, which no halving of the loop itself excludes.
    let file = "system way\nstate x in [0, 6]\nnext x = if x < 0.5 then 1 else (if x < 2.5 then 5 else 3)\ninit x == 0\n\
                define far = x > 4\nproperty arrives = F far\n";
    let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    for (refinements, expected) in [(Some(0), false), (None, true)] {
        let options = Options { widths: vec![3.5], refinements, ..Options::default() };
        let (outcome, _) = check(&system, &system.properties[0], &options, &Budget::default(), &mut |_| {}).unwrap();
        assert_eq!(matches!(outcome.verdict, Verdict::Holds(_)), expected, "{:?}", outcome.verdict);
    }
}

#[test]
fn what_does_not_matter_is_left_out_of_the_grid_and_kept_in_runs() {
    // The cost has no range, which no grid could be over.
    let file = "system costly\nstate cost\nstate x in [-2, 2]\npolicy u = 0.3 * net(\"b1.onnx\", x, x)\n\
                next cost = cost + abs(x) + 1\nnext x = x / 2 + 0.01 * u\ninit x in [1.3, 1.4] & cost in [5, 6]\n\
                property settles = F G x < 0.5\nproperty stays_far = G x > 1\nproperty cheap = G cost < 10\n";
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo/b1");
    let system = load_str(file, &mut FileNetworks::new(folder), &LowerOptions::default()).unwrap();
    for policy in [Policy::Network, Policy::Extracted(ExtractOptions::default())] {
        let asked = |name: &str| {
            let options = Options { widths: vec![1.0, 0.02], policy, ..Options::default() };
            check(&system, system.property(name).unwrap(), &options, &Budget::default(), &mut |_| {})
        };
        let (outcome, report) = asked("settles").unwrap();
        assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{policy:?}: {:?}", outcome.verdict);
        assert_eq!((report.names.as_slice(), report.widths.as_slice()), (&["x".to_owned()][..], &[0.02][..]));
        let (outcome, _) = asked("stays_far").unwrap();
        let Verdict::Violated(run) = outcome.verdict else { panic!("{policy:?}: {:?}", outcome.verdict) };
        // The run is one of the whole system: costs add up.
        assert!(run.states.len() > 1 && (5.0..=6.0).contains(&run.states[0][0]));
        assert!(run.states.windows(2).all(|pair| pair[1][0] == pair[0][0] + pair[0][1].abs() + 1.0));
        assert!(asked("cheap").is_err());
    }
}

#[test]
fn a_way_by_rounds_leads_from_an_initial_cell_step_by_step() {
    let file = "system turning\nstate x in [-2, 2]\nstate y in [-2, 2]\nnext x = 0.9 * x - 0.3 * y\nnext y = 0.3 * x + 0.9 * y\n\
                init x in [0.9, 1] & y in [0.1, 0.2]\nproperty near = G x < 1.9\n";
    let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    let formula = system.properties[0].over_runs().unwrap();
    let violations = ViolationAutomaton::new(&system, formula).unwrap();
    let grid = Grid::new(&system, &[0.04, 0.03]).unwrap();
    let relation = TransitionRelation::new(&system, &violations.atoms, false).unwrap();
    let expander = Expander::new(&system, &grid, &relation, &violations.atoms, None).unwrap();
    let mut product = Product::new(&system, &grid, violations);
    product.explore(&expander, &Budget::default(), &mut |_, _| {}).unwrap();
    assert!(product.layers.len() > 10 && product.cells.len() > 500);
    for goal in (0..product.cells.len() as u32).step_by(37) {
        let way = path_by_rounds(&product, goal);
        assert_eq!((way.len(), way.last()), (product.round(goal).unwrap() + 1, Some(&goal)));
        for pair in way.windows(2) {
            let mut follows = false;
            product.cells.each_successor(&grid, pair[0], &mut |cell| follows |= cell == pair[1]);
            assert!(follows, "{pair:?} on the way to {goal}");
        }
    }
}

#[test]
fn a_box_of_more_cells_than_fit_is_not_listed() {
    let file = "system wide\nstate x[6] in [-1, 1]\ninput e[6] in [-1, 1]\nnext x = e\ninit all(x in [0, 0])\n\
                property small = G x[0] < 2\n";
    let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    let options = Options { widths: vec![0.001; 6], ..Options::default() };
    let property = system.property("small").unwrap();
    let (outcome, report) = check(&system, property, &options, &Budget::default(), &mut |_| {}).unwrap();
    assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{:?}", outcome.verdict);
    assert!(report.cells < 10, "{}", report.cells);
}
