//! Traces like those of a phone that moves: a rate that a Markov chain modulates, with fades and outages.
//!
//! The phone is in one of a few *states* of reception, ordered from good to bad. It stays in one for an exponential
//! time, then moves to a neighbour, up or down with equal chances (inwards at the ends). Within a state the rate is
//! log-normal around the state's median, and its logarithm has the memory of an autoregression of order one, because
//! reception does not jump from one half second to the next. On top come *fades* (the rate multiplied by a factor for a
//! while: a bridge, a bend) and *outages* (no rate at all: a tunnel, a handover), each a Poisson process with
//! exponential lengths.
//!
//! The defaults are round numbers chosen by hand to resemble published logs of 3G commuting (means of 0.2 to 6 Mbit/s,
//! outages of a few seconds). They are fitted to no data set.

use certus_numerics::Random;

use super::{Builder, MOST_POINTS, Trace};
use crate::draw::{exponential, normal};
use crate::{SettingError, TraceError};

/// A state of reception.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellState {
    /// Median rate, Mbit/s.
    pub median: f64,
    /// Standard deviation of the rate's natural logarithm.
    pub sigma: f64,
    /// Mean stay, s.
    pub stay: f64,
}

/// The process; see the head of the file. All times in seconds, all rates in Mbit/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Cellular {
    /// Length of the trace.
    pub duration: f64,
    /// Time between points.
    pub step: f64,
    /// From good to bad; at least one.
    pub states: Vec<CellState>,
    /// Correlation of the logarithm of the rate with itself one second later, in [0, 1).
    pub memory: f64,
    /// Fades per second.
    pub fades: f64,
    /// Mean length of a fade.
    pub fade_length: f64,
    /// What a fade multiplies the rate by, in [0, 1].
    pub fade_factor: f64,
    /// Outages per second.
    pub outages: f64,
    /// Mean length of an outage.
    pub outage_length: f64,
}

impl Default for Cellular {
    fn default() -> Self {
        let state = |median, sigma, stay| CellState { median, sigma, stay };
        Cellular {
            duration: 320.0,
            step: 0.5,
            states: vec![state(4.5, 0.25, 25.0), state(2.0, 0.35, 20.0), state(0.6, 0.5, 12.0)],
            memory: 0.6,
            fades: 1.0 / 30.0,
            fade_length: 3.0,
            fade_factor: 0.3,
            outages: 1.0 / 150.0,
            outage_length: 4.0,
        }
    }
}

/// Something that begins now and then and lasts a while.
struct Episode {
    left: f64,
}

impl Episode {
    /// Moves on by a step; whether it is going on in this step.
    fn step(&mut self, random: &mut Random, step: f64, per_second: f64, length: f64) -> bool {
        self.left -= step;
        // The chance that a Poisson process begins within the step. Drawn always, so that settings do not shift
        // streams.
        let begins = random.unit() < -f64::exp_m1(-per_second * step);
        let long = exponential(random, length);
        if self.left <= 0.0 && begins {
            self.left = long.max(step);
        }
        self.left > 0.0
    }
}

impl Cellular {
    fn check(&self) -> Result<(), SettingError> {
        SettingError::check("step", self.step, 1e-3, 1e3)?;
        SettingError::check("duration", self.duration, self.step.max(0.1), self.step * (MOST_POINTS - 2) as f64)?;
        SettingError::check("memory", self.memory, 0.0, 1.0 - 1e-9)?;
        for (name, value) in [("fades", self.fades), ("outages", self.outages)] {
            SettingError::check(name, value, 0.0, 1e3)?;
        }
        for (name, value) in [("fade_length", self.fade_length), ("outage_length", self.outage_length)] {
            SettingError::check(name, value, 0.0, 1e9)?;
        }
        SettingError::check("fade_factor", self.fade_factor, 0.0, 1.0)?;
        if self.states.is_empty() {
            return Err(SettingError::new("states", "is empty: there must be at least one state"));
        }
        for state in &self.states {
            SettingError::check("median", state.median, 1e-3, 1e4)?;
            SettingError::check("sigma", state.sigma, 0.0, 3.0)?;
            SettingError::check("stay", state.stay, 1e-3, 1e9)?;
        }
        Ok(())
    }

