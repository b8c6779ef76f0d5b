//! Counterexample-guided synthesis of a shield.
//!
//! While some initial state is in no invariant: a program is sought that keeps a box around it safe, from candidates
//! fitted to the network, improved by random search, or made by a regulator; for each an invariant is sought, as a
//! polyhedron or as a polynomial; if none is found the box shrinks (Algorithm 2 of the paper). A branch counts when
//! `certus-audit` has accepted it in exact arithmetic.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_audit::shield::{
    Accepted, Branch, Cover, Identity, Invariant, Monomial, Range, Shield, check, rational, read_model,
};
use certus_graph::Graph;
use certus_lang::system::{Property, System};

use crate::barrier::{self, Found, Kind};
use crate::candidates::{Search, equilibrium, fitted, random_search, regulators};
use crate::cover::{Covered, Set, cover};
use crate::ellipsoid;
use crate::linear::spectral_radius;
use crate::network::Network;
use crate::plant::{Plant, Policy, readable};
use crate::polyhedron;
use crate::polynomial::{Poly, monomials};
use crate::rollout::Simulator;

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
    /// The degree of a polynomial invariant; 2, then 4, if not given.
    pub degree: Option<usize>,
    /// The degree of the program; affine if not given.
    pub sketch_degree: Option<usize>,
    /// The monomials of the program (exponents of the states), in place of all up to a degree.
    pub sketch: Vec<Monomial>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// How many threads.
    pub threads: usize,
    /// Names the random numbers.
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
    /// The time was over, or somebody asked to stop.
    Stopped {
        /// Branches that were proved.
        branches: usize,
        /// Candidates that were tried.
        tried: usize,
    },
}

/// Most branches of a program.
const MOST_BRANCHES: usize = 16;

/// Half-spaces of a polyhedron that is tried before polynomials, and after them.
const FEW_HALFSPACES: usize = 64;
const MANY_HALFSPACES: usize = 1500;

/// Most states for which boxes are cut to be covered.
const MOST_CUT: usize = 6;

/// How much farther than a regulator needs the domain reaches where the property leaves it open.
const ROOMY: f64 = 3.0;

/// Steps that a candidate must survive in simulation before a proof is tried.
const TRIAL_STEPS: usize = 1000;

/// A way to look for an invariant.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// A polyhedron of so many half-spaces at most.
    Polyhedron(usize),
    /// A polynomial of this degree.
    Polynomial(usize),
}

/// What a synthesis needs to know.
struct Work<'w> {
    plant: Plant,
    network: Network,
    options: &'w Options,
    stop: &'w AtomicBool,
    progress: &'w (dyn Fn(String) + Sync),
    sketch: Vec<Monomial>,
    points: Vec<Vec<f64>>,
    actions: Vec<Vec<f64>>,
    domain: Vec<Range>,
    tried: usize,
}

/// Synthesises a shield for an open system and its network.
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
    let domain = choose_domain(&first, options.seed);
    let plant = Plant::new(read_model(system, property, &domain).map_err(|e| unsupported(&e))?);
    let network = Network::new(system, network, &plant.limits).map_err(|e| unsupported(&e))?;
    let sketch = sketch(&plant, options).map_err(Failed::Unsupported)?;
    progress("watching the network".to_owned());
    let (points, actions) = Simulator::new(&plant).visited(&network, 64, 150, options.seed);
    let mut work = Work { plant, network, options, stop, progress, sketch, points, actions, domain, tried: 0 };
    work.run(property)
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
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn run(&mut self, property: &Property) -> Result<Synthesised, Failed> {
        let init = self.plant.init.clone();
        let mut branches: Vec<Branch> = Vec::new();
        let mut origins = Vec::new();
        let mut whole: Option<Identity> = None;
        let mut covering = None;
        // Around the first state the box is the whole of the initial states.
        let mut point: Vec<f64> = init.iter().map(|(a, b)| 0.5 * (a + b)).collect();
        while branches.len() < MOST_BRANCHES {
            let found = self.branch(&point, branches.is_empty());
            let Some((branch, origin, identity)) = found else { break };
            branches.push(branch);
            origins.push(origin);
            if branches.len() == 1 && identity.is_some() {
                whole = identity;
                break;
            }
            let sets: Vec<Set> = branches.iter().map(|branch| Set::of(branch, init.len())).collect();
            (self.progress)(format!("{} branches; covering the initial states", branches.len()));
            match cover(&sets, &init, if init.len() <= MOST_CUT { 4000 } else { 0 }) {
                Covered::Yes(cover) => {
                    covering = Some(cover);
                    break;
                }
                Covered::No(next) => point = next,
                Covered::Unknown => break,
            }
        }
        let cover = match (covering, whole) {
            (Some(cover), _) => cover,
            (None, Some(identity)) => Cover::Inside { branch: 0, identity: Some(identity) },
            (None, None) if self.stopped() => {
                return Err(Failed::Stopped { branches: branches.len(), tried: self.tried });
            }
            (None, None) => {
                return Err(Failed::NotFound { branches: branches.len(), tried: self.tried, uncovered: point });
            }
        };
        let shield = self.shield(property, branches, cover);
        match check(&self.plant.model, &shield, &mut || {}) {
            Ok(accepted) => Ok(Synthesised { shield, accepted, origins, states: self.plant.model.states.clone() }),
            Err(_) => Err(Failed::NotFound { branches: origins.len(), tried: self.tried, uncovered: point }),
        }
    }

    fn shield(&self, property: &Property, branches: Vec<Branch>, cover: Cover) -> Shield {
        Shield {
            path: String::new(),
            digest: String::new(),
            property: property.name.clone(),
            settings: Vec::new(),
            domain: self.domain.clone(),
            branches,
            cover,
        }
    }
}
