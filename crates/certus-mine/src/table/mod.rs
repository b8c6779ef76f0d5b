//! Tables of any size, read row by row: comma-separated text and Parquet.
//!
//! A reader shows the columns that were asked for, in that order, one row at a time, and keeps no more than a block of
//! the file in memory. It does not judge values: what is no number is shown as it stands.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use crate::MineError;

pub use csv::CsvWriter;
#[cfg(feature = "parquet")]
pub use parquet::ParquetWriter;

/// Writes a table of numbers with a last column of text.
pub trait RowWriter {
    /// Writes a row, such that the same doubles are read again.
    fn row(&mut self, values: &[f64], label: &str) -> std::io::Result<()>;

    /// Writes what is left. A table without it is not whole.
    fn finish(&mut self) -> std::io::Result<()>;
}

/// A value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A text, which may be that of a number.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// Nothing.
    Missing,
}

impl Cell<'_> {
    /// The number, if this is one; it may be infinite or not a number at all.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(value) => Some(*value),
            Cell::Text(text) => text.parse().ok(),
            Cell::Missing => None,
        }
    }
}

/// What a reader calls with each row; an error ends the reading.
pub type Visit<'a> = dyn FnMut(&[Cell<'_>]) -> Result<(), MineError> + 'a;

/// Whether a name is that of a Parquet file.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Shows the named columns of every row of a file.
pub fn scan(path: &Path, columns: &[&str], visit: &mut Visit<'_>) -> Result<(), MineError> {
    if !is_parquet(path) {
        return csv::scan(path, columns, visit);
    }
    #[cfg(feature = "parquet")]
    return parquet::scan(path, columns, visit);
    #[cfg(not(feature = "parquet"))]
    Err(MineError::in_file(path, "this build cannot read Parquet: build with the feature `parquet`, or convert to CSV"))
}

/// Where each wanted column is among those of a table.
fn places(path: &Path, header: &[String], columns: &[&str]) -> Result<Vec<usize>, MineError> {
    let find = |column: &&str| {
        let mut found = header.iter().enumerate().filter(|(_, name)| name == column).map(|(place, _)| place);
        match (found.next(), found.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(MineError::in_file(path, format!("column `{column}` occurs twice"))),
            (None, _) => {
                let shown: Vec<&str> = header.iter().take(40).map(String::as_str).collect();
                Err(MineError::in_file(
                    path,
                    format!("no column is called `{column}`; the columns are {}", shown.join(", ")),
                ))
            }
        }
    };
    columns.iter().map(find).collect()
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read_again_to_the_bit() {
        let folder = std::env::temp_dir().join(format!("certus-tables-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let header: Vec<String> = ["a", "b", "label"].map(str::to_owned).into();
        // More than one group of rows, and one that is not full.
        let rows: Vec<([f64; 2], &str)> = (0..70_000)
            .map(|i| ([1.0 / (1.0 + f64::from(i)), f64::from(-i)], ["+", "−", "0"][i as usize % 3]))
            .collect();
        for name in ["t.csv", "t.parquet"] {
            let path = folder.join(name);
            let file = std::fs::File::create(&path).unwrap();
            let mut writer: Box<dyn RowWriter> = match is_parquet(&path) {
                true => Box::new(ParquetWriter::new(file, &header).unwrap()),
                false => Box::new(CsvWriter::new(std::io::BufWriter::new(file), &header).unwrap()),
            };
            for (values, label) in &rows {
                writer.row(values, label).unwrap();
            }
            writer.finish().unwrap();
            let mut seen = 0;
            scan(&path, &["b", "label", "a"], &mut |cells| {
                let (values, label) = rows[seen];
                seen += 1;
                assert_eq!((cells[2].number(), cells[0].number()), (Some(values[0]), Some(values[1])));
                assert_eq!(cells[1], Cell::Text(label));
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, rows.len(), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
