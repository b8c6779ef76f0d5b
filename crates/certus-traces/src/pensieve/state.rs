//! What the policy sees: a matrix of 6 rows and 8 columns, newest last.
//!
//! | row | content | unit |
//! | --- | --- | --- |
//! | 0 | bitrate of the last chunks | kbit/s / 4300 |
//! | 1 | buffer after them | s / 10 |
//! | 2 | throughput | MB/s |
//! | 3 | download time | s / 10 |
//! | 4 | sizes of the next chunk, columns 0 to 5 | MB |
//! | 5 | chunks that remain | of 48, at most 1 |
//!
//! After each chunk all rows turn left by one *cyclically*, then the newest values are written. In row 4 that leaves
//! two old sizes in columns 6 and 7; the original network reads one of them.

use super::{BITRATES, Download, QUALITIES};

/// Rows of the matrix.
pub const ROWS: usize = 6;
/// Columns of the matrix: chunks remembered.
pub const COLUMNS: usize = 8;
/// Chunks that count as all of them.
const MOST_REMAINING: f64 = 48.0;

/// The matrix, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    rows: [[f64; COLUMNS]; ROWS],
}

impl State {
    /// Takes note of a chunk.
    pub fn push(&mut self, download: &Download) {
        for row in &mut self.rows {
            row.rotate_left(1);
        }
        let newest = COLUMNS - 1;
        self.rows[0][newest] = BITRATES[download.quality.min(QUALITIES - 1)] / BITRATES[QUALITIES - 1];
        self.rows[1][newest] = download.buffer_s / 10.0;
        self.rows[2][newest] = download.throughput();
        self.rows[3][newest] = download.download_ms / 1000.0 / 10.0;
        self.rows[4][..QUALITIES].copy_from_slice(&download.next_sizes.map(|size| size / 1000.0 / 1000.0));
        self.rows[5][newest] = (download.remaining as f64).min(MOST_REMAINING) / MOST_REMAINING;
    }

    /// The matrix, one row after the other.
    pub fn values(&self) -> &[f64] {
        self.rows.as_flattened()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_turn_cyclically() {
        let mut state = State::default();
        let download = |k: f64| Download {
            chunk: 0,
            quality: 1,
            size: 1e6 * k,
            download_ms: 1000.0,
            sleep_ms: 0.0,
            buffer_s: 4.0 * k,
            rebuffer_s: 0.0,
            next_sizes: [1e6 * k, 2e6, 3e6, 4e6, 5e6, 6e6],
            remaining: 50 - k as usize,
        };
        state.push(&download(1.0));
        let values = state.values();
        assert_eq!((values[7], values[15], values[23], values[31]), (750.0 / 4300.0, 0.4, 1.0, 0.1));
        assert_eq!(values[32..40], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
        assert_eq!(values[47], 1.0);
        state.push(&download(2.0));
        // The first size of the chunk before has gone round to column 7.
        assert_eq!(state.values()[32..40], [2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 1.0]);
        state.push(&download(3.0));
        assert_eq!(state.values()[32..40], [3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0]);
        assert_eq!(state.values()[45..48], [1.0, 1.0, 47.0 / 48.0]);
        assert_eq!(state.values()[21..24], [1.0, 2.0, 3.0]);
    }
}
