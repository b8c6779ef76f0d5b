//! What regions say contains what their points do, and bounds are exact where the answer is known.

use std::path::Path;

use certus_lang::{FileNetworks, LowerOptions, System, load_file, load_str};
use certus_numerics::Random;
use certus_prob::abstraction::{Abstraction, Expansion, Part, Refining, Task};
use certus_prob::engine::concrete::Following;
use certus_prob::template_polyhedron::{HitAndRun, Polyhedron, Template};
use certus_prob::{Budget, Domain, Method, Options, Outcome, can_check, check};

fn zoo(name: &str) -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
    load_file(path, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn inline(text: &str) -> System {
    let mut networks = FileNetworks::new(Path::new("."));
    load_str(text, &mut networks, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn task(system: &System) -> Task {
    let path = &system.properties[0].probability().expect("no probability").path;
    Task::of(system, path, None).unwrap()
}

/// Whether some part of a region accounts for a point: its moves contain the point's moves, in place and probability.
fn accounted(abstraction: &Abstraction, parts: &[Part], point: &[f64]) -> bool {
    let variables = vec![abstraction.with_middles(point)];
    let p = abstraction.sampled_probabilities(&variables).remove(0);
    let (next, ..) = abstraction.sampled_steps(&variables).remove(0);
    let tolerance = 1e-9;
    parts.iter().filter(|part| part.region.contains_point(point)).any(|part| {
        // Every move of the point goes to some successor; a successor's interval holds the moves that may be its own.
        let places: Vec<Vec<usize>> = next
            .iter()
            .map(|to| (0..part.moves.len()).filter(|&index| part.moves[index].to.contains_point(to)).collect())
            .collect();
        let led = places.iter().zip(&p).all(|(places, &p)| !places.is_empty() || p < tolerance);
        let within = (0..part.moves.len()).all(|index| {
            let certain: f64 = (0..p.len()).filter(|&m| places[m] == [index]).map(|m| p[m]).sum();
            let possible: f64 = (0..p.len()).filter(|&m| places[m].contains(&index)).map(|m| p[m]).sum();
            certain <= part.moves[index].hi + tolerance && possible >= part.moves[index].lo - tolerance
        });
        led && within
    })
}

#[test]
fn regions_account_for_their_points() {
    for (name, lower, upper, width) in [
        ("stopping_car", [0.5, 24.0], [12.0, 36.0], 1.0),
        ("ball", [0.0, -12.0], [10.0, 12.0], 1.5),
        ("pendulum_softmax", [-0.2, -1.5], [0.2, 1.5], 0.1),
    ] {
        let system = zoo(name);
        let own = Template::with(2, "own", &[vec![0.3, 1.0], vec![1.0, -0.7]]);
        for template in [Template::boxes(2), Template::octagons(2), own] {
            let abstraction = Abstraction::new(&system, &task(&system), template).unwrap();
            let mut random = Random::new(7, 7);
            let regions: Vec<Polyhedron> = (0..40)
                .map(|_| {
                    let low: Vec<f64> = (0..2).map(|i| random.between(lower[i], upper[i] - width)).collect();
                    let high: Vec<f64> = low.iter().map(|low| low + random.between(0.0, width)).collect();
                    let whole = Polyhedron::of_box(abstraction.template(), &low, &high);
                    let pair = (random.bits() % (whole.offsets().len() as u64 / 2)) as usize;
                    let place = whole.offsets()[2 * pair] - 0.4 * whole.width(pair);
                    whole.split(pair, place)[0].clone().unwrap_or(whole)
                })
                .collect();
            let refining = Refining { spread: 0.3, shortest: 0.2, samples: 20, seed: 3 };
            let mut seen = 0;
            for refining in [None, Some(refining)] {
                for (region, expansion) in regions.iter().zip(abstraction.expand(&regions, refining)) {
                    let mut walk = HitAndRun::new(region, Random::new(1, 9));
                    let points: Vec<Vec<f64>> = (0..30).map(|_| walk.point()).collect();
                    match expansion {
                        Expansion::Parts(parts) => {
                            seen += 1;
                            for point in &points {
                                assert!(accounted(&abstraction, &parts, point), "{name}: {region:?} at {point:?}");
                            }
                        }
                        Expansion::Goal => {}
                        Expansion::Failed(_) => panic!("{name}: {region:?} is in range"),
                    }
                    // What is not called the goal has no point of it.
                    if abstraction.classify(region).is_none() {
                        let variables: Vec<Vec<f64>> = points.iter().map(|x| abstraction.with_middles(x)).collect();
                        assert!(
                            abstraction.sampled_steps(&variables).iter().all(|(_, goal, _)| !goal),
                            "{name}: {region:?}"
                        );
                    }
                }
            }
            assert!(seen > 20, "{name}: only {seen} regions were expanded");
        }
    }
}

/// A plant with a sine, a product and a square, pushed at random.
const CURVED: &str = "system curved
chance c of { left: 0.5, right: 0.5 }
state x in [-4, 4]
state y in [-4, 4]
define push = match c { left: -0.1, right: 0.1 }
next x = x + 0.2 * sin(2 * x) + 0.1 * y
next y = 0.5 * y + 0.3 * x * y + 0.1 * x^2 + push
init x in [0, 1] & y in [0, 1]
property worst = Pmax=? [ F<=3 x >= 3 ]
";

proptest::proptest! {
    /// Pieces lose no point, and are nowhere wider than one linearisation.
    #[test]
    fn images_by_pieces_contain_samples_and_are_no_wider(
        (x, y) in (-2.0f64..1.0, -2.0f64..1.0),
        (width, height) in (0.0f64..1.5, 0.0f64..1.5),
        (pair, share) in (0usize..4, 0.2f64..0.8),
        pieces in 2usize..9,
        octagons in proptest::bool::ANY,
        seed in 0u64..1000,
    ) {
        let system = inline(CURVED);
        let template = if octagons { Template::octagons(2) } else { Template::boxes(2) };
        let of = |pieces: usize| {
            Abstraction::new(&system, &task(&system), template.clone()).unwrap().with_pieces(pieces)
        };
        let (one, many) = (of(1), of(pieces));
        let region = Polyhedron::of_box(one.template(), &[x, y], &[x + width, y + height]);
        let pair = pair % (region.offsets().len() / 2);
        let place = region.offsets()[2 * pair] - share * region.width(pair);
        let region = region.split(pair, place)[0].clone().unwrap_or(region);
        let parts = |own: &Abstraction| match own.expand(std::slice::from_ref(&region), None).remove(0) {
            Expansion::Parts(parts) => parts,
            other => panic!("{other:?}"),
        };
        let (whole, cut) = (parts(&one), parts(&many));
        proptest::prop_assert_eq!(whole.len(), cut.len());
        for (whole, cut) in whole.iter().zip(&cut) {
            for (whole, cut) in whole.moves.iter().zip(&cut.moves) {
                proptest::prop_assert!(whole.to.contains(&cut.to), "{:?} {:?}", whole, cut);
            }
        }
        let mut walk = HitAndRun::new(&region, Random::new(seed, 3));
        for _ in 0..30 {
            let point = walk.point();
            proptest::prop_assert!(accounted(&many, &cut, &point), "{:?}", point);
        }
    }
}

/// Where the plant is strongly curved over a region, pieces take most of what is too wide away.
#[test]
fn pieces_make_images_of_curved_plants_tighter() {
    let system = inline(CURVED);
    let widths = |pieces: usize| {
        let own = Abstraction::new(&system, &task(&system), Template::boxes(2)).unwrap().with_pieces(pieces);
        let region = Polyhedron::of_box(own.template(), &[0.0, 0.0], &[1.5, 1.0]);
        match own.expand(&[region], None).remove(0) {
            Expansion::Parts(parts) => [parts[0].moves[0].to.width(0), parts[0].moves[0].to.width(1)],
            other => panic!("{other:?}"),
        }
    };
    // What the next state really spans: x from 0 to 1.63, y from −0.1 to 1.075.
    let (one, two, eight) = (widths(1), widths(2), widths(8));
    assert!(one[0] > eight[0] + 0.1 || one[1] > eight[1] + 0.1, "{one:?} {eight:?}");
    assert!(
        two[0] <= one[0] && two[1] <= one[1] && eight[0] <= two[0] && eight[1] <= two[1],
        "{one:?} {two:?} {eight:?}"
    );
    assert!((1.62..1.75).contains(&eight[0]) && (1.17..1.4).contains(&eight[1]), "{eight:?}");
}

fn outcome(system: &System, property: usize, options: &Options) -> Outcome {
    let budget = Budget { threads: 1, ..Budget::default() };
    check(system, &system.properties[property], options, &budget, &mut |_| {}).unwrap()
}

const SLIPS: &str = "system slips
chance c of { ok: 0.9, slip: 0.1 }
state x in [0, 20]
next x = match c { ok: x, slip: x + 1 }
init x in [0, 0.75]
property worst = Pmax=? [ F<=6 x >= 2 ]
property rare = P<=0.2 [ F<=6 x >= 2 ]
property never = P<0.001 [ F<=6 x >= 2 ]
property safe = P>=0.8 [ G<=6 x < 2 ]
property until = Pmax=? [ x < 1 U<=3 x >= 1 ]
property late = Pmax=? [ F[1, 6] x >= 2 ]
property slipping = Pmax=? [ F<=3 c == slip ]
property ever = Pmax=? [ F x >= 2 ]
";

/// At least two slips in six steps.
fn two_of_six() -> f64 {
    1.0 - 0.9f64.powi(6) - 6.0 * 0.1 * 0.9f64.powi(5)
}

#[test]
fn chance_variables_give_exact_probabilities_by_every_method() {
    let system = inline(SLIPS);
    let methods = [
        Method::Automatic,
        Method::Unfold { containment: false },
        Method::Unfold { containment: true },
        Method::Search { containment: false },
        Method::Partition,
    ];
    for method in methods {
        let found = outcome(&system, 0, &Options { method, gap: 1e-9, share: 0.0, ..Options::default() });
        let exact = two_of_six();
        assert!(found.lower <= exact + 1e-12 && exact <= found.upper + 1e-12, "{method:?}: {found:?}");
        assert!(found.upper - found.lower < 1e-9 && found.narrow, "{method:?}: {found:?}");
    }
    let options = Options::default();
    assert_eq!(outcome(&system, 1, &options).holds, Some(true));
    let refuted = outcome(&system, 2, &options);
    assert!(refuted.holds == Some(false) && refuted.start.is_some());
    let safe = outcome(&system, 3, &options);
    assert!(
        safe.holds == Some(true)
            && safe.lower <= 1.0 - two_of_six() + 1e-12
            && 1.0 - two_of_six() <= safe.upper + 1e-12
    );
    let until = outcome(&system, 4, &options);
    assert!((until.lower - (1.0 - 0.9f64.powi(3))).abs() < 1e-9, "{until:?}");
}

/// What may leave the declared range counts as reaching, by every method.
#[test]
fn leaving_the_range_counts_as_reaching() {
    let system = inline(
        "system leaves
chance c of { ok: 0.5, slip: 0.5 }
state x in [0, 2]
next x = match c { ok: x, slip: x + 1 }
init x in [0, 0.5]
property worst = Pmax=? [ F<=3 x >= 10 ]
",
    );
    for method in [Method::Unfold { containment: false }, Method::Search { containment: false }, Method::Partition] {
        let found = outcome(&system, 0, &Options { method, most: 500, ..Options::default() });
        // Two slips in three steps lead beyond 2 from 0.5.
        assert!(found.errors.range && (0.5..0.5 + 1e-9).contains(&found.upper), "{method:?}: {found:?}");
    }
}

#[test]
fn what_is_not_supported_is_said() {
    let system = inline(SLIPS);
    let why = |property: usize| can_check(&system, &system.properties[property], None).unwrap_err();
    assert!(why(5).contains("begins after the first step"), "{}", why(5));
    assert!(why(6).contains("refer to the state only"), "{}", why(6));
    let endless = Options { method: Method::Search { containment: false }, ..Options::default() };
    let refused = check(&system, &system.properties[7], &endless, &Budget::default(), &mut |_| {}).unwrap_err();
    assert!(refused.contains("only the partition"), "{refused}");
}

/// A choice by scores, with an input of the environment, which may know what chance did: the worst of both is found.
#[test]
fn deterministic_actions_and_inputs() {
    let system = inline(
        "system race
state x in [0, 30]
input push in [0, 0.5]
chance c of { fast: 0.5, slow: 0.5 }
action a = argmax(concat(x - 2.2, 2.2 - x)) of { brake, go }
next x = match a { brake: x, go: x + push + match c { fast: 1, slow: 0 } }
init x in [0, 0.9]
property worst = Pmax=? [ F<=2 x >= 2.75 ]
",
    );
    // Whatever the first step does, a fast second one is needed: from above 2.2, where a slow one would do, it brakes.
    for method in [Method::Search { containment: false }, Method::Partition] {
        let options = Options { method, gap: 0.01, spread: Some(0.4), shortest: 0.01, most: 300, ..Options::default() };
        let found = outcome(&system, 0, &options);
        assert!((0.5..0.51).contains(&found.upper), "{method:?}: {} {}", found.lower, found.upper);
        // Only constant inputs are tried for the lower end.
        assert!(found.lower <= 0.5 && found.error == Some(0.0), "{found:?}");
    }
}

/// The probability from random start states never exceeds the bound of the cell that they are in.
#[test]
fn sampled_start_states_stay_below_their_cells() {
    for (name, steps) in [("stopping_car", 8), ("pendulum_softmax", 4), ("ball", 8)] {
        let system = zoo(name);
        for (method, domain) in [
            (Method::Search { containment: false }, Domain::Octagon),
            (Method::Partition, Domain::Box),
            (Method::Unfold { containment: true }, Domain::Automatic),
        ] {
            let options = Options {
                method,
                domain: domain.clone(),
                steps: Some(steps),
                grid: 2,
                most: 800,
                ..Options::default()
            };
            let found = outcome(&system, 0, &options);
            assert!(found.lower <= found.upper);
            let boxes =
                Abstraction::new(&system, &Task { steps: Some(steps), ..task(&system) }, Template::boxes(2)).unwrap();
            let (lower, upper) = &system.init_box;
            let mut random = Random::new(5, 5);
            let starts: Vec<Vec<f64>> =
                (0..40).map(|_| (0..2).map(|i| random.between(lower[i], upper[i])).collect()).collect();
            for (start, value) in starts.iter().zip(certus_prob::engine::concrete::sampled(
                &boxes,
                &starts,
                Following { steps, behaviour: 0 },
                1e-9,
            )) {
                let own = found.cells.iter().filter(|cell| cell.region.contains_point(start));
                let bound = own.map(|cell| cell.upper).fold(f64::NEG_INFINITY, f64::max);
                assert!(value <= bound + 1e-9, "{name}, {domain:?}: {value} from {start:?}, but {bound}");
            }
        }
    }
}

/// Runs that are stepped together reach the goal as often as is right, and what can be concluded from them stays below the bounds of cells.
#[test]
fn simulated_start_states_stay_below_their_cells() {
    use certus_prob::engine::simulate::{confident_lower, simulated};
    let system = inline(SLIPS);
    let (steps, runs, risk) = (20, 3000, 1e-9);
    let exact = 1.0 - 0.9f64.powi(20) - 20.0 * 0.1 * 0.9f64.powi(19);
    let found = outcome(&system, 0, &Options { steps: Some(steps), method: Method::Partition, ..Options::default() });
    let boxes = Abstraction::new(&system, &Task { steps: Some(steps), ..task(&system) }, Template::boxes(1)).unwrap();
    let mut random = Random::new(6, 1);
    for _ in 0..20 {
        let start = vec![random.between(0.0, 0.75)];
        let reached = simulated(&boxes, &start, steps, runs, &mut random);
        let least = confident_lower(reached, runs, risk);
        let most = 1.0 - confident_lower(runs - reached, runs, risk);
        assert!(least <= exact && exact <= most && most - least < 0.15, "{start:?}: {exact}, but {reached} of {runs}");
        let own = found.cells.iter().filter(|cell| cell.region.contains_point(&start));
        let bound = own.map(|cell| cell.upper).fold(f64::NEG_INFINITY, f64::max);
        assert!(least <= bound && bound < 0.7, "{start:?}: {reached} of {runs}, but {bound}");
    }
}

/// Where the probability jumps at a thin part of the start states, the cells lead to it.
#[test]
fn thin_parts_with_a_large_probability_are_found() {
    let system = inline(
        "system needle
chance c of { hit: 0.5, miss: 0.5 }
state x in [-1, 5]
define thin = x in [0.70312, 0.70313]
next x = if thin then match c { hit: 3, miss: 0 } else 0
init x in [0, 1]
property worst = Pmax=? [ F<=2 x >= 2.5 ]
property rare = P<=0.4 [ F<=2 x >= 2.5 ]
",
    );
    let found = outcome(&system, 0, &Options { method: Method::Search { containment: false }, ..Options::default() });
    assert!(found.narrow && (found.lower - 0.5).abs() < 1e-9, "{} {}", found.lower, found.upper);
    assert!(found.start.is_some_and(|start| (0.70312..=0.70313).contains(&start[0])));
    assert_eq!(outcome(&system, 1, &Options::default()).holds, Some(false));
}

/// The worst start state is one point, on the edge of the goal: in the reals 0.3 + 3 · 0.1 exceeds 0.6, all of them the nearest doubles, by 3e-17,
/// which no interval between doubles can tell.
#[test]
fn a_worst_case_on_the_edge_of_the_goal_is_confirmed() {
    let system = inline(
        "system edge
chance c of { go: 0.5, wait: 0.5 }
state x in [-1, 2]
next x = match c { go: x + 0.1, wait: x }
init x in [0, 0.3]
property worst = Pmax=? [ F<=3 x >= 0.6 ]
",
    );
    for method in [Method::Search { containment: false }, Method::Partition] {
        let found = outcome(&system, 0, &Options { method, gap: 1e-6, ..Options::default() });
        assert!(found.narrow && found.start == Some(vec![0.3]), "{method:?}: {} {}", found.lower, found.upper);
        assert!((found.lower - 0.125).abs() < 1e-9 && found.upper >= 0.125 - 1e-12, "{} {}", found.lower, found.upper);
    }
}

#[test]
fn the_same_seed_gives_the_same_bounds_on_any_number_of_threads() {
    let system = zoo("stopping_car");
    let options =
        Options { domain: Domain::Automatic, spread: Some(0.4), most: 600, steps: Some(5), ..Options::default() };
    let of = |threads: usize| {
        let budget = Budget { threads, ..Budget::default() };
        let found = check(&system, &system.properties[0], &options, &budget, &mut |_| {}).unwrap();
        (found.lower, found.upper, found.regions)
    };
    assert_eq!(of(1), of(3));
}
