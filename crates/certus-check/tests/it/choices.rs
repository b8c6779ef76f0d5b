//! Which choices of the environment a violation needs, on systems where that is plain.

use certus_check::choices::{Need, Needs, needs};
use certus_check::replay::{Drive, replay};
use certus_lang::system::System;
use certus_lang::{FileNetworks, LowerOptions, load_str};

/// What is said of the run of a system from a state with these choices.
fn of(text: &str, state: &[f64], inputs: &[&[f64]]) -> (System, Needs) {
    let system = load_str(text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
    let formula = system.properties[0].over_runs().unwrap();
    let drive = Drive {
        state: state.to_vec(),
        inputs: inputs.iter().map(|own| own.to_vec()).collect(),
        chances: vec![Vec::new(); inputs.len()],
        choices: vec![Vec::new(); inputs.len()],
        loop_to: None,
    };
    let run = replay(&system, formula, &drive).unwrap().expect("a violating run");
    let found = needs(&system, formula, &run, None).unwrap();
    (system, found)
}

const SUM: &str = "system sum\nstate x in [-100, 100]\ninput u in [0, 1]\ninput w in [0, 1]\nnext x = x + u\ninit x == 0\n\
                   property low = G (x < 1.5)\n";

#[test]
fn what_the_plant_does_not_use_is_not_needed() {
    let (system, found) = of(SUM, &[0.0], &[&[1.0, 0.3], &[0.75, 0.2], &[0.5, 0.1]]);
    assert_eq!((found.none, found.free_steps.as_slice(), found.free_inputs.as_slice()), (false, &[2][..], &[1][..]));
    assert_eq!(found.single, [(0, 0, Need::Needed), (1, 0, Need::Needed)]);
    let notes = found.notes(&system).join("\n");
    assert!(notes.contains("needs the environment's choice of u at steps 0–1"), "{notes}");
    assert!(notes.contains("does not need w; all choices at step 2"), "{notes}");
}

#[test]
fn each_alone_is_not_all_together() {
    // 1 + 1 exceeds 0.9 even without one of them; without both it does not.
    let text = SUM.replace("1.5", "0.9");
    let (_, found) = of(&text, &[0.0], &[&[1.0, 0.0], &[1.0, 0.0], &[0.0, 0.0]]);
    // The run was longer than it had to be: after the first step everything is violated already.
    assert!(!found.none);
    assert_eq!(found.free_steps, [0, 1, 2]);
    let unavoidable = text.replace("init x == 0", "init x == 1");
    let (system, found) = of(&unavoidable, &[1.0], &[&[0.0, 0.0], &[0.0, 0.0]]);
    assert!(found.none);
    assert!(found.notes(&system)[0].contains("whatever the environment chooses"));
}

#[test]
fn what_only_samples_show_is_called_so() {
    // Over intervals u − u is not zero, so nothing is proved; every value violates the property all the same.
    let text = SUM.replace("x + u", "x + u - u + 0.5").replace("1.5", "0.4");
    let (system, found) = of(&text, &[0.0], &[&[0.5, 0.0], &[0.0, 0.0]]);
    assert_eq!(found.single, [(0, 0, Need::NotSeen(16))]);
    assert!(found.notes(&system).iter().any(|note| note.contains("not proved for all")));
}

#[test]
fn borders_of_assumptions_are_named() {
    let text = SUM.replace("init", "assume u <= 0.75\ninit");
    let (system, found) = of(&text, &[0.0], &[&[0.75, 0.0], &[0.75, 0.0], &[0.0, 0.0]]);
    assert_eq!(found.tight, [0, 1]);
    let notes = found.notes(&system).join("\n");
    assert!(notes.contains("at steps 0–1 it is at the border") && notes.contains("that `assume` allows"), "{notes}");
}
