//! Is there a point of a region at which an assertion about networks holds?

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use certus_documents as documents;
use certus_engine::{Ended, Job};
use certus_solver::{Answer, Budget, Progress, Saved, UnknownReason, Watcher, Witness, file, solve_from};

use crate::failure::Failure;
use crate::output::Output;
use crate::resume::Folder;
use crate::{BudgetOptions, Files, LoadedQuery, Provenance, QuerySource, Sealed, SearchProgress};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// What the question is read from.
    pub asked: QuerySource,
    /// Where a proof of `unsat` is written.
    pub certificate: Option<PathBuf>,
    /// Where the state of the search is kept.
    pub resume: Option<PathBuf>,
    /// Where the question is written as query files.
    pub save_query: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// What came out.
pub struct Verified {
    /// What was found out; none if not even reading the question came to an end.
    outcome: Option<Outcome>,
    reason: Option<UnknownReason>,
    /// How far the search came.
    pub standing: SearchProgress,
}

/// What was found out.
struct Outcome {
    question: LoadedQuery,
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
    fn verdict(&self) -> documents::verify::Answer {
        use documents::verify::Answer;
        match (&self.found, self.open) {
            (Some(_), _) => Answer::Sat,
            (None, None) => Answer::Unsat,
            (None, Some(UnknownReason::Deadline)) => Answer::Timeout,
            (None, Some(_)) => Answer::Unknown,
        }
    }
}

impl Verified {
    /// The answer.
    pub fn answer(&self) -> documents::verify::Answer {
        match (&self.outcome, self.reason) {
            (Some(outcome), _) => outcome.verdict(),
            (None, Some(UnknownReason::Deadline)) => documents::verify::Answer::Timeout,
            (None, _) => documents::verify::Answer::Unknown,
        }
    }

    /// `sat`, `unsat`, `unknown` or `timeout`.
    pub fn verdict(&self) -> &'static str {
        self.answer().word()
    }

    /// Whether the question is answered.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict(), "sat" | "unsat")
    }

    /// Why it is not, in one word.
    pub fn reason(&self) -> Option<String> {
        self.reason.filter(|_| !self.is_decided()).map(|reason| format!("{reason:?}").to_lowercase())
    }

    /// The question, if it could be read in time.
    pub fn question(&self) -> Option<&LoadedQuery> {
        self.outcome.as_ref().map(|outcome| &outcome.question)
    }

    /// The question and the point that was found.
    pub fn witness(&self) -> Option<(&LoadedQuery, &Witness)> {
        self.outcome.as_ref().and_then(|outcome| Some((&outcome.question, outcome.found.as_ref()?)))
    }

    /// What the answer is relative to.
    pub fn relative_to(&self) -> &'static str {
        match self.witness() {
            Some(_) => "the network in its file, evaluated in single and in double precision",
            None => "the network in its file, over the reals",
        }
    }

    /// The outcome as a document.
    pub fn document(&self, task: &Verify, seconds: f64) -> documents::verify::Verify {
        let files = self.question().map(LoadedQuery::named_files).unwrap_or_default();
        let verdict = self.answer();
        let certificate = task.certificate.as_ref().filter(|_| verdict == documents::verify::Answer::Unsat);
        let standing = self.standing;
        documents::verify::Verify {
            schema: documents::Schema::default(),
            network: files.network,
            specification: files.specification,
            query: files.query,
            networks: files.networks,
            verdict,
            witness: self.witness().map(|(question, witness)| question.assignment(witness)),
            reason: self.reason(),
            certificate: certificate.map(|path| path.display().to_string()),
            cases: standing.cases,
            verified: standing.verified(),
            open: standing.open(),
            done: standing.done().into(),
            bound: standing.progress.bound.map(Into::into),
            seconds: seconds.into(),
            relative_to: self.relative_to().to_owned(),
            provenance: self.provenance(task).document(),
        }
    }

    /// Where the answer comes from.
    pub fn provenance(&self, task: &Verify) -> Provenance {
        let sources = self.question().map(|question| question.sources.clone()).unwrap_or_default();
        Provenance::new("verify", sources).with_search(&task.effort)
    }

    /// What is known of a question that stayed open.
    pub fn undecided(&self, resume: Option<&Path>) -> String {
        let why = match self.reason {
            Some(UnknownReason::Deadline) | None => "out of time",
            Some(UnknownReason::Stopped) => "interrupted",
            Some(UnknownReason::Memory) => "the open subproblems need more memory than ⟨memory⟩ allows",
            Some(UnknownReason::Subproblems) => "the budget of subproblems is spent",
            Some(UnknownReason::Numerics) => "some subproblem can be neither verified nor split further",
            Some(UnknownReason::Precision) => {
                "a point satisfies the assertion in double precision, and none was found that does in single precision too"
            }
        };
        let next = resume.map(|path| format!("; ⟨resume={}⟩ goes on from here", path.display())).unwrap_or_default();
        format!("{why}: {}{next}", self.standing)
    }

    /// Removes the state of a search that is decided, once the answer is written; returns what went wrong on the way.
    pub fn finish(self) -> Vec<String> {
        let decided = self.is_decided();
        let Some(outcome) = self.outcome else { return Vec::new() };
        let mut warnings = outcome.warnings;
        let removed = outcome.folder.filter(|_| decided).map(Folder::remove);
        warnings.extend(removed.and_then(Result::err).map(|fault| fault.to_string()));
        warnings
    }
}

