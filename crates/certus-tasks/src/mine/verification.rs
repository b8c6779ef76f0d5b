//! Every specification and every network: what is known already is looked up, the rest is asked.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use certus_mine::attack::attack;
use certus_mine::layout::Layout;
use certus_mine::outputs::OutputSet;
use certus_mine::query::{Network, Verdict};
use certus_mine::{MineError, Specification};
use certus_numerics::parallel;
use certus_solver::{Budget, UnknownReason};

use super::verdicts::{Verdicts, digest_of, key};
use super::{Checked, Mine, Step, say};
use crate::failure::Failure;

/// Parts that each question may bound in the first round, on one thread beside others; what is left then gets all
/// threads, one question after the other, and so many times as much each round.
const FIRST_ROUND: u64 = 1024;
const LONGER_ROUNDS: u64 = 8;

/// A question: the places of its network and of its specification.
type Pair = (usize, usize);

/// All questions of a run.
struct Questions<'a> {
    task: &'a Mine,
    networks: &'a [(Network, &'a Path)],
    layout: &'a Layout,
    specifications: &'a [Specification],
    /// Names of the questions, per network; empty where nothing is remembered.
    keys: Vec<Vec<String>>,
}

impl Questions<'_> {
    fn place(&self, (network, own): Pair, error: &MineError) -> Failure {
        Failure::message(format!("{}: specification {}: {error}", self.networks[network].1.display(), own + 1))
    }

    /// Looks a question up; attacks that are wanted and were not made are made now, and then there is something to keep.
    fn recall(
        &self,
        verdicts: &Verdicts,
        pair: Pair,
        budget: &Budget<'_>,
    ) -> Result<Option<(Checked, bool)>, MineError> {
        let (network, specification) = (&self.networks[pair.0].0, &self.specifications[pair.1]);
        let key = &self.keys[pair.0][pair.1];
        let found = verdicts.find(key, network, self.layout, specification, budget.seed)?;
        let Some(found) = found else { return Ok(None) };
        let mut checked =
            Checked { verdict: found.verdict, seconds: found.seconds, attacks: Vec::new(), remembered: true };
        let is_new = self.task.attack && found.attacks.is_none();
        match found.attacks {
            Some(attacks) if self.task.attack => {
                checked.attacks = attacks.into_iter().map(|found| (found, Vec::new())).collect();
            }
            _ => self.add_attacks(pair, &mut checked, budget)?,
        }
        Ok(Some((checked, is_new)))
    }

    fn ask(&self, pair: Pair, impossible: &mut OutputSet, budget: &Budget<'_>) -> Result<Checked, MineError> {
        let started = Instant::now();
        let (network, specification) = (&self.networks[pair.0].0, &self.specifications[pair.1]);
        let verdict = network.verify(self.layout, specification, impossible, budget, &mut |_| {})?;
        let mut checked = Checked { verdict, seconds: 0.0, attacks: Vec::new(), remembered: false };
        self.add_attacks(pair, &mut checked, budget)?;
        checked.seconds = started.elapsed().as_secs_f64();
        Ok(checked)
    }

    fn add_attacks(&self, pair: Pair, checked: &mut Checked, budget: &Budget<'_>) -> Result<(), MineError> {
        if self.task.attack && matches!(checked.verdict, Verdict::Violated(_) | Verdict::Crossed(..)) {
            let found = attack(&self.networks[pair.0].0, self.layout, &self.specifications[pair.1], budget)?;
            checked.attacks = found.into_iter().map(|found| (found, Vec::new())).collect();
        }
        Ok(())
    }
}

/// Applies a function to every question on several threads; results are in the order of the questions.
fn on_threads<T: Send>(pairs: &[Pair], threads: usize, work: &(dyn Fn(Pair) -> T + Sync)) -> Vec<(Pair, T)> {
    parallel::map(pairs, threads, |&pair| (pair, work(pair)))
}

