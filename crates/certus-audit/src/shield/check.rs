//! Does a certificate prove its shield?
//!
//! For every branch: its invariant is inductive under its program (a barrier certificate or a polyhedron), contains no unsafe state, and keeps actions
//! within their limits; and the branches together cover the initial states (`mod.rs` states it precisely). Nothing of the search is
//! trusted: all identities and inequalities are recomputed in rational arithmetic.

use super::bernstein;
use super::certificate::{BarrierCertificate, Branch, Cover, Invariant, Polyhedron, PutinarCertificate, Shield};
use super::convergence::{Converges, check_convergence};
use super::model::{Model, Piece};
use super::polyhedron::Exact;
use super::polynomial::{Monomial, Polynomial, Rational, is_negative, magnitude, rational};
use super::sos::proves;

/// What an accepted shield is.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// One for each branch.
    pub branches: Vec<Settled>,
    /// How many boxes cover the initial states.
    pub boxes: usize,
    /// What is proved of convergence, if that was claimed.
    pub convergence: Option<Converges>,
}

/// What was shown of a branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The kind of its invariant, with its size.
    pub invariant: String,
    /// How many identities or bounds were checked.
    pub claims: usize,
    /// By how much every coordinate of a next state may be off (rounding, or a plant that is not quite the model) without
    /// leaving the invariant.
    pub tolerance: f64,
}

/// Checks a shield against its model, which was read with the shield's domain: accepted, or the reason why not. `progress` is called after each claim.
pub fn check(model: &Model, shield: &Shield, progress: &mut dyn FnMut()) -> Result<Accepted, String> {
    let mut branches = Vec::with_capacity(shield.branches.len());
    for (index, branch) in shield.branches.iter().enumerate() {
        let settled = check_branch(model, branch, progress);
        branches.push(settled.map_err(|reason| format!("branch {index}: {reason}"))?);
    }
    let mut boxes = 0;
    covered(shield, &shield.cover, &model.init, &mut boxes, progress)?;
    // Nothing that is proved depends on it, but what is no share is no shield.
    if !(0.0..1.0).contains(&shield.release) {
        return Err("`release` is not from 0 up to 1".to_owned());
    }
    let convergence = match &shield.convergence {
        Some(claimed) => Some(check_convergence(model, &shield.branches, claimed, progress)?),
        None => None,
    };
    Ok(Accepted { branches, boxes, convergence })
}

pub(super) fn polynomial(terms: &[(f64, Monomial)], states: usize) -> Result<Polynomial, String> {
    let mut sum = Polynomial::zero(states);
    for (coefficient, monomial) in terms {
        match rational(*coefficient) {
            Some(coefficient) if monomial.len() == states => sum.add_term(monomial.clone(), coefficient),
            _ => return Err("a term does not have one exponent per state".to_owned()),
        }
    }
    Ok(sum)
}

/// The program of a branch in exact numbers.
pub(super) fn program_of(model: &Model, branch: &Branch) -> Result<Vec<Polynomial>, String> {
    if branch.program.len() != model.actions.len() {
        return Err(format!("the program has {} actions, the system {}", branch.program.len(), model.actions.len()));
    }
    branch.program.iter().map(|terms| polynomial(terms, model.states.len())).collect()
}

fn check_branch(model: &Model, branch: &Branch, progress: &mut dyn FnMut()) -> Result<Settled, String> {
    let program = program_of(model, branch)?;
    let mut pieces = model.unsafe_pieces.clone();
    pieces.extend(model.beyond_limits(&program));
    match &branch.invariant {
        Invariant::Polynomial(proof) => {
            let next = model.closed(&program).ok_or("an exponent is too large")?;
            check_squares(model, proof, &next, &pieces, progress)
        }
        Invariant::Polyhedron(proof) => {
            // A step that is not linear is enclosed by one that is.
            let linear = model.linear_enclosure().ok_or("a polyhedron needs a linear step, or a bounded domain")?;
            let next = linear.closed(&program).ok_or("an exponent is too large")?;
            check_polyhedron(&linear, proof, &next, &pieces, progress)
        }
    }
}

/// (x − lower)(upper − x), or what there is of it, for each bounded variable of a list.
pub(super) fn sides(ranges: &[(usize, Option<Rational>, Option<Rational>)], variables: usize) -> Vec<Polynomial> {
    let mut all = Vec::new();
    for (index, lower, upper) in ranges {
        let x = Polynomial::variable(variables, *index);
        let constant = |value: &Rational| Polynomial::constant(variables, value.clone());
        let below = lower.as_ref().map(|lower| x.minus(&constant(lower)));
        let above = upper.as_ref().map(|upper| constant(upper).minus(&x));
        match (below, above) {
            (Some(below), Some(above)) => all.extend(below.times(&above)),
            (one, other) => all.extend(one.or(other)),
        }
    }
    all
}

