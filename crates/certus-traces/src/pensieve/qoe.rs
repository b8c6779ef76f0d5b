//! Quality of experience: what a chunk is worth to the viewer.

use super::{BITRATES, QUALITIES};

/// How a chunk is valued: by the value of its quality, minus a penalty per second of stalling, minus the change of
/// value since the chunk before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Qoe {
    /// The bitrate in Mbit/s; 4.3 per second.
    #[default]
    Linear,
    /// The natural logarithm of the bitrate over the least one; 2.66 per second.
    Log,
    /// A table that favours high definition: 1, 2, 3, 12, 15, 20; 8 per second.
    Hd,
}

impl Qoe {
    /// The value of each quality.
    pub fn values(self) -> [f64; QUALITIES] {
        match self {
            Qoe::Linear => BITRATES.map(|bitrate| bitrate / 1000.0),
            Qoe::Log => BITRATES.map(|bitrate| (bitrate / BITRATES[0]).ln()),
            Qoe::Hd => [1.0, 2.0, 3.0, 12.0, 15.0, 20.0],
        }
    }

    /// What a second of stalling costs.
    pub fn stall_penalty(self) -> f64 {
        match self {
            Qoe::Linear => 4.3,
            Qoe::Log => 2.66,
            Qoe::Hd => 8.0,
        }
    }

    /// The value of a chunk. Qualities must be below [`QUALITIES`]; greater ones count as the greatest.
    pub fn reward(self, quality: usize, previous: usize, rebuffer_s: f64) -> f64 {
        let (quality, previous) = (quality.min(QUALITIES - 1), previous.min(QUALITIES - 1));
        let values = self.values();
        let change = match self {
            // The reference subtracts before it divides, and the last digit shows it.
            Qoe::Linear => (BITRATES[quality] - BITRATES[previous]).abs() / 1000.0,
            _ => (values[quality] - values[previous]).abs(),
        };
        values[quality] - self.stall_penalty() * rebuffer_s - change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_by_hand() {
        assert_eq!(Qoe::Linear.reward(5, 5, 0.0), 4.3);
        assert_eq!(Qoe::Linear.reward(0, 1, 0.0), -0.150_000_000_000_000_02);
        assert!((Qoe::Linear.reward(2, 0, 2.0) - (1.2 - 8.6 - 0.9)).abs() < 1e-12);
        assert_eq!(Qoe::Log.reward(0, 0, 0.0), 0.0);
        assert!((Qoe::Log.reward(5, 0, 1.0) - -2.66).abs() < 1e-12);
        assert_eq!(Qoe::Hd.reward(3, 5, 0.5), 12.0 - 4.0 - 8.0);
    }
}
