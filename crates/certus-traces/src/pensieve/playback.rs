//! A trace being played: where in it we are, downloading, and letting time pass.

use std::sync::Arc;

use crate::SettingError;
use crate::traces::Trace;

/// Share of the bytes on the wire that are video.
const PAYLOAD: f64 = 0.95;
/// Points visited in one download before whole passes of the trace are skipped at once.
const PATIENCE: f64 = 1e7;

/// A position in a trace.
#[derive(Clone, Debug)]
pub struct Playback {
    traces: Arc<[Trace]>,
    index: usize,
    /// The point whose interval is being played; at least 1.
    point: usize,
    /// Seconds of the trace, within that interval.
    time: f64,
}

impl Playback {
    /// A position at the beginning of the first of some traces.
    pub fn new(traces: Arc<[Trace]>) -> Result<Playback, SettingError> {
        if traces.is_empty() {
            return Err(SettingError::new("traces", "is empty: there must be at least one trace"));
        }
        Ok(Playback { traces, index: 0, point: 1, time: 0.0 })
    }

    /// All traces.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// The trace being played.
    pub fn trace(&self) -> &Trace {
        &self.traces[self.index]
    }

    /// The number of the trace being played.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Seconds of the trace.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Goes to the beginning of the interval that ends at a point of a trace. Both are wrapped into their range.
    pub fn seek(&mut self, trace: usize, point: usize) {
        self.index = trace % self.traces.len();
        self.point = 1 + point.saturating_sub(1) % (self.trace().len() - 1);
        self.time = self.trace().times()[self.point - 1];
    }

    /// Seconds left of the interval being played.
    fn left(&self) -> f64 {
        self.trace().times()[self.point] - self.time
    }

    /// Goes to the end of the interval being played, which is the beginning of the next.
    fn next(&mut self) {
        self.time = self.trace().times()[self.point];
        self.point += 1;
        if self.point >= self.trace().len() {
            self.point = 1;
            self.time = 0.0;
        }
    }

    /// Downloads so many bytes; how many seconds that took.
    pub(super) fn download(&mut self, size: f64) -> f64 {
        let (mut sent, mut spent) = (0.0, 0.0);
        // Traces carry something, so this ends; where it would take ages, whole passes are skipped first.
        let per_pass = self.trace().volume() * 1e6 / 8.0 * PAYLOAD;
        let passes = (size / per_pass).floor() - 2.0;
        if passes * self.trace().len() as f64 > PATIENCE {
            sent = passes * per_pass;
            spent = passes * self.trace().duration();
        }
        loop {
            let throughput = self.trace().rates()[self.point] * 1e6 / 8.0;
            let left = self.left();
            let payload = throughput * left * PAYLOAD;
            if sent + payload > size {
                let part = (size - sent) / throughput / PAYLOAD;
                self.time += part;
                return spent + part;
            }
            sent += payload;
            spent += left;
            self.next();
        }
    }

    /// Lets time pass, ms.
    pub(super) fn sleep(&mut self, mut ms: f64) {
        loop {
            let left = self.left();
            if left > ms / 1000.0 {
                self.time += ms / 1000.0;
                return;
            }
            ms -= left * 1000.0;
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playback(points: &[(f64, f64)]) -> Playback {
        Playback::new([Trace::new("t", points.iter().copied()).unwrap()].into()).unwrap()
    }

    #[test]
    fn downloads_by_hand() {
        // 8 Mbit/s for 1 s, nothing for 1 s, 16 Mbit/s for 1 s: 0.95 MB, 0, 1.9 MB.
        let mut playback = playback(&[(0.0, 0.0), (1.0, 8.0), (2.0, 0.0), (3.0, 16.0)]);
        assert_eq!((playback.download(475_000.0), playback.time()), (0.5, 0.5));
        // 0.475 MB left of the first second, then an outage, then half of the last second.
        assert_eq!((playback.download(1_425_000.0), playback.time()), (2.0, 2.5));
        // Round the end.
        let spent = playback.download(1_425_000.0);
        assert!((spent - 1.0).abs() < 1e-12 && (playback.time() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn sleeping_goes_round_the_end() {
        let mut playback = playback(&[(0.0, 1.0), (1.0, 1.0), (2.5, 1.0)]);
        playback.sleep(500.0);
        assert_eq!(playback.time(), 0.5);
        playback.sleep(2500.0);
        assert_eq!(playback.time(), 0.5);
    }

    #[test]
    fn a_slow_trace_still_ends() {
        let mut playback = playback(&[(0.0, 0.0), (0.05, 0.0), (0.1, 0.002)]);
        let spent = playback.download(2e12);
        let expected = 2e12 * 8.0 / (1e3 * 0.95);
        assert!((spent / expected - 1.0).abs() < 1e-6, "{spent} {expected}");
    }

    #[test]
    fn seeking_wraps() {
        let mut playback = playback(&[(0.0, 1.0), (1.0, 1.0), (2.5, 1.0)]);
        playback.seek(7, 2);
        assert_eq!((playback.index(), playback.time()), (0, 1.0));
        playback.seek(0, 3);
        assert_eq!(playback.time(), 0.0);
        playback.seek(0, 0);
        assert_eq!(playback.time(), 0.0);
        assert!(Playback::new([].into()).is_err());
    }
}
