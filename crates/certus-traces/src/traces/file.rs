//! Traces from a file on disk.

use std::path::Path;

use super::{Trace, read_columns, read_csv, read_mahimahi, read_packed};
use crate::TraceError;

/// Largest file that is read, bytes.
const LARGEST: u64 = 1 << 30;

/// How a file of traces is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two columns: seconds and Mbit/s.
    Columns,
    /// Many traces, each after `@ name count`.
    Packed,
    /// The millisecond of each delivery, gathered in bins.
    Mahimahi {
        /// Length of a bin, ms.
        bin_ms: u64,
    },
    /// Comma-separated with a header.
    Csv,
}

/// Reads the traces of a file: one, or all of a packed file. A single trace is named by the file's name.
pub fn read_file(path: &Path, format: Format) -> Result<Vec<Trace>, TraceError> {
    let place = path.display().to_string();
    let fail = |message: String| TraceError::new(&place, 0, message);
    let length = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?.len();
    if length > LARGEST {
        return Err(fail(format!("{length} bytes are more than the limit of {LARGEST}: cut the file")));
    }
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        TraceError::new(&place, line, "this is no text (UTF-8): is the format right?")
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let traces = match format {
        Format::Columns => read_columns(&name, text).map(|trace| vec![trace]),
        Format::Packed => read_packed(&name, text),
        Format::Mahimahi { bin_ms } => read_mahimahi(&name, text, bin_ms).map(|trace| vec![trace]),
        Format::Csv => read_csv(&name, text).map(|trace| vec![trace]),
    };
    traces.map_err(|error| TraceError { source: place.clone(), ..error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_the_line() {
        let folder = std::env::temp_dir().join(format!("certus-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.log");
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_file(&path, Format::Columns).unwrap_err().to_string()
        };
        assert_eq!(
            message(b"0 1\n\xff"),
            format!("{}:2: this is no text (UTF-8): is the format right?", path.display())
        );
        assert!(message(b"0 1\n0 1\n").starts_with(&format!("{}:2: time 0", path.display())));
        std::fs::write(&path, "0 1\n1 2\n").unwrap();
        assert_eq!(read_file(&path, Format::Columns).unwrap()[0].name(), "a.log");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(read_file(&path, Format::Csv).is_err());
    }
}
