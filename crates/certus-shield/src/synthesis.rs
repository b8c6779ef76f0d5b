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

/// The box that invariants lie in: what the property allows, and where it allows everything, what a regulator needs.
fn choose_domain(plant: &Plant, seed: u64) -> Vec<Range> {
    let states = plant.states();
    let mut bounds: Vec<(Option<f64>, Option<f64>)> = vec![(None, None); states];
    for (piece, exact) in plant.pieces.iter().zip(&plant.model.unsafe_pieces) {
        let [only] = piece.as_slice() else { continue };
        let slopes = only.slopes();
        let used: Vec<usize> = (0..states).filter(|&i| slopes[i] != 0.0).collect();
        if let ([i], false, 1) = (used.as_slice(), exact.bounds_domain, only.degree()) {
            let at = -only.coefficient(&vec![0; states]) / slopes[*i];
            let side = if slopes[*i] > 0.0 { &mut bounds[*i].1 } else { &mut bounds[*i].0 };
            *side = Some(at);
        }
    }
    // A first guess, so that the regulators have weights.
    let mut guess = plant.clone();
    for i in 0..states {
        let (a, b) = plant.init[i];
        let start = 4.0 * a.abs().max(b.abs());
        let (lower, upper) = plant.domain[i];
        let otherwise = |declared: f64| if start > 0.0 { start.copysign(declared) } else { declared };
        guess.domain[i] = (bounds[i].0.unwrap_or(otherwise(lower)), bounds[i].1.unwrap_or(otherwise(upper)));
    }
    let simulator = Simulator::new(plant);
    let rests = [vec![0.0; states], plant.init.iter().map(|(a, b)| 0.5 * (a + b)).collect()];
    let programs = rests.iter().filter_map(|near| equilibrium(plant, near)).flat_map(|rest| regulators(&guess, &rest));
    let reach = programs.map(|p| simulator.survives(&p, &plant.init, TRIAL_STEPS, seed)).find(|shown| shown.good);
    (0..states)
        .map(|i| {
            let (a, b) = plant.init[i];
            let (lower, upper) = plant.domain[i];
            // A state that hardly moves in a trial may move more later: a thousandth of what was declared is left to it.
            let least = 1e-3 * lower.abs().min(upper.abs()).min(1e3);
            let needed =
                reach.as_ref().map(|shown| (ROOMY * shown.reach[i].max(a.abs()).max(b.abs())).max(least).max(1e-6));
            let wide = needed.map_or(f64::INFINITY, round_up);
            let lower = bounds[i].0.unwrap_or(lower.max(-wide));
            let upper = bounds[i].1.unwrap_or(upper.min(wide));
            Range { lower: rational(lower), upper: rational(upper) }
        })
        .collect()
}

