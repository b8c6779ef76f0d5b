//! The file that goes with a report of an internal fault: all that is needed to make it happen again.

use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use certus_audit::digest;
use certus_graph::Fault;

/// Texts beyond this length are named by their digest alone.
const LONGEST_TEXT: u64 = 1 << 20;

/// The name and the contents of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultFile {
    /// `certus-fault-` and the beginning of the contents' SHA-256.
    pub name: String,
    /// Version, command line, details, and the files that the command line names.
    pub text: String,
}

impl FaultFile {
    /// What there is to tell of a fault in a process with that command line.
    pub fn new(fault: &Fault, command_line: impl IntoIterator<Item = OsString>) -> FaultFile {
        let arguments: Vec<OsString> = command_line.into_iter().collect();
        let shown: Vec<String> = arguments.iter().map(|argument| format!("{argument:?}")).collect();
        let mut text = format!(
            "certus {}\ncommand: {}\nfault: {}\n\n{}\n",
            env!("CARGO_PKG_VERSION"),
            shown.join(" "),
            fault.message,
            fault.details.trim_end()
        );
        for path in arguments.iter().skip(1).map(Path::new) {
            append_file(&mut text, path);
        }
        let name = format!("certus-fault-{}.txt", &digest(text.as_bytes())[..12]);
        FaultFile { name, text }
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let path = folder.join(&self.name);
        std::fs::write(&path, &self.text)?;
        Ok(path)
    }
}

/// The contents of a file if it is a text (a system, a query), the digest of any other; nothing of what is no file.
fn append_file(text: &mut String, path: &Path) {
    let Ok(about) = path.metadata() else { return };
    if !about.is_file() {
        return;
    }
    let Ok(bytes) = std::fs::read(path) else { return };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n--- {} (sha256 {})", path.display(), digest(&bytes));
    if about.len() <= LONGEST_TEXT
        && let Ok(contents) = String::from_utf8(bytes)
    {
        text.push_str(&contents);
    }
}
