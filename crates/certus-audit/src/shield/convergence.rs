//! Does a certificate prove that the programs of a shield lead to a given box? A Lyapunov argument, checked in rational arithmetic.
//!
//! In the invariant S of a branch, V(next) ≤ λ V + (1 − λ) floor with 0 ≤ λ < 1: after k steps of the branch's program V is
//! above the floor by at most λᵏ of what it was. The level is above the floor, so V falls to the level within a number of steps
//! that follows from the largest V over the domain, and stays below it. In S outside of the target V is above the level.

use std::fmt;

use super::certificate::{Branch, Convergence, DecreaseProof, Invariant};
use super::check::{domain_sides, polynomial, program_of, sides};
use super::model::{Model, Range};
use super::polynomial::{Polynomial, Rational, is_negative, magnitude, rational, rounded};
use super::sos::proves;

/// What is proved of convergence.
#[derive(Clone, Debug, PartialEq)]
pub struct Converges {
    /// The names of the states.
    pub states: Vec<String>,
    /// The box that is reached: one range per state.
    pub target: Vec<Range>,
    /// Within how many steps of a branch's program, from everywhere in its invariant: the most of all branches.
    pub steps: u64,
}

impl fmt::Display for Converges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |value: &Option<Rational>| value.as_ref().map_or_else(String::new, |x| rounded(x).to_string());
        let ranges = self.target.iter().zip(&self.states).filter(|(r, _)| r.lower.is_some() || r.upper.is_some());
        let shown: Vec<String> =
            ranges.map(|(range, name)| format!("{name} in {}..{}", end(&range.lower), end(&range.upper))).collect();
        write!(f, "the program leads to {} within {} steps, and stays", shown.join(", "), self.steps)
    }
}

/// Most steps that are counted.
const MAX_STEPS: u64 = 100_000_000;

/// Checks the proofs of all branches.
pub fn check_convergence(
    model: &Model,
    branches: &[Branch],
    claimed: &Convergence,
    progress: &mut dyn FnMut(),
) -> Result<Converges, String> {
    if claimed.proofs.len() != branches.len() {
        return Err(format!(
            "there are {} proofs of convergence for {} branches",
            claimed.proofs.len(),
            branches.len()
        ));
    }
    if claimed.target.len() != model.states.len() {
        return Err(format!("the target has {} ranges for {} states", claimed.target.len(), model.states.len()));
    }
    let mut steps = 0;
    for (index, (branch, proof)) in branches.iter().zip(&claimed.proofs).enumerate() {
        let own = check_branch(model, branch, proof, &claimed.target, progress);
        steps = steps.max(own.map_err(|reason| format!("convergence of branch {index}: {reason}"))?);
    }
    Ok(Converges { states: model.states.clone(), target: claimed.target.clone(), steps })
}

/// The sides of a target that the domain does not imply: the state, and where the outside is not negative.
pub fn outsides(model: &Model, target: &[Range]) -> Vec<(String, Polynomial)> {
    let states = model.states.len();
    let mut all = Vec::new();
    for (state, (wanted, whole)) in target.iter().zip(&model.domain).enumerate() {
        let x = Polynomial::variable(states, state);
        let constant = |value: &Rational| Polynomial::constant(states, value.clone());
        if let Some(lower) = &wanted.lower
            && whole.lower.as_ref().is_none_or(|whole| whole < lower)
        {
            all.push((format!("{} below the target", model.states[state]), constant(lower).minus(&x)));
        }
        if let Some(upper) = &wanted.upper
            && whole.upper.as_ref().is_none_or(|whole| whole > upper)
        {
            all.push((format!("{} above the target", model.states[state]), x.minus(&constant(upper))));
        }
    }
    all
}

/// What is not negative in an invariant.
fn invariant_constraints(invariant: &Invariant, states: usize) -> Result<Vec<Polynomial>, String> {
    match invariant {
        Invariant::Polynomial(proof) => Ok(vec![polynomial(&proof.barrier, states)?.scaled(&-Rational::ONE)]),
        Invariant::Polyhedron(polyhedron) => {
            let exact = super::polyhedron::Exact::new(&polyhedron.halfspaces, states)?;
            let row = |(normal, bound): &(Vec<Rational>, Rational)| {
                let mut row = Polynomial::constant(states, bound.clone());
                for (i, slope) in normal.iter().enumerate() {
                    row.add_scaled(&Polynomial::variable(states, i), &-slope.clone());
                }
                row
            };
            Ok(exact.halfspaces().iter().map(row).collect())
        }
    }
}

