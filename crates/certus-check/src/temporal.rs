//! Temporal formulas over the positions of a run.
//!
//! A run of n positions is either a lasso (after the last position it returns to an earlier one, for ever) or a prefix of which
//! nothing more is known. On a lasso every formula has a value; of a prefix it is only said what holds whatever follows
//! (Biere, Cimatti, Clarke, Zhu: bounded model checking). Here a formula in negation normal form becomes a query's
//! formula over the conditions of the positions.
//!
//! *Until* on a lasso: from any position, n further ones visit everything that is ever visited, so looking that far beyond
//! the lower bound decides it. On a prefix its witness must lie inside. *Release* on a prefix needs the release to
//! happen inside, unless its bound ends there.

use certus_lang::system::{AtomId, Bounds, Formula as Ltl};
use certus_solver::Place;
use certus_solver::formula::Formula;

use crate::condition::{always, and, never, or};

/// A temporal formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normal {
    /// A conjunction; true if empty.
    And(Vec<Normal>),
    /// A disjunction; false if empty.
    Or(Vec<Normal>),
    /// An atom, or its negation.
    Atom(AtomId, bool),
    /// At the next position.
    Next(Box<Normal>),
    /// The second within the bounds, the first until then.
    Until(Bounds, Box<Normal>, Box<Normal>),
    /// The second within the bounds, up to and including where the first holds.
    Release(Bounds, Box<Normal>, Box<Normal>),
}

impl Normal {
    fn truth() -> Normal {
        Normal::And(Vec::new())
    }

    fn falsity() -> Normal {
        Normal::Or(Vec::new())
    }

    /// A formula (`positive`) or its negation.
    pub fn of(formula: &Ltl, positive: bool) -> Normal {
        let own = |formula: &Ltl| Box::new(Normal::of(formula, positive));
        let all = |parts: &[Ltl]| parts.iter().map(|part| Normal::of(part, positive)).collect();
        let constant = |value: bool| if value { Normal::truth() } else { Normal::falsity() };
        let eventually = |bounds: Bounds, goal: Box<Normal>| Normal::Until(bounds, Box::new(Normal::truth()), goal);
        let always = |bounds: Bounds, kept: Box<Normal>| Normal::Release(bounds, Box::new(Normal::falsity()), kept);
        match formula {
            Ltl::Constant(value) => constant(*value == positive),
            Ltl::Atom(atom) => Normal::Atom(*atom, positive),
            Ltl::Not(inner) => Normal::of(inner, !positive),
            Ltl::And(parts) if positive => Normal::And(all(parts)),
            Ltl::And(parts) => Normal::Or(all(parts)),
            Ltl::Or(parts) if positive => Normal::Or(all(parts)),
            Ltl::Or(parts) => Normal::And(all(parts)),
            Ltl::Implies(premise, conclusion) => {
                let parts = vec![Normal::of(premise, !positive), Normal::of(conclusion, positive)];
                if positive { Normal::Or(parts) } else { Normal::And(parts) }
            }
            Ltl::Iff(left, right) => {
                let pair =
                    |first: bool, second: bool| Normal::And(vec![Normal::of(left, first), Normal::of(right, second)]);
                Normal::Or(vec![pair(true, positive), pair(false, !positive)])
            }
            Ltl::Next(inner) => Normal::Next(own(inner)),
            Ltl::Finally(bounds, inner) if positive => eventually(*bounds, own(inner)),
            Ltl::Finally(bounds, inner) => always(*bounds, own(inner)),
            Ltl::Globally(bounds, inner) if positive => always(*bounds, own(inner)),
            Ltl::Globally(bounds, inner) => eventually(*bounds, own(inner)),
            Ltl::Until(bounds, left, right) if positive => Normal::Until(*bounds, own(left), own(right)),
            Ltl::Until(bounds, left, right) => Normal::Release(*bounds, own(left), own(right)),
            Ltl::Release(bounds, left, right) if positive => Normal::Release(*bounds, own(left), own(right)),
            Ltl::Release(bounds, left, right) => Normal::Until(*bounds, own(left), own(right)),
            Ltl::WeakUntil(bounds, left, right) => {
                let whole = Bounds { lower: 0, upper: bounds.upper };
                match positive {
                    true => Normal::Or(vec![Normal::Until(*bounds, own(left), own(right)), always(whole, own(left))]),
                    false => {
                        Normal::And(vec![Normal::Release(*bounds, own(left), own(right)), eventually(whole, own(left))])
                    }
                }
            }
        }
    }

    /// The atoms that it mentions.
    pub fn atoms(&self) -> Vec<AtomId> {
        match self {
            Normal::Atom(id, _) => vec![*id],
            Normal::And(parts) | Normal::Or(parts) => parts.iter().flat_map(Normal::atoms).collect(),
            Normal::Next(inner) => inner.atoms(),
            Normal::Until(_, left, right) | Normal::Release(_, left, right) => {
                left.atoms().into_iter().chain(right.atoms()).collect()
            }
        }
    }

