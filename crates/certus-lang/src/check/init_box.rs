//! Boxes that the initial condition obviously implies.
//!
//! Conjuncts of the form `x <= c`, `x in [a, b]`, `n in {0..3}`, `abs(x) <= c`, `all(…)` of these and the like narrow the declared ranges; a
//! disjunction makes a box of each of its parts, and so does each value of an integer. If every part is of that kind and none is strict, the boxes
//! *are* the initial states together; otherwise they only contain them. There are few boxes: where there would be many, their hull stands for them.

use std::collections::HashSet;

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::{CompareOp, DeclarationKind};
use crate::system::Integers;

use super::Checker;
use super::term::{self, Function, Positions, Term, TermKind};

/// So many boxes are told apart at most.
const MOST_BOXES: usize = 256;

/// Disjunctions that are nested deeper are not looked into.
const DEEPEST: usize = 64;

/// So many conditions are looked at: names can mention names again and again.
const MOST_CONDITIONS: usize = 1 << 17;

/// Values of some elements of the flattened state.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The values of elements that are known to be integers.
    integers: Vec<Option<Integers>>,
    /// Whether nothing was lost.
    exact: bool,
}

impl Checker<'_> {
    pub(super) fn derive_init_box(&mut self) {
        let mut whole = Part { lower: Vec::new(), upper: Vec::new(), integers: Vec::new(), exact: true };
        let mut offsets = Vec::new();
        for v in &self.model.states {
            offsets.push(whole.lower.len());
            whole.lower.extend(&v.lower);
            whole.upper.extend(&v.upper);
            whole.integers.extend((0..v.len).map(|_| v.integers.clone()));
        }
        let mut parts = vec![whole.clone()];
        if let Some(init) = &self.model.init {
            self.narrow(init, &offsets, &mut parts, &mut Looked::default());
        }
        let contradictory = parts.first().cloned();
        parts.retain_mut(Part::settle);
        let parts = within_limit(parts);
        if parts.is_empty() {
            self.nothing_initial(contradictory, &offsets);
        }
        let mut boxes: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut exact = true;
        for part in spread(parts) {
            exact &= part.exact;
            let own = (part.lower, part.upper);
            if !boxes.contains(&own) {
                boxes.push(own);
            }
        }
        let around = |ends: fn(&(Vec<f64>, Vec<f64>)) -> &Vec<f64>, outer: fn(f64, f64) -> f64| -> Vec<f64> {
            let all = boxes.iter().map(|own| ends(own).clone());
            all.reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| outer(a, b)).collect()).unwrap_or_default()
        };
        self.model.init_box = (around(|own| &own.0, f64::min), around(|own| &own.1, f64::max));
        self.model.init_is_union = exact;
        self.model.init_is_box = exact && boxes.len() == 1;
        self.model.init_boxes = boxes;
    }

    /// Reports that no state is initial, by an element that shows it if there is one.
    fn nothing_initial(&mut self, part: Option<Part>, offsets: &[usize]) {
        let span = self.first_init();
        let mut diagnostic = Diagnostic::error("init", "no state is initial");
        let crossed = part.and_then(|part| {
            let element = (0..part.lower.len()).find(|&i| part.lower[i] > part.upper[i])?;
            Some((element, part.lower[element], part.upper[element]))
        });
        let shown = crossed.and_then(|(element, low, high)| {
            let place = offsets.iter().rposition(|offset| *offset <= element)?;
            let v = &self.model.states[place];
            let i = element - offsets[place];
            let name = if v.is_vector { format!("{}[{i}]", v.name) } else { v.name.clone() };
            let found = format!("`{name}` would have to be at least {low} and at most {high}");
            Some((found, format!("the declared range of `{name}` is [{}, {}]", v.lower[i], v.upper[i])))
        });
        diagnostic = match shown {
            Some((found, help)) => diagnostic.at(span, found).help(help),
            None => diagnostic.at(span, "nothing in the declared ranges satisfies this"),
        };
        self.error(diagnostic);
    }

    fn first_init(&self) -> Span {
        let init = self.file.declarations.iter().find(|d| matches!(d.kind, DeclarationKind::Init(_)));
        init.map_or(Span::default(), |d| d.span)
    }

    /// Narrows parts by a condition of which every element holds; a disjunction makes more parts of them.
    fn narrow(&self, condition: &Term, offsets: &[usize], parts: &mut Vec<Part>, looked: &mut Looked) {
        let inexact = |parts: &mut Vec<Part>| parts.iter_mut().for_each(|part| part.exact = false);
        looked.depth += 1;
        // Defines can mention defines without end, so conjunctions are followed by a list, not by recursion.
        let mut pending = vec![Term::clone(condition)];
        let mut followed = HashSet::new();
        while let Some(condition) = pending.pop() {
            looked.conditions += parts.len();
            if looked.depth > DEEPEST || looked.conditions > MOST_CONDITIONS {
                inexact(parts);
                break;
            }
            match &condition.kind {
                TermKind::And(all) | TermKind::Concat(all) => pending.extend(all.iter().cloned()),
                TermKind::All(inner) => pending.push(Term::clone(inner)),
                TermKind::Define(i) if followed.insert(*i) => pending.push(Term::clone(&self.model.defines[*i].1)),
                TermKind::Define(_) => {}
                TermKind::Truth(values, _) if values.iter().all(|v| *v) => {}
                TermKind::Or(all) if condition.len == 1 => {
                    let mut found = Vec::new();
                    for own in parts.drain(..) {
                        let mut alternatives = Vec::new();
                        for one in all {
                            let mut narrowed = vec![own.clone()];
                            self.narrow(one, offsets, &mut narrowed, looked);
                            narrowed.retain_mut(Part::settle);
                            alternatives.extend(narrowed);
                        }
                        found.extend(within_limit(alternatives));
                    }
                    *parts = within_limit(found);
                }
                TermKind::Compare(op, a, b) => {
                    for part in parts.iter_mut() {
                        let done = match (a.numbers(), b.numbers()) {
                            (None, Some(bound)) => bounded(a, *op, bound, offsets, part),
                            (Some(bound), None) => bounded(b, mirrored(*op), bound, offsets, part),
                            _ => false,
                        };
                        part.exact &= done;
                    }
                }
                TermKind::Member(t, integers) => match elements_of(t, offsets) {
                    Some(elements) => parts.iter_mut().for_each(|part| part.meet(&elements, integers)),
                    None => inexact(parts),
                },
                TermKind::Not(inner) => match &inner.kind {
                    TermKind::Compare(op, a, b) if inner.len == 1 => {
                        pending.push(term::compare(opposite(*op), Term::clone(a), Term::clone(b)));
                    }
                    _ => inexact(parts),
                },
                _ => inexact(parts),
            }
        }
        looked.depth -= 1;
    }
}

