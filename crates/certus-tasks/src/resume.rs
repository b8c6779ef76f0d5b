//! A folder that keeps the state of a search, so that it can go on another day.
//!
//! ```text
//! state/progress        which question this is, and which of its cases are closed
//! state/case-3.search   where the search for case 3 was left
//! state/case-1.proof    the part of the certificate about case 1, where one is wanted
//! ```
//!
//! Every file appears whole or not at all, and `progress` after the files that it speaks of: whenever the process dies, what
//! the folder says is true.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use certus_solver::{Query, Refutation, Saved};

use crate::Source;
use crate::failure::Failure;
use crate::output::write_atomically;

const VERSION: &str = "certus-resume 1";

/// The state is written about this often.
const INTERVAL: Duration = Duration::from_secs(10);

/// Writing takes at most this share of the time.
const SHARE: u32 = 20;

/// A folder of a search.
pub struct Folder {
    path: PathBuf,
    /// What the search is about; a folder with anything else is another's.
    subject: String,
    certify: bool,
    /// The closed cases, with the number of subproblems verified in each.
    closed: BTreeMap<usize, u64>,
    /// Trees of closed cases that are not written yet.
    unwritten: BTreeMap<usize, String>,
    next: Instant,
}

impl Folder {
    /// Opens the folder of a search, or begins one.
    pub fn open(path: &Path, sources: &[Source], cases: usize, certify: bool) -> Result<Folder, Failure> {
        let mut folder = Folder {
            path: path.to_owned(),
            subject: subject(sources, cases),
            certify,
            closed: BTreeMap::new(),
            unwritten: BTreeMap::new(),
            next: Instant::now() + INTERVAL,
        };
        std::fs::create_dir_all(path).map_err(|error| Failure::writing(path, &error))?;
        match std::fs::read_to_string(folder.progress_file()) {
            Ok(text) => folder.take_up(&text, cases)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut entries = std::fs::read_dir(path).map_err(|error| Failure::reading(path, &error))?;
                if entries.next().is_some() {
                    let message = "is neither empty nor a folder of ⟨resume⟩: name another one";
                    return Err(Failure::message(format!("{} {message}", path.display())));
                }
                folder.write_progress()?;
            }
            Err(error) => return Err(Failure::reading(&folder.progress_file(), &error)),
        }
        Ok(folder)
    }

    /// Goes on from what the folder says.
    fn take_up(&mut self, text: &str, cases: usize) -> Result<(), Failure> {
        let file = self.progress_file();
        let broken =
            |what: &str| Failure::message(format!("{}: {what}; remove the folder to begin anew", file.display()));
        let rest = text.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('\n'));
        let rest = rest.ok_or_else(|| broken("this is no state of a search of this version"))?;
        let folder = self.path.display();
        let Some(rest) = rest.strip_prefix(&self.subject) else {
            let message =
                "is the state of another question: its files have other contents. Name another folder, or remove it";
            return Err(Failure::message(format!("{folder} {message}")));
        };
        let rest = match (rest.strip_prefix("certificate yes\n"), rest.strip_prefix("certificate no\n"), self.certify) {
            (Some(rest), _, true) | (_, Some(rest), false) => rest,
            (Some(_), _, false) => {
                let message = "was begun with ⟨certificate⟩ and goes on only with it";
                return Err(Failure::message(format!("{folder} {message}")));
            }
            (_, Some(_), true) => {
                let message = "was begun without ⟨certificate⟩ and cannot give one";
                return Err(Failure::message(format!("{folder} {message}")));
            }
            _ => return Err(broken("a line is missing")),
        };
        let mut lines = rest.lines();
        for line in lines.by_ref() {
            if line == "end" {
                return Ok(());
            }
            let mut words = line.split(' ');
            let numbers = match (words.next(), words.next(), words.next(), words.next()) {
                (Some("closed"), Some(case), Some(parts), None) => case.parse().ok().zip(parts.parse().ok()),
                _ => None,
            };
            let (case, parts) =
                numbers.filter(|&(case, _)| case < cases).ok_or_else(|| broken("a line is not understood"))?;
            self.closed.insert(case, parts);
        }
        Err(broken("the end is missing"))
    }

    /// The number of subproblems verified in a case that is closed.
    pub fn closed(&self, case: usize) -> Option<u64> {
        self.closed.get(&case).copied()
    }

    /// The tree of a closed case, for the certificate.
    pub fn tree(&self, case: usize) -> Result<String, Failure> {
        match self.unwritten.get(&case) {
            Some(tree) => Ok(tree.clone()),
            None => {
                let path = self.file(case, "proof");
                std::fs::read_to_string(&path).map_err(|error| Failure::reading(&path, &error))
            }
        }
    }

    /// Where the search for a case was left, if it was begun.
    pub fn saved(&self, case: usize, query: &Query) -> Result<Option<Saved>, Failure> {
        let path = self.file(case, "search");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::reading(&path, &error)),
        };
        let broken =
            |what: String| Failure::message(format!("{}: {what}; remove the folder to begin anew", path.display()));
        let saved = Saved::parse(&text).map_err(|error| broken(error.to_string()))?;
        if !saved.fits(query) {
            return Err(broken("the state does not fit the question".to_owned()));
        }
        Ok(Some(saved))
    }

    /// Whether it is time to write the state.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Notes that a case is closed.
    pub fn close(&mut self, case: usize, refutation: &Refutation) -> Result<(), Failure> {
        self.closed.insert(case, refutation.progress.verified);
        if let Some(tree) = &refutation.tree {
            self.unwritten.insert(case, tree.clone());
        }
        if self.is_due() { self.write(None) } else { Ok(()) }
    }

    /// Writes everything: the closed cases, and where the search for one more is.
    pub fn write(&mut self, current: Option<(usize, &Saved)>) -> Result<(), Failure> {
        let started = Instant::now();
        for (&case, tree) in &self.unwritten {
            write_atomically(&self.file(case, "proof"), tree)?;
        }
        self.unwritten.clear();
        if let Some((case, saved)) = current {
            write_atomically(&self.file(case, "search"), &saved.print())?;
        }
        self.write_progress()?;
        self.next = Instant::now() + INTERVAL.max(started.elapsed() * SHARE);
        Ok(())
    }

    fn write_progress(&self) -> Result<(), Failure> {
        let certificate = if self.certify { "yes" } else { "no" };
        let mut text = format!("{VERSION}\n{}certificate {certificate}\n", self.subject);
        for (case, parts) in &self.closed {
            // Writing to a string does not fail.
            let _ = writeln!(text, "closed {case} {parts}");
        }
        text.push_str("end\n");
        write_atomically(&self.progress_file(), &text)
    }

    /// Removes what was written; the folder too, unless somebody else put something into it.
    pub fn remove(self) -> Result<(), Failure> {
        let failed =
            |error: &std::io::Error| Failure::message(format!("cannot remove {}: {error}", self.path.display()));
        // First the file without which the others mean nothing.
        std::fs::remove_file(self.progress_file()).map_err(|error| failed(&error))?;
        for entry in std::fs::read_dir(&self.path).map_err(|error| failed(&error))? {
            let entry = entry.map_err(|error| failed(&error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = name.strip_prefix("case-").and_then(|name| name.split_once('.'));
            if number
                .is_some_and(|(number, kind)| number.parse::<usize>().is_ok() && matches!(kind, "search" | "proof"))
            {
                std::fs::remove_file(entry.path()).map_err(|error| failed(&error))?;
            }
        }
        // A folder with other files in it stays.
        let _ = std::fs::remove_dir(&self.path);
        Ok(())
    }

    fn progress_file(&self) -> PathBuf {
        self.path.join("progress")
    }

    fn file(&self, case: usize, kind: &str) -> PathBuf {
        self.path.join(format!("case-{case}.{kind}"))
    }
}

/// What names a question: its files by their contents, and how many cases it has.
fn subject(sources: &[Source], cases: usize) -> String {
    let mut text = String::new();
    for source in sources {
        let (name, digest) = (source.name.as_deref().unwrap_or("-"), source.digest.as_deref().unwrap_or("-"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {name} {digest}", source.role);
    }
    let _ = writeln!(text, "cases {cases}");
    text
}
