//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A destination. Nothing is seen of a file until [`Output::finish`]; if that is never reached, nothing stays behind.
pub enum Output {
    /// Standard output.
    Standard(BufWriter<StdoutLock<'static>>),
    /// A file under a temporary name beside its own.
    File(PendingFile),
}

/// A file that is being written under a temporary name.
pub struct PendingFile {
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Output {
    /// Standard output, or the file of that name.
    pub fn open(path: Option<&Path>) -> Result<Output, Failure> {
        let Some(path) = path else {
            return Ok(Output::Standard(BufWriter::new(io::stdout().lock())));
        };
        let name = path.file_name().ok_or_else(|| Failure::message(format!("{} names no file", path.display())))?;
        let temporary = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(|error| Failure::writing(path, &error))?;
        let writer = Some(BufWriter::new(file));
        Ok(Output::File(PendingFile { writer, temporary, path: path.to_owned() }))
    }

    /// Makes everything that was written appear.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Output::Standard(mut writer) => Ok(writer.flush()?),
            Output::File(mut pending) => {
                let path = pending.path.clone();
                pending.commit().map_err(|error| Failure::writing(&path, &error))
            }
        }
    }
}

impl PendingFile {
    /// What the file will be called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn commit(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            std::fs::rename(&self.temporary, &self.path)?;
            self.temporary.clear();
        }
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // Best effort: there is nobody left to tell.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(writer) => writer.write(bytes),
            None => Err(io::Error::other("the file was finished already")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(writer) => writer.write(bytes),
            Output::File(pending) => pending.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(writer) => writer.flush(),
            Output::File(pending) => pending.flush(),
        }
    }
}

/// Writes a whole text or picture to a file, or leaves the file as it was.
pub fn write_whole(path: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    let mut output = Output::open(Some(path))?;
    output.write_all(contents.as_ref()).map_err(|error| Failure::writing(path, &error))?;
    output.finish()
}

/// A number as tables show it: at most six significant digits, without trailing zeros.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return match value {
            v if v == f64::INFINITY => "∞".to_owned(),
            v if v == f64::NEG_INFINITY => "−∞".to_owned(),
            v if v.is_nan() => "not a number".to_owned(),
            _ => "0".to_owned(),
        };
    }
    let magnitude = value.abs().log10().floor();
    let text = if (-4.0..6.0).contains(&magnitude) {
        format!("{value:.*}", (5.0 - magnitude) as usize)
    } else {
        return format!("{value:.4e}");
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number as JSON has it; what JSON cannot write becomes a text, never `null`.
pub fn json_number(value: f64) -> serde_json::Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.into(),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.1), "0.1");
        assert_eq!(short(-1234.5678), "-1234.57");
        assert_eq!(short(1e-9), "1.0000e-9");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(100000.0), "100000");
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("certus-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("result.csv");
        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        write_whole(&path, "whole").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
