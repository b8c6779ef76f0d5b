//! Reading a specification from a file, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::Fault;
use super::{MAX_BYTES, Specification, VnnLibError, parse};

/// The first bytes of a gzip file; no text in UTF-8 begins with them.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads a specification from a file, which may be compressed with gzip.
pub fn read(path: &Path) -> Result<Specification, VnnLibError> {
    parse(&text(path)?)
}

/// The text of a file, which may be compressed.
pub(super) fn text(path: &Path) -> Result<String, VnnLibError> {
    let read = File::open(path).and_then(|file| contents(BufReader::new(file), MAX_BYTES));
    as_text(read.map_err(|source| VnnLibError::Read { path: path.to_owned(), source })?)
}

/// The text of a file whose bytes were read before; they may be compressed.
pub(super) fn text_of(path: &Path, bytes: &[u8]) -> Result<String, VnnLibError> {
    as_text(contents(bytes, MAX_BYTES).map_err(|source| VnnLibError::Read { path: path.to_owned(), source })?)
}

fn as_text(bytes: Option<Vec<u8>>) -> Result<String, VnnLibError> {
    let bytes = bytes.ok_or(VnnLibError::TooLarge { limit: MAX_BYTES })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let (valid, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
            let fault = Fault::new(valid.len(), "the text is not UTF-8");
            Err(fault.locate(&String::from_utf8_lossy(valid)))
        }
    }
}

/// What is read after decompression, or `None` where that is more than the limit.
fn contents(mut file: impl BufRead, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let compressed = file.fill_buf()?.starts_with(&GZIP);
    let enough = limit as u64 + 1;
    let mut bytes = Vec::new();
    if compressed {
        MultiGzDecoder::new(file).take(enough).read_to_end(&mut bytes)?;
    } else {
        file.take(enough).read_to_end(&mut bytes)?;
    }
    Ok((bytes.len() <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_size_is_bounded_after_decompression() {
        let path = std::env::temp_dir().join(format!("certus-vnnlib-bound-{}.gz", std::process::id()));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&[b' '; 100_000]).unwrap();
        let compressed = encoder.finish().unwrap();
        std::fs::write(&path, &compressed).unwrap();
        let read =
            |limit| contents(BufReader::new(File::open(&path).unwrap()), limit).unwrap().map(|bytes| bytes.len());
        let results = [read(100_000), read(99_999)];
        std::fs::remove_file(&path).unwrap();
        assert_eq!(results, [Some(100_000), None]);
        assert!(compressed.len() < 1000);
    }
}
