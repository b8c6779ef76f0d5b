//! CUBIC (S. Ha, I. Rhee, L. Xu, *CUBIC: A New TCP-Friendly High-Speed TCP Variant*, ACM SIGOPS Operating Systems Review 42(5),
//! 2008; RFC 9438): after a loss the window grows along a cubic curve whose plateau is
//! where the loss happened, fast at first, slowly around the plateau, fast again beyond it.

use crate::aurora::flow::{Acknowledgement, CongestionControl};

/// How steep the curve is, packets per cubic second.
const STEEPNESS: f64 = 0.4;
/// What is left of the window after a loss.
const DECREASE: f64 = 0.7;
const FIRST_WINDOW: f64 = 10.0;

/// The controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: f64,
    slow_start_limit: f64,
    /// The window at the last loss.
    plateau: f64,
    /// When growth after the last loss began.
    epoch: Option<f64>,
    /// When the curve reaches its plateau, s after the epoch.
    until_plateau: f64,
    /// The window that Reno would have by now.
    friendly: f64,
    /// Losses of packets sent before this belong to a decrease that was made.
    recovered: f64,
    least_round_trip: f64,
}

impl Default for Cubic {
    fn default() -> Self {
        Cubic {
            window: FIRST_WINDOW,
            slow_start_limit: f64::INFINITY,
            plateau: 0.0,
            epoch: None,
            until_plateau: 0.0,
            friendly: 0.0,
            recovered: 0.0,
            least_round_trip: f64::INFINITY,
        }
    }
}

impl Cubic {
    /// Whether the window still doubles per round trip.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.slow_start_limit
    }

    fn curve(&self, since: f64) -> f64 {
        STEEPNESS * (since - self.until_plateau).powi(3) + self.plateau
    }
}

impl CongestionControl for Cubic {
    fn acknowledged(&mut self, acknowledgement: &Acknowledgement) {
        self.least_round_trip = self.least_round_trip.min(acknowledgement.round_trip);
        if self.in_slow_start() {
            self.window += 1.0;
            return;
        }
        let epoch = *self.epoch.get_or_insert_with(|| {
            if self.window < self.plateau {
                self.until_plateau = ((self.plateau - self.window) / STEEPNESS).cbrt();
            } else {
                (self.until_plateau, self.plateau) = (0.0, self.window);
            }
            self.friendly = self.window;
            acknowledgement.time
        });
        let since = acknowledgement.time - epoch;
        let target = self.curve(since + self.least_round_trip).clamp(self.window, 1.5 * self.window);
        self.window += (target - self.window) / self.window;
        // As fast as Reno at least, with the decrease of this algorithm.
        self.friendly += 3.0 * (1.0 - DECREASE) / (1.0 + DECREASE) / self.window;
        self.window = self.window.max(self.friendly);
    }

    fn lost(&mut self, time: f64, sent: f64) {
        if sent < self.recovered {
            return;
        }
        self.recovered = time;
        // With less room than last time, leave some of it to others.
        self.plateau = if self.window < self.plateau { self.window * (1.0 + DECREASE) / 2.0 } else { self.window };
        self.window = (self.window * DECREASE).max(2.0);
        self.slow_start_limit = self.window;
        self.epoch = None;
    }

    fn window(&self) -> f64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use certus_numerics::Random;

    use super::*;
    use crate::aurora::flow::Flow;
    use crate::aurora::{Bandwidth, Scenario};

    fn flow(queue: u32, loss: f64) -> Flow<Cubic> {
        let scenario = Scenario { bandwidth: Bandwidth::Constant(200.0), delay: 0.05, queue, loss, start_rate: 1.0 };
        Flow::new(&scenario, Cubic::default(), Random::new(1, 0)).unwrap()
    }

    #[test]
    fn the_window_doubles_until_the_first_loss() {
        let mut flow = flow(1000, 0.0);
        flow.run(0.1001);
        assert_eq!(flow.controller().window(), 11.0);
        flow.run(0.1);
        assert!(flow.controller().in_slow_start() && flow.controller().window() > 19.0);
    }

    #[test]
    fn a_loss_takes_three_tenths_once_per_round_trip() {
        let mut cubic = Cubic { window: 100.0, slow_start_limit: 50.0, ..Cubic::default() };
        cubic.lost(5.0, 4.9);
        assert_eq!(cubic.window(), 70.0);
        // Sent before the decrease: the same event.
        cubic.lost(5.05, 4.95);
        assert_eq!(cubic.window(), 70.0);
        cubic.lost(6.0, 5.9);
        assert_eq!(cubic.window(), 49.0);
        // Less room than last time: the plateau is below the window at the loss.
        assert!((cubic.plateau - 70.0 * 0.85).abs() < 1e-12);
    }

    #[test]
    fn growth_is_slow_around_the_plateau() {
        let mut cubic = Cubic { window: 100.0, slow_start_limit: 50.0, ..Cubic::default() };
        cubic.lost(0.0, 0.0);
        let mut windows = Vec::new();
        for step in 0..1000 {
            let time = 0.01 * f64::from(step);
            cubic.acknowledged(&Acknowledgement {
                time,
                round_trip: 0.1,
                delivered: 0,
                delivered_before: 0,
                delivery_rate: 0.0,
                in_flight: 0,
            });
            windows.push(cubic.window());
        }
        let growth = |from: usize, to: usize| windows[to] - windows[from];
        // The plateau comes after cbrt(30 / 0.4) = 4.2 s.
        assert!(growth(0, 150) > growth(350, 500) && growth(800, 950) > growth(350, 500), "{:?}", growth(350, 500));
        assert!((windows[422] - 100.0).abs() < 3.0, "{}", windows[422]);
    }

    #[test]
    fn a_deep_queue_is_filled_and_a_lossy_link_is_not_used() {
        let mut deep = flow(200, 0.0);
        deep.run(20.0);
        let seen = deep.run(10.0);
        // It probes until packets are dropped: the link is full, and so is the queue much of the time.
        assert!((1980..=2005).contains(&seen.acked), "{}", seen.acked);
        assert!(seen.average_latency() > 0.4, "{}", seen.average_latency());
        let mut lossy = flow(200, 0.05);
        lossy.run(20.0);
        assert!(lossy.run(10.0).acked < 1500);
    }
}
