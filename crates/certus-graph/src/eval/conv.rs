//! Convolution as one matrix product per group.
//!
//! In the element-major layout the columns of the unfolded argument, one per (position, point), are contiguous, and so
//! are the rows of the result: unfolding and one product with the packed weights give the result in place.

use certus_kernels::PackedMatrix;

use crate::Real;
use crate::ops::Conv;

/// A convolution with its weights packed, one matrix per group.
pub(super) struct PackedConv<T: Real> {
    groups: Vec<PackedMatrix<T>>,
    bias: Vec<T>,
    op: Conv,
    shape: Vec<usize>,
    result: Vec<usize>,
}

impl<T: Real> PackedConv<T> {
    pub(super) fn new(op: &Conv, shape: &[usize], result: &[usize]) -> Self {
        let weights: Vec<T> = op.weight().data().iter().map(|&w| T::from_f64(w)).collect();
        let rows = op.weight().shape()[0] / op.group();
        let columns = op.weight().shape()[1] * op.window().size();
        let groups = if columns == 0 || rows == 0 {
            Vec::new()
        } else {
            weights.chunks_exact(rows * columns).map(|block| PackedMatrix::pack(rows, columns, block)).collect()
        };
        let bias = op.bias().iter().map(|&b| T::from_f64(b)).collect();
        PackedConv { groups, bias, op: op.clone(), shape: shape.to_vec(), result: result.to_vec() }
    }

    pub(super) fn run(&self, source: &[T], batch: usize, out: &mut [T], unfolded: &mut Vec<T>, scratch: &mut Vec<T>) {
        let (samples, out_channels) = (self.result[0], self.result[1]);
        let positions: usize = self.result[2..].iter().product();
        let spatial: usize = self.shape[2..].iter().product();
        let (per_group, taps) = (self.op.weight().shape()[1], self.op.window().size());
        let width = positions * batch;
        for (row, target) in out.chunks_exact_mut(width.max(1)).enumerate() {
            target.fill(self.bias[row % out_channels]);
        }
        for sample in 0..samples {
            for (group, weights) in self.groups.iter().enumerate() {
                unfolded.clear();
                unfolded.resize(per_group * taps * width, T::ZERO);
                for channel in 0..per_group {
                    let channel_start = (sample * self.shape[1] + group * per_group + channel) * spatial;
                    let window = self.op.window();
                    window.for_each_tap(&self.shape[2..], &self.result[2..], |position, tap, offset| {
                        let target = ((channel * taps + tap) * positions + position) * batch;
                        let source = &source[(channel_start + offset) * batch..][..batch];
                        unfolded[target..][..batch].copy_from_slice(source);
                    });
                }
                let first = (sample * out_channels + group * weights.rows()) * width;
                weights.mul_acc(unfolded, &mut out[first..][..weights.rows() * width], width, scratch);
            }
        }
    }
}
