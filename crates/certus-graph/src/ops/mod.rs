//! The operators, one per file, behind one enum.
//!
//! An operator is four things: a name, a shape rule, an evaluation in floats over a batch of points, and a sound
//! enclosure over intervals. [`Operator`] is that contract; the conformance suite runs every operator through it.
//! Elementwise operators implement the smaller [`Unary`] or [`Binary`] contract and get the rest from there;
//! operators that only move values implement [`Movement`].
//!
//! Batches are *element-major*: element `i` of point `b` stands at `i * batch + b`. So every operator runs over
//! contiguous rows of points whatever the shape, slices and concatenations are copies of rows, and a dense layer is
//! one matrix product.

use crate::{GraphError, Interval, Real, Shape};

mod abs;
pub mod activation;
mod add;
mod affine;
mod and;
mod argmax;
mod average_pool;
mod binary;
mod clip;
mod compare;
mod concat;
mod constant;
mod conv;
mod cos;
mod div;
mod elu;
mod exp;
mod floor;
mod flow;
mod gather;
mod input;
mod leaky_relu;
mod log;
mod matrix;
mod max;
mod max_pool;
mod min;
mod movement;
mod mul;
mod neg;
mod not;
mod or;
mod periodic;
mod pow;
mod reduce;
mod relu;
mod reshape;
mod select;
mod sigmoid;
mod sin;
mod slice;
mod softmax;
mod softplus;
mod sqrt;
mod sub;
mod tanh;
mod throughout;
mod transpose;
mod unary;
mod window;

pub use abs::Abs;
pub use activation::{ActivationFunction, Curvature, Family, Side, Smooth};
pub use add::Add;
pub use affine::{Affine, RowError};
pub use and::And;
pub use argmax::ArgMax;
pub use average_pool::AveragePool;
pub use binary::Binary;
pub(crate) use binary::broadcast_offsets;
pub use clip::Clip;
pub use compare::Compare;
pub use concat::Concat;
pub use constant::Constant;
pub use conv::Conv;
pub use cos::Cos;
pub use div::Div;
pub use elu::Elu;
pub use exp::Exp;
pub use floor::Floor;
pub use flow::Flow;
pub use gather::Gather;
pub use input::Input;
pub use leaky_relu::LeakyRelu;
pub use log::Log;
pub use matrix::{Matrix, SparseMatrix};
pub use max::Max;
pub use max_pool::MaxPool;
pub use min::Min;
pub use movement::Movement;
pub use mul::Mul;
pub use neg::Neg;
pub use not::Not;
pub use or::Or;
pub use pow::Pow;
pub use reduce::{Reduce, ReduceKind};
pub use relu::Relu;
pub use reshape::Reshape;
pub use select::Select;
pub use sigmoid::Sigmoid;
pub use sin::Sin;
pub use slice::{Slice, SliceRange};
pub use softmax::Softmax;
pub use softplus::Softplus;
pub use sqrt::Sqrt;
pub use sub::Sub;
pub use tanh::Tanh;
pub use throughout::{Quantity, Throughout};
pub use transpose::Transpose;
pub use unary::Unary;
pub use window::Window;

/// One argument of an operator: its shape, and its values, element-major over the batch.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a, V> {
    /// The shape, without the batch.
    pub shape: &'a [usize],
    /// `element_count(shape) * batch` values.
    pub values: &'a [V],
}

/// How many arguments an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
}

/// What every operator provides.
pub trait Operator {
    /// The operator's name, as reports show it.
    fn name(&self) -> &'static str;

    /// How many arguments it takes.
    fn arity(&self) -> Arity;

    /// The shape of the result. Called with as many shapes as [`Operator::arity`] allows.
    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError>;

    /// Evaluates a batch of points; `shape` is what [`Operator::infer`] gave.
    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]);

    /// Encloses the real-valued results over intervals.
    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]);
}

macro_rules! operators {
    ($($name:ident: $doc:literal,)*) => {
        /// Any operator.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op {
            $(#[doc = $doc] $name($name),)*
        }

        $(impl From<$name> for Op {
            fn from(op: $name) -> Op {
                Op::$name(op)
            }
        })*

        impl Operator for Op {
            fn name(&self) -> &'static str {
                match self { $(Op::$name(op) => op.name(),)* }
            }
            fn arity(&self) -> Arity {
                match self { $(Op::$name(op) => op.arity(),)* }
            }
            fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
                match self { $(Op::$name(op) => op.infer(shapes),)* }
            }
            fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
                match self { $(Op::$name(op) => op.eval(args, shape, batch, out),)* }
            }
            fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
                match self { $(Op::$name(op) => op.enclose(args, shape, out),)* }
            }
        }

        impl Op {
            /// The name of the variant, as stored graphs write it.
            pub fn variant(&self) -> &'static str {
                match self { $(Op::$name(_) => stringify!($name),)* }
            }
        }

        /// The names of all operators, as they appear in reports.
        pub const OPERATORS: &[&str] = &[$(stringify!($name)),*];
    };
}

operators! {
    Input: "A free tensor.",
    Constant: "A known tensor.",
    Affine: "A sum of matrix products and a bias.",
    Conv: "Convolution over one or two axes.",
    Relu: "max(x, 0).",
    LeakyRelu: "x, or a multiple of it below zero.",
    Clip: "x limited to a range.",
    Tanh: "Hyperbolic tangent.",
    Sigmoid: "Logistic function.",
    Softmax: "Normalised exponentials along an axis.",
    Elu: "Exponential linear unit.",
    Softplus: "ln(1 + eˣ).",
    MaxPool: "Maximum over windows.",
    AveragePool: "Mean over windows.",
    Add: "Sum.",
    Sub: "Difference.",
    Mul: "Product, elementwise.",
    Div: "Quotient, elementwise.",
    Pow: "Power, elementwise.",
    Neg: "Negation.",
    Abs: "Magnitude.",
    Min: "Smaller value.",
    Max: "Larger value.",
    Sqrt: "Square root.",
    Exp: "Exponential.",
    Log: "Natural logarithm.",
    Sin: "Sine.",
    Cos: "Cosine.",
    Floor: "Largest integer not above.",
    Compare: "A comparison, 1 for true and 0 for false.",
    Not: "Negation of a truth value.",
    And: "Conjunction of truth values.",
    Or: "Disjunction of truth values.",
    Select: "One of two values, by a truth value.",
    ArgMax: "One-hot vector of the first maximum along the last axis.",
    Concat: "Concatenation along an axis.",
    Slice: "Regular ranges along axes.",
    Gather: "Chosen indices along an axis.",
    Reshape: "The same values under another shape.",
    Transpose: "Axes in another order.",
    Reduce: "Sum, mean, maximum, minimum or product along axes.",
    Flow: "The flow of a differential equation over a period.",
    Throughout: "A condition at all instants of a part of a period.",
}

// The activation functions. With the file of its operator, a row here and one above, a new one is known to import, storage,
// lowering and the solver.
activation::activations! {
    Relu,
    LeakyRelu,
    Clip,
    Tanh,
    Sigmoid,
    Elu,
    Softplus,
    Abs,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Floor,
}
