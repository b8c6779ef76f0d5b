//! Tubes of small systems whose solutions are known.

use certus_engine::{Budget, Engine, Shared, Task, Turn, run_alone};
use certus_lang::system::System;
use certus_lang::{LowerOptions, load_str};
use certus_model::{Outcome, Scope, Verdict};
use certus_numerics::Random;
use certus_reach::{Flowpipe, Reach, Takes, flowpipe};

struct NoNetworks;

impl certus_lang::Networks for NoNetworks {
    fn load(&mut self, path: &str) -> Result<std::sync::Arc<certus_graph::Graph>, String> {
        Err(format!("there is no {path}"))
    }
}

fn system(text: &str) -> System {
    load_str(text, &mut NoNetworks, &LowerOptions::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn task<'t>(system: &'t System, name: &str) -> Task<'t> {
    let property = system.properties.iter().find(|own| own.name == name).unwrap();
    Task { system, property, steps: None, assume_no_model_errors: false }
}

fn check(system: &System, name: &str) -> Outcome {
    let budget = Budget { threads: 1, subproblems: 2_000, ..Budget::default() };
    run_alone(&Reach { takes: Takes::All }, &task(system, name), &budget, &mut |_| {}).unwrap().outcome
}

fn holds(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Holds(_))
}

const DECAY: &str = "system decay
state x in [-2, 2]
state held in [0, 1]
step 0.25 exact
der x = -x
next held = held
init x in [0.9, 1] & held == 0.5
property falls = G[0s, 1s] throughout(x > 0.33)
property too_much = G[0s, 1s] throughout(x > 0.34)
";

fn pipe(system: &System, name: &str) -> Flowpipe {
    flowpipe(&task(system, name), None, &Budget::default()).unwrap()
}

#[test]
fn a_flowpipe_follows_the_solutions() {
    let system = system(DECAY);
    let outcome = check(&system, "falls");
    assert!(holds(&outcome), "{:?} {:?}", outcome.verdict, outcome.notes);
    assert!(!holds(&check(&system, "too_much")));
    let found = pipe(&system, "falls");
    assert!(found.complete);
    let mut covered = 0;
    for slice in &found.slices {
        // In steps of a quarter of a second.
        let x = slice.bounds[0];
        let (from, to) = (slice.from * 0.25, slice.to * 0.25);
        let (low, high) = (0.9 * (-to).exp(), (-from).exp());
        assert!(x.lo <= low + 1e-12 && high - 1e-12 <= x.hi, "{slice:?}");
        assert!(low - x.lo < 5e-3 && x.hi - high < 5e-3, "{slice:?}");
        assert!(slice.bounds[1].lo == 0.5 && slice.bounds[1].hi == 0.5, "{slice:?}");
        covered += usize::from(slice.from < slice.to);
    }
    assert!(covered >= 16, "four parts of each of four periods: {covered}");
}

#[test]
fn what_starts_at_rest_moves() {
    let text = "system t\nstate a in [-9, 9]\nstate b in [-9, 9]\nstate c in [-9, 9]\nstate d in [-9, 9]\nstep 0.1 exact\n\
                der a = 1\nder b = a\nder c = 1\nder d = b * c\ninit a == 0 & b == 0 & c == 0 & d == 0\n\
                property small = G<=1s throughout(d <= 0.126)\n";
    // d is t⁴/8.
    assert!(holds(&check(&system(text), "small")));
}

#[test]
fn the_root_of_a_sum_of_squares_is_defined() {
    let text = "system t\nstate v in [-9, 9]\nstate w in [-9, 9]\nstep 1 exact\nder v = -v\nder w = -w\n\
                init v in [-1, 1] & w in [-1, 1]\nproperty slow = G<=5s throughout(sqrt(v^2 + w^2) <= 1.5)\n";
    assert!(holds(&check(&system(text), "slow")));
}

