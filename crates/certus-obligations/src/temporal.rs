//! Temporal formulas in negation normal form, and what they say of a finite run.
//!
//! A finite run is a *prefix*, of which nothing is known beyond its last position, or a *lasso*, which returns to an earlier one
//! for ever (Biere, Cimatti, Clarke, Zhu: Symbolic model checking without BDDs). Formulas have no negation, so they only grow
//! with their parts: supposing that every part is false beyond a prefix gives what the prefix shows
//! whatever follows, and supposing that every part is true gives what is still possible.

use certus_automata::informative::bad_prefixes_are_informative;
use certus_automata::nnf::Nnf as Plain;
use certus_lang::system::{AtomId, Bounds, Formula as Ltl};

use crate::formula::Formula;

/// A temporal formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nnf {
    /// Always true, or always false.
    Constant(bool),
    /// An atom that is as wanted.
    Literal(AtomId, bool),
    /// All of these.
    All(Vec<Nnf>),
    /// One of these.
    Any(Vec<Nnf>),
    /// At the next position.
    Next(Box<Nnf>),
    /// The second within the bounds, the first at all positions before that one.
    Until(Bounds, Box<Nnf>, Box<Nnf>),
    /// The dual: the second within the bounds, as long as the first did not hold before.
    Release(Bounds, Box<Nnf>, Box<Nnf>),
}

impl Nnf {
    /// A formula, or its negation, without constants that decide something: what they decide needs no later position.
    pub fn of(formula: &Ltl, positive: bool) -> Nnf {
        Nnf::literal_form(formula, positive).folded()
    }

    fn folded(self) -> Nnf {
        let fold = |parts: Vec<Nnf>| -> Vec<Nnf> { parts.into_iter().map(Nnf::folded).collect() };
        let one = |own: Box<Nnf>| Box::new(own.folded());
        match self {
            Nnf::All(parts) => match fold(parts) {
                parts if parts.contains(&Nnf::Constant(false)) => Nnf::Constant(false),
                parts => all(parts),
            },
            Nnf::Any(parts) => {
                let mut parts: Vec<Nnf> = fold(parts).into_iter().filter(|own| *own != Nnf::Constant(false)).collect();
                match parts.len() {
                    0 => Nnf::Constant(false),
                    1 => parts.remove(0),
                    _ => any(parts),
                }
            }
            Nnf::Next(own) => match own.folded() {
                Nnf::Constant(value) => Nnf::Constant(value),
                own => Nnf::Next(Box::new(own)),
            },
            Nnf::Until(bounds, left, right) => match (bounds, one(left), one(right)) {
                (_, _, right) if *right == Nnf::Constant(false) => Nnf::Constant(false),
                (Bounds { lower: 0, .. }, _, right) if *right == Nnf::Constant(true) => Nnf::Constant(true),
                (bounds, left, right)
                    if occurs(&bounds) && [&left, &right].iter().all(|own| ***own == Nnf::Constant(true)) =>
                {
                    Nnf::Constant(true)
                }
                (bounds, left, right) => Nnf::Until(bounds, left, right),
            },
            Nnf::Release(bounds, left, right) => match (bounds, one(left), one(right)) {
                (_, _, right) if *right == Nnf::Constant(true) => Nnf::Constant(true),
                (Bounds { lower: 0, .. }, _, right) if *right == Nnf::Constant(false) => Nnf::Constant(false),
                (bounds, left, right)
                    if occurs(&bounds) && [&left, &right].iter().all(|own| ***own == Nnf::Constant(false)) =>
                {
                    Nnf::Constant(false)
                }
                (bounds, left, right) => Nnf::Release(bounds, left, right),
            },
            leaf => leaf,
        }
    }

    /// Whether every finite run that violates the formula shows it by itself, as far as a small automaton tells: unfolding looks for
    /// no others (Kupferman, Vardi: Model Checking of Safety Properties, 2001).
    pub(crate) fn shows_its_bad_prefixes(&self) -> bool {
        const MOST_STATES: usize = 512;
        bad_prefixes_are_informative(&self.plain(&mut Vec::new()), MOST_STATES)
    }

