//! Families of invariants: boxes that lead to each other are accepted where runs stay in them, and nowhere else.

use certus_audit_reach::{Branch, Checked, Checker, Invariant, Reachable};
use certus_graph::Interval;
use certus_lang::system::System;
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_obligations::Scope;

fn load(text: &str) -> System {
    load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Three steps up, and back. All numbers are such that boxes are exactly what runs reach.
const PHASES: &str = "system phases\nstate n in [0, 3]\nstate x in [0, 9]\ninput u in [0, 1]\n\
    next n = if n >= 3 then 0 else n + 1\nnext x = if n >= 3 then 0 else x + u\ninit n == 0 & x in [0, 0.5]\n\
    property low = G x <= 3.5\nproperty lower = G x <= 3.4\nproperty again = G F n == 0\nproperty stays = G (n == 0 | X G n > 0)\n\
    property soon = G<=9 x <= 3.5\n";

/// The boxes of each phase, with the initial set in the first.
fn phases() -> Vec<Invariant> {
    let tops = [0.5, 1.5, 2.5, 3.5];
    let boxes = tops.iter().enumerate().map(|(n, top)| vec![Interval::point(n as f64), Interval::new(0.0, *top)]);
    boxes.map(|bounds| Invariant { within: 1, bounds }).collect()
}

fn claim(invariants: Vec<Invariant>) -> Reachable {
    Reachable { degree: 2, order: 6, shows_no_errors: true, invariants, tree: vec![Branch::Leaf] }
}

fn accepts(system: &System, property: &str, invariants: Vec<Invariant>) -> Result<Checked, String> {
    let about = system.property(property).unwrap();
    Checker::accept(system, about, &claim(invariants), &mut |_| {}).map_err(|refused| refused.to_string())
}

#[test]
fn boxes_that_lead_to_each_other_are_accepted() {
    let system = load(PHASES);
    let all = Checked { scope: Scope::AllTime, leaves: 1, steps: 0, invariants: 4 };
    assert_eq!(accepts(&system, "low", phases()), Ok(all));
    // In any order, and with boxes that nothing comes of.
    let mut turned = phases();
    turned.reverse();
    let wide = vec![Interval::new(0.0, 3.0), Interval::new(0.0, 9.0)];
    turned.insert(1, Invariant { within: 1, bounds: wide });
    assert_eq!(accepts(&system, "low", turned), Ok(all));
    // The initial set is in none of them, but comes into one.
    let later = phases().into_iter().map(|mut own| {
        own.bounds[1].hi -= if own.bounds[0].lo == 0.0 { 0.5 } else { 0.0 };
        own
    });
    assert_eq!(accepts(&system, "low", later.collect()), Ok(Checked { steps: 1, ..all }));
    // One that returns to itself needs no others.
    let alone = Invariant { within: 4, ..phases().remove(0) };
    assert_eq!(accepts(&system, "low", vec![alone]), Ok(Checked { invariants: 1, ..all }));
    // What repeats, but not at every step.
    let slower = || phases().into_iter().map(|own| Invariant { within: 4, ..own }).collect::<Vec<_>>();
    assert_eq!(accepts(&system, "again", slower()), Ok(Checked { invariants: 2, ..all }));
    assert!(accepts(&system, "again", phases()[1..].to_vec()).is_err());
}

#[test]
fn boxes_that_are_too_small_or_missing_are_refused() {
    let system = load(PHASES);
    for place in 0..4 {
        let changed = |change: &dyn Fn(&mut Invariant)| {
            let mut own = phases();
            change(&mut own[place]);
            accepts(&system, "low", own)
        };
        // Zero is reached by the choice of nothing, and the top by that of one.
        assert!(changed(&|own| own.bounds[1].lo = f64::MIN_POSITIVE).is_err(), "{place}");
        assert!(changed(&|own| own.bounds[1].lo = 0.01).is_err(), "{place}");
        assert!(changed(&|own| own.bounds[0] = Interval::point(own.bounds[0].lo + 0.5)).is_err(), "{place}");
        assert!(changed(&|own| own.within = 0).is_err(), "{place}");
        assert!(changed(&|own| own.bounds.truncate(1)).is_err(), "{place}");
        // What begins in the first box may be above zero there; the others are left.
        assert!(
            changed(&|own| own.bounds[1].hi = if place == 0 { -0.5 } else { own.bounds[1].hi.next_down() }).is_err()
        );
        let mut missing = phases();
        missing.remove(place);
        assert!(accepts(&system, "low", missing).is_err(), "{place}");
    }
    // Runs that leave a box do not count as coming back since another box holds them for a while.
    let chain = |last: usize| phases()[..last].to_vec();
    assert!(accepts(&system, "low", chain(3)).is_err() && accepts(&system, "low", Vec::new()).is_err());
}

#[test]
fn the_boxes_show_nothing_else() {
    let system = load(PHASES);
    for property in ["lower", "stays"] {
        assert!(accepts(&system, property, phases()).is_err(), "{property}");
    }
    let changed = |from: &str, to: &str| {
        assert!(PHASES.contains(from));
        accepts(&load(&PHASES.replace(from, to)), "low", phases())
    };
    assert!(changed("init n == 0", "init n == 0 ").is_ok());
    // Initial states that are left out, choices and successors that are others, a range that is left.
    for (from, to) in [
        ("x in [0, 0.5]", "x in [0, 0.51]"),
        ("init n == 0 &", "init"),
        ("u in [0, 1]", "u in [0, 1.01]"),
        ("u in [0, 1]", "u in [-0.01, 1]"),
        ("else n + 1", "else n"),
        ("next x = if n >= 3 then 0", "next x = if n >= 3 then 0.51"),
        ("x in [0, 9]", "x in [0, 3]"),
        ("x + u", "x + u / (n - 1)"),
    ] {
        assert!(changed(from, to).is_err(), "{to}");
    }
    // A last step is no reason to look for boxes.
    assert_eq!(accepts(&system, "soon", phases()).map(|own| own.invariants), Ok(0));
}

/// A clock that is set back from any time: what is left of the time before must be exactly nothing.
#[test]
fn what_an_if_does_not_choose_leaves_nothing_behind() {
    let text = "system clock\nstate t in [0, 9]\nstate x in [0, 9]\ninput u in [0.1, 0.7]\ndefine late = t + u > 2\n\
                next t = if late then 0 else (if x > 3 then t + 0.25 else t + u)\nnext x = if late then x / 2 else x + 0.3\n\
                init t in [0.1, 0.4] & x in [1, 1.3]\nproperty stays = G<=6 t < 5\n";
    let system = load(text);
    let about = system.property("stays").unwrap();
    let checked = Checker::accept(&system, about, &claim(Vec::new()), &mut |_| {});
    assert!(checked.is_ok(), "{checked:?}");
}
