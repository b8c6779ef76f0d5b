//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use certus_documents::Document;

use crate::failure::Failure;
use crate::output_target::OutputTarget;

/// A destination. Nothing is seen of a file until [`Output::finish`]; if that is never reached, nothing stays behind.
pub enum Output {
    /// Standard output.
    Standard(BufWriter<StdoutLock<'static>>),
    /// A file under a temporary name beside its own.
    File(PendingFile),
    /// A device, a pipe or the like, which takes bytes as they come.
    Stream(Stream),
}

/// A file that is being written under a temporary name.
pub struct PendingFile {
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    /// Where it will be: no link.
    target: PathBuf,
    /// What it was called by whoever asked for it.
    path: PathBuf,
}

/// Something that is no file and has a name.
pub struct Stream {
    writer: BufWriter<File>,
    path: PathBuf,
}

impl Output {
    /// Standard output, or the file of that name.
    pub fn open(path: Option<&Path>) -> Result<Output, Failure> {
        let standard = || Ok(Output::Standard(BufWriter::new(io::stdout().lock())));
        let Some(path) = path else { return standard() };
        let failed = |error: io::Error| Failure::writing(path, &error);
        match OutputTarget::of(path).map_err(failed)? {
            OutputTarget::Standard => standard(),
            OutputTarget::File(target) => PendingFile::create(target, path).map(Output::File).map_err(failed),
            OutputTarget::Stream => {
                let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
                Ok(Output::Stream(Stream { writer: BufWriter::new(file), path: path.to_owned() }))
            }
        }
    }

    /// Makes what was written so far appear where others read along; a file appears as a whole later. If Certus has contradicted itself, nothing more appears.
    pub fn show(&mut self) -> Result<(), Failure> {
        if let Some(fault) = certus_graph::fault::noted() {
            return Err(fault.into());
        }
        match self {
            Output::Standard(writer) => Ok(writer.flush()?),
            Output::File(_) => Ok(()),
            Output::Stream(stream) => stream.flush().map_err(|error| Failure::writing(&stream.path, &error)),
        }
    }

    /// Makes everything that was written appear; if Certus has contradicted itself, nothing of it.
    pub fn finish(self) -> Result<(), Failure> {
        if let Some(fault) = certus_graph::fault::noted() {
            if let Output::Standard(writer) = self {
                // Taken apart, since a writer that is dropped writes what it holds.
                drop(writer.into_parts());
            }
            return Err(fault.into());
        }
        match self {
            Output::Standard(mut writer) => Ok(writer.flush()?),
            Output::File(mut pending) => {
                let path = pending.path.clone();
                pending.commit().map_err(|error| Failure::writing(&path, &error))
            }
            Output::Stream(mut stream) => stream.flush().map_err(|error| Failure::writing(&stream.path, &error)),
        }
    }
}

/// That a file can be written: asked by writing a temporary one beside it, which is gone at once.
pub(crate) fn writable(target: PathBuf, path: &Path) -> io::Result<()> {
    PendingFile::create(target, path).map(drop)
}

/// The temporary files that there are now.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what work that was left behind has not finished writing. For the end of the process: nothing can be written to files any more.
pub fn discard_unfinished() {
    let mut files = temporary_files();
    for file in files.drain(..) {
        // Best effort: there is nobody left to tell.
        let _ = std::fs::remove_file(file);
    }
    // Whoever wants to begin or finish a file now waits until the process is over.
    mem::forget(files);
}

impl PendingFile {
    fn create(target: PathBuf, path: &Path) -> io::Result<PendingFile> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let mut files = temporary_files();
        let file = File::create(&temporary)?;
        if let Ok(replaced) = target.metadata() {
            // Best effort: not every file system knows permissions.
            let _ = file.set_permissions(replaced.permissions());
        }
        files.push(temporary.clone());
        Ok(PendingFile { writer: Some(BufWriter::new(file)), temporary, target, path: path.to_owned() })
    }

    /// What the file will be called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn commit(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            let mut files = temporary_files();
            std::fs::rename(&self.temporary, &self.target)?;
            files.retain(|own| *own != self.temporary);
        }
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        let mut files = temporary_files();
        if let Some(place) = files.iter().position(|own| *own == self.temporary) {
            files.swap_remove(place);
            // Best effort: there is nobody left to tell.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

impl Stream {
    /// What it is called.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
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
            Output::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(writer) => writer.flush(),
            Output::File(pending) => pending.flush(),
            Output::Stream(stream) => stream.flush(),
        }
    }
}

/// Writes a whole text or picture to a file, or leaves the file as it was.
pub fn write_atomically(path: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    let mut output = Output::open(Some(path))?;
    output.write_all(contents.as_ref()).map_err(|error| Failure::writing(path, &error))?;
    output.finish()
}

/// Writes a document to a file, or leaves the file as it was.
pub fn write_document(path: &Path, document: &impl Document) -> Result<(), Failure> {
    write_atomically(path, &document.to_indented()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("certus-output-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn count(&self) -> usize {
            std::fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = Folder::new("unfinished");
        let path = folder.0.join("result.csv");
        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(folder.count(), 0);
        write_atomically(&path, "whole").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
    }

    #[test]
    fn a_file_that_cannot_be_finished_leaves_nothing_behind() {
        let folder = Folder::new("unfinishable");
        let path = folder.0.join("result.csv");
        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"whole").unwrap();
        // Meanwhile somebody puts a folder there, which no file replaces.
        std::fs::create_dir(&path).unwrap();
        assert!(output.finish().is_err());
        assert_eq!(folder.count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_replaces_a_file_has_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("private");
        let path = folder.0.join("private.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_that_takes_nothing_says_so() {
        let full = Path::new("/dev/full");
        // First that it is not replaced: whoever may write to that folder would miss it.
        assert_eq!(OutputTarget::of(full).unwrap(), OutputTarget::Stream);
        let failed = write_atomically(full, "anything").unwrap_err().to_string();
        assert!(failed.contains("cannot write /dev/full: No space left on device"), "{failed}");
    }
}
