//! The environment's choices in a cell: sample inputs that may be allowed everywhere, and the division of input ranges into pieces.
//!
//! That no state of a cell deadlocks is shown by one witness: inputs for which `assume` holds in all of the cell. The middle and the corners of the input ranges are tried.
//! Where the outcome depends on the inputs, their ranges are divided, and every piece gets a box of next states; the union of the pieces is the whole range, so this
//! stays an over-approximation.

use certus_lang::system::{Integers, Variable};

/// The most inputs for which all corners of their ranges are tried.
const MOST_CORNERED: usize = 4;

/// What an element of the inputs can be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    low: f64,
    high: f64,
    integers: Option<Integers>,
}

impl Choice {
    /// The elements of some inputs, one after the other.
    pub(crate) fn of(inputs: &[Variable]) -> Vec<Choice> {
        let own = |input: &Variable, element: usize| Choice {
            low: input.lower[element],
            high: input.upper[element],
            integers: input.integers.clone(),
        };
        inputs.iter().flat_map(|input| (0..input.len).map(move |element| own(input, element))).collect()
    }

    /// Its pieces: each of its integers if they are at most so many, else its range halved so often.
    fn pieces(&self, most: usize, halvings: u32) -> Vec<(f64, f64)> {
        if let Some(integers) = self.integers.as_ref().filter(|own| own.count() <= most as u64) {
            return integers.iter().map(|value| (value, value)).collect();
        }
        let parts = 1usize << halvings;
        let cut = |place: usize| match place {
            0 => self.low,
            _ if place == parts => self.high,
            _ => (self.low + (self.high - self.low) * (place as f64 / parts as f64)).clamp(self.low, self.high),
        };
        (0..parts).map(|place| (cut(place), cut(place + 1))).collect()
    }

    fn middle(&self) -> f64 {
        let middle = certus_solver::middle(self.low, self.high).0;
        self.integers.as_ref().map_or(middle, |own| own.nearest(middle))
    }
}

/// Inputs that may be allowed everywhere: the middle and the corners of the ranges.
pub(super) fn witnesses(inputs: &[Choice]) -> Vec<Vec<f64>> {
    let middle = inputs.iter().map(Choice::middle).collect();
    let corners = if inputs.len() <= MOST_CORNERED { 0..1u32 << inputs.len() } else { 0..0 };
    let corner = |which: u32| {
        let end = |(place, own): (usize, &Choice)| if which >> place & 1 == 1 { own.high } else { own.low };
        inputs.iter().enumerate().map(end).collect()
    };
    let ends: [Vec<f64>; 2] = [inputs.iter().map(|own| own.low).collect(), inputs.iter().map(|own| own.high).collect()];
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

/// The inputs divided into pieces, integers into their values; none if that makes too many boxes for the number of transitions.
pub(super) fn pieces(inputs: &[Choice], transitions: usize) -> Vec<Vec<(f64, f64)>> {
    let most = MOST_BOXES / transitions.max(1);
    // With few boxes to spare, real numbers stay whole before integers do.
    [halvings_of_inputs(inputs.len()), 0]
        .into_iter()
        .find_map(|halvings| divided(inputs, halvings, most))
        .unwrap_or_default()
}

/// The product of the pieces of all inputs; nothing if it is too large, or a single piece.
fn divided(inputs: &[Choice], halvings: u32, most: usize) -> Option<Vec<Vec<(f64, f64)>>> {
    let mut found: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for own in inputs {
        let parts = own.pieces(most, halvings);
        if found.len() * parts.len() > most {
            return None;
        }
        let with =
            |&last: &(f64, f64)| found.iter().map(|piece| [piece.as_slice(), &[last]].concat()).collect::<Vec<_>>();
        found = parts.iter().flat_map(with).collect();
    }
    (found.len() > 1).then_some(found)
}
