//! How observations are spread inside a specification, beside all of them: five quantiles per column.
//!
//! Tables may be large, so every so many rows are kept, and fewer when there are more; the same rows give the same figures.

/// The shares of rows below the five figures.
pub const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Rows that are kept at most.
const MOST: usize = 4096;

/// Some of the rows of a group.
#[derive(Clone, Debug)]
pub struct Sample {
    columns: Vec<usize>,
    kept: Vec<f64>,
    seen: u64,
    every: u64,
}

/// What is told of a group of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// How many rows there are.
    pub rows: u64,
    /// For each column the values below which the [`SHARES`] of the rows lie; empty without rows.
    pub columns: Vec<[f64; 5]>,
}

impl Sample {
    /// An empty group, of which these columns are told.
    pub fn of(columns: &[usize]) -> Sample {
        Sample { columns: columns.to_vec(), kept: Vec::new(), seen: 0, every: 1 }
    }

    /// Adds a row.
    pub fn add(&mut self, values: &[f64]) {
        let width = self.columns.len();
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == MOST * width {
                // Every second one stays.
                let rows: Vec<f64> = self.kept.chunks_exact(width).step_by(2).flatten().copied().collect();
                self.kept = rows;
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.extend(self.columns.iter().map(|&column| values[column]));
            }
        }
        self.seen += 1;
    }

    /// The quantiles.
    pub fn spread(&self) -> Spread {
        let width = self.columns.len();
        let quantiles = |place: usize| {
            let mut values: Vec<f64> = self.kept.iter().skip(place).step_by(width).copied().collect();
            values.sort_by(f64::total_cmp);
            SHARES.map(|share| values[(share * (values.len() - 1) as f64).round() as usize])
        };
        let columns = if self.kept.is_empty() { Vec::new() } else { (0..width).map(quantiles).collect() };
        Spread { rows: self.seen, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_told_exactly() {
        let mut sample = Sample::of(&[2, 0]);
        assert_eq!(sample.spread(), Spread { rows: 0, columns: Vec::new() });
        for i in (0..=20).rev() {
            sample.add(&[f64::from(i), 99.0, f64::from(-i)]);
        }
        let expected = [[-19.0, -15.0, -10.0, -5.0, -1.0], [1.0, 5.0, 10.0, 15.0, 19.0]];
        assert_eq!(sample.spread(), Spread { rows: 21, columns: expected.to_vec() });
    }

    #[test]
    fn many_rows_are_told_from_rows_all_over_the_table() {
        let mut sample = Sample::of(&[0]);
        let rows = 100_003;
        for i in 0..rows {
            sample.add(&[f64::from(i)]);
        }
        assert!(sample.kept.len() <= MOST && sample.kept.len() > MOST / 4, "{}", sample.kept.len());
        let told = sample.spread();
        assert_eq!(told.rows, 100_003);
        for (value, share) in told.columns[0].iter().zip(SHARES) {
            assert!((value / f64::from(rows) - share).abs() < 0.002, "{value} {share}");
        }
    }
}
