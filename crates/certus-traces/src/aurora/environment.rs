//! Aurora as an environment: each reset samples a network; episodes have 400 monitor intervals.

use std::sync::Arc;

use certus_numerics::Random;

use super::{Bandwidth, FEATURES, HISTORY, PACKET_BYTES, Scenario, Simulator};
use crate::draw::below;
use crate::traces::{Capacity, Trace};
use crate::{ActionSpace, Environment, EnvironmentError, Outcome, SettingError};

/// Steps of an episode.
pub const EPISODE: u32 = 400;

/// What a reset draws from: each uniform between two ends. The defaults are those that Aurora was trained with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranges {
    /// Packets per second; not used where traces are given.
    pub bandwidth: (f64, f64),
    /// One-way delay of a link, s.
    pub delay: (f64, f64),
    /// u, where a queue has 1 + ⌊eᵘ⌋ places.
    pub queue_log: (f64, f64),
    /// Chance that a packet is lost whatever the queue.
    pub loss: (f64, f64),
    /// First rate as a share of the (mean) bandwidth.
    pub start: (f64, f64),
    /// Steps of an episode.
    pub steps: u32,
}

impl Default for Ranges {
    fn default() -> Self {
        Ranges {
            bandwidth: (100.0, 500.0),
            delay: (0.05, 0.5),
            queue_log: (0.0, 8.0),
            loss: (0.0, 0.05),
            start: (0.3, 1.5),
            steps: EPISODE,
        }
    }
}

impl Ranges {
    fn check(&self) -> Result<(), SettingError> {
        // Such that every draw is a scenario that `Scenario::check` accepts, whatever the other draws.
        let ranges = [
            ("bandwidth", self.bandwidth, 10.0, 1e4),
            ("delay", self.delay, 1e-3, 10.0),
            ("queue_log", self.queue_log, 0.0, 12.0),
            ("loss", self.loss, 0.0, 1.0),
            ("start", self.start, 0.01, 100.0),
        ];
        for (name, (lower, upper), least, greatest) in ranges {
            SettingError::check(name, lower, least, greatest)?;
            SettingError::check(name, upper, lower, greatest)?;
        }
        SettingError::check("steps", f64::from(self.steps), 1.0, 1e9)
    }
}

/// The environment. Action: one number, the requested change of rate (times 2.5 %). Observation: 30 features.
///
/// An episode ends by truncation: a connection goes on, only the watching ends.
#[derive(Clone, Debug)]
pub struct Aurora {
    ranges: Ranges,
    traces: Vec<Arc<Capacity>>,
    running: Option<Simulator>,
    steps: u32,
    observation: [f64; HISTORY * FEATURES],
}

impl Aurora {
    /// Links of constant bandwidth, as in the original.
    pub fn new(ranges: Ranges) -> Result<Aurora, SettingError> {
        Aurora::with_traces(ranges, &[])
    }

    /// Links whose bandwidth follows one of the traces, chosen at random with a random beginning. A trace has to carry
    /// 10 packets (0.12 Mbit) to 10 000 packets per second on average, and to be at most 100 000 s long.
    pub fn with_traces(ranges: Ranges, traces: &[Trace]) -> Result<Aurora, SettingError> {
        ranges.check()?;
        let traces: Vec<_> = traces.iter().map(|trace| Arc::new(Capacity::new(trace, 8.0 * PACKET_BYTES))).collect();
        for capacity in &traces {
            SettingError::check("mean packets/s of a trace", capacity.mean_rate(), 10.0, 1e4)?;
            SettingError::check("duration of a trace", capacity.duration(), 0.0, 1e5)?;
        }
        Ok(Aurora { ranges, traces, running: None, steps: 0, observation: [0.0; HISTORY * FEATURES] })
    }

    /// The connection of the running episode.
    pub fn simulator(&self) -> Option<&Simulator> {
        self.running.as_ref()
    }

    fn draw(&self, random: &mut Random) -> Scenario {
        let mut between = |(lower, upper)| random.between(lower, upper);
        let constant = between(self.ranges.bandwidth);
        let delay = between(self.ranges.delay);
        let queue = 1 + between(self.ranges.queue_log).exp() as u32;
        let loss = between(self.ranges.loss);
        let start = between(self.ranges.start);
        let bandwidth = match &self.traces[..] {
            [] => Bandwidth::Constant(constant),
            traces => {
                let capacity = traces[below(random, traces.len())].clone();
                let offset = random.unit() * capacity.duration();
                Bandwidth::Trace { capacity, offset }
            }
        };
        let start_rate = start * bandwidth.mean();
        Scenario { bandwidth, delay, queue, loss, start_rate }
    }
}

