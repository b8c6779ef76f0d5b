//! Widths of cells: what a system suggests, and how coarse the grid begins.
//!
//! Coarse-to-fine refinement: with very many initial cells, the wide ones that they are parts of are explored first, and are split where they do not decide the property. The requested
//! widths are one of the levels on the way. A coarse cell over-approximates all of its parts, so a proof on coarse cells is a proof.

use certus_lang::system::System;

/// A coordinate with one initial value is divided into so many cells.
const CELLS_PER_RANGE: f64 = 1000.0;

/// The box of initial states is so many cells wide.
const CELLS_PER_START: f64 = 10.0;

/// With more initial cells than this, the grid begins coarser.
const MOST_STARTS: f64 = 65536.0;

/// The number of coarse initial cells aimed at.
const FEW_STARTS: f64 = 1024.0;

/// The most doublings of a width.
const MOST_COARSENINGS: u32 = 8;

/// Widths that a system suggests: tenths of the box of initial states, or thousandths of the range; one value of an integer.
pub fn suggested_widths(system: &System) -> Vec<f64> {
    let ranges = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    let starts = system.init_box.0.iter().zip(&system.init_box.1);
    let suggested: Vec<f64> = ranges
        .zip(starts)
        .map(|((low, high), (first, last))| {
            let (range, start) = (high - low, last - first);
            let width = if start > 0.0 { (start / CELLS_PER_START).min(range / 10.0) } else { range / CELLS_PER_RANGE };
            if width > 0.0 { width } else { 1.0 }
        })
        .collect();
    whole_widths(system, &suggested)
}

/// The widths as they will be: of an integer, one value.
pub(crate) fn whole_widths(system: &System, widths: &[f64]) -> Vec<f64> {
    let integral = system.states.iter().flat_map(|own| std::iter::repeat_n(own.integers.is_some(), own.len));
    widths.iter().zip(integral).map(|(&width, integral)| if integral { 1.0 } else { width }).collect()
}

/// How often the width of each axis is doubled to begin with.
pub(crate) fn coarsenings(system: &System, widths: &[f64]) -> Vec<u32> {
    let starts = system.init_box.0.iter().zip(&system.init_box.1);
    let mut counts: Vec<f64> =
        starts.zip(widths).map(|((low, high), width)| ((high - low) / width).ceil().max(1.0)).collect();
    let mut coarsenings = vec![0; widths.len()];
    if counts.iter().product::<f64>() <= MOST_STARTS {
        return coarsenings;
    }
    while counts.iter().product::<f64>() > FEW_STARTS {
        let open = (0..counts.len()).filter(|&axis| coarsenings[axis] < MOST_COARSENINGS && counts[axis] > 1.0);
        let Some(axis) = open.max_by(|&a, &b| counts[a].total_cmp(&counts[b])) else { break };
        counts[axis] = (counts[axis] / 2.0).ceil();
        coarsenings[axis] += 1;
    }
    coarsenings
}