/// Answers every question: per network, one answer for each specification.
pub(super) fn verify(
    task: &Mine,
    networks: &[(Network, &Path)],
    layout: &Layout,
    specifications: &[Specification],
    stop: &AtomicBool,
    step: &Mutex<Step>,
) -> Result<Vec<Vec<Option<Checked>>>, Failure> {
    let mut checked = vec![vec![None; specifications.len()]; networks.len()];
    let pairs = (0..networks.len()).flat_map(|network| (0..specifications.len()).map(move |own| (network, own)));
    let mut waiting: Vec<Pair> = pairs.collect();
    if waiting.is_empty() {
        return Ok(checked);
    }
    say(step, "verifying", waiting.len());
    let threads = task.effort.threads();
    let mut budget = Budget {
        deadline: task.effort.deadline,
        stop: Some(stop),
        threads: 1,
        seed: task.effort.seed,
        memory: task.effort.memory / threads.max(1),
        subproblems: FIRST_ROUND,
        effort: u64::MAX,
        certify: false,
    };
    let verdicts = task.cache.as_deref().map(Verdicts::read).transpose()?;
    let mut questions = Questions { task, networks, layout, specifications, keys: Vec::new() };
    if verdicts.is_some() {
        questions.keys = keys(&questions)?;
    }
    let verdicts = verdicts.map(Mutex::new);
    let done = || step.lock().unwrap_or_else(PoisonError::into_inner).done += 1;
    let keep = |pair: Pair, answer: &Checked| -> Result<(), Failure> {
        let Some(verdicts) = &verdicts else { return Ok(()) };
        let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        verdicts.keep(&questions.keys[pair.0][pair.1], answer, task.attack.then_some(task.effort.seed))
    };
    if let Some(verdicts) = &verdicts {
        let verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        let recalled = on_threads(&waiting, threads, &|pair| questions.recall(&verdicts, pair, &budget));
        drop(verdicts);
        waiting.clear();
        for (pair, found) in recalled {
            match found.map_err(|error| questions.place(pair, &error))? {
                Some((found, is_new)) => {
                    if is_new {
                        keep(pair, &found)?;
                    }
                    checked[pair.0][pair.1] = Some(found);
                    done();
                }
                None => waiting.push(pair),
            }
        }
    }
    // What earlier rounds took, and which labels they excluded.
    let mut before = vec![vec![(0.0, OutputSet::default()); specifications.len()]; networks.len()];
    while !waiting.is_empty() {
        let side_by_side = if budget.threads == 1 { threads } else { 1 };
        let answers = on_threads(&waiting, side_by_side, &|pair| -> Result<(Checked, OutputSet), Failure> {
            let (seconds, mut impossible) = before[pair.0][pair.1];
            let answer = questions.ask(pair, &mut impossible, &budget);
            let mut answer = answer.map_err(|error| questions.place(pair, &error))?;
            answer.seconds += seconds;
            if !matches!(answer.verdict, Verdict::Open(_)) {
                done();
                keep(pair, &answer)?;
            }
            Ok((answer, impossible))
        });
        waiting.clear();
        for (pair, answer) in answers {
            let (answer, impossible) = answer?;
            before[pair.0][pair.1] = (answer.seconds, impossible);
            if matches!(answer.verdict, Verdict::Open(UnknownReason::Subproblems)) {
                waiting.push(pair);
            }
            checked[pair.0][pair.1] = Some(answer);
        }
        (budget.threads, budget.memory) = (threads.max(2), task.effort.memory);
        budget.subproblems = budget.subproblems.saturating_mul(LONGER_ROUNDS);
    }
    if let Some(verdicts) = &verdicts {
        verdicts.lock().unwrap_or_else(PoisonError::into_inner).write()?;
    }
    Ok(checked)
}

fn keys(questions: &Questions<'_>) -> Result<Vec<Vec<String>>, Failure> {
    let mut all = Vec::new();
    for (place, (network, _)) in questions.networks.iter().enumerate() {
        let digest = digest_of(network)?;
        let keys = questions.specifications.iter().enumerate().map(|(own, specification)| {
            key(network, &digest, questions.layout, specification)
                .map_err(|error| questions.place((place, own), &error))
        });
        all.push(keys.collect::<Result<Vec<String>, Failure>>()?);
    }
    Ok(all)
}
