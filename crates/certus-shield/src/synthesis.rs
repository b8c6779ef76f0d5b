//! Counterexample-guided inductive synthesis (CEGIS) of a shield.
//!
//! CEGIS: A. Solar-Lezama, L. Tancau, R. Bodík, S. Seshia and V. Saraswat, 'Combinatorial sketching for finite programs', ASPLOS 2006. For
//! shields: H. Zhu, Z. Xiong, S. Magill and S. Jagannathan, 'An inductive synthesis framework for verifiable reinforcement learning', PLDI
//! 2019, whose Algorithm 2 this is.
//!
//! *Idea.* While some initial state is in no invariant (the counterexample, `coverage.rs`): synthesise a program that keeps a box around it
//! safe, from candidates fitted to the network, improved by random search, or made by an LQR (`program_synthesis.rs`); for each, find an
//! invariant, as a polyhedron or as a polynomial (`branch_synthesis.rs`); if there is none, shrink the box.
//!
//! *Soundness.* A branch counts only when `certus-audit` has accepted it in exact arithmetic, and so does the whole shield.
//!
//! *Departures.* Polyhedral invariants beside barrier certificates; several domains; a draft is improved until it interferes little
//! (`minimal_interference.rs`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_audit::shield::{
    Accepted, Branch, Convergence, Cover, Monomial, Range, Shield, check, rational, read_model,
};
use certus_graph::Graph;
use certus_lang::system::{Property, System};

use crate::branch_synthesis::Proved;
use crate::coverage::{Coverage, Set, cover};
use crate::domain::choose_domain;
use crate::network::Network;
use crate::plant::{Plant, Policy};
use crate::polynomial::{degree, monomials};
use crate::rollout::Simulator;
use crate::work_count::spent;

/// Which kind of invariant is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Small polyhedra, then polynomials, then large polyhedra.
    #[default]
    Auto,
    /// Polynomials.
    Polynomial,
    /// Polyhedra.
    Polyhedron,
}

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kind of invariant.
    pub form: Form,
    /// The highest degree of a polynomial invariant, of which half is tried where it is too much; 2, then 4, if not given.
    pub degree: Option<usize>,
    /// The degree of the program; affine if not given.
    pub sketch_degree: Option<usize>,
    /// The monomials of the program (exponents of the states), in place of all up to a degree.
    pub sketch: Vec<Monomial>,
    /// The box that programs have to lead to, and stay in: states by name with their ranges. None if empty.
    pub target: Vec<(String, f64, f64)>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// How many threads.
    pub threads: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// A shield without its place in files, with what the audit said of it.
#[derive(Clone, Debug)]
pub struct Synthesised {
    /// The branches and the cover; path and digest are the caller's.
    pub shield: Shield,
    /// What the audit said.
    pub accepted: Accepted,
    /// Where each branch's program came from.
    pub origins: Vec<&'static str>,
    /// The names of the states.
    pub states: Vec<String>,
    /// Whether the deadline ended the search for a shield that interferes less.
    pub cut_short: bool,
}

/// Why there is no shield.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// The system or the property is of a kind that shields are not made for.
    Unsupported(String),
    /// Nothing was found: what was tried, and the initial state that stayed uncovered.
    NotFound {
        /// Branches that were proved.
        branches: usize,
        /// Candidates that were tried.
        tried: usize,
        /// An initial state that is in no invariant.
        uncovered: Vec<f64>,
    },
    /// The deadline passed, or the caller stopped the search.
    Stopped {
        /// Branches that were proved.
        branches: usize,
        /// Candidates that were tried.
        tried: usize,
    },
}

/// Most branches of a program.
const MOST_BRANCHES: usize = 16;

/// Runs of the network that show where it goes, their steps, and the states that are taken from them.
const LONG_RUNS: usize = 12;
const LONG_STEPS: usize = 4000;
const FOCUS: usize = 400;

/// So much is spent on the improvement of a draft, or twice what the draft took, in the unit of effort: some ten seconds of two threads.
const IMPROVEMENT: u64 = 20_000_000_000;

/// Part of the steps of troubled runs that a shield should not decide.
const TOO_MUCH: f64 = 0.2;

/// Most states for which boxes are split to be covered.
pub const MOST_SPLIT: usize = 6;

/// What a synthesis needs to know.
pub struct Work<'w> {
    /// The system.
    pub plant: Plant,
    /// The same with a linear step, where that has an enclosure.
    pub linear: Option<Plant>,
    /// The network.
    pub network: &'w Network,
    /// What is wanted.
    pub options: &'w Options,
    /// Set by the caller to stop.
    pub stop: &'w AtomicBool,
    /// Told what is being done.
    pub progress: &'w (dyn Fn(String) + Sync),
    /// The monomials of the program.
    pub sketch: Vec<Monomial>,
    /// States that the network visits.
    pub points: Vec<Vec<f64>>,
    /// What it does there.
    pub actions: Vec<Vec<f64>>,
    /// States that the network visits in the long run: where an invariant should be large.
    pub focus: Vec<Vec<f64>>,
    /// The box that programs have to lead to.
    pub target: Option<Vec<Range>>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// What may still be spent.
    pub left: u64,
    /// How many candidates were tried.
    pub tried: usize,
}

