//! The distributions that the simulators sample, over [`certus_numerics::Random`].
//!
//! Devroye, "Non-Uniform Random Variate Generation", Springer 1986: exponentials by inversion; normals by Box and Muller, "A Note on the Generation of Random
//! Normal Deviates", Annals of Mathematical Statistics 29, 1958, of which only one of each pair is used, so that a draw has no memory; permutations by Durstenfeld,
//! "Algorithm 235: Random permutation", Communications of the ACM 7, 1964 (Fisher and Yates).

use certus_numerics::Random;

/// A whole number in 0..count; 0 where the count is 0.
pub(crate) fn below(random: &mut Random, count: usize) -> usize {
    // The product may round up to the count itself.
    ((random.unit() * count as f64) as usize).min(count.saturating_sub(1))
}

/// A whole number in first..=last.
pub(crate) fn between(random: &mut Random, first: usize, last: usize) -> usize {
    first + below(random, last - first + 1)
}

/// A standard normal number.
pub(crate) fn normal(random: &mut Random) -> f64 {
    // 1 − u is in (0, 1], so the logarithm is finite.
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// An exponentially distributed number with the given mean.
pub(crate) fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * (1.0 - random.unit()).ln()
}

/// Shuffles the items.
pub(crate) fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_their_moments() {
        let mut random = Random::new(3, 0);
        let count = 40_000;
        let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
        let normals: Vec<f64> = (0..count).map(|_| normal(&mut random)).collect();
        let squares: Vec<f64> = normals.iter().map(|x| x * x).collect();
        assert!(mean(&normals).abs() < 0.02 && (mean(&squares) - 1.0).abs() < 0.03);
        let waits: Vec<f64> = (0..count).map(|_| exponential(&mut random, 3.0)).collect();
        assert!((mean(&waits) - 3.0).abs() < 0.1 && waits.iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn whole_numbers_fill_their_range() {
        let mut random = Random::new(4, 0);
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[between(&mut random, 5, 8) - 5] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        assert_eq!(below(&mut random, 0), 0);
    }

    #[test]
    fn shuffling_keeps_the_items() {
        let mut items: Vec<usize> = (0..39).collect();
        shuffle(&mut Random::new(5, 0), &mut items);
        assert_ne!(items, (0..39).collect::<Vec<_>>());
        items.sort();
        assert_eq!(items, (0..39).collect::<Vec<_>>());
    }
}
