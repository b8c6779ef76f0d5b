//! Steps of systems as polynomials.

use certus_audit::shield::{Model, ReadError, read_model, rounded};
use certus_lang::{LowerOptions, Open, load_file, load_str};

/// A system without files: its network has so many results.
fn read(text: &str, results: usize) -> Result<Model, ReadError> {
    let options =
        LowerOptions { open: Open::All, outputs: vec![("n.onnx".to_owned(), results)], ..LowerOptions::default() };
    let mut networks = certus_lang::FileNetworks::new(std::path::Path::new("."));
    let system = load_str(text, &mut networks, &options).unwrap_or_else(|error| panic!("{}", error.render(false)));
    read_model(&system, &system.properties[0], &[])
}

const CAR: &str = "system car
state p in [-4, 4]
state v in [-3, 3]
input push in [-0.25, 0.5]
policy a = clamp(net(\"n.onnx\", p, v), -2, 2)
step 0.5 euler
der p = v - v^3 / 6
der v = a + push
init abs(p) <= 1 & v == 0
terminal abs(p) >= 3
property safe = G (abs(p) < 3 & (v < 2 | p > 0))
";

#[test]
fn a_step_becomes_its_polynomials() {
    let model = read(CAR, 1).unwrap();
    assert_eq!((model.states.len(), model.actions.len(), model.choices.len()), (2, 1, 1));
    let position: Vec<(Vec<u8>, f64)> = model.next[0].terms().map(|(m, c)| (m.clone(), rounded(c))).collect();
    assert_eq!(position.len(), 3);
    assert!(position.contains(&(vec![0, 1, 0, 0], 0.5)));
    assert_eq!(model.next[1].affine().unwrap().1.iter().map(rounded).collect::<Vec<_>>(), [0.0, 1.0, 0.5, 0.5]);
    // p ≥ 3, p ≤ −3, v ≥ 2 with p ≤ 0; then the four sides of the domain.
    let sizes: Vec<usize> = model.unsafe_pieces.iter().map(|piece| piece.constraints.len()).collect();
    assert_eq!(sizes, [1, 1, 2, 1, 1, 1, 1]);
    assert!(model.unsafe_pieces[..3].iter().flat_map(|piece| &piece.constraints).all(|constraint| !constraint.strict));
}

#[test]
fn sines_leave_a_remainder() {
    let model = read(&CAR.replace("v - v^3 / 6", "sin(v)"), 1).unwrap();
    assert_eq!((model.inputs, model.choices.len()), (1, 2));
    // 3⁵ / 5!
    assert!((rounded(&model.choices[1].1) - 243.0 / 120.0).abs() < 1e-12);
}

#[test]
fn what_is_no_polynomial_is_refused_by_name() {
    let refused = |from: &str, to: &str| read(&CAR.replace(from, to), 1).unwrap_err().to_string();
    assert!(refused("v - v^3 / 6", "sqrt(v + 9)").contains("Sqrt"));
    assert!(refused("v - v^3 / 6", "if v > 0 then v else 0").contains("`if` between numbers"));
    assert!(refused("clamp(net(\"n.onnx\", p, v), -2, 2)", "tanh(net(\"n.onnx\", p, v))").contains("squashes"));
    assert!(refused("G (abs(p) < 3", "F (abs(p) < 3").contains("`G φ`"));
    assert!(refused("abs(p) < 3 & (v", "abs(a) < 3 & (v").contains("actions"));
}

#[test]
fn every_system_of_the_shield_benchmarks_is_read() {
    let zoo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let systems = [
        ("satellite", 2, 1),
        ("dcmotor", 2, 1),
        ("tape", 3, 1),
        ("magnetic_pointer", 3, 1),
        ("suspension", 4, 1),
        ("biology", 3, 2),
        ("cooling", 3, 3),
        ("quadcopter", 2, 1),
        ("pendulum", 2, 1),
        ("cartpole", 4, 1),
        ("selfdriving", 2, 1),
        ("lanekeeping", 4, 2),
        ("platoon4", 7, 4),
        ("platoon8", 15, 8),
        ("oscillator", 18, 2),
        ("cartpole_long", 4, 1),
        ("pendulum_heavier", 2, 1),
        ("pendulum_longer", 2, 1),
        ("selfdriving_obstacle", 4, 2),
        ("duffing", 2, 1),
    ];
    for (name, states, actions) in systems {
        let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
        let system = load_file(zoo.join(name).join(format!("{name}.certus")), &options).unwrap();
        let model = read_model(&system, &system.properties[0], &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((model.states.len(), model.actions.len()), (states, actions), "{name}");
    }
}

/// Program and monitor are proved for the state: what the network sees must show that the state is at hand.
/// Seam 15: shields for networks that see a noisy state were proved on the true one.
#[test]
fn a_network_that_does_not_see_the_state_as_it_is_has_no_shield() {
    let sees = |arguments: &str| {
        let text = CAR.replace("net(\"n.onnx\", p, v)", &format!("net(\"n.onnx\", {arguments})"));
        let text = text.replace("input push", "input noise in [-0.01, 0.01]\ninput push");
        read(&text, 1).map(|_| ()).map_err(|error| error.to_string())
    };
    for noisy in ["p + noise, v", "v, p + noise", "p * (1 + noise), v", "p + noise, v + noise"] {
        let message = sees(noisy).unwrap_err();
        for part in ["policy a", "'p'", "'noise'", "would have to see"] {
            assert!(message.contains(part), "{noisy}: {message}");
        }
    }
    let message = sees("p").unwrap_err();
    assert!(message.contains("does not see 'v'") && message.contains("policy a"), "{message}");
    for exact in ["p, v", "v, p", "p / 4, 2 * v - 1", "p - v, v", "sin(p), cos(p), v", "p, v, noise", "p, v, p + noise"]
    {
        assert_eq!(sees(exact), Ok(()), "{exact}");
    }
}