/// Branches that cover the initial states.
pub struct Draft {
    /// The branches.
    pub branches: Vec<Proved>,
    /// How they cover.
    pub cover: Cover,
}

/// Synthesises a shield for an open system and its network.
#[tracing::instrument(level = "debug", name = "shield synthesis", skip_all)]
pub fn synthesise(
    system: &System,
    property: &Property,
    network: &Graph,
    options: &Options,
    stop: &AtomicBool,
    progress: &(dyn Fn(String) + Sync),
) -> Result<Synthesised, Failed> {
    let unsupported = |error: &dyn std::fmt::Display| Failed::Unsupported(error.to_string());
    let first = Plant::new(read_model(system, property, &[]).map_err(|e| unsupported(&e))?);
    let network = Network::new(system, network, &first.limits).map_err(|e| unsupported(&e))?;
    let target = target(&first.model.states, &options.target).map_err(Failed::Unsupported)?;
    progress("simulating the network".to_owned());
    let (long, _) = match first.states() <= MOST_SPLIT {
        true => Simulator::new(&first).visited(&network, LONG_RUNS, LONG_STEPS, options.seed),
        false => Default::default(),
    };
    // A domain with room for what the network does lets the shield interfere less, but asks for more.
    let mut domains = vec![choose_domain(&first, None, options.seed)];
    if !long.is_empty() {
        let wide = choose_domain(&first, Some(&long), options.seed);
        if wide != domains[0] {
            domains.insert(0, wide);
        }
    }
    let mut best: Option<(Synthesised, f64)> = None;
    let mut outcome = Failed::Stopped { branches: 0, tried: 0 };
    // Whether the deadline kept another domain from being compared.
    let mut late = false;
    for (index, domain) in domains.iter().enumerate() {
        let plant = Plant::new(read_model(system, property, domain).map_err(|e| unsupported(&e))?);
        let sketch = sketch(&plant, options).map_err(Failed::Unsupported)?;
        let (points, actions) = Simulator::new(&plant).visited(&network, 64, 150, options.seed);
        let linear = plant.model.linear_enclosure().map(Plant::new);
        let inside = |x: &&Vec<f64>| x.iter().zip(&plant.domain).all(|(x, (a, b))| a <= x && x <= b);
        let focus = long.iter().step_by(long.len().div_ceil(FOCUS).max(1)).filter(inside).cloned().collect();
        let (network, target) = (&network, target.clone());
        let deadline = options.deadline;
        let before = spent();
        let mut work = Work {
            plant,
            linear,
            network,
            options,
            stop,
            progress,
            sketch,
            points,
            actions,
            focus,
            target,
            deadline,
            left: u64::MAX,
            tried: 0,
        };
        let quick = index + 1 < domains.len();
        let found = work.draft(quick).and_then(|draft| {
            work.left = IMPROVEMENT.max(2 * (spent() - before));
            work.deadline = deadline.map(improvement_ends);
            work.finished(draft, property)
        });
        match (found, &best) {
            // Another domain may do better where the network is hardly ever left alone.
            (Ok(made), _) if quick && made.1 > TOO_MUCH => best = Some(made),
            (Ok(made), Some(other)) if other.1 <= made.1 => {
                late |= made.0.cut_short;
                break;
            }
            (Ok(made), _) => {
                best = Some(made);
                break;
            }
            (Err(failed), _) => {
                late |= matches!(failed, Failed::Stopped { .. });
                outcome = failed;
            }
        }
    }
    let made = best.map(|(made, _)| made).ok_or(outcome)?;
    Ok(Synthesised { cut_short: made.cut_short || late, ..made })
}

/// When a draft is no longer improved: half of the time is kept back, so that what is proved is not lost to a deadline.
fn improvement_ends(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 2
}

/// The box that programs have to lead to, if there is one.
fn target(states: &[String], wanted: &[(String, f64, f64)]) -> Result<Option<Vec<Range>>, String> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut ranges = vec![Range { lower: None, upper: None }; states.len()];
    for (name, lower, upper) in wanted {
        let Some(place) = states.iter().position(|state| state == name) else {
            return Err(format!("no state is called '{name}'; the states are {}", states.join(", ")));
        };
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return Err(format!("the range of '{name}' to converge to is empty"));
        }
        ranges[place] = Range { lower: rational(*lower), upper: rational(*upper) };
    }
    Ok(Some(ranges))
}

/// The monomials of the program.
fn sketch(plant: &Plant, options: &Options) -> Result<Vec<Monomial>, String> {
    let states = plant.states();
    if !options.sketch.is_empty() {
        if options.sketch.iter().any(|m| m.len() != states) {
            return Err(format!("a monomial of the sketch does not have {states} exponents"));
        }
        return Ok(options.sketch.clone());
    }
    let all: Vec<usize> = (0..states).collect();
    let rests = plant.next.iter().all(|f| f.coefficient(&vec![0; f.variables()]) == 0.0);
    let centred = plant.init.iter().all(|&(a, b)| a == -b);
    // Without a constant the program rests where the system does, and symmetry is kept.
    let skip = usize::from(rests && centred);
    Ok(monomials(states, &all, options.sketch_degree.unwrap_or(1)).into_iter().skip(skip).collect())
}

