//! Commands of the table that the command line has no words of its own for: their document is the output.

use certus_tasks::commands::Command;
use serde_json::Value;

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Runs a command, and writes its document.
pub fn run(command: &Command, call: &Call) -> Result<Finding, Failure> {
    let answer = call.live(|session| (command.run)(&call.request, session))?;
    // An output that the command has itself is not for the document.
    let own = command.options().any(|option| option.name == "output");
    let mut output = Output::open(call.request.output().filter(|_| !own).as_deref())?;
    answer.document.write_indented(&mut output)?;
    output.finish()?;
    for note in &answer.notes {
        call.note(note);
    }
    Ok(finding(&answer.document.to_value()?))
}

/// The worst verdict that a document has anywhere.
fn finding(document: &Value) -> Finding {
    let inner: Vec<Finding> = match document {
        Value::Array(values) => values.iter().map(finding).collect(),
        Value::Object(members) => {
            let own = match members.get("verdict").and_then(Value::as_str) {
                Some("violated" | "violated at a value" | "rejected" | "unsafe") => Finding::Violated,
                Some("model error" | "failed") => Finding::ModelError,
                Some("unknown" | "open" | "timeout") => Finding::Undecided,
                _ => Finding::Good,
            };
            members.values().map(finding).chain([own]).collect()
        }
        _ => return Finding::Good,
    };
    let order = [Finding::Violated, Finding::ModelError, Finding::Undecided];
    order.into_iter().find(|finding| inner.contains(finding)).unwrap_or(Finding::Good)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_worst_verdict_counts() {
        assert_eq!(finding(&json!({"results": [{"verdict": "holds"}, {"verdict": "unknown"}]})), Finding::Undecided);
        assert_eq!(finding(&json!({"regions": [{"cells": [{"verdict": "violated at a value"}]}]})), Finding::Violated);
        assert_eq!(finding(&json!({"sat": 1})), Finding::Good);
    }
}