    /// Whether only an infinite run can show that it holds: it says something of all positions from some one on.
    pub fn needs_loop(&self) -> bool {
        match self {
            Normal::Atom(..) => false,
            Normal::And(parts) | Normal::Or(parts) => parts.iter().any(Normal::needs_loop),
            Normal::Next(inner) => inner.needs_loop(),
            Normal::Until(_, left, right) => left.needs_loop() || right.needs_loop(),
            Normal::Release(bounds, left, right) => bounds.upper.is_none() || left.needs_loop() || right.needs_loop(),
        }
    }

    /// Whether a finite run can show that it holds at all.
    pub fn can_end(&self) -> bool {
        match self {
            Normal::Atom(..) => true,
            Normal::And(parts) => parts.iter().all(Normal::can_end),
            Normal::Or(parts) => parts.is_empty() || parts.iter().any(Normal::can_end),
            Normal::Next(inner) => inner.can_end(),
            Normal::Until(_, _, right) => right.can_end(),
            Normal::Release(bounds, left, right) => {
                let released = !matches!(&**left, Normal::Or(parts) if parts.is_empty()) && left.can_end();
                // Released before the lower bound, nothing is asked of the second.
                (released && bounds.lower > 0) || (right.can_end() && (released || bounds.upper.is_some()))
            }
        }
    }

    /// How many steps beyond a position that it waits for it may look at.
    pub fn lookahead(&self) -> u64 {
        match self {
            Normal::Atom(..) => 0,
            Normal::And(parts) | Normal::Or(parts) => parts.iter().map(Normal::lookahead).max().unwrap_or(0),
            Normal::Next(inner) => inner.lookahead().saturating_add(1),
            Normal::Until(bounds, left, right) | Normal::Release(bounds, left, right) => {
                left.lookahead().max(right.lookahead()).saturating_add(bounds.upper.unwrap_or(bounds.lower))
            }
        }
    }

    /// How many steps beyond its own position it looks at, at most; none for without end.
    pub fn horizon(&self) -> Option<u64> {
        match self {
            Normal::Atom(..) => Some(0),
            Normal::And(parts) | Normal::Or(parts) => {
                parts.iter().try_fold(0, |most: u64, part| Some(most.max(part.horizon()?)))
            }
            Normal::Next(inner) => inner.horizon()?.checked_add(1),
            Normal::Until(bounds, left, right) | Normal::Release(bounds, left, right) => {
                left.horizon()?.max(right.horizon()?).checked_add(bounds.upper?)
            }
        }
    }
}

impl Normal {
    /// What holds from some position on, for ever, on every infinite run on which the formula holds: a condition of single
    /// positions. True if nothing is known.
    pub fn tail(&self) -> Normal {
        match self {
            Normal::Atom(..) => Normal::truth(),
            Normal::And(parts) => Normal::all(parts.iter().map(Normal::tail)),
            Normal::Or(parts) => Normal::any(parts.iter().map(Normal::tail)),
            Normal::Next(inner) => inner.tail(),
            Normal::Until(_, _, right) => right.tail(),
            Normal::Release(bounds, left, right) => {
                let released = !matches!(&**left, Normal::Or(parts) if parts.is_empty());
                match bounds.upper {
                    None if !released => Normal::all([right.tail(), right.here()]),
                    _ => Normal::truth(),
                }
            }
        }
    }

    /// What holds at every position at which the formula does.
    fn here(&self) -> Normal {
        match self {
            Normal::Atom(..) => self.clone(),
            Normal::And(parts) => Normal::all(parts.iter().map(Normal::here)),
            Normal::Or(parts) => Normal::any(parts.iter().map(Normal::here)),
            Normal::Next(_) => Normal::truth(),
            Normal::Until(bounds, left, right) if bounds.lower == 0 => Normal::any([left.here(), right.here()]),
            Normal::Release(bounds, _, right) if bounds.lower == 0 => right.here(),
            Normal::Until(..) | Normal::Release(..) => Normal::truth(),
        }
    }

    /// What holds at every position up to which the formula may still hold: a condition of single positions. True if nothing is known.
    pub fn throughout(&self) -> Normal {
        match self {
            Normal::And(parts) => Normal::all(parts.iter().map(Normal::throughout)),
            Normal::Or(parts) => Normal::any(parts.iter().map(Normal::throughout)),
            Normal::Release(Bounds { lower: 0, upper: None }, left, right) if matches!(&**left, Normal::Or(parts) if parts.is_empty()) => {
                right.here()
            }
            _ => Normal::truth(),
        }
    }

    /// A conjunction without what is true anyway.
    fn all(parts: impl IntoIterator<Item = Normal>) -> Normal {
        Normal::And(parts.into_iter().filter(|part| *part != Normal::truth()).collect())
    }

