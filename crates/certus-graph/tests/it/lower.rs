//! Lowering keeps the function and leaves only the kinds of nodes that it promises.

use certus_graph::eval::{enclose, evaluate};
use certus_graph::flow::{Condition, Field};
use certus_graph::lower::{Kind, LARGEST_PAIRING, lower};
use certus_graph::ops::*;
use certus_graph::{Graph, Interval, NodeId, Op, Tensor};
use certus_testing::graphs::{exact_graphs, graphs};
use certus_testing::sketch::enclose_around;
use proptest::prelude::*;

/// Whether sums and products of two such numbers are exact.
fn has_few_digits(x: f64) -> bool {
    let scale = f64::from(1 << 20);
    x.abs() <= scale && (x * scale).fract() == 0.0
}

fn opaque(graph: &Graph) -> Vec<&'static str> {
    graph.ids().filter(|&id| Kind::of(graph, id) == Kind::Opaque).map(|id| graph.node(id).op.name()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn values_stay_the_same_up_to_rounding(graph in graphs(), point in prop::collection::vec(-2.0f64..2.0, 10)) {
        let lowered = lower(&graph).unwrap();
        let inputs = [&point[..3], &point[3..9], &point[9..]];
        let (before, after) = (evaluate(&graph, &inputs).unwrap(), evaluate(&lowered, &inputs).unwrap());
        let enclosed = enclose_around(&lowered, &inputs, 1e-11);
        let values = before.iter().flatten().zip(after.iter().flatten());
        for ((&a, &b), interval) in values.zip(enclosed.iter().flatten()) {
            // Next to a jump rounding may put either form on the wrong side; the enclosure is wide there.
            let close = (a - b).abs() <= 1e-8 * (1.0 + a.abs());
            prop_assert!(close || interval.width() > 1e-6 * (1.0 + a.abs()), "{a} became {b}: {graph:?}");
            prop_assert!(interval.widen(1e-8 * (1.0 + a.abs())).contains(a), "{a} is not in {interval}: {graph:?}");
        }
    }

    #[test]
    fn ties_and_jumps_are_kept_exactly(
        (graph, all) in exact_graphs(),
        point in prop::collection::vec((-4i32..5).prop_map(|x| f64::from(x) / 2.0), 10),
    ) {
        let inputs = [&point[..3], &point[3..9], &point[9..]];
        let exact = evaluate(&all, &inputs).unwrap().iter().flatten().all(|&x| has_few_digits(x));
        prop_assume!(exact);
        let lowered = lower(&graph).unwrap();
        prop_assert_eq!(evaluate(&graph, &inputs).unwrap(), evaluate(&lowered, &inputs).unwrap());
    }

    #[test]
    fn enclosures_contain_what_the_original_computes(
        graph in graphs(),
        point in prop::collection::vec(-2.0f64..2.0, 10),
        radius in 0.0f64..0.5,
        directions in prop::collection::vec(prop::collection::vec(-1.0f64..=1.0, 10), 4),
    ) {
        let lowered = lower(&graph).unwrap();
        let enclosed = enclose_around(&lowered, &[&point[..3], &point[3..9], &point[9..]], radius);
        for direction in directions {
            let sample: Vec<f64> = point.iter().zip(&direction).map(|(x, d)| x + radius * d).collect();
            let values = evaluate(&graph, &[&sample[..3], &sample[3..9], &sample[9..]]).unwrap();
            for (&y, interval) in values.iter().flatten().zip(enclosed.iter().flatten()) {
                prop_assert!(interval.widen(1e-8 * (1.0 + y.abs())).contains(y), "{y} is not in {interval}: {graph:?}");
            }
        }
    }

    #[test]
    fn nothing_opaque_remains_and_the_interface_is_kept(graph in graphs()) {
        let lowered = lower(&graph).unwrap();
        prop_assert_eq!(opaque(&lowered), Vec::<&str>::new());
        for (before, after) in
            graph.inputs().iter().zip(lowered.inputs()).chain(graph.outputs().iter().zip(lowered.outputs()))
        {
            prop_assert_eq!(&before.name, &after.name);
            prop_assert_eq!(graph.shape(before.node), lowered.shape(after.node));
        }
        prop_assert_eq!(graph.inputs().len(), lowered.inputs().len());
        prop_assert_eq!(graph.outputs().len(), lowered.outputs().len());
        let again = lower(&lowered).unwrap();
        prop_assert!(again.len() <= lowered.len(), "{lowered:?} grew to {again:?}");
    }
}

