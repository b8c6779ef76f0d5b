//! Natural numbers of any size: just enough to compare a decimal with a double exactly.

use std::cmp::Ordering;

/// A natural number in base 2³², least significant limb first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Natural(Vec<u32>);

impl Natural {
    pub fn from_u64(value: u64) -> Self {
        let mut number = Natural(vec![value as u32, (value >> 32) as u32]);
        number.trim();
        number
    }

    /// The number that ASCII digits spell.
    pub fn from_digits(digits: &[u8]) -> Self {
        let mut number = Natural(Vec::new());
        for chunk in digits.chunks(9) {
            let value = chunk.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
            number.multiply_add(10u32.pow(chunk.len() as u32), value);
        }
        number
    }

    /// self · 5^exponent.
    pub fn times_power_of_five(mut self, exponent: usize) -> Self {
        const CHUNK: usize = 13; // 5^13 is the largest power that fits a limb.
        for _ in 0..exponent / CHUNK {
            self.multiply_add(5u32.pow(CHUNK as u32), 0);
        }
        self.multiply_add(5u32.pow((exponent % CHUNK) as u32), 0);
        self
    }

    /// self · 2^exponent.
    pub fn times_power_of_two(mut self, exponent: usize) -> Self {
        self.multiply_add(1 << (exponent % 32), 0);
        if !self.0.is_empty() {
            self.0.splice(0..0, std::iter::repeat_n(0, exponent / 32));
        }
        self
    }

    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.0 {
            let value = u64::from(*limb) * u64::from(factor) + carry;
            *limb = value as u32;
            carry = value >> 32;
        }
        self.0.push(carry as u32);
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from_u128(value: u128) -> Natural {
        let mut number = Natural((0..4).map(|limb| (value >> (32 * limb)) as u32).collect());
        number.trim();
        number
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_machine_integers(value: u64, fives in 0usize..20, twos in 0usize..64) {
            let by_five = u128::from(value) * 5u128.pow(fives as u32);
            prop_assert_eq!(Natural::from_u64(value).times_power_of_five(fives), from_u128(by_five));
            prop_assert_eq!(Natural::from_u64(value).times_power_of_two(twos), from_u128(u128::from(value) << twos));
        }

        #[test]
        fn digits_and_order_agree_with_machine_integers(a: u128, b: u128) {
            let [long, other] = [a, b].map(|value| Natural::from_digits(value.to_string().as_bytes()));
            prop_assert_eq!(&long, &from_u128(a));
            prop_assert_eq!(long.cmp(&other), a.cmp(&b));
        }
    }

    #[test]
    fn a_large_power_has_the_right_size() {
        let limbs = Natural::from_u64(1).times_power_of_two(1074).0;
        assert_eq!((limbs.len(), limbs[33]), (34, 1 << 18));
        assert_eq!(Natural::from_u64(0).times_power_of_two(1074), Natural(Vec::new()));
    }
}
