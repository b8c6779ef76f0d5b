//! Random search: uniform samples and corners, before anything is bounded.

use certus_graph::GraphError;

use super::Search;
use crate::answer::Witness;

/// Random points that are tried before the search.
const SAMPLES: usize = 2048;

/// Values of one node that these points may have together; wide graphs get fewer points.
const MOST_SAMPLED: usize = 1 << 21;

impl Search<'_> {
    /// Tries random points.
    pub(super) fn sample(&self, seed: u64) -> Result<Option<Witness>, GraphError> {
        let (points, count) = self.sample_points(seed);
        self.attack.try_points(&points, count)
    }

    /// Random points, corners among them, and the middle: element-major, and how many.
    pub(super) fn sample_points(&self, seed: u64) -> (Vec<f64>, usize) {
        let region = &self.query.region;
        let inputs = self.program.inputs;
        let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
        let mut unit = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let largest = self.program.sizes.iter().copied().max().unwrap_or(1);
        let samples = (MOST_SAMPLED / largest.max(1)).clamp(16, SAMPLES);
        let mut points = vec![0.0; inputs * samples];
        for point in 0..samples {
            for input in 0..inputs {
                let (low, high) = (region.lower[input].max(-1e9), region.upper[input].min(1e9));
                let t = match point {
                    0 => 0.5,
                    // Every fourth point is a corner: extremes of a box are extremes of its function surprisingly often.
                    _ if point % 4 == 1 => unit().round(),
                    _ => unit(),
                };
                points[input * samples + point] = (low * (1.0 - t) + high * t).max(low).min(high);
            }
        }
        (points, samples)
    }
}
