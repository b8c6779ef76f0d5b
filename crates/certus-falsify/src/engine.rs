//! The engine `falsify`: simulated runs as a peer of the portfolio.
//!
//! A turn has as many simulated steps as its work is worth, so what a turn finds does not depend on the machine. An engine that is alone has
//! all turns in one, with growing work, as far as the budget or a fixed amount of work reaches.
//!
//! *Soundness.* `violated` and `model error` rest on the judge (`judge`): on replay by the step as it was lowered, on intervals, on loops that are proved.
//! Nothing is ever said to hold.

use certus_engine::{
    Budget, Engine, FIRST_WORK, Next, Session, Shared, Support, Task, Turn, WORK_FACTOR, Watch, spent,
};
use certus_model::{CheckError, Outcome, Property, Run, System, Unknown, UnknownReason, Verdict, formula_of};

use crate::search::{Found, Search, Tally, Trouble};

/// The name of the engine.
pub const NAME: &str = "falsify";

/// Without a deadline, rounds are worth no more work than this.
const MOST_WORK_WITHOUT_DEADLINE: u64 = FIRST_WORK * WORK_FACTOR;

/// Rounds of one turn, if they are promising.
const MOST_ROUNDS: usize = 2;

/// Falsification by simulation.
pub struct Falsify;

impl Engine for Falsify {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        if let Err(error) = formula_of(property) {
            return Support::No(error.to_string());
        }
        if !system.networks.is_empty() {
            return Support::No("the loop is open: nobody says what its networks do".to_owned());
        }
        if !system.roles.free_params.is_empty() {
            return Support::No("the system has free parameters: a run needs a value of each".to_owned());
        }
        let finite = system.init_box.0.iter().chain(&system.init_box.1).all(|end| end.is_finite());
        if !finite {
            return Support::No("the initial states have no bounds: none can be drawn".to_owned());
        }
        Support::Yes
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Falsifying { task: *task, search: None, work: FIRST_WORK }))
    }
}

struct Falsifying<'t> {
    task: Task<'t>,
    /// Made in the first turn: compiling a system takes time.
    search: Option<Search<'t>>,
    /// The work of the next round.
    work: u64,
}

impl<'t> Falsifying<'t> {
    /// One turn; nothing is decided if it says nothing.
    fn rounds(&mut self, budget: &Budget<'_>, watch: &mut Watch<'_>) -> Result<(Option<Found>, u64), Trouble> {
        let search = match &mut self.search {
            Some(search) => search,
            none => none.insert(Search::new(self.task, formula_of(self.task.property)?)?),
        };
        loop {
            let work = self.work.min(budget.subproblems);
            let mut found = None;
            for _ in 0..MOST_ROUNDS {
                let before = search.tally().robustness;
                found = search.round(work, budget, watch)?;
                let Tally { runs, steps, robustness, .. } = search.tally();
                tracing::debug!(runs, steps, robustness, "simulated");
                // What leads somewhere is not put off until the others have had their turns.
                let goes_on = search.is_promising() && robustness < before && !search.has_one_run();
                if found.is_some() || !goes_on || spent(budget).is_some() {
                    break;
                }
            }
            self.work = self.work.saturating_mul(WORK_FACTOR);
            let worth_more =
                work < budget.subproblems && (budget.deadline.is_some() || work < MOST_WORK_WITHOUT_DEADLINE);
            if found.is_some() || !worth_more || search.has_one_run() || spent(budget).is_some() {
                return Ok((found, work));
            }
        }
    }

    fn so_far(&self, budget: &Budget<'_>) -> Outcome {
        let Some(search) = &self.search else {
            return Outcome::new(NAME, Verdict::Unknown(Unknown::at(spent(budget), "the start")));
        };
        let reason = spent(budget).or((!search.has_one_run()).then_some(UnknownReason::Subproblems));
        let tally = search.tally();
        let candidate = search.candidate().cloned().map(Box::new);
        let place = certus_model::counted(tally.runs, "simulated run");
        let unknown = Unknown { candidate, ..Unknown::at(reason, place) };
        let notes = nearest(tally).into_iter().collect();
        Outcome { notes, ..Outcome::new(NAME, Verdict::Unknown(unknown)) }
    }
}

impl Session for Falsifying<'_> {
    #[tracing::instrument(level = "debug", name = "falsify", skip_all)]
    fn advance(&mut self, budget: &Budget<'_>, shared: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        // What has a proof has no violation.
        if shared.proof.is_some() {
            return Ok(Turn::Open { so_far: Box::new(self.so_far(budget)), next: Next::Never });
        }
        let (found, work) = match self.rounds(budget, watch) {
            Ok(found) => found,
            Err(Trouble::Simulation(error)) => return Ok(Turn::Refused(error.to_string())),
            Err(Trouble::Check(error)) => return Err(error),
        };
        if let Some(found) = found {
            return Ok(Turn::Decided(Box::new(decided(found))));
        }
        let next = match &self.search {
            Some(search) if search.has_one_run() => Next::Never,
            // A deadline is no reason to go on for ever: luck is not getting better.
            _ if work < MOST_WORK_WITHOUT_DEADLINE => Next::MoreWork,
            _ => Next::IfOthersDo,
        };
        Ok(Turn::Open { so_far: Box::new(self.so_far(budget)), next })
    }
}

/// The outcome of what was found.
fn decided(found: Found) -> Outcome {
    match found {
        Found::Violated(run) => {
            let notes = of_convergence(&run);
            Outcome { notes, ..Outcome::new(NAME, Verdict::Violated(run)) }
        }
        Found::Error(error) => Outcome::new(NAME, Verdict::ModelError(error)),
    }
}

fn of_convergence(run: &Run) -> Vec<String> {
    run.converges.then(|| certus_check::convergence::OVER_THE_REALS.to_owned()).into_iter().collect()
}

/// How near simulated runs came to a violation, in words.
fn nearest(tally: Tally) -> Option<String> {
    let Tally { runs, longest, robustness, .. } = tally;
    let (runs, longest) = (certus_model::counted(runs, "simulated run"), certus_model::steps(longest));
    robustness
        .is_finite()
        .then(|| format!("the smallest robustness in {runs} of at most {longest} is {}", short(robustness)))
}

/// A number in a few digits.
fn short(value: f64) -> String {
    let digits = format!("{value:.3e}").parse::<f64>().unwrap_or(value);
    if value != 0.0 && value.abs() < 1e-4 { format!("{digits:e}") } else { format!("{digits}") }
}