#[test]
fn a_loop_that_shrinks_is_shown_for_all_time() {
    let text = "system t\nstate x in [-4, 4]\nstate y in [-4, 4]\nnext x = 0.6 * x + 0.3 * y\nnext y = 0.6 * y - 0.3 * x + 0.01 * x^2\n\
                init x in [-1, 1] & y in [-1, 1]\nproperty near = G abs(x) < 2\nproperty settles = F G abs(x) < 0.5\n";
    let system = system(text);
    for name in ["near", "settles"] {
        assert_eq!(check(&system, name).verdict, Verdict::Holds(Scope::Unbounded), "{name}");
    }
}

#[test]
fn an_unknown_says_where_sets_grow() {
    let text =
        "system t\nstate x in [-1e6, 1e6]\nnext x = x^3 - x\ninit x in [-1.5, 1.5]\nproperty p = G<=6 abs(x) < 1\n";
    let outcome = check(&system(text), "p");
    assert!(matches!(outcome.verdict, Verdict::Unknown(_)));
    let notes = outcome.notes.join("\n");
    assert!(notes.contains("of the initial set") && notes.contains("depends most on the initial x"), "{notes}");
    assert!(notes.contains("the width of x at steps 0 is 3"), "{notes}");
}

#[test]
fn what_converges_slowly_is_enclosed_by_widening() {
    // The box around a late set does not return into itself: the set has still to move towards zero.
    let text = "system t\nstate x in [-4, 4]\nstate v in [-4, 4]\nnext x = x + 0.05 * v\nnext v = 0.9 * v - 0.02 * x\n\
                init x in [1, 2] & v in [-0.1, 0.1]\nproperty near = G x > -1\nproperty nearer = G x > 0.9\n";
    let system = system(text);
    assert_eq!(check(&system, "near").verdict, Verdict::Holds(Scope::Unbounded));
    assert!(!holds(&check(&system, "nearer")));
}

#[test]
fn runs_that_have_ended_stay_where_they_are() {
    let text = "system t\nstate x in [-5, 5]\ninput w in [0, 1]\nnext x = x - 0.3 - 0.01 * w\nterminal x <= 0\ninit x in [1, 2]\n\
                property above = G x > -0.4\nproperty too_high = G x > -0.2\nproperty ends = F G x <= 0\nproperty goes_on = G F x > 0\n\
                property never = F w > 2\nproperty later = (G x > 0) | F (x <= 0 & X G x > 0)\n";
    let system = system(text);
    for (name, expected) in
        [("above", true), ("too_high", false), ("ends", true), ("goes_on", false), ("never", false), ("later", false)]
    {
        let outcome = check(&system, name);
        assert_eq!(holds(&outcome), expected, "{name}: {:?} {:?}", outcome.verdict, outcome.notes);
    }
}

#[test]
fn only_allowed_choices_and_initial_states_count() {
    let text = "system t\nstate x in [0, 10]\ninput u in [0, 1]\nassume u > 0.5\nnext x = 0.5 * x + u\ninit x in [0, 1] & x + x < 1\n\
                property near = G x < 2.5\nproperty soon = F<=3 x > 0.75\nproperty at_first = x < 0.6\nproperty too_soon = F<=1 x > 0.55\n";
    let system = system(text);
    for (name, expected) in [("near", true), ("soon", true), ("at_first", true), ("too_soon", false)] {
        let outcome = check(&system, name);
        assert_eq!(holds(&outcome), expected, "{name}: {:?} {:?}", outcome.verdict, outcome.notes);
    }
    // Where x > 1 nothing is allowed: a deadlock.
    let text = "system t\nstate x in [0, 10]\ninput u in [0, 1]\nassume u > x\nnext x = 0.5 * x + u\ninit x in [0, 1]\nproperty p = G x < 9\n";
    assert!(!holds(&check(&self::system(text), "p")));
}

#[test]
fn pieces_share_what_holds_for_ever() {
    // x^2 < 1.9 is open on the whole set only near its ends; each piece comes to the same rest.
    let text = "system t\nstate x in [-4, 4]\nstate y in [-4, 4]\nnext x = 0.9 * x + 0.1 * y\nnext y = 0.9 * y - 0.1 * x\n\
                init x in [-1, 1] & y in [-1, 1]\nproperty p = G (x^2 + y^2 <= 2.01)\n";
    assert_eq!(check(&system(text), "p").verdict, Verdict::Holds(Scope::Unbounded));
}

