//! One branch of a shield: candidate programs for a box of states, and an invariant for one of them.
//!
//! The inner loop of CEGIS (`synthesis.rs`): propose programs, drop those under which simulated runs become unsafe, and try to prove the
//! others in stages, cheap ones first: polyhedra, then barrier certificates of growing degree. The box shrinks until something is proved.

use certus_audit::shield::{
    Branch, Convergence, Cover, DecreaseProof, Model, PutinarCertificate, Shield, check, rational,
};

use crate::barrier::{self, Found, Kind};
use crate::convergence;
use crate::ellipsoid;
use crate::linear_algebra::spectral_radius;
use crate::plant::{Policy, readable, short_power};
use crate::polyhedron::{self, Begin};
use crate::polynomial::Poly;
use crate::program_synthesis::{Search, equilibrium, fitted, random_search, regulators};
use crate::rollout::{Simulator, TRIAL_STEPS};
use crate::synthesis::{Form, MOST_SPLIT, Work};

/// Half-spaces of a polyhedron that is tried before polynomials, and after them.
pub const FEW_HALFSPACES: usize = 64;
pub const MANY_HALFSPACES: usize = 1500;

/// A way to look for an invariant.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// A polyhedron of so many half-spaces at most.
    Polyhedron(usize),
    /// A polyhedron of half-spaces over the modes of the loop.
    Modes,
    /// A polynomial of this degree.
    Polynomial(usize),
}

