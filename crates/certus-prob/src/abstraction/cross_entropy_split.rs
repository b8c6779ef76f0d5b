//! Where to split a region: across the direction, and at the place, that best separate high probabilities of a move from low ones.
//!
//! The sampled, cross-entropy guided split of E. Bacci and D. Parker, 'Verified probabilistic policies for deep reinforcement learning',
//! NFM 2022. Probabilities of samples are scaled to 0..1 and compared, by weighted cross-entropy, with a step at each place of each
//! direction of the template; samples in crowded bins weigh less. Without a spread among the samples the widest direction is halved.
//!
//! *Soundness.* Any split is sound: both halves together cover the region, and each is bounded anew.

use crate::template_polyhedron::{Polyhedron, Template};

/// Bins by whose counts samples are weighted.
const BINS: usize = 100;

/// Splits leave at least this share of the samples on either side.
const SHORTEST: f64 = 0.05;

/// Probabilities are kept this far from 0 and 1, where the logarithm has no value.
const ROOM: f64 = 1e-7;

fn along(direction: &[f64], point: &[f64]) -> f64 {
    direction.iter().zip(point).map(|(a, x)| a * x).sum()
}

/// The pair of directions and the place to split at, among directions that are wider than `shortest`; nothing if there is none.
/// `samples` are points with the probability of the move with the widest spread.
pub fn best_split(region: &Polyhedron, samples: &[(Vec<f64>, f64)], shortest: f64) -> Option<(usize, f64)> {
    let template: &Template = region.template();
    let pairs: Vec<usize> =
        (0..template.directions().len() / 2).filter(|&pair| region.width(pair) > shortest).collect();
    let low = samples.iter().map(|(_, p)| *p).fold(f64::INFINITY, f64::min);
    let high = samples.iter().map(|(_, p)| *p).fold(f64::NEG_INFINITY, f64::max);
    let mut best: Option<(f64, usize, f64)> = None;
    if high > low && samples.len() >= 8 {
        for &pair in &pairs {
            let direction = &template.directions()[2 * pair];
            let from = -region.offsets()[2 * pair + 1];
            let width = region.width(pair);
            let mut own: Vec<(f64, f64)> = samples
                .iter()
                .map(|(x, p)| (along(direction, x), ((p - low) / (high - low)).clamp(ROOM, 1.0 - ROOM)))
                .collect();
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
            let bin = |at: f64| (((at - from) / width * BINS as f64) as usize).min(BINS - 1);
            let mut counts = [0usize; BINS];
            own.iter().for_each(|&(at, _)| counts[bin(at)] += 1);
            // Loss of calling everything high, and of calling it low, up to each sample.
            let mut prefix = vec![(0.0, 0.0)];
            let mut sums = (0.0, 0.0);
            for &(at, p) in &own {
                let weight = 1.0 / counts[bin(at)].max(1) as f64;
                sums = (sums.0 - weight * p.ln(), sums.1 - weight * (1.0 - p).ln());
                prefix.push(sums);
            }
            let count = own.len();
            let edge = ((count as f64 * SHORTEST) as usize).max(1);
            for k in edge..=count - edge {
                let rising = prefix[k].1 + (sums.0 - prefix[k].0);
                let falling = prefix[k].0 + (sums.1 - prefix[k].1);
                let loss = rising.min(falling);
                let place = (own[k - 1].0 + own[k.min(count - 1)].0) / 2.0;
                if best.is_none_or(|(least, ..)| loss < least) {
                    best = Some((loss, pair, place));
                }
            }
        }
    }
    // Without a spread among the samples, the widest direction in its middle.
    best.map(|(_, pair, place)| (pair, place)).or_else(|| {
        let pair = pairs.into_iter().max_by(|&a, &b| region.width(a).total_cmp(&region.width(b)))?;
        Some((pair, region.offsets()[2 * pair] - region.width(pair) / 2.0))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let region = Polyhedron::of_box(&Arc::new(Template::octagons(2)), &[0.0, 0.0], &[1.0, 1.0]);
        let points = (0..400).map(|i| vec![f64::from(i % 20) / 19.0, f64::from(i / 20) / 19.0]);
        let samples: Vec<(Vec<f64>, f64)> =
            points.map(|x| (x.clone(), if x[0] + x[1] > 1.3 { 0.9 } else { 0.1 })).collect();
        let (pair, place) = best_split(&region, &samples, 0.1).unwrap();
        assert_eq!(region.template().directions()[2 * pair], [1.0, 1.0]);
        assert!((place - 1.3).abs() < 0.06, "{place}");
        assert_eq!(best_split(&region, &samples, 5.0), None);
    }
}