#[test]
fn a_clock_that_a_branch_resets_stays_exact() {
    // The clock has one value in all of the set, or two where x decides; anything beside them would leave its range.
    let text = "system t\nstate x in [-4, 4]\nstate clock in [0, 5]\ninput w in [-0.1, 0.1]\nnext x = 0.7 * x + w\n\
                next clock = if clock >= 5 then 0 else clock + 1\ninit x in [-1, 1] & clock == 0\n\
                property early = G<=40 clock <= 5\nproperty resets = F[6, 6] clock <= 0\n";
    let system = system(text);
    for name in ["early", "resets"] {
        let outcome = check(&system, name);
        assert!(holds(&outcome), "{name}: {:?} {:?}", outcome.verdict, outcome.notes);
    }
}

#[test]
fn a_branch_that_is_open_lies_between_both() {
    // Taken apart, 5 - x and x would add up to more than either.
    let text = "system t\nstate x in [-4, 4]\nstate y in [0, 5]\ninput w in [-1, 1]\nnext x = x\n\
                next y = if w > 0 then 5 - x else x + 1\ninit x in [0, 4] & y == 0\n\
                property inside = G<=1 (y >= 0 & y <= 5)\nproperty outside = G<=1 y <= 4.9\n";
    let system = system(text);
    let outcome = check(&system, "inside");
    assert!(holds(&outcome), "{:?} {:?}", outcome.verdict, outcome.notes);
    assert!(!holds(&check(&system, "outside")));
}