/// How far a search through conditions went.
#[derive(Default)]
struct Looked {
    depth: usize,
    conditions: usize,
}

impl Part {
    /// Leaves only integers of a set for some elements.
    fn meet(&mut self, elements: &[usize], integers: &Integers) {
        for &at in elements {
            let met = match &self.integers[at] {
                Some(own) => own.intersection(integers),
                None => integers.between(self.lower[at], self.upper[at]),
            };
            match met {
                Some(met) => self.integers[at] = Some(met),
                // No number at all.
                None => (self.lower[at], self.upper[at]) = (f64::INFINITY, f64::NEG_INFINITY),
            }
        }
    }

    /// Makes ends and integers agree; false if nothing is left.
    fn settle(&mut self) -> bool {
        for at in 0..self.lower.len() {
            if let Some(own) = self.integers[at].as_ref().filter(|_| self.lower[at] <= self.upper[at]) {
                let Some(left) = own.between(self.lower[at], self.upper[at]) else { return false };
                let (low, high) = left.hull();
                (self.lower[at], self.upper[at]) = (low as f64, high as f64);
                self.integers[at] = Some(left);
            }
        }
        self.lower.iter().zip(&self.upper).all(|(low, high)| low <= high)
    }

    /// The smallest part around two.
    fn hull(mut self, other: &Part) -> Part {
        for at in 0..self.lower.len() {
            self.lower[at] = self.lower[at].min(other.lower[at]);
            self.upper[at] = self.upper[at].max(other.upper[at]);
            self.integers[at] = match (&self.integers[at], &other.integers[at]) {
                (Some(a), Some(b)) => Integers::of_runs(a.runs().iter().chain(b.runs()).copied()),
                _ => None,
            };
        }
        self.exact = false;
        self
    }
}

/// The parts, or the hull of all where they are too many.
fn within_limit(parts: Vec<Part>) -> Vec<Part> {
    if parts.len() <= MOST_BOXES {
        return parts;
    }
    let mut all = parts.into_iter();
    let first = all.next();
    first.map(|first| all.fold(first, |hull, own| hull.hull(&own))).into_iter().collect()
}

