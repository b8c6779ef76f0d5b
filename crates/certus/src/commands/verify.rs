//! `certus verify`: a VNN-LIB query about a network.

use std::io::Write;

use certus_graph::import::load_network;
use certus_solver::{Answer, Budget, Progress, Query, UnknownReason, Witness, solve, vnnlib};
use serde_json::{Map, Value, json};

use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Verify;
use crate::failure::Failure;
use crate::output::{Output, json_number};
use crate::progress::LiveLine;

/// Specifications that fall into more boxes than this are refused.
const MOST_CASES: usize = 1 << 16;

/// Decides a query; the first line is `sat`, `unsat`, `unknown` or `timeout`.
pub fn run(command: &Verify) -> Result<Finding, Failure> {
    let graph = load_network(&command.network).map_err(|error| Failure::message(error.to_string()))?;
    let place =
        |error: &dyn std::fmt::Display| Failure::message(format!("{}: {error}", command.specification.display()));
    let specification = vnnlib::read(&command.specification).map_err(|error| match error {
        // This one names the file itself.
        vnnlib::VnnLibError::Read { .. } => Failure::message(error.to_string()),
        _ => place(&error),
    })?;
    let cases = specification.cases(MOST_CASES).map_err(|error| place(&error))?;
    let queries = Query::from_specification(&graph, &specification, cases).map_err(|error| place(&error))?;
    let stop = stop_on_interrupt()?;
    let (deadline, threads) = (command.effort.deadline()?, command.effort.threads());
    let budget = Budget { deadline, stop: Some(&stop), threads, seed: command.effort.seed, ..Budget::default() };
    let mut line = LiveLine::new(command.effort.quiet);
    let count = queries.len();
    let mut total = Progress::default();
    let mut open: Option<UnknownReason> = None;
    let mut found: Option<Witness> = None;
    for (index, query) in queries.iter().enumerate() {
        let mut show = |progress: Progress| {
            let (closed, open, done) = (total.closed + progress.closed, progress.open, 100.0 * progress.done);
            line.show(|| format!("box {} of {count}: {closed} closed, {open} open, {done:.1} % done", index + 1));
        };
        match solve(query, &budget, &mut show).map_err(|error| Failure::message(error.to_string()))? {
            Answer::Sat(witness) => {
                found = Some(witness);
                break;
            }
            Answer::Unsat(refutation) => total.closed += refutation.progress.closed,
            Answer::Unknown(reason, progress) => {
                total.closed += progress.closed;
                total.open += progress.open;
                open = open.or(Some(reason));
            }
        }
    }
    let seconds = line.elapsed().as_secs_f64();
    drop(line);
    let verdict = match (&found, open) {
        (Some(_), _) => "sat",
        (None, None) => "unsat",
        (None, Some(UnknownReason::Deadline)) => "timeout",
        (None, Some(_)) => "unknown",
    };
    let mut output = Output::open(command.common.output.as_deref())?;
    if command.common.json {
        let document = json!({
            "network": command.network.display().to_string(),
            "specification": command.specification.display().to_string(),
            "verdict": verdict,
            "witness": found.as_ref().map(json_witness),
            "reason": open.map(|reason| format!("{reason:?}").to_lowercase()),
            "closed": total.closed,
            "open": total.open,
            "seconds": seconds,
        });
        writeln!(output, "{document:#}")?;
    } else {
        writeln!(output, "{verdict}")?;
        if let Some(witness) = &found {
            write_assignment(witness, &mut output)?;
        }
    }
    output.finish()?;
    Ok(if matches!(verdict, "sat" | "unsat") { Finding::Good } else { Finding::Undecided })
}

/// The assignment in VNN-COMP's form.
fn write_assignment(witness: &Witness, output: &mut impl Write) -> Result<(), Failure> {
    let inputs = witness.inputs.iter().enumerate().map(|(index, value)| format!("(X_{index} {value:?})"));
    let outputs = witness.outputs.iter().enumerate().map(|(index, value)| format!("(Y_{index} {value:?})"));
    let lines: Vec<String> = inputs.chain(outputs).collect();
    writeln!(output, "({})", lines.join("\n"))?;
    Ok(())
}

fn json_witness(witness: &Witness) -> Value {
    let numbers = |letter: char, values: &mut dyn Iterator<Item = f64>| -> Map<String, Value> {
        values.enumerate().map(|(index, value)| (format!("{letter}_{index}"), json_number(value))).collect()
    };
    let mut shown = numbers('X', &mut witness.inputs.iter().copied());
    shown.extend(numbers('Y', &mut witness.outputs.iter().map(|&value| f64::from(value))));
    shown.into()
}