pub(super) fn domain_sides(model: &Model, variables: usize) -> Vec<Polynomial> {
    let ranges = model.domain.iter().enumerate().map(|(i, r)| (i, r.lower.clone(), r.upper.clone()));
    sides(&ranges.collect::<Vec<_>>(), variables)
}

fn check_squares(
    model: &Model,
    proof: &BarrierCertificate,
    next: &[Polynomial],
    pieces: &[Piece],
    progress: &mut dyn FnMut(),
) -> Result<Settled, String> {
    let states = model.states.len();
    let barrier = polynomial(&proof.barrier, states)?;
    let (Some(contraction), Some(margin)) = (rational(proof.contraction), rational(proof.margin)) else {
        return Err("the contraction or the margin is not a number".to_owned());
    };
    if is_negative(&contraction) || is_negative(&margin) {
        return Err("the contraction or the margin is negative".to_owned());
    }
    if proof.pieces.len() != pieces.len() {
        return Err(format!("there are {} identities for {} unsafe pieces", proof.pieces.len(), pieces.len()));
    }
    for (piece, (above, identity)) in pieces.iter().zip(&proof.pieces) {
        let above = rational(*above).filter(|above| !is_negative(above) && !above.is_zero());
        let Some(above) = above else { return Err(format!("{}: nothing positive is shown", piece.name)) };
        let claim = barrier.minus(&Polynomial::constant(states, above));
        let mut constraints: Vec<Polynomial> = piece.constraints.iter().map(|c| c.polynomial.clone()).collect();
        if !piece.bounds_domain {
            // The pieces that bound the domain are shown without it, so the others may use it.
            constraints.extend(domain_sides(model, states));
        }
        proves(&claim, &constraints, identity).map_err(|reason| format!("{}: {reason}", piece.name))?;
        progress();
    }
    let variables = states + model.choices.len();
    let mut claim = barrier.widened(variables).scaled(&contraction);
    claim = claim.minus(&barrier.compose(next).ok_or("an exponent is too large")?);
    claim = claim.minus(&Polynomial::constant(variables, margin.clone()));
    let mut constraints = domain_sides(model, variables);
    let choices = model.choices.iter().enumerate();
    let choices = choices.map(|(i, (a, b))| (states + i, Some(a.clone()), Some(b.clone())));
    constraints.extend(sides(&choices.collect::<Vec<_>>(), variables));
    proves(&claim, &constraints, &proof.step).map_err(|reason| format!("the step: {reason}"))?;
    progress();
    Ok(Settled {
        invariant: format!("polynomial of degree {}, {} terms", barrier.degree(), proof.barrier.len()),
        claims: pieces.len() + 1,
        tolerance: tolerance(model, &barrier, &margin),
    })
}

/// How far a next state may be off: the margin over the largest slope of the barrier in the domain.
fn tolerance(model: &Model, barrier: &Polynomial, margin: &Rational) -> f64 {
    let reach: Option<Vec<Rational>> = model
        .domain
        .iter()
        .map(|r| Some(magnitude(r.lower.clone()?).max(magnitude(r.upper.clone()?)) + Rational::ONE))
        .collect();
    let Some(reach) = reach else { return 0.0 };
    let mut slope = Rational::ZERO;
    for state in 0..model.states.len() {
        for (monomial, coefficient) in barrier.derivative(state).terms() {
            let mut size = magnitude(coefficient.clone());
            for (&exponent, reach) in monomial.iter().zip(&reach) {
                (0..exponent).for_each(|_| size *= reach);
            }
            slope += size;
        }
    }
    if slope.is_zero() {
        return 0.0;
    }
    (margin / slope).to_f64_fast().min(1.0) * (1.0 - 1e-9)
}

