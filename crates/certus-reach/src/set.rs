//! What is done to sets between steps: errors become symbols, symbols are reduced, cases cut pieces off.
//!
//! Reduction of generators: Girard, "Reachability of uncertain linear systems using zonotopes", HSCC 2005. The cut of a set with a half-space contracts the
//! ranges of variables and symbols that the half-space leaves (as interval constraint propagation does: Jaulin, Kieffer, Didrit, Walter, "Applied Interval
//! Analysis", 2001, chapter 4), and rescales them to [−1, 1]; for a set that the guard crosses aslant it keeps more than the intersection, never less.

use certus_graph::Interval;
use certus_solver::rounding::ROOM;

use crate::closed_loop::Set;
use crate::domain::Side;
use crate::form::{Form, Space, magnitude, middle};
use crate::monomials::Monomials;

/// How many noise symbols a set keeps for each of its variables.
const SYMBOLS_PER_VARIABLE: usize = 16;

/// And at least this many.
const LEAST_SYMBOLS: usize = 64;

/// A variable of which a cut leaves more than this share is left as it is.
const MOST_KEPT: f64 = 0.99;

/// Into how many slices the range of a variable is cut to see where a guard holds, and how often those at the ends are cut again.
const SLICES: usize = 16;
const CUT_AGAIN: usize = 3;

/// A set that has no more than this of each variable's first range, [−1, 1], is not halved.
const NARROWEST: f64 = 1e-6;

/// More than what one cut rounds of the part that is left of a variable's first range.
const SLACK: f64 = 1e-12;

/// How many symbols a set of so many variables keeps.
pub(crate) fn symbols_of(variables: usize) -> usize {
    (SYMBOLS_PER_VARIABLE * variables).max(LEAST_SYMBOLS)
}

impl Space {
    /// The hull of where in the range of a variable a form, times a sign, may be zero or more whatever the other variables and symbols are; nothing if nowhere. The
    /// form is a polynomial in the variable with intervals as coefficients, which is enclosed over slices.
    fn where_not_negative(&self, guard: &Form, variable: usize, sign: f64) -> Option<Interval> {
        let Monomials { degree, exponents, is_even, .. } = &*self.monomials;
        let mut powers = vec![Interval::ZERO; degree + 1];
        for (place, (own, c)) in exponents.iter().zip(&guard.coefficients).enumerate() {
            let power = usize::from(own[variable]);
            let others = match own.iter().map(|e| usize::from(*e)).sum::<usize>() - power {
                0 => Interval::ONE,
                // The variable's own power is even as well, so what is left is.
                _ if is_even[place] => Interval { lo: 0.0, hi: 1.0 },
                _ => Interval { lo: -1.0, hi: 1.0 },
            };
            powers[power] = powers[power] + Interval::point(sign * c) * others;
        }
        let noise = guard.coefficients[exponents.len()..].iter().map(|c| Interval::point(c.abs()));
        let rest = noise.fold(Interval::point(guard.error), |sum, c| sum + c).hi;
        powers[0] = powers[0].widen(rest);
        let may_be = |slice: Interval| {
            let value = powers.iter().rev().fold(Interval::ZERO, |sum, own| sum * slice + *own);
            value.hi >= 0.0
        };
        let slices = |range: Interval| {
            let at = move |place: usize| match place {
                SLICES => range.hi,
                _ => range.lo + (range.hi - range.lo) * (place as f64 / SLICES as f64),
            };
            (0..SLICES).map(move |place| Interval { lo: at(place), hi: at(place + 1) })
        };
        let whole = Interval { lo: -1.0, hi: 1.0 };
        let (mut first, mut last) = (slices(whole).find(|own| may_be(*own))?, slices(whole).rfind(|own| may_be(*own))?);
        for _ in 0..CUT_AGAIN {
            // A slice that may be may have parts none of which is: then its end is kept.
            first = slices(first).find(|own| may_be(*own)).unwrap_or(Interval { lo: first.hi, hi: first.hi });
            last = slices(last).rfind(|own| may_be(*own)).unwrap_or(Interval { lo: last.lo, hi: last.lo });
        }
        (first.lo <= last.hi).then_some(Interval { lo: first.lo, hi: last.hi })
    }
}