fn operators(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|node| node.op.name()).collect()
}

/// The operator on inputs of these shapes, alone in a graph.
fn alone(op: impl Into<Op>, shapes: &[&[usize]]) -> Graph {
    let mut graph = Graph::new();
    let args: Vec<NodeId> = shapes.iter().map(|shape| graph.input("x", shape)).collect();
    let y = graph.apply(op, &args).unwrap();
    graph.output("y", y);
    graph
}

fn lowered_names(graph: &Graph) -> Vec<&'static str> {
    let lowered = lower(graph).unwrap();
    operators(&lowered).into_iter().filter(|&name| name != "Input" && name != "Constant").collect()
}

/// An operator, the shapes of its arguments, and what it becomes; constants and inputs are not listed.
type Lowered = (Op, Vec<&'static [usize]>, Vec<&'static str>);

/// What every operator becomes on its own.
fn table() -> Vec<Lowered> {
    let vector: &[usize] = &[3];
    let weights = Tensor::new([2, 1, 2], vec![1.0, -1.0, 0.5, 0.25]).unwrap();
    let window = || Window::simple(vec![2]);
    let tree = ["Affine", "Relu", "Affine", "Relu", "Affine"];
    let mut table: Vec<Lowered> = vec![
        (Input.into(), vec![], vec![]),
        (Constant::exact(Tensor::scalar(1.0)).into(), vec![], vec![]),
        (Affine::dense(vec![1.0; 3], 1, 3, vec![0.0]).unwrap().into(), vec![vector], vec!["Affine"]),
        (Conv::new(weights, None, window(), 1).unwrap().into(), vec![&[1, 1, 4]], vec!["Affine"]),
        (Softmax { axis: 0 }.into(), vec![vector], vec!["Affine", "Exp", "Affine", "Div"]),
        (Softmax { axis: 0 }.into(), vec![&[2]], vec!["Affine", "Sigmoid"]),
        (Softmax { axis: 0 }.into(), vec![&[LARGEST_PAIRING]], vec!["Softmax"]),
        (MaxPool { window: window() }.into(), vec![&[1, 2, 4]], vec!["Affine", "Relu", "Affine"]),
        (AveragePool { window: window(), count_include_pad: true }.into(), vec![&[1, 2, 4]], vec!["Affine"]),
        (Div.into(), vec![vector, vector], vec!["Div", "Mul"]),
        (Pow.into(), vec![vector, vector], vec!["Log", "Mul", "Exp"]),
        (Select.into(), vec![vector, vector, vector], vec!["Less", "Greater", "Affine", "Affine", "Mul", "Affine"]),
        (ArgMax.into(), vec![&[2]], vec!["Affine", "Greater", "Affine"]),
        (ArgMax.into(), vec![&[LARGEST_PAIRING]], vec!["ArgMax"]),
        (Concat { axis: 0 }.into(), vec![vector, vector], vec!["Concat"]),
        (Slice::of_vector(1, 2).into(), vec![vector], vec!["Slice"]),
        (Gather { axis: 0, indices: vec![2, 0], index_shape: vec![2] }.into(), vec![vector], vec!["Gather"]),
        (Reshape { shape: vec![3, 1] }.into(), vec![vector], vec!["Reshape"]),
        (Transpose { perm: vec![1, 0] }.into(), vec![&[2, 3]], vec!["Transpose"]),
        (Mul.into(), vec![&[2, 1], vector], vec!["Reshape", "Gather", "Gather", "Mul"]),
        (Not.into(), vec![vector], vec!["Less", "Greater", "Affine"]),
        (And.into(), vec![vector, vector], vec!["Less", "Greater", "Affine", "Less", "Greater", "Affine", "Mul"]),
        (
            Or.into(),
            vec![vector, vector],
            vec!["Less", "Greater", "Affine", "Less", "Greater", "Affine", "Mul", "Affine"],
        ),
    ];
    for (kind, names) in [
        (ReduceKind::Sum, vec!["Affine"]),
        (ReduceKind::Mean, vec!["Affine"]),
        (ReduceKind::Max, tree.to_vec()),
        (ReduceKind::Min, tree.to_vec()),
        (
            ReduceKind::Product,
            vec!["Gather", "Gather", "Gather", "Mul", "Concat", "Gather", "Gather", "Mul", "Reshape"],
        ),
    ] {
        table.push((Reduce::all(kind, 1).into(), vec![vector], names));
    }
    for compare in [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual] {
        table.push((compare.into(), vec![vector, vector], vec!["Affine", Op::from(compare).name()]));
    }
    for compare in [Compare::Equal, Compare::NotEqual] {
        table.push((compare.into(), vec![vector, vector], vec!["Affine", "Less", "Greater", "Affine"]));
    }
    for op in [Op::from(Add), Sub.into()] {
        table.push((op, vec![vector, vector], vec!["Affine"]));
    }
    for op in [Op::from(Max), Min.into()] {
        table.push((op, vec![vector, vector], vec!["Affine", "Relu", "Affine"]));
    }
    table.push((Neg.into(), vec![vector], vec!["Affine"]));
    let mut slope = Graph::new();
    let state = slope.input("state", &[3]);
    slope.input("held", &[1]);
    slope.output("slope", state);
    let flow = Flow { field: Field::new(&slope, &[]).unwrap().into(), duration: 0.5 };
    table.push((flow.clone().into(), vec![vector, &[1]], vec!["Flow"]));
    let mut always = Graph::new();
    always.input("state", &[3]);
    always.input("held", &[1]);
    let one = always.constant(Tensor::vector(vec![1.0]));
    always.output("truth", one);
    always.output("margin", one);
    let (condition, quantity) = (Condition::new(always).unwrap(), Quantity::Truth);
    let throughout = Throughout { flow, condition, quantity, from: Interval::ZERO, to: Interval::point(0.5) };
    table.push((throughout.into(), vec![vector, &[1]], vec!["Throughout"]));
    let clip = Clip { lower: -1.0, upper: 1.0 };
    let curves: [Op; 14] = [
        Relu.into(),
        LeakyRelu { alpha: 0.1 }.into(),
        clip.into(),
        Tanh.into(),
        Sigmoid.into(),
        Elu { alpha: 1.0 }.into(),
        Softplus.into(),
        Abs.into(),
        Sqrt.into(),
        Exp.into(),
        Log.into(),
        Sin.into(),
        Cos.into(),
        Floor.into(),
    ];
    for op in curves {
        let name = op.name();
        table.push((op, vec![vector], vec![name]));
    }
    table
}

