//! Separable CMA-ES: evolution of a normal distribution over the unit cube.
//!
//! Hansen and Ostermeier, "Completely Derandomized Self-Adaptation in Evolution Strategies", Evolutionary Computation 9(2), 2001; with a diagonal
//! covariance matrix: Ros and Hansen, "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity", PPSN 2008. Each generation is
//! drawn from the distribution; the better half moves its mean, an evolution path lengthens or shortens the step, and the variances follow the
//! steps that succeeded. Only the order of the values counts, so robustness may have jumps and plateaus.
//!
//! The plain matrix would be too large where a run has many control points, and a generation of runs is simulated as one batch.
//! Departure: points outside of the cube are moved to its border before they are used.

use certus_numerics::Random;

/// Points of a generation, at least.
const LEAST_GENERATION: usize = 12;

/// A spread below this is not worth going on with.
const COLLAPSED: f64 = 1e-7;

/// Generations without a better point before a new beginning.
const PATIENCE: usize = 24;

/// A normal distribution over the unit cube, under way.
#[derive(Clone, Debug)]
pub(crate) struct Evolution {
    mean: Vec<f64>,
    sigma: f64,
    variances: Vec<f64>,
    path_sigma: Vec<f64>,
    path_covariance: Vec<f64>,
    generations: usize,
    since_better: usize,
    best: f64,
    weights: Vec<f64>,
    effective: f64,
}

