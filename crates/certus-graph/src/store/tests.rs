//! Writing and reading are inverse to each other; broken texts give one error.

use proptest::prelude::*;

use super::{Lines, StoreError, read_graph, write_graph};
use crate::ops::*;
use crate::{Graph, Interval, NodeId, Op, Tensor};

fn text_of(graph: &Graph) -> String {
    let mut text = Vec::new();
    write_graph(&mut text, graph).unwrap();
    String::from_utf8(text).unwrap()
}

fn graph_of(mut text: &[u8]) -> Result<Graph, StoreError> {
    let mut lines = Lines::new(&mut text, 1 << 24);
    read_graph(&mut lines)
}

/// Equal to the last bit: a zero's sign is not seen by `==`, but it is by the text.
#[track_caller]
fn assert_same(graph: &Graph) {
    let text = text_of(graph);
    let again = graph_of(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(&again == graph, "{text}");
    assert_eq!(text_of(&again), text);
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    match graph_of(text.as_bytes()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

/// A stream of choices and numbers from a seed.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51afd7ed558ccd);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Any double but NaN; often a short one.
    fn number(&mut self) -> f64 {
        match self.below(4) {
            0 => Some(f64::from_bits(self.next())).filter(|value| !value.is_nan()).unwrap_or(f64::NEG_INFINITY),
            1 => (self.below(41) as f64 - 20.0) / 4.0,
            2 => [0.0, -0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -f64::from_bits(1)][self.below(6)],
            _ => self.next() as f64 / u64::MAX as f64 * 2.0 - 1.0,
        }
    }

    fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.number()).collect()
    }

    fn sizes(&mut self, count: usize) -> Vec<f64> {
        self.numbers(count).into_iter().map(f64::abs).collect()
    }

    fn intervals(&mut self, count: usize) -> Vec<Interval> {
        let mut interval = || {
            let lo = (self.below(41) as f64 - 20.0) / 7.0;
            let width = [0.0, 1e-16, 1e-3, 1.0][self.below(4)];
            Interval::new(lo, lo + width)
        };
        (0..count).map(|_| interval()).collect()
    }
}

/// Applications of every operator, with random attributes: the operator and the shapes that it takes.
fn applications(choices: &mut Choices) -> Vec<(Op, Vec<Vec<usize>>)> {
    let mut cases: Vec<(Op, Vec<Vec<usize>>)> = Vec::new();
    let mut case = |op: Op, shapes: &[&[usize]]| cases.push((op, shapes.iter().map(|shape| shape.to_vec()).collect()));
    let window = |axes: usize, choices: &mut Choices| Window {
        kernel: vec![2; axes],
        strides: (0..axes).map(|_| 1 + choices.below(2)).collect(),
        pads: (0..2 * axes).map(|_| choices.below(2)).collect(),
        dilations: vec![1; axes],
    };
    case(Constant::exact(Tensor::new(vec![2, 3], choices.numbers(6)).unwrap()).into(), &[]);
    case(Constant::exact(Tensor::scalar(choices.number())).into(), &[]);
    case(Constant::exact(Tensor::new(vec![3, 0], vec![]).unwrap()).into(), &[]);
    case(Constant::enclosed(&[2, 2], &choices.intervals(4)).unwrap().into(), &[]);
    let dense = Matrix::dense(4, 6, choices.numbers(24));
    let mut entries = vec![vec![(1, choices.number()), (0, choices.number())], vec![], vec![(2, 0.0)], vec![]];
    entries.rotate_left(choices.below(4));
    let affine = Affine::new(vec![dense, Matrix::sparse(3, entries)], choices.numbers(4), vec![2, 2]).unwrap();
    case(affine.clone().into(), &[&[2, 3], &[3]]);
    let error = RowError { weights: choices.sizes(4), bias: choices.sizes(4) };
    case(affine.with_error(error).into(), &[&[2, 3], &[3]]);
    case(Affine::new(vec![], choices.numbers(3), vec![3]).unwrap().into(), &[]);
    let weight = |shape: &[usize], choices: &mut Choices| {
        let count = shape.iter().product();
        Tensor::new(shape, choices.numbers(count)).unwrap()
    };
    let conv = Conv::new(weight(&[2, 1, 2, 2], choices), Some(choices.numbers(2)), window(2, choices), 2).unwrap();
    case(conv.into(), &[&[1, 2, 3, 4]]);
    case(Conv::new(weight(&[3, 2, 2], choices), None, window(1, choices), 1).unwrap().into(), &[&[1, 2, 5]]);
    case(LeakyRelu { alpha: choices.number() }.into(), &[&[2, 3]]);
    case(Elu { alpha: choices.number() }.into(), &[&[2, 3]]);
    case(Clip { lower: choices.number(), upper: choices.number() }.into(), &[&[3]]);
    case(Softmax { axis: choices.below(2) }.into(), &[&[2, 3]]);
    case(MaxPool { window: window(1, choices) }.into(), &[&[1, 2, 5]]);
    let count_include_pad = choices.below(2) == 0;
    case(AveragePool { window: window(2, choices), count_include_pad }.into(), &[&[1, 2, 3, 4]]);
    let unary: [Op; 15] = [
        Relu.into(),
        Tanh.into(),
        Sigmoid.into(),
        Softplus.into(),
        Neg.into(),
        Abs.into(),
        Sqrt.into(),
        Exp.into(),
        Log.into(),
        Sin.into(),
        Cos.into(),
        Floor.into(),
        Not.into(),
        ArgMax.into(),
        Reshape { shape: vec![3, 1, 2] }.into(),
    ];
    unary.into_iter().for_each(|op| case(op, &[&[2, 3]]));
    let comparisons =
        [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual, Compare::Equal, Compare::NotEqual];
    let binary: [Op; 9] =
        [Add.into(), Sub.into(), Mul.into(), Div.into(), Pow.into(), Min.into(), Max.into(), And.into(), Or.into()];
    binary.into_iter().chain(comparisons.map(Op::Compare)).for_each(|op| case(op, &[&[2, 3], &[3]]));
    case(Select.into(), &[&[3], &[2, 3], &[]]);
    case(Concat { axis: 1 }.into(), &[&[2, 3], &[2, 2], &[2, 3]]);
    let ranges =
        vec![SliceRange { axis: 1, start: 2, step: -2, len: 2 }, SliceRange { axis: 0, start: 1, step: 1, len: 0 }];
    case(Slice::new(ranges).into(), &[&[2, 3]]);
    case(Slice::new(vec![]).into(), &[&[2, 3]]);
    case(Gather { axis: 1, indices: vec![2, 0, choices.below(3), 1], index_shape: vec![2, 2] }.into(), &[&[2, 3]]);
    case(Gather { axis: 0, indices: vec![], index_shape: vec![0] }.into(), &[&[3]]);
    case(Transpose { perm: vec![2, 0, 1] }.into(), &[&[1, 2, 5]]);
    for kind in [ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product] {
        let axes = vec![vec![0], vec![1, 0], vec![]].swap_remove(choices.below(3));
        case(Reduce { kind, axes, keep_dims: choices.below(2) == 0 }.into(), &[&[2, 3]]);
    }
    cases
}

