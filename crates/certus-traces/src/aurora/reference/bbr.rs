//! BBR, version 1 (N. Cardwell and others, *BBR: Congestion-Based Congestion Control*, ACM Queue 14(5), 2016): measure the greatest
//! delivery rate and the least round-trip time, send at that rate with twice their product in flight at most.
//!
//! Losses do not matter to it. It begins by doubling (*startup*) until the rate stops growing, lets the queue empty
//! (*drain*), then sends a little faster and a little slower in turn (*probe bandwidth*), and every ten seconds almost
//! nothing for a moment (*probe round trip*), so that the least round-trip time is seen again.

use std::collections::VecDeque;

use crate::aurora::flow::{Acknowledgement, CongestionControl};

/// 2 / ln 2: doubles the delivery rate per round trip.
const HIGH_GAIN: f64 = 2.885;
/// Gains of the phases in which bandwidth is probed, each one round trip long.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds over which the greatest rate counts.
const RATE_ROUNDS: u64 = 10;
/// Seconds for which the least round-trip time counts.
const ROUND_TRIP_SECONDS: f64 = 10.0;
/// How long almost nothing is sent, s.
const PROBE_SECONDS: f64 = 0.2;
const LEAST_WINDOW: f64 = 4.0;
const FIRST_WINDOW: f64 = 10.0;
/// Startup ends when the rate grew by less than a quarter for so many rounds.
const FLAT_ROUNDS: u32 = 3;

/// What it is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BbrMode {
    /// Doubling.
    Startup,
    /// Letting the queue empty.
    Drain,
    /// In a phase of the cycle.
    ProbeBandwidth(usize),
    /// Sending almost nothing until then; then what it did before.
    ProbeRoundTrip,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: BbrMode,
    /// Delivery rates by round, greatest first and falling.
    rates: VecDeque<(u64, f64)>,
    round: u64,
    /// A packet sent after so many deliveries begins the next round.
    round_ends: u64,
    least_round_trip: f64,
    least_seen: f64,
    phase_began: f64,
    full_rate: f64,
    flat: u32,
    filled: bool,
    probe_ends: Option<f64>,
}

impl Default for Bbr {
    fn default() -> Self {
        Bbr {
            mode: BbrMode::Startup,
            rates: VecDeque::new(),
            round: 0,
            round_ends: 0,
            least_round_trip: f64::INFINITY,
            least_seen: 0.0,
            phase_began: 0.0,
            full_rate: 0.0,
            flat: 0,
            filled: false,
            probe_ends: None,
        }
    }
}

impl Bbr {
    /// What it is doing.
    pub fn mode(&self) -> BbrMode {
        self.mode
    }

    /// The bottleneck's bandwidth as it sees it, packets per second; 0 at first.
    pub fn bandwidth(&self) -> f64 {
        self.rates.front().map_or(0.0, |&(_, rate)| rate)
    }

    fn product(&self) -> f64 {
        self.bandwidth() * self.least_round_trip
    }

    fn gain(&self) -> f64 {
        match self.mode {
            BbrMode::Startup => HIGH_GAIN,
            BbrMode::Drain => 1.0 / HIGH_GAIN,
            BbrMode::ProbeBandwidth(phase) => CYCLE[phase % CYCLE.len()],
            BbrMode::ProbeRoundTrip => 1.0,
        }
    }

    fn probe_bandwidth(&mut self, time: f64) {
        // Not in the phase that lowers: the queue has just been emptied.
        (self.mode, self.phase_began) = (BbrMode::ProbeBandwidth(2), time);
    }