impl Evolution {
    /// Around a point, with a spread.
    pub(crate) fn around(mean: Vec<f64>, sigma: f64) -> Evolution {
        let count = mean.len();
        let parents = generation_size(count) / 2;
        let raw: Vec<f64> = (1..=parents).map(|rank| (parents as f64 + 0.5).ln() - (rank as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.into_iter().map(|weight| weight / sum).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        Evolution {
            mean,
            sigma,
            variances: vec![1.0; count],
            path_sigma: vec![0.0; count],
            path_covariance: vec![0.0; count],
            generations: 0,
            since_better: 0,
            best: f64::INFINITY,
            weights,
            effective,
        }
    }

    /// Whether another generation would find nothing new.
    pub(crate) fn is_stuck(&self) -> bool {
        let widest = self.variances.iter().fold(0.0, |most: f64, &own| most.max(own.sqrt()));
        let spread = self.sigma * widest;
        !spread.is_finite() || spread < COLLAPSED || self.since_better > PATIENCE
    }

    /// Draws a generation.
    pub(crate) fn generation(&self, random: &mut Random) -> Vec<Vec<f64>> {
        let point = |random: &mut Random| -> Vec<f64> {
            let own = self.mean.iter().zip(&self.variances);
            own.map(|(mean, variance)| (mean + self.sigma * variance.sqrt() * normal(random)).clamp(0.0, 1.0)).collect()
        };
        (0..generation_size(self.mean.len())).map(|_| point(random)).collect()
    }

    /// Learns the values of a generation; small ones are good.
    pub(crate) fn learn(&mut self, generation: &[Vec<f64>], values: &[f64]) {
        let count = self.mean.len() as f64;
        let mut order: Vec<usize> = (0..generation.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let Some(&first) = order.first() else { return };
        self.generations += 1;
        self.since_better += 1;
        if values[first] < self.best {
            self.best = values[first];
            self.since_better = 0;
        }
        let before = self.mean.clone();
        let parents: Vec<&Vec<f64>> = order.iter().take(self.weights.len()).map(|&place| &generation[place]).collect();
        for (element, mean) in self.mean.iter_mut().enumerate() {
            *mean = parents.iter().zip(&self.weights).map(|(parent, weight)| weight * parent[element]).sum();
        }
        // The rates of Ros and Hansen: those of the variances are (n + 2) / 3 times as high as with all covariances.
        let mu = self.effective;
        let rate_sigma = (mu + 2.0) / (count + mu + 5.0);
        let damping = 1.0 + 2.0 * (((mu - 1.0) / (count + 1.0)).sqrt() - 1.0).max(0.0) + rate_sigma;
        let rate_path = (4.0 + mu / count) / (count + 4.0 + 2.0 * mu / count);
        let faster = (count + 2.0) / 3.0;
        let rate_one = (faster * 2.0 / ((count + 1.3).powi(2) + mu)).min(1.0);
        let rate_mu = (faster * 2.0 * (mu - 2.0 + 1.0 / mu) / ((count + 2.0).powi(2) + mu)).clamp(0.0, 1.0 - rate_one);
        let mut length = 0.0;
        for (element, path) in self.path_sigma.iter_mut().enumerate() {
            let moved = (self.mean[element] - before[element]) / (self.sigma * self.variances[element].sqrt());
            *path = (1.0 - rate_sigma) * *path + (rate_sigma * (2.0 - rate_sigma) * mu).sqrt() * moved;
            length += *path * *path;
        }
        let length = length.sqrt();
        let expected = count.sqrt() * (1.0 - 1.0 / (4.0 * count) + 1.0 / (21.0 * count * count));
        let faded = (1.0 - (1.0 - rate_sigma).powi(2 * i32::try_from(self.generations).unwrap_or(i32::MAX))).sqrt();
        let goes_on = length / faded < (1.4 + 2.0 / (count + 1.0)) * expected;
        for element in 0..self.mean.len() {
            let moved = (self.mean[element] - before[element]) / self.sigma;
            let path = &mut self.path_covariance[element];
            let step = if goes_on { (rate_path * (2.0 - rate_path) * mu).sqrt() * moved } else { 0.0 };
            *path = (1.0 - rate_path) * *path + step;
            let spread: f64 = parents
                .iter()
                .zip(&self.weights)
                .map(|(parent, weight)| weight * ((parent[element] - before[element]) / self.sigma).powi(2))
                .sum();
            let variance = &mut self.variances[element];
            *variance = ((1.0 - rate_one - rate_mu) * *variance + rate_one * *path * *path + rate_mu * spread)
                .max(f64::MIN_POSITIVE);
        }
        self.sigma *= ((rate_sigma / damping) * (length / expected - 1.0)).exp();
    }
}

/// Points of a generation in so many dimensions.
pub(crate) fn generation_size(dimensions: usize) -> usize {
    (4 + (3.0 * (dimensions.max(1) as f64).ln()) as usize).max(LEAST_GENERATION)
}

/// A number from the standard normal distribution, by Box and Muller's method.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimised(dimensions: usize, generations: usize, value: &dyn Fn(&[f64]) -> f64) -> f64 {
        let mut random = Random::new(3, 1);
        let mut evolution = Evolution::around(vec![0.5; dimensions], 0.3);
        let mut best = f64::INFINITY;
        for _ in 0..generations {
            let points = evolution.generation(&mut random);
            assert!(points.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
            let values: Vec<f64> = points.iter().map(|point| value(point)).collect();
            best = values.iter().copied().fold(best, f64::min);
            evolution.learn(&points, &values);
        }
        best
    }

    #[test]
    fn a_minimum_inside_is_found() {
        // Scales that differ by a factor of a thousand.
        let value = |point: &[f64]| -> f64 {
            let scaled = point.iter().enumerate().map(|(place, x)| 1000f64.powi(place as i32 % 2) * (x - 0.3).powi(2));
            scaled.sum()
        };
        assert!(minimised(6, 200, &value) < 1e-8);
    }

    #[test]
    fn a_minimum_at_a_corner_is_found() {
        assert!(minimised(8, 60, &|point| point.iter().sum()) < 1e-3);
    }

    #[test]
    fn values_that_say_nothing_end_the_search() {
        let mut evolution = Evolution::around(vec![0.5; 3], 0.3);
        let mut random = Random::new(0, 0);
        for _ in 0..2 * PATIENCE {
            let points = evolution.generation(&mut random);
            evolution.learn(&points, &vec![f64::INFINITY; points.len()]);
        }
        assert!(evolution.is_stuck());
    }
}
