//! One step of backward substitution for each kind of node: coefficients of a node become coefficients of its arguments,
//! and what rounding may have changed is added to the errors.

use std::ops::Range;

use super::Objectives;
use crate::bound::program::{Layer, Program};
use crate::bound::table::{Bounds, RelaxationTable, line_error};
use crate::bound::{ROOM, TINY, gamma};

/// ‖Λ‖₁ of each column.
fn norms(coefficients: &[f64], columns: usize) -> Vec<f64> {
    let mut norms = vec![0.0; columns];
    for row in coefficients.chunks_exact(columns.max(1)) {
        row.iter().zip(&mut norms).for_each(|(value, norm)| *norm += value.abs());
    }
    norms
}

/// Takes account of coefficients that were added to others: each sum was rounded up to so many times more.
pub(super) fn note_sums(objectives: &mut Objectives, bounds: &Bounds, node: usize, times: usize) {
    let factor = gamma(times);
    let columns = objectives.columns();
    let Some(coefficients) = &objectives.coefficients[node] else { return };
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            let magnitude = bounds.interval(node, element, objectives.boxes[column]).magnitude();
            objectives.errors[column] += factor * value.abs() * magnitude;
        }
    }
}

pub(super) fn affine(
    program: &Program,
    layer: &Layer,
    node: usize,
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
    scratch: &mut Vec<f64>,
) {
    let columns = objectives.columns();
    let norms = norms(coefficients, columns);
    let factor = gamma(layer.bias.len());
    let underflow = TINY * layer.bias.len() as f64;
    for (term, (reach, spread)) in layer.terms.iter().zip(&bounds.reach[node]) {
        match objectives.coefficients[term.argument].as_mut() {
            Some(target) => {
                term.transposed.mul_acc(coefficients, target, columns, scratch);
                note_sums(objectives, bounds, term.argument, 1);
            }
            None => {
                let mut target = objectives.buffer(program.sizes[term.argument]);
                term.transposed.affine(&term.zeros, coefficients, &mut target, columns, scratch);
                objectives.coefficients[term.argument] = Some(target);
            }
        }
        for (column, norm) in norms.iter().enumerate().filter(|&(_, &norm)| norm != 0.0) {
            let index = objectives.boxes[column];
            let mut rounding = factor * reach[index];
            if term.weight_error != 0.0 {
                rounding += term.weight_error * spread[index];
            }
            objectives.errors[column] += (norm * rounding + underflow * spread[index]) * ROOM;
        }
    }
    for (row, &bias) in coefficients.chunks_exact(columns.max(1)).zip(&layer.bias).filter(|(_, bias)| **bias != 0.0) {
        objectives.constants.iter_mut().zip(row).for_each(|(constant, value)| *constant += value * bias);
    }
    // Σ|Λᵢ||bᵢ| ≤ ‖Λ‖₁ max|bᵢ|, and likewise for what the biases may be off by.
    let error = factor * layer.largest_bias + layer.largest_bias_error;
    for (column, norm) in norms.iter().enumerate() {
        objectives.errors[column] += (norm * error + factor * objectives.constants[column].abs()) * ROOM;
    }
}

