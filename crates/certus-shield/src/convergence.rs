//! Convergence: proofs that a program leads to a given box, by a Lyapunov-like function V from SOS programming.
//!
//! V is sought with: V ≥ 0; V above the level 1 outside of the box, on each side in turn; and V(next) ≤ λ V + (1 − λ) floor in
//! the invariant, for every choice of the environment. The smallest mean over the domain is taken, which bounds the number of
//! steps. For linear loops V is quadratic, and the step needs no more than the choices' ranges. The audit checks V
//! (`crates/certus-audit/src/shield/convergence.rs` says why that suffices).

use std::time::Instant;

use certus_audit::shield::{
    Branch, Convergence, DecreaseProof, Invariant, Monomial, PutinarCertificate, Range, outsides,
};

use crate::barrier::MANY_STATES;
use crate::linear_algebra::spectral_radius;
use crate::plant::{Plant, Policy, short_number};
use crate::polynomial::{Poly, degree, monomial_value, monomials};
use crate::restore::{DIGITS, restore};
use crate::scaled_loop::{Setting, claim, mean, power_of_two};
use crate::sos::Program;

/// V outside of the target is at least this much above the level.
const ABOVE: f64 = 1.0 / (1 << 10) as f64;

/// What V shrinks to, if the level is one.
const FLOORS: [f64; 2] = [0.25, 0.75];

/// Where V is tried to shrink to, between what the linearisation does and nothing, and how far inside of the cone Gram
/// matrices are kept.
const SHARES: [f64; 3] = [0.5, 0.9, 0.2];
const INSIDES: [f64; 2] = [1e-5, 1e-7];

/// A proof for every branch, judged by the audit as it is found; none if one was not found.
#[tracing::instrument(level = "debug", name = "convergence certificate", skip_all)]
pub fn search(
    plant: &Plant,
    branches: &[Branch],
    target: &[Range],
    accepted: &dyn Fn(&Branch, &Convergence) -> bool,
    deadline: Option<Instant>,
) -> Option<Convergence> {
    let linear = plant.model.linear_enclosure().map(Plant::new);
    let mut proofs = Vec::with_capacity(branches.len());
    for branch in branches {
        let (own, degree) = match &branch.invariant {
            Invariant::Polynomial(proof) => {
                (plant, proof.barrier.iter().map(|(_, m)| degree(m)).max().unwrap_or(2).clamp(2, 4))
            }
            Invariant::Polyhedron(_) => (linear.as_ref()?, 2),
        };
        let degrees = if degree > 2 { vec![2, degree] } else { vec![2] };
        let attempts = degrees.into_iter().flat_map(|degree| attempts(own, branch, degree));
        let mut proved = attempts
            .filter_map(|attempt| attempt.solve(own, branch, target, deadline))
            .filter(|proof| accepted(branch, &Convergence { target: target.to_vec(), proofs: vec![proof.clone()] }));
        proofs.push(proved.next()?);
    }
    Some(Convergence { target: target.to_vec(), proofs })
}

/// The program of a branch.
fn policy_of(branch: &Branch, states: usize) -> Policy {
    let poly = |terms: &Vec<(f64, Monomial)>| {
        let mut poly = Poly::zero(states);
        terms.iter().for_each(|(c, m)| poly.add(m.clone(), *c));
        poly
    };
    branch.program.iter().map(poly).collect()
}

/// One semidefinite program that may find V.
struct Attempt {
    degree: usize,
    contraction: f64,
    floor: f64,
    inside: f64,
}

fn attempts(plant: &Plant, branch: &Branch, degree: usize) -> Vec<Attempt> {
    let radius = spectral_radius(&plant.closed_slopes(&policy_of(branch, plant.states()))).powi(2).min(0.999_99);
    let mut all = Vec::new();
    for inside in INSIDES {
        for share in SHARES {
            for floor in FLOORS {
                let contraction = crate::plant::short_power(radius + (1.0 - radius) * share);
                all.push(Attempt { degree, contraction, floor, inside });
            }
        }
    }
    all
}

