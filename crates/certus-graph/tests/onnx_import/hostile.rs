//! Files that are broken, or made to harm: each is refused with a message that names the part, quickly and without a
//! panic or much memory.

use std::path::Path;

use crate::build::{
    Message, finish, floats, ints, ints_attribute, model, model_with_inputs, node, port, weight_header,
};
use crate::cases::{Case, decode_base64};
use certus_graph::import::{ImportError, load_network, load_onnx};

fn refusal(bytes: &[u8]) -> String {
    match load_onnx(bytes, None) {
        Ok(_) => panic!("the model was accepted"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    let message = refusal(bytes);
    assert!(message.contains(expected), "`{message}` does not say `{expected}`");
}

#[test]
fn the_builder_builds_valid_models() {
    let bytes = model(&[-1, 2], &[node("Relu", &["x"], &["y"])], &[]);
    let graph = load_onnx(&bytes, None).unwrap();
    assert_eq!(graph.shape(graph.inputs()[0].node), [1, 2]);
}

#[test]
fn what_is_no_model_is_refused() {
    refused(b"", "no graph");
    refused(b"hello, this is no protocol buffer", "not a valid ONNX model");
    refused(&[0xff; 100], "not a valid ONNX model");
    refused(b"// a network\n5,5,5,50,\n", "not a valid ONNX model");
    refused(&finish(Message::default(), 13), "no outputs");
    let relu = Message::default().message(1, &node("Relu", &["x"], &["y"])).message(11, &port("x", &[1]));
    refused(&finish(relu.clone().message(12, &port("y", &[])), 6), "operator set 6");
    refused(&finish(relu.message(12, &port("y", &[])), 1000), "operator set 1000");
}

#[test]
fn no_truncation_or_flipped_byte_panics() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/onnx_ops/cases.json")).unwrap();
    let mut refusals = 0;
    for (index, case) in cases.iter().enumerate() {
        let bytes = decode_base64(&case.model).unwrap();
        for length in (index % 7..bytes.len()).step_by(7) {
            refusals += usize::from(load_onnx(&bytes[..length], None).is_err());
        }
        for place in (index % 11..bytes.len()).step_by(11) {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                refusals += usize::from(load_onnx(&damaged, None).is_err());
            }
        }
    }
    assert!(refusals > 10_000, "damage is hardly ever noticed: {refusals}");
}

