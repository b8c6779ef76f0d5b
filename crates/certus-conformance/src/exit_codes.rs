//! The binary: the verdicts of its document are true, and its exit code is the first of 1, 2, 3, 0 that applies to them.

use std::process::Command;

use serde_json::Value;

use crate::campaign::Tally;
use crate::compare::{Class, Judged, holds};
use crate::random::numbers;
use crate::rows::Study;
use crate::truth::Truth;
use certus_model::Scope;

/// How the binary is called in reports.
pub const NAME: &str = "exit";

/// Ways to ask: so many steps, an engine, and seconds.
const WAYS: [(Option<usize>, &str, &str); 6] = [
    (None, "auto", "20"),
    (Some(2), "auto", "20"),
    (Some(1), "bmc", "20"),
    (None, "grid", "20"),
    (None, "induction", "20"),
    (None, "auto", "0.001"),
];

/// Compares one call of `check` about some or all properties.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let Some(binary) = study.binary else { return Ok(()) };
    let case = study.case;
    let path = case.write(study.folder, "system.certus")?;
    let mut random = numbers(study.seed ^ 2, study.number as u64);
    let (steps, engine, seconds) = *random.choose(&WAYS);
    let asked: Vec<usize> = match random.below(3) {
        0 => vec![random.below(case.properties.len())],
        _ => (0..case.properties.len()).collect(),
    };
    let mut command = Command::new(binary);
    command.current_dir(study.folder).arg("check").arg(&path).args(asked.iter().map(|&place| &case.properties[place]));
    command.args(["--json", "--quiet", "--threads", "1", "--engine", engine, "--timeout", seconds]);
    if engine == "grid" {
        command.args(["--refine", "2"]);
    }
    command.args(steps.map(|steps| format!("-k{steps}")));
    command.args(case.settings.iter().flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]));
    let ran = command.output().map_err(|error| error.to_string())?;
    let code = ran.status.code().ok_or("the binary was killed")?;
    let called = format!("exit code {code} of {command:?}");
    let document: Value = match serde_json::from_slice(&ran.stdout) {
        Ok(document) => document,
        // What cannot be asked has no document, and says why.
        Err(_) if code == 2 && !ran.stderr.is_empty() => {
            return Err(String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or_default().to_owned());
        }
        // Not even the system was read in time.
        Err(_) if code == 3 && seconds != "20" => return Ok(()),
        Err(error) => {
            let judged = Judged::Wrong(Class::ExitCodeWrong, format!("{error}, {called}"));
            tally.note((study.number, case, &case.properties[0], NAME), judged, || "a document".to_owned());
            return Ok(());
        }
    };
    let results = document["results"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |word: &str| results.iter().any(|result| result["verdict"] == word);
    let cannot = results.iter().any(|result| result["verdict"] == "unknown" && result["engine"].is_null());
    let expected: &[i32] = match () {
        () if of("violated") => &[1],
        () if of("model error") => &[2],
        // A property that cannot be asked about in this way is bad input.
        () if cannot => &[2, 3],
        () if of("unknown") => &[3],
        () => &[0],
    };
    for (result, &place) in results.iter().zip(&asked) {
        let Some(truth) = &study.truths[place] else { continue };
        let mut judged = judge(result, steps, truth);
        if !matches!(judged, Judged::Wrong(..)) && (!expected.contains(&code) || results.len() != asked.len()) {
            judged = Judged::Wrong(Class::ExitCodeWrong, format!("{called}, expected {expected:?}: {result}"));
        }
        let property = &case.properties[place];
        tally.note((study.number, case, property, NAME), judged, || format!("{}; {called}", truth.in_words()));
    }
    Ok(())
}

fn judge(result: &Value, steps: Option<usize>, truth: &Truth) -> Judged {
    let number = |key: &str| result["scope"][key].as_u64().map(|steps| steps as usize);
    match result["verdict"].as_str() {
        Some("holds") => {
            let scope = number("bounded").map(Scope::Bounded).or(number("horizon").map(Scope::Horizon));
            holds(steps, scope.unwrap_or(Scope::Unbounded), truth)
        }
        Some("violated") if truth.decision.violated() => Judged::Right("violated"),
        Some("violated") => Judged::Wrong(Class::ViolatedWrongly, result.to_string()),
        Some("model error") if truth.decision.error.is_some() => Judged::Right("model error"),
        Some("model error") => Judged::Wrong(Class::ModelErrorWrongly, result.to_string()),
        _ => Judged::Unknown,
    }
}
