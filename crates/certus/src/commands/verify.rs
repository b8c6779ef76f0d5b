//! `certus verify`: is there a point of a region at which an assertion about networks holds?

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use certus_solver::{Answer, Budget, Progress, Saved, UnknownReason, Watcher, Witness, file, solve_from};
use serde_json::Value;

use super::question::{Question, Sealed};
use super::resume::Folder;
use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Verify;
use crate::failure::Failure;
use crate::output::{Output, json_number};
use crate::patience::{Waited, wait};
use crate::progress::{LiveLine, Standing};

/// What was found out.
struct Outcome {
    question: Question,
    found: Option<Witness>,
    open: Option<UnknownReason>,
    /// The trees of all cases, if a certificate is wanted and there is one.
    trees: Option<Vec<String>>,
    /// What went wrong beside the search: its state could not be kept.
    warnings: Vec<String>,
    /// The state of the search; of no use once the answer is written.
    folder: Option<Folder>,
}

impl Outcome {
    fn verdict(&self) -> &'static str {
        match (&self.found, self.open) {
            (Some(_), _) => "sat",
            (None, None) => "unsat",
            (None, Some(UnknownReason::Deadline)) => "timeout",
            (None, Some(_)) => "unknown",
        }
    }
}

/// Decides a question; the first line is `sat`, `unsat`, `unknown` or `timeout`.
pub fn run(command: &Verify) -> Result<Finding, Failure> {
    let started = Instant::now();
    let deadline = command.effort.deadline()?;
    let stop = stop_on_interrupt()?;
    // Hours of work are not to end with a file that cannot be written.
    for path in [&command.common.output, &command.certificate].into_iter().flatten() {
        drop(Output::open(Some(path))?);
    }
    let standing = Arc::new(Mutex::new(Standing::default()));
    let mut line = LiveLine::new(command.effort.quiet);
    let work = {
        let (command, stop, standing) = (command.clone(), Arc::clone(&stop), Arc::clone(&standing));
        move || decide(&command, deadline, &stop, &standing)
    };
    let waited = wait(deadline, &stop, || line.show(|| Standing::of(&standing).to_string()), work)?;
    drop(line);
    let late = |reason| (None, Some(reason));
    let (outcome, reason) = match waited {
        Waited::Done(outcome) => {
            let outcome = outcome?;
            let open = outcome.open;
            (Some(outcome), open)
        }
        Waited::Late => late(UnknownReason::Deadline),
        Waited::Stopped => late(UnknownReason::Stopped),
    };
    let verdict = match (&outcome, reason) {
        (Some(outcome), _) => outcome.verdict(),
        (None, Some(UnknownReason::Deadline)) => "timeout",
        (None, _) => "unknown",
    };
    let standing = Standing::of(&standing);
    write_certificate(command, outcome.as_ref())?;
    let mut output = Output::open(command.common.output.as_deref())?;
    if command.common.json {
        let mut document = outcome.as_ref().map(|outcome| outcome.question.json_sources()).unwrap_or_default();
        let witness = outcome.as_ref().and_then(|outcome| Some(outcome.question.json_witness(outcome.found.as_ref()?)));
        let reason = reason.filter(|_| !matches!(verdict, "sat" | "unsat"));
        let certificate = command.certificate.as_ref().filter(|_| verdict == "unsat");
        document.insert("verdict".to_owned(), verdict.into());
        document.insert("witness".to_owned(), witness.unwrap_or(Value::Null));
        document.insert("reason".to_owned(), reason.map(|reason| format!("{reason:?}").to_lowercase()).into());
        document.insert("certificate".to_owned(), certificate.map(|path| path.display().to_string()).into());
        document.insert("cases".to_owned(), standing.cases.into());
        document.insert("closed".to_owned(), standing.closed().into());
        document.insert("open".to_owned(), standing.open().into());
        document.insert("done".to_owned(), json_number(standing.done()));
        document.insert("bound".to_owned(), standing.progress.bound.map(json_number).into());
        document.insert("seconds".to_owned(), json_number(started.elapsed().as_secs_f64()));
        writeln!(output, "{:#}", Value::Object(document))?;
    } else {
        writeln!(output, "{verdict}")?;
        if let Some((outcome, witness)) = outcome.as_ref().and_then(|outcome| Some((outcome, outcome.found.as_ref()?)))
        {
            outcome.question.write_witness(witness, &mut output)?;
        }
    }
    output.finish()?;
    let decided = matches!(verdict, "sat" | "unsat");
    let mut warnings = Vec::new();
    if let Some(outcome) = outcome {
        warnings = outcome.warnings;
        let removed = outcome.folder.filter(|_| decided).map(Folder::remove);
        warnings.extend(removed.and_then(Result::err).map(|fault| fault.to_string()));
    }
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    if !command.effort.quiet {
        if !decided {
            eprintln!("note: {}", undecided(reason, standing, command.resume.as_deref()));
        }
        if let Some(path) = command.certificate.as_ref().filter(|_| verdict != "unsat") {
            eprintln!("note: {} was not written: only `unsat` has a certificate", path.display());
        }
    }
    Ok(if decided { Finding::Good } else { Finding::Undecided })
}