/// A node of this shape: one that there is, or a new input.
fn node_of(graph: &mut Graph, shape: &[usize], choices: &mut Choices) -> NodeId {
    let fitting: Vec<NodeId> = graph.ids().filter(|&id| graph.shape(id) == shape).collect();
    if fitting.is_empty() || choices.below(5) == 0 {
        let name = ["x", "", "two words", "\"quoted\\\"", "line\nbreak\r", "größe → 1\u{7}"][choices.below(6)];
        return graph.input(name, shape);
    }
    fitting[choices.below(fitting.len())]
}

fn random_graph(seed: u64, steps: usize) -> Graph {
    let mut choices = Choices(seed);
    let mut graph = Graph::new();
    for _ in 0..steps {
        let mut cases = applications(&mut choices);
        let (op, shapes) = cases.swap_remove(choices.below(cases.len()));
        let args: Vec<NodeId> = shapes.iter().map(|shape| node_of(&mut graph, shape, &mut choices)).collect();
        let node = graph.apply(op, &args).unwrap();
        if choices.below(3) == 0 {
            graph.output("y", node);
        }
    }
    graph
}

#[test]
fn every_operator_is_written_and_read() {
    let mut written = vec!["Input".to_owned()];
    for (op, shapes) in applications(&mut Choices(7)) {
        let mut graph = Graph::new();
        let args: Vec<NodeId> = shapes.iter().map(|shape| graph.input("x", shape)).collect();
        let node = graph.apply(op.clone(), &args).unwrap();
        graph.output("y", node);
        assert_same(&graph);
        written.push(format!("{op:?}").split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned());
    }
    // Differential equations have no stored form.
    for name in OPERATORS.iter().filter(|name| !["Flow", "Throughout"].contains(name)) {
        assert!(written.iter().any(|other| other == name), "{name} has no case");
    }
}

