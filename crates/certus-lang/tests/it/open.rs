//! Open systems: the step with its networks outside, and what is known of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::Linear;
use certus_graph::Graph;
use certus_graph::eval::evaluate;
use certus_lang::system::ResultRange;
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, System, load_file, load_str};

fn systems() -> Vec<PathBuf> {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let folders = std::fs::read_dir(zoo).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.filter_map(|f| std::fs::read_dir(f).ok()).flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "certus")).collect();
    files.sort();
    files
}

fn all() -> LowerOptions {
    LowerOptions { open: Open::All, ..LowerOptions::default() }
}

fn open(text: &str) -> System {
    load_str(text, &mut Linear, &all()).unwrap_or_else(|d| panic!("{d}"))
}

/// What a network gives, all outputs as one vector.
fn apply(network: &Graph, seen: &[f64]) -> Vec<f64> {
    let mut rest = seen;
    let mut inputs = Vec::new();
    for port in network.inputs() {
        let (own, after) = rest.split_at(network.elements(port.node));
        inputs.push(own);
        rest = after;
    }
    evaluate::<f64>(network, &inputs).unwrap().concat()
}

/// A number between 0 and 1, the same one for the same number.
fn unit(number: u64) -> f64 {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn a_step_with_the_networks_own_results_is_the_closed_step() {
    for path in systems() {
        let name = path.display().to_string();
        let closed = load_file(&path, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"));
        let opened = load_file(&path, &all()).unwrap_or_else(|d| panic!("{d}"));
        assert!(!opened.networks.is_empty() && closed.networks.is_empty(), "{name}");
        let mut files = FileNetworks::new(path.parent().unwrap());
        let mut loaded: HashMap<String, Arc<Graph>> = HashMap::new();
        for network in &opened.networks {
            loaded.insert(network.path.clone(), files.load(&network.path).unwrap());
        }
        for point in 0..20u64 {
            let mut drawn = 1000 * point;
            let mut between = |low: f64, high: f64| {
                drawn += 1;
                let (low, high) = (low.max(-1e3), high.min(1e3));
                low + (high - low) * unit(drawn)
            };
            let mut inputs: Vec<Vec<f64>> = Vec::new();
            for variable in closed.states.iter().chain(&closed.inputs) {
                inputs.push(variable.lower.iter().zip(&variable.upper).map(|(&l, &h)| between(l, h)).collect());
            }
            // What is left are choices: the first label of each.
            for port in &closed.step.inputs()[inputs.len()..] {
                let len = closed.step.elements(port.node);
                inputs.push((0..len).map(|i| f64::from(u8::from(i == 0))).collect());
            }
            let slices = |inputs: &[Vec<f64>]| -> Vec<Vec<f64>> {
                let own: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
                evaluate::<f64>(if own.len() == closed.step.inputs().len() { &closed.step } else { &opened.step }, &own)
                    .unwrap()
            };
            let expected = slices(&inputs);
            // Networks may see what others gave: as many rounds as there are networks settle all of them.
            let zeros = opened.networks.iter().map(|network| vec![0.0; network.results]);
            let given = inputs.len();
            inputs.extend(zeros);
            for _ in 0..opened.networks.len().min(2) {
                let outputs = slices(&inputs);
                for (place, (network, role)) in opened.networks.iter().zip(&opened.roles.networks).enumerate() {
                    inputs[given + place] = apply(&loaded[&network.path], &outputs[role.arguments.port]);
                }
            }
            let found = slices(&inputs);
            for (port, values) in expected.iter().enumerate() {
                let same = values.iter().zip(&found[port]).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{name}: {} is {values:?}, open {:?}", closed.step.outputs()[port].name, found[port]);
            }
        }
    }
}

#[test]
fn what_is_seen_is_enclosed() {
    let system = open(
        "system s\nstate x in [-1, 3]\nstate y[2] in [0, 2]\ninput d in [-0.5, 0.5]\n\
         policy u = clamp(net(\"linear_4x1\", cos(x), y, x + d), -2, 1)\nnext x = clamp(u, -1, 3)\nnext y = y\n\
         property p = G x < 4\n",
    );
    let network = &system.networks[0];
    assert_eq!((network.path.as_str(), network.arguments, network.results), ("linear_4x1", 4, 1));
    assert_eq!(network.range, ResultRange::Clamped { lower: vec![-2.0], upper: vec![1.0] });
    let bounds = system.argument_bounds(0).unwrap();
    let ends: Vec<(f32, f32)> = bounds.iter().map(|b| (b.lo as f32, b.hi as f32)).collect();
    assert_eq!(ends, [(3f32.cos(), 1.0), (0.0, 2.0), (0.0, 2.0), (-1.5, 3.5)]);
}

#[test]
fn what_a_step_does_first_with_a_result_is_known() {
    let range = |policy: &str| {
        let text =
            format!("system s\nstate x[2] in [-9, 9]\npolicy u = {policy}\nnext x = u\nproperty p = G all(x < 4)\n");
        open(&text).networks[0].range.clone()
    };
    let clamped = |lower: &[f64], upper: &[f64]| ResultRange::Clamped { lower: lower.to_vec(), upper: upper.to_vec() };
    assert_eq!(range("clamp(net(\"linear_2x2\", x), -1, 1)"), clamped(&[-1.0; 2], &[1.0; 2]));
    assert_eq!(range("clamp(net(\"linear_2x2\", x), [-1, -2], [3, 4])"), clamped(&[-1.0, -2.0], &[3.0, 4.0]));
    assert_eq!(range("2 * tanh(net(\"linear_2x2\", x))"), ResultRange::Squashed);
    assert_eq!(range("net(\"linear_2x2\", x)"), ResultRange::Free);
    assert_eq!(range("clamp(net(\"linear_2x2\", x), -1, 1) + net(\"linear_2x2\", x)"), ResultRange::Free);
}

#[test]
fn actions_that_are_chosen_from_the_result_itself_are_choices() {
    let text = |value: &str| {
        format!("system s\nstate x in [-9, 9]\n{value}\nnext x = match a {{ l: 0, r: 1 }}\nproperty p = G x < 4\n")
    };
    for (value, action) in [
        ("action a = argmax(net(\"linear_1x2\", x)) of { l, r }", Some(0)),
        ("action a ~ softmax(net(\"linear_1x2\", x)) of { l, r }", Some(0)),
        ("policy scores = net(\"linear_1x2\", x)\naction a = argmax(scores) of { l, r }", Some(0)),
        ("action a = argmax(-net(\"linear_1x2\", x)) of { l, r }", None),
        // No file: the labels say how many results there are.
        ("action a = argmax(net(\"missing.onnx\", x)) of { l, r }", Some(0)),
    ] {
        let system = open(&text(value));
        assert_eq!((system.networks[0].action, system.networks[0].results), (action, 2), "{value}");
    }
}

#[test]
fn some_networks_can_stay() {
    let text = "system s\nstate x in [-9, 9]\npolicy u = net(\"linear_1x1\", x)\npolicy w = net(\"missing\", x, u)\n\
                next x = clamp(u + w, -9, 9)\nproperty p = G x < 4\n";
    let named = |names: &[&str]| LowerOptions {
        open: Open::Named(names.iter().map(|name| (*name).to_owned()).collect()),
        outputs: vec![("missing".to_owned(), 1)],
        ..LowerOptions::default()
    };
    let system = load_str(text, &mut Linear, &named(&["w"])).unwrap_or_else(|d| panic!("{d}"));
    assert_eq!(system.networks.len(), 1);
    assert_eq!((system.networks[0].path.as_str(), system.networks[0].arguments), ("missing", 2));
    let wrong = load_str(text, &mut Linear, &named(&["z"])).expect_err("an error").to_string();
    assert!(wrong.contains("no policy and no action `z`") && wrong.contains("there are u, w"), "{wrong}");
    let unknown = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let unknown = load_str(text, &mut Linear, &unknown).expect_err("an error").to_string();
    assert!(unknown.contains("how many results `missing` has is not known"), "{unknown}");
    assert!(unknown.contains("outputs={\"missing\": 1}"), "{unknown}");
}