/// What is known of a question that stayed open.
fn undecided(reason: Option<UnknownReason>, standing: Standing, resume: Option<&Path>) -> String {
    let why = match reason {
        Some(UnknownReason::Deadline) | None => "the time was over",
        Some(UnknownReason::Stopped) => "interrupted",
        Some(UnknownReason::Memory) => "the open parts need more memory than --memory allows",
        Some(UnknownReason::Boxes) => "the number of parts was reached",
        Some(UnknownReason::Numerics) => "some part can neither be closed nor cut any further",
    };
    let next = resume.map(|path| format!("; --resume {} goes on from here", path.display())).unwrap_or_default();
    format!("{why}: {standing}{next}")
}

/// Reads the question and searches its cases one after the other.
fn decide(
    command: &Verify,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    standing: &Mutex<Standing>,
) -> Result<Outcome, Failure> {
    let certify = command.certificate.is_some();
    let sealed = if certify || command.resume.is_some() { Sealed::Yes } else { Sealed::No };
    let question = Question::read(&command.asked, sealed)?;
    if certify {
        certificate_header(&question)?;
    }
    let cases = question.cases();
    Standing::update(standing, |standing| standing.cases = cases);
    if let Some(path) = &command.save_query {
        save_queries(&question, path)?;
    }
    let folder = command.resume.as_deref().map(|path| Folder::open(path, &question.sources, cases, certify));
    let mut folder = folder.transpose()?;
    let budget = Budget {
        deadline,
        stop: Some(stop),
        threads: command.effort.threads(),
        seed: command.effort.seed,
        memory: command.memory.bytes(),
        certify,
        ..Budget::default()
    };
    let mut outcome = Outcome { question, found: None, open: None, trees: None, warnings: Vec::new(), folder: None };
    let mut trees = Vec::new();
    for index in 0..cases {
        Standing::update(standing, |standing| standing.begin(index));
        if let Some((folder, parts)) = folder.as_ref().and_then(|folder| Some((folder, folder.closed(index)?))) {
            if certify {
                trees.push(folder.tree(index)?);
            }
            Standing::update(standing, |standing| {
                standing.finish(Progress { closed: parts, done: 1.0, ..Progress::default() })
            });
            continue;
        }
        if let Some(reason) = exhausted(deadline, stop) {
            outcome.open = outcome.open.or(Some(reason));
            break;
        }
        let query = outcome.question.query(index)?;
        let saved = match &folder {
            Some(folder) => folder.saved(index, &query)?,
            None => None,
        };
        let mut watch = Watch { standing, folder: folder.as_mut(), case: index, fault: None };
        let answer = solve_from(&query, saved, &budget, &mut watch);
        let fault = watch.fault.take();
        let answer = answer.map_err(|error| Failure::message(error.to_string()))?;
        drop(query);
        outcome.warnings.extend(fault.as_ref().map(not_kept));
        match answer {
            Answer::Sat(witness) => {
                outcome.found = Some(witness);
                break;
            }
            Answer::Unsat(refutation) => {
                if let Some(Err(fault)) = folder.as_mut().map(|folder| folder.close(index, &refutation)) {
                    outcome.warnings.push(not_kept(&fault));
                }
                Standing::update(standing, |standing| standing.finish(refutation.progress));
                trees.extend(refutation.tree);
            }
            Answer::Unknown(reason, progress) => {
                Standing::update(standing, |standing| standing.leave(progress));
                outcome.open = outcome.open.or(Some(reason));
            }
        }
    }
    if let Some(Err(fault)) = folder.as_mut().map(|folder| folder.write(None)) {
        outcome.warnings.push(not_kept(&fault));
    }
    outcome.folder = folder;
    // Without a tree for every case there is no certificate, whatever the verdict.
    outcome.trees = (certify && trees.len() == cases).then_some(trees);
    outcome.warnings.dedup();
    Ok(outcome)
}