    /// In the terms of automata, atoms numbered as they are met.
    fn plain(&self, met: &mut Vec<AtomId>) -> Plain {
        let bounds = |own: &Bounds| certus_automata::formula::Bounds { lower: own.lower, upper: own.upper };
        let mut of = |own: &Nnf| own.plain(met);
        match self {
            Nnf::Constant(true) => Plain::And(Vec::new()),
            Nnf::Constant(false) => Plain::Or(Vec::new()),
            Nnf::Literal(atom, wanted) => {
                let place = met.iter().position(|own| own == atom).unwrap_or_else(|| {
                    met.push(*atom);
                    met.len() - 1
                });
                Plain::Literal(place as u32, *wanted)
            }
            Nnf::All(own) => Plain::And(own.iter().map(of).collect()),
            Nnf::Any(own) => Plain::Or(own.iter().map(of).collect()),
            Nnf::Next(own) => Plain::Next(Box::new(of(own))),
            Nnf::Until(own, left, right) => Plain::Until(bounds(own), Box::new(of(left)), Box::new(of(right))),
            Nnf::Release(own, left, right) => Plain::Release(bounds(own), Box::new(of(left)), Box::new(of(right))),
        }
    }

    fn literal_form(formula: &Ltl, positive: bool) -> Nnf {
        let of = |own: &Ltl| Nnf::literal_form(own, positive);
        let boxed = |own: &Ltl| Box::new(of(own));
        let pair = |left: Nnf, right: Nnf, all: bool| match all {
            true => Nnf::All(vec![left, right]),
            false => Nnf::Any(vec![left, right]),
        };
        // `F f` is `true U f`, `G f` is `false R f`; each is the other's negation.
        let finally = |bounds: Bounds, own: &Ltl| Nnf::Until(bounds, Box::new(Nnf::Constant(true)), boxed(own));
        let globally = |bounds: Bounds, own: &Ltl| Nnf::Release(bounds, Box::new(Nnf::Constant(false)), boxed(own));
        match (formula, positive) {
            (Ltl::Constant(value), _) => Nnf::Constant(*value == positive),
            (Ltl::Atom(atom), _) => Nnf::Literal(*atom, positive),
            (Ltl::Not(own), _) => Nnf::literal_form(own, !positive),
            (Ltl::And(parts), true) | (Ltl::Or(parts), false) => Nnf::All(parts.iter().map(of).collect()),
            (Ltl::Or(parts), true) | (Ltl::And(parts), false) => Nnf::Any(parts.iter().map(of).collect()),
            (Ltl::Implies(left, right), _) => pair(Nnf::literal_form(left, !positive), of(right), !positive),
            (Ltl::Iff(left, right), _) => {
                let both = |first: bool, second: bool| {
                    pair(Nnf::literal_form(left, first), Nnf::literal_form(right, second), true)
                };
                pair(both(true, positive), both(false, !positive), false)
            }
            (Ltl::Next(own), _) => Nnf::Next(boxed(own)),
            (Ltl::Finally(bounds, own), true) | (Ltl::Globally(bounds, own), false) => finally(*bounds, own),
            (Ltl::Globally(bounds, own), true) | (Ltl::Finally(bounds, own), false) => globally(*bounds, own),
            (Ltl::Until(bounds, left, right), true) | (Ltl::Release(bounds, left, right), false) => {
                Nnf::Until(*bounds, boxed(left), boxed(right))
            }
            (Ltl::Release(bounds, left, right), true) | (Ltl::Until(bounds, left, right), false) => {
                Nnf::Release(*bounds, boxed(left), boxed(right))
            }
            // `a W b` is `(a U b) | G a`, with the upper bound on both.
            (Ltl::WeakUntil(bounds, left, right), true) => {
                let until = Nnf::Until(*bounds, boxed(left), boxed(right));
                pair(until, globally(Bounds { lower: 0, upper: bounds.upper }, left), false)
            }
            (Ltl::WeakUntil(bounds, left, right), false) => {
                let release = Nnf::Release(*bounds, boxed(left), boxed(right));
                pair(release, finally(Bounds { lower: 0, upper: bounds.upper }, left), true)
            }
        }
    }

