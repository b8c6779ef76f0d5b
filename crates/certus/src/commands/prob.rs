//! `certus prob`: probabilities of a closed loop with random choices.

use std::io::Write;

use certus_lang::system::System;
use certus_model::{counted, short, short_range, short_up};
use certus_prob::Outcome;
use certus_tasks::Provenance;
use certus_tasks::commands::prob::{task, within, work, write};
use certus_tasks::prob::{self, Bounded, document};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Bounds probabilities.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let task = task(&call.request)?;
    let bounded = call.live(|session| work(&task, session))?;
    let Bounded { system: Some(system), results, courses, provenance } = &bounded else {
        call.note(&format!("{} before the system was loaded", call.ended_by()));
        return Ok(Finding::Undecided);
    };
    call.print(
        || document(system, results, courses, provenance),
        |output| report(system, results, provenance, output),
    )?;
    write(&call.request, system, results)?;
    Ok(finding(results))
}

fn finding(results: &[(usize, Result<Outcome, String>)]) -> Finding {
    let own = |outcome: &Result<Outcome, String>| match outcome {
        Err(message) if message == prob::LATE => Finding::Undecided,
        Err(_) => Finding::ModelError,
        Ok(Outcome { holds: Some(false), .. }) => Finding::Violated,
        Ok(Outcome { holds: Some(true), .. }) => Finding::Good,
        Ok(outcome) if outcome.narrow && !outcome.asks => Finding::Good,
        Ok(_) => Finding::Undecided,
    };
    let all: Vec<Finding> = results.iter().map(|(_, outcome)| own(outcome)).collect();
    let order = [Finding::Violated, Finding::ModelError, Finding::Undecided];
    order.into_iter().find(|finding| all.contains(finding)).unwrap_or(Finding::Good)
}

fn report(
    system: &System,
    results: &[(usize, Result<Outcome, String>)],
    provenance: &Provenance,
    output: &mut Output,
) -> Result<(), Failure> {
    writeln!(output, "{}: the worst probability over all initial states", system.name)?;
    write_brief(provenance, output)?;
    writeln!(output)?;
    let name = |place: usize| &system.properties[place].name;
    let width = results.iter().map(|(place, _)| name(*place).len()).max().unwrap_or(0);
    for (place, outcome) in results {
        match outcome {
            Err(message) => writeln!(output, "  {:width$}  cannot be bounded: {message}", name(*place))?,
            Ok(outcome) => {
                writeln!(output, "  {:width$}  {}  {:.2} s", name(*place), words(outcome), outcome.seconds)?;
            }
        }
    }
    for (place, outcome) in results {
        let Ok(outcome) = outcome else { continue };
        details(system, *place, outcome, output)?;
    }
    Ok(())
}

/// A verdict with its interval.
pub(super) fn words(outcome: &Outcome) -> String {
    let verdict = match outcome.holds {
        Some(true) => "holds: ",
        Some(false) => "violated: ",
        None if outcome.narrow && !outcome.asks => "",
        None => "open: ",
    };
    format!("{verdict}in {}{}", short_range(outcome.lower, outcome.upper), within(outcome))
}

/// The property, how its bounds came about, and the start state that is as bad as the lower end says.
pub(super) fn details(system: &System, place: usize, outcome: &Outcome, output: &mut Output) -> Result<(), Failure> {
    let property = &system.properties[place];
    writeln!(output, "\n{}: {}", property.name, property.source)?;
    let choices = outcome
        .model
        .as_ref()
        .map_or(String::new(), |model| format!(", {}", counted(model.choice_count() as u128, "choice")));
    writeln!(output, "  by {}; {}{choices}", outcome.method, counted(outcome.regions as u128, "region"))?;
    if let Some(start) = &outcome.start {
        let values: Vec<String> =
            system.state_names().iter().zip(start).map(|(name, &value)| format!("{name} = {}", short(value))).collect();
        writeln!(output, "  worst start state found: {}", values.join(", "))?;
    }
    if let Some(errors) = possible_errors(outcome) {
        let bound =
            outcome.error.map_or_else(String::new, |error| format!(", with probability {} at most", short_up(error)));
        writeln!(output, "  a run might meet a model error ({errors}){bound}; that counts against the property")?;
    }
    Ok(())
}

/// The model errors that could not be excluded; nothing if all were.
fn possible_errors(outcome: &Outcome) -> Option<String> {
    let errors = outcome.errors;
    let named = [
        (errors.range, "a variable leaves its range"),
        (errors.deadlock, "no choice is allowed"),
        (errors.undefined, "an operation is undefined"),
    ];
    let possible: Vec<&str> = named.into_iter().filter(|(possible, _)| *possible).map(|(_, name)| name).collect();
    (!possible.is_empty() && outcome.error != Some(0.0)).then(|| possible.join(", "))
}
