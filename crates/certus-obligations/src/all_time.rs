//! Why no run violates a property, ever: what induction, invariants and ranking functions rest on.

use certus_lang::system::{AtomId, Bounds, Formula as Ltl, System};

use crate::formula::{Formula, Sum};
use crate::proofs::seen;
use crate::reach::{initial, reached};
use crate::run::Run;
use crate::temporal::{Nnf, Shape};
use crate::words::{Face, Method};
use crate::{Asked, Refused, reads_choice};

/// Steps that a formula which looks further is cut off after, at most.
const MOST_AHEAD: usize = 64;

/// Steps that a formula may look ahead to be asked what it says of single positions.
const MOST_LOOKAHEAD: u64 = 100;

/// Asks what a proof for all time of one formula rests on.
pub(crate) fn for_all_time(system: &System, formula: &Ltl, method: &Method, asked: &mut Asked) -> Result<(), Refused> {
    let violation = Nnf::of(formula, false);
    let roles = &system.roles;
    // A run that ends for good, in a terminal state that allows no choice, must have shown by itself what it has violated.
    let ends = roles.terminal.is_some() && roles.assume.is_some();
    if ends && violation.reached().is_none() && !Nnf::of(formula, true).shows_its_bad_prefixes() {
        return Err(Refused::new("a run may end before it shows that it violates the property"));
    }
    match method {
        Method::Induction { depth, ahead, invariant, different } => {
            let bad = beginning(&violation).and_then(|bad| cut_off(bad, *ahead)).ok_or_else(wrong)?;
            induction(system, &bad, (*depth, *different), invariant, asked)
        }
        Method::Ranking { coefficients, decrease, context } => {
            let tail = lasting(&violation).ok_or_else(wrong)?;
            ranking(system, &tail, coefficients, (*decrease, *context), asked)
        }
    }
}

fn wrong() -> Refused {
    Refused::new("the proof does not fit the property")
}

/// What a violation that only infinite runs show stays in for ever.
fn lasting(violation: &Nnf) -> Option<Nnf> {
    Some(violation.tail()).filter(|tail| *tail != Nnf::Constant(true) && !violation.shows_in_prefixes())
}

/// What holds at some position of every run that violates a property: what the violation says will hold some time, or else that it stays for
/// ever in what it stays in.
pub(crate) fn beginning(violation: &Nnf) -> Option<Nnf> {
    let stays = || {
        let tail = Box::new(lasting(violation)?);
        Some(Nnf::Release(Bounds { lower: 0, upper: None }, Box::new(Nnf::Constant(false)), tail))
    };
    let Some(own) = violation.comes() else { return stays() };
    let far = own.lookahead().saturating_add(1);
    match own.horizon() {
        None if far > MOST_LOOKAHEAD || own.at(far) == Nnf::Constant(true) => {
            stays().or_else(|| (own.at(0) != Nnf::Constant(true)).then(|| own.clone()))
        }
        _ => Some(own.clone()),
    }
}

/// What is left of a formula that looks no further than so many steps.
fn cut_off(formula: Nnf, ahead: usize) -> Option<Nnf> {
    match formula.horizon() {
        Some(last) if last <= ahead as u64 => Some(formula),
        _ if ahead <= MOST_AHEAD => Some(formula.within(ahead as u64)),
        _ => None,
    }
}

