//! Robust model-predictive control (X. Yin, A. Jindal, V. Sekar, B. Sinopoli, *A Control-Theoretic Approach for Dynamic Adaptive
//! Video Streaming over HTTP*, SIGCOMM 2015), as Pensieve's authors
//! wrote it: predict the throughput by the harmonic mean of the last five, divide by one plus the worst of the last
//! five prediction errors, try all sequences of five qualities, take the first quality of the best.
//!
//! Two peculiarities of that program are kept, because published figures come from it: sizes are read one row too far
//! (the next chunk is row i, it reads i + 1), and the error lists are never cleared unless the caller does it.

use crate::pensieve::{BITRATES, Download, QUALITIES, Qoe, Video};

/// Chunks looked ahead.
const HORIZON: usize = 5;
/// Throughputs and errors remembered.
const MEMORY: usize = 5;

/// The controller with its memory.
#[derive(Clone, Debug, Default)]
pub struct RobustMpc {
    throughputs: Vec<f64>,
    errors: Vec<f64>,
    estimate: Option<f64>,
}

/// The tree of sequences: what the chunks so far lead to.
#[derive(Clone, Copy)]
struct Prefix {
    buffer: f64,
    rebuffer: f64,
    bitrates: f64,
    changes: f64,
    last: usize,
}

impl RobustMpc {
    /// Takes note of a chunk and decides the quality of the next; 0 after the last chunk.
    pub fn decide(&mut self, video: &Video, download: &Download) -> usize {
        let prediction = self.predict(download.throughput());
        let played = video.chunks() - download.remaining;
        let horizon = HORIZON.min(download.remaining);
        let sizes: Vec<[f64; QUALITIES]> = (0..horizon).map(|ahead| video.sizes(played + ahead + 1)).collect();
        let start = Prefix {
            buffer: download.buffer_s,
            rebuffer: 0.0,
            bitrates: 0.0,
            changes: 0.0,
            last: download.quality.min(QUALITIES - 1),
        };
        let mut best = (f64::NEG_INFINITY, 0);
        if horizon > 0 {
            search(&sizes, prediction, start, None, &mut best);
        }
        best.1
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = RobustMpc::default();
    }

    /// Forgets the throughputs seen, and keeps the last estimate and the errors: what the original does when it goes on
    /// to another trace.
    pub fn clear_throughputs(&mut self) {
        self.throughputs.clear();
    }

    /// The throughput to reckon with, MB/s.
    fn predict(&mut self, throughput: f64) -> f64 {
        let error = self.estimate.map_or(0.0, |estimate| (estimate - throughput).abs() / throughput);
        remember(&mut self.errors, error);
        remember(&mut self.throughputs, throughput);
        let inverses = self.throughputs.iter().fold(0.0, |sum, x| sum + 1.0 / x);
        let harmonic = 1.0 / (inverses / self.throughputs.len() as f64);
        self.estimate = Some(harmonic);
        harmonic / (1.0 + self.errors.iter().fold(0.0, |worst: f64, &error| worst.max(error)))
    }
}

fn remember(list: &mut Vec<f64>, value: f64) {
    if list.len() == MEMORY {
        list.remove(0);
    }
    list.push(value);
}

/// Visits all sequences in lexicographic order; of equal scores the last one wins.
fn search(sizes: &[[f64; QUALITIES]], prediction: f64, prefix: Prefix, first: Option<usize>, best: &mut (f64, usize)) {
    let Some((row, rest)) = sizes.split_first() else {
        let stall = Qoe::Linear.stall_penalty() * prefix.rebuffer;
        let score = prefix.bitrates / 1000.0 - stall - prefix.changes / 1000.0;
        if score >= best.0 {
            *best = (score, first.unwrap_or(0));
        }
        return;
    };
    for (quality, size) in row.iter().enumerate() {
        let Prefix { mut buffer, mut rebuffer, bitrates, changes, last } = prefix;
        let download = size / 1e6 / prediction;
        if buffer < download {
            rebuffer += download - buffer;
            buffer = 0.0;
        } else {
            buffer -= download;
        }
        let next = Prefix {
            buffer: buffer + crate::pensieve::CHUNK_SECONDS,
            rebuffer,
            bitrates: bitrates + BITRATES[quality],
            changes: changes + (BITRATES[quality] - BITRATES[last]).abs(),
            last: quality,
        };
        search(rest, prediction, next, Some(first.unwrap_or(quality)), best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(size: f64, ms: f64, buffer_s: f64, remaining: usize, quality: usize) -> Download {
        let (chunk, next_sizes) = (47 - remaining, [0.0; QUALITIES]);
        Download {
            chunk,
            quality,
            size,
            download_ms: ms,
            sleep_ms: 0.0,
            buffer_s,
            rebuffer_s: 0.0,
            next_sizes,
            remaining,
        }
    }

    #[test]
    fn predictions_by_hand() {
        let mut mpc = RobustMpc::default();
        assert_eq!(mpc.predict(2.0), 2.0);
        // Estimate 2, seen 1: error 1. Harmonic mean of 2 and 1 is 4/3, halved.
        assert!((mpc.predict(1.0) - 2.0 / 3.0).abs() < 1e-15);
        for _ in 0..5 {
            mpc.predict(1.0);
        }
        // The error of 1 and the throughput of 2 are forgotten by now.
        assert!(mpc.predict(1.0) > 0.74 && mpc.errors.len() == 5);
        mpc.clear_throughputs();
        // The estimate of 1 is kept and three times too low: an error of 2/3.
        assert!((mpc.predict(3.0) - 3.0 / (1.0 + 2.0 / 3.0)).abs() < 1e-12);
        mpc.clear();
        assert_eq!(mpc.predict(3.0), 3.0);
    }

    #[test]
    fn fast_networks_get_the_highest_quality_and_slow_ones_the_lowest() {
        let video = Video::reference();
        let fast = download(2e6, 10.0, 30.0, 20, 5);
        assert_eq!(RobustMpc::default().decide(&video, &fast), 5);
        let slow = download(2e5, 10_000.0, 4.0, 20, 0);
        assert_eq!(RobustMpc::default().decide(&video, &slow), 0);
        let last = download(2e6, 10.0, 30.0, 0, 5);
        assert_eq!(RobustMpc::default().decide(&video, &last), 0);
    }
}
