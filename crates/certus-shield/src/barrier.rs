//! Invariants {E ≤ 0} with E a polynomial, by sums of squares.
//!
//! For a program, E is sought with: E > 0 on every unsafe piece, and where an action would leave its limits; E ≤ 0 on
//! a box of initial states; E(next) ≤ λ E − margin over the domain, for every choice of the environment; and E ≥ −1, which
//! fixes its scale. Among these the one with the smallest mean over the domain is taken, so that {E ≤ 0} is large: a
//! shield with a larger invariant interferes less.
//!
//! With λ < 1, λ E − E(next) is positive at an equilibrium too, so the Gram matrix can be kept inside of the cone, and
//! rounding does not hurt. Everything is computed in coordinates scaled by powers of two to about one, which is exact to
//! undo. If model, box and pieces are unchanged by x → −x, E is even, blocks of even and odd monomials do not mix, and of
//! two mirrored pieces one is enough.

use std::collections::HashMap;
use std::time::Instant;

use certus_audit::shield::{Branch, Identity, Invariant, Monomial, Multiplier, SquareProof, Squares};

use crate::plant::{Plant, Policy, short_number};
use crate::polynomial::{Poly, degree, monomial_value, monomials};
use crate::squares::{Candidate, Claim, Program};

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
    pub start: Identity,
    /// The mean of E over the domain: the smaller, the larger the invariant.
    pub mean: f64,
}

/// How far below zero E is after a step from inside.
const MARGIN: f64 = 1.0 / (1 << 20) as f64;

/// E on unsafe states is at least this.
const ABOVE: f64 = 1.0 / (1 << 10) as f64;

/// Significant digits of the numbers in a certificate.
const DIGITS: usize = 13;

/// More states than this: multipliers of the domain are left out.
const MANY_STATES: usize = 8;

struct Setting {
    /// Powers of two for states, then choices.
    scales: Vec<f64>,
    /// The closed loop in scaled coordinates.
    next: Vec<Poly>,
    /// Unsafe pieces and limits of actions in scaled coordinates, with the factor that each constraint was given.
    pieces: Vec<Vec<(Poly, f64)>>,
    symmetric: bool,
    /// Of each piece, an earlier one that is the same (false) or its mirror image (true).
    copies: Vec<Option<(usize, bool)>>,
}

fn power_of_two(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 { value.log2().ceil().clamp(-60.0, 60.0).exp2() } else { 1.0 }
}

fn mirrored(poly: &Poly) -> Poly {
    poly.rescaled(&vec![-1.0; poly.variables()])
}

impl Setting {
    fn new(plant: &Plant, policy: &Policy, region: &[(f64, f64)]) -> Setting {
        let states = plant.states();
        let size = |&(a, b): &(f64, f64)| power_of_two(a.abs().max(b.abs()));
        let mut scales: Vec<f64> = plant
            .domain
            .iter()
            .zip(&plant.init)
            .map(
                |(domain, init)| {
                    if domain.0.is_finite() && domain.1.is_finite() { size(domain) } else { 4.0 * size(init) }
                },
            )
            .collect();
        scales.extend(plant.choices.iter().map(size));
        let closed = plant.closed(policy);
        let next: Vec<Poly> =
            closed.iter().enumerate().map(|(i, f)| f.rescaled(&scales).scaled(1.0 / scales[i])).collect();
        let normal = |poly: &Poly| {
            let scaled = poly.rescaled(&scales[..states]);
            let factor = 1.0 / power_of_two(scaled.size());
            (scaled.scaled(factor), factor)
        };
        let mut pieces: Vec<Vec<(Poly, f64)>> =
            plant.pieces.iter().map(|piece| piece.iter().map(normal).collect()).collect();
        for (action, &(lower, upper)) in policy.iter().zip(&plant.limits) {
            let constant = |value| Poly::constant(states, value);
            if lower.is_finite() {
                pieces.push(vec![normal(&constant(lower).plus(action, -1.0))]);
            }
            if upper.is_finite() {
                pieces.push(vec![normal(&action.plus(&constant(upper), -1.0))]);
            }
        }
        let even = |&(a, b): &(f64, f64)| a == -b;
        let same = |x: &[(Poly, f64)], y: &[(Poly, f64)], turned: bool| {
            x.len() == y.len()
                && x.iter().zip(y).all(|((p, c), (q, d))| c == d && if turned { mirrored(p) == *q } else { p == q })
        };
        let symmetric = plant.domain.iter().chain(region).chain(&plant.choices).all(even)
            && next.iter().all(|f| f.has_parity(true))
            && pieces.iter().all(|piece| pieces.iter().any(|other| same(piece, other, true)));
        let copies = (0..pieces.len())
            .map(|i| {
                let copy = |turned| (0..i).find(|&j| same(&pieces[j], &pieces[i], turned)).map(|j| (j, turned));
                copy(false).or_else(|| symmetric.then(|| copy(true)).flatten())
            })
            .collect();
        Setting { scales, next, pieces, symmetric, copies }
    }