impl Environment for Aurora {
    fn observation_length(&self) -> usize {
        self.observation.len()
    }

    /// The original's bounds, which are no more than a way to say: any number.
    fn action_space(&self) -> ActionSpace {
        ActionSpace::Box { lower: -1e12, upper: 1e12, length: 1 }
    }

    fn reset(&mut self, seed: u64) {
        let scenario = self.draw(&mut Random::new(seed, 0));
        // The ranges were checked such that no draw can be refused.
        self.running = Simulator::new(scenario, Random::new(seed, 1)).ok();
        self.steps = 0;
        if let Some(simulator) = &self.running {
            self.observation.copy_from_slice(simulator.history().values());
        }
    }

    fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError> {
        self.action_space().check(action)?;
        let simulator = self.running.as_mut().ok_or(EnvironmentError::NotRunning)?;
        let interval = simulator.step(action[0])?;
        self.observation.copy_from_slice(simulator.history().values());
        self.steps += 1;
        let truncated = self.steps >= self.ranges.steps;
        if truncated {
            self.running = None;
        }
        Ok(Outcome { reward: interval.reward(), terminated: false, truncated })
    }

    fn observation(&self) -> &[f64] {
        &self.observation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_have_400_steps_and_end_by_truncation() {
        let mut environment = Aurora::new(Ranges::default()).unwrap();
        assert_eq!(environment.step(&[0.0]), Err(EnvironmentError::NotRunning));
        environment.reset(3);
        assert_eq!(environment.observation()[..3], [0.0, 1.0, 1.0]);
        let outcomes: Vec<Outcome> = (0..400).map(|_| environment.step(&[0.0]).unwrap()).collect();
        assert!(outcomes[..399].iter().all(|outcome| !outcome.over()));
        assert!(outcomes[399].truncated && !outcomes[399].terminated);
        assert_eq!(environment.step(&[0.0]), Err(EnvironmentError::NotRunning));
    }

    #[test]
    fn draws_are_in_their_ranges_and_always_accepted() {
        for ranges in [
            Ranges::default(),
            Ranges {
                bandwidth: (10.0, 1e4),
                delay: (1e-3, 10.0),
                queue_log: (0.0, 12.0),
                start: (0.01, 100.0),
                ..Ranges::default()
            },
        ] {
            let environment = Aurora::new(ranges).unwrap();
            for seed in 0..500 {
                let scenario = environment.draw(&mut Random::new(seed, 0));
                let bandwidth = scenario.bandwidth.mean();
                assert!((ranges.bandwidth.0..=ranges.bandwidth.1).contains(&bandwidth));
                assert!((2..=1 + ranges.queue_log.1.exp() as u32).contains(&scenario.queue));
                assert_eq!(scenario.check(), Ok(()));
            }
        }
    }

    #[test]
    fn a_constant_trace_is_a_constant_bandwidth() {
        let trace = Trace::constant("c", 2.4).unwrap();
        let scenario = |bandwidth| Scenario { bandwidth, delay: 0.1, queue: 30, loss: 0.01, start_rate: 150.0 };
        let mut constant = Simulator::new(scenario(Bandwidth::Constant(200.0)), Random::new(1, 1)).unwrap();
        let mut traced = Simulator::new(scenario(Bandwidth::of_trace(&trace)), Random::new(1, 1)).unwrap();
        for step in 0..60 {
            let action = if step < 30 { 1.0 } else { -1.0 };
            let (a, b) = (constant.step(action).unwrap(), traced.step(action).unwrap());
            // Rounding may move a packet over an edge, not more.
            assert!((a.average_latency() - b.average_latency()).abs() < 0.006, "step {step}");
            assert!(a.acked.abs_diff(b.acked) <= 1 && a.lost.abs_diff(b.lost) <= 1, "step {step}");
        }
    }

    #[test]
    fn worlds_run_on_traces() {
        let trace = crate::traces::Cellular::default().generate("a", 1).unwrap();
        let mut environment = Aurora::with_traces(Ranges::default(), &[trace]).unwrap();
        environment.reset(1);
        for _ in 0..100 {
            assert!(environment.step(&[0.2]).unwrap().reward.is_finite());
        }
        let slow = Trace::constant("slow", 0.01).unwrap();
        assert!(Aurora::with_traces(Ranges::default(), &[slow]).is_err());
        assert!(Aurora::new(Ranges { loss: (0.5, 0.1), ..Ranges::default() }).is_err());
    }
}
