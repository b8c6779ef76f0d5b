//! Where the name of an output leads.
//!
//! A rename replaces whatever has a name: a device, a pipe or a link just as well as a file. So links are followed first; a file is
//! replaced at once, where it really is, and anything else that exists is written to as it stands.

use std::io;
use std::path::{Path, PathBuf};

/// Names of standard output: it has been opened already, and others may have written to it.
const STANDARD: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Below these names are open descriptors; the file behind one belongs to whoever opened it.
const DESCRIPTORS: [&str; 3] = ["/dev/stderr", "/dev/fd", "/proc"];

/// Where a name leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputTarget {
    /// To standard output.
    Standard,
    /// To a file, or to where one can be: a whole path without links.
    File(PathBuf),
    /// To something else: a device, a pipe, an open descriptor.
    Stream,
}

impl OutputTarget {
    /// Follows a name.
    pub(crate) fn of(path: &Path) -> io::Result<OutputTarget> {
        if STANDARD.iter().any(|name| path == Path::new(name)) {
            return Ok(OutputTarget::Standard);
        }
        if DESCRIPTORS.iter().any(|name| path.starts_with(name)) {
            return Ok(OutputTarget::Stream);
        }
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Ok(OutputTarget::Stream),
            Ok(_) => path.canonicalize().map(OutputTarget::File),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match std::fs::read_link(path) {
                // Its end is missing, not the link.
                Ok(next) => OutputTarget::of(&folder_of(path).join(next)),
                Err(_) => new_file(path),
            },
            Err(error) => Err(error),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn new_file(path: &Path) -> io::Result<OutputTarget> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    Ok(OutputTarget::File(folder_of(path).canonicalize()?.join(name)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_to_files_that_exist_or_may() {
        let folder = std::env::temp_dir().join(format!("certus-destination-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let folder = folder.canonicalize().unwrap();
        let at = |name: &str| folder.join(name);
        std::fs::write(at("there"), "").unwrap();
        for (link, target) in [("near", "there"), ("far", "near"), ("hollow", "missing"), ("round", "round")] {
            symlink(target, at(link)).unwrap();
        }
        for (name, end) in [("there", "there"), ("far", "there"), ("hollow", "missing"), ("new", "new")] {
            assert_eq!(OutputTarget::of(&at(name)).unwrap(), OutputTarget::File(at(end)), "{name}");
        }
        for wrong in ["round", "no/folder", "."] {
            assert!(OutputTarget::of(&at(wrong)).is_err(), "{wrong}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn devices_and_descriptors_are_no_files() {
        for (name, end) in [
            ("/dev/null", OutputTarget::Stream),
            ("/dev/stderr", OutputTarget::Stream),
            ("/dev/fd/7", OutputTarget::Stream),
            ("/dev/stdout", OutputTarget::Standard),
        ] {
            assert_eq!(OutputTarget::of(Path::new(name)).unwrap(), end, "{name}");
        }
    }
}
