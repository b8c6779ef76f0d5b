//! The command line of Certus: arguments in, reports and exit codes out; no logic of its own.

#![forbid(unsafe_code)]

mod arguments;
mod call;
mod commands;
mod generic;
mod progress;
mod terminal;
mod values;

use std::path::Path;
use std::process::ExitCode;

use certus_tasks::fault_file::FaultFile;
use certus_tasks::{failure, output, statistics};

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
    let matches = arguments::whole().get_matches();
    let verbosity = matches.get_count("verbose");
    if verbosity > 0 {
        statistics::install(verbosity);
        progress::without_live_lines();
    }
    let wants_statistics = matches.get_flag("stats");
    if wants_statistics {
        statistics::collect();
    }
    let result = commands::run(&matches);
    if wants_statistics {
        eprint!("{}", statistics::collected());
    }
    finish(result)
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