pub(super) fn movement(
    program: &Program,
    sources: &[(usize, usize)],
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
) {
    let columns = objectives.columns();
    let mut arguments: Vec<usize> = Vec::new();
    for (row, &(argument, element)) in coefficients.chunks_exact(columns.max(1)).zip(sources) {
        if !arguments.contains(&argument) {
            arguments.push(argument);
        }
        let target = objectives.at(argument, program.sizes[argument]);
        let target = &mut target[element * columns..(element + 1) * columns];
        target.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    // An element that is read more than once gets a sum: every partial sum is below the norm.
    let norms = norms(coefficients, columns);
    let factor = gamma(sources.len());
    for argument in arguments {
        let largest = bounds.magnitudes(argument);
        for (column, norm) in norms.iter().enumerate().filter(|&(_, &norm)| norm != 0.0) {
            objectives.errors[column] += factor * norm * largest[objectives.boxes[column]];
        }
        note_sums(objectives, bounds, argument, sources.len());
    }
}

/// Sets coefficients behind a curve to those before it times the slopes of its lines.
fn set_by_lines(slopes: (&[f64], &[f64]), row: &[f64], target: &mut [f64]) {
    match slopes {
        (&[lower], &[upper]) => {
            for (sum, &value) in target.iter_mut().zip(row) {
                *sum = value.max(0.0) * lower + value.min(0.0) * upper;
            }
        }
        (lower, upper) => {
            for ((sum, &value), (&lower, &upper)) in target.iter_mut().zip(row).zip(lower.iter().zip(upper)) {
                *sum = value.max(0.0) * lower + value.min(0.0) * upper;
            }
        }
    }
}

/// The lines of one element for some columns: one box's for all of them, or one box per column.
fn use_lines(slopes: (&[f64], &[f64]), row: &[f64], target: &mut [f64]) {
    match slopes {
        (&[lower], &[upper]) => {
            for (sum, &value) in target.iter_mut().zip(row) {
                *sum += value.max(0.0) * lower + value.min(0.0) * upper;
            }
        }
        (lower, upper) => {
            for ((sum, &value), (&lower, &upper)) in target.iter_mut().zip(row).zip(lower.iter().zip(upper)) {
                *sum += value.max(0.0) * lower + value.min(0.0) * upper;
            }
        }
    }
}

/// Adds the offsets of lines, and what rounding may change where they are used.
fn use_offsets(
    table: &RelaxationTable,
    cells: Range<usize>,
    factor: f64,
    row: &[f64],
    constants: &mut [f64],
    errors: &mut [f64],
) {
    if table.unbounded {
        for (place, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            let at = if cells.len() == 1 { cells.start } else { cells.start + place };
            constants[place] += value * if value > 0.0 { table.lower_offset[at] } else { table.upper_offset[at] };
            errors[place] += value.abs() * table.size[at] * factor;
        }
        return;
    }
    let (lower, upper, size) =
        (&table.lower_offset[cells.clone()], &table.upper_offset[cells.clone()], &table.size[cells]);
    let sums = constants.iter_mut().zip(errors).zip(row);
    if let (&[lower], &[upper], &[size]) = (lower, upper, size) {
        let size = size * factor;
        for ((constant, error), &value) in sums {
            *constant += value.max(0.0) * lower + value.min(0.0) * upper;
            *error += value.abs() * size;
        }
    } else {
        for (((constant, error), &value), ((&lower, &upper), &size)) in sums.zip(lower.iter().zip(upper).zip(size)) {
            *constant += value.max(0.0) * lower + value.min(0.0) * upper;
            *error += value.abs() * size * factor;
        }
    }
}

/// Each column has a box of its own, in order.
fn one_to_one(objectives: &Objectives, bounds: &Bounds) -> bool {
    objectives.columns() == bounds.boxes && objectives.boxes.iter().enumerate().all(|(column, &index)| column == index)
}

/// Runs of columns with the cells of a node's row that they read: (cells, columns).
fn spans(objectives: &Objectives, bounds: &Bounds) -> Vec<(Range<usize>, Range<usize>)> {
    if one_to_one(objectives, bounds) && bounds.boxes > 1 {
        return vec![(0..bounds.boxes, 0..bounds.boxes)];
    }
    let mut spans: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (column, &index) in objectives.boxes.iter().enumerate() {
        match spans.last_mut() {
            Some((cells, columns)) if cells.start == index => columns.end = column + 1,
            _ => spans.push((index..index + 1, column..column + 1)),
        }
    }
    spans
}

pub(super) fn curve(
    program: &Program,
    node: usize,
    argument: usize,
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
) {
    let columns = objectives.columns();
    let spans = spans(objectives, bounds);
    let shared = objectives.coefficients[argument].take();
    let fresh = shared.is_none();
    let mut target = shared.unwrap_or_else(|| objectives.buffer(program.sizes[argument]));
    let factor = line_error(program.sizes[node]);
    let table = &bounds.relaxations[node];
    let Objectives { boxes, constants, errors, .. } = objectives;
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        let target = &mut target[element * columns..(element + 1) * columns];
        for (cells, span) in &spans {
            let cells = element * bounds.boxes + cells.start..element * bounds.boxes + cells.end;
            let (row, target) = (&row[span.clone()], &mut target[span.clone()]);
            if fresh && cells.len() == 1 {
                // Most curves are straight over small boxes, and then nothing is rounded.
                match table.straight(cells.start) {
                    Some(true) => {
                        target.copy_from_slice(row);
                        continue;
                    }
                    Some(false) => {
                        target.fill(0.0);
                        continue;
                    }
                    None => {}
                }
            }
            let slopes = (&table.lower_slope[cells.clone()], &table.upper_slope[cells.clone()]);
            if fresh {
                set_by_lines(slopes, row, target);
            } else {
                use_lines(slopes, row, target);
            }
            use_offsets(table, cells, factor, row, &mut constants[span.clone()], &mut errors[span.clone()]);
        }
    }
    for ((error, constant), &index) in errors.iter_mut().zip(constants.iter()).zip(boxes.iter()) {
        *error += factor * constant.abs() + 2.0 * TINY * table.spread[index];
    }
    objectives.coefficients[argument] = Some(target);
    if !fresh {
        note_sums(objectives, bounds, argument, 1);
    }
}

