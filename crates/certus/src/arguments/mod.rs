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
mod values;

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
pub use simulate::{Actions, Format, Inputs, Simulate};

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
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_help_text_and_every_command_an_example() {
        for command in Arguments::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:"), "{} has no example", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
            }
        }
    }
}