fn check_polyhedron(
    model: &Model,
    proof: &Polyhedron,
    next: &[Polynomial],
    pieces: &[Piece],
    progress: &mut dyn FnMut(),
) -> Result<Settled, String> {
    let states = model.states.len();
    let exact = Exact::new(&proof.halfspaces, states)?;
    if proof.pieces.len() != pieces.len() {
        return Err(format!("there are {} proofs for {} unsafe pieces", proof.pieces.len(), pieces.len()));
    }
    for (piece, own) in pieces.iter().zip(&proof.pieces) {
        let Some(constraint) = piece.constraints.get(own.constraint) else {
            return Err(format!("{}: there is no constraint {}", piece.name, own.constraint));
        };
        let Some((constant, slopes)) = constraint.polynomial.affine() else {
            return Err(format!("{}: a polyhedron needs linear limits", piece.name));
        };
        let upper = exact.upper(&slopes, &own.multipliers).map_err(|reason| format!("{}: {reason}", piece.name))?;
        let highest = upper + constant;
        // The piece is where the constraint is positive, or zero unless it is strict.
        let apart = if constraint.strict { !is_positive(&highest) } else { is_negative(&highest) };
        if !apart {
            return Err(format!("{}: the polyhedron is not shown to be disjoint from it", piece.name));
        }
        progress();
    }
    let mut affine = Vec::with_capacity(states);
    for polynomial in next {
        affine.push(polynomial.affine().ok_or("a polyhedron needs a linear step")?);
    }
    let mut tolerance = f64::INFINITY;
    for (index, halfspace) in proof.halfspaces.iter().enumerate() {
        let (normal, bound) = &exact.halfspaces()[index];
        let mut slopes = vec![Rational::ZERO; states];
        let mut highest = Rational::ZERO;
        for (weight, (constant, row)) in normal.iter().zip(&affine).filter(|(weight, _)| !weight.is_zero()) {
            highest += weight * constant;
            slopes.iter_mut().zip(row).for_each(|(slope, x)| *slope += weight * x);
        }
        for (choice, (lower, upper)) in model.choices.iter().enumerate() {
            let slope: Rational =
                normal.iter().zip(&affine).fold(Rational::ZERO, |sum, (w, (_, row))| sum + w * &row[states + choice]);
            highest += if is_negative(&slope) { slope * lower } else { slope * upper };
        }
        let upper = exact.upper(&slopes, &halfspace.multipliers);
        highest += upper.map_err(|reason| format!("half-space {index}: {reason}"))?;
        let room = bound - highest;
        if is_negative(&room) {
            return Err(format!("half-space {index}: a step is not shown to stay inside"));
        }
        let size: Rational = normal.iter().fold(Rational::ZERO, |sum, x| sum + magnitude(x.clone()));
        if !size.is_zero() {
            tolerance = tolerance.min((room / size).to_f64_fast());
        }
        progress();
    }
    Ok(Settled {
        invariant: format!("polyhedron of {} half-spaces", proof.halfspaces.len()),
        claims: pieces.len() + proof.halfspaces.len(),
        tolerance: tolerance * (1.0 - 1e-9),
    })
}

fn is_positive(value: &Rational) -> bool {
    !value.is_zero() && !is_negative(value)
}

/// Whether a box of initial states is covered.
fn covered(
    shield: &Shield,
    cover: &Cover,
    region: &[(Rational, Rational)],
    boxes: &mut usize,
    progress: &mut dyn FnMut(),
) -> Result<(), String> {
    match cover {
        Cover::Split { state, at, below, above } => {
            let (Some(range), Some(at)) = (region.get(*state), rational(*at)) else {
                return Err("the cover splits a state that does not exist".to_owned());
            };
            if at < range.0 || at > range.1 {
                return Err("the cover splits outside of its box".to_owned());
            }
            let mut half = region.to_vec();
            half[*state].1 = at.clone();
            covered(shield, below, &half, boxes, progress)?;
            half[*state] = (at, range.1.clone());
            covered(shield, above, &half, boxes, progress)
        }
        Cover::Inside { branch, identity } => {
            let Some(own) = shield.branches.get(*branch) else {
                return Err(format!("the cover names branch {branch}, which does not exist"));
            };
            *boxes += 1;
            progress();
            inside(&own.invariant, region, identity.as_ref())
                .map_err(|reason| format!("box {} of the initial states: {reason}", *boxes))
        }
    }
}

/// Whether a box lies in an invariant.
fn inside(
    invariant: &Invariant,
    region: &[(Rational, Rational)],
    identity: Option<&PutinarCertificate>,
) -> Result<(), String> {
    let states = region.len();
    match invariant {
        Invariant::Polyhedron(polyhedron) => {
            let exact = Exact::new(&polyhedron.halfspaces, states)?;
            for (normal, bound) in exact.halfspaces() {
                let mut highest = Rational::ZERO;
                for (slope, (lower, upper)) in normal.iter().zip(region) {
                    highest += slope * if is_negative(slope) { lower } else { upper };
                }
                if highest > *bound {
                    return Err("the box is not inside the polyhedron".to_owned());
                }
            }
            Ok(())
        }
        Invariant::Polynomial(proof) => {
            let barrier = polynomial(&proof.barrier, states)?;
            // A state that is fixed is put in as a number.
            let fixed: Vec<Polynomial> = region
                .iter()
                .enumerate()
                .map(|(i, (lower, upper))| match lower == upper {
                    true => Polynomial::constant(states, lower.clone()),
                    false => Polynomial::variable(states, i),
                })
                .collect();
            let barrier = barrier.compose(&fixed).ok_or("an exponent is too large")?;
            let Some(identity) = identity else {
                return match bernstein::upper(&barrier, region) {
                    Some(upper) if !is_positive(&upper) => Ok(()),
                    Some(_) => Err("the bound over the box is above zero".to_owned()),
                    None => Err("there are too many terms for a bound without an identity".to_owned()),
                };
            };
            let free = region.iter().enumerate().filter(|(_, (lower, upper))| lower != upper);
            let ranges: Vec<_> = free.map(|(i, (a, b))| (i, Some(a.clone()), Some(b.clone()))).collect();
            let claim = barrier.scaled(&-Rational::ONE);
            proves(&claim, &sides(&ranges, states), identity)
        }
    }
}
