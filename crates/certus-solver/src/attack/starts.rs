//! Where restarts begin, and how each of them moves: deterministic from a seed and a number.

use certus_numerics::Random;

use super::objective::Aim;
use crate::query::Region;

/// Ends of the region beyond this are treated as if there were none.
const LARGEST_END: f64 = 1e9;

/// How far from the finite end, or from zero, a point may go where the region has no end.
const REACH: f64 = 1e6;

/// Scales of starts and steps where the region has no end, as powers of ten.
const UNBOUNDED_SCALES: (f64, f64) = (-1.0, 3.0);

/// The length of first steps, as a share of the width of the region; each restart has one of its own, as no length serves
/// both narrow valleys and wide plains.
const FIRST_STEPS: (f64, f64) = (0.01, 0.5);

/// After how many steps without progress a restart is given up; it pays to try many, and to stay with some.
const PATIENCE: (f64, f64) = (5.0, 30.0);

/// The share of restarts that begin at a corner.
const CORNERS: f64 = 0.1;

/// The share of restarts that go for one part of a disjunction, whatever is nearest.
const FIXED_AIMS: f64 = 0.5;

/// Where restarts begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Starts<'a> {
    /// Anywhere in the region.
    Region,
    /// In boxes given by their lower and upper ends, in turn.
    Boxes {
        /// The boxes; only their part in the region counts.
        boxes: &'a [(Vec<f64>, Vec<f64>)],
        /// Whether a restart stays in its box; otherwise it may go anywhere in the region.
        confined: bool,
    },
}

/// One restart before its first step.
pub(crate) struct Start {
    pub(crate) point: Vec<f64>,
    /// The box that the restart stays in.
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    /// What steps are measured in, per input; zero for an input that does not move.
    pub(crate) scale: Vec<f64>,
    /// The first step, in scales.
    pub(crate) rate: f64,
    /// How many steps without progress are tolerated.
    pub(crate) patience: usize,
    pub(crate) aim: Aim,
}

/// The box of points that a replay accepts, made finite.
pub(crate) struct Limits {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Whether both ends are the region's own.
    bounded: Vec<bool>,
}

impl Limits {
    pub(crate) fn new(region: &Region) -> Self {
        let mut limits = Limits { low: Vec::new(), high: Vec::new(), bounded: Vec::new() };
        for (&low, &high) in region.inner_lower.iter().zip(&region.inner_upper) {
            // The decimal that was written lies between two doubles; the replay takes the upper one.
            let high = high.max(low);
            let (below, above) = (low >= -LARGEST_END, high <= LARGEST_END);
            let (low, high) = match (below, above) {
                (true, true) => (low, high),
                (true, false) => (low, high.min(low.max(0.0) + REACH)),
                (false, true) => (low.max(high.min(0.0) - REACH), high),
                (false, false) => (low.max(-REACH), high.min(REACH)),
            };
            limits.low.push(low);
            limits.high.push(high);
            limits.bounded.push(below && above);
        }
        limits
    }

    /// The number of inputs.
    pub(crate) fn inputs(&self) -> usize {
        self.low.len()
    }

    /// The restart with this number.
    pub(crate) fn start(&self, starts: Starts<'_>, seed: u64, number: usize) -> Start {
        // Far apart for different seeds and numbers: both go through the mixing of the generator.
        let mixed = Random::with_state(seed).bits() ^ Random::with_state(number as u64).bits();
        let mut numbers = Random::with_state(mixed);
        let (rate, patience) =
            (numbers.log_uniform(FIRST_STEPS.0, FIRST_STEPS.1), numbers.log_uniform(PATIENCE.0, PATIENCE.1) as usize);
        let aim = if numbers.unit() < FIXED_AIMS { Aim::Fixed(numbers.bits()) } else { Aim::Nearest };
        let (corner, middle) = (numbers.unit() < CORNERS, number == 0);
        let given = match starts {
            Starts::Boxes { boxes, confined } if !boxes.is_empty() => Some((&boxes[number % boxes.len()], confined)),
            _ => None,
        };
        let inputs = self.inputs();
        let mut start = Start {
            point: Vec::with_capacity(inputs),
            low: Vec::with_capacity(inputs),
            high: Vec::with_capacity(inputs),
            scale: Vec::with_capacity(inputs),
            rate,
            patience,
            aim,
        };
        for input in 0..inputs {
            let (mut low, mut high) = (self.low[input], self.high[input]);
            let (outer_low, outer_high) = (low, high);
            let mut bounded = self.bounded[input];
            if let Some(((lower, upper), _)) = given {
                bounded |= lower[input] >= -LARGEST_END && upper[input] <= LARGEST_END;
                low = within(lower[input], low, high);
                high = within(upper[input], low, high);
            }
            let share = match numbers.unit() {
                _ if middle => 0.5,
                share if corner => share.round(),
                share => share,
            };
            let (from, scale) = match bounded {
                true => (low + share * (high - low), high - low),
                false => {
                    // Near zero, or near the end that is nearest to it.
                    let (least, most) = UNBOUNDED_SCALES;
                    let scale = 10f64.powf(least + (most - least) * numbers.unit());
                    (within(0.0, low, high) + (2.0 * share - 1.0) * scale, scale.min(high - low))
                }
            };
            start.point.push(within(from, low, high));
            start.scale.push(scale);
            let confined = given.is_some_and(|(_, confined)| confined);
            start.low.push(if confined { low } else { outer_low });
            start.high.push(if confined { high } else { outer_high });
        }
        start
    }
}

/// The nearest number in a range; its lower end for what is not a number.
pub(crate) fn within(value: f64, low: f64, high: f64) -> f64 {
    value.max(low).min(high)
}
