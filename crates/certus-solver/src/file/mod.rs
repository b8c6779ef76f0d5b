//! Queries as files: every question that is asked can be kept, read by people, and asked again.
//!
//! A file (`.query`, or compressed with gzip as `.query.gz`) is text in four parts: the version, the graph as
//! [`certus_graph::store`] writes it, the region with one row per input, and the formula.
//!
//! ```text
//! certus-query 1
//! graph
//! 0 Input "x" [2]
//! 1 Relu(0)
//! output "y" 1
//! end
//! region
//! : -1 1
//! : 0.09999999999999999 0.2 0.1 0.2
//! end
//! formula
//! and
//! 1*Y_0 + -2*Y_1 + 0.5 <= 0
//! or
//! -1*X_0 + [0.09999999999999999,0.1] < 0
//! end
//! end
//! ```
//!
//! A row of the region has the lower and the upper end, rounded outwards, and then those rounded inwards where they
//! differ. Where these cross, no double is known to lie in between; a fifth number says that the input is just the decimal
//! that this number is written as. All other numbers stand for the doubles nearest to them. A comparison is a sum of terms and one constant, with zero; coefficients may be intervals. `and` and `or`
//! last until their `end`.
//!
//! What is read is equal to what was written, to the last bit. Whatever a file holds, reading gives a query or one
//! error with its line.

mod error;
mod formula;
mod read;
mod write;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use certus_graph::store::StoreError;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

pub use error::QueryFileError;
pub use read::parse_query;
pub use write::print_query;

use crate::Query;

/// The first line of every file.
const VERSION: &str = "certus-query 1";

/// A file may have this many bytes, after decompression.
const MAX_BYTES: u64 = 4 << 30;

/// Formulas may be nested this deep. Those of people and of generators are nested ten deep.
const MAX_DEPTH: usize = 500;

/// The first bytes of a gzip file; no text in UTF-8 begins with them.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Writes a query to a file, compressed if its name ends in `.gz`.
pub fn write_query(path: &Path, query: &Query) -> Result<(), QueryFileError> {
    let mut file = File::create(path).map_err(|error| not_written(path, error.into()))?;
    print_query_as(path, &mut file, query)
}

/// Prints a query as a file of that name has it, wherever that is written.
pub fn print_query_as(path: &Path, out: &mut impl Write, query: &Query) -> Result<(), QueryFileError> {
    let print = || -> Result<(), StoreError> {
        if path.extension() == Some(OsStr::new("gz")) {
            let mut out = BufWriter::new(GzEncoder::new(out, Compression::default()));
            print_query(&mut out, query)?;
            out.into_inner().map_err(|error| error.into_error())?.finish()?;
        } else {
            let mut out = BufWriter::new(out);
            print_query(&mut out, query)?;
            out.flush()?;
        }
        Ok(())
    };
    print().map_err(|source| not_written(path, source))
}

fn not_written(path: &Path, source: StoreError) -> QueryFileError {
    QueryFileError { action: "write", path: path.to_owned(), source }
}

/// Reads a query from a file, which may be compressed with gzip.
pub fn read_query(path: &Path) -> Result<Query, QueryFileError> {
    match File::open(path) {
        Ok(file) => query_from(path, BufReader::new(file)),
        Err(error) => Err(QueryFileError { action: "read", path: path.to_owned(), source: error.into() }),
    }
}

/// Reads a query from what the file of that path contains.
pub fn query_from(path: &Path, mut file: impl BufRead) -> Result<Query, QueryFileError> {
    let read = || -> Result<Query, StoreError> {
        if file.fill_buf()?.starts_with(&GZIP) {
            parse_query(&mut BufReader::new(MultiGzDecoder::new(file)))
        } else {
            parse_query(&mut file)
        }
    };
    read().map_err(|source| QueryFileError { action: "read", path: path.to_owned(), source })
}
