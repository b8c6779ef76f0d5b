//! The commands as people see them, one per file: what the command line adds to the table, and outcomes in words.

mod audit;
mod check;
mod extract;
mod fmt;
mod gate;
mod inspect;
mod invariant;
mod mdp;
mod mine;
mod new;
mod observe;
mod optimise;
mod prob;
mod region;
mod report;
mod shield;
mod simulate;
mod verify;

use std::io::Write;

use certus_tasks::Provenance;
use certus_tasks::commands::region::MAP;
use certus_tasks::commands::{COMMANDS, Command, Kind, Opt};
use clap::ArgMatches;
use clap_complete::Shell;

use crate::call::Call;
use crate::failure::Failure;
use crate::{Finding, arguments, generic};

/// How the command line shows a command.
pub struct Face {
    /// The command.
    pub command: &'static Command,
    /// Options that only the command line has; they replace those of the same name.
    further: &'static [&'static [Opt]],
    /// Runs it; if nothing does, its document is the output.
    run: Option<Show>,
}

/// Runs a command, and shows its outcome in words.
type Show = fn(&Call) -> Result<Finding, Failure>;

const JSON: &[Opt] = &[Opt::switch("json", "Print the result as a JSON document")];
const OUTPUT: &[Opt] = &[Opt::file("output", "Write the result to a file").flag("o")];
const QUIET: &[Opt] = &[Opt::switch("quiet", "Do not print progress or notes").short('q')];
const FORMAT: &[Opt] = &[Opt::named(
    "format",
    Kind::Choice(&["table", "csv", "jsonl"]),
    "\"table\"",
    "What to print: a summary, every step of every run as CSV, or every run as a line of JSON",
)];

/// The commands that have words of their own, in the order of the help, with options that only the command line has.
const WORDS: &[(&str, &[&[Opt]], Show)] = &[
    ("check", &[MAP, JSON, OUTPUT, QUIET], check::run),
    ("simulate", &[FORMAT, JSON, OUTPUT, QUIET], simulate::run),
    ("gate", &[JSON, OUTPUT, QUIET], gate::run),
    ("verify", &[JSON, OUTPUT, QUIET], verify::run),
    ("optimise", &[JSON, OUTPUT, QUIET], optimise::run),
    ("extract", &[QUIET], extract::run),
    ("prob", &[JSON, OUTPUT, QUIET], prob::run),
    ("mdp", &[JSON, OUTPUT, QUIET], mdp::run),
    ("shield", &[JSON, QUIET], shield::make),
    ("shield_run", &[JSON, OUTPUT, QUIET], shield::replay),
    ("shield_export", &[], shield::export),
    ("audit", &[JSON, OUTPUT, QUIET], audit::run),
    ("observe", &[OUTPUT], observe::run),
    ("mine", &[JSON, OUTPUT, QUIET], mine::run),
    ("inspect", &[JSON, OUTPUT], inspect::run),
    ("report", &[], report::run),
    ("new", &[], new::run),
    ("fmt", &[JSON], fmt::run),
];

/// All commands of the table.
pub fn faces() -> Vec<Face> {
    let words = WORDS.iter().filter_map(|&(name, further, run)| {
        Command::named(name).map(|command| Face { command, further, run: Some(run) })
    });
    let others = COMMANDS.iter().filter(|own| WORDS.iter().all(|(name, ..)| *name != own.name));
    let others = others.map(|command| {
        let has_output = command.options().any(|option| option.name == "output");
        Face { command, further: if has_output { &[JSON, QUIET] } else { &[JSON, OUTPUT, QUIET] }, run: None }
    });
    words.chain(others).collect()
}

impl Face {
    /// All its options.
    pub fn options(&self) -> Vec<&'static Opt> {
        let further = || self.further.iter().flat_map(|group| group.iter());
        let own = self.command.options().filter(|own| further().all(|other| other.name != own.name));
        own.chain(further()).collect()
    }
}

/// Runs the command that was called.
pub fn run(matches: &ArgMatches) -> Result<Finding, Failure> {
    let (name, matches) = arguments::called(matches);
    let Some(face) = faces().into_iter().find(|face| face.command.name == name) else { return completions(matches) };
    let call = Call::new(arguments::request(&face, matches)?);
    face.run.map_or_else(|| generic::run(face.command, &call), |run| run(&call))
}

/// Prints what a shell needs to complete our arguments.
fn completions(matches: &ArgMatches) -> Result<Finding, Failure> {
    let mut script = Vec::new();
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut arguments::whole(), "certus", &mut script);
    }
    std::io::stdout().write_all(&script)?;
    Ok(Finding::Good)
}

/// What a reader of verdicts has to know of where they come from, in one line; no line if there is nothing of the kind.
fn write_brief(provenance: &Provenance, output: &mut impl Write) -> Result<(), Failure> {
    if let Some(brief) = provenance.brief() {
        writeln!(output, "  {brief}")?;
    }
    Ok(())
}
