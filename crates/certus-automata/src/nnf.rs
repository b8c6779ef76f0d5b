//! Negation normal form of linear temporal logic, over atoms of any type.
//!
//! Negations stand at atoms only, and the temporal operators are *next*, *until* and *release* with bounds; everything else is
//! an abbreviation of these (Baier, Katoen: Principles of Model Checking, 2008, section 5.1.5). The formula is kept exactly as it
//! was written, without any simplification: which finite words decide it depends on that ([`crate::informative`]).
//!
//! Beside the type stand the syntactic questions that model checkers ask of it: how far it looks, whether a finite word can show
//! it, what stays true for ever where it holds. Each answer errs to the careful side, as its documentation says.

use crate::formula::Bounds;

/// A formula in negation normal form, exactly as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nnf<A = u32> {
    /// A conjunction; true if empty.
    And(Vec<Nnf<A>>),
    /// A disjunction; false if empty.
    Or(Vec<Nnf<A>>),
    /// An atom, or its negation.
    Literal(A, bool),
    /// At the next position.
    Next(Box<Nnf<A>>),
    /// The second within the bounds, the first until then.
    Until(Bounds, Box<Nnf<A>>, Box<Nnf<A>>),
    /// The second within the bounds, up to and including where the first holds.
    Release(Bounds, Box<Nnf<A>>, Box<Nnf<A>>),
}

impl<A> Nnf<A> {
    /// The formula that is always true.
    pub fn truth() -> Nnf<A> {
        Nnf::And(Vec::new())
    }

    /// The formula that is never true.
    pub fn falsity() -> Nnf<A> {
        Nnf::Or(Vec::new())
    }

    /// Whether it is written as `true`.
    pub fn is_true(&self) -> bool {
        matches!(self, Nnf::And(parts) if parts.is_empty())
    }

    /// Whether it is written as `false`.
    pub fn is_false(&self) -> bool {
        matches!(self, Nnf::Or(parts) if parts.is_empty())
    }

    /// The same formula over other atoms.
    pub fn map<B>(&self, atom: &dyn Fn(&A) -> B) -> Nnf<B> {
        let boxed = |inner: &Nnf<A>| Box::new(inner.map(atom));
        match self {
            Nnf::And(parts) => Nnf::And(parts.iter().map(|part| part.map(atom)).collect()),
            Nnf::Or(parts) => Nnf::Or(parts.iter().map(|part| part.map(atom)).collect()),
            Nnf::Literal(id, wanted) => Nnf::Literal(atom(id), *wanted),
            Nnf::Next(inner) => Nnf::Next(boxed(inner)),
            Nnf::Until(bounds, left, right) => Nnf::Until(*bounds, boxed(left), boxed(right)),
            Nnf::Release(bounds, left, right) => Nnf::Release(*bounds, boxed(left), boxed(right)),
        }
    }

    /// Whether only an infinite run can show that it holds: it says something of all positions from some one on.
    pub fn needs_loop(&self) -> bool {
        match self {
            Nnf::Literal(..) => false,
            Nnf::And(parts) | Nnf::Or(parts) => parts.iter().any(Nnf::needs_loop),
            Nnf::Next(inner) => inner.needs_loop(),
            Nnf::Until(_, left, right) => left.needs_loop() || right.needs_loop(),
            Nnf::Release(bounds, left, right) => bounds.upper.is_none() || left.needs_loop() || right.needs_loop(),
        }
    }

    /// Whether a finite run can show that it holds at all.
    pub fn can_end(&self) -> bool {
        match self {
            Nnf::Literal(..) => true,
            Nnf::And(parts) => parts.iter().all(Nnf::can_end),
            Nnf::Or(parts) => parts.is_empty() || parts.iter().any(Nnf::can_end),
            Nnf::Next(inner) => inner.can_end(),
            Nnf::Until(_, _, right) => right.can_end(),
            Nnf::Release(bounds, left, right) => {
                let released = !left.is_false() && left.can_end();
                // Released before the lower bound, nothing is asked of the second.
                (released && bounds.lower > 0) || (right.can_end() && (released || bounds.upper.is_some()))
            }
        }
    }

    /// How many steps beyond a position that it waits for it may look at.
    pub fn lookahead(&self) -> u64 {
        match self {
            Nnf::Literal(..) => 0,
            Nnf::And(parts) | Nnf::Or(parts) => parts.iter().map(Nnf::lookahead).max().unwrap_or(0),
            Nnf::Next(inner) => inner.lookahead().saturating_add(1),
            Nnf::Until(bounds, left, right) | Nnf::Release(bounds, left, right) => {
                left.lookahead().max(right.lookahead()).saturating_add(bounds.upper.unwrap_or(bounds.lower))
            }
        }
    }

