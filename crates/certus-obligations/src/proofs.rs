//! Why no run violates a property: what each kind of proof rests on.

use certus_lang::system::{AtomId, Formula as Ltl, System};

use crate::formula::{Formula, Sum};
use crate::reach::{initial, reached};
use crate::run::Run;
use crate::temporal::{After, Nnf, Shape};
use crate::words::{Face, Method, Proof};
use crate::{Asked, Refused, Scope, reads_choice, uses_next};

/// Steps that a lasso's formula may look ahead before it repeats itself.
const MOST_LOOKAHEAD: u64 = 10_000;

/// Asks what a proof rests on, and says how far it reaches.
pub(crate) fn derive(system: &System, formula: &Ltl, proof: &Proof, asked: &mut Asked) -> Result<Scope, Refused> {
    let violation = Nnf::of(formula, false);
    let horizon = violation.horizon();
    let whole = || horizon.map_or(Scope::AllTime, Scope::Horizon);
    match proof {
        Proof::Bounded { steps, cycles } => {
            let decided = horizon.is_some_and(|last| last <= *steps as u64);
            if !decided && !Nnf::of(formula, true).shows_its_bad_prefixes() {
                let message =
                    "a violation of this property may show later than it happens, so a proof of some steps is none";
                return Err(Refused::new(message));
            }
            bounded(system, &violation, *steps, cycles, asked)?;
            Ok(match horizon {
                Some(last) if last <= *steps as u64 => Scope::Horizon(last),
                _ => Scope::Steps(*steps),
            })
        }
        Proof::OutOfReach { steps } => {
            for depth in 0..=*steps {
                shown(system, &violation, Shape::prefix(depth + 1), asked)?;
            }
            let shape = Shape { positions: steps + 1, after: After::Anything };
            let run = Run::new(system, &initial(system), shape)?;
            // What goes on beyond the last position is a run there, too.
            let mut parts = vec![run.initial(), run.is_run()];
            if reads_choice(system, &violation) {
                parts.push(run.followed(*steps));
            }
            parts.push(shape.says(&violation, 0, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
            asked.never(format!("{steps} steps after which a violation is possible"), run, parts)?;
            Ok(whole())
        }
        Proof::ForAllTime(methods) => {
            let parts = conjuncts(formula);
            if parts.len() != methods.len() {
                let message = format!("there are {} proofs of a property of {} parts", methods.len(), parts.len());
                return Err(Refused::new(message));
            }
            for (part, method) in parts.into_iter().zip(methods) {
                for_all_time(system, &Nnf::of(part, false), method, asked)?;
            }
            Ok(whole())
        }
    }
}

fn conjuncts(formula: &Ltl) -> Vec<&Ltl> {
    match formula {
        Ltl::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// Asks for a prefix from an initial state that shows a violation, or for a lasso that does. Shorter prefixes are somebody else's
/// to ask about: of what is merely reached, only the last position counts.
fn shown(system: &System, violation: &Nnf, shape: Shape, asked: &mut Asked) -> Result<(), Refused> {
    let last = shape.positions - 1;
    let run = Run::new(system, &initial(system), shape)?;
    let is_lasso = matches!(shape.after, After::Return(_));
    let (formula, from) = match violation.reached() {
        Some(bad) if !is_lasso => (bad, last),
        _ => (violation, 0),
    };
    let says = shape.says(formula, from, &mut |atom, at, wanted| match !is_lasso && at == last {
        true => seen(&run, at, atom, wanted),
        false => run.atom(at, atom, wanted),
    });
    let mut parts = vec![run.initial(), run.is_run()];
    if !is_lasso && reads_choice(system, violation) {
        parts.push(run.allowed(last));
    }
    parts.push(says);
    let title = match shape.after {
        After::Return(start) => format!("a violation by {last} steps that return to position {start}"),
        _ => format!("a violation by {last} steps"),
    };
    asked.never(title, run, parts)
}

/// That an atom is as wanted at a position that no other follows. One that mentions the successor has no value where that is no state.
pub(crate) fn seen(run: &Run<'_>, position: usize, atom: AtomId, wanted: bool) -> Formula {
    match uses_next(run.system, atom) {
        true => Formula::all([run.atom(position, atom, wanted), run.successor(position, true)]),
        false => run.atom(position, atom, wanted),
    }
}

fn bounded(system: &System, violation: &Nnf, steps: usize, cycles: &[usize], asked: &mut Asked) -> Result<(), Refused> {
    let tail = violation.tail();
    let none = |period: usize| tail != Nnf::Constant(true) && cycles.contains(&period);
    // Behind its own last step a property says nothing.
    let within = violation.horizon().filter(|&last| last <= steps as u64).map(|last| last as usize);
    let deepest = within.unwrap_or(steps);
    if within.is_none() && lookahead(violation) > MOST_LOOKAHEAD {
        return Err(Refused::new("the bounds of the property are too large for lassos"));
    }
    let lassos = |depth: usize| match (within, violation.horizon(), shown_within(violation, depth + 1)) {
        (Some(_), ..) => false,
        // A lasso decides what lies beyond the steps that were asked for.
        (None, Some(_), _) | (None, None, None) => true,
        // A prefix within the steps shows whatever this lasso does.
        (None, None, Some(last)) => last > steps as u64 && depth < steps,
    };
    let mut periods: Vec<usize> = Vec::new();
    for depth in 0..=deepest {
        shown(system, violation, Shape::prefix(depth + 1), asked)?;
        for start in (0..=depth).filter(|_| lassos(depth)) {
            let period = depth + 1 - start;
            if none(period) {
                periods.push(period);
                continue;
            }
            shown(system, violation, Shape { positions: depth + 1, after: After::Return(start) }, asked)?;
        }
    }
    periods.sort_unstable();
    periods.dedup();
    for period in periods {
        let shape = Shape { positions: period, after: After::Return(0) };
        let run = Run::new(system, &reached(system)?, shape)?;
        let mut parts = vec![run.is_run()];
        for position in 0..period {
            parts.push(shape.says(&tail, position, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
        }
        asked.never(format!("a cycle of period {period} on which a violation lasts"), run, parts)?;
    }
    Ok(())
}

/// The largest lower bound in a formula.
fn lookahead(formula: &Nnf) -> u64 {
    match formula {
        Nnf::Constant(_) | Nnf::Literal(..) => 0,
        Nnf::All(parts) | Nnf::Any(parts) => parts.iter().map(lookahead).max().unwrap_or(0),
        Nnf::Next(own) => lookahead(own),
        Nnf::Until(bounds, left, right) | Nnf::Release(bounds, left, right) => {
            bounds.lower.max(lookahead(left)).max(lookahead(right))
        }
    }
}

/// The last step of a prefix that shows a formula which holds on a lasso of so many positions; none if no prefix need do so.
fn shown_within(formula: &Nnf, positions: usize) -> Option<u64> {
    match formula {
        Nnf::Constant(_) | Nnf::Literal(..) => Some(0),
        Nnf::All(parts) | Nnf::Any(parts) => {
            parts.iter().try_fold(0, |most: u64, part| Some(most.max(shown_within(part, positions)?)))
        }
        Nnf::Next(own) => shown_within(own, positions)?.checked_add(1),
        Nnf::Until(bounds, left, right) => {
            // From the lower bound on, everything is visited within once round.
            let last = bounds.lower.checked_add(positions as u64 - 1)?.min(bounds.upper.unwrap_or(u64::MAX));
            shown_within(left, positions)?.max(shown_within(right, positions)?).checked_add(last)
        }
        Nnf::Release(bounds, left, right) => {
            shown_within(left, positions)?.max(shown_within(right, positions)?).checked_add(bounds.upper?)
        }
    }
}

fn for_all_time(system: &System, violation: &Nnf, method: &Method, asked: &mut Asked) -> Result<(), Refused> {
    let wrong = || Refused::new("the proof does not fit the property");
    // What a violation that only infinite runs show stays in for ever.
    let lasting =
        || Some(violation.tail()).filter(|tail| *tail != Nnf::Constant(true) && !violation.shows_in_prefixes());
    match method {
        Method::Induction { depth, invariant, different } => {
            let bad = violation.reached().ok_or_else(wrong)?;
            for steps in 0..*depth {
                shown(system, violation, Shape::prefix(steps + 1), asked)?;
            }
            if !invariant.is_empty() {
                inductive(system, invariant, &bad.negated(), asked)?;
            }
            induction_step(system, bad, invariant, *depth, *different, asked)
        }
        Method::Leaves { steps } => {
            let tail = lasting().ok_or_else(wrong)?;
            let (run, parts) = staying(system, &tail, steps + 1)?;
            asked.never(format!("{steps} steps on which a violation lasts"), run, parts)
        }
        Method::Ranking { coefficients, decrease, context } => {
            let tail = lasting().ok_or_else(wrong)?;
            let states = system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
            // A function of numbers without bounds could go down for ever.
            let bounded: Vec<bool> = states.map(|(low, high)| (high - low).is_finite()).collect();
            let fits = coefficients.len() == bounded.len()
                && coefficients.iter().zip(&bounded).all(|(own, bounded)| *own == 0.0 || *bounded);
            if !fits || decrease.is_nan() || *decrease <= 0.0 || *context == 0 {
                return Err(wrong());
            }
            let (run, mut parts) = staying(system, &tail, context + 1)?;
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
    }
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

/// Asks for good states in a row, inside of an invariant, that lead to a bad one.
fn induction_step(
    system: &System,
    bad: &Nnf,
    faces: &[Face],
    depth: usize,
    different: bool,
    asked: &mut Asked,
) -> Result<(), Refused> {
    let shape = Shape::prefix(depth + 1);
    let run = Run::new(system, &reached(system)?, shape)?;
    let mut parts = vec![run.is_run()];
    for position in 0..=depth {
        parts.push(inside(faces, &run.observed(position))?);
    }
    let good = bad.negated();
    for position in 0..depth {
        parts.push(shape.says(&good, position, &mut |atom, at, wanted| run.atom(at, atom, wanted)));
    }
    for second in (0..depth).filter(|_| different) {
        for first in 0..second {
            let pairs: Vec<(Sum, Sum)> = run.state(first).into_iter().zip(run.state(second)).collect();
            let apart = pairs
                .iter()
                .filter(|(left, right)| left != right)
                .flat_map(|(left, right)| [Formula::at_most(left, right, true), Formula::at_most(right, left, true)]);
            parts.push(Formula::any(apart));
        }
    }
    if reads_choice(system, bad) {
        parts.push(run.allowed(depth));
    }
    parts.push(shape.says(bad, depth, &mut |atom, at, wanted| seen(&run, at, atom, wanted)));
    let title = match depth {
        0 => "a bad state".to_owned(),
        _ => format!("a step from {depth} good states in a row to a bad one"),
    };
    asked.never(title, run, parts)
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
