//! Windows that slide over one or two axes: the geometry that convolution and pooling share.

use crate::{GraphError, Shape};

/// Windows over the spatial axes of a tensor `[N, C, …]`: one entry per spatial axis, two for paddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The extents of the window.
    pub kernel: Vec<usize>,
    /// How far it moves.
    pub strides: Vec<usize>,
    /// Paddings: all begins, then all ends.
    pub pads: Vec<usize>,
    /// The distance between the elements that it reads.
    pub dilations: Vec<usize>,
}

impl Window {
    /// A window that moves by one, without padding or dilation.
    pub fn simple(kernel: Vec<usize>) -> Self {
        let axes = kernel.len();
        Window { kernel, strides: vec![1; axes], pads: vec![0; 2 * axes], dilations: vec![1; axes] }
    }

    /// The number of spatial axes.
    pub fn axes(&self) -> usize {
        self.kernel.len()
    }

    /// The number of elements in a window.
    pub fn size(&self) -> usize {
        self.kernel.iter().product()
    }

    /// The spatial extents of the result for an argument `[N, C, spatial…]`.
    pub fn positions(&self, op: &'static str, shape: &[usize]) -> Result<Shape, GraphError> {
        let axes = self.axes();
        let consistent = (1..=2).contains(&axes)
            && self.strides.len() == axes
            && self.dilations.len() == axes
            && self.pads.len() == 2 * axes
            && shape.len() == axes + 2
            && self.kernel.iter().chain(&self.strides).chain(&self.dilations).all(|&x| x > 0);
        if !consistent {
            let message = format!("a window of {:?} does not fit the shape {shape:?}", self.kernel);
            return Err(GraphError::shape(op, message));
        }
        (0..axes)
            .map(|axis| {
                let padded = shape[axis + 2].saturating_add(self.pads[axis]).saturating_add(self.pads[axes + axis]);
                let reach = self.dilations[axis].saturating_mul(self.kernel[axis] - 1).saturating_add(1);
                match padded.checked_sub(reach) {
                    Some(room) => Ok(room / self.strides[axis] + 1),
                    None => {
                        let message = format!("a window of {:?} is larger than the padded {shape:?}", self.kernel);
                        Err(GraphError::shape(op, message))
                    }
                }
            })
            .collect()
    }

    /// Calls `visit(position, tap, offset)` for every window position and every element of the window that lies
    /// inside of the spatial extents; `offset` is the element's index within one channel.
    pub fn for_each_tap(&self, spatial: &[usize], positions: &[usize], mut visit: impl FnMut(usize, usize, usize)) {
        let count: usize = positions.iter().product();
        let taps = self.size();
        for position in 0..count {
            for tap in 0..taps {
                if let Some(offset) = self.source(spatial, positions, position, tap) {
                    visit(position, tap, offset);
                }
            }
        }
    }

    fn source(&self, spatial: &[usize], positions: &[usize], position: usize, tap: usize) -> Option<usize> {
        let (mut position, mut tap) = (position, tap);
        let (mut offset, mut stride) = (0, 1);
        for axis in (0..self.axes()).rev() {
            let place =
                position % positions[axis] * self.strides[axis] + tap % self.kernel[axis] * self.dilations[axis];
            position /= positions[axis];
            tap /= self.kernel[axis];
            let index = place.checked_sub(self.pads[axis]).filter(|&index| index < spatial[axis])?;
            offset += index * stride;
            stride *= spatial[axis];
        }
        Some(offset)
    }
}
