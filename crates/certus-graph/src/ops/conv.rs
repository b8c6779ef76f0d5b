//! Convolution over one or two axes.

use std::sync::Arc;

use super::{Arg, Arity, Operator, Window};
use crate::interval::Interval;
use crate::{GraphError, Real, Shape, Tensor};

/// Convolution as deep learning has it (no flipping): argument `[N, C, L]` or `[N, C, H, W]`, constant weights
/// `[out, C / group, k…]`, an optional bias per output channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    weight: Arc<Tensor>,
    bias: Arc<[f64]>,
    window: Window,
    group: usize,
}

impl Conv {
    /// A convolution; the window's kernel must be the weight's.
    pub fn new(weight: Tensor, bias: Option<Vec<f64>>, window: Window, group: usize) -> Result<Self, GraphError> {
        let shape = weight.shape();
        let fits = (3..=4).contains(&shape.len())
            && shape[2..] == window.kernel
            && group > 0
            && shape[0].is_multiple_of(group)
            && bias.as_ref().is_none_or(|bias| bias.len() == shape[0]);
        if !fits {
            let message =
                format!("weights {shape:?}, kernel {:?}, {group} groups and the bias disagree", window.kernel);
            return Err(GraphError::shape("Conv", message));
        }
        let bias = bias.unwrap_or_else(|| vec![0.0; shape[0]]).into();
        Ok(Conv { weight: Arc::new(weight), bias, window, group })
    }

    /// The weights, `[out, C / group, k…]`.
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// The bias, one per output channel.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// The geometry.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The number of groups.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Calls `visit(row, column, weight)` for every weight of the convolution seen as a matrix from the flattened
    /// argument to the flattened result. A pair may be visited only once.
    pub fn for_each_entry(&self, shape: &[usize], result: &[usize], mut visit: impl FnMut(usize, usize, f64)) {
        let (samples, channels) = (shape[0], shape[1]);
        let (out_channels, per_group) = (result[1], self.weight.shape()[1]);
        let (spatial, positions): (usize, usize) = (shape[2..].iter().product(), result[2..].iter().product());
        let taps = self.window.size();
        let mut sources = Vec::new();
        self.window
            .for_each_tap(&shape[2..], &result[2..], |position, tap, offset| sources.push((position, tap, offset)));
        for sample in 0..samples {
            for out in 0..out_channels {
                let first = out / (out_channels / self.group) * per_group;
                for channel in 0..per_group {
                    let weights = &self.weight.data()[(out * per_group + channel) * taps..][..taps];
                    let rows = (sample * out_channels + out) * positions;
                    let columns = (sample * channels + first + channel) * spatial;
                    for &(position, tap, offset) in &sources {
                        visit(rows + position, columns + offset, weights[tap]);
                    }
                }
            }
        }
    }

    fn channel_of(&self, row: usize, result: &[usize]) -> usize {
        row / result[2..].iter().product::<usize>().max(1) % result[1]
    }
}

impl Operator for Conv {
    fn name(&self) -> &'static str {
        "Conv"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(1)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        let shape = shapes[0];
        let positions = self.window.positions("Conv", shape)?;
        if shape[1] != self.weight.shape()[1].saturating_mul(self.group) {
            let message = format!("weights {:?} do not fit the channels of {shape:?}", self.weight.shape());
            return Err(GraphError::shape("Conv", message));
        }
        let mut result = vec![shape[0], self.weight.shape()[0]];
        result.extend(positions);
        Ok(result)
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], shape: &[usize], batch: usize, out: &mut [T]) {
        for (row, target) in out.chunks_exact_mut(batch).enumerate() {
            target.fill(T::from_f64(self.bias[self.channel_of(row, shape)]));
        }
        self.for_each_entry(args[0].shape, shape, |row, column, weight| {
            let weight = T::from_f64(weight);
            let source = &args[0].values[column * batch..][..batch];
            for (y, &x) in out[row * batch..][..batch].iter_mut().zip(source) {
                *y = *y + weight * x;
            }
        });
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], shape: &[usize], out: &mut [Interval]) {
        for (row, y) in out.iter_mut().enumerate() {
            *y = Interval::point(self.bias[self.channel_of(row, shape)]);
        }
        self.for_each_entry(args[0].shape, shape, |row, column, weight| {
            out[row] = out[row] + Interval::point(weight) * args[0].values[column];
        });
    }
}