fn not_kept(fault: &Failure) -> String {
    match fault {
        Failure::Message(text) => format!("the state of the search is not kept: {text}"),
        other => format!("the state of the search is not kept: {other}"),
    }
}

fn exhausted(deadline: Option<Instant>, stop: &AtomicBool) -> Option<UnknownReason> {
    if stop.load(Ordering::Relaxed) {
        return Some(UnknownReason::Stopped);
    }
    deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| UnknownReason::Deadline)
}

/// Keeps the state of a search where others can see it.
struct Watch<'a> {
    standing: &'a Mutex<Standing>,
    folder: Option<&'a mut Folder>,
    case: usize,
    fault: Option<Failure>,
}

impl Watcher for Watch<'_> {
    fn progress(&mut self, progress: Progress) {
        Standing::update(self.standing, |standing| standing.progress = progress);
    }

    fn wants_state(&mut self) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.is_due())
    }

    fn state(&mut self, saved: Saved) {
        if let Some(folder) = &mut self.folder {
            self.fault = folder.write(Some((self.case, &saved))).err();
        }
    }
}

/// The first lines of a certificate about a question.
fn certificate_header(question: &Question) -> Result<String, Failure> {
    let roles: Vec<&str> = question.sources.iter().map(|source| source.role).collect();
    if !matches!(roles.as_slice(), ["network", "specification"] | ["query"]) {
        return Err(Failure::message(
            "a certificate is about one network: write the question with --save-query, and certify that file",
        ));
    }
    let mut header = "certus-certificate 1\n".to_owned();
    for source in &question.sources {
        let path = source.path.display().to_string();
        if path.contains(['\n', '\r']) {
            return Err(Failure::message(format!("{path:?} has a line break, which a certificate cannot name")));
        }
        header.push_str(&format!("{} {} {path}\n", source.role, source.digest.as_deref().unwrap_or_default()));
    }
    Ok(header)
}

/// Writes the certificate of an unsatisfiable question, if one is wanted.
fn write_certificate(command: &Verify, outcome: Option<&Outcome>) -> Result<(), Failure> {
    let (Some(path), Some(outcome)) = (&command.certificate, outcome) else { return Ok(()) };
    if outcome.verdict() != "unsat" {
        return Ok(());
    }
    let trees = outcome.trees.as_ref();
    let trees =
        trees.ok_or_else(|| Failure::message("the search kept no proof of `unsat`; this is a fault of Certus"))?;
    let mut output = Output::open(Some(path))?;
    let failed = |error: std::io::Error| Failure::writing(path, &error);
    output.write_all(certificate_header(&outcome.question)?.as_bytes()).map_err(failed)?;
    for (case, tree) in trees.iter().enumerate() {
        writeln!(output, "case {case}").map_err(failed)?;
        output.write_all(tree.as_bytes()).map_err(failed)?;
    }
    writeln!(output, "end").map_err(failed)?;
    output.finish()
}

/// Writes every case to a query file; several get numbers.
fn save_queries(question: &Question, path: &Path) -> Result<(), Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = [".query.gz", ".query"].into_iter().find(|ending| name.len() > ending.len() && name.ends_with(ending));
    let ending = ending.ok_or_else(|| {
        Failure::message(format!("--save-query {}: the name must end in .query or .query.gz", path.display()))
    })?;
    let stem = name.strip_suffix(ending).unwrap_or(&name);
    if question.cases() == 0 {
        return Err(Failure::message(format!(
            "{}: the bounds exclude each other, there is no query to save",
            question.title()
        )));
    }
    for index in 0..question.cases() {
        let number = if question.cases() == 1 { String::new() } else { format!("-{index}") };
        let own = path.with_file_name(format!("{stem}{number}{ending}"));
        let temporary = path.with_file_name(format!(".{stem}{number}.{}{ending}", std::process::id()));
        let query = question.query(index)?;
        file::write_query(&temporary, &query)
            .map_err(|error| error.source.to_string())
            .and_then(|()| std::fs::rename(&temporary, &own).map_err(|error| error.to_string()))
            .map_err(|error| {
                // Best effort: the reason that is told is the first one.
                let _ = std::fs::remove_file(&temporary);
                Failure::message(format!("cannot write {}: {error}; nothing was left behind", own.display()))
            })?;
    }
    Ok(())
}
