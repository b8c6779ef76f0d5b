//! Every command of Certus through one door: options in, a document out, both as JSON.
//!
//! What commands there are and what they take is in the table of `certus_tasks::commands`; the package makes its functions from it.

use std::sync::Arc;

use certus_tasks::commands::{self as table, COMMANDS, Kind, Opt, Place, Session};
use certus_tasks::failure::Dialect;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::calling::Caller;
use crate::convert::from_json;
use crate::errors::{CertusError, failure};

/// The table of commands, as JSON.
#[pyfunction]
pub fn commands() -> String {
    let option = |option: &Opt| {
        json!({
            "name": option.name,
            "kind": option.kind.to_json(),
            "choices": if let Kind::Choice(choices) = option.kind { Some(choices) } else { None },
            "place": match option.place {
                Place::First => "first",
                Place::Rest => "rest",
                Place::Named => "named",
            },
            "default": option.default.and_then(|default| serde_json::from_str::<Value>(default).ok()),
            "required": option.default.is_none(),
            "about": worded(option.about, ". ", option.details),
        })
    };
    let rows = COMMANDS.iter().map(|command| {
        json!({
            "name": command.name,
            "about": worded(command.about, ".\n\n", command.details),
            "options": command.options().map(option).collect::<Vec<_>>(),
        })
    });
    Value::Array(rows.collect()).to_string()
}

/// A phrase, and the sentences that go on after it, with options as Python names them.
fn worded(about: &str, between: &str, details: &str) -> String {
    let text = if details.is_empty() { about.to_owned() } else { format!("{about}{between}{details}") };
    Dialect::Keywords.word(&text)
}

/// Runs a command: its document, what somebody should know beside it, and values in another form.
#[pyfunction]
#[pyo3(signature = (name, options, progress))]
pub fn run(
    py: Python<'_>,
    name: &str,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, String)> {
    let options: Value = serde_json::from_str(options).map_err(|error| CertusError::new_err(error.to_string()))?;
    let Value::Object(options) = options else { return Err(CertusError::new_err("options must have names")) };
    let mut caller = Caller::new(progress);
    let stop = Arc::clone(&caller.stop);
    let answer = py.detach(|| {
        let mut tell = |progress: &dyn Fn() -> Value| caller.tick(|py| from_json(py, &progress()));
        table::run(name, options, &mut Session { stop, tell: &mut tell })
    });
    caller.finish()?;
    let answer = answer.map_err(failure)?;
    let notes = answer.notes.iter().map(|note| Dialect::Keywords.word(note)).collect();
    let document = answer.document.to_line().map_err(|error| CertusError::new_err(error.to_string()))?;
    Ok((document, notes, Value::Object(answer.beside).to_string()))
}