    /// The atoms, each as often as it occurs.
    pub fn atoms(&self) -> Vec<AtomId> {
        match self {
            Nnf::Constant(_) => Vec::new(),
            Nnf::Literal(atom, _) => vec![*atom],
            Nnf::All(parts) | Nnf::Any(parts) => parts.iter().flat_map(Nnf::atoms).collect(),
            Nnf::Next(own) => own.atoms(),
            Nnf::Until(_, left, right) | Nnf::Release(_, left, right) => [left.atoms(), right.atoms()].concat(),
        }
    }

    pub(crate) fn negated(&self) -> Nnf {
        let negated = |own: &Nnf| Box::new(own.negated());
        match self {
            Nnf::Constant(value) => Nnf::Constant(!value),
            Nnf::Literal(atom, wanted) => Nnf::Literal(*atom, !wanted),
            Nnf::All(parts) => Nnf::Any(parts.iter().map(Nnf::negated).collect()),
            Nnf::Any(parts) => Nnf::All(parts.iter().map(Nnf::negated).collect()),
            Nnf::Next(own) => Nnf::Next(negated(own)),
            Nnf::Until(bounds, left, right) => Nnf::Release(*bounds, negated(left), negated(right)),
            Nnf::Release(bounds, left, right) => Nnf::Until(*bounds, negated(left), negated(right)),
        }
    }

