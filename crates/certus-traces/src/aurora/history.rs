//! What the policy sees: three features of the last ten monitor intervals, oldest first.

use super::Interval;

/// Intervals remembered.
pub const HISTORY: usize = 10;
/// Features per interval: latency gradient, latency ratio, send ratio.
pub const FEATURES: usize = 3;

/// The last intervals' features, and the least average latency so far.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    values: [f64; HISTORY * FEATURES],
    least_latency: Option<f64>,
}

impl Default for History {
    /// Nothing happened yet: every interval reads gradient 0 and ratios 1.
    fn default() -> Self {
        let mut values = [1.0; HISTORY * FEATURES];
        values.iter_mut().step_by(FEATURES).for_each(|gradient| *gradient = 0.0);
        History { values, least_latency: None }
    }
}

impl History {
    /// Appends an interval and forgets the oldest.
    pub fn push(&mut self, interval: &Interval) {
        let latency = interval.average_latency();
        if latency > 0.0 {
            self.least_latency = Some(self.least_latency.map_or(latency, |least| least.min(latency)));
        }
        // Without acknowledgements the latency is 0, and so is its ratio.
        let latency_ratio = self.least_latency.map_or(1.0, |least| latency / least);
        self.values.copy_within(FEATURES.., 0);
        let newest = [interval.latency_gradient(), latency_ratio, interval.send_ratio()];
        self.values[(HISTORY - 1) * FEATURES..].copy_from_slice(&newest);
    }

    /// All features, interval by interval, oldest first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The newest interval's features: latency gradient, latency ratio, send ratio.
    pub fn newest(&self) -> [f64; FEATURES] {
        let [.., gradient, latency, send] = self.values;
        [gradient, latency, send]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_against_the_least_average() {
        let mut history = History::default();
        assert_eq!(history.values()[..6], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        let interval = |round_trips: &[f64]| Interval {
            end: 1.0,
            sent: 3,
            acked: round_trips.len() as u64,
            round_trips: round_trips.to_vec(),
            ..Interval::default()
        };
        history.push(&interval(&[]));
        assert_eq!(history.newest(), [0.0, 1.0, 1.0]);
        history.push(&interval(&[0.2, 0.2]));
        assert_eq!(history.newest(), [0.0, 1.0, 3.0]);
        history.push(&interval(&[0.4, 0.4]));
        assert_eq!(history.newest(), [0.0, 2.0, 3.0]);
        history.push(&interval(&[]));
        assert_eq!(history.newest(), [0.0, 0.0, 1.0]);
        assert_eq!(history.values()[18..], [0., 1., 1., 0., 1., 3., 0., 2., 3., 0., 0., 1.]);
    }
}
