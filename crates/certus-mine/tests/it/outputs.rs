//! What is written can be read again, and says the same.

use std::path::Path;

use crate::common::{CONFIG, config};
use certus_documents::Document;
use certus_graph::Graph;
use certus_graph::ops::{Affine, Relu};
use certus_mine::config::Config;
use certus_mine::outputs::OutputSet;
use certus_mine::query::{Edges, Network, Verdict, region, violation};
use certus_mine::sql::{Dialect, statements};
use certus_mine::write::{from_json, picture, sentence, specifications_document, vnnlib};
use certus_mine::{Bound, Specification};
use certus_solver::formula::Formula;
use certus_solver::vnnlib::{Variable, parse};
use certus_solver::{Answer, Budget, Query, solve};
use proptest::prelude::*;

fn specification(low: f64, wide: f64, allowed: u64) -> Specification {
    let bound = |column, low: f64, wide: f64| Bound { column, low, high: low + wide };
    Specification {
        bounds: vec![bound(0, low, wide), bound(1, 0.25, 0.5)],
        allowed: OutputSet(allowed),
        observed: vec![bound(2, 0.0, 1.0)],
    }
}

/// Truth of a formula at some outputs.
fn holds(formula: &Formula<Variable>, outputs: &[f64]) -> bool {
    let value = |variable: &Variable| match variable {
        Variable::Output(index) => certus_graph::Interval::point(outputs[*index]),
        Variable::Input(_) => certus_graph::Interval::ENTIRE,
    };
    formula.certainty(&value) == Some(true)
}

proptest! {
    #[test]
    fn json_is_read_again(low in -10.0..10.0, wide in 0.0..5.0, allowed in 1u64..7) {
        let config = config();
        let mut all = vec![specification(low, wide, allowed), specification(0.1, 0.2, 1)];
        all[1].bounds[0].low = f64::NEG_INFINITY;
        let text = specifications_document("mined", &config.layout, &all).to_line().unwrap();
        prop_assert_eq!(from_json(&config.layout, &text).unwrap(), all);
    }

    #[test]
    fn a_violation_is_exactly_what_the_network_decides_otherwise(
        allowed in 1u64..7, outputs in prop::collection::vec(-2i8..3, 3)
    ) {
        let config = config();
        // Small whole numbers: ties are common.
        let outputs: Vec<f64> = outputs.into_iter().map(f64::from).collect();
        let decided = config.layout.outputs.decided(&outputs).unwrap();
        let exact = holds(&violation(&config.layout.outputs, OutputSet(allowed), Edges::Exact), &outputs);
        prop_assert_eq!(exact, !OutputSet(allowed).contains(decided));
        let closed = holds(&violation(&config.layout.outputs, OutputSet(allowed), Edges::Closed), &outputs);
        prop_assert!(closed || !exact);
    }

    #[test]
    fn violations_of_numbers_are_what_bands_say(allowed in 1u64..7, output in -3i8..4) {
        for meaning in ["sign = true", "thresholds = [-1, 2]"] {
            let text = CONFIG.replace("labels = [\"low\", \"mid\", \"high\"]", meaning);
            let outputs = Config::parse(&text, Path::new("")).unwrap().layout.outputs;
            let decided = outputs.decided(&[f64::from(output)]).unwrap();
            let exact = holds(&violation(&outputs, OutputSet(allowed), Edges::Exact), &[f64::from(output)]);
            prop_assert_eq!(exact, !OutputSet(allowed).contains(decided), "{}", meaning);
        }
    }

    #[test]
    fn vnnlib_asks_the_same_region_and_formula(low in -10.0..10.0, wide in 0.0..5.0, allowed in 1u64..7) {
        for meaning in ["labels = [\"low\", \"mid\", \"high\"]", "sign = true\nmargin = 0.5", "thresholds = [-1, 2]"] {
            let text = CONFIG.replace("labels = [\"low\", \"mid\", \"high\"]", meaning);
            let layout = Config::parse(&text, Path::new("")).unwrap().layout;
            let own = specification(low, wide, allowed);
            let text = vnnlib(&layout, &own).unwrap();
            let read = parse(&text).unwrap();
            prop_assert_eq!((read.inputs, read.outputs), (4, layout.outputs.network_outputs()));
            let region = region(&layout, &own, &[true; 4]).unwrap();
            let cases = read.cases(8).unwrap();
            prop_assert_eq!(cases.len(), 1);
            for (input, &(from, to)) in region.iter().enumerate() {
                // A decimal lies between two doubles, of which the one that was written is one.
                prop_assert!(cases[0].lower[input] <= from && from <= cases[0].lower[input].next_up());
                prop_assert!(cases[0].upper[input] >= to && to >= cases[0].upper[input].next_down());
            }
            let closed = violation(&layout.outputs, OutputSet(allowed), Edges::Closed);
            for point in 0..27 {
                let outputs = [point % 3, point / 3 % 3, point / 9].map(|y| f64::from(y) * 1.5 - 1.5);
                prop_assert_eq!(holds(&cases[0].formula, &outputs), holds(&closed, &outputs));
            }
        }
    }
}

