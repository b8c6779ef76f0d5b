//! Proofs by reachable sets: what is true is accepted, and nothing else, whatever the hints are.

use std::path::Path;

use certus_audit_reach::{Attempt, Branch, Checker, Invariant, Lasting, Reachable};
use certus_graph::Interval;
use certus_lang::system::System;
use certus_lang::{FileNetworks, LowerOptions, load_file, load_str};
use certus_obligations::Scope;

fn load(text: &str) -> System {
    load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn zoo(name: &str) -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo").join(name).join(format!("{name}.certus"));
    load_file(path, &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A claim that splits where the checker fails, at most so often.
fn claim(system: &System, property: &str, degree: usize, mut splits: usize) -> Result<Reachable, String> {
    let about = system.property(property).unwrap();
    let checker = Checker::new(system, about, degree, 6, true).map_err(|refused| refused.to_string())?;
    let mut open: Vec<Vec<Interval>> = checker.initial().iter().rev().cloned().collect();
    let mut tree = Vec::new();
    let mut known: Vec<Lasting> = Vec::new();
    while let Some(bounds) = open.pop() {
        match checker.attempt(&bounds, &known, &|| false) {
            Attempt::Shown(found) => {
                known.extend(found);
                tree.push(Branch::Leaf);
            }
            Attempt::Open { step, reason, .. } if splits == 0 => return Err(format!("{reason} at step {step}")),
            Attempt::Open { scores, .. } => {
                splits -= 1;
                let most = |place: &usize| scores[*place].max(1e-9) * bounds[*place].width();
                let element = (0..bounds.len()).max_by(|a, b| most(a).total_cmp(&most(b))).unwrap();
                let (mut below, mut above) = (bounds.clone(), bounds);
                let at = below[element].lo / 2.0 + below[element].hi / 2.0;
                (below[element].hi, above[element].lo) = (at, at);
                tree.push(Branch::Split { element, at });
                open.extend([above, below]);
            }
        }
    }
    let invariants = known.into_iter().map(|own| own.invariant).collect();
    Ok(Reachable { degree, order: 6, shows_no_errors: true, invariants, tree })
}

fn accepts(system: &System, property: &str, claim: &Reachable) -> Result<(Scope, usize), String> {
    let about = system.property(property).unwrap();
    let checked = Checker::accept(system, about, claim, &mut |_| {}).map_err(|refused| refused.to_string())?;
    Ok((checked.scope, checked.leaves))
}

fn holds(system: &System, property: &str, degree: usize, splits: usize) -> (Scope, Reachable) {
    let own = claim(system, property, degree, splits).unwrap_or_else(|reason| panic!("{property}: {reason}"));
    let (scope, leaves) = accepts(system, property, &own).unwrap_or_else(|reason| panic!("{property}: {reason}"));
    assert_eq!(leaves, own.leaves());
    (scope, own)
}

const LOOP: &str = "system loop\nstate x in [-4, 4]\nstate v in [-4, 4]\ninput w in [-0.01, 0.01]\n\
    define u = -1.2 * x - 1.5 * v\nnext x = x + 0.1 * v\nnext v = v + 0.1 * u + w\ninit x in [0.8, 1] & v in [-0.1, 0.1]\n\
    property near = G (x in [-0.6, 1.2] & v in [-1, 0.3])\nproperty nearer = G x <= 0.9\nproperty comes = F abs(x) < 0.3\n\
    property again = G F abs(x) < 0.3\nproperty soon = F<=3 x < 0.5\nproperty after = G<=40 (x < 0.5 -> next(x) < 0.6)\n";

const EXACT: &str = "system exact_loop\nstate x in [-4, 4]\nstate v in [-4, 4]\ninput w varying in [-0.02, 0.02]\n\
    define u = tanh(-2 * x - 2 * v)\nstep 0.2 exact\nder x = v\nder v = 2 * u + 0.3 * sin(x) + w\ninit x in [0.5, 0.6] & v in [-0.1, 0.1]\n\
    property at_end = F[20, 20] x in [-0.2, 0.2]\nproperty between = G<=2s throughout(x in [-0.3, 0.62])\n\
    property not_between = G<=2s throughout(x in [-0.3, 0.59])\nproperty slow = F[3, 3] x < -1\nproperty forever = G throughout(x < 0.9)\n";

#[test]
fn discrete_loops_are_proved_also_for_all_time() {
    let system = load(LOOP);
    assert_eq!(holds(&system, "near", 3, 20).0, Scope::AllTime);
    assert_eq!(holds(&system, "comes", 3, 20).0, Scope::AllTime);
    assert_eq!(holds(&system, "again", 3, 20).0, Scope::AllTime);
    assert_eq!(holds(&system, "after", 3, 20).0, Scope::Horizon(40));
    assert!(claim(&system, "nearer", 3, 30).is_err());
    assert!(claim(&system, "soon", 3, 30).is_err());
}

#[test]
fn differential_equations_are_integrated() {
    let system = load(EXACT);
    assert_eq!(holds(&system, "at_end", 3, 20).0, Scope::Horizon(20));
    assert_eq!(holds(&system, "between", 3, 20).0, Scope::Horizon(9));
    assert_eq!(holds(&system, "forever", 3, 20).0, Scope::AllTime);
    assert!(claim(&system, "not_between", 3, 30).is_err());
    assert!(claim(&system, "slow", 3, 30).is_err());
}

#[test]
fn networks_of_the_zoo_are_followed() {
    assert_eq!(holds(&zoo("tora_reach"), "reaches_goal", 3, 20).0, Scope::Horizon(10));
    assert_eq!(holds(&zoo("b1"), "reaches_goal", 4, 200).0, Scope::Horizon(35));
}

/// What the semantics asks for beside the letters.
#[test]
fn model_errors_count_as_long_as_the_property_is_open() {
    let with = |rest: &str| load(&format!("system t\nstate x in [0, 10]\n{rest}\ninit x in [0, 0.5]\n"));
    // The range is left at the fourth step: after `soon` is decided, before `stays` is.
    let leaves =
        with("next x = x + 3\nproperty soon = G<=2 x <= 10\nproperty stays = G<=6 x <= 15\nproperty near = F x >= 3");
    holds(&leaves, "soon", 2, 0);
    holds(&leaves, "near", 2, 0);
    assert!(claim(&leaves, "stays", 2, 10).unwrap_err().contains("successor"));
    // An atom that mentions a successor out of range has no value.
    let jumps = with("next x = x + 11\nproperty p = next(x) > 10\nproperty q = x < 1");
    assert!(claim(&jumps, "p", 2, 10).is_err());
    holds(&jumps, "q", 2, 0);
    // What is undefined, or may be forbidden.
    let divides = with("next x = x / (x + 1)\nproperty p = G<=3 1 / x >= 0\nproperty q = G<=3 1 / (x + 1) >= 0");
    assert!(claim(&divides, "p", 2, 10).is_err());
    holds(&divides, "q", 2, 4);
    // No choice is allowed beyond two.
    let stuck = with("input u in [0, 1]\nnext x = clamp(x + u, 0, 10)\nassume u >= x - 1\nproperty p = G<=4 x <= 10");
    assert!(claim(&stuck, "p", 2, 10).unwrap_err().contains("forbidden"));
    let free = with("input u in [0, 1]\nnext x = 0.5 * x\nassume u <= 2 - x\nproperty p = G<=4 x <= 10");
    holds(&free, "p", 2, 4);
    // Terminal states keep their value.
    let ends = with("next x = x + 3\nterminal x >= 6\nproperty p = G<=8 x <= 7\nproperty q = G<=8 x <= 6.2");
    holds(&ends, "p", 2, 20);
    assert!(claim(&ends, "q", 2, 20).is_err());
    // Assumed errors are another claim.
    let mut assumed = holds(&leaves, "soon", 2, 0).1;
    assumed.shows_no_errors = false;
    assert!(accepts(&leaves, "stays", &assumed).is_err(), "the property itself fails");
    let wide = with("next x = x + 3\nproperty p = G<=6 x <= 30");
    assert!(accepts(&wide, "p", &assumed).is_ok());
    assumed.shows_no_errors = true;
    assert!(accepts(&wide, "p", &assumed).is_err());
}

#[test]
fn slow_loops_and_ends_of_runs_are_followed() {
    let text = "system slow\nstate x in [-4, 4]\nstate v in [-4, 4]\nnext x = x + 0.05 * v\nnext v = 0.9 * v - 0.02 * x\n\
                init x in [1, 2] & v in [-0.1, 0.1]\nproperty near = G x > -1\nproperty nearer = G x > 0.9\n";
    let system = load(text);
    assert_eq!(holds(&system, "near", 2, 0).0, Scope::AllTime);
    assert!(claim(&system, "nearer", 2, 4).is_err());
    let text = "system ends\nstate x in [-5, 5]\ninput w in [0, 1]\nnext x = x - 0.3 - 0.01 * w\nterminal x <= 0\ninit x in [1, 2]\n\
                property above = G x > -0.4\nproperty too_high = G x > -0.2\nproperty goes_on = G F x > 0\n\
                property later = (G x > 0) | F (x <= 0 & X G x > 0)\n";
    let system = load(text);
    assert_eq!(holds(&system, "above", 2, 0).0, Scope::AllTime);
    for name in ["too_high", "goes_on", "later"] {
        assert!(claim(&system, name, 2, 8).is_err(), "{name}");
    }
}

/// Numbers that slowly come nearer, at first from many sides: boxes of initial states have an invariant in common.
const SHARED: &str = "system shared\nstate x in [-9, 9]\nstate v in [-9, 9]\nnext x = x + 0.1 * v\nnext v = v - 0.2 * x - 0.3 * v\n\
    init x in [-2, 2] & v in [-2, 2] & abs(x) + abs(v) >= 1\nproperty near = G (abs(x) < 4 & abs(v) < 4)\nproperty settles = F G abs(x) < 0.5\n\
    property too_near = F G abs(x) < -0.1\nproperty nearer = G abs(x) < 1.9\n";

#[test]
fn boxes_of_initial_states_share_invariants() {
    let system = load(SHARED);
    let about = system.property("settles").unwrap();
    // Sixteen boxes, from which runs take as long as they take to come where others were before.
    let tree = |boxes: &mut dyn FnMut(&[Interval])| {
        let checker = Checker::new(&system, about, 2, 6, true).unwrap();
        let mut tree = Vec::new();
        let mut open: Vec<_> = checker.initial().iter().rev().map(|own| (own.clone(), 4usize)).collect();
        while let Some((bounds, splits)) = open.pop() {
            if splits == 0 {
                boxes(&bounds);
                tree.push(Branch::Leaf);
                continue;
            }
            let element = splits % 2;
            let at = bounds[element].lo / 2.0 + bounds[element].hi / 2.0;
            let mut halves = [bounds.clone(), bounds];
            (halves[0][element].hi, halves[1][element].lo) = (at, at);
            tree.push(Branch::Split { element, at });
            let [below, above] = halves;
            open.extend([(above, splits - 1), (below, splits - 1)]);
        }
        tree
    };
    let checker = Checker::new(&system, about, 2, 6, true).unwrap();
    let mut known: Vec<Lasting> = Vec::new();
    let tree = tree(&mut |bounds| match checker.attempt(bounds, &known, &|| false) {
        Attempt::Shown(found) => known.extend(found),
        Attempt::Open { step, reason, .. } => panic!("{bounds:?}: {reason} at step {step}"),
    });
    assert!((1..16).contains(&known.len()), "{} invariants for 16 boxes", known.len());
    let invariants: Vec<Invariant> = known.into_iter().map(|own| own.invariant).collect();
    let honest = Reachable { degree: 2, order: 6, shows_no_errors: true, invariants, tree };
    assert_eq!(accepts(&system, "settles", &honest), Ok((Scope::AllTime, 16)));
    // Boxes that do not contain the tubes that should end in them, that runs leave, where the property does not hold, or none.
    let refused = |change: &dyn Fn(&mut Invariant)| {
        let mut own = honest.clone();
        own.invariants.iter_mut().for_each(change);
        accepts(&system, "settles", &own).unwrap_err()
    };
    refused(&|own| own.bounds.iter_mut().for_each(|side| *side = Interval::new(side.lo + 3.0, side.hi + 3.0)));
    refused(&|own| own.bounds[0] = Interval::point(0.0));
    refused(&|own| own.bounds[0] = Interval::new(-9.0, 9.0));
    refused(&|own| own.bounds[1] = Interval::new(own.bounds[1].lo, own.bounds[1].lo / 2.0));
    refused(&|own| own.within = 0);
    refused(&|own| own.bounds.clear());
    refused(&|own| own.bounds.iter_mut().for_each(|side| *side = Interval::point(side.hi)));
    assert!(accepts(&system, "settles", &Reachable { invariants: Vec::new(), ..honest.clone() }).is_err());
    // The same words about what is false, or about more initial states.
    for name in ["too_near", "nearer"] {
        assert!(accepts(&system, name, &honest).is_err(), "{name}");
    }
    let elsewhere = load(&SHARED.replace("init x in [-2, 2] & v in [-2, 2]", "init x in [-8, 8] & v in [-2, 2]"));
    assert!(accepts(&elsewhere, "near", &honest).is_err() || claim(&elsewhere, "near", 2, 40).is_ok());
    assert!(accepts(&load(&SHARED.replace("- 0.3 * v", "+ 0.3 * v")), "settles", &honest).is_err());
}

#[test]
fn sets_are_cut_to_initial_states_and_to_allowed_choices() {
    // On half of the box of initial states the property does not hold.
    let text = "system cuts\nstate x in [-4, 4]\nstate y in [-4, 4]\nnext x = 0.9 * x\nnext y = 0.9 * y\ninit x in [0, 2] & y in [0, 2] & x + y <= 1\n\
                property below = G<=5 x + y <= 1.3\nproperty under = G<=5 x + y <= 0.99\nproperty side = G<=5 x <= 1.01\n";
    let system = load(text);
    holds(&system, "below", 2, 40);
    holds(&system, "side", 2, 0);
    assert!(claim(&system, "under", 2, 60).is_err());
    let whole =
        Reachable { degree: 2, order: 6, shows_no_errors: true, invariants: Vec::new(), tree: vec![Branch::Leaf] };
    assert!(accepts(&system, "side", &whole).is_ok());
    assert!(accepts(&load(&text.replace(" & x + y <= 1\n", "\n")), "side", &whole).is_err());
    let empty = load(&text.replace("x + y <= 1\n", "x + y <= -1\n"));
    assert!(accepts(&empty, "under", &whole).is_ok(), "without initial states there are no runs");

    let text = "system chosen\nstate x in [-4, 4]\ninput u in [0, 1]\ninput w in [0, 1]\nassume u > 0.5\nassume u + w <= 1\n\
                next x = 0.5 * x + 0.1 * u - 0.1 * w\ninit x in [0, 1]\nproperty chosen = G<=5 (u >= 0.49 & w <= 0.51)\n\
                property above = G<=5 next(x) >= -0.001\nproperty for_ever = G x < 1.1\nproperty more = G<=5 u > 0.51\n\
                property higher = G<=5 next(x) >= 0.01\n";
    let system = load(text);
    for name in ["chosen", "above", "for_ever"] {
        holds(&system, name, 2, 8);
    }
    for name in ["more", "higher"] {
        assert!(claim(&system, name, 2, 40).is_err(), "{name}");
        assert!(accepts(&system, name, &whole).is_err(), "{name}");
    }
    // Without the assumptions, or where nothing may be allowed, nothing of that follows.
    for (from, to) in [("assume u > 0.5\n", ""), ("assume u + w <= 1\n", ""), ("u > 0.5\n", "u > 1.5 - x\n")] {
        let other = load(&text.replace(from, to));
        let claims = ["chosen", "above"].map(|name| accepts(&other, name, &whole).is_err());
        assert!(claims.contains(&true), "{to:?}");
    }
    let forbidden = load(&text.replace("u > 0.5\n", "u > 1.5 - x\n"));
    assert!(claim(&forbidden, "for_ever", 2, 40).unwrap_err().contains("forbidden"));
    // A comparison with a choice tells cases apart. In neither of them is one choice allowed in every state, and in the middle none is.
    let text = "system mixed\nstate x in [-9, 9]\ninput u in [0, 1]\nnext x = if u > x then 0.5 * x else 0.4 * x\n\
                assume (u >= 1 & x <= 0.4) | (u <= 0 & x >= 0.6)\ninit x in [0, 1]\nproperty p = G<=2 x <= 2\n";
    assert!(claim(&load(text), "p", 2, 40).is_err());
    assert!(accepts(&load(text), "p", &whole).is_err());
    holds(&load(&text.replace("x <= 0.4", "x <= 0.7").replace("x >= 0.6", "x >= 0.3")), "p", 2, 40);
    // A number that stays at the end of its range.
    let text = "system kept\nstate x in [-2, 2]\nstate y in [0, 1]\ninput u in [0, 1]\nassume u > 0.5\nnext x = 0.5 * x + 0.1 * u\nnext y = y\n\
                init x in [0, 2] & y in [0, 1] & x + 3 * y <= 1\nproperty low = G (next(x) > 0.02 & x <= 1.01)\n";
    assert_eq!(holds(&load(text), "low", 2, 4).0, Scope::AllTime);
    // Where choices are restricted by a successor, and in a state that has ended.
    let text = "system ends\nstate x in [-4, 4]\ninput u in [-1, 1]\nnext x = 0.9 * x + u\nassume next(x) <= 1\nterminal x > 0.8\n\
                init x in [0, 0.5]\nproperty low = G<=1 x <= 1.1\nproperty lower = G<=1 x <= 0.9\nproperty high = G x >= -3.9\n";
    let system = load(text);
    let bounded = load(&text.replace("u in [-1, 1]", "u in [-0.1, 1]"));
    holds(&bounded, "low", 2, 40);
    for name in ["lower", "high"] {
        assert!(claim(&system, name, 2, 40).is_err(), "{name}");
    }
}

/// Every claim with these hints about something false.
#[test]
fn false_claims_are_refused_whatever_the_hints_are() {
    let systems = [load(LOOP), load(EXACT)];
    let everything =
        |system: &System| system.states.iter().map(|own| Interval::new(own.lower[0], own.upper[0])).collect::<Vec<_>>();
    for (system, property) in [(0, "nearer"), (0, "soon"), (1, "not_between"), (1, "slow")] {
        let system = &systems[system];
        let start: Vec<Interval> =
            system.init_box.0.iter().zip(&system.init_box.1).map(|(&lo, &hi)| Interval { lo, hi }).collect();
        let boxes =
            [everything(system), start.clone(), vec![Interval::ENTIRE; 2], vec![Interval::point(0.0); 2], Vec::new()];
        for degree in [1, 3] {
            for bounds in &boxes {
                for within in [0, 1, 8] {
                    let invariants = vec![Invariant { within, bounds: bounds.clone() }];
                    let at = start[0].lo / 2.0 + start[0].hi / 2.0;
                    let split = Branch::Split { element: 0, at };
                    for tree in [vec![Branch::Leaf], vec![split, Branch::Leaf, Branch::Leaf]] {
                        let own = Reachable {
                            degree,
                            order: 3,
                            shows_no_errors: false,
                            invariants: invariants.clone(),
                            tree,
                        };
                        assert!(accepts(system, property, &own).is_err(), "{property}: {own:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_trees_are_refused() {
    let system = load(LOOP);
    let (_, honest) = holds(&system, "near", 1, 20);
    let refused = |tree: Vec<Branch>, why: &str| {
        let own = Reachable { tree, ..honest.clone() };
        let reason = accepts(&system, "near", &own).unwrap_err();
        assert!(reason.contains(why), "{reason}");
    };
    let split = |element: usize, at: f64| Branch::Split { element, at };
    assert!(!honest.invariants.is_empty());
    refused(vec![], "fewer leaves");
    refused(honest.tree[..honest.tree.len() - 1].to_vec(), "fewer leaves");
    refused([honest.tree.clone(), vec![Branch::Leaf]].concat(), "after its last leaf");
    // Split points that are outside of the box, on its border, or of nothing.
    for own in [split(0, 5.0), split(0, 1.0), split(2, 0.9), split(0, f64::NAN)] {
        refused(vec![own, Branch::Leaf, Branch::Leaf], "outside of its box");
    }
    // Boxes that do not return, or that no set is in.
    let refused = |change: &dyn Fn(&mut Invariant)| {
        let mut own = honest.clone();
        own.invariants.iter_mut().for_each(change);
        let reason = accepts(&system, "near", &own).unwrap_err();
        assert!(reason.contains("at step"), "{reason}");
    };
    refused(&|own| own.bounds.iter_mut().for_each(|range| *range = range.widen(1.0)));
    refused(&|own| own.bounds.iter_mut().for_each(|range| *range = Interval::point(range.lo)));
    refused(&|own| own.within = 0);
    refused(&|own| own.bounds.truncate(1));
    assert!(accepts(&system, "near", &Reachable { invariants: Vec::new(), ..honest.clone() }).is_err());
    // The same words about another property, or another system.
    assert!(accepts(&system, "nearer", &honest).is_err() && accepts(&system, "soon", &honest).is_err());
    assert!(accepts(&load(&LOOP.replace("-1.2 * x", "1.2 * x")), "near", &honest).is_err());
    assert!(accepts(&load(&LOOP.replace("init x in [0.8, 1]", "init x in [0.8, 1.3]")), "near", &honest).is_err());
}
