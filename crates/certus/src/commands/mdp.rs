//! `certus mdp`: probabilities of interval MDPs.

use std::io::Write;

use certus_documents::Document;
use certus_prob::imdp::property::{Answer, Question};
use certus_tasks::Files;
use certus_tasks::mdp::{self, Solved, files_of, mdp};

use super::{ended_by, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::Mdp;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::LiveLine;

/// Computes a probability.
pub fn run(command: &Mdp) -> Result<Finding, Failure> {
    let task = mdp::Mdp {
        file: command.file.clone(),
        property: command.property.clone(),
        settings: command.settings.clone(),
        gap: command.gap,
        write: command.write.clone(),
        values: command.values.clone(),
        effort: command.effort.plain()?,
    };
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads("the model", files_of(&command.file))
        .writes("-o", &command.common.output)
        .writes("--write", command.write.iter().flat_map(|path| files_of(path)))
        .writes("--values", &command.values)
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let solved = mdp(&task, &stop, || line.show(|| "working".to_owned()))?;
    drop(line);
    let Some(solved) = solved else {
        eprintln!("note: {}", ended_by(&stop));
        return Ok(Finding::Undecided);
    };
    let mut output = Output::open(command.common.output.as_deref())?;
    match command.common.json {
        true => solved.document(&task).write_indented(&mut output)?,
        false => report(command, &solved, &mut output)?,
    }
    output.finish()?;
    if command.property.is_none() && (command.write.is_none() || command.values.is_some()) {
        return Err(Failure::message(format!(
            "nothing was asked of {}: add a property, as 'Pmax=? [ F \"label\" ]', or --write to convert the model",
            command.file.display()
        )));
    }
    Ok(match (&solved.property, &solved.answer) {
        (Some(_), None) => Finding::Undecided,
        (_, Some(Answer { holds: Some(false), .. })) => Finding::Violated,
        (Some(property), Some(found)) if property.question != Question::Value && found.holds.is_none() => {
            Finding::Undecided
        }
        (_, Some(Answer { narrow: false, .. })) => Finding::Undecided,
        _ => Finding::Good,
    })
}

fn report(command: &Mdp, solved: &Solved, output: &mut Output) -> Result<(), Failure> {
    let Solved { model, seconds, .. } = solved;
    let labels: Vec<&str> = model.labels().collect();
    writeln!(
        output,
        "{}: {} states, {} choices, {} transitions; labels: {}",
        solved.kind(),
        model.states(),
        model.choice_count(),
        model.transition_count(),
        labels.join(", ")
    )?;
    match (&solved.property, &solved.answer) {
        (Some(_), Some(found)) => {
            write_brief(&solved.provenance, output)?;
            let verdict = match found.holds {
                Some(true) => "holds: ",
                Some(false) => "violated: ",
                None => "",
            };
            let text = command.property.as_deref().unwrap_or("");
            writeln!(output, "{text}: {verdict}in [{:?}, {:?}]  {seconds:.2} s", found.initial.0, found.initial.1)?;
            if let Some((low, high)) = found.rechecked {
                writeln!(output, "the choices found give, on the model that they leave, [{low:?}, {high:?}]")?;
            }
        }
        (Some(_), None) => writeln!(output, "stopped before there was an answer")?,
        (None, _) => {}
    }
    Ok(())
}
