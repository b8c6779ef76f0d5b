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
    Err(MineError::in_file(path, "this build reads no Parquet: build with the feature `parquet`, or convert to CSV"))
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
                Err(MineError::in_file(path, format!("there is no column `{column}`; there are {}", shown.join(", "))))
            }
        }
    };
    columns.iter().map(find).collect()
}
