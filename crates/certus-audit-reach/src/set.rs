//! Sets of states as forms over one space: boxes, fewer symbols, cuts along a comparison.
//!
//! Reduction: Girard, "Reachability of uncertain linear systems using zonotopes", HSCC 2005. A cut narrows the ranges of symbols and of variables that the comparison depends
//! on linearly, and leaves everything else as it is: what is cut away is certainly on the other side.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use certus_graph::Interval;

use crate::basis::Basis;
use crate::form::{Form, Space, middle, settled};

/// States as forms over one space.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) space: Space,
    pub(crate) state: Vec<Rc<Form>>,
}

/// Symbols that are kept for each number of the state, and at least.
const SYMBOLS_PER_NUMBER: usize = 20;
const LEAST_SYMBOLS: usize = 60;

impl Set {
    /// A box, each side of some width a variable; none if that needs too many monomials.
    pub(crate) fn of_box(ranges: &[Interval], degree: usize) -> Option<Set> {
        let variables = ranges.iter().filter(|range| range.lo < range.hi).count();
        let space = Space::new(Arc::new(Basis::new(variables, degree)?));
        let mut variable = 0;
        let state = ranges
            .iter()
            .map(|range| match range.lo < range.hi {
                true => {
                    variable += 1;
                    Rc::new(space.variable(variable - 1, *range))
                }
                false => Rc::new(Form::within(*range)),
            })
            .collect();
        Some(Set { space, state })
    }

    /// The box around it.
    pub(crate) fn ranges(&self) -> Vec<Interval> {
        self.state.iter().map(|form| form.range).collect()
    }

    /// The same set or a larger one with few symbols: the largest are kept, the rest becomes an error of each number, which then is a symbol of its own.
    pub(crate) fn reduced(self) -> Set {
        let Set { mut space, state } = self;
        let monomials = space.basis.len();
        let most = (SYMBOLS_PER_NUMBER * state.len()).max(LEAST_SYMBOLS).saturating_sub(state.len());
        let mut weights: Vec<(f64, usize)> = (monomials..space.columns)
            .map(|column| {
                let shares = state.iter().map(|form| {
                    let c = form.coefficients.get(column).map_or(0.0, |c| c.abs());
                    c / form.range.width().max(1e-300)
                });
                let (sum, largest) = shares.fold((0.0, 0.0f64), |(sum, most), own| (sum + own, most.max(own)));
                // A symbol that one number alone has is as good as an error.
                (sum - largest, column)
            })
            .filter(|(weight, _)| *weight > 0.0)
            .collect();
        weights.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weights.truncate(most);
        let mut kept: Vec<usize> = weights.into_iter().map(|(_, column)| column).collect();
        kept.sort_unstable();
        space.columns = monomials + kept.len();
        let mut reduced: Vec<Form> = state
            .iter()
            .map(|form| {
                let mut own = form.as_ref().clone();
                if form.coefficients.len() <= monomials || !form.is_bounded() {
                    return own;
                }
                own.coefficients.truncate(monomials);
                let mut rest = 0.0;
                let mut next = kept.iter().peekable();
                for (place, c) in form.coefficients.iter().enumerate().skip(monomials) {
                    match next.next_if(|&&column| column == place) {
                        Some(_) => own.coefficients.push(*c),
                        None => rest += c.abs(),
                    }
                }
                own.error = settled(own.error + rest);
                own.size = settled(own.size);
                own
            })
            .collect();
        for form in &mut reduced {
            space.name_error(form);
        }
        Set { space, state: reduced.into_iter().map(Rc::new).collect() }
    }

    /// A set around those points where a form over the same space (or one with more symbols) is at least zero, or at most zero; none if there are none.
    pub(crate) fn cut(&self, guard: &Form, above: bool) -> Option<Set> {
        self.cut_from(&[guard], above, 1)
    }

    /// The same for several forms at once, but variables and symbols before a column keep their ranges.
    pub(crate) fn cut_from(&self, guards: &[&Form], above: bool, first: usize) -> Option<Set> {
        let sign = if above { 1.0 } else { -1.0 };
        let basis = &self.space.basis;
        let mut narrowed: BTreeMap<usize, Interval> = BTreeMap::new();
        for guard in guards {
            let most = if above { guard.range.hi } else { -guard.range.lo };
            if most < 0.0 {
                return None;
            }
            if !guard.is_bounded() {
                continue;
            }
            // sign·guard = c·s + rest ≥ 0 needs c·s ≥ −(the most of the rest).
            let linear = (1..=basis.variables).chain(basis.len()..self.space.columns);
            for column in linear.filter(|column| *column >= first) {
                let Some(c) = guard.coefficients.get(column).map(|c| sign * c).filter(|c| *c != 0.0) else { continue };
                let mut rest: Vec<f64> = guard.coefficients.iter().map(|own| sign * own).collect();
                rest[column] = 0.0;
                // Other monomials of the same variable count with all their values.
                let largest = self.space.enclosure(&rest, guard.error).hi;
                let border = -Interval::point(largest) / Interval::point(c);
                let own = narrowed.entry(column).or_insert(Interval { lo: -1.0, hi: 1.0 });
                match c > 0.0 {
                    true => own.lo = own.lo.max(border.lo),
                    false => own.hi = own.hi.min(border.hi),
                }
                if own.lo > own.hi {
                    return None;
                }
            }
        }
        let mut cut = self.clone();
        for (column, range) in narrowed.into_iter().filter(|(_, own)| own.lo > -1.0 || own.hi < 1.0) {
            cut.rescale(column, range);
        }
        Some(cut)
    }