#[test]
fn every_operator_becomes_what_the_table_says() {
    let table = table();
    for name in OPERATORS {
        let listed =
            table.iter().any(|(op, ..)| format!("{op:?}").split(|c: char| !c.is_alphanumeric()).next() == Some(name));
        assert!(listed, "{name} is not in the table");
    }
    for (op, shapes, expected) in table {
        let name = op.name();
        if let Op::Input(_) = op {
            continue;
        }
        assert_eq!(lowered_names(&alone(op, &shapes)), expected, "{name} on {shapes:?}");
    }
}

fn enclosed_at(graph: &Graph, x: Interval) -> Interval {
    enclose(graph, &[&[x]]).unwrap()[0][0]
}

#[test]
fn a_branch_that_is_not_taken_need_not_be_defined() {
    // x > 1 ? ln x : x, and the same with its branches exchanged, and with a partial function in both.
    for (compare, swapped, both) in
        [(Compare::Greater, false, false), (Compare::LessEqual, true, false), (Compare::Greater, false, true)]
    {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let one = graph.scalar(1.0);
        let condition = graph.apply(compare, &[x, one]).unwrap();
        let logarithm = graph.apply(Log, &[x]).unwrap();
        let other = if both {
            let negative = graph.apply(Neg, &[x]).unwrap();
            graph.apply(Sqrt, &[negative]).unwrap()
        } else {
            x
        };
        let branches = if swapped { [other, logarithm] } else { [logarithm, other] };
        let y = graph.apply(Select, &[condition, branches[0], branches[1]]).unwrap();
        graph.output("y", y);
        let lowered = lower(&graph).unwrap();
        assert_eq!(opaque(&lowered), Vec::<&str>::new());
        let low = enclosed_at(&lowered, Interval::new(-4.0, -1.0));
        let high = enclosed_at(&lowered, Interval::new(2.0, 3.0));
        assert!(low.magnitude() < 9.0, "{compare:?}: {low} at a point where the logarithm is not taken");
        assert!(high.contains(1.0) && high.magnitude() < 9.0, "{compare:?}: {high} where the logarithm is taken");
        assert_eq!(enclosed_at(&lowered, Interval::new(-1.0, 3.0)), Interval::ENTIRE);
    }
}

