//! Every command as a function from options to a document: the one table that all front ends are built on.
//!
//! A row of the table has a name, help, options with kinds and defaults, and a function. The command line makes its flags
//! and its help from it, and Python its functions, their signatures and their documentation. So a new command is one file
//! in this folder and one word in the list below.
//!
//! What a command does before its work (`task`) and the work itself (`work`) are functions of their own where the command
//! line shows the outcome in words: it calls them, and prints what they find.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_documents::AnyDocument;
use certus_lang::diagnostics::nearest;
use serde_json::{Map, Value};

use crate::failure::Failure;

mod options;
mod request;
mod shared;

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
    /// What it does, in a phrase without a full stop. Texts name options between `⟨` and `⟩`, as [`Failure`] does.
    pub about: &'static str,
    /// Sentences for whoever wants to know more; paragraphs have an empty line between them.
    pub details: &'static str,
    /// What is so on the command line alone: what exit codes say, and what standard input is for.
    pub command_line: &'static str,
    /// Examples for the command line, by lines; those below a caption are indented.
    pub examples: &'static [&'static str],
    /// Its options, in groups.
    pub options: &'static [&'static [Opt]],
    /// Options of which exactly one must be given.
    pub one_of: &'static [&'static str],
    /// Does it.
    pub run: fn(&Request, &mut Session<'_>) -> Result<Answer, Failure>,
}

impl Command {
    /// The command of a name.
    pub fn named(name: &str) -> Option<&'static Command> {
        COMMANDS.iter().find(|command| command.name == name).copied()
    }

    /// A command that says nothing and takes nothing: what others are made from.
    const fn new(name: &'static str, run: fn(&Request, &mut Session<'_>) -> Result<Answer, Failure>) -> Command {
        Command { name, about: "", details: "", command_line: "", examples: &[], options: &[], one_of: &[], run }
    }

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
    let Some(command) = Command::named(name) else {
        let hint = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        return Err(Failure::message(format!("there is no command '{name}'{hint}")));
    };
    (command.run)(&Request::new(command, &command.options().collect::<Vec<_>>(), options)?, session)
}

/// How the command line calls an option, with `_` between words.
pub(crate) fn flag_of(name: &str) -> &str {
    let mut flags = COMMANDS.iter().flat_map(|command| command.options()).filter(|option| option.is_flag());
    flags.find(|option| option.name == name).and_then(|option| option.flag).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help_and_options_with_defaults_of_their_kind() {
        for command in COMMANDS {
            let call = format!("certus {} ", command.name.replace('_', " "));
            assert!(
                command.examples.iter().any(|line| line.trim().starts_with(&call)),
                "{} has no example",
                command.name
            );
            let told = |text: &str| text.is_empty() || text.ends_with('.');
            assert!(told(command.details) && told(command.command_line), "{}: no full stop", command.name);
            assert!(!command.about.is_empty() && !told(command.about), "{}: '{}'", command.name, command.about);
            let mut seen = std::collections::HashSet::new();
            for option in command.options() {
                let what = format!("{}: {}", command.name, option.name);
                assert!(seen.insert(option.name), "{what} is there twice");
                assert!(
                    !option.about.is_empty() && !told(option.about) && told(option.details),
                    "{what}: '{}'",
                    option.about
                );
                assert!(!option.about.contains("--"), "{what} speaks of a flag");
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
        assert!(
            told("prob", serde_json::json!({"system": "x", "axes": [0, 1]})).contains("axes has no effect without map")
        );
        let both = serde_json::json!({"config": "x", "search": true, "regions": "y"});
        assert!(told("mine", both).contains("search cannot be used with regions"));
        assert!(told("optimise", serde_json::json!({"file": "x"})).contains("exactly one of maximise and minimise"));
    }
}
