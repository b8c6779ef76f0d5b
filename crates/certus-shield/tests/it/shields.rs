//! Shields of systems of the zoo: found, accepted, and rejected once something in them is worse.

use std::sync::atomic::AtomicBool;

use certus_audit::shield::{
    BarrierCertificate, Branch, Cover, Invariant, Model, PutinarCertificate, Range, Shield, SumOfSquares, check,
    rational, read_model,
};
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, System, load_file, load_str};
use certus_shield::plant::Plant;
use certus_shield::polyhedron::{self, Begin};
use certus_shield::program_synthesis::{equilibrium, regulators};
use certus_shield::synthesis::{Failed, Form, Options, Synthesised, synthesise};

fn zoo(name: &str) -> (System, std::sync::Arc<certus_graph::Graph>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo").join(name);
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let system = load_file(folder.join(format!("{name}.certus")), &options).unwrap();
    let network = FileNetworks::new(folder).load(&system.networks[0].path).unwrap();
    (system, network)
}

fn made(name: &str, property: &str, options: &Options) -> (Synthesised, Model) {
    let (system, network) = zoo(name);
    let property = system.property(property).unwrap();
    let made = synthesise(&system, property, &network, options, &AtomicBool::new(false), &|_| {}).unwrap();
    let model = read_model(&system, property, &made.shield.domain).unwrap();
    (made, model)
}

fn verdict(model: &Model, shield: &Shield) -> Result<(), String> {
    check(model, shield, &mut || {}).map(|_| ())
}

#[test]
fn a_polyhedron_is_proved_and_anything_worse_is_not() {
    let (made, model) = made("satellite", "stays_safe", &Options::default());
    assert_eq!(verdict(&model, &made.shield), Ok(()));
    let worse = |change: &dyn Fn(&mut certus_audit::shield::Polyhedron)| {
        let mut shield = made.shield.clone();
        match &mut shield.branches[0].invariant {
            Invariant::Polyhedron(polyhedron) => change(polyhedron),
            Invariant::Polynomial(_) => panic!("a small linear loop has a polyhedron"),
        }
        verdict(&model, &shield)
    };
    // Larger than the safe set; too small for the initial states; a proof with a negative multiplier.
    assert!(worse(&|p| p.halfspaces[0].bound = 1.6).is_err());
    assert!(worse(&|p| p.halfspaces[0].bound = 0.9).is_err());
    assert!(worse(&|p| p.halfspaces[0].multipliers[0].1 = -1.0).is_err());
    let mut program = made.shield.clone();
    program.branches[0].program[0][0].0 *= 1.5;
    assert!(verdict(&model, &program).is_err());
}

#[test]
fn a_barrier_is_proved_and_anything_worse_is_not() {
    let options = Options { form: Form::Polynomial, degree: Some(4), ..Options::default() };
    let (made, model) = made("selfdriving", "stays_on_road", &options);
    assert_eq!(verdict(&model, &made.shield), Ok(()));
    let worse = |change: &dyn Fn(&mut BarrierCertificate)| {
        let mut shield = made.shield.clone();
        match &mut shield.branches[0].invariant {
            Invariant::Polynomial(proof) => change(proof),
            Invariant::Polyhedron(_) => panic!("a polynomial was asked for"),
        }
        verdict(&model, &shield)
    };
    assert!(worse(&|_| {}).is_ok());
    // Each coefficient of E in turn, each diagonal entry of the step's Gram matrix in turn.
    let Invariant::Polynomial(proof) = &made.shield.branches[0].invariant else { panic!("a polynomial was asked for") };
    for place in 0..proof.barrier.len() {
        assert!(worse(&|p| p.barrier[place].0 += 0.3).is_err(), "{place}");
    }
    for place in 0..proof.step.free.gram.len() {
        assert!(worse(&|p| p.step.free.gram[place][place] -= 2.0).is_err(), "{place}");
    }
    assert!(worse(&|p| p.pieces[0].1.multipliers[0].squares.gram[0][0] = -1.0).is_err());
    assert!(worse(&|p| p.pieces[0].0 = 0.0).is_err());
    assert!(worse(&|p| p.contraction = -1.0).is_err());
    let none = Shield { cover: Cover::Inside { branch: 0, identity: None }, ..made.shield.clone() };
    let wrong = Shield { cover: Cover::Inside { branch: 1, identity: None }, ..made.shield.clone() };
    // Without its identity the box is bounded directly, which is enough or not, but a branch that is not there never is.
    let _ = verdict(&model, &none);
    assert!(verdict(&model, &wrong).is_err());
}

