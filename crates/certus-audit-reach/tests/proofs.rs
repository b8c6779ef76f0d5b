//! Proofs by reachable sets: what is true is accepted, and nothing else, whatever the hints are.

use std::path::Path;

use certus_audit_reach::{Attempt, Branch, Checker, Reachable, Return};
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
    let mut open = vec![checker.initial().to_vec()];
    let mut tree = Vec::new();
    while let Some(bounds) = open.pop() {
        match checker.attempt(&bounds, &|| false) {
            Attempt::Shown(returns) => tree.push(Branch::Leaf(returns)),
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
    Ok(Reachable { degree, order: 6, shows_no_errors: true, tree })
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
                for (after, within) in [(0, 1), (1, 1), (3, 8)] {
                    let leaf = Branch::Leaf(vec![Return { after, within, bounds: bounds.clone() }]);
                    let at = start[0].lo / 2.0 + start[0].hi / 2.0;
                    let split = Branch::Split { element: 0, at };
                    for tree in [vec![leaf.clone()], vec![split, leaf.clone(), leaf]] {
                        let own = Reachable { degree, order: 3, shows_no_errors: false, tree };
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
    let leaf = honest.tree.last().unwrap().clone();
    assert!(matches!(&leaf, Branch::Leaf(returns) if !returns.is_empty()));
    refused(vec![], "fewer leaves");
    refused(honest.tree[..honest.tree.len() - 1].to_vec(), "fewer leaves");
    refused([honest.tree.clone(), vec![leaf.clone()]].concat(), "after its last leaf");
    // Split points that are outside of the box, on its border, or of nothing.
    for own in [split(0, 5.0), split(0, 1.0), split(2, 0.9), split(0, f64::NAN)] {
        refused(vec![own, leaf.clone(), leaf.clone()], "outside of its box");
    }
    // Boxes that do not return, or that the set is not in.
    let with = |change: &dyn Fn(&mut Return)| {
        let Branch::Leaf(mut returns) = leaf.clone() else { panic!("no leaf") };
        returns.iter_mut().for_each(change);
        Branch::Leaf(returns)
    };
    let only = |leaf: Branch| {
        let tree =
            honest.tree.iter().map(|own| if matches!(own, Branch::Leaf(_)) { leaf.clone() } else { own.clone() });
        tree.collect::<Vec<Branch>>()
    };
    refused(only(with(&|own| own.bounds.iter_mut().for_each(|range| *range = range.widen(1.0)))), "at step");
    refused(only(with(&|own| own.bounds.iter_mut().for_each(|range| *range = Interval::point(range.lo)))), "at step");
    refused(only(with(&|own| own.within = 0)), "at step");
    refused(only(with(&|own| own.after = 1)), "at step");
    refused(only(with(&|own| own.bounds.truncate(1))), "at step");
    refused(only(Branch::Leaf(Vec::new())), "at step");
    // The same words about another property, or another system.
    assert!(accepts(&system, "nearer", &honest).is_err() && accepts(&system, "soon", &honest).is_err());
    assert!(accepts(&load(&LOOP.replace("-1.2 * x", "1.2 * x")), "near", &honest).is_err());
    assert!(accepts(&load(&LOOP.replace("init x in [0.8, 1]", "init x in [0.8, 1.3]")), "near", &honest).is_err());
}
