//! The arguments of every command, with the help texts that teach them.

mod audit;
mod check;
mod common;
mod files;
mod gate;
mod mine;
mod prob;
mod queries;
mod shield;
mod simulate;
pub mod values;

use clap::{Parser, Subcommand};

pub use audit::Audit;
pub use check::{Check, Extract, PolicyKind};
pub use common::{Effort, Memory};
pub use files::{Completions, Fmt, Inspect, New, Report};
pub use gate::{Gate, GateEngine};
pub use mine::{Mine, Observe, ObservedWorld, SqlDialect};
pub use prob::{Mdp, Prob, ProbDomain, ProbMethod};
pub use queries::{Asked, Optimise, Verify};
pub use shield::{Invariant, Language, Shield, ShieldAction, ShieldExport, ShieldRun};
pub use simulate::{Actions, Format, Simulate};

/// Certus says what a trained network will do in the system around it.
///
/// A system is described in a `.certus` file: its state, the network that steers it, its environment, and what must
/// hold. Networks are ONNX or NNet files.
#[derive(Parser)]
#[command(
    name = "certus",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Exit codes: 0 nothing is wrong; 1 a property is violated; 2 bad input or usage, or the model left
its own ranges; 3 undecided within the budget.

Examples:
  certus inspect zoo/pendulum/pendulum.certus
  certus check zoo/toy/toy.certus
  certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500
  certus fmt --check zoo/*/*.certus"
)]
pub struct Arguments {
    /// What engines did, by phase, with counts, when the command is done; on standard error.
    #[arg(long, global = true)]
    pub stats: bool,

    /// What engines decide about their work, as they go; twice (`-vv`), what they do as well. On standard error.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    Check(Check),
    Simulate(Simulate),
    Gate(Gate),
    Verify(Verify),
    Optimise(Optimise),
    Extract(Extract),
    Prob(Prob),
    Mdp(Mdp),
    Shield(Shield),
    Audit(Audit),
    Observe(Observe),
    Mine(Mine),
    Inspect(Inspect),
    Report(Report),
    New(New),
    Fmt(Fmt),
    Completions(Completions),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        crate::generic::with_every_command(Arguments::command()).debug_assert();
    }

    /// Flags that are about printing: every front end has its own way.
    const PRINTING: &[&str] = &["json", "quiet", "format", "help", "version", "stats", "verbose"];

    /// How a subcommand calls an option: by its place, by a long flag, or by a short one.
    fn names(command: &clap::Command) -> Vec<String> {
        let name = |argument: &clap::Arg| match (argument.get_long(), argument.get_short()) {
            _ if argument.is_positional() => argument.get_id().to_string(),
            (Some("output"), Some(short)) | (None, Some(short)) => short.to_string(),
            (Some(long), _) => long.replace('-', "_"),
            (None, None) => String::new(),
        };
        let mut names: Vec<String> = command.get_arguments().map(name).collect();
        names.retain(|name| !PRINTING.contains(&name.as_str()));
        names
    }

    #[test]
    fn flags_are_the_options_of_the_commands_that_every_front_end_has() {
        // Of `check`, these are the options of `region`.
        let mapping = ["region", "resolution", "picture"];
        let whole = crate::generic::with_every_command(Arguments::command());
        for own in certus_tasks::commands::COMMANDS {
            let mut found = Some(&whole);
            for word in own.name.split('_') {
                found = found.and_then(|command| command.find_subcommand(word));
            }
            let flags = names(found.unwrap_or_else(|| panic!("there is no command {}", own.name)));
            let options: Vec<&str> = own.options().map(|option| option.flag.unwrap_or(option.name)).collect();
            for option in &options {
                let is_there = flags.iter().any(|flag| flag == option || *option == "o" && flag == "output");
                assert!(is_there, "{} has no flag for {option}; there are {flags:?}", own.name);
            }
            let others = flags.iter().filter(|flag| !options.contains(&flag.as_str()));
            // A document that a program gets as a value needs no file.
            let others = others.filter(|flag| !["o", "output"].contains(&flag.as_str()));
            let others: Vec<_> =
                others.filter(|flag| own.name != "check" || !mapping.contains(&flag.as_str())).collect();
            assert!(others.is_empty(), "{} has no option for {others:?}", own.name);
        }
        let known = |name: &str| certus_tasks::commands::COMMANDS.iter().any(|own| own.name == name);
        for command in whole.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "completions") {
            assert!(known(command), "{command} is no command that every front end has");
        }
    }

    #[test]
    fn every_flag_has_a_help_text_and_every_command_an_example() {
        for command in crate::generic::with_every_command(Arguments::command()).get_subcommands() {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:"), "{} has no example", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
            }
        }
    }
}
