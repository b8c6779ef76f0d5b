//! Convolution and pooling.

use crate::Tensor;
use crate::import::limits::{MAX_TENSOR, checked_count};
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{AveragePool, Conv, MaxPool, Window};

/// The window of a node over `[N, C, spatial…]`. `kernel` is that of the weights, for a convolution.
fn window(l: &Lowering<'_, '_>, shape: &[usize], kernel: Option<&[usize]>) -> Result<Window, Failure> {
    if !(3..=4).contains(&shape.len()) {
        return unsupported(format!("its input has shape {shape:?}; one or two axes besides batch and channel are"));
    }
    let axes = shape.len() - 2;
    let kernel = match (list(l, "kernel_shape", axes)?, kernel) {
        (Some(named), Some(kernel)) if named != kernel => {
            return invalid(format!("its kernel_shape {named:?} is not that of its weights, {kernel:?}"));
        }
        (_, Some(kernel)) => kernel.to_vec(),
        (Some(named), None) => named,
        (None, None) => return invalid("its kernel_shape is missing"),
    };
    let strides = list(l, "strides", axes)?.unwrap_or_else(|| vec![1; axes]);
    let dilations = list(l, "dilations", axes)?.unwrap_or_else(|| vec![1; axes]);
    if kernel.iter().chain(&strides).chain(&dilations).any(|&extent| extent == 0) {
        return invalid("its kernel, strides or dilations hold a zero");
    }
    let mut window = Window { kernel, strides, pads: vec![0; 2 * axes], dilations };
    match &l.attr_text("auto_pad", "NOTSET")?[..] {
        "NOTSET" => window.pads = list(l, "pads", 2 * axes)?.unwrap_or(window.pads),
        "VALID" => {}
        "SAME_UPPER" => pad_to_same(&mut window, &shape[2..], true),
        "SAME_LOWER" => pad_to_same(&mut window, &shape[2..], false),
        other => return invalid(format!("its auto_pad `{other}` is not known")),
    }
    Ok(window)
}

/// A list of extents from an attribute, of the length that the number of axes asks for.
fn list(l: &Lowering<'_, '_>, name: &str, length: usize) -> Result<Option<Vec<usize>>, Failure> {
    let Some(values) = l.attr_ints(name)? else {
        return Ok(None);
    };
    let extents: Option<Vec<usize>> =
        values.iter().map(|&value| usize::try_from(value).ok().filter(|&extent| extent <= MAX_TENSOR)).collect();
    match extents {
        Some(extents) if extents.len() == length => Ok(Some(extents)),
        _ => invalid(format!("its {name} {values:?} must be {length} extents")),
    }
}

/// From the first to the last element that a window reads along an axis.
fn reach(window: &Window, axis: usize) -> usize {
    window.dilations[axis].saturating_mul(window.kernel[axis] - 1).saturating_add(1)
}

/// Pads so that there are ⌈extent / stride⌉ positions; an odd pad is larger at the end, or at the beginning.
fn pad_to_same(window: &mut Window, spatial: &[usize], upper: bool) {
    let axes = spatial.len();
    for (axis, &extent) in spatial.iter().enumerate() {
        let positions = extent.div_ceil(window.strides[axis]);
        let needed = positions.saturating_sub(1).saturating_mul(window.strides[axis]);
        let total = needed.saturating_add(reach(window, axis)).saturating_sub(extent);
        let (small, large) = (total / 2, total - total / 2);
        (window.pads[axis], window.pads[axes + axis]) = if upper { (small, large) } else { (large, small) };
    }
}

/// Lengthens the end pads so that the last, incomplete windows count; none may lie in the padding entirely.
/// Returns whether anything was lengthened.
fn round_up(window: &mut Window, spatial: &[usize]) -> bool {
    let axes = spatial.len();
    let mut changed = false;
    for (axis, &extent) in spatial.iter().enumerate() {
        let (begin, end, stride) = (window.pads[axis], window.pads[axes + axis], window.strides[axis]);
        let padded = extent.saturating_add(begin).saturating_add(end);
        let Some(room) = padded.checked_sub(reach(window, axis)) else { continue };
        let mut last = room.div_ceil(stride).saturating_mul(stride);
        if last >= extent.saturating_add(begin) {
            last = last.saturating_sub(stride);
        }
        let longer = last.saturating_add(reach(window, axis)).saturating_sub(padded);
        window.pads[axes + axis] = end.saturating_add(longer);
        changed |= longer > 0;
    }
    changed
}