    /// (x − lower)(upper − x) over the given range in scaled coordinates, with the factor it was given.
    fn side(&self, index: usize, (lower, upper): (f64, f64), variables: usize) -> Option<(Poly, f64)> {
        let scale = self.scales[index];
        let x = Poly::variable(variables, index);
        let constant = |value: f64| Poly::constant(variables, value / scale);
        let below = lower.is_finite().then(|| x.plus(&constant(lower), -1.0));
        let above = upper.is_finite().then(|| constant(upper).plus(&x, -1.0));
        match (below, above) {
            (Some(below), Some(above)) => Some((below.times(&above), 1.0 / (scale * scale))),
            (one, other) => Some((one.or(other)?, 1.0 / scale)),
        }
    }

    fn sides(&self, ranges: &[(f64, f64)], first: usize, variables: usize) -> Vec<(Poly, f64)> {
        ranges.iter().enumerate().filter_map(|(i, &range)| self.side(first + i, range, variables)).collect()
    }

    /// A basis split by parity where everything is symmetric.
    fn blocks(&self, basis: Vec<Monomial>) -> Vec<Vec<Monomial>> {
        if !self.symmetric {
            return vec![basis];
        }
        let (even, odd): (Vec<Monomial>, Vec<Monomial>) = basis.into_iter().partition(|m| degree(m).is_multiple_of(2));
        [even, odd].into_iter().filter(|block| !block.is_empty()).collect()
    }
}

/// Monomials whose squares may occur in a polynomial with these monomials: those of half its Newton polytope, as far as
/// degrees and a few directions tell.
fn half_polytope(support: &[Monomial], variables: usize) -> Vec<Monomial> {
    let among: Vec<usize> = (0..variables).filter(|&v| support.iter().any(|m| m[v] > 0)).collect();
    let highest = support.iter().map(|m| degree(m)).max().unwrap_or(0);
    let lowest = support.iter().map(|m| degree(m)).min().unwrap_or(0);
    let mut directions: Vec<Vec<i64>> =
        among.iter().map(|&v| (0..variables).map(|i| i64::from(i == v)).collect()).collect();
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..64 {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 7) as i64 - 3
        };
        directions.push((0..variables).map(|_| draw()).collect());
    }
    let along = |direction: &[i64], m: &[u8]| direction.iter().zip(m).map(|(d, &e)| d * i64::from(e)).sum::<i64>();
    let most: Vec<i64> = directions.iter().map(|d| support.iter().map(|m| along(d, m)).max().unwrap_or(0)).collect();
    monomials(variables, &among, highest / 2)
        .into_iter()
        .filter(|m| 2 * degree(m) >= lowest && directions.iter().zip(&most).all(|(d, &most)| 2 * along(d, m) <= most))
        .collect()
}

/// A claim with its bases chosen.
fn claim(
    setting: &Setting,
    parts: Vec<(usize, Poly)>,
    constant: Poly,
    constraints: Vec<(Poly, usize)>,
    symmetric: bool,
) -> Claim {
    let variables = constant.variables();
    let all: Vec<usize> = (0..variables).collect();
    let blocks = |basis| if symmetric { setting.blocks(basis) } else { vec![basis] };
    let constraints: Vec<(Poly, Vec<Vec<Monomial>>)> =
        constraints.into_iter().map(|(g, half)| (g, blocks(monomials(variables, &all, half)))).collect();
    let mut support: Vec<Monomial> = parts.iter().flat_map(|(_, p)| p.terms().map(|(m, _)| m.clone())).collect();
    support.extend(constant.terms().map(|(m, _)| m.clone()));
    for (g, bases) in &constraints {
        for monomial in bases.iter().flatten() {
            let square = Poly::term(monomial.clone(), 1.0).times(&Poly::term(monomial.clone(), 1.0));
            support.extend(square.times(g).terms().map(|(m, _)| m.clone()));
        }
    }
    support.sort();
    support.dedup();
    let basis = blocks(half_polytope(&support, variables));
    Claim { parts, constant, constraints, basis }
}

