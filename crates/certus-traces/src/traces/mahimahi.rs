//! Mahimahi's format: each line is the millisecond of one opportunity to deliver a packet of 1500 bytes; the last
//! line's time is also when the trace begins again.
//!
//! Deliveries are gathered in bins: bin k holds those after k·bin and up to (k + 1)·bin, and one at 0 counts in the
//! first bin. The last bin ends with the trace and may be shorter, so that no byte is gained or lost.

use super::{Builder, MOST_POINTS, Trace, content};
use crate::TraceError;

/// Bytes per delivery.
pub const MAHIMAHI_PACKET_BYTES: f64 = 1500.0;

/// Reads a mahimahi file, with bins of the given length.
pub fn read_mahimahi(source: &str, text: &str, bin_ms: u64) -> Result<Trace, TraceError> {
    if bin_ms == 0 {
        return Err(TraceError::new(source, 0, "bins must be at least 1 ms long"));
    }
    // Deliveries per bin, up to the bin of the last delivery.
    let mut bins: Vec<u64> = Vec::new();
    let mut last: u64 = 0;
    for (line, content) in content(text) {
        let Ok(time) = content.parse::<u64>() else {
            let shown: String = content.chars().take(40).collect();
            let message = format!("{shown:?} is no time: one whole number of milliseconds per line is wanted");
            return Err(TraceError::new(source, line, message));
        };
        if time < last {
            return Err(TraceError::new(
                source,
                line,
                format!("time {time} is before {last}: times must not decrease"),
            ));
        }
        let bin = time.saturating_sub(1) / bin_ms;
        if bin >= MOST_POINTS as u64 - 1 {
            let message = format!("time {time} needs more than {MOST_POINTS} bins of {bin_ms} ms: take longer bins");
            return Err(TraceError::new(source, line, message));
        }
        bins.resize(bin as usize + 1, 0);
        bins[bin as usize] += 1;
        last = time;
    }
    let mut builder = Builder::new(source, source);
    let rate = |count: u64, ms: u64| count as f64 * MAHIMAHI_PACKET_BYTES * 8.0 / 1e3 / ms as f64;
    for (index, &count) in bins.iter().enumerate() {
        let begin = index as u64 * bin_ms;
        let end = last.min(begin.saturating_add(bin_ms));
        if end == begin {
            // Only a file that says nothing but 0.
            return Err(TraceError::new(source, 0, "the last time is 0, so the trace has no length"));
        }
        if index == 0 {
            builder.push(0, 0.0, rate(count, end - begin))?;
        }
        builder.push(0, end as f64 / 1e3, rate(count, end - begin))?;
    }
    builder.finish(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_become_rates() {
        // Two packets in (0, 100], none in (100, 200], one in (200, 250].
        let trace = read_mahimahi("m", "0\n100\n250\n", 100).unwrap();
        assert_eq!(trace.times(), [0.0, 0.1, 0.2, 0.25]);
        assert_eq!(trace.rates(), [0.24, 0.24, 0.0, 0.24]);
        // Three packets of 12 000 bits.
        assert!((trace.volume() - 0.036).abs() < 1e-15);
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str, bin| read_mahimahi("m", text, bin).unwrap_err().to_string();
        assert_eq!(
            message("1\n2.5", 10),
            "m:2: \"2.5\" is no time: one whole number of milliseconds per line is wanted"
        );
        assert_eq!(message("5\n4", 10), "m:2: time 4 is before 5: times must not decrease");
        assert_eq!(message("0\n0", 10), "m: the last time is 0, so the trace has no length");
        assert!(message("1\n18446744073709551615", 1).starts_with("m:2: time 18446744073709551615 needs more than"));
        assert!(message("9\n18446744073709551615", 1 << 63).contains("beyond the limit"));
        assert_eq!(message("1", 0), "m: bins must be at least 1 ms long");
        assert_eq!(message("", 5), "m: a trace needs at least 2 points, this one has 0");
    }
}