pub(super) fn product(
    program: &Program,
    node: usize,
    (left, right): (usize, usize),
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
) {
    let columns = objectives.columns();
    let spans = spans(objectives, bounds);
    let factor = line_error(program.sizes[node]);
    let table = &bounds.relaxations[node];
    for (argument, lower, upper) in
        [(left, &table.lower_slope, &table.upper_slope), (right, &table.lower_second, &table.upper_second)]
    {
        let target = objectives.at(argument, program.sizes[argument]);
        for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
            let target = &mut target[element * columns..(element + 1) * columns];
            for (cells, span) in &spans {
                let cells = element * bounds.boxes + cells.start..element * bounds.boxes + cells.end;
                use_lines((&lower[cells.clone()], &upper[cells]), &row[span.clone()], &mut target[span.clone()]);
            }
        }
        note_sums(objectives, bounds, argument, 1);
    }
    let Objectives { boxes, constants, errors, .. } = objectives;
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        for (cells, span) in &spans {
            let cells = element * bounds.boxes + cells.start..element * bounds.boxes + cells.end;
            use_offsets(
                table,
                cells,
                factor,
                &row[span.clone()],
                &mut constants[span.clone()],
                &mut errors[span.clone()],
            );
        }
    }
    for ((error, constant), &index) in errors.iter_mut().zip(constants.iter()).zip(boxes.iter()) {
        *error += factor * constant.abs() + 2.0 * TINY * table.spread[index];
    }
}

/// The minimum over the enclosure.
pub(super) fn opaque(
    program: &Program,
    node: usize,
    bounds: &Bounds,
    coefficients: &[f64],
    objectives: &mut Objectives,
) {
    let columns = objectives.columns();
    let mut sizes = vec![0.0; columns];
    for (element, row) in coefficients.chunks_exact(columns.max(1)).enumerate() {
        for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            let range = bounds.interval(node, element, objectives.boxes[column]);
            let term = value * if value > 0.0 { range.lo } else { range.hi };
            objectives.constants[column] += term;
            sizes[column] += term.abs();
        }
    }
    let factor = gamma(program.sizes[node]);
    for (column, size) in sizes.iter().enumerate() {
        objectives.errors[column] += factor * (size + objectives.constants[column].abs());
    }
}
