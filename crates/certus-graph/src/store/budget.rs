//! Bounds on what a text can claim.
//!
//! The numbers of a text are there; the tensors of a graph are only claimed. A chain of concatenations doubles a tensor
//! with every short line, so what nodes claim together is bounded by a constant and a multiple of the numbers.

use crate::ops::{Op, Operator, Window};
use crate::shape::MAX_ELEMENTS;

/// A tensor may have this many axes.
const MAX_RANK: usize = 32;
/// All tensors and windows of a graph without numbers may have this many elements.
const CLAIMED: usize = 1 << 23;
/// Each number of the graph allows this many elements more.
const PER_NUMBER: usize = 16;
/// One convolution may take this many multiplications.
const MAX_WORK: usize = 1 << 36;

/// What a graph may still claim.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub fn new() -> Self {
        Budget { left: CLAIMED }
    }

    /// Accounts for numbers that stand in the text.
    pub fn store(&mut self, numbers: usize) {
        self.left = self.left.saturating_add(numbers.saturating_mul(PER_NUMBER));
    }

    /// Accounts for a node with a result of this shape. Numbers of its own must have been stored before.
    pub fn claim(&mut self, op: &Op, shape: &[usize]) -> Result<(), String> {
        let elements = count(shape)?;
        let per_element = match op {
            Op::MaxPool(pool) => taps(&pool.window),
            Op::AveragePool(pool) => taps(&pool.window),
            _ => 1,
        };
        if let Op::Conv(conv) = op {
            let work = elements.saturating_mul(product(&conv.weight().shape()[1..]));
            if work > MAX_WORK || conv.window().pads.iter().any(|&pad| pad > MAX_WORK) {
                return Err(format!("a convolution takes more than {MAX_WORK} multiplications"));
            }
        }
        let claimed = elements.saturating_mul(per_element);
        self.left = self.left.checked_sub(claimed).ok_or_else(|| {
            format!("{} claims {claimed} elements, more than the graph's numbers allow for", op.name())
        })?;
        Ok(())
    }
}

/// The number of elements of a shape. Extents are bounded beside a zero too, since strides do not have it as a factor.
pub(super) fn count(shape: &[usize]) -> Result<usize, String> {
    if shape.len() > MAX_RANK {
        return Err(format!("a tensor has {} axes, more than {MAX_RANK}", shape.len()));
    }
    let extents: Vec<usize> = shape.iter().copied().filter(|&extent| extent != 0).collect();
    match product(&extents) {
        bounded if bounded <= MAX_ELEMENTS => Ok(product(shape)),
        _ => Err(format!("a tensor of shape {shape:?} is beyond {MAX_ELEMENTS} elements")),
    }
}

fn taps(window: &Window) -> usize {
    product(&window.kernel)
}

fn product(extents: &[usize]) -> usize {
    if extents.contains(&0) { 0 } else { extents.iter().fold(1, |count, &extent| count.saturating_mul(extent)) }
}
