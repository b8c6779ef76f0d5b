//! The cumulative capacity of a trace, the integral of its rate, and its inverse; the trace repeats for ever.

use super::Trace;

/// The integral of a trace's rate, in units of the caller's choice.
#[derive(Clone, Debug)]
pub struct Capacity {
    times: Vec<f64>,
    /// Units delivered up to each time.
    delivered: Vec<f64>,
}

impl Capacity {
    /// The capacity of a trace in units of so many bits (12 000 for packets of 1500 bytes).
    pub fn new(trace: &Trace, bits_per_unit: f64) -> Capacity {
        let mut delivered = vec![0.0];
        let mut sum = 0.0;
        for (t, rate) in trace.times().windows(2).zip(&trace.rates()[1..]) {
            sum += (t[1] - t[0]) * rate * 1e6 / bits_per_unit;
            delivered.push(sum);
        }
        Capacity { times: trace.times().to_vec(), delivered }
    }

    /// Seconds of one pass.
    pub fn duration(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// Units delivered in one pass.
    pub fn per_pass(&self) -> f64 {
        self.delivered[self.delivered.len() - 1]
    }

    /// Mean units per second.
    pub fn mean_rate(&self) -> f64 {
        self.per_pass() / self.duration()
    }

    /// Units delivered from 0 to a time that is not negative.
    pub fn delivered_by(&self, time: f64) -> f64 {
        interpolate(&self.times, &self.delivered, time)
    }

    /// The first time by which so many units, not negative, are delivered.
    pub fn time_of(&self, delivered: f64) -> f64 {
        interpolate(&self.delivered, &self.times, delivered)
    }
}

/// The value at x of the function that is linear between the points (xs, ys) and goes on by repeating its increments.
/// Where several points have the same x, the first one counts.
fn interpolate(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let last = xs.len() - 1;
    let passes = (x / xs[last]).floor();
    let rest = (x - passes * xs[last]).clamp(0.0, xs[last]);
    // The first point at or after the rest.
    let next = xs.partition_point(|&point| point < rest);
    let within = match next {
        0 => ys[0],
        _ => {
            let share = (rest - xs[next - 1]) / (xs[next] - xs[next - 1]);
            ys[next - 1] + share * (ys[next] - ys[next - 1])
        }
    };
    passes * ys[last] + within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_and_its_inverse() {
        // 1 unit per second for 2 s, nothing for 1 s, 3 units per second for 1 s.
        let trace = Trace::new("t", [(0.0, 9.0), (2.0, 1.0), (3.0, 0.0), (4.0, 3.0)]).unwrap();
        let capacity = Capacity::new(&trace, 1e6);
        assert_eq!((capacity.duration(), capacity.per_pass(), capacity.mean_rate()), (4.0, 5.0, 1.25));
        for (time, delivered) in [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.5, 3.5), (4.0, 5.0), (9.0, 11.0)] {
            assert_eq!(capacity.delivered_by(time), delivered);
            assert_eq!(capacity.time_of(delivered), time);
        }
        assert_eq!(capacity.delivered_by(2.5), 2.0);
    }
}