/// Decides a question. `tick` is called some twenty times a second while the search goes on, and `stop` ends it.
pub fn verify(
    task: &Verify,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(SearchProgress),
) -> Result<Verified, Failure> {
    let QuerySource { file, specification, networks } = &task.asked;
    Files::new()
        .reads("the question", [file].into_iter().chain(specification).chain(networks.iter().map(|(_, path)| path)))
        .writes("the certificate", &task.certificate)
        .ready()?;
    let standing = Arc::new(Mutex::new(SearchProgress::default()));
    let work = {
        let (task, stop, standing) = (task.clone(), Arc::clone(stop), Arc::clone(&standing));
        move || decide(&task, &stop, &standing)
    };
    let waited = Job::new(task.effort.deadline, stop).run(|| tick(SearchProgress::of(&standing)), work)?;
    let (outcome, reason) = match waited {
        Ended::Done(outcome) => {
            let outcome = outcome?;
            let open = outcome.open;
            (Some(outcome), open)
        }
        Ended::Late => (None, Some(UnknownReason::Deadline)),
        Ended::Cancelled => (None, Some(UnknownReason::Stopped)),
    };
    write_certificate(task, outcome.as_ref())?;
    Ok(Verified { outcome, reason, standing: SearchProgress::of(&standing) })
}

/// Parts that are bounded in a case before it is another's turn, if there are several; then so many times as many. A case that is
/// hard to close does not hide a point in one that comes later.
const FIRST_TURN: u64 = 256;
const LONGER_TURNS: u64 = 8;

/// Reads the question and searches its cases in turns.
fn decide(task: &Verify, stop: &AtomicBool, standing: &Mutex<SearchProgress>) -> Result<Outcome, Failure> {
    let deadline = task.effort.deadline;
    let certify = task.certificate.is_some();
    let sealed = if certify || task.resume.is_some() { Sealed::Yes } else { Sealed::No };
    let question = LoadedQuery::read(&task.asked, sealed)?;
    if certify {
        certificate_header(&question)?;
    }
    let cases = question.cases();
    SearchProgress::update(standing, |standing| standing.cases = cases);
    if let Some(path) = &task.save_query {
        save_queries(&question, path)?;
    }
    let folder = task.resume.as_deref().map(|path| Folder::open(path, &question.sources, cases, certify));
    let mut folder = folder.transpose()?;
    let mut budget = Budget {
        deadline,
        stop: Some(stop),
        threads: task.effort.threads(),
        seed: task.effort.seed,
        memory: task.effort.memory,
        certify,
        ..Budget::default()
    };
    let mut outcome = Outcome { question, found: None, open: None, trees: None, warnings: Vec::new(), folder: None };
    let mut trees: Vec<Option<String>> = vec![None; cases];
    let mut waiting: Vec<(usize, Option<(Saved, Progress)>)> = Vec::new();
    for (index, tree) in trees.iter_mut().enumerate() {
        let closed = folder.as_ref().and_then(|folder| Some((folder, folder.closed(index)?)));
        let Some((folder, parts)) = closed else {
            waiting.push((index, None));
            continue;
        };
        if certify {
            *tree = Some(folder.tree(index)?);
        }
        let progress = Progress { verified: parts, done: 1.0, ..Progress::default() };
        SearchProgress::update(standing, |standing| standing.finish(progress));
    }
    let mut turn = FIRST_TURN;
    'turns: while !waiting.is_empty() {
        budget.subproblems = if waiting.len() > 1 { turn } else { u64::MAX };
        turn = turn.saturating_mul(LONGER_TURNS);
        for (index, left) in std::mem::take(&mut waiting) {
            if let Some(reason) = exhausted(deadline, stop) {
                outcome.open = outcome.open.or(Some(reason));
                break 'turns;
            }
            let query = outcome.question.query(index)?;
            SearchProgress::update(standing, |standing| match &left {
                Some((_, progress)) => standing.take_up(index, *progress),
                None => standing.begin(index),
            });
            let saved = match (left, &folder) {
                (Some((saved, _)), _) => Some(saved),
                (None, Some(folder)) => folder.saved(index, &query)?,
                (None, None) => None,
            };
            let mut watch = Watch { standing, folder: folder.as_mut(), case: index, left: None, fault: None };
            let answer = solve_from(&query, saved, &budget, &mut watch);
            let (left, fault) = (watch.left.take(), watch.fault.take());
            let answer = answer.map_err(|error| Failure::message(error.to_string()))?;
            drop(query);
            outcome.warnings.extend(fault.as_ref().map(not_kept));
            match answer {
                Answer::Sat(witness) => {
                    outcome.found = Some(witness);
                    break 'turns;
                }
                Answer::Unsat(refutation) => {
                    if let Some(Err(fault)) = folder.as_mut().map(|folder| folder.close(index, &refutation)) {
                        outcome.warnings.push(not_kept(&fault));
                    }
                    SearchProgress::update(standing, |standing| standing.finish(refutation.progress));
                    trees[index] = refutation.tree;
                }
                Answer::Unknown(reason, progress) => {
                    SearchProgress::update(standing, |standing| standing.leave(progress));
                    match (reason, left) {
                        (UnknownReason::Subproblems, Some(left)) => waiting.push((index, Some((left, progress)))),
                        _ => outcome.open = outcome.open.or(Some(reason)),
                    }
                }
            }
        }
    }
    if let Some(Err(fault)) = folder.as_mut().map(|folder| folder.write(None)) {
        outcome.warnings.push(not_kept(&fault));
    }
    outcome.folder = folder;
    // Without a tree for every case there is no certificate, whatever the verdict.
    outcome.trees = trees.into_iter().collect::<Option<_>>().filter(|_| certify);
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
    standing: &'a Mutex<SearchProgress>,
    folder: Option<&'a mut Folder>,
    case: usize,
    /// Where the search was left.
    left: Option<Saved>,
    fault: Option<Failure>,
}

