//! Bins: the histogram of the input space, each mined column divided into parts of equal width.

use crate::MineError;

/// How columns are divided.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Parts per dimension.
    pub parts: usize,
    /// The range of each dimension.
    pub ranges: Vec<(f64, f64)>,
}

impl Partition {
    /// Divides ranges into parts. A range of a single point is one part wide.
    pub fn new(parts: usize, ranges: Vec<(f64, f64)>) -> Result<Partition, MineError> {
        match ranges.iter().find(|(low, high)| !(low <= high && low.is_finite() && high.is_finite())) {
            Some((low, high)) => Err(MineError::new(format!("[{low}, {high}] cannot be divided into parts"))),
            None => Ok(Partition { parts, ranges }),
        }
    }

    /// The part of a value; none outside of the range. The greatest value is in the last part.
    ///
    /// The order of the operations is that of the SQL which [`crate::sql`] writes: both must give the same part.
    pub fn part(&self, dimension: usize, value: f64) -> Option<u16> {
        let (low, high) = self.ranges[dimension];
        if !(low <= value && value <= high) {
            return None;
        }
        if low == high {
            return Some(0);
        }
        let part = (self.parts as f64 * (value - low) / (high - low)).floor();
        Some(part.min(self.parts as f64 - 1.0) as u16)
    }

    /// The bin of a row's mined values, written into `bin`; false if it lies outside.
    pub fn bin(&self, values: impl Iterator<Item = f64>, bin: &mut [u16]) -> bool {
        let mut inside = true;
        for (dimension, (value, place)) in values.zip(bin).enumerate() {
            match self.part(dimension, value) {
                Some(part) => *place = part,
                None => inside = false,
            }
        }
        inside
    }

    /// What the parts from `first` to `last` of a dimension cover.
    pub fn interval(&self, dimension: usize, first: u16, last: u16) -> (f64, f64) {
        let (low, high) = self.ranges[dimension];
        let width = (high - low) / self.parts as f64;
        let upper = if usize::from(last) + 1 >= self.parts { high } else { low + (f64::from(last) + 1.0) * width };
        (low + f64::from(first) * width, upper)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_fall_into_parts() {
        let partition = Partition::new(4, vec![(0.0, 8.0), (1.0, 1.0)]).unwrap();
        let part = |value: f64| partition.part(0, value);
        assert_eq!([part(0.0), part(1.9), part(2.0), part(8.0)], [Some(0), Some(0), Some(1), Some(3)]);
        assert_eq!([part(-0.1), part(8.1), part(f64::NAN)], [None; 3]);
        assert_eq!((partition.part(1, 1.0), partition.part(1, 1.1)), (Some(0), None));
        assert_eq!(partition.interval(0, 1, 2), (2.0, 6.0));
        assert_eq!(partition.interval(0, 3, 3), (6.0, 8.0));
        assert!(Partition::new(4, vec![(2.0, 1.0)]).is_err());
    }

    proptest! {
        #[test]
        fn a_value_lies_in_the_interval_of_its_part(low in -100.0..100.0, width in 0.001..50.0, at in 0.0..=1.0, parts in 1usize..200) {
            let (low, width, at): (f64, f64, f64) = (low, width, at);
            let partition = Partition::new(parts, vec![(low, low + width)]).unwrap();
            let value = (low + at * width).min(low + width);
            let part = partition.part(0, value).unwrap();
            let (from, to) = partition.interval(0, part, part);
            // The ends are rounded, the part is not told by them.
            let slack = 1e-12 * (1.0 + low.abs() + width);
            prop_assert!(from - slack <= value && value <= to + slack);
        }
    }
}
