//! Barrier certificates: invariants {E ≤ 0} with E a polynomial, by SOS programming.
//!
//! S. Prajna and A. Jadbabaie, 'Safety verification of hybrid systems using barrier certificates', HSCC 2004, for discrete time.
//!
//! For a program, E is sought with: E > 0 on every unsafe piece, and where an action would leave its limits; E ≤ 0 on
//! a box of initial states; E(next) ≤ λ E − margin over the domain, for every choice of the environment; and E ≥ −1, which
//! fixes its scale. Among these the one with the smallest mean over the states that the network visits, and a little over
//! the domain, is taken, so that {E ≤ 0} is large there: such a shield interferes less.
//!
//! With λ < 1, λ E − E(next) is positive at an equilibrium too, so the Gram matrix can be kept inside of the cone, and
//! rounding does not hurt. If model, box and pieces are unchanged by x → −x, E is even, blocks of even and odd monomials do
//! not mix, and of two mirrored pieces one is enough (K. Gatermann and P. A. Parrilo, 'Symmetry groups, semidefinite programs, and sums of
//! squares', Journal of Pure and Applied Algebra 192, 2004).

use std::collections::HashMap;
use std::time::Instant;

use certus_audit::shield::{BarrierCertificate, Branch, Invariant, Monomial, PutinarCertificate};

use crate::plant::{Plant, Policy, short_number};
use crate::polynomial::{Poly, degree, monomial_value, monomials};
use crate::restore::{DIGITS, restore, turn};
use crate::scaled_loop::{Setting, claim, mean, power_of_two};
use crate::sos::{Candidate, Program};

/// What kind of invariant is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// The degree of E.
    pub degree: usize,
    /// λ.
    pub contraction: f64,
    /// How far inside of the cone Gram matrices are kept.
    pub inside: f64,
}

/// A candidate for a branch, with the proof that a box of initial states is inside.
#[derive(Clone, Debug)]
pub struct Found {
    /// The branch.
    pub branch: Branch,
    /// −E over the box.
    pub start: PutinarCertificate,
    /// The mean of E over the domain: the smaller, the larger the invariant.
    pub mean: f64,
}

/// How far below zero E is after a step from inside.
const MARGIN: f64 = 1.0 / (1 << 20) as f64;

/// E on unsafe states is at least this.
const ABOVE: f64 = 1.0 / (1 << 10) as f64;

/// An E of more monomials than this is not sought: the effort grows with the third power of their number and more.
const MOST_TERMS: usize = 1500;

/// More states than this: multipliers of the domain are left out.
pub const MANY_STATES: usize = 8;

/// Seeks an invariant for a program that contains the box, and is large around some states.
#[tracing::instrument(level = "debug", name = "barrier certificate", skip_all)]
pub fn search(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    kind: Kind,
    focus: &[Vec<f64>],
    deadline: Option<Instant>,
) -> Option<Found> {
    seek(plant, policy, region, kind, Sought::Large { focus }, deadline)
}

/// Seeks the proof for a program and an E that are given, claim by claim.
pub fn certify(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    kind: Kind,
    barrier: &Poly,
    deadline: Option<Instant>,
) -> Option<Found> {
    seek(plant, policy, region, kind, Sought::Given(barrier), deadline)
}

/// Solves the claims of a program one by one for a given E; the last claim, which only fixes the scale of E, is left out.
fn certified(
    program: &Program,
    basis: &[Monomial],
    barrier: &Poly,
    scales: &[f64],
    deadline: Option<Instant>,
) -> Option<Candidate> {
    let free: Vec<f64> = basis.iter().map(|m| barrier.coefficient(m) * monomial_value(m, scales)).collect();
    let (_, claims) = program.claims.split_last()?;
    let mut identities = Vec::with_capacity(claims.len());
    for claim in claims {
        let mut own = claim.clone();
        for (variable, part) in own.parts.drain(..) {
            own.constant = own.constant.plus(&part, free[variable]);
        }
        let single = Program { objective: Vec::new(), claims: vec![own], inside: program.inside };
        identities.extend(single.solve(deadline)?.identities);
    }
    Some(Candidate { free, identities })
}