/// Asks that what is bad begins nowhere: not in the first positions of a run, and not after so many positions at which it does not begin. It may show at
/// once or some steps later, and a run may end as soon as it has shown.
fn induction(
    system: &System,
    bad: &Nnf,
    (depth, different): (usize, bool),
    faces: &[Face],
    asked: &mut Asked,
) -> Result<(), Refused> {
    let horizon = bad.horizon().and_then(|last| usize::try_from(last).ok()).ok_or_else(wrong)?;
    let first = match bad.shows_after() {
        Some(first) => usize::try_from(first).map_or(horizon, |first| first.min(horizon)),
        // What no prefix shows, and yet looks no further than some steps, never happens.
        None => horizon,
    };
    for (at, later) in (0..depth).flat_map(|at| (first..=horizon).map(move |later| (at, later))) {
        let shape = Shape::prefix(at + later + 1);
        let run = Run::new(system, &initial(system), shape)?;
        let parts = vec![run.initial(), run.is_run(), says_at_the_end(&run, shape, bad, at)];
        asked.never(format!("a violation that begins at step {at} and shows by step {}", at + later), run, parts)?;
    }
    if !faces.is_empty() {
        // Of a position before the first bad one more is known if single positions tell what is bad.
        let within = if horizon == 0 { bad.negated() } else { Nnf::Constant(true) };
        inductive(system, faces, &within, asked)?;
    }
    for later in first..=horizon {
        let last = depth + later;
        let shape = Shape::prefix(last + 1);
        let run = Run::new(system, &reached(system)?, shape)?;
        let mut parts = vec![run.is_run()];
        for position in 0..=last {
            parts.push(inside(faces, &run.observed(position))?);
        }
        let good = bad.negated();
        // What the last position decides is left open: the run may end there.
        for position in (0..depth).filter(|position| position + horizon < last) {
            parts.push(shape.says(&good, position, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
        }
        for second in (0..depth).filter(|_| different) {
            parts.extend((0..second).map(|first| apart(&run, first, second)));
        }
        parts.push(says_at_the_end(&run, shape, bad, depth));
        let after = match depth {
            0 => String::new(),
            _ => format!("a step from {depth} good states in a row to "),
        };
        let title = match horizon {
            0 => format!("{after}a bad state"),
            _ => format!("{after}a violation that shows by {later} steps later"),
        };
        asked.never(title, run, parts)?;
    }
    Ok(())
}

/// What a formula says at a position of a run that may end at its last one.
fn says_at_the_end(run: &Run<'_>, shape: Shape, formula: &Nnf, position: usize) -> Formula {
    let last = shape.positions - 1;
    shape.says(formula, position, &mut |atom: AtomId, at, wanted| match at == last {
        true => seen(run, at, atom, wanted),
        false => run.atom(at, atom, wanted),
    })
}

/// That the states at two positions differ.
fn apart(run: &Run<'_>, first: usize, second: usize) -> Formula {
    let pairs: Vec<(Sum, Sum)> = run.state(first).into_iter().zip(run.state(second)).collect();
    let differ = pairs
        .iter()
        .filter(|(left, right)| left != right)
        .flat_map(|(left, right)| [Formula::at_most(left, right, true), Formula::at_most(right, left, true)]);
    Formula::any(differ)
}

/// Asks for a step of a violation that lasts on which a linear function goes down by less than it should.
fn ranking(
    system: &System,
    tail: &Nnf,
    coefficients: &[f64],
    (decrease, context): (f64, usize),
    asked: &mut Asked,
) -> Result<(), Refused> {
    let states = system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
    // A function of numbers without bounds could go down for ever.
    let bounded: Vec<bool> = states.map(|(low, high)| (high - low).is_finite()).collect();
    let fits = coefficients.len() == bounded.len()
        && coefficients.iter().zip(&bounded).all(|(own, bounded)| *own == 0.0 || *bounded);
    if !fits || decrease.is_nan() || decrease <= 0.0 || context == 0 {
        return Err(wrong());
    }
    let (run, mut parts) = staying(system, tail, context + 1)?;
    // before − after ≤ decrease, and not even that if it is equal.
    let mut change = Sum::constant(-decrease);
    for (sign, state) in [(1.0, run.state(0)), (-1.0, run.state(1))] {
        for (number, coefficient) in state.iter().zip(coefficients) {
            change.add(sign * coefficient, number);
        }
    }
    parts.push(Formula::at_most(&change, &Sum::constant(0.0), true));
    asked.never("a step of a lasting violation on which the function goes down by less", run, parts)
}

/// A run, begun anywhere, that satisfies a condition at all of its positions.
fn staying<'s>(system: &'s System, tail: &Nnf, positions: usize) -> Result<(Run<'s>, Vec<Formula>), Refused> {
    let shape = Shape::prefix(positions);
    let run = Run::new(system, &reached(system)?, shape)?;
    let mut parts = vec![run.is_run()];
    // A violation that lasts goes on after the last position.
    if reads_choice(system, tail) {
        parts.push(run.followed(positions - 1));
    }
    for position in 0..positions {
        parts.push(shape.says(tail, position, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
    }
    Ok((run, parts))
}

/// Asks for initial states outside of an invariant, and for steps out of it from where a condition holds.
pub(crate) fn inductive(system: &System, faces: &[Face], within: &Nnf, asked: &mut Asked) -> Result<(), Refused> {
    let shape = Shape::prefix(1);
    let run = Run::new(system, &initial(system), shape)?;
    let outside = outside(faces, &run.observed(0))?;
    let parts = vec![run.initial(), run.is_run(), outside];
    asked.never("an initial state outside of the invariant", run, parts)?;
    let state_len = system.state_len();
    let reads_outputs = faces.iter().any(|face| face.coefficients.iter().skip(state_len).any(|own| *own != 0.0));
    // What the policies do after a step takes another position.
    let shape = Shape::prefix(if reads_outputs { 2 } else { 1 });
    let run = Run::new(system, &reached(system)?, shape)?;
    let mut parts = vec![run.is_run(), inside(faces, &run.observed(0))?];
    if !reads_outputs {
        parts.push(run.followed(0));
    }
    parts.push(shape.says(within, 0, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
    let after = if reads_outputs { run.observed(1) } else { run.next(0) };
    parts.push(self::outside(faces, &after)?);
    asked.never("a step out of the invariant", run, parts)
}

/// That numbers lie in all halfspaces.
pub(crate) fn inside(faces: &[Face], numbers: &[Sum]) -> Result<Formula, Refused> {
    let excess = excesses(faces, numbers)?;
    Ok(Formula::all(excess.iter().map(|own| Formula::at_most(own, &Sum::constant(0.0), false))))
}

/// That they are outside of one.
fn outside(faces: &[Face], numbers: &[Sum]) -> Result<Formula, Refused> {
    let excess = excesses(faces, numbers)?;
    Ok(Formula::any(excess.iter().map(|own| Formula::at_most(&Sum::constant(0.0), own, true))))
}

/// coefficients · numbers − bound, for each halfspace.
fn excesses(faces: &[Face], numbers: &[Sum]) -> Result<Vec<Sum>, Refused> {
    let excess = |face: &Face| {
        // Coefficients of nothing would make the same words mean two things.
        if face.coefficients.iter().skip(numbers.len()).any(|own| *own != 0.0) {
            return Err(Refused::new("the invariant speaks of more numbers than there are"));
        }
        let mut sum = Sum::constant(-face.bound);
        face.coefficients.iter().zip(numbers).for_each(|(&coefficient, number)| sum.add(coefficient, number));
        Ok(sum)
    };
    faces.iter().map(excess).collect()
}
