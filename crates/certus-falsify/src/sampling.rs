//! Points of the unit cube to begin with: corners, constant signals, and uniform ones.
//!
//! Many violations are at extremes, which uniform samples of many dimensions never meet, and under choices that stay as they are. So
//! four kinds of runs take turns: everything drawn anew at each step, control points drawn uniformly, control points at corners, and
//! one constant choice from a start at a corner.

use certus_numerics::Random;
use certus_sim::Plan;

use crate::coding::Coding;

/// A plan, and the point that denotes it if one does.
pub(crate) struct Sample {
    pub(crate) plan: Plan,
    pub(crate) point: Option<Vec<f64>>,
}

/// The sample at this place of a sequence, for the run with this number.
pub(crate) fn sample(coding: &Coding, place: u64, number: u64, seed: u64) -> Sample {
    // Another stream than that of the run with this number.
    let mut random = Random::new(seed ^ 0x5EED_FA15_1F1E_D000, number);
    let (starts, rows, row) = (coding.start_dimensions(), coding.rows(), coding.row_dimensions());
    let coded = |point: Vec<f64>| Sample { plan: coding.plan(&point), point: Some(point) };
    // The first three: the two ends of everything, and its middle.
    if place < 3 {
        return coded(vec![place as f64 / 2.0; coding.dimensions()]);
    }
    let mut uniform = |count: usize| -> Vec<f64> { (0..count).map(|_| random.unit()).collect() };
    match place % 4 {
        0 if rows > 0 => {
            let point = uniform(coding.dimensions());
            Sample { plan: coding.drawn(&point), point: None }
        }
        1 => coded(uniform(coding.dimensions())),
        2 => {
            let start = near_corner(&mut random, starts);
            let signals = (0..rows * row).map(|_| end(&mut random));
            let point = start.into_iter().chain(signals.collect::<Vec<f64>>()).collect();
            coded(point)
        }
        _ => {
            let mut point = near_corner(&mut random, starts);
            let at_corner = random.one_in(2);
            let constant: Vec<f64> =
                (0..row).map(|_| if at_corner { end(&mut random) } else { random.unit() }).collect();
            (0..rows).for_each(|_| point.extend_from_slice(&constant));
            coded(point)
        }
    }
}

/// One end of the unit interval.
fn end(random: &mut Random) -> f64 {
    f64::from(u8::from(random.one_in(2)))
}

/// A point each of whose coordinates is at an end, or one time in four anywhere.
fn near_corner(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| if random.one_in(4) { random.unit() } else { end(random) }).collect()
}