impl Attempt {
    fn solve(
        &self,
        plant: &Plant,
        branch: &Branch,
        target: &[Range],
        deadline: Option<Instant>,
    ) -> Option<DecreaseProof> {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
        let states = plant.states();
        let policy = policy_of(branch, states);
        let outside: Vec<Poly> = outsides(&plant.model, target).iter().map(|(_, p)| Poly::of(p)).collect();
        let setting = Setting::new(plant, &policy, &plant.init);
        // The target need not be symmetric where the loop is.
        let turned = |p: &Poly| p.rescaled(&vec![-1.0; states]);
        let rests = setting.next.iter().all(|f| f.has_parity(true));
        let symmetric = rests
            && plant.domain.iter().chain(&plant.choices).all(|&(a, b)| a == -b)
            && outside.iter().all(|p| outside.iter().any(|q| turned(p) == *q));
        let all: Vec<usize> = (0..states).collect();
        let basis: Vec<Monomial> = monomials(states, &all, self.degree)
            .into_iter()
            .filter(|m| !symmetric || degree(m).is_multiple_of(2))
            .collect();
        let function = |change: &dyn Fn(Poly) -> Poly| -> Vec<(usize, Poly)> {
            basis.iter().enumerate().map(|(k, m)| (k, change(Poly::term(m.clone(), 1.0)))).collect()
        };
        let mut claims = Vec::new();

        // The step, over the domain, the choices and the invariant.
        let variables = states + plant.choices.len();
        let step_degree = self.degree * setting.next.iter().map(Poly::degree).max().unwrap_or(1).max(1);
        let domain = setting.sides(&plant.domain, 0, variables);
        let choices = setting.sides(&plant.choices, states, variables);
        let curved = step_degree > self.degree;
        let mut used: Vec<usize> =
            if curved && states <= MANY_STATES { (0..domain.len()).collect() } else { Vec::new() };
        used.extend((0..choices.len()).map(|i| domain.len() + i));
        let mut sides: Vec<(Poly, f64)> = domain.into_iter().chain(choices).collect();
        if let (Invariant::Polynomial(proof), true) = (&branch.invariant, curved) {
            let mut barrier = Poly::zero(states);
            proof.barrier.iter().for_each(|(c, m)| barrier.add(m.clone(), -c));
            let scaled = barrier.rescaled(&setting.scales[..states]);
            let factor = 1.0 / power_of_two(scaled.size());
            used.push(sides.len());
            sides.push((scaled.scaled(factor).widened(variables), factor));
        }
        let constraints =
            used.iter().map(|&i| (sides[i].0.clone(), step_degree.saturating_sub(sides[i].0.degree()) / 2)).collect();
        let slowness = power_of_two(1.0 / (1.0 - self.contraction).clamp(1e-9, 1.0));
        let step = |poly: Poly| {
            let wide = poly.widened(variables).scaled(self.contraction);
            wide.plus(&poly.compose(&setting.next), -1.0).scaled(slowness)
        };
        let lowest = (1.0 - self.contraction) * self.floor * slowness;
        let symmetric_blocks = symmetric && setting.symmetric;
        claims.push(claim(&setting, function(&step), Poly::constant(variables, lowest), constraints, symmetric_blocks));

        // The outside of the target, a side at a time.
        let plain = |poly: Poly| poly;
        let mut factors = Vec::new();
        for side in &outside {
            let scaled = side.rescaled(&setting.scales[..states]);
            let factor = 1.0 / power_of_two(scaled.size());
            let constraints = vec![(scaled.scaled(factor), (self.degree - 1) / 2)];
            let constant = Poly::constant(states, -1.0 - ABOVE);
            claims.push(claim(&setting, function(&plain), constant, constraints, false));
            factors.push(factor);
        }
        // V ≥ 0, so that its mean is bounded.
        claims.push(claim(&setting, function(&plain), Poly::zero(states), Vec::new(), symmetric_blocks));
        let objective: Vec<f64> = basis.iter().map(|m| mean(m, &setting, plant)).collect();
        let candidate = Program { objective, claims, inside: self.inside }.solve(deadline)?;

        let inverse: Vec<f64> = setting.scales.iter().map(|s| 1.0 / s).collect();
        let terms = basis
            .iter()
            .zip(&candidate.free)
            .map(|(m, &c)| (short_number(c * monomial_value(m, &inverse), DIGITS), m.clone()))
            .filter(|(c, _)| *c != 0.0)
            .collect();
        let places: Vec<(usize, f64)> = used.iter().map(|&i| (i, sides[i].1)).collect();
        let sides: Vec<(f64, PutinarCertificate)> = factors
            .iter()
            .zip(&candidate.identities[1..])
            .map(|(&factor, identity)| (ABOVE, restore(identity, &[(0, factor)], &inverse, 1.0)))
            .collect();
        Some(DecreaseProof {
            function: terms,
            contraction: self.contraction,
            floor: self.floor,
            level: 1.0,
            step: restore(&candidate.identities[0], &places, &inverse, 1.0 / slowness),
            sides,
        })
    }
}
