//! `certus mdp`: probabilities of interval MDPs.

use std::io::Write;

use certus_model::counted;
use certus_prob::imdp::property::{Answer, Question};
use certus_tasks::commands::mdp::{task, work};
use certus_tasks::mdp::{Mdp, Solved};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Computes a probability.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let task = task(&call.request)?;
    let Some(solved) = call.live(|session| work(&task, session))? else {
        call.note(call.ended_by());
        return Ok(Finding::Undecided);
    };
    call.print(|| solved.document(&task), |output| report(&task, &solved, output))?;
    if task.property.is_none() && task.write.is_none() {
        return Err(Failure::message(format!(
            "nothing was asked of {}: add a property, as 'Pmax=? [ F \"label\" ]', or ⟨write⟩ to convert the model",
            task.file.display()
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

fn report(task: &Mdp, solved: &Solved, output: &mut Output) -> Result<(), Failure> {
    let Solved { model, seconds, .. } = solved;
    let labels: Vec<&str> = model.labels().collect();
    writeln!(
        output,
        "{}: {}, {}, {}; labels: {}",
        solved.kind(),
        counted(model.states() as u128, "state"),
        counted(model.choice_count() as u128, "choice"),
        counted(model.transition_count() as u128, "transition"),
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
            let text = task.property.as_deref().unwrap_or("");
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