#[test]
fn wrong_specifications_are_named() {
    let layout = config().layout;
    let error = |text: &str| from_json(&layout, text).unwrap_err().to_string();
    let unknown = error("[{\"when\": {\"x\": [0, 1]}, \"allowed\": [\"low\"]}]");
    assert!(unknown.contains("specification 1: the configuration has no column `x`"));
    assert!(error("[{\"when\": {\"buffer\": [2, 1]}, \"allowed\": [\"low\"]}]").contains("expected [low, high]"));
    assert!(error("[{\"when\": {}, \"allowed\": [\"fast\"]}]").contains("`fast` is not a label"));
    assert!(error("[{\"when\": {}, \"allowed\": [\"low\", \"mid\", \"high\"]}]").contains("not everything"));
    assert!(error("[{\"when\": {}}]").contains("`allowed` must be a list"));
    assert!(error("{}").contains("expected a list"));
    assert!(error("[").contains("line 1"));
}

/// low = relu(1 − buffer), mid = relu(buffer), high = time − 3; reads inputs 0 and 3 only.
fn network() -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[4]);
    let slices = [certus_graph::ops::Slice::of_vector(0, 1), certus_graph::ops::Slice::of_vector(3, 1)];
    let slices: Vec<_> = slices.into_iter().map(|slice| graph.apply(slice, &[x]).unwrap()).collect();
    let both = graph.apply(certus_graph::ops::Concat { axis: 0 }, &slices).unwrap();
    let layer = Affine::dense(vec![-1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 3, 2, vec![1.0, 0.0, 0.0]).unwrap();
    let hidden = graph.apply(layer, &[both]).unwrap();
    let hidden = graph.apply(Relu, &[hidden]).unwrap();
    let last = Affine::dense(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3, 3, vec![0.0, 0.0, -3.0]).unwrap();
    let out = graph.apply(last, &[hidden]).unwrap();
    graph.output("y", out);
    graph
}

#[test]
fn networks_are_judged_by_what_they_decide() {
    let layout = config().layout;
    let network = Network::new(network(), &layout).unwrap();
    let budget = Budget::default();
    let verdict =
        |own: &Specification| network.verify(&layout, own, &mut OutputSet::default(), &budget, &mut |_| {}).unwrap();
    // Below a buffer of a half the first output is the greatest, above it the second.
    assert_eq!(verdict(&specification(0.0, 0.4, 0b001)), Verdict::Holds);
    assert_eq!(verdict(&specification(0.6, 0.3, 0b010)), Verdict::Holds);
    assert_eq!(verdict(&specification(0.0, 0.9, 0b011)), Verdict::Holds);
    let Verdict::Violated(witness) = verdict(&specification(0.2, 0.6, 0b001)) else { panic!("it decides mid") };
    assert!(witness.inputs[0] > 0.5 && witness.inputs[0] <= 0.8);
    // What the network does not read was not searched.
    assert_eq!((witness.inputs[1], witness.inputs[2]), (0.0, 0.0));

    // Label by label, as hard questions are asked: what is known to be impossible is not asked about again.
    let by_label = |own: &Specification, known: u64| {
        let mut impossible = OutputSet(known);
        let verdict = network.verify(&layout, own, &mut impossible, &budget, &mut |_| {}).unwrap();
        (verdict, impossible)
    };
    assert_eq!(by_label(&specification(0.0, 0.4, 0b001), 0b100), (Verdict::Holds, OutputSet(0b110)));
    let (verdict, impossible) = by_label(&specification(0.2, 0.6, 0b001), 0b100);
    assert!(matches!(verdict, Verdict::Violated(_)) && impossible == OutputSet(0b100), "{verdict:?}");
    let (verdict, impossible) = by_label(&specification(0.2, 0.6, 0b010), 0b100);
    assert!(matches!(verdict, Verdict::Violated(_)) && impossible == OutputSet(0b100), "{verdict:?}");

    // The same question by way of its file; there a tie is a violation.
    let asked = |own: &Specification| {
        let read = parse(&vnnlib(&layout, own).unwrap()).unwrap();
        let cases = read.cases(8).unwrap();
        let queries = Query::from_specification(network.graph(), &read, cases).unwrap();
        solve(&queries[0], &budget, &mut |_| {}).unwrap()
    };
    assert!(matches!(asked(&specification(0.0, 0.4, 0b001)), Answer::Unsat(_)));
    assert!(matches!(asked(&specification(0.0, 0.5, 0b001)), Answer::Sat(_)));
}