impl Work<'_> {
    /// Whether it is time to stop.
    pub fn stopped(&self) -> bool {
        self.left == 0 || self.interrupted()
    }

    /// Whether the deadline passed, or the caller stopped the search.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether a program is of the kind that was asked for.
    pub fn keeps_sketch(&self, policy: &Policy) -> bool {
        policy.iter().all(|action| action.terms().all(|(monomial, factor)| factor == 0.0 || self.in_sketch(monomial)))
    }

    /// Whether a program may use a monomial: one of those that were named, or one of at most the degree that was.
    fn in_sketch(&self, monomial: &Monomial) -> bool {
        match self.options.sketch.as_slice() {
            [] => degree(monomial) <= self.options.sketch_degree.unwrap_or(1),
            named => named.contains(monomial),
        }
    }

    /// What is wrong with a draft whose programs are not all of the kind that was asked for.
    fn foreign_monomial(&self, draft: &Draft) -> Option<String> {
        let programs = draft.branches.iter().flat_map(|proved| &proved.branch.program);
        let mut terms = programs.flatten().filter(|(factor, _)| *factor != 0.0);
        let (_, foreign) = terms.find(|(_, monomial)| !self.in_sketch(monomial))?;
        Some(format!(
            "the synthesis found a program with the exponents {foreign:?}, which the sketch does not allow; please report it"
        ))
    }

    /// Branches that cover the initial states; if it has to be quick, one or none.
    fn draft(&mut self, quick: bool) -> Result<Draft, Failed> {
        let init = self.plant.init.clone();
        let mut branches: Vec<Proved> = Vec::new();
        let mut covering = None;
        // Around the first state the box is the whole of the initial states.
        let mut point: Vec<f64> = init.iter().map(|(a, b)| 0.5 * (a + b)).collect();
        while branches.len() < if quick { 1 } else { MOST_BRANCHES } {
            let Some((proved, whole)) = self.branch(&point, quick) else { break };
            let identity = proved.start.clone().filter(|_| whole && branches.is_empty());
            branches.push(proved);
            if identity.is_some() {
                covering = Some(Cover::Inside { branch: 0, identity });
                break;
            }
            let sets: Vec<Set> = branches.iter().map(|proved| Set::of(&proved.branch, init.len())).collect();
            (self.progress)(format!("{} branches; checking coverage of the initial states", branches.len()));
            match cover(&sets, &init, if init.len() <= MOST_SPLIT { 4000 } else { 0 }) {
                Coverage::Complete(cover) => {
                    covering = Some(cover);
                    break;
                }
                Coverage::Counterexample(next) => point = next,
                Coverage::Unknown => break,
            }
        }
        match covering {
            Some(cover) => Ok(Draft { branches, cover }),
            None if self.stopped() => Err(Failed::Stopped { branches: branches.len(), tried: self.tried }),
            None => Err(Failed::NotFound { branches: branches.len(), tried: self.tried, uncovered: point }),
        }
    }

    /// The draft, made to interfere less, and accepted by the audit; and how much it still interferes.
    fn finished(&mut self, mut draft: Draft, property: &Property) -> Result<(Synthesised, f64), Failed> {
        let (release, interference) = self.improve(&mut draft);
        let cut_short = self.interrupted();
        if let Some(foreign) = self.foreign_monomial(&draft) {
            return Err(Failed::Unsupported(foreign));
        }
        let branches: Vec<Branch> = draft.branches.iter().map(|proved| proved.branch.clone()).collect();
        let origins: Vec<&'static str> = draft.branches.iter().map(|proved| proved.origin).collect();
        let proofs: Option<Vec<_>> = draft.branches.into_iter().map(|proved| proved.decrease).collect();
        let convergence = self.target.clone().zip(proofs).map(|(target, proofs)| Convergence { target, proofs });
        let shield =
            Shield { property: property.name.clone(), release, convergence, ..self.shield(branches, draft.cover) };
        match check(&self.plant.model, &shield, &mut || {}) {
            Ok(accepted) => {
                let states = self.plant.model.states.clone();
                Ok((Synthesised { shield, accepted, origins, states, cut_short }, interference))
            }
            Err(_) => {
                let uncovered = self.plant.init.iter().map(|(a, b)| 0.5 * (a + b)).collect();
                Err(Failed::NotFound { branches: origins.len(), tried: self.tried, uncovered })
            }
        }
    }

    /// A shield without its place in files.
    pub fn shield(&self, branches: Vec<Branch>, cover: Cover) -> Shield {
        Shield {
            path: String::new(),
            digest: String::new(),
            property: String::new(),
            settings: Vec::new(),
            domain: self.plant.model.domain.clone(),
            branches,
            cover,
            release: 0.0,
            convergence: None,
        }
    }
}
