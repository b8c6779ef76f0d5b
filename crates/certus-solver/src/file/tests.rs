//! Writing and reading are inverse to each other; broken files give one error.

use std::io::Write;

use certus_graph::ops::{Add, Affine, Constant, Exp, LeakyRelu, Mul, Relu};
use certus_graph::{Graph, Interval};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::Region;
use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::Variable;

const EXAMPLE: &str = "certus-query 1\ngraph\n0 Input \"x\" [2]\n1 Relu(0)\noutput \"y\" 1\nend\nregion\n: -1 1\n\
    : 0.09999999999999999 0.2 0.1 0.2\nend\nformula\nand\n1*Y_0 + -2*Y_1 + 0.5 <= 0\nor\n\
    -1*X_0 + [0.09999999999999999,0.1] < 0\nend\nend\n";

fn text_of(query: &Query) -> String {
    let mut text = Vec::new();
    print_query(&mut text, query).unwrap();
    String::from_utf8(text).unwrap()
}

fn parse(text: &[u8]) -> Result<Query, StoreError> {
    parse_query(&mut &text[..])
}

#[track_caller]
fn assert_same(query: &Query) {
    let text = text_of(query);
    let again = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again.original() == query.original(), "{text}");
    assert_eq!(again.region(), query.region());
    assert_eq!(again.formula(), query.formula());
    assert_eq!(text_of(&again), text);
}

/// Any double but NaN; often a short one.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("NaN has no text", |value| !value.is_nan()),
        (-20..20i32).prop_map(|quarter| f64::from(quarter) / 4.0),
        Just(f64::INFINITY),
    ]
}

fn interval() -> impl Strategy<Value = Interval> {
    (-1e3..1e3f64, prop_oneof![Just(0.0), Just(1e-13), Just(f64::INFINITY)])
        .prop_map(|(lo, width)| Interval { lo, hi: lo + width })
}

fn atom() -> impl Strategy<Value = Formula<Variable>> {
    let variable = prop_oneof![(0..3usize).prop_map(Variable::Input), (0..2usize).prop_map(Variable::Output)];
    let terms = prop::collection::btree_map(variable, interval(), 0..4);
    (terms, interval(), any::<bool>()).prop_map(|(terms, constant, strict)| {
        Formula::Atom(Atom { linear: Linear { terms: terms.into_iter().collect(), constant }, strict })
    })
}

fn formula() -> impl Strategy<Value = Formula<Variable>> {
    atom().prop_recursive(5, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Formula::And),
            prop::collection::vec(inner, 0..4).prop_map(Formula::Or),
        ]
    })
}

/// Graphs with three inputs and two outputs; the graph's own tests have every operator.
fn graph() -> impl Strategy<Value = Graph> {
    let weights = prop::collection::vec(-4.0..4.0f64, 6);
    (weights, interval().prop_filter("bounded", |x| x.hi.is_finite()), 0..4usize, "\\PC*").prop_map(
        |(weights, enclosed, kind, name)| {
            let mut graph = Graph::new();
            let x = graph.input(&name, &[1, 2]);
            let scale = graph.input("scale", &[]);
            let offset = graph.apply(Constant::enclosed(&[], &[enclosed]).unwrap(), &[]).unwrap();
            let scaled = graph.apply(Mul, &[x, scale]).unwrap();
            let bias = weights[4..].to_vec();
            let map = Affine::dense(weights[..4].to_vec(), 2, 2, bias).unwrap();
            let mapped = graph.apply(map, &[scaled]).unwrap();
            let y = match kind {
                0 => graph.apply(Relu, &[mapped]).unwrap(),
                1 => graph.apply(LeakyRelu { alpha: weights[0] }, &[mapped]).unwrap(),
                2 => graph.apply(Exp, &[mapped]).unwrap(),
                _ => graph.apply(Add, &[mapped, offset]).unwrap(),
            };
            graph.output(&name, y);
            graph
        },
    )
}