/// Refuses windows whose result or work is out of bounds, before anything is made of them.
fn check_size(
    l: &mut Lowering<'_, '_>,
    op: &'static str,
    window: &Window,
    shape: &[usize],
    channels: usize,
    depth: usize,
) -> Result<(), Failure> {
    let mut result = vec![shape[0], channels];
    result.extend(window.positions(op, shape)?);
    let outputs = checked_count(&result).map_err(Failure::Limit)?;
    let taps = checked_count(&window.kernel).map_err(Failure::Limit)?;
    l.budget.work(outputs, taps.saturating_mul(depth), l.folding).map_err(Failure::Limit)
}

pub(super) fn conv(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let weights = l.weights(1, "weights")?;
    if weights.shape.len() != shape.len() || shape.len() < 3 {
        return invalid(format!("weights of shape {:?} do not fit an input of {shape:?}", weights.shape));
    }
    let window = window(l, &shape, Some(&weights.shape[2..]))?;
    let group = l.attr_int("group")?.unwrap_or(1);
    let group = match usize::try_from(group) {
        Ok(group) if (1..=MAX_TENSOR).contains(&group) => group,
        _ => return invalid(format!("its group is {group}")),
    };
    let bias = if l.has(2) { Some(l.weights(2, "bias")?.data.clone()) } else { None };
    check_size(l, "Conv", &window, &shape, weights.shape[0], weights.shape[1])?;
    l.produce(weights.data.len())?;
    let weight = Tensor::new(weights.shape.clone(), weights.data.clone())?;
    let x = l.node(0)?;
    let y = l.apply(Conv::new(weight, bias, window, group)?, &[x])?;
    one(y, Kind::Float)
}

pub(super) fn max_pool(l: &mut Lowering<'_, '_>) -> Lowered {
    if l.wants_output(1) {
        return unsupported("its second output, the places of the maxima, is used");
    }
    let shape = l.shape(0)?;
    let mut window = window(l, &shape, None)?;
    if l.attr_flag("ceil_mode", false)? {
        round_up(&mut window, &shape[2..]);
    }
    check_size(l, "MaxPool", &window, &shape, shape[1], 1)?;
    let x = l.node(0)?;
    let y = l.apply(MaxPool { window }, &[x])?;
    one(y, Kind::Float)
}

pub(super) fn average_pool(l: &mut Lowering<'_, '_>) -> Lowered {
    let shape = l.shape(0)?;
    let mut window = window(l, &shape, None)?;
    let count_include_pad = l.attr_flag("count_include_pad", false)?;
    if l.attr_flag("ceil_mode", false)? && round_up(&mut window, &shape[2..]) && count_include_pad {
        return unsupported("it counts padding in windows that reach beyond the padding (ceil_mode)");
    }
    check_size(l, "AveragePool", &window, &shape, shape[1], 1)?;
    let x = l.node(0)?;
    let y = l.apply(AveragePool { window, count_include_pad }, &[x])?;
    one(y, Kind::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(kernel: usize, stride: usize, pads: [usize; 2]) -> Window {
        Window { kernel: vec![kernel], strides: vec![stride], pads: pads.to_vec(), dilations: vec![1] }
    }

    #[test]
    fn same_padding_keeps_the_extent_over_the_stride() {
        for (extent, kernel, stride) in [(7, 3, 2), (8, 3, 2), (5, 2, 1), (9, 4, 3)] {
            let mut window = make(kernel, stride, [0, 0]);
            pad_to_same(&mut window, &[extent], true);
            let positions = window.positions("test", &[1, 1, extent]).unwrap();
            assert_eq!(positions, [extent.div_ceil(stride)]);
            assert!(window.pads[1] >= window.pads[0]);
        }
    }

    #[test]
    fn rounding_up_never_adds_a_window_of_padding_only() {
        let mut window = make(2, 4, [0, 0]);
        assert!(!round_up(&mut window, &[7]), "a window from 8 on would see nothing of 7 elements");
        let mut window = make(3, 2, [1, 1]);
        assert!(round_up(&mut window, &[6]));
        assert_eq!(window.positions("test", &[1, 1, 6]).unwrap(), [4]);
    }
}