#[test]
fn rounding_of_constants_is_carried_along() {
    // 0.1 + 0.2 is not a double; whatever reads the folded constant must allow for what it stands for.
    let exact = Interval::point(0.1) + Interval::point(0.2);
    assert!(exact.width() > 0.0);
    let expected: [(Op, Interval); 4] = [
        (Max.into(), exact),
        (Div.into(), exact / Interval::point(-2.0)),
        (Pow.into(), Interval::point(3.0).pow(exact)),
        (Select.into(), exact),
    ];
    for (op, value) in expected {
        let mut graph = Graph::new();
        let x = graph.input("x", &[1]);
        let (tenth, fifth) = (graph.scalar(0.1), graph.scalar(0.2));
        let constant = graph.apply(Add, &[tenth, fifth]).unwrap();
        let (args, point) = match op {
            Op::Max(_) => (vec![x, constant], -2.0),
            Op::Div(_) => (vec![constant, x], -2.0),
            Op::Pow(_) => (vec![x, constant], 3.0),
            _ => (vec![x, constant, x], -2.0),
        };
        let y = graph.apply(op.clone(), &args).unwrap();
        graph.output("y", y);
        let enclosed = enclosed_at(&lower(&graph).unwrap(), Interval::point(point));
        assert!(enclosed.encloses(value), "{}: {enclosed} and {}", op.name(), value);
        assert!(enclosed.width() < 1e-13, "{}: {enclosed}", op.name());
    }
}

#[test]
fn a_comparison_and_its_negation_share_a_step() {
    let mut graph = Graph::new();
    let (a, b) = (graph.input("a", &[2]), graph.input("b", &[2]));
    for (compare, args) in [
        (Compare::Less, [a, b]),
        (Compare::GreaterEqual, [a, b]),
        (Compare::LessEqual, [b, a]),
        (Compare::Greater, [b, a]),
    ] {
        let y = graph.apply(compare, &args).unwrap();
        graph.output("y", y);
    }
    let lowered = lower(&graph).unwrap();
    assert_eq!(operators(&lowered)[2..], ["Affine", "Constant", "Less", "Affine"]);
    let values = evaluate(&lowered, &[&[1.0, 2.0], &[1.0, 3.0]]).unwrap();
    assert_eq!(values, [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn a_large_pool_is_a_few_vectors() {
    let window = Window { kernel: vec![3, 3], strides: vec![2, 2], pads: vec![1; 4], dilations: vec![1, 1] };
    let graph = alone(MaxPool { window }, &[&[1, 4, 16, 16]]);
    let lowered = lower(&graph).unwrap();
    // Nine elements in four levels, each a difference, a rectification and a sum.
    assert!(lowered.len() <= 1 + 4 * 3, "{:?}", operators(&lowered));
    let image: Vec<f64> = (0..1024).map(|i| f64::from(i * 37 % 101)).collect();
    assert_eq!(evaluate(&graph, &[&image]).unwrap(), evaluate(&lowered, &[&image]).unwrap());
}

#[test]
fn softmax_is_stable_for_large_arguments() {
    let graph = alone(Softmax { axis: 0 }, &[&[3, 2]]);
    let lowered = lower(&graph).unwrap();
    let point = [1e4f64, -1.0, 1e4, 0.5, -1e4, 1.0];
    let (before, after) = (evaluate(&graph, &[&point]).unwrap(), evaluate(&lowered, &[&point]).unwrap());
    for (a, b) in before[0].iter().zip(&after[0]) {
        assert!((a - b).abs() < 1e-12, "{a} and {b}");
    }
}

#[test]
fn nothing_is_lost_of_tensors_without_elements() {
    let mut graph = alone(Max, &[&[0, 2], &[2]]);
    let empty = graph.inputs()[0].node;
    let product = graph.apply(Reduce { kind: ReduceKind::Product, axes: vec![0], keep_dims: false }, &[empty]).unwrap();
    graph.output("product", product);
    let lowered = lower(&graph).unwrap();
    assert_eq!(evaluate(&lowered, &[&[], &[1.0, 2.0]]).unwrap(), [vec![], vec![1.0, 1.0]]);
}
