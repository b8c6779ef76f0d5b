//! The files of a command: what it reads, what it writes, and that nothing it writes replaces something it reads.
//!
//! QuerySource before the work: hours of it are not to end with a file that cannot be written, and the mistake of a moment (`-o` with the
//! name of the system) is not to cost a network.

use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::writable;
use crate::output_target::OutputTarget;
use crate::system::{Loading, files_of, weights_of};

/// What a command reads and writes, each with what whoever asked calls it: a flag, or a few words.
#[derive(Clone, Debug, Default)]
pub struct Files {
    read: Vec<(String, PathBuf)>,
    systems: Vec<Loading>,
    written: Vec<(String, PathBuf)>,
}

impl Files {
    /// None yet.
    pub fn new() -> Files {
        Files::default()
    }

    /// Files that are read.
    pub fn reads<P: AsRef<Path>>(mut self, what: &str, paths: impl IntoIterator<Item = P>) -> Files {
        let named = paths.into_iter().map(|path| (what.to_owned(), path.as_ref().to_owned()));
        self.read.extend(named);
        self
    }

    /// A system that is loaded: its file, and the networks that it names or that take their place.
    pub fn reads_system(mut self, loading: &Loading) -> Files {
        self.systems.push(loading.clone());
        self
    }

    /// Files that are written.
    pub fn writes<P: AsRef<Path>>(mut self, flag: &str, paths: impl IntoIterator<Item = P>) -> Files {
        let named = paths.into_iter().map(|path| (flag.to_owned(), path.as_ref().to_owned()));
        self.written.extend(named);
        self
    }

    /// Files of these names that are written into a folder.
    pub fn writes_into(self, flag: &str, folder: Option<&PathBuf>, names: &[&str]) -> Files {
        let paths: Vec<PathBuf> =
            folder.into_iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect();
        // A folder that is not there yet holds nothing that could be lost.
        let there = folder.is_some_and(|folder| folder.is_dir());
        if there { self.writes(flag, paths) } else { self }
    }

    /// That each output can be written, that no two of them are one file, and that none of them is a file that is read.
    pub fn ready(self) -> Result<(), Failure> {
        let mut targets: Vec<(PathBuf, &str, &Path)> = Vec::new();
        for (flag, path) in &self.written {
            let failed = |error: io::Error| Failure::writing(path, &error);
            // A pipe is left alone: opening it would wait for its reader, and closing it would be the end of what that reads.
            let OutputTarget::File(target) = OutputTarget::of(path).map_err(failed)? else { continue };
            if let Some((_, own, other)) = targets.iter().find(|(own, ..)| *own == target) {
                let (path, other) = (path.display(), other.display());
                return Err(Failure::message(format!(
                    "two outputs would be written to one file ({own} {other} and {flag} {path}): name another one"
                )));
            }
            targets.push((target, flag, path));
        }
        // Only what is there can be read, and lost.
        if targets.iter().any(|(target, ..)| target.exists()) {
            let of_systems = self.systems.iter().flat_map(files_of);
            let read: Vec<(String, PathBuf)> = self.read.iter().cloned().chain(of_systems).collect();
            let weights = read.iter().flat_map(|(what, path)| weights_beside(what, path));
            for (what, input) in weights.chain(read.iter().cloned()) {
                let Some((_, flag, path)) = targets.iter().find(|(target, ..)| same(target, &input)) else { continue };
                let (path, input) = (path.display(), input.display());
                return Err(Failure::message(format!(
                    "{flag} {path} would be written over {what} ({input}), which is read: name another file"
                )));
            }
        }
        for (target, _, path) in targets {
            writable(target, path).map_err(|error| Failure::writing(path, &error))?;
        }
        Ok(())
    }
}

/// The files in which weights of a network stand, if that is what a file is.
fn weights_beside(what: &str, path: &Path) -> Vec<(String, PathBuf)> {
    let is_onnx = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) && path.is_file();
    let bytes = if is_onnx { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    weights_of(path, &bytes).into_iter().map(|weights| (format!("weights of {what}"), weights)).collect()
}

/// Whether two names are names of one file, by whatever links.
fn same(target: &Path, input: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(a), Ok(b)) = (target.metadata(), input.metadata()) {
            return (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
    }
    matches!((target.canonicalize(), input.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("certus-files-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn two_outputs_are_not_one_file() {
        let folder = Folder::new("twice");
        let (path, detour) = (folder.0.join("a.svg"), folder.0.join(".").join("a.svg"));
        let files = || Files::new().writes("-o", [&path]).writes("--cells", [folder.0.join("b.svg")]);
        assert!(files().ready().is_ok());
        let told = files().writes("--picture", [&detour]).ready().unwrap_err().to_string();
        assert!(told.contains("one file") && told.contains("-o") && told.contains("--picture"), "{told}");
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn no_output_is_an_input_by_any_name() {
        let folder = Folder::new("inputs");
        let at = |name: &str| folder.0.join(name);
        std::fs::write(at("net.onnx"), "weights").unwrap();
        std::fs::write(at("other"), "weights").unwrap();
        std::os::unix::fs::symlink("net.onnx", at("soft")).unwrap();
        std::fs::hard_link(at("net.onnx"), at("hard")).unwrap();
        for output in ["net.onnx", "soft", "hard"] {
            let told = Files::new().reads("--network", [at("net.onnx")]).writes("-o", [at(output)]).ready();
            let told = told.unwrap_err().to_string();
            assert!(told.contains("-o") && told.contains("--network"), "{told}");
        }
        for output in ["other", "new"] {
            assert!(Files::new().reads("--network", [at("net.onnx")]).writes("-o", [at(output)]).ready().is_ok());
        }
        assert_eq!(std::fs::read(at("net.onnx")).unwrap(), b"weights");
    }
}