    /// The trace of a seed.
    pub fn generate(&self, name: &str, seed: u64) -> Result<Trace, TraceError> {
        self.check().map_err(|error| TraceError::new(name, 0, error.to_string()))?;
        let random = &mut Random::new(seed, 0);
        let mut state = crate::draw::below(random, self.states.len());
        let mut stay = exponential(random, self.states[state].stay);
        let mut log = normal(random);
        let correlation = self.memory.powf(self.step);
        let (mut fade, mut outage) = (Episode { left: 0.0 }, Episode { left: 0.0 });
        let mut builder = Builder::new(name, name);
        let count = (self.duration / self.step).round().max(1.0) as usize;
        for index in 0..=count {
            let CellState { median, sigma, .. } = self.states[state];
            let mut rate = (median * (sigma * log).exp()).min(super::GREATEST_RATE);
            if fade.step(random, self.step, self.fades, self.fade_length) {
                rate *= self.fade_factor;
            }
            if outage.step(random, self.step, self.outages, self.outage_length) {
                rate = 0.0;
            }
            builder.push(0, index as f64 * self.step, rate)?;
            log = correlation * log + (1.0 - correlation * correlation).sqrt() * normal(random);
            stay -= self.step;
            if stay <= 0.0 {
                state = neighbour(random, state, self.states.len());
                stay = exponential(random, self.states[state].stay);
            }
        }
        builder.finish(0)
    }
}

fn neighbour(random: &mut Random, state: usize, count: usize) -> usize {
    let up = random.unit() < 0.5;
    match (state, count) {
        (_, 1) => 0,
        (0, _) => 1,
        (state, count) if state + 1 == count || up => state - 1,
        (state, _) => state + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_others_differ() {
        let process = Cellular::default();
        let trace = process.generate("a", 5).unwrap();
        assert_eq!(trace, process.generate("a", 5).unwrap());
        assert_ne!(trace, process.generate("a", 6).unwrap());
        assert_eq!((trace.len(), trace.duration()), (641, 320.0));
    }

    #[test]
    fn one_state_without_disturbance_is_log_normal() {
        let states = vec![CellState { median: 3.0, sigma: 0.4, stay: 1.0 }];
        let process = Cellular { duration: 20_000.0, states, fades: 0.0, outages: 0.0, ..Cellular::default() };
        let trace = process.generate("a", 1).unwrap();
        let logs: Vec<f64> = trace.rates().iter().map(|rate| (rate / 3.0).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / logs.len() as f64;
        assert!(mean.abs() < 0.02 && (variance.sqrt() - 0.4).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn outages_take_their_share_of_time() {
        let process = Cellular { duration: 100_000.0, outages: 0.02, outage_length: 10.0, ..Cellular::default() };
        let trace = process.generate("a", 2).unwrap();
        let share = trace.rates().iter().filter(|&&rate| rate == 0.0).count() as f64 / trace.len() as f64;
        // On 10 s, off 50 s, on average: a sixth, and a little more because none is shorter than a step.
        assert!((share - 1.0 / 6.0).abs() < 0.02, "{share}");
    }

    #[test]
    fn senseless_settings_are_named() {
        let wrong = Cellular { memory: 1.0, ..Cellular::default() };
        assert!(wrong.generate("a", 0).unwrap_err().to_string().starts_with("a: memory is 1, but must lie in"));
        assert!(Cellular { states: vec![], ..Cellular::default() }.generate("a", 0).is_err());
        assert!(Cellular { duration: f64::NAN, ..Cellular::default() }.generate("a", 0).is_err());
        assert!(Cellular { duration: 1e12, ..Cellular::default() }.generate("a", 0).is_err());
    }
}