    fn measure(&mut self, seen: &Acknowledgement) -> bool {
        let new_round = seen.delivered_before >= self.round_ends;
        if new_round {
            self.round += 1;
            self.round_ends = seen.delivered;
        }
        while self.rates.back().is_some_and(|&(_, rate)| rate <= seen.delivery_rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((self.round, seen.delivery_rate));
        while self.rates.front().is_some_and(|&(round, _)| round + RATE_ROUNDS < self.round) {
            self.rates.pop_front();
        }
        new_round
    }

    fn watch_startup(&mut self) {
        if self.bandwidth() >= 1.25 * self.full_rate {
            (self.full_rate, self.flat) = (self.bandwidth(), 0);
            return;
        }
        self.flat += 1;
        self.filled = self.flat >= FLAT_ROUNDS;
    }
}

impl CongestionControl for Bbr {
    fn acknowledged(&mut self, seen: &Acknowledgement) {
        let new_round = self.measure(seen);
        let expired = seen.time > self.least_seen + ROUND_TRIP_SECONDS;
        if seen.round_trip <= self.least_round_trip || expired {
            (self.least_round_trip, self.least_seen) = (seen.round_trip, seen.time);
        }
        if new_round && !self.filled {
            self.watch_startup();
        }
        match self.mode {
            BbrMode::Startup if self.filled => self.mode = BbrMode::Drain,
            BbrMode::Drain if seen.in_flight as f64 <= self.product() => self.probe_bandwidth(seen.time),
            BbrMode::ProbeBandwidth(phase) => {
                let over = seen.time - self.phase_began > self.least_round_trip;
                let drained = CYCLE[phase] < 1.0 && seen.in_flight as f64 <= self.product();
                if over || drained {
                    (self.mode, self.phase_began) = (BbrMode::ProbeBandwidth((phase + 1) % CYCLE.len()), seen.time);
                }
            }
            _ => {}
        }
        if expired && self.mode != BbrMode::ProbeRoundTrip {
            (self.mode, self.probe_ends) = (BbrMode::ProbeRoundTrip, None);
        }
        if self.mode == BbrMode::ProbeRoundTrip {
            match self.probe_ends {
                None if seen.in_flight as f64 <= LEAST_WINDOW => {
                    self.probe_ends = Some(seen.time + PROBE_SECONDS.max(seen.round_trip));
                }
                Some(end) if seen.time >= end => {
                    self.least_seen = seen.time;
                    if self.filled {
                        self.probe_bandwidth(seen.time);
                    } else {
                        self.mode = BbrMode::Startup;
                    }
                }
                _ => {}
            }
        }
    }

    fn lost(&mut self, _: f64, _: f64) {}

    fn window(&self) -> f64 {
        match self.mode {
            BbrMode::ProbeRoundTrip => LEAST_WINDOW,
            _ if self.rates.is_empty() => FIRST_WINDOW,
            BbrMode::Startup | BbrMode::Drain => (HIGH_GAIN * self.product()).max(FIRST_WINDOW),
            BbrMode::ProbeBandwidth(_) => (2.0 * self.product()).max(LEAST_WINDOW),
        }
    }

    fn pace(&self) -> Option<f64> {
        let rate = self.bandwidth();
        (rate > 0.0).then(|| self.gain() * rate)
    }
}

#[cfg(test)]
mod tests {
    use certus_numerics::Random;

    use super::*;
    use crate::aurora::flow::Flow;
    use crate::aurora::{Bandwidth, Scenario};

    fn flow(queue: u32, loss: f64) -> Flow<Bbr> {
        let scenario = Scenario { bandwidth: Bandwidth::Constant(500.0), delay: 0.05, queue, loss, start_rate: 1.0 };
        Flow::new(&scenario, Bbr::default(), Random::new(1, 0)).unwrap()
    }

    #[test]
    fn it_starts_up_drains_and_probes() {
        let mut flow = flow(1000, 0.0);
        assert_eq!(flow.controller().mode(), BbrMode::Startup);
        let mut modes = vec![BbrMode::Startup];
        for _ in 0..400 {
            flow.run(0.01);
            let mode = flow.controller().mode();
            if modes.last() != Some(&mode) {
                modes.push(mode);
            }
        }
        assert_eq!(modes[1], BbrMode::Drain, "{modes:?}");
        assert!(matches!(modes[2], BbrMode::ProbeBandwidth(2)));
        assert!(modes.contains(&BbrMode::ProbeBandwidth(0)));
    }

    #[test]
    fn it_fills_the_link_and_not_the_queue() {
        let mut flow = flow(1000, 0.0);
        flow.run(5.0);
        let seen = flow.run(4.0);
        assert!((1900..=2010).contains(&seen.acked), "{}", seen.acked);
        // A loss-based controller would stand at 2 s here.
        assert!(seen.average_latency() < 0.15, "{}", seen.average_latency());
        assert!((flow.controller().bandwidth() - 500.0).abs() < 25.0, "{}", flow.controller().bandwidth());
    }

    #[test]
    fn losses_do_not_matter() {
        let mut lossy = flow(1000, 0.05);
        lossy.run(5.0);
        let seen = lossy.run(4.0);
        assert!(seen.acked > 1750, "{}", seen.acked);
    }

    #[test]
    fn the_round_trip_is_probed_every_ten_seconds() {
        let mut flow = flow(1000, 0.0);
        let mut probing = Vec::new();
        for step in 0..3000 {
            flow.run(0.01);
            if flow.controller().mode() == BbrMode::ProbeRoundTrip {
                probing.push(step);
            }
        }
        let begins: Vec<usize> = probing
            .iter()
            .enumerate()
            .filter(|(i, step)| *i == 0 || probing[i - 1] + 1 != **step)
            .map(|(_, s)| *s)
            .collect();
        assert!((2..=3).contains(&begins.len()), "{begins:?}");
        assert!(begins[1] - begins[0] >= 1000);
    }
}