    /// The last step, counted from its own position, that it can depend on; none if there is no last one.
    pub fn horizon(&self) -> Option<u64> {
        match self {
            Nnf::Literal(..) => Some(0),
            Nnf::And(parts) | Nnf::Or(parts) => {
                parts.iter().try_fold(0, |most: u64, part| Some(most.max(part.horizon()?)))
            }
            Nnf::Next(inner) => inner.horizon()?.checked_add(1),
            Nnf::Until(bounds, left, right) | Nnf::Release(bounds, left, right) => {
                left.horizon()?.max(right.horizon()?).checked_add(bounds.upper?)
            }
        }
    }

    /// What holds at some position, if the formula is `F` of something.
    pub fn eventually(&self) -> Option<&Nnf<A>> {
        match self {
            Nnf::Until(bounds, left, right) if bounds.is_all() && left.is_true() => Some(right),
            _ => None,
        }
    }

    /// What is reached, if the formula is `F` of a condition of single positions: the negation of a safety property.
    pub fn reached(&self) -> Option<&Nnf<A>> {
        self.eventually().filter(|reached| reached.horizon() == Some(0))
    }
}

impl<A: Copy> Nnf<A> {
    /// The atoms that it mentions, as often as it does.
    pub fn atoms(&self) -> Vec<A> {
        match self {
            Nnf::Literal(id, _) => vec![*id],
            Nnf::And(parts) | Nnf::Or(parts) => parts.iter().flat_map(Nnf::atoms).collect(),
            Nnf::Next(inner) => inner.atoms(),
            Nnf::Until(_, left, right) | Nnf::Release(_, left, right) => {
                left.atoms().into_iter().chain(right.atoms()).collect()
            }
        }
    }

    /// The negation.
    pub fn negated(&self) -> Nnf<A> {
        let boxed = |inner: &Nnf<A>| Box::new(inner.negated());
        match self {
            Nnf::And(parts) => Nnf::Or(parts.iter().map(Nnf::negated).collect()),
            Nnf::Or(parts) => Nnf::And(parts.iter().map(Nnf::negated).collect()),
            Nnf::Literal(id, wanted) => Nnf::Literal(*id, !wanted),
            Nnf::Next(inner) => Nnf::Next(boxed(inner)),
            Nnf::Until(bounds, left, right) => Nnf::Release(*bounds, boxed(left), boxed(right)),
            Nnf::Release(bounds, left, right) => Nnf::Until(*bounds, boxed(left), boxed(right)),
        }
    }

    /// A condition of single positions that holds from some position on, for ever, on every infinite run on which the formula
    /// holds; `true` if none is known.
    pub fn tail(&self) -> Nnf<A> {
        match self {
            Nnf::Literal(..) => Nnf::truth(),
            Nnf::And(parts) => all(parts.iter().map(Nnf::tail)),
            Nnf::Or(parts) => any(parts.iter().map(Nnf::tail)),
            Nnf::Next(inner) => inner.tail(),
            Nnf::Until(_, _, right) => right.tail(),
            Nnf::Release(Bounds { upper: None, .. }, left, right) if left.is_false() => {
                all([right.tail(), right.here()])
            }
            Nnf::Release(..) => Nnf::truth(),
        }
    }

    /// A condition of single positions that holds wherever the formula does.
    pub(crate) fn here(&self) -> Nnf<A> {
        match self {
            Nnf::Literal(..) => self.clone(),
            Nnf::And(parts) => all(parts.iter().map(Nnf::here)),
            Nnf::Or(parts) => any(parts.iter().map(Nnf::here)),
            Nnf::Next(_) => Nnf::truth(),
            Nnf::Until(bounds, left, right) if bounds.lower == 0 => any([left.here(), right.here()]),
            Nnf::Release(bounds, _, right) if bounds.lower == 0 => right.here(),
            Nnf::Until(..) | Nnf::Release(..) => Nnf::truth(),
        }
    }

    /// A condition of single positions that holds at every position up to which the formula may still hold; `true` if none is known.
    pub fn throughout(&self) -> Nnf<A> {
        match self {
            Nnf::And(parts) => all(parts.iter().map(Nnf::throughout)),
            Nnf::Or(parts) => any(parts.iter().map(Nnf::throughout)),
            Nnf::Release(bounds, left, right) if bounds.is_all() && left.is_false() => right.here(),
            _ => Nnf::truth(),
        }
    }
}

/// A conjunction without the parts that are `true`.
pub(crate) fn all<A>(parts: impl IntoIterator<Item = Nnf<A>>) -> Nnf<A> {
    Nnf::And(parts.into_iter().filter(|part| !part.is_true()).collect())
}

/// A disjunction; `true` if a part is.
pub(crate) fn any<A>(parts: impl IntoIterator<Item = Nnf<A>>) -> Nnf<A> {
    let parts: Vec<Nnf<A>> = parts.into_iter().collect();
    if parts.iter().any(Nnf::is_true) { Nnf::truth() } else { Nnf::Or(parts) }
}