/// Seeks an invariant for a program that contains the box.
pub fn search(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    kind: Kind,
    deadline: Option<Instant>,
) -> Option<Found> {
    seek(plant, policy, region, kind, None, deadline)
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
    seek(plant, policy, region, kind, Some(barrier), deadline)
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

fn seek(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    kind: Kind,
    fixed_barrier: Option<&Poly>,
    deadline: Option<Instant>,
) -> Option<Found> {
    let setting = Setting::new(plant, policy, region);
    let states = plant.states();
    let all: Vec<usize> = (0..states).collect();
    let basis: Vec<Monomial> = monomials(states, &all, kind.degree)
        .into_iter()
        .filter(|m| !setting.symmetric || degree(m).is_multiple_of(2))
        .collect();
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

    let objective: Vec<f64> = basis.iter().map(|m| mean(m, &setting, plant)).collect();
    let program = Program { objective: objective.clone(), claims, inside: kind.inside };
    let candidate = match fixed_barrier {
        None => program.solve(deadline)?,
        Some(barrier) => certified(&program, &basis, barrier, &setting.scales, deadline)?,
    };

    // Back to the system's own coordinates.
    let inverse: Vec<f64> = setting.scales.iter().map(|s| 1.0 / s).collect();
    let terms: Vec<(f64, Monomial)> = basis
        .iter()
        .zip(&candidate.free)
        .map(|(m, &c)| (short_number(c * monomial_value(m, &inverse), DIGITS), m.clone()))
        .filter(|(c, _)| *c != 0.0)
        .collect();
    let restored = |identity: &Identity, places: &[(usize, f64)]| restore(identity, places, &inverse, 1.0);
    let step_places: Vec<(usize, f64)> = used.iter().map(|&i| (i, sides[i].1)).collect();
    let step = restore(&candidate.identities[0], &step_places, &inverse, 1.0 / slowness);
    let mut pieces: Vec<(f64, Identity)> = Vec::new();
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
    let proof = SquareProof { barrier: terms, contraction: kind.contraction, margin, step, pieces };
    let mean = objective.iter().zip(&candidate.free).map(|(a, b)| a * b).sum();
    Some(Found { branch: Branch { program, invariant: Invariant::Polynomial(proof) }, start, mean })
}

/// The mean of a monomial over the domain in scaled coordinates.
fn mean(monomial: &[u8], setting: &Setting, plant: &Plant) -> f64 {
    let along = |(i, &e): (usize, &u8)| {
        let (lower, upper) = plant.domain[i];
        let scale = setting.scales[i];
        let (a, b) = if lower.is_finite() && upper.is_finite() { (lower / scale, upper / scale) } else { (-1.0, 1.0) };
        let e = i32::from(e);
        if b - a < 1e-12 {
            return a.powi(e);
        }
        (b.powi(e + 1) - a.powi(e + 1)) / (f64::from(e + 1) * (b - a))
    };
    monomial.iter().enumerate().map(along).product()
}

/// An identity in the system's own coordinates; `places` has, for each multiplier, the constraint that it belongs to and the
/// factor that the constraint was given; `overall` undoes the factor of the claim.
fn restore(identity: &Identity, places: &[(usize, f64)], inverse: &[f64], overall: f64) -> Identity {
    let squares = |squares: &Squares, factor: f64| {
        let factor = factor * overall;
        let weights: Vec<f64> = squares.basis.iter().map(|m| monomial_value(m, inverse)).collect();
        let entry = |i: usize, (j, &g): (usize, &f64)| short_number(g * weights[i] * weights[j] * factor, DIGITS);
        let gram = squares.gram.iter().enumerate();
        let gram = gram.map(|(i, row)| row.iter().enumerate().map(|own| entry(i, own)).collect()).collect();
        Squares { basis: squares.basis.clone(), gram }
    };
    let multiplier = |(own, &(constraint, factor)): (&Multiplier, &(usize, f64))| Multiplier {
        constraint,
        squares: squares(&own.squares, factor),
    };
    Identity {
        free: squares(&identity.free, 1.0),
        multipliers: identity.multipliers.iter().zip(places).map(multiplier).collect(),
    }
}

/// The identity of the mirrored claim.
fn turn(identity: &Identity) -> Identity {
    let squares = |squares: &Squares| {
        let odd: Vec<bool> = squares.basis.iter().map(|m| degree(m) % 2 == 1).collect();
        let entry = |i: usize, (j, &g): (usize, &f64)| if odd[i] == odd[j] { g } else { -g };
        let gram = squares.gram.iter().enumerate();
        let gram = gram.map(|(i, row)| row.iter().enumerate().map(|own| entry(i, own)).collect()).collect();
        Squares { basis: squares.basis.clone(), gram }
    };
    let multiplier = |own: &Multiplier| Multiplier { constraint: own.constraint, squares: squares(&own.squares) };
    Identity { free: squares(&identity.free), multipliers: identity.multipliers.iter().map(multiplier).collect() }
}
