//! The command line of Certus: arguments in, reports and exit codes out; no logic of its own.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod generic;
mod progress;
mod terminal;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use certus_tasks::fault_file::FaultFile;
use certus_tasks::{failure, output, statistics};

use arguments::{Arguments, Command};
use failure::{Dialect, Failure};

/// What a command that ran to its end has to say with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// Nothing is wrong.
    Good,
    /// Some property is violated (for `fmt --check`: a file is not in canonical form; for `audit`: the proof is none).
    Violated,
    /// The model is at fault, not a property.
    ModelError,
    /// The budget ran out first.
    Undecided,
}

impl From<Finding> for ExitCode {
    fn from(finding: Finding) -> ExitCode {
        ExitCode::from(match finding {
            Finding::Good => 0,
            Finding::Violated => 1,
            Finding::ModelError => 2,
            Finding::Undecided => 3,
        })
    }
}

fn main() -> ExitCode {
    let matches = generic::with_every_command(Arguments::command()).get_matches();
    let verbosity = matches.get_count("verbose");
    if verbosity > 0 {
        statistics::install(verbosity);
        progress::without_live_lines();
    }
    let wants_statistics = matches.get_flag("stats");
    if wants_statistics {
        statistics::collect();
    }
    let result = match matches.subcommand() {
        // What has no words of its own is a command of the table.
        Some((name, own)) if Arguments::command().find_subcommand(name).is_none() => generic::run(name, own),
        _ => match Arguments::from_arg_matches(&matches) {
            Ok(arguments) => run(&arguments.command),
            Err(error) => error.exit(),
        },
    };
    if wants_statistics {
        eprint!("{}", statistics::collected());
    }
    finish(result)
}

fn run(command: &Command) -> Result<Finding, Failure> {
    match command {
        Command::Check(command) => commands::check::run(command),
        Command::Simulate(command) => commands::simulate::run(command),
        Command::Gate(command) => commands::gate::run(command),
        Command::Verify(command) => commands::verify::run(command),
        Command::Optimise(command) => commands::optimise::run(command),
        Command::Extract(command) => commands::extract::run(command),
        Command::Prob(command) => commands::prob::run(command),
        Command::Mdp(command) => commands::mdp::run(command),
        Command::Shield(command) => commands::shield::run(command),
        Command::Audit(command) => commands::audit::run(command),
        Command::Observe(command) => commands::observe::run(command),
        Command::Mine(command) => commands::mine::run(command),
        Command::Inspect(command) => commands::inspect::run(command),
        Command::Report(command) => commands::report::run(command),
        Command::New(command) => commands::new::run(command),
        Command::Fmt(command) => commands::fmt::run(command),
        Command::Completions(command) => commands::completions::run(command),
    }
}

fn finish(result: Result<Finding, Failure>) -> ExitCode {
    output::discard_unfinished();
    if let Some(fault) = certus_graph::fault::noted() {
        return report(&fault);
    }
    match result {
        Ok(finding) => finding.into(),
        // Whoever reads our output may stop early, as `head` does; that is no error of ours.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.worded(Dialect::Flags));
            ExitCode::from(2)
        }
    }
}

/// Tells of a contradiction in Certus itself and leaves a file from which it can be found.
fn report(fault: &certus_graph::Fault) -> ExitCode {
    eprintln!("{fault}");
    match FaultFile::new(fault, std::env::args_os()).write(Path::new(".")) {
        Ok(path) => eprintln!("attach {}: it says how to make it happen again", path.display()),
        Err(error) => eprintln!("no file that reproduces it could be written: {error}\n{}", fault.details),
    }
    ExitCode::from(2)
}
