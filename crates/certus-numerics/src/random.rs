//! The random generator of the project: SplitMix64, in independent streams.
//!
//! Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. The state is a counter in steps of the golden ratio, and the output a bijective mix of
//! it, so a stream costs one word and any (seed, stream) pair gives a starting point at once. Results are the same on every platform and in every version, since published figures
//! name their seed: the constants and the order of operations must not change. The period is 2⁶⁴; it is no generator for cryptography.
//!
//! Departure: instead of splitting, the starting point of a stream is a mix of the seed and of the stream's number. All streams run through the same cycle of 2⁶⁴ states, so two of them
//! overlap only if their starting points are near, which for n streams of m draws has a probability of about n²·m / 2⁶⁴.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// 2⁶⁴ divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: a bijection of 64 bits in which every input bit affects every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// The given stream of a seed; both are mixed, so that neighbours are unrelated.
    pub fn new(seed: u64, stream: u64) -> Self {
        Random { state: mix(mix(seed.wrapping_add(GOLDEN)) ^ mix(stream.wrapping_mul(GOLDEN))) }
    }

    /// The stream that begins at a state, without mixing: for callers that have mixed it already.
    pub fn with_state(state: u64) -> Self {
        Random { state }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A uniform number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A uniform number in [lower, upper]; exactly the end where the two agree.
    pub fn between(&mut self, lower: f64, upper: f64) -> f64 {
        let u = self.unit();
        // Not lower + u·(upper − lower): that overflows for huge ranges and may leave [lower, upper] by rounding.
        (lower * (1.0 - u) + upper * u).clamp(lower, upper)
    }

    /// A number between two positive ones, uniform in the logarithm.
    pub fn log_uniform(&mut self, lower: f64, upper: f64) -> f64 {
        lower * (upper / lower).powf(self.unit())
    }

    /// An integer below a bound; zero if the bound is.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// One of several values; there is at least one.
    pub fn choose<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }

    /// True once in so many times on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// An index drawn with the given weights, which sum to about one, by inversion; `u` is a uniform number in [0, 1).
    pub fn pick(weights: impl IntoIterator<Item = f64>, u: f64) -> usize {
        let mut below = 0.0;
        let mut last = 0;
        for (index, weight) in weights.into_iter().enumerate() {
            if weight > 0.0 {
                last = index;
                below += weight;
                if u < below {
                    return index;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn numbers_stay_in_their_range_and_fill_it() {
        let mut random = Random::new(7, 0);
        let draws: Vec<f64> = (0..10_000).map(|_| random.between(-3.0, 5.0)).collect();
        assert!(draws.iter().all(|x| (-3.0..=5.0).contains(x)));
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
        assert_eq!(random.between(0.1, 0.1), 0.1);
        assert!(random.between(f64::MIN, f64::MAX).is_finite());
    }

    #[test]
    fn the_stream_is_splitmix64() {
        // The first numbers of the reference implementation for seed 1234567.
        let mut random = Random::with_state(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
        assert!((0..100).all(|_| random.below(3) < 3 && (0.5..=8.0).contains(&random.log_uniform(0.5, 8.0))));
    }

    #[test]
    fn weights_are_respected() {
        let weights = [0.0, 0.25, 0.75];
        assert_eq!(Random::pick(weights, 0.0), 1);
        assert_eq!(Random::pick(weights, 0.3), 2);
        assert_eq!(Random::pick(weights, 0.999_999), 2);
    }
}
