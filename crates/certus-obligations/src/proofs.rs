//! Why no run violates a property: what each kind of proof rests on.

use certus_lang::system::{AtomId, Formula as Ltl, System};

use crate::all_time::for_all_time;
use crate::formula::Formula;
use crate::reach::{initial, reached};
use crate::run::Run;
use crate::temporal::{After, Nnf, Shape};
use crate::words::Proof;
use crate::{Asked, Refused, Scope, is_chosen, reads_choice, uses_next};

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
                for_all_time(system, part, method, asked)?;
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
    let parts = vec![run.initial(), run.is_run(), says];
    let title = match shape.after {
        After::Return(start) => format!("a violation by {last} steps that return to position {start}"),
        _ => format!("a violation by {last} steps"),
    };
    asked.never(title, run, parts)
}

/// That an atom is as wanted at a position that no other follows. One that reads what is chosen has a value where that is allowed, and one that mentions the
/// successor where that is a state; one of the state alone has a value wherever the run ends.
pub(crate) fn seen(run: &Run<'_>, position: usize, atom: AtomId, wanted: bool) -> Formula {
    let mut parts = vec![run.atom(position, atom, wanted)];
    if is_chosen(run.system, atom) {
        parts.push(run.allowed(position));
    }
    if uses_next(run.system, atom) {
        parts.push(run.successor(position, true));
    }
    Formula::all(parts)
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
