//! The random numbers of a case.

use certus_numerics::Random;

/// The sequence of a seed and a number. Cases are known by these two, so how they are joined must never change.
pub fn numbers(seed: u64, number: u64) -> Random {
    let mut random = Random::with_state(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.bits();
    random
}