impl Set {
    /// The initial set: a box, each side of some width a strong variable.
    pub(crate) fn of_box(bounds: &[Interval], degree: usize) -> Set {
        let variables = bounds.iter().filter(|range| range.lo < range.hi).count();
        let space = Space::new(variables, degree);
        let mut variable = 0;
        let state = bounds
            .iter()
            .map(|range| {
                if range.lo < range.hi {
                    variable += 1;
                    space.variable(variable - 1, *range)
                } else {
                    space.constant(*range)
                }
            })
            .collect();
        Set { space, state, part: vec![Interval { lo: -1.0, hi: 1.0 }; variables] }
    }

    /// Where in the box that the set began from its runs begin.
    pub(crate) fn beginning(&self, bounds: &[Interval]) -> Vec<Interval> {
        let mut parts = self.part.iter();
        let mut inside = |range: &Interval| {
            let part = if range.lo < range.hi { parts.next() } else { None };
            let (centre, half) = middle(*range);
            let own = part.map(|part| Interval::point(centre) + Interval::point(half) * *part);
            own.and_then(|own| own.intersection(*range)).unwrap_or(*range)
        };
        bounds.iter().map(&mut inside).collect()
    }

    /// The box around the set.
    pub(crate) fn hull(&self) -> Vec<Interval> {
        self.state.iter().map(|form| form.range).collect()
    }

    /// Keeps few noise symbols: the largest, and one per variable for everything else.
    pub(crate) fn reduced(mut self) -> Set {
        let monomials = self.space.monomials.len();
        let symbols = self.space.columns - monomials;
        let most = symbols_of(self.state.len());
        let scales: Vec<f64> = self.state.iter().map(|form| form.range.width().max(f64::MIN_POSITIVE)).collect();
        let mut sizes: Vec<(f64, usize)> = (0..symbols)
            .map(|symbol| {
                let column = monomials + symbol;
                let of = |form: &Form| form.coefficients.get(column).map_or(0.0, |c| c.abs());
                let all = self.state.iter().zip(&scales).map(|(form, scale)| of(form) / scale);
                let (sum, largest) = all.fold((0.0, 0.0f64), |(sum, largest), own| (sum + own, largest.max(own)));
                // A symbol of one variable alone loses nothing by becoming error.
                (sum - largest, symbol)
            })
            .collect();
        sizes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        sizes.truncate(most.saturating_sub(self.state.len()));
        let mut kept: Vec<usize> =
            sizes.into_iter().filter(|(size, _)| *size > 0.0).map(|(_, symbol)| symbol).collect();
        kept.sort_unstable();
        self.space.columns = monomials + kept.len();
        for form in &mut self.state {
            let mut coefficients = form.coefficients[..monomials].to_vec();
            let mut rest = 0.0;
            let mut place = 0;
            for (symbol, c) in form.coefficients[monomials..].iter().enumerate() {
                if kept.get(place) == Some(&symbol) {
                    coefficients.push(*c);
                    place += 1;
                } else {
                    rest += c.abs();
                }
            }
            form.coefficients = coefficients;
            form.error = (form.error + rest) * ROOM;
        }
        for form in &mut self.state {
            self.space.name_error(form);
        }
        self
    }

    /// The part of the set where a form over it (and over symbols that came after it) is on one side of zero; nothing if that is empty.
    pub(crate) fn cut(&self, guard: &Form, side: Side) -> Option<Set> {
        self.cut_from(1, &[guard], side)
    }

