//! Random expressions: the step computes what a plain interpreter computes, and margins agree with truth.

use crate::support::Linear;
use certus_lang::{LowerOptions, load_str};
use proptest::prelude::*;

/// A real expression over `x` (length 3), `y`, and `i` inside comprehensions.
#[derive(Clone, Debug)]
enum Real {
    Number(i8),
    Y,
    Variable,
    Element(i8),
    ElementAt,
    Binary(&'static str, Box<Real>, Box<Real>),
    Call(&'static str, Box<Real>),
    Halved(Box<Real>),
    If(Box<Bool>, Box<Real>, Box<Real>),
    /// `f([for i in 0..3: e])`
    Reduced(&'static str, Box<Real>),
}

/// A Boolean expression.
#[derive(Clone, Debug)]
enum Bool {
    Constant(bool),
    Compare(&'static str, Box<Real>, Box<Real>),
    Binary(&'static str, Box<Bool>, Box<Bool>),
    Not(Box<Bool>),
    If(Box<Bool>, Box<Bool>, Box<Bool>),
    Reduced(&'static str, Box<Bool>),
    In(Box<Real>, i8),
}

struct Point {
    x: [f64; 3],
    y: f64,
    i: usize,
}

impl Real {
    fn text(&self) -> String {
        match self {
            Real::Number(n) => format!("({n})"),
            Real::Y => "y".into(),
            Real::Variable => "i".into(),
            Real::Element(n) => format!("x[{}]", n.rem_euclid(3)),
            Real::ElementAt => "x[2 - i]".into(),
            Real::Binary(f @ ("max" | "min"), a, b) => format!("{f}({}, {})", a.text(), b.text()),
            Real::Binary(op, a, b) => format!("({}{op}{})", a.text(), b.text()),
            Real::Call(f, a) => format!("{f}({})", a.text()),
            Real::Halved(a) => format!("({} / 2)", a.text()),
            Real::If(c, a, b) => format!("(if {} then {} else {})", c.text(), a.text(), b.text()),
            Real::Reduced(f, e) => format!("{f}([for i in 0..3: {}])", e.text()),
        }
    }

    fn eval(&self, p: &Point) -> f64 {
        match self {
            Real::Number(n) => f64::from(*n),
            Real::Y => p.y,
            Real::Variable => p.i as f64,
            Real::Element(n) => p.x[n.rem_euclid(3) as usize],
            Real::ElementAt => p.x[2 - p.i],
            Real::Binary(op, a, b) => {
                let (a, b) = (a.eval(p), b.eval(p));
                match *op {
                    " + " => a + b,
                    " - " => a - b,
                    " * " => a * b,
                    "max" => a.max(b),
                    _ => a.min(b),
                }
            }
            Real::Call(f, a) => {
                let a = a.eval(p);
                match *f {
                    "abs" => a.abs(),
                    "relu" => a.max(0.0),
                    "floor" => a.floor(),
                    "-" => -a,
                    _ => {
                        if a > 0.0 {
                            1.0
                        } else if a < 0.0 {
                            -1.0
                        } else {
                            0.0
                        }
                    }
                }
            }
            Real::Halved(a) => a.eval(p) / 2.0,
            Real::If(c, a, b) => {
                if c.eval(p) {
                    a.eval(p)
                } else {
                    b.eval(p)
                }
            }
            Real::Reduced(f, e) => {
                let values = (0..3).map(|i| e.eval(&Point { i, ..*p }));
                match *f {
                    "sum" => values.sum(),
                    "max" => values.fold(f64::NEG_INFINITY, f64::max),
                    _ => values.fold(f64::INFINITY, f64::min),
                }
            }
        }
    }
}

impl Bool {
    fn text(&self) -> String {
        match self {
            Bool::Constant(b) => b.to_string(),
            Bool::Compare(op, a, b) => format!("({}{op}{})", a.text(), b.text()),
            Bool::Binary(op, a, b) => format!("({}{op}{})", a.text(), b.text()),
            Bool::Not(a) => format!("!({})", a.text()),
            Bool::If(c, a, b) => format!("(if {} then {} else {})", c.text(), a.text(), b.text()),
            Bool::Reduced(f, e) => format!("{f}([for i in 0..3: {}])", e.text()),
            Bool::In(a, n) => format!("({} in [{n}, {}])", a.text(), n + 2),
        }
    }

    fn eval(&self, p: &Point) -> bool {
        match self {
            Bool::Constant(b) => *b,
            Bool::Compare(op, a, b) => {
                let (a, b) = (a.eval(p), b.eval(p));
                match *op {
                    " < " => a < b,
                    " <= " => a <= b,
                    " > " => a > b,
                    " >= " => a >= b,
                    " == " => a == b,
                    _ => a != b,
                }
            }
            Bool::Binary(op, a, b) => {
                let (a, b) = (a.eval(p), b.eval(p));
                match *op {
                    " & " => a && b,
                    " | " => a || b,
                    " -> " => !a || b,
                    _ => a == b,
                }
            }
            Bool::Not(a) => !a.eval(p),
            Bool::If(c, a, b) => {
                if c.eval(p) {
                    a.eval(p)
                } else {
                    b.eval(p)
                }
            }
            Bool::Reduced(f, e) => {
                let mut values = (0..3).map(|i| e.eval(&Point { i, ..*p }));
                if *f == "all" { values.all(|b| b) } else { values.any(|b| b) }
            }
            Bool::In(a, n) => {
                let a = a.eval(p);
                a >= f64::from(*n) && a <= f64::from(*n) + 2.0
            }
        }
    }
}

fn boxed<T>(value: T) -> Box<T> {
    Box::new(value)
}

/// Real and Boolean expressions of limited depth; `inside` says whether `i` may be mentioned.
fn exprs(depth: u32, inside: bool) -> (BoxedStrategy<Real>, BoxedStrategy<Bool>) {
    let mut leaves = vec![
        (-3..4_i8).prop_map(Real::Number).boxed(),
        Just(Real::Y).boxed(),
        (0..3_i8).prop_map(Real::Element).boxed(),
    ];
    if inside {
        leaves.push(Just(Real::Variable).boxed());
        leaves.push(Just(Real::ElementAt).boxed());
    }
    let leaf = proptest::strategy::Union::new(leaves);
    if depth == 0 {
        let truth = any::<bool>().prop_map(Bool::Constant);
        return (leaf.boxed(), truth.boxed());
    }
    let (real, truth) = exprs(depth - 1, inside);
    let (inner_real, inner_truth) = if inside { (real.clone(), truth.clone()) } else { exprs(depth - 1, true) };
    let binary = prop::sample::select(vec![" + ", " - ", " * ", "max", "min"]);
    let call = prop::sample::select(vec!["abs", "relu", "floor", "sign", "-"]);
    let reals = prop_oneof![
        2 => leaf,
        4 => (binary, real.clone(), real.clone()).prop_map(|(op, a, b)| Real::Binary(op, boxed(a), boxed(b))),
        2 => (call, real.clone()).prop_map(|(f, a)| Real::Call(f, boxed(a))),
        1 => real.clone().prop_map(|a| Real::Halved(boxed(a))),
        2 => (truth.clone(), real.clone(), real.clone())
            .prop_map(|(c, a, b)| Real::If(boxed(c), boxed(a), boxed(b))),
        2 => (prop::sample::select(vec!["sum", "max", "min"]), inner_real)
            .prop_map(|(f, e)| Real::Reduced(f, boxed(e))),
    ];
    let compare = prop::sample::select(vec![" < ", " <= ", " > ", " >= ", " == ", " != "]);
    let connective = prop::sample::select(vec![" & ", " | ", " -> ", " <-> "]);
    let truths = prop_oneof![
        1 => any::<bool>().prop_map(Bool::Constant),
        6 => (compare, real.clone(), real.clone()).prop_map(|(op, a, b)| Bool::Compare(op, boxed(a), boxed(b))),
        4 => (connective, truth.clone(), truth.clone())
            .prop_map(|(op, a, b)| Bool::Binary(op, boxed(a), boxed(b))),
        2 => truth.clone().prop_map(|a| Bool::Not(boxed(a))),
        1 => (truth.clone(), truth.clone(), truth)
            .prop_map(|(c, a, b)| Bool::If(boxed(c), boxed(a), boxed(b))),
        2 => (prop::sample::select(vec!["all", "any"]), inner_truth)
            .prop_map(|(f, e)| Bool::Reduced(f, boxed(e))),
        2 => (real, -3..2_i8).prop_map(|(a, n)| Bool::In(boxed(a), n)),
    ];
    (reals.boxed(), truths.boxed())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn steps_compute_what_is_written(
        real in exprs(4, false).0,
        truth in exprs(4, false).1,
        points in prop::collection::vec(prop::array::uniform4(-6..7_i32), 4),
    ) {
        let (r, b) = (real.text(), truth.text());
        let text = format!(
            "system s\nstate x[3]\nstate y\nnext x = x\nnext y = {r}\ndefine b = {b}\nassume b\nproperty p = G b"
        );
        let system = load_str(&text, &mut Linear, &LowerOptions::default());
        let system = system.unwrap_or_else(|d| panic!("{d}"));
        let assume = system.roles.assume.expect("an assumption");
        for p in points {
            // Halves, so that equalities and boundaries are hit.
            let p = p.map(|v| f64::from(v) / 2.0);
            let point = Point { x: [p[0], p[1], p[2]], y: p[3], i: 0 };
            let out = certus_graph::eval::evaluate::<f64>(&system.step, &[&point.x, &[point.y]]).expect("values");
            prop_assert_eq!(out[system.roles.next[1].port][0], real.eval(&point), "{}", r);
            let (holds, margin) = (out[assume.truth.port][0], out[assume.margin.port][0]);
            prop_assert_eq!(holds == 1.0, truth.eval(&point), "{}", b);
            prop_assert!(holds == 1.0 || holds == 0.0);
            prop_assert!(margin <= 0.0 || holds == 1.0, "margin {} but false: {}", margin, b);
            prop_assert!(margin >= 0.0 || holds == 0.0, "margin {} but true: {}", margin, b);
        }
    }
}
