//! Sets: `x in {1, 3, 5..9}` as a condition, and as the range of a variable of integers.

use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{CompareOp, Expr, Member, Set};
use crate::system::Integers;

use super::Checker;
use super::labels::type_of;
use super::term::{self, Term};

/// So many integers are equalities with a real number, which say how far it is from them.
const MOST_EQUALITIES: u64 = 16;

impl Checker<'_> {
    /// `x in {…}`, element by element.
    pub(super) fn in_set(&mut self, value: &Expr, set: &Set) -> Option<Term> {
        self.has_members(set)?;
        let singles = set.members.iter().filter_map(|member| match member {
            Member::One(only) => Some(only),
            Member::Run(..) => None,
        });
        let expected = std::iter::once(value).chain(singles).find_map(|e| self.label_type(e));
        let t = self.term_as(value, expected);
        let mut parts = Vec::new();
        let mut runs = Vec::new();
        for member in &set.members {
            match member {
                Member::One(only) => {
                    let own = self.term_as(only, expected);
                    parts.push(own.map(|own| (only, own)));
                }
                Member::Run(from, to) => runs.push(self.run(from, to)),
            }
        }
        let t = t?;
        let parts: Vec<(&Expr, Term)> = parts.into_iter().collect::<Option<_>>()?;
        let mut runs: Vec<(i64, i64)> = runs.into_iter().collect::<Option<_>>()?;
        if !runs.is_empty() || (parts.is_empty() && type_of(&t).is_none()) {
            self.real_term(value, &t)?;
        }
        let mut alternatives = Vec::new();
        for (e, own) in parts {
            match (type_of(&t), type_of(&own)) {
                (None, None) => {
                    self.real_term(value, &t)?;
                    self.real_term(e, &own)?;
                }
                _ => self.same_labels(CompareOp::Equal, (value, &t), (e, &own))?,
            }
            self.fitting(&[(value, &t), (e, &own)], "a value and the members of its set")?;
            match own.numbers() {
                Some([only]) if t.is_integral() && own.is_integral() && only.abs() <= Integers::LARGEST as f64 => {
                    runs.push((*only as i64, *only as i64));
                }
                _ => alternatives.push(term::compare(CompareOp::Equal, t.clone(), own)),
            }
        }
        if let Some(integers) = Integers::of_runs(runs) {
            match !t.is_integral() && integers.count() <= MOST_EQUALITIES {
                true => {
                    let equal = |value: f64| term::compare(CompareOp::Equal, t.clone(), term::number(value));
                    alternatives.extend(integers.iter().map(equal));
                }
                false => alternatives.push(term::member(t.clone(), integers)),
            }
        }
        Some(term::or(alternatives))
    }

    /// The integers of a set that is the range of a variable.
    pub(super) fn integers(&mut self, set: &Set) -> Option<Integers> {
        self.has_members(set)?;
        let mut runs = Vec::new();
        for member in &set.members {
            runs.push(match member {
                Member::One(only) => {
                    let value = self.integer(only, "a value of a variable of integers");
                    value.map(|value| (value, value))
                }
                Member::Run(from, to) => self.run(from, to),
            });
        }
        let found = Integers::of_runs(runs.into_iter().collect::<Option<Vec<_>>>()?);
        if found.is_none() {
            self.error(
                Diagnostic::error("range", "these integers are too large")
                    .at(set.span, "beyond 2^53, doubles are not all of the integers"),
            );
        }
        found
    }

    fn has_members(&mut self, set: &Set) -> Option<()> {
        if set.members.is_empty() {
            self.error(Diagnostic::error("range", "this set is empty").at(set.span, "nothing is in it"));
            return None;
        }
        Some(())
    }

    /// The ends of `a..b`, both included.
    fn run(&mut self, from: &Expr, to: &Expr) -> Option<(i64, i64)> {
        let what = "an end of a run of integers";
        let (first, last) = (self.integer(from, what), self.integer(to, what));
        let (first, last) = (first?, last?);
        if first > last {
            self.error(
                Diagnostic::error("range", "this run of integers is empty")
                    .at(from.span.to(to.span), format!("{first} is greater than {last}")),
            );
            return None;
        }
        Some((first, last))
    }
}