    /// The part where several forms are on one side of zero, with the ranges of variables and symbols from a column on contracted, and those of the others as they are.
    pub(crate) fn cut_from(&self, first: usize, guards: &[&Form], side: Side) -> Option<Set> {
        let Space { monomials, columns } = &self.space;
        let sign = if side == Side::Above { 1.0 } else { -1.0 };
        let mut ranges = vec![Interval { lo: -1.0, hi: 1.0 }; *columns];
        for guard in guards {
            // sign · guard ≥ 0.
            let whole = self.space.enclose(guard);
            let most = if side == Side::Above { whole.hi } else { -whole.lo };
            if most < 0.0 {
                return None;
            }
            let linear = (1..=monomials.variables).chain(monomials.len()..*columns);
            for column in linear.filter(|column| *column >= first) {
                let Some(c) = guard.coefficients.get(column).map(|c| sign * c) else { continue };
                // c·s ≥ −(most of the rest), and the most of the rest is at most `most` + |c|, since s = ±1 is counted in `most`.
                let in_higher = column < monomials.len()
                    && (1..monomials.len()).any(|place| {
                        place != column
                            && guard.coefficients[place] != 0.0
                            && monomials.exponents[place][column - 1] > 0
                    });
                if in_higher {
                    let range = self.space.where_not_negative(guard, column - 1, sign)?;
                    if range.width() < MOST_KEPT * 2.0 {
                        let own = &mut ranges[column];
                        *own = own.intersection(range)?;
                    }
                    continue;
                }
                if c == 0.0 {
                    continue;
                }
                let rest = (most - c.abs()).next_up() + 4.0 * f64::EPSILON * (most + c.abs());
                let border = -rest / c;
                let slack = 1e-12 * border.abs();
                let own = &mut ranges[column];
                match c > 0.0 {
                    true => own.lo = own.lo.max(border - slack),
                    false => own.hi = own.hi.min(border + slack),
                }
                if own.lo > own.hi {
                    return None;
                }
            }
        }
        let mut cut = self.clone();
        for (column, range) in ranges.into_iter().enumerate().filter(|(_, own)| own.lo > -1.0 || own.hi < 1.0) {
            cut.rescale(column, range);
        }
        Some(cut)
    }

    /// Which share of another set's beginning this one has, if it is a part of it.
    pub(crate) fn share_of(&self, whole: &Set) -> f64 {
        self.part
            .iter()
            .zip(&whole.part)
            .map(|(own, whole)| own.width() / whole.width().max(f64::MIN_POSITIVE))
            .product()
    }

    /// Whether what a step approximated is most of what a form over it leaves open, and not what the set had lost before or what is chosen in the step (so many
    /// numbers): a smaller set is then approximated better.
    pub(crate) fn is_blurred_by_step(&self, form: &Form, choices: usize) -> bool {
        let known = form.coefficients.len().min(self.space.columns + choices);
        let of_set = magnitude(&form.coefficients[self.space.monomials.len().min(known)..known]);
        let of_step = magnitude(&form.coefficients[known..]) + form.error;
        of_step > of_set
    }