/// A part for each value of each integer, as far as the limit allows: the elements with the fewest values first.
fn spread(parts: Vec<Part>) -> Vec<Part> {
    let share = MOST_BOXES / parts.len().max(1);
    let mut found = Vec::new();
    for part in parts {
        let several = |at: &usize| part.integers[*at].as_ref().is_some_and(|own| own.count() > 1);
        let mut elements: Vec<usize> = (0..part.lower.len()).filter(several).collect();
        elements.sort_by_key(|&at| part.integers[at].as_ref().map(Integers::count));
        let mut own = vec![part.clone()];
        for at in elements {
            let Some(integers) = &part.integers[at] else { continue };
            if integers.count().saturating_mul(own.len() as u64) > share as u64 {
                own.iter_mut().for_each(|part| part.exact = false);
                continue;
            }
            let values: Vec<f64> = integers.iter().collect();
            let at_value = |part: &Part, value: f64| {
                let mut part = part.clone();
                (part.lower[at], part.upper[at]) = (value, value);
                part
            };
            own = own.iter().flat_map(|part| values.iter().map(|&value| at_value(part, value))).collect();
        }
        found.extend(own);
    }
    found
}

/// Narrows by `t op bound`; tells whether the part expresses it fully.
fn bounded(t: &Term, op: CompareOp, bound: &[f64], offsets: &[usize], part: &mut Part) -> bool {
    let bound_at = |i: usize| if bound.len() == 1 { bound[0] } else { bound[i] };
    if let Some(elements) = elements_of(t, offsets) {
        let count = elements.len().max(bound.len());
        let mut exact = true;
        for i in 0..count {
            let at = if elements.len() == 1 { elements[0] } else { elements[i] };
            exact &= bounded_element(at, op, bound_at(i), part);
        }
        return exact;
    }
    match &t.kind {
        TermKind::Apply(Function::Abs, inner) if matches!(op, CompareOp::Less | CompareOp::LessEqual) => {
            let negative: Vec<f64> = bound.iter().map(|v| -v).collect();
            let below = bounded(inner, op, bound, offsets, part);
            let above = bounded(inner, mirrored(op), &negative, offsets, part);
            below && above
        }
        TermKind::Apply(Function::Negate, inner) => {
            let negative: Vec<f64> = bound.iter().map(|v| -v).collect();
            bounded(inner, mirrored(op), &negative, offsets, part)
        }
        _ => false,
    }
}

/// The same of one element.
fn bounded_element(at: usize, op: CompareOp, value: f64, part: &mut Part) -> bool {
    // What is strictly below an integer is at most the one before it.
    let strict = part.integers[at].is_some();
    if !matches!(op, CompareOp::Less | CompareOp::LessEqual | CompareOp::NotEqual) {
        let value = if strict && op == CompareOp::Greater { value.floor() + 1.0 } else { value };
        part.lower[at] = part.lower[at].max(value);
    }
    if !matches!(op, CompareOp::Greater | CompareOp::GreaterEqual | CompareOp::NotEqual) {
        let value = if strict && op == CompareOp::Less { value.ceil() - 1.0 } else { value };
        part.upper[at] = part.upper[at].min(value);
    }
    match (op, &part.integers[at]) {
        (CompareOp::NotEqual, Some(own)) if own.contains(value) => {
            let value = value as i64;
            let sides =
                own.runs().iter().flat_map(|&(from, to)| [(from, to.min(value - 1)), (from.max(value + 1), to)]);
            match Integers::of_runs(sides) {
                Some(left) => part.integers[at] = Some(left),
                None => (part.lower[at], part.upper[at]) = (f64::INFINITY, f64::NEG_INFINITY),
            }
            true
        }
        (CompareOp::NotEqual, own) => own.is_some(),
        (CompareOp::Less | CompareOp::Greater, _) => strict,
        _ => true,
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        same => same,
    }
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
    }
}

/// The places in the flattened state that a term consists of, if it is nothing else.
fn elements_of(t: &Term, offsets: &[usize]) -> Option<Vec<usize>> {
    match &t.kind {
        TermKind::State(i) => Some((offsets[*i]..offsets[*i] + t.len).collect()),
        TermKind::Pick(base, positions) => {
            let all = elements_of(base, offsets)?;
            Some(match positions {
                Positions::From(start) => all[*start..start + t.len].to_vec(),
                Positions::List(list) => list.iter().map(|i| all[*i]).collect(),
            })
        }
        TermKind::Concat(parts) => {
            let parts: Option<Vec<Vec<usize>>> = parts.iter().map(|p| elements_of(p, offsets)).collect();
            parts.map(|p| p.concat())
        }
        _ => None,
    }
}
