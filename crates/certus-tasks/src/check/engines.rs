//! The engines that Certus has, in the order in which they take their turns.
//!
//! This table is all that has to be told of a new engine (CONTRIBUTING.md, "Add an engine"): the command line, the Python package, the
//! portfolio `auto` and the documents read it.

use std::fmt;
use std::str::FromStr;

use certus_check::engines::{Bmc, Convergence, EveryState, Explicit, Induction, exercised};
use certus_check::errors::Errors;
use certus_engine::portfolio::NAME as AUTO;
use certus_engine::{Budget, Engine, Finished, Support, Task, Watch, run_alone, run_portfolio};
use certus_falsify::Falsify;
use certus_grid::{GridEngine, Policy};
use certus_model::{CheckError, Outcome, System, Verdict, formula_of};
use certus_prob::ImdpAbstraction;
use certus_reach::{Reach, Takes};

use super::GridOptions;
use super::grid::grid_options;

/// What engines are made with.
pub(super) struct Context<'e> {
    pub(super) system: &'e System,
    /// The model errors that matter to the property.
    pub(super) errors: &'e Errors<'e>,
    pub(super) grid: &'e GridOptions,
    pub(super) assume_no_model_errors: bool,
    /// Whether the engine works alone, not as a peer of others.
    pub(super) alone: bool,
}

type Make = for<'e> fn(&Context<'e>) -> Result<Box<dyn Engine + 'e>, CheckError>;

/// An engine in the table.
struct Entry {
    name: &'static str,
    /// What it does, for the head of a report; `{steps}` stands for as many steps as it looks at.
    about: &'static str,
    /// Why its verdicts leave no certificate, if they do not.
    no_certificate: Option<&'static str>,
    /// Whether users can choose it by its name.
    by_name: bool,
    make: Make,
}

const ENGINES: [Entry; 10] = [
    Entry {
        name: certus_check::explicit::NAME,
        about: "all states of a finite system",
        no_certificate: Some(
            "a list of all states is no certificate: leave out ⟨certificate⟩, or take ⟨engine=auto⟩, induction or bmc",
        ),
        by_name: true,
        make: |_| Ok(Box::new(Explicit)),
    },
    // What a few simulated runs break needs no query.
    Entry {
        name: certus_falsify::NAME,
        about: "simulated runs, guided by robustness",
        no_certificate: None,
        by_name: true,
        make: |_| Ok(Box::new(Falsify)),
    },
    // One query that often suffices, before anything that takes longer.
    Entry {
        name: certus_check::induction::NAME,
        about: "proofs for all time",
        no_certificate: None,
        by_name: false,
        make: |context| Ok(Box::new(EveryState { errors: context.errors })),
    },
    Entry {
        name: certus_check::convergence::NAME,
        about: "runs that converge to an equilibrium",
        no_certificate: None,
        by_name: true,
        make: |_| Ok(Box::new(Convergence)),
    },
    // Cheap where the property has an end of its own.
    Entry {
        name: certus_reach::NAME,
        about: "reachable sets, from pieces of the initial set",
        no_certificate: None,
        by_name: true,
        make: |context| Ok(Box::new(Reach { takes: if context.alone { Takes::All } else { Takes::Bounded } })),
    },
    Entry {
        name: certus_check::bmc::NAME,
        about: "bounded model checking, at most {steps}",
        no_certificate: None,
        by_name: true,
        make: |context| Ok(Box::new(Bmc { errors: context.errors })),
    },
    Entry {
        name: certus_check::induction::NAME,
        about: "proofs for all time",
        no_certificate: None,
        by_name: true,
        make: |context| Ok(Box::new(Induction { errors: context.errors, every_state: context.alone })),
    },
    // Where it has none, an inductive invariant says more in fewer words.
    Entry {
        name: certus_reach::NAME,
        about: "reachable sets, from pieces of the initial set",
        no_certificate: None,
        by_name: false,
        make: |_| Ok(Box::new(Reach { takes: Takes::Unbounded })),
    },
    Entry {
        name: certus_grid::NAME,
        about: "a grid of cells, for all time",
        no_certificate: Some(
            "proofs on a grid have no certificates: leave out ⟨certificate⟩, or take ⟨engine=auto⟩, induction or bmc",
        ),
        by_name: true,
        make: |context| {
            let mut options = grid_options(context.system, context.grid, context.assume_no_model_errors)?;
            // Peers are about the network itself.
            if !context.alone {
                options.policy = Policy::Network;
            }
            Ok(Box::new(GridEngine { options }))
        },
    },
    Entry {
        name: certus_prob::NAME,
        about: PROBABILITIES,
        no_certificate: None,
        by_name: true,
        make: |_| Ok(Box::new(ImdpAbstraction::default())),
    },
];

