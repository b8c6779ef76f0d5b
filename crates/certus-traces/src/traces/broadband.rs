//! Traces like those of a fixed line: a level that the contract sets, mild noise, and a drop now and then.
//!
//! The level is drawn once per trace, log-normal around a median, because lines differ more than hours do. Each point
//! is the level times 1 plus normal noise (never below a tenth of the level). Drops (a neighbour's backup, a busy
//! evening) begin as a Poisson process, last an exponential time and leave a uniform share of the rate.
//!
//! The defaults are round numbers chosen by hand; they are fitted to no data set.

use certus_numerics::Random;

use super::{Builder, GREATEST_RATE, MOST_POINTS, Trace};
use crate::draw::{exponential, normal};
use crate::{SettingError, TraceError};

/// The process; see the head of the file. All times in seconds, all rates in Mbit/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Broadband {
    /// Length of the trace.
    pub duration: f64,
    /// Time between points.
    pub step: f64,
    /// Median of the level over traces.
    pub level: f64,
    /// Standard deviation of the level's natural logarithm over traces.
    pub level_sigma: f64,
    /// Standard deviation of the noise, as a share of the level.
    pub noise: f64,
    /// Drops per second.
    pub drops: f64,
    /// Mean length of a drop.
    pub drop_length: f64,
    /// Least share of the rate that a drop leaves, in [0, 1].
    pub drop_least: f64,
    /// Greatest share of the rate that a drop leaves, in [0, 1].
    pub drop_greatest: f64,
}

impl Default for Broadband {
    fn default() -> Self {
        Broadband {
            duration: 320.0,
            step: 1.0,
            level: 3.0,
            level_sigma: 0.5,
            noise: 0.08,
            drops: 1.0 / 120.0,
            drop_length: 8.0,
            drop_least: 0.2,
            drop_greatest: 0.7,
        }
    }
}

impl Broadband {
    fn check(&self) -> Result<(), SettingError> {
        SettingError::check("step", self.step, 1e-3, 1e3)?;
        SettingError::check("duration", self.duration, self.step.max(0.1), self.step * (MOST_POINTS - 2) as f64)?;
        SettingError::check("level", self.level, 1e-2, 1e4)?;
        SettingError::check("level_sigma", self.level_sigma, 0.0, 3.0)?;
        SettingError::check("noise", self.noise, 0.0, 1.0)?;
        SettingError::check("drops", self.drops, 0.0, 1e3)?;
        SettingError::check("drop_length", self.drop_length, 0.0, 1e9)?;
        SettingError::check("drop_least", self.drop_least, 0.0, 1.0)?;
        SettingError::check("drop_greatest", self.drop_greatest, self.drop_least, 1.0)
    }

    /// The trace of a seed.
    pub fn generate(&self, name: &str, seed: u64) -> Result<Trace, TraceError> {
        self.check().map_err(|error| TraceError::new(name, 0, error.to_string()))?;
        let random = &mut Random::new(seed, 1);
        let level = self.level * (self.level_sigma * normal(random)).exp();
        // Seconds left of a drop, and what it leaves.
        let (mut left, mut share) = (0.0, 1.0);
        let mut builder = Builder::new(name, name);
        let count = (self.duration / self.step).round().max(1.0) as usize;
        for index in 0..=count {
            let noise = (1.0 + self.noise * normal(random)).max(0.1);
            // Drawn always, so that settings do not shift streams.
            let begins = random.unit() < -f64::exp_m1(-self.drops * self.step);
            let length = exponential(random, self.drop_length).max(self.step);
            let drawn = random.between(self.drop_least, self.drop_greatest);
            left -= self.step;
            if left <= 0.0 && begins {
                (left, share) = (length, drawn);
            }
            let rate = level * noise * if left > 0.0 { share } else { 1.0 };
            builder.push(0, index as f64 * self.step, rate.min(GREATEST_RATE))?;
        }
        builder.finish(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_others_differ() {
        let process = Broadband::default();
        let trace = process.generate("b", 5).unwrap();
        assert_eq!(trace, process.generate("b", 5).unwrap());
        assert_ne!(trace.rates(), process.generate("b", 6).unwrap().rates());
    }

    #[test]
    fn without_drops_the_level_stays() {
        let process = Broadband { duration: 10_000.0, level_sigma: 0.0, drops: 0.0, ..Broadband::default() };
        let trace = process.generate("b", 1).unwrap();
        assert!((trace.mean_rate() - 3.0).abs() < 0.02, "{}", trace.mean_rate());
        assert!(trace.rates().iter().all(|rate| (1.5..4.5).contains(rate)));
    }

    #[test]
    fn drops_leave_a_share() {
        let process = Broadband {
            duration: 50_000.0,
            level_sigma: 0.0,
            noise: 0.0,
            drops: 0.02,
            drop_least: 0.5,
            drop_greatest: 0.5,
            ..Broadband::default()
        };
        let trace = process.generate("b", 1).unwrap();
        assert!(trace.rates().iter().all(|&rate| rate == 3.0 || rate == 1.5));
        assert!(trace.rates().contains(&1.5));
    }

    #[test]
    fn senseless_settings_are_named() {
        let wrong = Broadband { drop_least: 0.9, ..Broadband::default() };
        assert!(wrong.generate("b", 0).unwrap_err().to_string().contains("drop_greatest is 0.7"));
    }
}
