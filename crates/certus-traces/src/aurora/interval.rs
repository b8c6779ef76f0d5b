//! What the sender saw in one monitor interval, and the features computed from it.

/// Bytes of a packet.
pub const PACKET_BYTES: f64 = 1500.0;

/// One monitor interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// When it began, s.
    pub start: f64,
    /// When it ended, s: at the first event at or after its nominal end.
    pub end: f64,
    /// Packets sent.
    pub sent: u64,
    /// Packets acknowledged.
    pub acked: u64,
    /// Packets reported lost.
    pub lost: u64,
    /// Round-trip times of the acknowledged packets, in the order of arrival, s.
    pub round_trips: Vec<f64>,
}

impl Interval {
    /// How long it really was, s.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    fn bits_per_second(&self, packets: f64) -> f64 {
        if self.duration() > 0.0 { 8.0 * (packets * PACKET_BYTES) / self.duration() } else { 0.0 }
    }

    /// Bits sent per second.
    pub fn send_rate(&self) -> f64 {
        self.bits_per_second(self.sent as f64)
    }

    /// Bits acknowledged per second, with one packet fewer than arrived: negative where none did.
    pub fn receive_rate(&self) -> f64 {
        self.bits_per_second(self.acked as f64 - 1.0)
    }

    /// Mean round-trip time, s; 0 without acknowledgements.
    pub fn average_latency(&self) -> f64 {
        mean(&self.round_trips)
    }

    /// Lost packets as a share of those that were reported on; 0 without reports.
    pub fn loss_ratio(&self) -> f64 {
        let reported = self.lost + self.acked;
        if reported > 0 { self.lost as f64 / reported as f64 } else { 0.0 }
    }

    /// Mean round-trip time of the second half minus that of the first, s; 0 with fewer than two.
    pub fn latency_increase(&self) -> f64 {
        let half = self.round_trips.len() / 2;
        let (first, second) = self.round_trips.split_at(half);
        if half >= 1 { mean(second) - mean(first) } else { 0.0 }
    }

    /// The first feature: how fast the round-trip time grew, s/s.
    pub fn latency_gradient(&self) -> f64 {
        if self.duration() > 0.0 { self.latency_increase() / self.duration() } else { 0.0 }
    }

    /// The third feature: send rate over receive rate, or 1 where that means nothing.
    pub fn send_ratio(&self) -> f64 {
        let (sent, received) = (self.send_rate(), self.receive_rate());
        if received > 0.0 && sent < 1000.0 * received { sent / received } else { 1.0 }
    }

    /// 10 per packet/s received, minus 1000 per second of latency, minus 2000 times the loss ratio; all over 1000.
    pub fn reward(&self) -> f64 {
        let throughput = 10.0 * self.receive_rate() / (8.0 * PACKET_BYTES);
        (throughput - 1e3 * self.average_latency() - 2e3 * self.loss_ratio()) * 0.001
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { pairwise_sum(values) / values.len() as f64 }
}

/// The sum in NumPy's order, on which the reference's last digits depend: up to 7 values one after the other, up to 128
/// in eight interleaved sums, more in two halves cut at a multiple of eight.
fn pairwise_sum(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 8 {
        // NumPy begins at −0, which leaves the first value as it is.
        return values.iter().fold(-0.0, |sum, x| sum + x);
    }
    if n <= 128 {
        let mut sums = [0.0; 8];
        sums.copy_from_slice(&values[..8]);
        let blocks = values[8..].chunks_exact(8);
        let rest = blocks.remainder();
        for block in blocks {
            for (sum, x) in sums.iter_mut().zip(block) {
                *sum += x;
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return rest.iter().fold(sum, |sum, x| sum + x);
    }
    let half = n / 2;
    let (first, second) = values.split_at(half - half % 8);
    pairwise_sum(first) + pairwise_sum(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(duration: f64, sent: u64, lost: u64, round_trips: &[f64]) -> Interval {
        let acked = round_trips.len() as u64;
        Interval { start: 1.0, end: 1.0 + duration, sent, acked, lost, round_trips: round_trips.to_vec() }
    }

    #[test]
    fn features_by_hand() {
        let seen = interval(0.5, 8, 1, &[0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(seen.send_rate(), 192_000.0);
        assert_eq!(seen.receive_rate(), 96_000.0);
        assert_eq!(seen.send_ratio(), 2.0);
        assert_eq!(seen.average_latency(), 0.3);
        assert_eq!(seen.loss_ratio(), 1.0 / 6.0);
        // Mean of the last three minus mean of the first two.
        assert!((seen.latency_increase() - 0.25).abs() < 1e-15);
        assert!((seen.latency_gradient() - 0.5).abs() < 1e-15);
        assert!((seen.reward() - (0.08 - 0.3 - 2.0 / 6.0)).abs() < 1e-15);
    }

    #[test]
    fn empty_intervals_have_features() {
        let empty = Interval::default();
        assert_eq!((empty.send_rate(), empty.receive_rate(), empty.average_latency()), (0.0, 0.0, 0.0));
        assert_eq!((empty.loss_ratio(), empty.latency_gradient(), empty.send_ratio()), (0.0, 0.0, 1.0));
        // Nothing acknowledged: the receive rate is that of minus one packet.
        let silent = interval(0.5, 4, 0, &[]);
        assert_eq!((silent.receive_rate(), silent.send_ratio()), (-24_000.0, 1.0));
        // Few packets make the ratio large without any loss.
        assert_eq!(interval(1.0, 5, 0, &[0.1; 5]).send_ratio(), 1.25);
        assert_eq!(interval(1.0, 1, 0, &[0.1]).latency_increase(), 0.0);
    }

    #[test]
    fn sums_are_taken_in_numpys_order() {
        // 1, 8 small ones: the eighth interleaved sum of the first block is added last.
        let small = f64::EPSILON / 2.0;
        let mut values = vec![small; 8];
        values[0] = 1.0;
        // (1 + s) = 1, but the others add up to 6s = 3 units and (s + s) = 1 unit joins 1 first.
        assert_eq!(pairwise_sum(&values), ((1.0 + small) + 2.0 * small) + 4.0 * small);
        assert_eq!(pairwise_sum(&values[..7]), 1.0);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(pairwise_sum(&many), 499_500.0);
    }
}