proptest! {
    #[test]
    fn reading_undoes_writing(seed: u64, steps in 0usize..40) {
        assert_same(&random_graph(seed, steps));
    }

    #[test]
    fn broken_texts_give_an_error_or_a_graph(seed: u64, steps in 0usize..12, edits in 1usize..6) {
        let mut bytes = text_of(&random_graph(seed, steps)).into_bytes();
        let mut choices = Choices(seed ^ 0x5eed);
        for _ in 0..edits {
            let at = choices.below(bytes.len());
            match choices.below(4) {
                0 => bytes[at] = choices.next() as u8,
                1 => bytes[at] = b"0123456789[](),:\n \"-e."[choices.below(22)],
                2 => { bytes.remove(at); }
                _ => {
                    let end = (at + choices.below(30)).min(bytes.len());
                    let copied = bytes[at..end].to_vec();
                    let to = choices.below(bytes.len());
                    bytes.splice(to..to, copied);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        match graph_of(&bytes) {
            // What was accepted is a graph like any other.
            Ok(graph) => assert_same(&graph),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn the_text_is_readable() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[2]);
    let map = graph.apply(Affine::dense(vec![1.0, -0.5, 0.25, 3.0], 2, 2, vec![0.0, 1e-9]).unwrap(), &[x]).unwrap();
    let y = graph.apply(Clip { lower: f64::NEG_INFINITY, upper: 0.1 }, &[map]).unwrap();
    graph.output("y", y);
    let expected = "0 Input \"x\" [2]\n1 Affine(0) [2]\ndense\n: 1 -0.5\n: 0.25 3\nbias\n: 0 1e-9\n\
                    2 Clip(1) lower=-inf upper=0.1\noutput \"y\" 2\nend\n";
    assert_eq!(text_of(&graph), expected);
    let commented = expected.replace("dense\n", "# two rows\r\n\n  dense \n");
    assert!(graph_of(commented.as_bytes()).unwrap() == graph);
}

#[test]
fn faults_are_named_with_their_line() {
    refused("", "line 1: the text ends before the graph's `end`");
    refused("0 Input \"x\" [2]", "line 2: the text ends before the graph's `end`");
    refused("1 Input \"x\" [2]\nend", "line 1: expected node 0, `output` or `end`");
    refused("0 Input x [2]\nend", "line 1: expected a name in quotes");
    refused("0 Relu(0)\nend", "line 1: there is no node 0 before this line");
    refused("output \"y\" 0\nend", "line 1: there is no node 0 before this line");
    refused("0 Foo\nend", "line 1: there is no operator \"Foo\"");
    refused("0 Constant [2]\n: 1 2 3\nend", "line 2: expected the end of the line, found `3`");
    refused("0 Constant [2]\n: 1\nend", "line 2: the row has 1 values, 2 are needed");
    refused("0 Constant [2]\n: 1 nan\nend", "line 2: expected a number or an interval, found `nan`");
    refused("0 Constant [2]\nend", "line 2: expected `:`, found `end`");
    refused(
        "0 Input \"x\" [2]\n1 Input \"y\" [3]\n2 Add(0,1)\nend",
        "line 3: Add: shapes [2] and [3] do not broadcast",
    );
    refused("0 Input \"x\" [2]\n1 Elu(0) beta=1\nend", "line 2: expected `alpha=` with a number, found `beta=1`");
    refused(
        "0 Input \"x\" [2]\n1 Affine(0) [1]\nsparse\n: 0 1 0 2\nbias\n: 0\nend",
        "line 4: a row names a column twice, or one beyond 2",
    );
    refused(
        "0 Input \"x\" [2]\n1 Affine(0) [1] rounded\nsparse\n: 0 1\nbias\n: 0\nerror\n: -1\n: 0\nend",
        "line 9: an error bound is negative",
    );
    refused("0 Input \"x\" [2,2]\n1 Reduce(0) kind=sum axes=[1,1] keep=no\nend", "line 2: an axis is reduced twice");
}

#[test]
fn claimed_sizes_are_bounded() {
    let large = "is beyond 268435456 elements";
    refused(
        "0 Input \"x\" [1000000000,1000000000,0]\nend",
        &format!("line 1: a tensor of shape [1000000000, 1000000000, 0] {large}"),
    );
    refused("0 Constant [4000000000]\n: 1\nend", &format!("line 1: a tensor of shape [4000000000] {large}"));
    let mut doubling = "0 Input \"x\" [1]\n".to_owned();
    (1..30).for_each(|node| doubling.push_str(&format!("{node} Concat({0},{0}) axis=0\n", node - 1)));
    refused(&doubling, "line 24: Concat claims 8388608 elements, more than the graph's numbers allow for");
}

#[test]
fn what_has_no_text_is_not_written() {
    let mut graph = Graph::new();
    graph.constant(Tensor::scalar(f64::NAN));
    let error = write_graph(&mut Vec::new(), &graph).unwrap_err();
    assert_eq!(error.to_string(), "a number is not a number (NaN)");
}

#[test]
fn the_length_of_a_text_is_bounded() {
    let mut text = &b"# comment\n0 Input \"x\" [2]\nend\n"[..];
    let mut lines = Lines::new(&mut text, 20);
    assert_eq!(read_graph(&mut lines).unwrap_err().to_string(), "line 2: the text is larger than is accepted");
}
