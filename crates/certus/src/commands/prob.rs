//! `certus prob`: probabilities of a closed loop with random choices.

use std::io::Write;

use certus_documents::Document;
use certus_lang::LowerOptions;
use certus_lang::system::System;
use certus_prob::{Domain, Method, Options, Outcome};
use certus_tasks::commands::prob::{standing, within, writable, write};
use certus_tasks::prob::{self, Bounded, document};
use certus_tasks::{Files, Loading, Provenance};

use super::{ended_by, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::{Prob, ProbDomain, ProbMethod};
use crate::failure::Failure;
use crate::output::{Output, short};
use crate::progress::LiveLine;
use crate::terminal::colourful_messages;

fn options(command: &Prob) -> Options {
    let containment = command.merge;
    Options {
        steps: command.steps,
        domain: match (command.directions.as_slice(), command.domain) {
            ([], ProbDomain::Box) => Domain::Box,
            ([], ProbDomain::Octagon) => Domain::Octagon,
            ([], ProbDomain::Auto) => Domain::Automatic,
            (directions, _) => Domain::Directions(directions.iter().map(|own| own.0.clone()).collect()),
        },
        method: match command.method {
            ProbMethod::Auto => Method::Automatic,
            ProbMethod::Unfold => Method::Unfold { containment },
            ProbMethod::Search => Method::Search { containment },
            ProbMethod::Partition => Method::Partition,
        },
        spread: command.spread,
        shortest: command.shortest,
        samples: command.samples,
        gap: command.gap,
        share: command.share,
        grid: command.grid,
        pieces: command.pieces,
        most: command.most,
    }
}

/// Bounds probabilities.
pub fn run(command: &Prob) -> Result<Finding, Failure> {
    let task = prob::Prob {
        system: Loading {
            path: command.file.clone(),
            options: LowerOptions { overrides: command.settings.clone(), ..LowerOptions::default() },
            networks: command.networks.clone(),
            colour: colourful_messages(),
        },
        properties: command.properties.clone(),
        options: options(command),
        axes: command.map.as_ref().map(|_| axes(command)),
        effort: command.effort.plain()?,
    };
    writable(&task, command.map.is_some(), command.model.is_some())?;
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads_system(&task.system)
        .writes("-o", &command.common.output)
        .writes("--map", &command.map)
        .writes("--model", command.model.iter().flat_map(|path| certus_tasks::mdp::files_of(path)))
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let bounded = prob::prob(&task, &stop, |place| line.show(|| standing(place)))?;
    drop(line);
    let mut output = Output::open(command.common.output.as_deref())?;
    let Bounded { system: Some(system), results, courses, provenance } = &bounded else {
        output.finish()?;
        eprintln!("note: {} before the system was loaded", ended_by(&stop));
        return Ok(Finding::Undecided);
    };
    match command.common.json {
        true => document(system, results, courses, provenance).write_indented(&mut output)?,
        false => report(system, results, provenance, &mut output)?,
    }
    output.finish()?;
    if let [(place, Ok(outcome))] = results.as_slice() {
        write(system, *place, outcome, (command.map.as_deref(), axes(command)), command.model.as_deref())?;
    }
    Ok(finding(results))
}

/// The state variables over which a map is drawn.
fn axes(command: &Prob) -> (usize, usize) {
    command.axes.unwrap_or((0, 1))
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
    format!("{verdict}in [{}, {}]{}", shown(outcome.lower, false), shown(outcome.upper, true), within(outcome))
}

/// The property, how its bounds came about, and the start state that is as bad as the lower end says.
pub(super) fn details(system: &System, place: usize, outcome: &Outcome, output: &mut Output) -> Result<(), Failure> {
    let property = &system.properties[place];
    writeln!(output, "\n{}: {}", property.name, property.source)?;
    let choices = outcome.model.as_ref().map_or(String::new(), |model| format!(", {} choices", model.choice_count()));
    writeln!(output, "  by {}; {} regions{choices}", outcome.method, outcome.regions)?;
    if let Some(start) = &outcome.start {
        let values: Vec<String> =
            system.state_names().iter().zip(start).map(|(name, &value)| format!("{name} = {}", short(value))).collect();
        writeln!(output, "  worst start state found: {}", values.join(", "))?;
    }
    if let Some(errors) = possible_errors(outcome) {
        let bound = outcome
            .error
            .map_or_else(String::new, |error| format!(", with probability {} at most", shown(error, true)));
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

/// A probability with five digits, rounded away from the interval's inside: what is shown was proved.
fn shown(value: f64, up: bool) -> String {
    if value == 0.0 || value == 1.0 {
        return format!("{value}");
    }
    // Five digits as people write them; small ones with an exponent.
    let written = |value: f64| match value {
        1e-4.. => format!("{value:.*}", (4.0 - value.log10().floor()) as usize),
        _ => format!("{value:.4e}"),
    };
    let mut shifted = value;
    for _ in 0..8 {
        let text = written(shifted);
        let read: f64 = text.parse().unwrap_or(value);
        if (up && read >= value) || (!up && read <= value) {
            return text;
        }
        shifted += if up { 4e-5 } else { -4e-5 } * value;
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_shown_was_proved() {
        for value in [0.1, 0.123_456_789, 2.928_678e-7, 0.999_999_99, 1e-300, 0.0, 1.0] {
            let read = |up: bool| shown(value, up).parse::<f64>().unwrap();
            assert!(read(false) <= value && value <= read(true), "{value}");
            assert!(read(true) - read(false) <= 2e-4 * value, "{value}");
        }
        assert_eq!([shown(0.562_5, false), shown(0.562_51, true)], ["0.56250", "0.56251"]);
        assert_eq!(shown(2.928_678e-7, true), "2.9287e-7");
    }
}