fn query() -> impl Strategy<Value = Query> {
    let ends = || prop::collection::vec(number(), 3);
    let region = (ends(), ends(), ends(), ends(), any::<bool>()).prop_map(|(lower, upper, a, b, same)| match same {
        true => Region::new(lower, upper),
        false => Region { inner_lower: a, inner_upper: b, ..Region::new(lower, upper) },
    });
    (graph(), region, formula()).prop_map(|(graph, region, formula)| Query::new(&graph, region, formula).unwrap())
}

proptest! {
    #[test]
    fn reading_undoes_writing(query in query()) {
        assert_same(&query);
    }

    #[test]
    fn broken_files_give_an_error_or_a_query(
        query in query(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..5),
    ) {
        let mut bytes = text_of(&query).into_bytes();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"0123456789[],:*+<\n \"-eXY_"[usize::from(byte) % 25],
                _ => bytes.truncate(at.max(1)),
            }
        }
        match parse(&bytes) {
            Ok(query) => assert_same(&query),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn the_example_is_as_the_writer_has_it() {
    assert_eq!(text_of(&parse(EXAMPLE.as_bytes()).unwrap()), EXAMPLE);
}

#[test]
fn files_are_plain_or_compressed() {
    let query = parse(EXAMPLE.as_bytes()).unwrap();
    let folder = std::env::temp_dir().join(format!("certus-query-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["a.query", "a.query.gz"] {
        let path = folder.join(name);
        write_query(&path, &query).unwrap();
        assert_eq!(std::fs::read(&path).unwrap().starts_with(&GZIP), name.ends_with(".gz"));
        assert_eq!(text_of(&read_query(&path).unwrap()), EXAMPLE, "{name}");
    }
    let broken = folder.join("broken.query");
    let mut encoder = GzEncoder::new(std::fs::File::create(&broken).unwrap(), Compression::default());
    encoder.write_all(EXAMPLE.replace("Relu", "Rely").as_bytes()).unwrap();
    encoder.finish().unwrap();
    let error = read_query(&broken).unwrap_err().to_string();
    assert_eq!(error, format!("{}:4: there is no operator \"Rely\"", broken.display()));
    let missing = read_query(&folder.join("missing.query")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read "), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn faults_are_named_with_their_line() {
    let check = |from: &str, to: &str, expected: &str| {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE, "{from}");
        assert_eq!(parse(text.as_bytes()).map(|_| ()).unwrap_err().to_string(), expected);
    };
    check("certus-query 1", "certus-query 2", "line 1: expected `certus-query 1`, the first line of a query");
    check(": -1 1\n", "", "line 9: expected `:`, found `end`");
    check(": -1 1\n", ": -1 1\n: -1 1\n", "line 10: expected `end`, found `:`");
    check("-1 1", "-1 nan", "line 8: expected a number, found `nan`");
    check("-2*Y_1", "-2*Y_0", "line 13: Y_0 occurs twice in a comparison");
    check("-2*Y_1", "-2*Z_1", "line 13: expected a variable of the form X_0 or Y_0");
    check("0.5 <= 0", "0.5 >= 0", "line 13: expected `<=` or `<` after the constant");
    check("0.5 <= 0", "0.5 <= 1", "line 13: expected `0`, found `1`");
    check("-2*Y_1", "-2*Y_7", "line 18: the formula speaks of Output(7), which does not exist");
    check("end\nend\n", "end\nend\nend\n", "line 18: the query is complete before this line");
    check("end\nend\n", "end\n", "line 17: the text ends before the end of the formula");
    check("and\n", "end\n", "line 12: this `end` ends nothing");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (before, _) = EXAMPLE.split_once("and\n").unwrap();
        format!("{before}{}1*X_0 + 0 <= 0\n{}", "or\n".repeat(depth), "end\n".repeat(depth))
    };
    assert_same(&parse(nested(MAX_DEPTH).as_bytes()).unwrap());
    let error = parse(nested(100_000).as_bytes()).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, format!("line {}: the formula is nested more than {MAX_DEPTH} deep", 12 + MAX_DEPTH));
}
