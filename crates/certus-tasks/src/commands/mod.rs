//! Every command as a function from options to a document: the one table that all front ends are built on.
//!
//! A row of the table has a name, a sentence, options with kinds and defaults, and a function. Python makes its functions, their
//! signatures and their documentation from it; the command line offers every row, with words of its own where it has some, and a test
//! compares its flags with the options here. So a new command is one file in this folder and one word in the list below.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_documents::AnyDocument;
use certus_lang::diagnostics::nearest;
use serde_json::{Map, Value};

use crate::failure::Failure;

mod options;
mod request;

pub use options::{Kind, Opt, Place};
pub use request::Request;

/// What a command that ran to its end gives back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What came out: what the command line writes with `--json`.
    pub document: AnyDocument,
    /// What somebody should know beside it, one sentence each. Options are named as in [`Failure`].
    pub notes: Vec<String>,
    /// Values that a program wants and the document has in another form only.
    pub beside: Map<String, Value>,
}

impl<D: Into<AnyDocument>> From<D> for Answer {
    fn from(document: D) -> Answer {
        Answer { document: document.into(), notes: Vec::new(), beside: Map::new() }
    }
}

/// Whoever asked: told of progress, and able to stop the work.
pub struct Session<'a> {
    /// Set when the work is to stop.
    pub stop: Arc<AtomicBool>,
    /// Takes a function that says how far the work is: an object with the member `text`.
    pub tell: &'a mut dyn FnMut(&dyn Fn() -> Value),
}

impl Session<'_> {
    /// Offers progress; it is put into words only if somebody wants to know.
    pub fn tell(&mut self, progress: impl Fn() -> Value) {
        (self.tell)(&progress);
    }
}

/// A command.
pub struct Command {
    /// Its name; with `_` between words.
    pub name: &'static str,
    /// What it does, in a sentence or a few.
    pub about: &'static str,
    /// An example, as a line for the command line.
    pub example: &'static str,
    /// Its options, in groups.
    pub options: &'static [&'static [Opt]],
    /// Does it.
    pub run: fn(&Request, &mut Session<'_>) -> Result<Answer, Failure>,
}

impl Command {
    /// All its options.
    pub fn options(&self) -> impl Iterator<Item = &'static Opt> {
        self.options.iter().flat_map(|group| group.iter())
    }
}

/// Declares the modules of commands, and the table of what is in them.
macro_rules! commands {
    ($($module:ident: $($constant:ident),+;)+) => {
        $(pub mod $module;)+

        /// The commands.
        pub static COMMANDS: &[&Command] = &[$($(&$module::$constant),+),+];
    };
}

commands! {
    audit: AUDIT;
    check: CHECK;
    extract: EXTRACT;
    fmt: FMT;
    gate: GATE;
    inspect: INSPECT;
    mdp: MDP;
    mine: MINE;
    new: NEW;
    observe: OBSERVE;
    optimise: OPTIMISE;
    prob: PROB;
    region: REGION;
    report: REPORT;
    shield: SHIELD, SHIELD_RUN, SHIELD_EXPORT;
    simulate: SIMULATE;
    verify: VERIFY;
}

/// Runs a command with options by their names; what is missing or null has its default.
pub fn run(name: &str, options: Map<String, Value>, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let names = || COMMANDS.iter().map(|command| command.name);
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let hint = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        return Err(Failure::message(format!("there is no command '{name}'{hint}")));
    };
    (command.run)(&Request::new(command, options)?, session)
}

/// How the command line calls an option, with `_` between words.
pub(crate) fn flag_of(name: &str) -> &str {
    let mut named = COMMANDS.iter().flat_map(|command| command.options()).filter(|option| option.place == Place::Named);
    named.find(|option| option.name == name).and_then(|option| option.flag).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_sentence_and_options_with_defaults_of_their_kind() {
        for command in COMMANDS {
            assert!(!command.about.is_empty() && command.example.starts_with("certus "), "{}", command.name);
            let mut seen = std::collections::HashSet::new();
            for option in command.options() {
                let what = format!("{}: {}", command.name, option.name);
                assert!(seen.insert(option.name), "{what} is there twice");
                assert!(!option.about.is_empty(), "{what} says nothing");
                if let Some(default) = option.default {
                    let value: Value = serde_json::from_str(default).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(value.is_null() || option.kind.accepts(&value), "{what} has the default {default}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        let mut tell = |_: &dyn Fn() -> Value| {};
        let mut session = Session { stop: Arc::default(), tell: &mut tell };
        let mut told = |name: &str, options: Value| {
            let Value::Object(options) = options else { panic!("no object") };
            run(name, options, &mut session).err().map(|failure| failure.to_string()).unwrap_or_default()
        };
        assert!(told("chek", serde_json::json!({})).contains("did you mean 'check'"));
        assert!(told("check", serde_json::json!({})).contains("system is missing"));
        assert!(told("check", serde_json::json!({"system": "x", "step": 1})).contains("did you mean 'steps'"));
        assert!(
            told("check", serde_json::json!({"system": "x", "steps": -1})).contains("steps: expected a whole number")
        );
        assert!(told("prob", serde_json::json!({"system": "x", "method": "fold"})).contains("unfold"));
    }
}