#[test]
fn all_unsupported_nodes_are_listed_at_once() {
    let nodes = [
        node("Erf", &["x"], &["a"]),
        node("Relu", &["a"], &["b"]),
        node("LSTM", &["b", "w"], &["c"]),
        node("Gelu", &["c"], &["y"]).bytes(7, "com.microsoft").bytes(3, "last"),
    ];
    let bytes = model(&[1, 2], &nodes, &[floats("w", &[2], &[1.0, 2.0])]);
    let error = load_onnx(&bytes, None).unwrap_err();
    let listed = error.unsupported().expect("they are listed");
    assert_eq!(listed.len(), 3);
    let message = error.to_string();
    for part in
        ["3 nodes are not supported", "`a` (Erf) of [1, 2]", "`c` (LSTM) of [?], [2]", "`last` (com.microsoft.Gelu)"]
    {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn computed_operands_where_constants_are_needed_are_unsupported_not_wrong() {
    let conv =
        model_with_inputs(&[port("x", &[1, 1, 4]), port("w", &[1, 1, 2])], &[node("Conv", &["x", "w"], &["y"])], &[]);
    refused(&conv, "weights must be constant");
    let reshape = model_with_inputs(&[port("x", &[2])], &[node("Reshape", &["x", "x"], &["y"])], &[]);
    refused(&reshape, "shape must be constant");
}

#[test]
fn weights_that_are_no_numbers_are_named_with_their_place() {
    for (value, shown) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let weights = [floats("w1", &[2, 2], &[0.0, 1.0, value, 2.0])];
        for op in ["MatMul", "Add", "Gemm"] {
            let bytes = model(&[1, 2], &[node(op, &["x", "w1"], &["y"])], &weights);
            refused(&bytes, &format!("tensor `w1`: element 2 is {shown}"));
        }
    }
}

#[test]
fn names_must_be_defined_once_and_without_cycles() {
    let run = |nodes: &[Message]| refusal(&model(&[1, 2], nodes, &[]));
    assert!(run(&[node("Relu", &["z"], &["y"])]).contains("reads `z`, which nothing defines"));
    assert!(run(&[node("Relu", &["x"], &["z"])]).contains("nothing computes the output `y`"));
    let round = [node("Add", &["x", "b"], &["a"]), node("Relu", &["a"], &["b"]), node("Relu", &["b"], &["y"])];
    assert!(run(&round).contains("cycle: `b` (Relu), `a` (Add)"));
    assert!(run(&[node("Relu", &["y"], &["y"])]).contains("cycle"));
    assert!(run(&[node("Relu", &["x"], &["y"]), node("Tanh", &["x"], &["y"])]).contains("`y` is defined twice"));
    let twice = model(&[1], &[node("Relu", &["x"], &["y"])], &[floats("w", &[], &[1.0]), floats("w", &[], &[1.0])]);
    refused(&twice, "weight `w` is there twice");
    let inputs = [port("x", &[1]), port("x", &[1])];
    refused(&model_with_inputs(&inputs, &[node("Relu", &["x"], &["y"])], &[]), "input `x` is there twice");
}

#[test]
fn nodes_may_stand_in_any_order() {
    let nodes = [node("Relu", &["a"], &["y"]), node("Neg", &["x"], &["a"])];
    let graph = load_onnx(&model(&[2], &nodes, &[]), None).unwrap();
    assert_eq!(certus_graph::eval::evaluate(&graph, &[&[-1.0f64, 1.0]]).unwrap(), [vec![1.0, 0.0]]);
}

#[test]
fn open_extents_beyond_the_first_are_named() {
    refused(
        &model(&[1, -1], &[node("Relu", &["x"], &["y"])], &[]),
        "axis 1 of the input `x` is left open (called `n`)",
    );
    refused(&model(&[1, 0], &[node("Relu", &["x"], &["y"])], &[]), "axis 1 of the input `x` is left open (0)");
    let shapeless =
        Message::default().bytes(1, "x").message(2, &Message::default().message(1, &Message::default().int(1, 1)));
    refused(&model_with_inputs(&[shapeless], &[node("Relu", &["x"], &["y"])], &[]), "input `x` has no shape");
}

#[test]
fn claims_are_compared_with_what_the_file_holds() {
    let relu = [node("Add", &["x", "w"], &["y"])];
    let claim = |dims: &[i64]| model(&[1], &relu, &[weight_header("w", dims, 1).bytes(9, [0u8; 8])]);
    refused(&claim(&[1 << 27]), "takes 536870912 bytes, but 8 are stored");
    refused(&claim(&[1 << 40]), "tensor `w`");
    refused(&claim(&[i64::MAX, i64::MAX]), "tensor `w`");
    refused(&claim(&[-4]), "tensor `w`");
    refused(&claim(&[1; 40]), "40 axes");
    refused(&claim(&[1 << 28, 1 << 28, 1 << 28, 0]), "tensor `w`");
    refused(&model(&[1], &relu, &[weight_header("w", &[2], 8)]), "element type, string,");
    refused(&model(&[1 << 40, 1 << 40], &relu, &[floats("w", &[], &[1.0])]), "too large");
    let length = [&[0x3a, 0xff, 0xff, 0xff, 0xff, 0x07][..], &[0; 10]].concat();
    refused(&length, "claims 2147483647 bytes where only 10 are left");
}

#[test]
fn small_files_cannot_ask_for_large_tensors() {
    let weights = [ints("s", &[1 << 13, 1 << 14]), ints("t", &[1 << 20, 1 << 20]), ints("u", &[4096, 4096])];
    let run = |nodes: &[Message]| refusal(&model(&[1, 1], nodes, &weights));
    assert!(run(&[node("ConstantOfShape", &["s"], &["y"])]).contains("too large"));
    assert!(run(&[node("ConstantOfShape", &["t"], &["y"])]).contains("too large"));
    assert!(run(&[node("Expand", &["x", "s"], &["y"])]).contains("too large"));
    assert!(run(&[node("Tile", &["x", "t"], &["y"])]).contains("too large"));
    let pads = model(&[1, 1], &[node("Pad", &["x", "p"], &["y"])], &[ints("p", &[0, 0, 1 << 25, 1 << 25])]);
    refused(&pads, "too large");
    let range = [ints("a", &[0]), ints("b", &[1 << 60]), ints("d", &[1])];
    refused(&model(&[1], &[node("Range", &["a", "b", "d"], &["y"])], &range), "too large");
    let outer = model_with_inputs(
        &[port("x", &[1 << 25, 1]), port("z", &[1, 1 << 25])],
        &[node("MatMul", &["x", "z"], &["y"])],
        &[],
    );
    refused(&outer, "too large");
    let many: Vec<Message> = (0..64)
        .map(|index| node("ConstantOfShape", &["u"], &[format!("c{index}").as_str()]))
        .chain((0..64).map(|index| {
            let before = if index == 0 { "x".to_owned() } else { format!("t{}", index - 1) };
            let after = if index == 63 { "y".to_owned() } else { format!("t{index}") };
            node("Add", &[&before, &format!("c{index}")], &[&after])
        }))
        .collect();
    assert!(run(&many).contains("outgrow the file"));
}

#[test]
fn one_weight_used_by_thousands_of_nodes_is_not_copied_without_end() {
    let size = 512;
    let nodes: Vec<Message> = (0..5000)
        .map(|index| {
            let before = if index == 0 { "x".to_owned() } else { format!("t{}", index - 1) };
            let after = if index == 4999 { "y".to_owned() } else { format!("t{index}") };
            node("MatMul", &[&before, "w"], &[&after])
        })
        .collect();
    let weights = [floats("w", &[size, size], &vec![0.0; (size * size) as usize])];
    refused(&model(&[1, size], &nodes, &weights), "outgrow the file");
}

#[test]
fn monstrous_windows_are_refused() {
    let conv = |attribute: Message| {
        let conv = node("Conv", &["x", "w"], &["y"]).message(5, &attribute);
        model(&[1, 1, 4, 4], &[conv], &[floats("w", &[1, 1, 1, 1], &[1.0])])
    };
    refused(&conv(ints_attribute("pads", &[1 << 20; 4])), "too large");
    refused(&conv(ints_attribute("pads", &[1 << 40; 4])), "pads");
    refused(&conv(ints_attribute("pads", &[-1; 4])), "pads");
    refused(&conv(ints_attribute("strides", &[0, 1])), "zero");
    refused(&conv(ints_attribute("dilations", &[1])), "dilations [1] must be 2 extents");
    let pool = node("MaxPool", &["x"], &["y"]).message(5, &ints_attribute("kernel_shape", &[1 << 26, 1 << 26]));
    assert!(!refusal(&model(&[1, 1, 4, 4], &[pool], &[])).is_empty());
}

#[test]
fn a_hundred_thousand_nodes_load() {
    let names: Vec<String> = (0..100_000).map(|index| format!("t{index}")).collect();
    let nodes: Vec<Message> = names
        .iter()
        .enumerate()
        .map(|(index, name)| node("Relu", &[if index == 0 { "x" } else { &names[index - 1] }], &[name]))
        .chain([node("Relu", &[names[names.len() - 1].as_str()], &["y"])])
        .collect();
    assert!(load_onnx(&model(&[1], &nodes, &[]), None).is_ok());
}

#[test]
fn millions_of_empty_parts_are_refused() {
    let graph = Message([0x0a, 0].repeat(1 << 21));
    refused(&finish(graph, 13), "too large");
}

/// A model whose weight `w` stands in the file `location`.
fn with_external(location: &str, entries: &[(&str, &str)]) -> Vec<u8> {
    let entry = |key: &str, value: &str| Message::default().bytes(1, key).bytes(2, value);
    let tensor = weight_header("w", &[2], 1).int(14, 1).message(13, &entry("location", location));
    let tensor = entries.iter().fold(tensor, |tensor, (key, value)| tensor.message(13, &entry(key, value)));
    model(&[2], &[node("Add", &["x", "w"], &["y"])], &[tensor])
}

#[test]
fn external_data_is_read_beside_the_model_and_nowhere_else() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("external");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let path = folder.join("inner").join("model.onnx");
    let data: Vec<u8> = [9.0f32, 1.0, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("inner").join("w.bin"), &data).unwrap();
    std::fs::write(folder.join("w.bin"), &data).unwrap();
    let load = |bytes: Vec<u8>| {
        std::fs::write(&path, bytes).unwrap();
        load_network(&path)
    };
    let message = |bytes: Vec<u8>| load(bytes).unwrap_err().to_string();

    let graph = load(with_external("w.bin", &[("offset", "4"), ("length", "8")])).unwrap();
    assert_eq!(certus_graph::eval::evaluate(&graph, &[&[0.0f64, 0.0]]).unwrap(), [vec![1.0, 2.0]]);
    assert!(message(with_external("missing.bin", &[])).contains("`missing.bin` is not beside the model"));
    assert!(message(with_external("../w.bin", &[])).contains("outside of the model's folder"));
    assert!(message(with_external("/etc/hostname", &[])).contains("outside of the model's folder"));
    assert!(message(with_external("w.bin", &[("offset", "8")])).contains("which has only 12"));
    assert!(message(with_external("w.bin", &[("offset", "18446744073709551615")])).contains("which has only 12"));
    assert!(message(with_external("w.bin", &[("length", "4")])).contains("takes 8 bytes"));
    assert!(message(with_external("w.bin", &[("offset", "x")])).contains("no number"));
    refused(&with_external("w.bin", &[]), "the model's folder is not known");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("links");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join("secret.bin"), [0u8; 8]).unwrap();
    let link = folder.join("inner").join("w.bin");
    if !link.exists() {
        std::os::unix::fs::symlink("../secret.bin", &link).unwrap();
    }
    let path = folder.join("inner").join("model.onnx");
    std::fs::write(&path, with_external("w.bin", &[])).unwrap();
    assert!(load_network(&path).unwrap_err().to_string().contains("outside of the model's folder"));
}

#[test]
fn errors_say_which_file() {
    let message = load_network(Path::new("no/such/network.onnx")).unwrap_err().to_string();
    assert!(message.starts_with("no/such/network.onnx: cannot be read"), "{message}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("folder.onnx");
    std::fs::create_dir_all(&folder).unwrap();
    assert!(load_network(&folder).unwrap_err().to_string().contains("not a regular file"));
    let error = load_network(Path::new("network.h5")).unwrap_err();
    assert!(matches!(&error, ImportError::File { source, .. } if matches!(**source, ImportError::Format(_))));
    assert!(error.to_string().contains(".onnx or .nnet"));
}
