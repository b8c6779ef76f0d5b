//! The nearest misses so far, around which further restarts begin.
//!
//! Where witnesses are rare they lie near points that almost are: on ACAS Xu a share of restarts that begin beside one of
//! the best ends so far finds the hardest witnesses with a tenth of the evaluations.

use super::objective::Aim;
use certus_numerics::Random;

use super::starts::{Start, within};

/// How many misses are kept.
const KEPT: usize = 16;

/// The share of restarts that begin beside a miss.
const SHARE: f64 = 0.4;

/// How far from the miss they begin, in scales, and their first step as a share of that.
const FARTHEST: f64 = 0.3;
const CLOSEST: f64 = 0.003;
const STEP: f64 = 0.3;

/// Ends of restarts, nearest first.
#[derive(Default)]
pub(crate) struct Pool {
    misses: Vec<(f64, Vec<f64>)>,
}

impl Pool {
    /// Takes note of the best point of a restart.
    pub(crate) fn add(&mut self, distance: f64, point: &[f64]) {
        if !distance.is_finite() || self.misses.len() == KEPT && self.misses[KEPT - 1].0 <= distance {
            return;
        }
        let place = self.misses.partition_point(|(other, _)| *other <= distance);
        self.misses.insert(place, (distance, point.to_vec()));
        self.misses.truncate(KEPT);
    }

    /// Moves some starts beside a miss.
    pub(crate) fn attract(&self, start: &mut Start, numbers: &mut Random) {
        if self.misses.is_empty() || numbers.unit() >= SHARE {
            return;
        }
        let (_, miss) = &self.misses[(numbers.bits() % self.misses.len() as u64) as usize];
        let away = numbers.log_uniform(CLOSEST, FARTHEST);
        for (input, &value) in miss.iter().enumerate() {
            let moved = value + (2.0 * numbers.unit() - 1.0) * away * start.scale[input];
            start.point[input] = within(moved, start.low[input], start.high[input]);
        }
        start.rate = away * STEP;
        start.aim = Aim::Nearest;
    }
}