/// A set that the step leaves is no invariant, whatever squares are written beside it.
#[test]
fn a_set_that_is_not_inductive_is_rejected() {
    let text = "system drift
state x in [-4, 4]
state v in [-4, 4]
policy a = clamp(net(\"n.onnx\", x, v), -1, 1)
step 0.1 euler
der x = v
der v = a
init abs(x) <= 0.1 & abs(v) <= 0.1
property safe = G abs(x) <= 2
";
    let options = LowerOptions { open: Open::All, outputs: vec![("n.onnx".to_owned(), 1)], ..LowerOptions::default() };
    let system = load_str(text, &mut FileNetworks::new("."), &options).unwrap();
    let domain: Vec<certus_audit::shield::Range> =
        (0..2).map(|_| certus_audit::shield::Range { lower: rational(-2.0), upper: rational(2.0) }).collect();
    let model = read_model(&system, &system.properties[0], &domain).unwrap();
    // x² + v² ≤ 1 with a = −0.1 x: at (0.7, 0.7) the step leaves it.
    let terms = |c: f64| vec![(c, vec![2, 0]), (c, vec![0, 2]), (-1.0, vec![0, 0])];
    let basis = || vec![vec![0, 0], vec![1, 0], vec![0, 1]];
    let identity = |scale: f64| PutinarCertificate {
        free: SumOfSquares { basis: basis(), gram: vec![vec![scale], vec![0.0, scale], vec![0.0, 0.0, scale]] },
        multipliers: Vec::new(),
    };
    let pieces = model.unsafe_pieces.len() + 2;
    for scale in [1e-3, 1.0, 1e3] {
        let proof = BarrierCertificate {
            barrier: terms(1.0),
            contraction: 1.0,
            margin: 0.0,
            step: identity(scale),
            pieces: vec![(0.01, identity(scale)); pieces],
        };
        let program = vec![vec![(-0.1, vec![1, 0])]];
        let shield = Shield {
            path: String::new(),
            digest: String::new(),
            property: "safe".to_owned(),
            settings: Vec::new(),
            domain: domain.clone(),
            branches: vec![Branch { program, invariant: Invariant::Polynomial(proof) }],
            cover: Cover::Inside { branch: 0, identity: None },
            release: 0.0,
            convergence: None,
        };
        assert!(verdict(&model, &shield).is_err());
    }
}

#[test]
fn disturbances_are_covered() {
    let (lane, _) = made("lanekeeping", "stays_in_lane", &Options::default());
    assert_eq!(lane.accepted.branches.len(), 1);
    assert!(lane.accepted.branches[0].tolerance > 0.0);
}

/// Where degrees differ much between variables, as after a cubic step, multipliers are kept in the Newton polytope.
#[test]
fn a_degree_that_is_asked_for_is_found_for_a_cubic_step() {
    let options = Options { form: Form::Polynomial, degree: Some(8), ..Options::default() };
    let (made, _) = made("selfdriving", "stays_on_road", &options);
    let Invariant::Polynomial(own) = &made.shield.branches[0].invariant else { panic!("a polynomial was asked for") };
    assert_eq!(own.barrier.iter().map(|(_, m)| m.iter().map(|e| u32::from(*e)).sum::<u32>()).max(), Some(8));
}

/// A loop whose program leads to a box comes with a proof of it, and nothing worse is accepted.
#[test]
fn convergence_is_proved_and_anything_worse_is_not() {
    let range = |name: &str| (name.to_owned(), -0.125, 0.125);
    for (name, property, target, form) in [
        ("pendulum", "case_study", vec![range("eta"), range("omega")], Form::Auto),
        // A step that is not linear, and a disturbance.
        ("selfdriving", "stays_on_road", vec![("offset".to_owned(), -0.5, 0.5)], Form::Polynomial),
        ("lanekeeping", "stays_in_lane", vec![("y".to_owned(), -0.5, 0.5)], Form::Auto),
    ] {
        let (made, model) = made(name, property, &Options { target, form, ..Options::default() });
        let converges = made.accepted.convergence.expect("a target was given");
        assert!(converges.steps > 0 && converges.steps < 10_000, "{name}: {converges}");
        let worse = |change: &dyn Fn(&mut certus_audit::shield::Convergence)| {
            let mut shield = made.shield.clone();
            change(shield.convergence.as_mut().unwrap());
            verdict(&model, &shield)
        };
        assert_eq!(worse(&|_| {}), Ok(()));
        let proof = &made.shield.convergence.as_ref().unwrap().proofs[0];
        for place in 0..proof.function.len() {
            assert!(worse(&|c| c.proofs[0].function[place].0 *= 0.5).is_err(), "{name} {place}");
        }
        assert!(worse(&|c| c.proofs[0].contraction *= 0.9).is_err(), "{name}");
        assert!(worse(&|c| c.proofs[0].contraction = 1.0).is_err(), "{name}");
        assert!(worse(&|c| c.proofs[0].floor = c.proofs[0].level).is_err(), "{name}");
        assert!(worse(&|c| c.proofs[0].level *= 1.5).is_err(), "{name}");
        assert!(worse(&|c| c.proofs[0].sides[0].0 = 0.0).is_err(), "{name}");
        assert!(worse(&|c| drop(c.proofs[0].sides.pop())).is_err(), "{name}");
        assert!(worse(&|c| drop(c.proofs.pop())).is_err(), "{name}");
        // A smaller target than the one that was proved.
        assert!(worse(&|c| c.target.iter_mut().for_each(|r| r.upper = rational(1e-3))).is_err(), "{name}");
    }
}

/// What convergence says is what runs of the program do.
#[test]
fn programs_reach_their_target_in_time() {
    let target = vec![("eta".to_owned(), -0.125, 0.125), ("omega".to_owned(), -0.125, 0.125)];
    let (made, model) = made("pendulum", "case_study", &Options { target, ..Options::default() });
    let steps = made.accepted.convergence.unwrap().steps;
    let value = |terms: &[(f64, Vec<u8>)], x: &[f64]| -> f64 {
        terms.iter().map(|(c, m)| m.iter().zip(x).fold(*c, |p, (&e, x)| p * x.powi(i32::from(e)))).sum()
    };
    let plant = certus_shield::plant::Plant::new(model);
    for start in [[0.35, 0.35], [-0.35, 0.35], [0.35, -0.35]] {
        let mut x: Vec<f64> = start.to_vec();
        for step in 0..steps + 500 {
            assert!(step < steps || x.iter().all(|x| x.abs() <= 0.125), "{start:?} {step} {x:?}");
            let actions: Vec<f64> = made.shield.branches[0].program.iter().map(|p| value(p, &x)).collect();
            x = plant.step(&x, &actions, &[]);
        }
    }
}

/// A set beside an obstacle, for a loop that takes thousands of steps to come to rest, has few half-spaces over its modes.
#[test]
fn a_slow_loop_gets_a_set_of_few_half_spaces() {
    let (system, _) = zoo("selfdriving_obstacle");
    let property = system.property("avoids_obstacle").unwrap();
    let range = |reach: f64| Range { lower: rational(-reach), upper: rational(reach) };
    let domain = vec![range(16.0), range(16.0), range(2.0), range(2.0)];
    let model = read_model(&system, property, &domain).unwrap();
    let plant = Plant::new(model.clone());
    // On the side of the initial states.
    let rest = equilibrium(&plant, &[-4.0, -5.0, 0.0, 0.0]).unwrap();
    let options = polyhedron::Options { strictness: 1e-6, strict_from: 1, most: 1000, begin: Begin::Modes };
    let policies = regulators(&plant, &rest);
    let found = policies.iter().filter_map(|policy| {
        let branch = polyhedron::search(&plant, policy, &plant.init, options, None)?;
        let Invariant::Polyhedron(own) = &branch.invariant else { return None };
        let sides = own.halfspaces.len();
        let shield = Shield {
            path: String::new(),
            digest: String::new(),
            property: property.name.clone(),
            settings: Vec::new(),
            domain: domain.clone(),
            branches: vec![branch],
            cover: Cover::Inside { branch: 0, identity: None },
            release: 0.0,
            convergence: None,
        };
        verdict(&model, &shield).is_ok().then_some((sides, shield))
    });
    let found: Vec<(usize, Shield)> = found.collect();
    assert!(!found.is_empty() && found.iter().all(|(sides, _)| *sides <= 60), "{}", found.len());
    // What proves a half-space is checked: with another factor nothing is proved.
    for (_, shield) in &found {
        let mut worse = shield.clone();
        let Invariant::Polyhedron(own) = &mut worse.branches[0].invariant else { panic!("a polyhedron") };
        let largest = own.halfspaces[0].multipliers.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1));
        largest.unwrap().1 *= 1.5;
        assert!(verdict(&model, &worse).is_err());
    }
}