/// What is wanted of the engines of a portfolio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A verdict.
    Verdict,
    /// One that leaves a certificate if the property holds.
    Certificate,
    /// The same, where the certificate of a reachability proof could not be written.
    CertificateOfOthers,
}

/// What is done for properties that ask for a probability.
pub const PROBABILITIES: &str = "bounds on probabilities over all initial states";

/// Which engine checks properties: one of the table, or all that can take a property, in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineChoice(&'static str);

impl Default for EngineChoice {
    fn default() -> Self {
        EngineChoice(AUTO)
    }
}

impl EngineChoice {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether all engines that can take a property take turns.
    pub fn is_auto(self) -> bool {
        self.0 == AUTO
    }

    /// Whether it is the engine of this name alone.
    pub fn is(self, name: &str) -> bool {
        self.0 == name
    }

    /// Whether a grid is made.
    pub fn has_grid(self) -> bool {
        self.is_auto() || self.is(certus_grid::NAME)
    }

    /// Why verdicts leave no certificate, if they do not.
    pub(super) fn no_certificate(self) -> Option<&'static str> {
        self.entry().and_then(|entry| entry.no_certificate)
    }

    /// What is done, in words, if so many steps are looked at; nothing for several engines.
    pub fn about(self, steps: usize) -> Option<String> {
        self.entry().map(|entry| entry.about.replace("{steps}", &certus_model::steps(steps)))
    }

    fn entry(self) -> Option<&'static Entry> {
        ENGINES.iter().find(|entry| entry.by_name && entry.name == self.0)
    }

    /// Checks a property.
    pub(super) fn run(
        self,
        task: &Task<'_>,
        context: &Context<'_>,
        wanted: Wanted,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Finished, CheckError> {
        let mut exercise = |outcome: Outcome, watch: &mut Watch<'_>| exercised(outcome, task, budget, watch);
        if let Some(entry) = self.entry() {
            let engine = (entry.make)(context)?;
            if let Support::No(reason) = engine.supports(task.system, task.property) {
                return Err(CheckError::Unsupported(reason + &others(task, context)));
            }
            let Finished { outcome, details } = run_alone(engine.as_ref(), task, budget, watch)?;
            // What a policy that was extracted does is not what the step says.
            let of_network = !self.is(certus_grid::NAME);
            let outcome = match outcome.verdict {
                Verdict::Holds(_) if of_network => exercise(outcome, watch)?,
                _ => outcome,
            };
            return Ok(Finished { outcome, details });
        }
        let exact = context.system.is_exact();
        let peers = ENGINES.iter().filter(|entry| match (wanted, entry.no_certificate) {
            (Wanted::Verdict, _) => true,
            (_, Some(_)) => false,
            // Certificates of the others are about discrete systems.
            (Wanted::Certificate, None) => !exact || entry.name == certus_reach::NAME,
            (Wanted::CertificateOfOthers, None) => !exact && entry.name != certus_reach::NAME,
        });
        let peers: Vec<_> = peers.map(|entry| (entry.make)(context)).collect::<Result<_, _>>()?;
        run_portfolio(&peers, task, budget, watch, &mut exercise)
    }
}

/// The engines that take a property which another one refuses, in words.
fn others(task: &Task<'_>, context: &Context<'_>) -> String {
    let takes = |entry: &&Entry| {
        let engine = (entry.make)(context);
        entry.by_name && engine.is_ok_and(|own| matches!(own.supports(task.system, task.property), Support::Yes))
    };
    let names: Vec<&str> = ENGINES.iter().filter(takes).map(|entry| entry.name).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} takes it"),
        several => format!("; {} take it", several.join(", ")),
    }
}

/// The model errors that matter to a property, where these are not those of the whole system.
pub(super) fn errors_of<'e>(errors: &Errors<'e>, task: &Task<'_>) -> Result<Option<Errors<'e>>, CheckError> {
    match formula_of(task.property) {
        Ok(formula) => errors.of_property(formula),
        // Probabilities count model errors themselves.
        Err(_) => Ok(None),
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineChoice, String> {
        let names =
            || std::iter::once(AUTO).chain(ENGINES.iter().filter(|entry| entry.by_name).map(|entry| entry.name));
        names()
            .find(|&name| name == text)
            .map(EngineChoice)
            .ok_or_else(|| format!("there is no engine '{text}'; there are {}", names().collect::<Vec<_>>().join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_chosen_by_their_names() {
        for name in ["auto", "explicit", "falsify", "convergence", "reach", "bmc", "induction", "grid", "imdp"] {
            assert_eq!(name.parse::<EngineChoice>().unwrap().name(), name);
        }
        assert!("magic".parse::<EngineChoice>().unwrap_err().contains("auto, explicit"));
        assert!(EngineChoice::default().is_auto() && EngineChoice::default().about(3).is_none());
        assert_eq!(EngineChoice("bmc").about(3).unwrap(), "bounded model checking, at most 3 steps");
    }
}