    /// A disjunction; true if a part is.
    fn any(parts: impl IntoIterator<Item = Normal>) -> Normal {
        let parts: Vec<Normal> = parts.into_iter().collect();
        if parts.contains(&Normal::truth()) { Normal::truth() } else { Normal::Or(parts) }
    }

    /// What is reached, if it says no more than that a condition of single positions holds some time: the negation of a
    /// safety property.
    pub fn reached(&self) -> Option<&Normal> {
        match self {
            Normal::Until(bounds, left, right)
                if bounds.lower == 0 && bounds.upper.is_none() && left.is_true() && right.horizon() == Some(0) =>
            {
                Some(right)
            }
            _ => None,
        }
    }

    /// The negation.
    pub fn negated(&self) -> Normal {
        let boxed = |inner: &Normal| Box::new(inner.negated());
        match self {
            Normal::And(parts) => Normal::Or(parts.iter().map(Normal::negated).collect()),
            Normal::Or(parts) => Normal::And(parts.iter().map(Normal::negated).collect()),
            Normal::Atom(id, wanted) => Normal::Atom(*id, !wanted),
            Normal::Next(inner) => Normal::Next(boxed(inner)),
            Normal::Until(bounds, left, right) => Normal::Release(*bounds, boxed(left), boxed(right)),
            Normal::Release(bounds, left, right) => Normal::Until(*bounds, boxed(left), boxed(right)),
        }
    }

    /// Whether it is true of everything.
    pub fn is_true(&self) -> bool {
        *self == Normal::truth()
    }
}

/// The shape of a run: its positions, and where it returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many positions it has; at least one.
    pub positions: usize,
    /// Where it returns to after the last one.
    pub loop_to: Option<usize>,
}

impl Shape {
    /// The position so many steps after another, if it is known.
    pub fn after(&self, position: usize, steps: usize) -> Option<usize> {
        let at = position.saturating_add(steps);
        match self.loop_to {
            _ if at < self.positions => Some(at),
            Some(start) => Some(start + (at - start) % (self.positions - start)),
            None => None,
        }
    }
}

/// What a formula about a run without a loop supposes of the positions after its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nothing: the formula holds whatever follows.
    Anything,
    /// The best: the formula can still hold.
    TheBest,
}

/// The formula that says that a temporal formula holds at a position, given the formula of each atom at each position.
pub fn encode(
    formula: &Normal,
    position: usize,
    shape: Shape,
    beyond: Beyond,
    atom: &mut dyn FnMut(AtomId, usize, bool) -> Formula<Place>,
) -> Formula<Place> {
    let hopeful = beyond == Beyond::TheBest && shape.loop_to.is_none();
    match formula {
        Normal::Atom(id, wanted) => atom(*id, position, *wanted),
        Normal::And(parts) => and(parts.iter().map(|part| encode(part, position, shape, beyond, atom)).collect()),
        Normal::Or(parts) => or(parts.iter().map(|part| encode(part, position, shape, beyond, atom)).collect()),
        Normal::Next(inner) => match shape.after(position, 1) {
            Some(next) => encode(inner, next, shape, beyond, atom),
            None if hopeful => always(),
            None => never(),
        },
        Normal::Until(bounds, left, right) => {
            let mut ways = Vec::new();
            let mut before = Vec::new();
            let mut later = false;
            for steps in 0..=last_step(*bounds, position, shape) {
                let Some(at) = shape.after(position, steps) else {
                    later = hopeful;
                    break;
                };
                if steps as u64 >= bounds.lower {
                    let mut way = before.clone();
                    way.push(encode(right, at, shape, beyond, atom));
                    ways.push(and(way));
                }
                before.push(encode(left, at, shape, beyond, atom));
            }
            if later {
                ways.push(and(before));
            }
            or(ways)
        }
        Normal::Release(bounds, left, right) => {
            let last = last_step(*bounds, position, shape);
            let whole = shape.loop_to.is_some() || bounds.upper.is_some_and(|_| shape.after(position, last).is_some());
            let mut ways = Vec::new();
            let mut kept = Vec::new();
            for steps in 0..=last {
                let Some(at) = shape.after(position, steps) else { break };
                if steps as u64 >= bounds.lower {
                    kept.push(encode(right, at, shape, beyond, atom));
                }
                let mut way = kept.clone();
                way.push(encode(left, at, shape, beyond, atom));
                ways.push(and(way));
            }
            if whole || hopeful {
                ways.push(and(kept));
            }
            or(ways)
        }
    }
}

/// The last step that an operator has to look at.
fn last_step(bounds: Bounds, position: usize, shape: Shape) -> usize {
    let far = usize::try_from(bounds.lower).unwrap_or(usize::MAX).saturating_add(shape.positions);
    let bound = bounds.upper.map_or(usize::MAX, |upper| usize::try_from(upper).unwrap_or(usize::MAX));
    match shape.loop_to {
        Some(_) => far.min(bound),
        None => bound.min(shape.positions.saturating_sub(position).max(far)),
    }
}