    /// The last step that it speaks of, counted from its own; none if there is no last.
    pub fn horizon(&self) -> Option<u64> {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) => Some(0),
            Nnf::All(parts) | Nnf::Any(parts) => {
                parts.iter().try_fold(0, |most: u64, part| Some(most.max(part.horizon()?)))
            }
            Nnf::Next(own) => own.horizon()?.checked_add(1),
            Nnf::Until(bounds, left, right) | Nnf::Release(bounds, left, right) => {
                left.horizon()?.max(right.horizon()?).checked_add(bounds.upper?)
            }
        }
    }

    /// Whether it speaks of single positions alone.
    fn is_condition(&self) -> bool {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) => true,
            Nnf::All(parts) | Nnf::Any(parts) => parts.iter().all(Nnf::is_condition),
            Nnf::Next(_) | Nnf::Until(..) | Nnf::Release(..) => false,
        }
    }

    /// Whether some prefix might show it, whatever follows. If not, only infinite runs do.
    pub(crate) fn shows_in_prefixes(&self) -> bool {
        match self {
            Nnf::Constant(value) => *value,
            Nnf::Literal(..) => true,
            Nnf::All(parts) => parts.iter().all(Nnf::shows_in_prefixes),
            Nnf::Any(parts) => parts.iter().any(Nnf::shows_in_prefixes),
            Nnf::Next(own) => own.shows_in_prefixes(),
            Nnf::Until(_, _, right) => right.shows_in_prefixes(),
            Nnf::Release(bounds, left, right) => {
                let released = left.shows_in_prefixes();
                (released && bounds.lower > 0) || (right.shows_in_prefixes() && (released || bounds.upper.is_some()))
            }
        }
    }

    /// What it says will hold some time, if it says no more than that.
    pub(crate) fn comes(&self) -> Option<&Nnf> {
        match self {
            Nnf::Until(Bounds { lower: 0, upper: None }, left, right) if **left == Nnf::Constant(true) => Some(right),
            _ => None,
        }
    }

    /// The condition of single positions that it says is reached some time, if it says no more than that.
    pub(crate) fn reached(&self) -> Option<&Nnf> {
        self.comes().filter(|own| own.is_condition())
    }

    /// A condition that holds at every position at which the formula does.
    pub(crate) fn here(&self) -> Nnf {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) => self.clone(),
            Nnf::All(parts) => all(parts.iter().map(Nnf::here)),
            Nnf::Any(parts) => any(parts.iter().map(Nnf::here)),
            Nnf::Until(bounds, left, right) if bounds.lower == 0 => any([left.here(), right.here()]),
            Nnf::Release(bounds, _, right) if bounds.lower == 0 => right.here(),
            Nnf::Next(_) | Nnf::Until(..) | Nnf::Release(..) => Nnf::Constant(true),
        }
    }

    /// A condition that holds from some position on for ever, on every infinite run on which the formula holds.
    pub(crate) fn tail(&self) -> Nnf {
        match self {
            Nnf::Constant(_) | Nnf::Literal(..) => Nnf::Constant(true),
            Nnf::All(parts) => all(parts.iter().map(Nnf::tail)),
            Nnf::Any(parts) => any(parts.iter().map(Nnf::tail)),
            Nnf::Next(own) | Nnf::Until(_, _, own) => own.tail(),
            Nnf::Release(Bounds { upper: None, .. }, left, right) if **left == Nnf::Constant(false) => {
                all([right.here(), right.tail()])
            }
            Nnf::Release(..) => Nnf::Constant(true),
        }
    }

    /// A condition of the last position of every prefix that leaves the formula open, neither shown nor excluded.
    pub(crate) fn open(&self) -> Nnf {
        all([self.possible(), self.not_shown()])
    }

    /// A condition of the last position of every prefix that does not decide the formula.
    fn possible(&self) -> Nnf {
        match self {
            // What no prefix shows is itself open as long as the whole is; of the rest, one part is.
            Nnf::All(parts) => {
                let lasting: Vec<Nnf> =
                    parts.iter().filter(|part| !part.shows_in_prefixes()).map(Nnf::possible).collect();
                if lasting.is_empty() { any(parts.iter().map(Nnf::possible)) } else { all(lasting) }
            }
            Nnf::Any(parts) => any(parts.iter().map(Nnf::possible)),
            Nnf::Until(bounds, left, right) if bounds.lower == 0 && left.is_condition() && right.is_condition() => {
                all([(**left).clone(), right.negated()])
            }
            Nnf::Release(bounds, left, right) if bounds.lower == 0 && **left == Nnf::Constant(false) => right.here(),
            Nnf::Release(bounds, left, right) if bounds.lower == 0 && left.is_condition() && right.is_condition() => {
                all([(**right).clone(), left.negated()])
            }
            _ => Nnf::Constant(true),
        }
    }

    /// A condition of the last position of every prefix that does not show the formula.
    fn not_shown(&self) -> Nnf {
        match (self, self.reached()) {
            (_, Some(bad)) => bad.negated(),
            (Nnf::Any(parts), None) => all(parts.iter().map(Nnf::not_shown)),
            _ => Nnf::Constant(true),
        }
    }
}

/// Whether there is a step within some bounds.
fn occurs(bounds: &Bounds) -> bool {
    bounds.upper.is_none_or(|upper| upper >= bounds.lower)
}

pub(crate) fn all(parts: impl IntoIterator<Item = Nnf>) -> Nnf {
    let mut parts: Vec<Nnf> = parts.into_iter().filter(|part| *part != Nnf::Constant(true)).collect();
    match parts.len() {
        0 => Nnf::Constant(true),
        1 => parts.remove(0),
        _ => Nnf::All(parts),
    }
}

pub(crate) fn any(parts: impl IntoIterator<Item = Nnf>) -> Nnf {
    let parts: Vec<Nnf> = parts.into_iter().collect();
    if parts.contains(&Nnf::Constant(true)) { Nnf::Constant(true) } else { Nnf::Any(parts) }
}