#[test]
fn a_loop_that_switches_is_shown_by_boxes_of_its_modes() {
    // A valve that is locked for three steps after each switch: cases double with each switch, and meet again.
    let text = "system t\nstate level in [0, 100]\nstate timer in [0, 100]\nstate valve in [0, 1]\ninput inflow in [1, 2]\ninput outflow in [0, 1]\n\
                define wanted = if level < 50 then 1 else 0\ndefine chosen = if timer < 3 & wanted != valve then valve else wanted\n\
                next level = clamp(level + chosen * inflow - outflow, 0, 100)\nnext timer = if chosen != valve then 0 else min(timer + 1, 100)\n\
                next valve = chosen\ninit level in [45, 55] & timer in [0, 6] & valve == 0\n\
                property near = G level in [40, 60]\nproperty too_near = G level in [43, 60]\nproperty closes = G F valve == 0\n";
    let system = system(text);
    let budget = Budget { threads: 1, subproblems: 1 << 20, ..Budget::default() };
    for (name, expected) in [("near", true), ("too_near", false), ("closes", false)] {
        let budget = Budget { subproblems: if expected { budget.subproblems } else { 20_000 }, ..budget };
        let outcome =
            run_alone(&Reach { takes: Takes::All }, &task(&system, name), &budget, &mut |_| {}).unwrap().outcome;
        assert_eq!(holds(&outcome), expected, "{name}: {:?} {:?}", outcome.verdict, outcome.notes);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]
    /// What boxes of modes show of a loop that switches, no sampled run breaks.
    #[test]
    fn runs_of_a_loop_that_switches_do_what_is_shown_of_them(
        threshold in 45..=55u8, lock in 0..=3u8, low in 38..=46u8, high in 54..=62u8, seed in proptest::prelude::any::<u64>(),
    ) {
        let text = format!(
            "system t\nstate level in [0, 100]\nstate timer in [0, 100]\nstate valve in [0, 1]\ninput inflow in [1, 2]\ninput outflow in [0, 1]\n\
             define wanted = if level < {threshold} then 1 else 0\ndefine chosen = if timer < {lock} & wanted != valve then valve else wanted\n\
             next level = clamp(level + chosen * inflow - outflow, 0, 100)\nnext timer = if chosen != valve then 0 else min(timer + 1, 100)\n\
             next valve = chosen\ninit level in [49, 51] & timer in [0, 6] & valve == 0\nproperty near = G level in [{low}, {high}]\n"
        );
        let budget = Budget { threads: 1, subproblems: 1 << 15, ..Budget::default() };
        let system = system(&text);
        let outcome = run_alone(&Reach { takes: Takes::All }, &task(&system, "near"), &budget, &mut |_| {}).unwrap().outcome;
        let mut random = Random::new(seed, 0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for _ in 0..64 {
            let (mut level, mut timer, mut valve) = (49.0 + 2.0 * random.unit(), (7.0 * random.unit()).floor(), 0.0);
            // Runs at the ends of what the environment may choose go furthest.
            let greedy = random.unit() < 0.5;
            for _ in 0..200 {
                (least, most) = (f64::min(least, level), f64::max(most, level));
                let wanted = if level < f64::from(threshold) { 1.0 } else { 0.0 };
                let chosen = if timer < f64::from(lock) && wanted != valve { valve } else { wanted };
                let (inflow, outflow) = if greedy { (2.0, 1.0 - chosen) } else { (1.0 + random.unit(), random.unit()) };
                level = (level + chosen * inflow - outflow).clamp(0.0, 100.0);
                timer = if chosen != valve { 0.0 } else { f64::min(timer + 1.0, 100.0) };
                valve = chosen;
            }
        }
        let stays = f64::from(low) <= least && most <= f64::from(high);
        proptest::prop_assert!(stays || !holds(&outcome), "{least} to {most}: {:?}", outcome.verdict);
    }
}

/// Letters that read choices are about those that are allowed, and each part of what is assumed counts.
#[test]
fn letters_speak_of_allowed_choices() {
    let text = "system t\nstate x in [-4, 4]\ninput u in [0, 1]\ninput w in [0, 1]\nassume u > 0.5\nassume u + w <= 1\n\
                next x = 0.5 * x + 0.1 * u - 0.1 * w\ninit x in [0, 1]\nproperty chosen = G<=5 (u >= 0.49 & w <= 0.51)\n\
                property above = G<=5 next(x) >= -0.001\nproperty more = G<=5 u > 0.51\nproperty higher = G<=5 next(x) >= 0.01\n";
    let chosen = system(text);
    for (name, expected) in [("chosen", true), ("above", true), ("more", false), ("higher", false)] {
        assert_eq!(holds(&check(&chosen, name)), expected, "{name}");
    }
    assert!(!holds(&check(&system(&text.replace("assume u > 0.5\n", "")), "chosen")));
    // A part of the initial box: x + y is a conjunct beside four bounds.
    let text = "system t\nstate x in [-4, 4]\nstate y in [-4, 4]\nnext x = 0.9 * x\nnext y = 0.9 * y\n\
                init x in [0, 2] & y in [0, 2] & x + y <= 1\nproperty side = G<=5 x <= 1.01\n";
    let outcome = check(&system(text), "side");
    assert!(holds(&outcome) && outcome.notes.iter().any(|note| note.contains("one set")), "{:?}", outcome.notes);
    // A comparison with a choice tells cases apart; where no choice is allowed, none of them helps.
    let text = "system t\nstate x in [-9, 9]\ninput u in [0, 1]\nnext x = if u > x then 0.5 * x else 0.4 * x\n\
                assume (u >= 1 & x <= 0.4) | (u <= 0 & x >= 0.6)\ninit x in [0, 1]\nproperty p = G<=2 x <= 2\n";
    assert!(!holds(&check(&system(text), "p")));
    assert!(holds(&check(&system(&text.replace("x <= 0.4", "x <= 0.7").replace("x >= 0.6", "x >= 0.3")), "p")));
}

const SPLIT: &str = "system split
state x in [-4, 4]
state v in [-4, 4]
next x = x + 0.25 * v
next v = if x > 0 then v - 0.5 * x else v - 0.25 * x - 0.125 * v
init x in [0.5, 1.5] & v in [-0.5, 0.5]
property bounded = G<=12 abs(x) <= 3.5
property settles = F<=12 x < 0
";

/// A run of that system.
fn split_run(mut x: f64, mut v: f64, steps: usize) -> Vec<[f64; 2]> {
    let mut states = vec![[x, v]];
    for _ in 0..steps {
        let next = if x > 0.0 { v - 0.5 * x } else { v - 0.25 * x - 0.125 * v };
        (x, v) = (x + 0.25 * v, next);
        states.push([x, v]);
    }
    states
}

proptest::proptest! {
    #[test]
    fn every_run_is_in_a_box_at_each_step_that_is_covered(x in 0.5f64..=1.5, v in -0.5f64..=0.5, most in 1usize..200) {
        static PIPES: std::sync::OnceLock<Vec<Flowpipe>> = std::sync::OnceLock::new();
        let pipes = PIPES.get_or_init(|| {
            let own = system(SPLIT);
            ["bounded", "settles"].map(|name| pipe(&own, name)).into()
        });
        proptest::prop_assert_eq!(pipes[0].covered, 12);
        for own in pipes {
            let thinned = own.clone().thinned(most);
            proptest::prop_assert!(thinned.slices.len() <= own.slices.len().min(2 * most));
            for (step, state) in split_run(x, v, own.covered).into_iter().enumerate() {
                for pipe in [own, &thinned] {
                    let at = step as f64;
                    let inside = pipe.slices.iter().filter(|slice| slice.from <= at && at <= slice.to).any(|slice| {
                        // Runs of doubles are off by their rounding.
                        slice.bounds.iter().zip(state).all(|(range, value)| range.widen(1e-12).contains(value))
                    });
                    proptest::prop_assert!(inside, "{:?} at step {} of {}", state, step, own.covered);
                }
            }
        }
    }
}

#[test]
fn what_is_left_open_is_shared() {
    // From above 1 the state grows beyond 3, from elsewhere it shrinks.
    let system = system(
        "system apart\nstate x in [0, 4]\ninit x in [0, 2]\nnext x = if x > 1 then min(2 * x, 4) else 0.5 * x\nproperty p = G x <= 3\n",
    );
    let (engine, task) = (Reach { takes: Takes::All }, task(&system, "p"));
    let mut session = engine.start(&task).unwrap();
    let mut shared = Shared::default();
    let budget = Budget { threads: 1, subproblems: 2_000, ..Budget::default() };
    let turn = session.advance(&budget, &mut shared, &mut |_| {}).unwrap();
    assert!(matches!(turn, Turn::Open { .. }));
    let open = shared.open.unwrap();
    let is_open = |x: f64| open.iter().any(|own| own[0].contains(x));
    assert!((0..=100).all(|at| is_open(1.0 + f64::from(at) / 100.0 + 1e-9 * f64::from(u8::from(at == 0)))), "{open:?}");
    assert!((0..90).all(|at| !is_open(f64::from(at) / 100.0)), "{open:?}");
}

#[test]
fn a_box_around_reached_states_is_shared() {
    // The set turns and shrinks; the last atom is never true.
    let system = system(
        "system turn\nstate x in [-4, 4]\nstate y in [-4, 4]\ninit x in [0.9, 1] & y in [0.9, 1]\n\
         next x = 0.6 * x - 0.7 * y\nnext y = 0.7 * x + 0.6 * y\nproperty p = G (x <= 3 & y != 0.125)\n",
    );
    let (engine, task) = (Reach { takes: Takes::All }, task(&system, "p"));
    let mut session = engine.start(&task).unwrap();
    let mut shared = Shared::default();
    let budget = Budget { threads: 1, subproblems: 2_000, ..Budget::default() };
    assert!(matches!(session.advance(&budget, &mut shared, &mut |_| {}).unwrap(), Turn::Open { .. }));
    let reached = shared.reached.unwrap();
    assert!(reached.iter().all(|own| own.lo >= -2.0 && own.hi <= 2.0) && reached[0].contains(0.95), "{reached:?}");
}