/// A program with where it came from.
pub type Origin = (&'static str, Policy);

/// A branch that was proved.
#[derive(Clone, Debug)]
pub struct Proved {
    /// The branch.
    pub branch: Branch,
    /// Where its program came from.
    pub origin: &'static str,
    /// That the box that was asked for is inside, where a bound does not show it.
    pub start: Option<PutinarCertificate>,
    /// That its program leads to the target, if there is one.
    pub decrease: Option<DecreaseProof>,
}

impl Work<'_> {
    /// A branch whose invariant contains a state and, if one is found, as large a box around it as possible; and whether
    /// that box is all of the initial states.
    #[tracing::instrument(level = "debug", name = "branch", skip_all)]
    pub fn branch(&mut self, point: &[f64], quick: bool) -> Option<(Proved, bool)> {
        let init = self.plant.init.clone();
        let mut share = 1.0;
        let rounds = if init.len() <= MOST_SPLIT && !quick { 14 } else { 1 };
        for round in 0..rounds {
            let region: Vec<(f64, f64)> =
                init.iter()
                    .zip(point)
                    .map(|(&(a, b), x)| {
                        if share >= 1.0 { (a, b) } else { ((x - share * (b - a)).max(a), (x + share * (b - a)).min(b)) }
                    })
                    .collect();
            // Random search pays where fitting alone did not, and is not repeated for every box.
            let programs = self.surviving(self.programs(&region, round == 0 || round == 6), &region);
            // What is cheap to try is tried with every program first.
            for stage in self.stages(quick) {
                for (origin, policy) in &programs {
                    if self.stopped() {
                        return None;
                    }
                    self.tried += 1;
                    tracing::trace!(target: "certus::count", candidate_programs = 1_u64);
                    let box_share = 100.0 * share;
                    (self.progress)(format!("attempt {} ({origin}, {stage:?}), box {box_share:.0} %", self.tried));
                    if let Some(proved) = self.verify(origin, policy, &region, stage, &self.focus) {
                        return Some((proved, round == 0));
                    }
                }
            }
            share *= if round == 0 { 0.45 } else { 0.7 };
        }
        None
    }

    /// The programs under which simulated runs from a box stay safe.
    pub fn surviving(&self, programs: Vec<Origin>, region: &[(f64, f64)]) -> Vec<Origin> {
        let simulator = Simulator::new(&self.plant);
        let good = |policy: &Policy| simulator.survives(policy, region, TRIAL_STEPS, self.options.seed).good;
        programs.into_iter().filter(|(_, policy)| good(policy)).collect()
    }

    /// Programs worth trying for a box.
    pub fn programs(&self, region: &[(f64, f64)], search: bool) -> Vec<Origin> {
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
                let found = random_search(&self.plant, self.network, &self.sketch, &start, region, search, self.stop);
                all.push(("random search", readable(&found)));
            }
        }
        let middle: Vec<f64> = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
        all.extend(self.regulators(&[vec![0.0; middle.len()], middle]));
        debug_assert!(all.iter().all(|(_, policy)| self.keeps_sketch(policy)));
        all
    }

    /// Regulators around the equilibria near some states, as far as they are programs of the kind that was asked for.
    pub fn regulators(&self, near: &[Vec<f64>]) -> Vec<Origin> {
        let mut rests: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for near in near {
            rests.extend(equilibrium(&self.plant, near).filter(|rest| !rests.contains(rest)));
        }
        let own = |rest| regulators(&self.plant, rest).into_iter().map(|p| ("regulator", readable(&p)));
        rests.iter().flat_map(own).filter(|(_, policy)| self.keeps_sketch(policy)).collect()
    }

    /// What is tried for every program, in this order.
    pub fn stages(&self, quick: bool) -> Vec<Stage> {
        let form = self.options.form;
        // The effort grows with the fourth power of the number of variables and more: asked for, it is made.
        let small = self.plant.states() + self.plant.choices.len() <= MOST_SPLIT;
        let mut stages = Vec::new();
        if form != Form::Polynomial && self.linear.is_some() {
            stages.push(Stage::Polyhedron(FEW_HALFSPACES));
            stages.push(Stage::Modes);
        }
        if form != Form::Polyhedron {
            // What is too large for its degree, or not found with it, may be found with half of it.
            let halves = std::iter::successors(self.options.degree, |&own| (own > 2).then_some(own / 4 * 2));
            stages.extend(halves.map(Stage::Polynomial));
            if self.options.degree.is_none() {
                stages.push(Stage::Polynomial(2));
            }
        }
        if form != Form::Polynomial && self.linear.is_some() && self.plant.states() <= 2 * MOST_SPLIT {
            stages.push(Stage::Polyhedron(MANY_HALFSPACES));
        }
        if form != Form::Polyhedron && self.options.degree.is_none() && small && !quick {
            stages.push(Stage::Polynomial(4));
        }
        stages
    }

    /// An invariant for a program that contains a box, accepted by the audit, and large where a
    /// focus is; with the proof of convergence if there is a target.
    pub fn verify(
        &self,
        origin: &'static str,
        policy: &Policy,
        region: &[(f64, f64)],
        stage: Stage,
        focus: &[Vec<f64>],
    ) -> Option<Proved> {
        let (branch, start) = match stage {
            Stage::Polyhedron(most) => (self.polyhedron(policy, region, most)?, None),
            Stage::Modes => (self.polyhedron_of(policy, region, 1, MANY_HALFSPACES, Begin::Modes)?, None),
            Stage::Polynomial(degree) => self.polynomial(policy, region, degree, focus)?,
        };
        let decrease = match &self.target {
            Some(target) => {
                let accepted = |branch: &Branch, claimed: &Convergence| {
                    let shield = Shield {
                        convergence: Some(claimed.clone()),
                        ..self.shield(vec![branch.clone()], Cover::Inside { branch: 0, identity: start.clone() })
                    };
                    self.accepts(&shield, region)
                };
                let deadline = self.deadline;
                let found =
                    convergence::search(&self.plant, std::slice::from_ref(&branch), target, &accepted, deadline)?;
                Some(found.proofs.into_iter().next()?)
            }
            None => None,
        };
        Some(Proved { branch, origin, start, decrease })
    }

    fn polynomial(
        &self,
        policy: &Policy,
        region: &[(f64, f64)],
        degree: usize,
        focus: &[Vec<f64>],
    ) -> Option<(Branch, Option<PutinarCertificate>)> {
        for contraction in self.contractions(policy) {
            if self.stopped() {
                return None;
            }
            let found = self.barrier(policy, region, Kind { degree, contraction, inside: 1e-5 }, focus);
            if let Some(found) = found
                && self.accepted(&found.branch, Some(&found.start), region)
            {
                return Some((found.branch, Some(found.start)));
            }
        }
        None
    }

    /// A polynomial invariant; for many states, an ellipsoid first and its proof then.
    fn barrier(&self, policy: &Policy, region: &[(f64, f64)], kind: Kind, focus: &[Vec<f64>]) -> Option<Found> {
        let deadline = self.deadline;
        if self.plant.states() > MOST_SPLIT && kind.degree == 2 {
            let barrier = ellipsoid::search(&self.plant, policy, region, kind.contraction, deadline)?;
            // The proof may use a little more than the ellipsoid was made with.
            let slack = kind.contraction + 0.2 * (1.0 - kind.contraction);
            let kind = Kind { contraction: short_power(slack), inside: 1e-9, ..kind };
            return barrier::certify(&self.plant, policy, region, kind, &barrier, deadline);
        }
        barrier::search(&self.plant, policy, region, kind, focus, deadline)
    }

    fn polyhedron(&self, policy: &Policy, region: &[(f64, f64)], most: usize) -> Option<Branch> {
        // A small set has no room for half-spaces that look ahead, and a large one takes too long without.
        match most > FEW_HALFSPACES {
            true => self.polyhedron_of(policy, region, 1, most, Begin::Ahead),
            false => [1, 2].iter().find_map(|&from| self.polyhedron_of(policy, region, from, most, Begin::Plain)),
        }
    }

    fn polyhedron_of(
        &self,
        policy: &Policy,
        region: &[(f64, f64)],
        strict_from: usize,
        most: usize,
        begin: Begin,
    ) -> Option<Branch> {
        let options = polyhedron::Options { strictness: 1e-6, strict_from, most, begin };
        let branch = polyhedron::search(self.linear.as_ref()?, policy, region, options, self.deadline)?;
        self.accepted(&branch, None, region).then_some(branch)
    }

    /// Numbers λ worth trying: between what the linearisation contracts by, and one.
    fn contractions(&self, policy: &Policy) -> Vec<f64> {
        let radius = spectral_radius(&self.plant.closed_slopes(policy)).powi(2).min(0.99999);
        [0.5, 0.9, 0.2].iter().map(|share| short_power(radius + (1.0 - radius) * share)).collect()
    }

    /// Whether the audit accepts a branch for a box.
    #[tracing::instrument(level = "debug", name = "audit of a candidate", skip_all)]
    pub fn accepted(&self, branch: &Branch, identity: Option<&PutinarCertificate>, region: &[(f64, f64)]) -> bool {
        let cover = Cover::Inside { branch: 0, identity: identity.cloned() };
        self.accepts(&self.shield(vec![branch.clone()], cover), region)
    }

    /// Whether the audit accepts a shield for a box in the place of the initial states.
    fn accepts(&self, shield: &Shield, region: &[(f64, f64)]) -> bool {
        let exact = region.iter().map(|&(a, b)| Some((rational(a)?, rational(b)?))).collect::<Option<Vec<_>>>();
        let Some(init) = exact else { return false };
        check(&Model { init, ..self.plant.model.clone() }, shield, &mut || {}).is_ok()
    }
}
