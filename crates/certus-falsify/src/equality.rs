//! Runs on which two numbers are exactly equal.
//!
//! `G x != 0` is violated on a set without volume, which neither samples nor gradients meet. But where x changes its sign between two runs, it is zero on some run between them, and
//! near that one doubles are dense: the last bits of a choice move x by less than x is rounded by, so one of a few neighbours gives the very number. Two steps:
//!
//! 1. *narrowing*: of evenly spread values of one choice, those next to the best one are the next range, until they are neighbouring doubles;
//! 2. *neighbours*: values a few roundings away, each with the step as it was lowered, whose last bit counts.
//!
//! What is found is a run of doubles; whether there is one over the reals is asked elsewhere (`certus_check::equalities`).

use certus_check::replay::Drive;
use certus_numerics::Random;
use certus_sim::Plan;

/// Values of a choice that are tried at once.
pub(crate) const VALUES: usize = 32;

/// How often a range is narrowed at most: from any range to neighbouring doubles.
pub(crate) const NARROWINGS: usize = 16;

/// Choices that are tried, one after the other.
pub(crate) const MOST_CHOICES: usize = 8;

/// Neighbours that are tried, and how far they are away at most, in roundings, each next time.
pub(crate) const NEIGHBOURS: usize = 128;
pub(crate) const DISTANCES: [f64; 4] = [4.0, 64.0, 1024.0, 16_384.0];

/// Neighbours are tried where a run came so much nearer.
pub(crate) const NEARLY: f64 = 1e-6;

/// A number that is chosen: of the first state, or of the inputs at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Start(usize),
    Input(usize, usize),
}

impl Choice {
    /// Its value in a plan with a row for each step.
    pub(crate) fn of(self, plan: &mut Plan) -> Option<&mut f64> {
        match self {
            Choice::Start(element) => plan.start.get_mut(element),
            Choice::Input(row, element) => plan.inputs.get_mut(row)?.get_mut(element),
        }
    }

    /// The same in what drives a run.
    pub(crate) fn within(self, drive: &mut Drive) -> Option<&mut f64> {
        match self {
            Choice::Start(element) => drive.state.get_mut(element),
            Choice::Input(row, element) => drive.inputs.get_mut(row)?.get_mut(element),
        }
    }
}

/// Evenly spread values of a range, with both of its ends.
pub(crate) fn spread((low, high): (f64, f64)) -> Vec<f64> {
    let share = |place: usize| place as f64 / (VALUES - 1) as f64;
    let value = |place: usize| (low * (1.0 - share(place)) + high * share(place)).clamp(low, high);
    (0..VALUES).map(value).collect()
}

/// The range around the best of some spread values.
pub(crate) fn around(values: &[f64], best: usize) -> (f64, f64) {
    (values[best.saturating_sub(1)], values[(best + 1).min(values.len() - 1)])
}

/// Whether a range has hardly any doubles but its ends.
pub(crate) fn is_narrow((low, high): (f64, f64)) -> bool {
    high - low <= 2.0 * f64::EPSILON * low.abs().max(high.abs())
}

/// A value a few roundings from another one, in a range.
pub(crate) fn neighbour(value: f64, distance: f64, (low, high): (f64, f64), random: &mut Random) -> f64 {
    let size = f64::EPSILON * value.abs().max(1e-3 * (high - low)).max(f64::MIN_POSITIVE);
    (value + distance * size * (2.0 * random.unit() - 1.0)).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_narrowed_to_neighbouring_doubles() {
        // |x - root| is least at the double that is nearest.
        for root in [0.3, 1.0 / 3.0, 0.999, 0.0] {
            let mut range = (-1.0, 1.0);
            let mut steps = 0;
            while !is_narrow(range) && steps < NARROWINGS {
                let values = spread(range);
                let misses = values.iter().map(|value: &f64| (value - root).abs());
                let best = misses.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
                range = around(&values, best);
                assert!(range.0 <= root && root <= range.1, "{range:?}");
                steps += 1;
            }
            assert!(range.1 - range.0 < 1e-14, "{range:?}");
        }
    }

    #[test]
    fn neighbours_stay_in_the_range_and_near() {
        let mut random = Random::new(1, 2);
        for _ in 0..1000 {
            let value = neighbour(1.0, 4.0, (0.5, 1.0), &mut random);
            assert!(value <= 1.0 && 1.0 - value <= 4.0 * f64::EPSILON);
        }
    }
}
