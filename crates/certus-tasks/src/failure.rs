//! Why a command could not do its work.
//!
//! Messages name options between `⟨` and `⟩`, with a value after `=` if there is one: `⟨engine=grid⟩`. Each front end words them in its
//! own way: the command line as flags, Python as keyword arguments. So no front end speaks of another one's options.

use std::fmt;
use std::io;
use std::path::Path;

use certus_graph::Fault;

/// Why a command could not do its work; all of these exit with code 2.
#[derive(Debug)]
pub enum Failure {
    /// One line that names the place and the way out.
    Message(String),
    /// Rendered diagnostics of a `.certus` file, complete as they are.
    Diagnostics(String),
    /// Certus contradicts itself: nothing that it found counts.
    Fault(Box<Fault>),
    /// Standard output was closed by its reader.
    ClosedPipe,
}

impl Failure {
    /// A message.
    pub fn message(text: impl Into<String>) -> Failure {
        Failure::Message(text.into())
    }

    /// A file that could not be read.
    pub fn reading(path: &Path, error: &io::Error) -> Failure {
        Failure::Message(format!("cannot read {}: {error}", path.display()))
    }

    /// A file that could not be written.
    pub fn writing(path: &Path, error: &io::Error) -> Failure {
        Failure::Message(format!("cannot write {}: {error}; nothing was left behind", path.display()))
    }
}

/// How a front end calls options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As flags: `--engine grid`.
    Flags,
    /// As keyword arguments: `engine="grid"`.
    Keywords,
    /// By their names: `engine grid`.
    Plain,
}

impl Dialect {
    /// An option, with its value if there is one.
    fn option(self, name: &str, value: Option<&str>) -> String {
        match (self, value) {
            (Dialect::Flags, value) => {
                let flag = crate::commands::flag_of(name).replace('_', "-");
                let dashes = if flag.len() == 1 { "-" } else { "--" };
                value.map_or_else(|| format!("{dashes}{flag}"), |value| format!("{dashes}{flag} {value}"))
            }
            (Dialect::Keywords, Some(value)) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
            (Dialect::Keywords, Some(value)) => format!("{name}=\"{value}\""),
            (Dialect::Plain, Some(value)) => format!("{name} {value}"),
            (Dialect::Keywords | Dialect::Plain, None) => name.to_owned(),
        }
    }

    /// A text with its options in this dialect.
    pub fn word(self, text: &str) -> String {
        let mut worded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('⟨') {
            let Some((option, after)) = after.split_once('⟩') else { break };
            worded.push_str(before);
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            worded.push_str(&self.option(name, value));
            rest = after;
        }
        worded + rest
    }
}

impl Failure {
    /// The same with its options in a dialect.
    pub fn worded(self, dialect: Dialect) -> Failure {
        match self {
            Failure::Message(text) => Failure::Message(dialect.word(&text)),
            other => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message(text) => write!(f, "error: {}", Dialect::Plain.word(text)),
            Failure::Diagnostics(text) => f.write_str(text.trim_end()),
            Failure::Fault(fault) => fault.fmt(f),
            Failure::ClosedPipe => f.write_str("error: the output was closed"),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(Box::new(fault))
    }
}

impl From<certus_engine::JobError> for Failure {
    fn from(error: certus_engine::JobError) -> Failure {
        Failure::Message(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Message(format!("cannot write the output: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_front_end_has_its_own_words() {
        let text = "take ⟨engine=grid⟩, or leave out ⟨save_query⟩ and ⟨networks⟩";
        assert_eq!(Dialect::Flags.word(text), "take --engine grid, or leave out --save-query and --network");
        assert_eq!(Dialect::Keywords.word(text), "take engine=\"grid\", or leave out save_query and networks");
        assert_eq!(Dialect::Plain.word(text), "take engine grid, or leave out save_query and networks");
        for text in ["", "⟨", "a ⟩ b ⟨c", "plain"] {
            assert_eq!(Dialect::Flags.word(text), text);
        }
    }
}