    /// Both halves of the set along the variable that a form depends on most, the upper one first; nothing if the set is too narrow.
    pub(crate) fn halves(&self, form: &Form) -> Option<[Set; 2]> {
        let variables = (0..self.part.len()).filter(|&variable| self.part[variable].width() > NARROWEST);
        let scores = scores(&self.space, form);
        let chosen = variables.max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))?;
        let half = |range: Interval| {
            let mut set = self.clone();
            set.rescale(1 + chosen, range);
            set
        };
        Some([half(Interval { lo: 0.0, hi: 1.0 }), half(Interval { lo: -1.0, hi: 0.0 })])
    }

    /// Replaces a variable or symbol by one that is scaled to a part of its range.
    fn rescale(&mut self, column: usize, range: Interval) {
        let (centre, half) = middle(range);
        if let Some(part) = column.checked_sub(1).and_then(|variable| self.part.get_mut(variable)) {
            let (own_centre, own_half) = middle(*part);
            let rest = Interval::point(own_centre) + Interval::point(own_half) * range;
            *part = rest.widen(SLACK).intersection(*part).unwrap_or(*part);
        }
        let monomials = self.space.monomials.clone();
        for form in &mut self.state {
            if column >= monomials.len() {
                let Some(c) = form.coefficients.get_mut(column) else { continue };
                let old = std::mem::replace(c, 0.0);
                *c = old * half;
                form.coefficients[0] += old * centre;
                let sizes = old.abs() * (half + centre.abs()) + form.coefficients[0].abs();
                form.error = (form.error + 4.0 * f64::EPSILON * sizes) * ROOM;
            } else {
                let variable = column - 1;
                let old = form.coefficients[..monomials.len()].to_vec();
                form.coefficients[..monomials.len()].fill(0.0);
                let mut sizes = 0.0;
                for (place, c) in old.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                    let power = monomials.exponents[place][variable];
                    let mut exponents = monomials.exponents[place].clone();
                    let mut binomial = 1.0;
                    for left in (0..=power).rev() {
                        // (centre + half·s)^power, term by term.
                        exponents[variable] = left;
                        let Some(to) = monomials.place(&exponents) else { continue };
                        let term = c * binomial * half.powi(left.into()) * centre.powi((power - left).into());
                        form.coefficients[to] += term;
                        sizes += term.abs();
                        binomial *= f64::from(left) / f64::from(power - left + 1);
                    }
                }
                form.error = (form.error + 64.0 * f64::EPSILON * sizes) * ROOM;
            }
            form.range = self.space.enclose(form).intersection(form.range).unwrap_or(form.range);
        }
    }
}

/// How much a form changes along each strong variable, as a share of its range: all monomials that the variable stands in.
pub(crate) fn scores(space: &Space, form: &Form) -> Vec<f64> {
    let mut scores = vec![0.0; space.monomials.variables];
    let scale = form.range.width().max(f64::MIN_POSITIVE);
    for (exponents, c) in space.monomials.exponents.iter().zip(&form.coefficients).skip(1) {
        for (score, exponent) in scores.iter_mut().zip(exponents) {
            *score += c.abs() / scale * f64::from(*exponent);
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use certus_numerics::Random;

    use super::*;

    #[test]
    fn a_cut_keeps_all_values_on_its_side_and_says_where_they_begin() {
        let mut random = Random::new(11, 0);
        let whole = [Interval { lo: -1.0, hi: 3.0 }, Interval { lo: 2.0, hi: 2.5 }];
        let mut narrowed = 0;
        for round in 0..200 {
            let mut set = Set::of_box(&whole, 1 + round % 4);
            let noise = set.space.noise(Interval { lo: -0.1, hi: 0.1 });
            let mut number = || Interval::point(random.between(-1.0, 1.0));
            let (a, b, c, d) = (number(), number(), number(), number());
            let square = set.space.product(&set.state[0], &set.state[0], true);
            let product = set.space.product(&set.state[0], &set.state[1], false);
            let terms = [(a, &set.state[0]), (b, &square), (c, &product), (Interval::ONE, &noise)];
            let guard = set.space.combine(&terms, d);
            for side in [Side::Below, Side::Above] {
                let cut = set.cut(&guard, side);
                let begins = cut.as_ref().map(|cut| cut.beginning(&whole));
                narrowed += usize::from(begins.as_ref().is_some_and(|own| own[0].width() < 3.9));
                for _ in 0..100 {
                    let (x, y, e) = (random.between(-1.0, 3.0), random.between(2.0, 2.5), random.between(-0.1, 0.1));
                    let value = a.lo * x + b.lo * x * x + c.lo * x * y + d.lo + e;
                    let is_inside = if side == Side::Above { value > 1e-9 } else { value < -1e-9 };
                    if is_inside {
                        let (cut, begins) = (cut.as_ref().unwrap(), begins.as_ref().unwrap());
                        assert!(cut.hull()[0].contains(x) && cut.hull()[1].contains(y), "{x}, {y}: {:?}", cut.hull());
                        assert!(begins[0].contains(x) && begins[1].contains(y), "{x}, {y}: {begins:?}");
                    }
                }
            }
        }
        assert!(narrowed > 100, "{narrowed}");
    }
}