/// A number of two digits that is not smaller.
fn round_up(value: f64) -> f64 {
    let short: f64 = format!("{value:.1e}").parse().unwrap_or(value);
    if short >= value { short } else { format!("{:.1e}", short * 1.05).parse().unwrap_or(value) }
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

    /// A branch whose invariant contains a state and, if one is found, as large a box around it as possible. With the
    /// identity for the whole of the initial states if that is the box and the invariant is a polynomial.
    fn branch(&mut self, point: &[f64], first: bool) -> Option<(Branch, &'static str, Option<Identity>)> {
        let init = self.plant.init.clone();
        let mut share = 1.0;
        let rounds = if init.len() <= MOST_CUT { 14 } else { 1 };
        for round in 0..rounds {
            let region: Vec<(f64, f64)> =
                init.iter()
                    .zip(point)
                    .map(|(&(a, b), x)| {
                        if share >= 1.0 { (a, b) } else { ((x - share * (b - a)).max(a), (x + share * (b - a)).min(b)) }
                    })
                    .collect();
            // Random search pays where fitting alone did not, and is not repeated for every box.
            let programs: Vec<(&'static str, Policy)> = self
                .programs(&region, round == 0 || round == 6)
                .into_iter()
                .filter(|(_, policy)| {
                    Simulator::new(&self.plant).survives(policy, &region, TRIAL_STEPS, self.options.seed).good
                })
                .collect();
            // What is cheap to try is tried with every program first.
            for stage in self.stages() {
                for (origin, policy) in &programs {
                    if self.stopped() {
                        return None;
                    }
                    self.tried += 1;
                    let box_share = 100.0 * share;
                    (self.progress)(format!("attempt {} ({origin}, {stage:?}), box {box_share:.0} %", self.tried));
                    if let Some((branch, identity)) = self.verify(policy, &region, stage) {
                        return Some((branch, origin, identity.filter(|_| first && round == 0)));
                    }
                }
            }
            share *= if round == 0 { 0.45 } else { 0.7 };
        }
        None
    }

    /// Programs worth trying for a box.
    fn programs(&self, region: &[(f64, f64)], search: bool) -> Vec<(&'static str, Policy)> {
        let mut all = Vec::new();
        let fit = fitted(&self.sketch, &self.points, &self.actions);
        all.extend(fit.clone().map(|policy| ("fitted to the network", readable(&policy))));
        if search {
            let zero: Policy = vec![Poly::zero(self.plant.states()); self.plant.actions()];
            let start = fit.unwrap_or(zero);
            let search = Search {
                rounds: 60,
                directions: 4,
                steps: 160,
                seed: self.options.seed,
                threads: self.options.threads.max(1),
            };
            let good = Simulator::new(&self.plant).survives(&start, region, TRIAL_STEPS, self.options.seed).good;
            if !good {
                (self.progress)("random search".to_owned());
                let found = random_search(&self.plant, &self.network, &self.sketch, &start, region, search, self.stop);
                all.push(("random search", readable(&found)));
            }
        }
        let middle: Vec<f64> = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
        let mut rests: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for near in [vec![0.0; middle.len()], middle] {
            rests.extend(equilibrium(&self.plant, &near).filter(|rest| !rests.contains(rest)));
        }
        for rest in &rests {
            all.extend(regulators(&self.plant, rest).into_iter().map(|p| ("regulator", readable(&p))));
        }
        all
    }

    /// What is tried for every program, in this order.
    fn stages(&self) -> Vec<Stage> {
        let form = self.options.form;
        // The effort grows with the fourth power of the number of variables and more: asked for, it is made.
        let small = self.plant.states() + self.plant.choices.len() <= MOST_CUT;
        let mut stages = Vec::new();
        if form != Form::Polynomial && self.plant.is_linear() {
            stages.push(Stage::Polyhedron(FEW_HALFSPACES));
        }
        if form != Form::Polyhedron {
            stages.push(Stage::Polynomial(self.options.degree.unwrap_or(2)));
        }
        if form != Form::Polynomial && self.plant.is_linear() && self.plant.states() <= 2 * MOST_CUT {
            stages.push(Stage::Polyhedron(MANY_HALFSPACES));
        }
        if form != Form::Polyhedron && self.options.degree.is_none() && small {
            stages.push(Stage::Polynomial(4));
        }
        stages
    }

    /// An invariant for a program that contains a box, accepted by the audit.
    fn verify(&self, policy: &Policy, region: &[(f64, f64)], stage: Stage) -> Option<(Branch, Option<Identity>)> {
        let degree = match stage {
            Stage::Polyhedron(most) => return self.polyhedron(policy, region, most).map(|branch| (branch, None)),
            Stage::Polynomial(degree) => degree,
        };
        for contraction in self.contractions(policy) {
            if self.stopped() {
                return None;
            }
            let found = self.barrier(policy, region, Kind { degree, contraction, inside: 1e-5 });
            if let Some(found) = found
                && self.accepted(&found.branch, Some(&found.start), region)
            {
                return Some((found.branch, Some(found.start)));
            }
        }
        None
    }

    /// A polynomial invariant; for many states, an ellipsoid first and its proof then.
    fn barrier(&self, policy: &Policy, region: &[(f64, f64)], kind: Kind) -> Option<Found> {
        let deadline = self.options.deadline;
        if self.plant.states() > MOST_CUT && kind.degree == 2 {
            let barrier = ellipsoid::search(&self.plant, policy, region, kind.contraction, deadline)?;
            // The proof may use a little more than the ellipsoid was made with.
            let slack = kind.contraction + 0.2 * (1.0 - kind.contraction);
            let kind = Kind { contraction: short_power(slack), inside: 1e-9, ..kind };
            return barrier::certify(&self.plant, policy, region, kind, &barrier, deadline);
        }
        barrier::search(&self.plant, policy, region, kind, deadline)
    }

    fn polyhedron(&self, policy: &Policy, region: &[(f64, f64)], most: usize) -> Option<Branch> {
        for strict_from in [1, 2] {
            let options = polyhedron::Options { strictness: 1e-6, strict_from, most };
            let branch = polyhedron::search(&self.plant, policy, options, self.options.deadline);
            if let Some(branch) = branch
                && self.accepted(&branch, None, region)
            {
                return Some(branch);
            }
        }
        None
    }

    /// Numbers λ worth trying: between what the linearisation contracts by, and one.
    fn contractions(&self, policy: &Policy) -> Vec<f64> {
        let states = self.plant.states();
        let rest = vec![0.0; states];
        let actions: Vec<f64> = policy.iter().map(|p| p.value(&rest)).collect();
        let (a, b) = self.plant.linearised(&rest, &actions);
        let closed: Vec<Vec<f64>> = (0..states)
            .map(|i| {
                (0..states)
                    .map(|j| {
                        let through: f64 = b[i].iter().zip(policy).map(|(b, p)| b * p.derivative(j).value(&rest)).sum();
                        a[i][j] + through
                    })
                    .collect()
            })
            .collect();
        let radius = spectral_radius(&closed).powi(2).min(0.99999);
        [0.5, 0.9, 0.2].iter().map(|share| short_power(radius + (1.0 - radius) * share)).collect()
    }

    /// Whether the audit accepts a branch for a box.
    fn accepted(&self, branch: &Branch, identity: Option<&Identity>, region: &[(f64, f64)]) -> bool {
        let mut model = self.plant.model.clone();
        let exact = region.iter().map(|&(a, b)| Some((rational(a)?, rational(b)?))).collect::<Option<Vec<_>>>();
        let Some(exact) = exact else { return false };
        model.init = exact;
        let cover = Cover::Inside { branch: 0, identity: identity.cloned() };
        let shield = Shield {
            path: String::new(),
            digest: String::new(),
            property: String::new(),
            settings: Vec::new(),
            domain: self.domain.clone(),
            branches: vec![branch.clone()],
            cover,
        };
        check(&model, &shield, &mut || {}).is_ok()
    }
}

/// A number of at most 24 binary digits after the point: it enters products of exact numbers.
fn short_power(value: f64) -> f64 {
    (value * 16_777_216.0).round() / 16_777_216.0
}

/// The polynomial of an action, for readers: terms from the highest to the constant.
pub fn shown(terms: &[(f64, Monomial)], states: &[String]) -> String {
    let mut ordered: Vec<&(f64, Monomial)> = terms.iter().collect();
    ordered.sort_by(|(_, a), (_, b)| {
        let total = |m: &Monomial| m.iter().map(|&e| u32::from(e)).sum::<u32>();
        total(b).cmp(&total(a)).then(b.cmp(a))
    });
    let mut text = String::new();
    for (coefficient, monomial) in ordered {
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let factors: Vec<String> = monomial
            .iter()
            .zip(states)
            .filter(|(e, _)| **e > 0)
            .map(|(&e, name)| if e == 1 { name.clone() } else { format!("{name}^{e}") })
            .collect();
        let size = coefficient.abs();
        text += sign;
        text += &match factors.is_empty() {
            true => format!("{size}"),
            false if size == 1.0 => factors.join(" * "),
            false => format!("{size} * {}", factors.join(" * ")),
        };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The whole program, for readers.
pub fn program_text(shield: &Shield, states: &[String], policy: &str) -> String {
    let mut text = String::new();
    for (index, branch) in shield.branches.iter().enumerate() {
        let condition = match &branch.invariant {
            Invariant::Polynomial(proof) => format!("{} <= 0", shown(&proof.barrier, states)),
            Invariant::Polyhedron(polyhedron) => {
                let rows = polyhedron.halfspaces.iter().map(|h| {
                    let terms: Vec<(f64, Monomial)> = h
                        .normal
                        .iter()
                        .enumerate()
                        .filter(|(_, x)| **x != 0.0)
                        .map(|(i, &x)| {
                            let mut monomial = vec![0; states.len()];
                            monomial[i] = 1;
                            (x, monomial)
                        })
                        .collect();
                    format!("{} <= {}", shown(&terms, states), h.bound)
                });
                rows.collect::<Vec<_>>().join("\n    & ")
            }
        };
        text += &format!("{} {condition}:\n", if index == 0 { "if" } else { "else if" });
        for (action, terms) in branch.program.iter().enumerate() {
            let name = if branch.program.len() == 1 { policy.to_owned() } else { format!("{policy}[{action}]") };
            text += &format!("    {name} = {}\n", shown(terms, states));
        }
    }
    text + "else:\n    fallback\n"
}
