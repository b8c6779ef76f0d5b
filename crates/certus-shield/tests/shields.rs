//! Shields of systems of the zoo: found, accepted, and rejected once something in them is worse.

use std::sync::atomic::AtomicBool;

use certus_audit::shield::{
    Branch, Cover, Identity, Invariant, Model, Shield, SquareProof, Squares, check, rational, read_model,
};
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, System, load_file, load_str};
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
    let worse = |change: &dyn Fn(&mut SquareProof)| {
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
    let identity = |scale: f64| Identity {
        free: Squares { basis: basis(), gram: vec![vec![scale], vec![0.0, scale], vec![0.0, 0.0, scale]] },
        multipliers: Vec::new(),
    };
    let pieces = model.unsafe_pieces.len() + 2;
    for scale in [1e-3, 1.0, 1e3] {
        let proof = SquareProof {
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
    // Without its last branch the shield no longer covers the initial states.
    let mut fewer = made.shield.clone();
    fewer.branches.pop();
    assert!(verdict(&model, &fewer).is_err());
}

#[test]
fn asking_to_stop_stops() {
    let (system, network) = zoo("pendulum");
    let property = system.property("case_study").unwrap();
    let failed = synthesise(&system, property, &network, &Options::default(), &AtomicBool::new(true), &|_| {});
    assert!(matches!(failed, Err(Failed::Stopped { .. })));
}