    /// Replaces a variable or symbol by one that runs over a part of its range: s = centre + radius·s'.
    fn rescale(&mut self, column: usize, range: Interval) {
        let (centre, radius) = middle(range);
        let basis = Arc::clone(&self.space.basis);
        let space = self.space.clone();
        let state = self.state.iter().map(|form| {
            if !form.is_bounded() || form.coefficients.len() <= 1 {
                return Rc::clone(form);
            }
            let mut coefficients = vec![0.0; form.coefficients.len().max(basis.len())];
            let mut sizes = 0.0;
            for (place, &c) in form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                if place >= basis.len() {
                    coefficients[place] += if place == column { c * radius } else { c };
                    if place == column {
                        coefficients[0] += c * centre;
                    }
                    sizes += c.abs();
                    continue;
                }
                let power = if column < basis.len() { basis.exponents[place][column - 1] } else { 0 };
                // c·(centre + radius·s')ⁿ, term by term.
                let mut exponents = basis.exponents[place].clone();
                let mut binomial = 1.0;
                for left in (0..=power).rev() {
                    if column < basis.len() {
                        exponents[column - 1] = left;
                    }
                    let to = if left == power { Some(place) } else { basis.place(&exponents) };
                    let term = c * binomial * radius.powi(left.into()) * centre.powi((power - left).into());
                    sizes += term.abs();
                    if let Some(to) = to {
                        coefficients[to] += term;
                    }
                    binomial *= f64::from(left) / f64::from(power - left + 1);
                }
            }
            // Each term has at most a few dozen roundings; all monomials below one in the basis are in the basis.
            let error =
                form.error + 256.0 * f64::EPSILON * (sizes + form.coefficients.iter().map(|c| c.abs()).sum::<f64>());
            Rc::new(space.made(coefficients, error, form.range))
        });
        self.state = state.collect();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::form::tests::{form, value};

    proptest! {
        #[test]
        fn cuts_keep_every_point_on_their_side(
            own in prop::collection::vec(-1.0..1.0f64, 8),
            other in prop::collection::vec(-1.0..1.0f64, 8),
            guard in prop::collection::vec(-1.0..1.0f64, 8),
            point in prop::collection::vec(-1.0..=1.0f64, 4),
        ) {
            let mut space = Space::new(Arc::new(Basis::new(2, 2).unwrap()));
            space.columns += 2;
            let guard = form(&space, guard.iter().enumerate().map(|(k, c)| if (3..6).contains(&k) { 0.1 * c } else { *c }).collect());
            let state = vec![Rc::new(form(&space, own)), Rc::new(form(&space, other))];
            let set = Set { space: space.clone(), state };
            let at: Vec<f64> = set.state.iter().map(|form| value(&space, form, &point)).collect();
            let side = value(&space, &guard, &point);
            let cut = set.cut(&guard, side >= 0.0);
            prop_assert!(cut.is_some());
            for (form, at) in cut.unwrap().state.iter().zip(&at) {
                prop_assert!(form.range.widen(1e-9).contains(*at), "{:?} {at}", form.range);
            }
            for (form, at) in set.reduced().state.iter().zip(&at) {
                prop_assert!(form.range.widen(1e-9).contains(*at));
            }
        }
    }

    #[test]
    fn a_cut_along_a_side_halves_a_box() {
        let set = Set::of_box(&[Interval::new(0.0, 2.0), Interval::new(-1.0, 1.0), Interval::point(3.0)], 2).unwrap();
        let guard = set.space.shift(&set.state[0], Interval::point(-1.0));
        let cut = set.cut(&guard, true).unwrap();
        assert!((cut.state[0].range.lo - 1.0).abs() < 1e-9 && (cut.state[0].range.hi - 2.0).abs() < 1e-9);
        assert!((cut.state[1].range.width() - 2.0).abs() < 1e-9);
        let guard = set.space.shift(&set.state[0], Interval::point(-3.0));
        assert!(set.cut(&guard, true).is_none() && set.cut(&guard, false).is_some());
    }

    #[test]
    fn reduction_keeps_the_widths() {
        let mut set = Set::of_box(&[Interval::new(0.0, 1.0), Interval::new(0.0, 1.0)], 1).unwrap();
        for _ in 0..200 {
            let noise = set.space.noise(Interval::new(-1.0, 1.0));
            let mixed = |form: &Rc<Form>| {
                Rc::new(set.space.combine([(1.0, form.as_ref()), (0.01, &noise)].into_iter(), 0.0, Interval::ZERO))
            };
            let state = set.state.iter().map(mixed).collect();
            set.state = state;
        }
        let before = set.ranges();
        let after = set.reduced();
        assert!(after.space.columns <= 3 + 64);
        for (before, after) in before.iter().zip(after.ranges()) {
            assert!((before.width() - after.width()).abs() < 1e-6);
        }
    }
}