impl Watcher for Watch<'_> {
    fn progress(&mut self, progress: Progress) {
        SearchProgress::update(self.standing, |standing| standing.progress = progress);
    }

    fn wants_state(&mut self) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.is_due())
    }

    fn state(&mut self, saved: Saved) {
        if let Some(folder) = &mut self.folder {
            self.fault = folder.write(Some((self.case, &saved))).err();
        }
        self.left = Some(saved);
    }
}

/// The first lines of a certificate about a question.
fn certificate_header(question: &LoadedQuery) -> Result<String, Failure> {
    let roles: Vec<&str> = question.sources.iter().map(|source| source.role).collect();
    if !matches!(roles.as_slice(), ["network", "specification"] | ["query"]) {
        return Err(Failure::message(
            "a certificate is about one network: write the question with ⟨save_query⟩, and certify that file",
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
fn write_certificate(task: &Verify, outcome: Option<&Outcome>) -> Result<(), Failure> {
    let (Some(path), Some(outcome)) = (&task.certificate, outcome) else { return Ok(()) };
    if outcome.verdict() != documents::verify::Answer::Unsat {
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
fn save_queries(question: &LoadedQuery, path: &Path) -> Result<(), Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = [".query.gz", ".query"].into_iter().find(|ending| name.len() > ending.len() && name.ends_with(ending));
    let ending = ending.ok_or_else(|| {
        Failure::message(format!("⟨save_query={}⟩: the name must end in .query or .query.gz", path.display()))
    })?;
    let stem = name.strip_suffix(ending).unwrap_or(&name);
    if question.cases() == 0 {
        return Err(Failure::message(format!(
            "{}: the bounds exclude each other, there is no query to save",
            question.title()
        )));
    }
    let named = |index: usize| {
        let number = if question.cases() == 1 { String::new() } else { format!("-{index}") };
        path.with_file_name(format!("{stem}{number}{ending}"))
    };
    let read = question.sources.iter().map(|source| &source.path);
    Files::new().reads("the question", read).writes("⟨save_query⟩", (0..question.cases()).map(named)).ready()?;
    for index in 0..question.cases() {
        let own = named(index);
        let mut output = Output::open(Some(&own))?;
        file::print_query_as(&own, &mut output, question.query(index)?.as_ref()).map_err(|error| {
            Failure::message(format!("cannot write {}: {}; nothing was left behind", own.display(), error.source))
        })?;
        output.finish()?;
    }
    Ok(())
}
