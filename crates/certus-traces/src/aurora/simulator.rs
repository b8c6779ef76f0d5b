//! One connection: a network, the sender's rate, and the history that its policy sees.

use certus_numerics::Random;

use super::{Bandwidth, History, Interval, Network};
use crate::{EnvironmentError, SettingError};

/// What an action is multiplied by to give the relative change of the rate.
pub const DELTA_SCALE: f64 = 0.025;
/// Least and greatest rate after an action, packets/s.
pub const RATES: (f64, f64) = (40.0, 1000.0);

/// The network of one episode.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Of both links.
    pub bandwidth: Bandwidth,
    /// One-way delay of each link, s.
    pub delay: f64,
    /// Packets that fit into a queue.
    pub queue: u32,
    /// Chance that a packet is lost whatever the queue.
    pub loss: f64,
    /// Packets per second at first; not held in [`RATES`] before the first action.
    pub start_rate: f64,
}

impl Scenario {
    /// Whether the numbers make sense, and are such that a step takes a bounded number of events.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check("bandwidth", self.bandwidth.mean(), 1.0, 1e6)?;
        if let Bandwidth::Trace { capacity, offset } = &self.bandwidth {
            SettingError::check("offset", *offset, 0.0, capacity.duration())?;
            SettingError::check("duration of the trace", capacity.duration(), 0.0, 1e5)?;
        }
        SettingError::check("delay", self.delay, 1e-6, 60.0)?;
        SettingError::check("queue", f64::from(self.queue), 1.0, 1e6)?;
        SettingError::check("loss", self.loss, 0.0, 1.0)?;
        SettingError::check("start_rate", self.start_rate, 1e-3, 1e6)?;
        let seconds = f64::from(self.queue) / self.bandwidth.mean();
        SettingError::check("queue over bandwidth", seconds, 0.0, 1e5)
    }
}

/// A running connection.
#[derive(Clone, Debug)]
pub struct Simulator {
    network: Network,
    history: History,
    /// Nominal length of the next interval, s.
    next_duration: f64,
}

impl Simulator {
    /// A connection after its two warm-up intervals, which the history does not record. `random` draws the losses.
    pub fn new(scenario: Scenario, random: Random) -> Result<Simulator, SettingError> {
        scenario.check()?;
        let Scenario { bandwidth, delay, queue, loss, start_rate } = scenario;
        let mut network = Network::new(bandwidth, delay, f64::from(queue), loss, start_rate, random);
        let next_duration = 3.0 * delay;
        network.run(next_duration);
        network.run(next_duration);
        Ok(Simulator { network, history: History::default(), next_duration })
    }

    /// Changes the rate by the action and runs one monitor interval.
    pub fn step(&mut self, action: f64) -> Result<Interval, EnvironmentError> {
        if !action.is_finite() {
            return Err(EnvironmentError::Action(format!("{action} is no action: a finite number is wanted")));
        }
        let (rate, delta) = (self.network.rate(), DELTA_SCALE * action);
        let changed = if delta >= 0.0 { rate * (1.0 + delta) } else { rate / (1.0 - delta) };
        self.network.set_rate(changed.clamp(RATES.0, RATES.1));
        let interval = self.network.run(self.next_duration);
        self.history.push(&interval);
        let latency = interval.average_latency();
        if latency > 0.0 {
            self.next_duration = 0.5 * latency;
        }
        Ok(interval)
    }

    /// What the policy sees.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The network: its time, its rate, the packets in flight.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Nominal length of the next interval, s.
    pub fn next_duration(&self) -> f64 {
        self.next_duration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        Scenario { bandwidth: Bandwidth::Constant(200.0), delay: 0.05, queue: 20, loss: 0.0, start_rate: 100.0 }
    }

    #[test]
    fn first_steps_are_the_references() {
        let mut simulator = Simulator::new(scenario(), Random::new(0, 0)).unwrap();
        assert_eq!(simulator.next_duration(), 0.150_000_000_000_000_02);
        let first = simulator.step(1.0).unwrap();
        assert_eq!(simulator.network().rate(), 102.499_999_999_999_99);
        assert_eq!((first.sent, first.acked, first.lost), (17, 16, 0));
        assert_eq!(first.reward(), 0.860_937_499_999_998_8);
        assert_eq!(simulator.history().newest(), [0.0, 1.0, 1.133_333_333_333_333_3]);
        let second = simulator.step(1.0).unwrap();
        assert_eq!((second.sent, second.acked), (5, 5));
        assert_eq!(simulator.history().newest(), [2.775_557_561_562_892e-16, 1.0, 1.25]);
    }

    #[test]
    fn rates_are_held_in_their_range() {
        let mut simulator = Simulator::new(scenario(), Random::new(0, 0)).unwrap();
        simulator.step(-1e12).unwrap();
        assert_eq!(simulator.network().rate(), 40.0);
        simulator.step(1e12).unwrap();
        assert_eq!(simulator.network().rate(), 1000.0);
        simulator.step(-40.0).unwrap();
        assert_eq!(simulator.network().rate(), 500.0);
        assert!(simulator.step(f64::NAN).is_err());
    }

    #[test]
    fn senseless_scenarios_are_refused() {
        for wrong in [
            Scenario { bandwidth: Bandwidth::Constant(0.0), ..scenario() },
            Scenario { bandwidth: Bandwidth::Constant(f64::NAN), ..scenario() },
            Scenario { delay: 0.0, ..scenario() },
            Scenario { queue: 0, ..scenario() },
            Scenario { loss: 1.1, ..scenario() },
            Scenario { start_rate: 0.0, ..scenario() },
            Scenario { bandwidth: Bandwidth::Constant(1.0), queue: 1_000_000, ..scenario() },
        ] {
            assert!(Simulator::new(wrong, Random::new(0, 0)).is_err());
        }
    }
}
