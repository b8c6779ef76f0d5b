//! The operators of ONNX that can be imported, by family; [`find`] is the list of all of them.
//!
//! Each is a function from a [`Lowering`](super::lowering::Lowering) to the values of the node's outputs. A family
//! that has no operator of its own in the graph is written in terms of those that exist, always so that the real
//! function is the same: what is inexact is left to the graph, whose enclosures know about rounding.

mod activation;
mod arithmetic;
mod choice;
mod constants;
mod layout;
mod linear;
mod logic;
mod normalization;
mod padding;
mod product;
mod reduction;
mod selection;
mod softmax;
mod window;

use super::lowering::{Lowered, Lowering};
use crate::ops::Activation;

/// How an operator is lowered.
pub(super) type Lower = fn(&mut Lowering<'_, '_>) -> Lowered;

/// The lowering of an operator of ONNX's own domain.
pub(super) fn find(op_type: &str) -> Option<Lower> {
    Some(match op_type {
        "Relu" => activation::relu,
        "PRelu" => activation::prelu,
        "Clip" => activation::clip,
        "Selu" => activation::selu,
        "Celu" => activation::celu,
        "Softsign" => activation::softsign,
        "HardSigmoid" => activation::hard_sigmoid,
        "HardSwish" => activation::hard_swish,
        "Mish" => activation::mish,
        "Swish" => activation::swish,
        "ThresholdedRelu" => activation::thresholded_relu,

        "Add" => arithmetic::add,
        "Sub" => arithmetic::sub,
        "Mul" => arithmetic::mul,
        "Div" => arithmetic::div,
        "Mod" => arithmetic::modulo,
        "Pow" => arithmetic::pow,
        "Min" => arithmetic::min,
        "Max" => arithmetic::max,
        "Sum" => arithmetic::sum,
        "Mean" => arithmetic::mean,
        "Neg" => arithmetic::neg,
        "Abs" => arithmetic::abs,
        "Sqrt" => arithmetic::sqrt,
        "Exp" => arithmetic::exp,
        "Log" => arithmetic::log,
        "Sin" => arithmetic::sin,
        "Cos" => arithmetic::cos,
        "Tan" => arithmetic::tan,
        "Floor" => arithmetic::floor,
        "Ceil" => arithmetic::ceil,
        "Reciprocal" => arithmetic::reciprocal,
        "Sign" => arithmetic::sign,

        "GatherElements" => choice::gather_elements,

        "ConstantOfShape" => constants::constant_of_shape,
        "Range" => constants::range,
        "Shape" => constants::shape,
        "Size" => constants::size,

        "Cast" => layout::cast,
        "CastLike" => layout::cast_like,
        "Dropout" => layout::dropout,
        "Flatten" => layout::flatten,
        "Identity" => layout::identity,
        "Reshape" => layout::reshape,
        "Squeeze" => layout::squeeze,
        "Transpose" => layout::transpose,
        "Unsqueeze" => layout::unsqueeze,

        "Gemm" => linear::gemm,
        "MatMul" => linear::matmul,

        "Greater" => logic::greater,
        "GreaterOrEqual" => logic::greater_or_equal,
        "Less" => logic::less,
        "LessOrEqual" => logic::less_or_equal,
        "Equal" => logic::equal,
        "Not" => logic::not,
        "And" => logic::and,
        "Or" => logic::or,
        "Xor" => logic::xor,
        "Where" => logic::select,

        "BatchNormalization" => normalization::batch,
        "LayerNormalization" => normalization::layer,

        "Pad" => padding::pad,

        "ArgMax" => reduction::argmax,
        "ArgMin" => reduction::argmin,
        "ReduceSum" => reduction::sum,
        "ReduceMean" => reduction::mean,
        "ReduceMax" => reduction::max,
        "ReduceMin" => reduction::min,
        "ReduceProd" => reduction::product,
        "ReduceSumSquare" => reduction::sum_square,
        "ReduceL1" => reduction::l1,
        "ReduceL2" => reduction::l2,
        "ReduceLogSumExp" => reduction::log_sum_exp,
        "GlobalAveragePool" => reduction::global_average_pool,
        "GlobalMaxPool" => reduction::global_max_pool,

        "Concat" => selection::concat,
        "Expand" => selection::expand,
        "Gather" => selection::gather,
        "Slice" => selection::slice,
        "Split" => selection::split,
        "Tile" => selection::tile,

        "Softmax" => softmax::softmax,
        "LogSoftmax" => softmax::log_softmax,

        "Conv" => window::conv,
        "MaxPool" => window::max_pool,
        "AveragePool" => window::average_pool,
        _ => {
            let signature = Activation::signature(op_type)?;
            signature.onnx_defaults.map(|_| activation::native as Lower)?
        }
    })
}
