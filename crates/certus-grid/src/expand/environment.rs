//! The environment's choices in a cell: sample inputs that may be allowed everywhere, and the division of input ranges into pieces.
//!
//! That no state of a cell deadlocks is shown by one witness: inputs for which `assume` holds in all of the cell. The middle and the corners of the input ranges are tried.
//! Where the outcome depends on the inputs, their ranges are divided, and every piece gets a box of next states; the union of the pieces is the whole range, so this
//! stays an over-approximation.

/// The most inputs for which all corners of their ranges are tried.
const MOST_CORNERED: usize = 4;

/// Inputs that may be allowed everywhere: the middle and the corners of the ranges.
pub(super) fn witnesses(inputs: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let middle = inputs.iter().map(|&(low, high)| certus_solver::middle(low, high).0).collect();
    let corners = if inputs.len() <= MOST_CORNERED { 0..1u32 << inputs.len() } else { 0..0 };
    let corner = |which: u32| {
        let end = |(place, &(low, high)): (usize, &(f64, f64))| if which >> place & 1 == 1 { high } else { low };
        inputs.iter().enumerate().map(end).collect()
    };
    let ends: [Vec<f64>; 2] = [inputs.iter().map(|own| own.0).collect(), inputs.iter().map(|own| own.1).collect()];
    [middle].into_iter().chain(ends).chain(corners.map(corner)).collect()
}

/// The most boxes of next states of a cell, which are counted in eight bits.
const MOST_BOXES: usize = 255;

/// How often each input range is halved.
fn halvings_of_inputs(inputs: usize) -> u32 {
    match inputs {
        0 => 0,
        1 => 3,
        2 | 3 => 1,
        _ => 0,
    }
}

/// The input ranges divided into pieces; none if that makes too many boxes for the number of transitions.
pub(super) fn pieces(inputs: &[(f64, f64)], transitions: usize) -> Vec<Vec<(f64, f64)>> {
    let halvings = halvings_of_inputs(inputs.len());
    let parts = 1usize << halvings;
    let total = parts.pow(inputs.len() as u32);
    if halvings == 0 || total * transitions > MOST_BOXES {
        return Vec::new();
    }
    let cut = |low: f64, high: f64, place: usize| match place {
        0 => low,
        _ if place == parts => high,
        _ => (low + (high - low) * (place as f64 / parts as f64)).clamp(low, high),
    };
    let piece = |number: usize| {
        let along = |(axis, &(low, high)): (usize, &(f64, f64))| {
            let place = number / parts.pow(axis as u32) % parts;
            (cut(low, high, place), cut(low, high, place + 1))
        };
        inputs.iter().enumerate().map(along).collect()
    };
    (0..total).map(piece).collect()
}