/// A finite run: its positions, and where it goes after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many positions; at least one.
    pub(crate) positions: usize,
    pub(crate) after: After,
}

/// What is known of a run after its last position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing, and no part is supposed to hold there.
    Nothing,
    /// Nothing, and every part is supposed to hold there.
    Anything,
    /// It returns to this position, for ever.
    Return(usize),
}

impl Shape {
    pub(crate) fn prefix(positions: usize) -> Shape {
        Shape { positions, after: After::Nothing }
    }

    /// The position so many steps after another, if it is known.
    fn later(&self, position: usize, steps: usize) -> Option<usize> {
        let at = position.saturating_add(steps);
        match self.after {
            _ if at < self.positions => Some(at),
            After::Return(start) => Some(start + (at - start) % (self.positions - start)),
            After::Nothing | After::Anything => None,
        }
    }

    /// What a formula says at a position; `literal` is told an atom, a position, and what the atom should be there.
    pub(crate) fn says(
        &self,
        formula: &Nnf,
        position: usize,
        literal: &mut dyn FnMut(AtomId, usize, bool) -> Formula,
    ) -> Formula {
        match formula {
            Nnf::Constant(value) => Formula::constant(*value),
            Nnf::Literal(atom, wanted) => literal(*atom, position, *wanted),
            Nnf::All(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| self.says(part, position, literal)).collect();
                Formula::all(parts)
            }
            Nnf::Any(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| self.says(part, position, literal)).collect();
                Formula::any(parts)
            }
            Nnf::Next(own) => match self.later(position, 1) {
                Some(next) => self.says(own, next, literal),
                None => self.beyond(own),
            },
            Nnf::Until(bounds, left, right) => {
                let (last, ended) = self.reach(bounds, position);
                // Behind its bounds an until has failed.
                let mut result = if ended { Formula::FALSE } else { self.beyond(formula) };
                for steps in (0..=last).rev() {
                    let Some(at) = self.later(position, steps) else { continue };
                    let go_on = match result.is_false() {
                        true => Formula::FALSE,
                        false => Formula::all([self.says(left, at, literal), result]),
                    };
                    result = match steps as u64 >= bounds.lower {
                        true => Formula::any([self.says(right, at, literal), go_on]),
                        false => go_on,
                    };
                }
                result
            }
            Nnf::Release(bounds, left, right) => {
                let (last, ended) = self.reach(bounds, position);
                let mut result = if ended { Formula::TRUE } else { self.beyond(formula) };
                for steps in (0..=last).rev() {
                    let Some(at) = self.later(position, steps) else { continue };
                    let go_on = match result.is_true() {
                        true => Formula::TRUE,
                        false => Formula::any([self.says(left, at, literal), result]),
                    };
                    result = match steps as u64 >= bounds.lower {
                        true => Formula::all([self.says(right, at, literal), go_on]),
                        false => go_on,
                    };
                }
                result
            }
        }
    }

    /// The last step from a position that an operator must look at, and whether nothing comes after it: because its
    /// bounds end there, or because a lasso has been seen as a whole.
    fn reach(&self, bounds: &Bounds, position: usize) -> (usize, bool) {
        let upper = bounds.upper.unwrap_or(u64::MAX);
        let known = match self.after {
            // Once round everything from the lower bound on.
            After::Return(_) => (self.positions as u64).saturating_add(bounds.lower),
            After::Nothing | After::Anything => (self.positions - 1 - position) as u64,
        };
        let ended = upper <= known || matches!(self.after, After::Return(_));
        (usize::try_from(upper.min(known)).unwrap_or(usize::MAX), ended)
    }

    /// What is supposed of a formula beyond a prefix.
    fn beyond(&self, formula: &Nnf) -> Formula {
        match formula {
            Nnf::Constant(value) => Formula::constant(*value),
            _ => Formula::constant(self.after == After::Anything),
        }
    }
}

#[cfg(test)]
mod tests;