#[test]
fn a_number_that_is_passed_over_is_a_violation_between_two_points() {
    let text = CONFIG.replace("labels = [\"low\", \"mid\", \"high\"]", "sign = true");
    let layout = Config::parse(&text, Path::new("")).unwrap().layout;
    let mut graph = Graph::new();
    let x = graph.input("x", &[4]);
    let out = graph.apply(Affine::dense(vec![1.0, 0.3, 0.0, 0.0], 1, 4, vec![-1.0 / 3.0]).unwrap(), &[x]).unwrap();
    let out = graph.apply(certus_graph::ops::Tanh, &[out]).unwrap();
    graph.output("y", out);
    let network = Network::new(graph, &layout).unwrap();
    let changes = specification(0.0, 1.0, 0b101);
    let verdict =
        network.verify(&layout, &changes, &mut OutputSet::default(), &Budget::default(), &mut |_| {}).unwrap();
    let Verdict::Crossed(below, above) = verdict else { panic!("{verdict:?}") };
    assert!(below[0] + 0.3 * below[1] < 1.0 / 3.0 && above[0] + 0.3 * above[1] > 1.0 / 3.0);
    // Where it never passes zero, it holds.
    let positive = specification(0.4, 0.5, 0b101);
    assert_eq!(
        network.verify(&layout, &positive, &mut OutputSet::default(), &Budget::default(), &mut |_| {}).unwrap(),
        Verdict::Holds
    );
}

#[test]
fn networks_of_another_size_are_refused() {
    let layout = config().layout;
    let mut graph = Graph::new();
    let x = graph.input("x", &[3]);
    graph.output("y", x);
    let network = Network::new(graph, &layout).unwrap();
    let error = network
        .verify(&layout, &specification(0.0, 1.0, 1), &mut OutputSet::default(), &Budget::default(), &mut |_| {})
        .unwrap_err();
    assert_eq!(error.to_string(), "the network has 3 inputs, the configuration says 4");
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    graph.output("y", x);
    assert!(Network::new(graph, &layout).is_err());
}

#[test]
fn pictures_and_sentences_show_every_specification() {
    let layout = config().layout;
    let all = [specification(0.1, 0.2, 0b011), specification(0.3, 0.2, 0b100)];
    let svg = picture(&layout, &[(0.0, 1.0), (0.0, 1.0)], &all);
    assert_eq!(svg.matches("#3b6ea5\"/>").count(), 4);
    assert_eq!(svg.matches("<circle").count(), 6);
    assert_eq!(
        sentence(&layout, &all[1]),
        "When buffer is from 3 to 5 s and time −1 is from 0.25 to 0.75, the speed is high."
    );
}

#[test]
fn sql_is_written_in_three_dialects() {
    let config = config();
    let text = statements(&config, Dialect::DuckDb).unwrap();
    assert!(text.contains("read_csv(['careful.csv'], header = true, all_varchar = true)"));
    assert!(text.contains("\"cell_buffer\"") && text.contains("CAST('20.0' AS DOUBLE) * (\"buffer\" - low_0)"));
    let error = statements(&config, Dialect::Trino).unwrap_err().to_string();
    assert_eq!(error, "[[reference]] careful: give the name of its `table` in Trino");
    let with_tables = CONFIG.replace("name = \"careful\"", "name = \"careful\"\ntable = \"logs.careful\"");
    let with_tables = with_tables.replace("name = \"bold\"", "name = \"bold\"\ntable = \"logs.bold\"");
    let config = Config::parse(&with_tables, Path::new("")).unwrap();
    let spark = statements(&config, Dialect::Spark).unwrap();
    assert!(spark.contains("FROM logs.bold") && spark.contains("`cell_buffer`") && spark.contains("AS STRING"));
    assert!(statements(&config, Dialect::Trino).unwrap().contains("AS VARCHAR"));
}