/// Within how many steps a branch's program reaches the target.
fn check_branch(
    model: &Model,
    branch: &Branch,
    proof: &DecreaseProof,
    target: &[Range],
    progress: &mut dyn FnMut(),
) -> Result<u64, String> {
    let enclosed = match &branch.invariant {
        Invariant::Polynomial(_) => None,
        Invariant::Polyhedron(_) => Some(model.linear_enclosure().ok_or("the step has no linear enclosure")?),
    };
    let model = enclosed.as_ref().unwrap_or(model);
    let states = model.states.len();
    let next = model.closed(&program_of(model, branch)?).ok_or("an exponent is too large")?;
    let function = polynomial(&proof.function, states)?;
    let (Some(contraction), Some(floor), Some(level)) =
        (rational(proof.contraction), rational(proof.floor), rational(proof.level))
    else {
        return Err("a number is missing".to_owned());
    };
    if is_negative(&contraction) || contraction >= Rational::ONE {
        return Err("the contraction is not from 0 up to 1".to_owned());
    }
    if level <= floor {
        return Err("the level is not above the floor".to_owned());
    }
    let inside = invariant_constraints(&branch.invariant, states)?;

    let variables = states + model.choices.len();
    let lowest = (Rational::ONE - &contraction) * &floor;
    let claim = function.widened(variables).scaled(&contraction);
    let claim = claim.minus(&function.compose(&next).ok_or("an exponent is too large")?);
    let claim = claim.plus(&Polynomial::constant(variables, lowest));
    let mut constraints = domain_sides(model, variables);
    let choices = model.choices.iter().enumerate();
    let choices = choices.map(|(i, (a, b))| (states + i, Some(a.clone()), Some(b.clone())));
    constraints.extend(sides(&choices.collect::<Vec<_>>(), variables));
    constraints.extend(inside.iter().map(|own| own.widened(variables)));
    proves(&claim, &constraints, &proof.step).map_err(|reason| format!("the step: {reason}"))?;
    progress();

    let outsides = outsides(model, target);
    if outsides.len() != proof.sides.len() {
        return Err(format!("there are {} identities for {} sides of the target", proof.sides.len(), outsides.len()));
    }
    for ((name, outside), (above, identity)) in outsides.into_iter().zip(&proof.sides) {
        let above = rational(*above).filter(|above| !is_negative(above) && !above.is_zero());
        let Some(above) = above else { return Err(format!("{name}: nothing positive is shown")) };
        let claim = function.minus(&Polynomial::constant(states, &level + above));
        let mut constraints = vec![outside];
        constraints.extend(domain_sides(model, states));
        constraints.extend(inside.iter().cloned());
        proves(&claim, &constraints, identity).map_err(|reason| format!("{name}: {reason}"))?;
        progress();
    }
    let highest = largest(&function, model).ok_or("the domain is not bounded")?;
    steps_to(&highest, &floor, &level, proof.contraction)
}

/// An upper bound over the domain.
fn largest(function: &Polynomial, model: &Model) -> Option<Rational> {
    let ends = |range: &Range| Some(magnitude(range.lower.clone()?).max(magnitude(range.upper.clone()?)));
    let reach: Vec<Rational> = model.domain.iter().map(ends).collect::<Option<_>>()?;
    let mut sum = Rational::ZERO;
    for (monomial, coefficient) in function.terms() {
        let even = monomial.iter().all(|e| e % 2 == 0);
        if is_negative(coefficient) && even {
            continue;
        }
        let mut size = magnitude(coefficient.clone());
        for (&exponent, reach) in monomial.iter().zip(&reach) {
            (0..exponent).for_each(|_| size *= reach);
        }
        sum += size;
    }
    Some(sum)
}

/// The first k with λᵏ (highest − floor) ≤ level − floor, or a little more.
fn steps_to(highest: &Rational, floor: &Rational, level: &Rational, contraction: f64) -> Result<u64, String> {
    if highest <= level {
        return Ok(0);
    }
    // Rounded down: a double near it, less one part in a million.
    let share = ((level - floor) / (highest - floor)).to_f64_fast() * (1.0 - 1e-6);
    let mut left = 1.0f64;
    let mut steps = 0;
    while left > share {
        // Rounded up.
        let next = (left * contraction).next_up();
        if next >= left || steps >= MAX_STEPS {
            return Err("the number of steps is not bounded by anything useful".to_owned());
        }
        left = next;
        steps += 1;
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_until_the_level() {
        let number = |x: f64| rational(x).unwrap();
        // From 9 to 2 above a floor of 1 at half each step: 8, 4, 2, 1.
        assert_eq!(steps_to(&number(9.0), &number(1.0), &number(2.0), 0.5), Ok(4));
        assert_eq!(steps_to(&number(2.0), &number(1.0), &number(2.0), 0.5), Ok(0));
        assert_eq!(steps_to(&number(9.0), &number(1.0), &number(2.0), 0.0), Ok(1));
        assert!(steps_to(&number(9.0), &number(1.0), &number(2.0), 1.0 - f64::EPSILON / 2.0).is_err());
    }
}
