//! Policies as their users export them: both exporters of PyTorch, stable-baselines3, CleanRL's actors, convolutions,
//! batch and layer normalisation; against onnxruntime (`data/onnx_exports/generate.py` made the files).

use crate::cases::{Point, check_points, data_folder};
use certus_graph::import::load_network;
use serde::Deserialize;

/// What a model in the folder computes.
#[derive(Deserialize)]
struct Expected {
    name: String,
    shapes: Vec<Vec<usize>>,
    points: Vec<Point>,
}

#[test]
fn exported_policies_agree_with_onnxruntime() {
    let folder = data_folder().join("onnx_exports");
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json is there");
    let expected: Vec<Expected> = serde_json::from_str(&expected).expect("expected.json is valid");
    assert!(expected.len() >= 20);
    let check = |entry: &Expected| {
        let path = folder.join(format!("{}.onnx", entry.name));
        let graph = load_network(&path).map_err(|error| error.to_string())?;
        check_points(&graph, &entry.shapes, &entry.points).map_err(|error| format!("{}: {error}", entry.name))
    };
    let failures: Vec<String> = expected.iter().filter_map(|entry| check(entry).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