/// The sine becomes a linear term and an error, and the polyhedron is proved for every error.
#[test]
fn a_pendulum_with_a_sine_gets_a_shield() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo/pendulum");
    let overrides = vec![("nonlinearity".to_owned(), 2.0)];
    let options = LowerOptions { open: Open::All, overrides, ..LowerOptions::default() };
    let system = load_file(folder.join("pendulum.certus"), &options).unwrap();
    let network = FileNetworks::new(folder).load(&system.networks[0].path).unwrap();
    let property = system.property("case_study").unwrap();
    let made = synthesise(&system, property, &network, &Options::default(), &AtomicBool::new(false), &|_| {}).unwrap();
    let model = read_model(&system, property, &made.shield.domain).unwrap();
    assert_eq!(verdict(&model, &made.shield), Ok(()));
    assert_eq!(model.choices.len(), 1, "the remainder of the sine");
    // Runs of the sine itself stay inside of what was proved for its enclosure.
    let Invariant::Polyhedron(polyhedron) = &made.shield.branches[0].invariant else { panic!("a polyhedron") };
    let inside =
        |x: &[f64; 2]| polyhedron.halfspaces.iter().all(|h| h.normal[0] * x[0] + h.normal[1] * x[1] <= h.bound + 1e-12);
    for start in [[0.35, 0.35], [-0.35, 0.35], [0.35, -0.35], [-0.35, -0.35]] {
        let mut x: [f64; 2] = start;
        for _ in 0..2000 {
            assert!(inside(&x), "{x:?}");
            let terms = made.shield.branches[0].program[0].iter();
            let a: f64 = terms.map(|(c, m)| c * x[0].powi(m[0].into()) * x[1].powi(m[1].into())).sum();
            x = [x[0] + 0.01 * x[1], x[1] + 0.01 * (10.0 * x[0].sin() + a)];
        }
    }
}

#[test]
fn several_branches_cover_what_one_does_not() {
    // A square of initial states nearly as large as the safe square: no ellipsoid contains one and fits into the other.
    let options = Options { form: Form::Polynomial, degree: Some(2), ..Options::default() };
    let (system, network) = zoo("pendulum");
    let property = system.property("within_half").unwrap();
    let made = synthesise(&system, property, &network, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    let model = read_model(&system, property, &made.shield.domain).unwrap();
    assert_eq!(verdict(&model, &made.shield), Ok(()));
    assert!(made.shield.branches.len() > 1);
    // Without its second branch the shield no longer covers the initial states.
    let mut fewer = made.shield.clone();
    fewer.branches.truncate(1);
    assert!(verdict(&model, &fewer).is_err());
}

#[test]
fn asking_to_stop_stops() {
    let (system, network) = zoo("pendulum");
    let property = system.property("case_study").unwrap();
    let failed = synthesise(&system, property, &network, &Options::default(), &AtomicBool::new(true), &|_| {});
    assert!(matches!(failed, Err(Failed::Stopped { .. })));
}
