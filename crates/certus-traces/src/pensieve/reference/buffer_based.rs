//! The buffer-based rule (T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, *A Buffer-Based Approach to Rate Adaptation: Evidence
//! from a Large Video Streaming Service*, SIGCOMM 2014, with the parameters of Pensieve's authors): a reservoir
//! of 5 s in which only the lowest quality is safe, and a cushion of 10 s over which the quality rises linearly.

use crate::pensieve::QUALITIES;

const RESERVOIR: f64 = 5.0;
const CUSHION: f64 = 10.0;

/// The quality for a buffer in seconds.
pub fn buffer_based(buffer_s: f64) -> usize {
    let highest = QUALITIES - 1;
    if buffer_s < RESERVOIR {
        0
    } else if buffer_s >= RESERVOIR + CUSHION {
        highest
    } else {
        // Below the upper edge the quotient is less than one, so the highest quality is not reached.
        (highest as f64 * (buffer_s - RESERVOIR) / CUSHION) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_has_its_edges() {
        let qualities = [0.0, 4.999, 5.0, 6.999, 7.0, 9.0, 11.0, 13.0, 14.999, 15.0, 60.0].map(buffer_based);
        assert_eq!(qualities, [0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 5]);
    }
}