/// Which E.
#[derive(Clone, Copy)]
enum Sought<'s> {
    /// One whose mean is small over the domain, and around these states more so.
    Large { focus: &'s [Vec<f64>] },
    /// This one.
    Given(&'s Poly),
}

/// How much the mean over the domain counts beside the mean over given states.
const WHOLE_DOMAIN: f64 = 0.2;

/// The mean of a monomial over states, and a little over the domain, in scaled coordinates.
fn weighted_mean(monomial: &[u8], setting: &Setting, plant: &Plant, focus: &[Vec<f64>]) -> f64 {
    let at = |state: &Vec<f64>| {
        let scaled: Vec<f64> = state.iter().zip(&setting.scales).map(|(x, s)| x / s).collect();
        monomial_value(monomial, &scaled)
    };
    let own = focus.iter().map(at).sum::<f64>() / focus.len() as f64;
    WHOLE_DOMAIN * mean(monomial, setting, plant) + (1.0 - WHOLE_DOMAIN) * own
}

fn seek(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    kind: Kind,
    sought: Sought<'_>,
    deadline: Option<Instant>,
) -> Option<Found> {
    let setting = Setting::new(plant, policy, region);
    let states = plant.states();
    let all: Vec<usize> = (0..states).collect();
    let basis: Vec<Monomial> = monomials(states, &all, kind.degree)
        .into_iter()
        .filter(|m| !setting.symmetric || degree(m).is_multiple_of(2))
        .collect();
    if basis.len() > MOST_TERMS {
        return None;
    }
    let barrier = |factor: f64, change: &dyn Fn(Poly) -> Poly| -> Vec<(usize, Poly)> {
        basis.iter().enumerate().map(|(k, m)| (k, change(Poly::term(m.clone(), factor)))).collect()
    };
    let plain = |poly: Poly| poly;
    let half = kind.degree / 2;
    let mut claims = Vec::new();

    // The step.
    let variables = states + plant.choices.len();
    let step_degree = kind.degree * setting.next.iter().map(Poly::degree).max().unwrap_or(1).max(1);
    let domain_sides = setting.sides(&plant.domain, 0, variables);
    let choice_sides = setting.sides(&plant.choices, states, variables);
    let use_domain = states <= MANY_STATES;
    let mut used: Vec<usize> = if use_domain { (0..domain_sides.len()).collect() } else { Vec::new() };
    used.extend((0..choice_sides.len()).map(|i| domain_sides.len() + i));
    let sides: Vec<(Poly, f64)> = domain_sides.into_iter().chain(choice_sides).collect();
    let step_constraints =
        used.iter().map(|&i| (sides[i].0.clone(), (step_degree - sides[i].0.degree()) / 2)).collect();
    // A loop of small steps changes E by little: the claim is made of the size of the others, and the margin smaller.
    let slowness = power_of_two(1.0 / (1.0 - kind.contraction).clamp(1e-9, 1.0));
    let margin = MARGIN.min(1.0 / (64.0 * slowness));
    let step = |poly: Poly| {
        let wide = poly.widened(variables).scaled(kind.contraction);
        wide.plus(&poly.compose(&setting.next), -1.0).scaled(slowness)
    };
    let constant = Poly::constant(variables, -margin * slowness);
    claims.push(claim(&setting, barrier(1.0, &step), constant, step_constraints, true));

    // The unsafe pieces.
    let mut piece_claims: HashMap<usize, usize> = HashMap::new();
    for (index, piece) in setting.pieces.iter().enumerate().filter(|&(i, _)| setting.copies[i].is_none()) {
        let constraints = piece.iter().map(|(g, _)| (g.clone(), kind.degree.saturating_sub(g.degree()) / 2)).collect();
        piece_claims.insert(index, claims.len());
        let constant = Poly::constant(states, -ABOVE);
        claims.push(claim(&setting, barrier(1.0, &plain), constant, constraints, false));
    }

    // The initial box; a state that is fixed is a number.
    let fixed: Vec<Poly> = region
        .iter()
        .enumerate()
        .map(|(i, &(a, b))| match a == b {
            true => Poly::constant(states, a / setting.scales[i]),
            false => Poly::variable(states, i),
        })
        .collect();
    let free: Vec<usize> = (0..states).filter(|&i| region[i].0 != region[i].1).collect();
    let start_sides: Vec<(Poly, f64)> = free.iter().filter_map(|&i| setting.side(i, region[i], states)).collect();
    let start_constraints = start_sides.iter().map(|(g, _)| (g.clone(), half - 1)).collect();
    let start = claims.len();
    let narrow = |poly: Poly| poly.compose(&fixed);
    claims.push(claim(&setting, barrier(-1.0, &narrow), Poly::zero(states), start_constraints, true));

    // E ≥ −1 over the domain.
    let bound_sides = if use_domain { setting.sides(&plant.domain, 0, states) } else { Vec::new() };
    let bound_constraints = bound_sides.iter().map(|(g, _)| (g.clone(), half - 1)).collect();
    claims.push(claim(&setting, barrier(1.0, &plain), Poly::constant(states, 1.0), bound_constraints, true));

    let objective: Vec<f64> = match sought {
        Sought::Large { focus } if !focus.is_empty() => {
            basis.iter().map(|m| weighted_mean(m, &setting, plant, focus)).collect()
        }
        _ => basis.iter().map(|m| mean(m, &setting, plant)).collect(),
    };
    let program = Program { objective: objective.clone(), claims, inside: kind.inside };
    let candidate = match sought {
        Sought::Large { .. } => program.solve(deadline)?,
        Sought::Given(barrier) => certified(&program, &basis, barrier, &setting.scales, deadline)?,
    };

    // Back to the system's own coordinates.
    let inverse: Vec<f64> = setting.scales.iter().map(|s| 1.0 / s).collect();
    let terms: Vec<(f64, Monomial)> = basis
        .iter()
        .zip(&candidate.free)
        .map(|(m, &c)| (short_number(c * monomial_value(m, &inverse), DIGITS), m.clone()))
        .filter(|(c, _)| *c != 0.0)
        .collect();
    let restored = |identity: &PutinarCertificate, places: &[(usize, f64)]| restore(identity, places, &inverse, 1.0);
    let step_places: Vec<(usize, f64)> = used.iter().map(|&i| (i, sides[i].1)).collect();
    let step = restore(&candidate.identities[0], &step_places, &inverse, 1.0 / slowness);
    let mut pieces: Vec<(f64, PutinarCertificate)> = Vec::new();
    for (index, piece) in setting.pieces.iter().enumerate() {
        let identity = match setting.copies[index] {
            Some((earlier, turned)) => {
                let same = &pieces[earlier].1;
                if turned { turn(same) } else { same.clone() }
            }
            None => {
                let places: Vec<(usize, f64)> = piece.iter().enumerate().map(|(i, (_, factor))| (i, *factor)).collect();
                restored(&candidate.identities[*piece_claims.get(&index)?], &places)
            }
        };
        pieces.push((ABOVE, identity));
    }
    let start_places: Vec<(usize, f64)> = start_sides.iter().enumerate().map(|(i, (_, factor))| (i, *factor)).collect();
    let start = restored(&candidate.identities[start], &start_places);
    let program = policy.iter().map(|p| p.terms().map(|(m, c)| (c, m.clone())).collect()).collect();
    let proof = BarrierCertificate { barrier: terms, contraction: kind.contraction, margin, step, pieces };
    let mean = objective.iter().zip(&candidate.free).map(|(a, b)| a * b).sum();
    Some(Found { branch: Branch { program, invariant: Invariant::Polynomial(proof) }, start, mean })
}
