//! What is done to sets between steps: errors become symbols, symbols are reduced, cases cut pieces off.
//!
//! Reduction of generators: Girard, "Reachability of uncertain linear systems using zonotopes", HSCC 2005; those that are nearly parallel are merged before
//! (Kopetzki, Schürmann, Althoff, "Methods for order reduction of zonotopes", CDC 2017), since old errors line up with the slow directions of a
//! stable loop, and boxes around them would wrap. The cut of a set with a half-space contracts the
//! ranges of variables and symbols that the half-space leaves (as interval constraint propagation does: Jaulin, Kieffer, Didrit, Walter, "Applied Interval
//! Analysis", 2001, chapter 4), and rescales them to [−1, 1]; for a set that the guard crosses aslant it keeps more than the intersection, never less.

use certus_graph::Interval;
use certus_solver::rounding::{ROOM, gamma};

use crate::closed_loop::Set;
use crate::domain::Side;
use crate::form::{Form, Space, middle};
use crate::monomials::Monomials;

/// How many noise symbols a set keeps for each of its variables.
const SYMBOLS_PER_VARIABLE: usize = 16;

/// And at least this many.
const LEAST_SYMBOLS: usize = 64;

/// A symbol is merged into another one if no more than this part of what it shares is left over.
const MOST_REST: f64 = 0.1;

/// A variable of which a cut leaves more than this share is left as it is.
const MOST_KEPT: f64 = 0.99;

/// Into how many slices the range of a variable is cut to see where a guard holds, and how often those at the ends are cut again.
const SLICES: usize = 16;
const CUT_AGAIN: usize = 3;

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

/// What a noise symbol adds to each variable.
struct Generator {
    column: usize,
    values: Vec<f64>,
    /// The same as shares of the variables' ranges.
    scaled: Vec<f64>,
    /// How much is shared: a symbol of one variable alone loses nothing by becoming error.
    shared: f64,
}

impl Generator {
    fn of(state: &[Form], column: usize, scales: &[f64]) -> Generator {
        let of = |form: &Form| form.coefficients.get(column).copied().unwrap_or(0.0);
        let values: Vec<f64> = state.iter().map(of).collect();
        let scaled: Vec<f64> = values.iter().zip(scales).map(|(c, scale)| c / scale).collect();
        let (sum, largest) =
            scaled.iter().fold((0.0, 0.0f64), |(sum, largest), own| (sum + own.abs(), largest.max(own.abs())));
        Generator { column, values, scaled, shared: sum - largest }
    }

    /// Which of some others it is a multiple of but for the least rest, and the factor; nothing if the rest is not
    /// much less than what it shares: the merged one is larger than both by it.
    fn most_parallel(&self, others: &[Generator]) -> Option<(usize, f64)> {
        let mut best = None;
        let mut least = MOST_REST * self.shared;
        for (place, other) in others.iter().enumerate() {
            let (dot, square) = self
                .scaled
                .iter()
                .zip(&other.scaled)
                .fold((0.0, 0.0), |(dot, square), (a, b)| (dot + a * b, square + b * b));
            let factor = dot / square;
            if !factor.is_finite() {
                continue;
            }
            let rest: f64 = self.scaled.iter().zip(&other.scaled).map(|(a, b)| (a - factor * b).abs()).sum();
            if rest < least {
                (least, best) = (rest, Some((place, factor)));
            }
        }
        best
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

    /// Keeps few noise symbols: the largest. Any other one is merged into the one that it is most parallel to, and what is left of it
    /// becomes error, one symbol per variable.
    pub(crate) fn reduced(mut self) -> Set {
        let monomials = self.space.monomials.len();
        let symbols = self.space.columns - monomials;
        let most = symbols_of(self.state.len()).saturating_sub(self.state.len());
        let scales: Vec<f64> = self.state.iter().map(|form| form.range.width().max(f64::MIN_POSITIVE)).collect();
        let mut generators: Vec<Generator> =
            (0..symbols).map(|symbol| Generator::of(&self.state, monomials + symbol, &scales)).collect();
        generators.sort_by(|a, b| b.shared.total_cmp(&a.shared).then(a.column.cmp(&b.column)));
        // Of one variable alone, a symbol is no better than an error.
        let count = generators.iter().take(most).take_while(|own| own.shared > 0.0).count();
        let others = generators.split_off(count);
        let mut kept = generators;
        kept.sort_unstable_by_key(|own| own.column);
        let mut sizes = vec![1.0; kept.len()];
        let mut rest = vec![0.0; self.state.len()];
        for other in others {
            let parallel = if other.shared > 0.0 { other.most_parallel(&kept) } else { None };
            if let Some((place, factor)) = parallel {
                sizes[place] += f64::abs(factor);
            }
            for (element, rest) in rest.iter_mut().enumerate() {
                let own = other.values[element];
                let left = match parallel {
                    Some((place, factor)) => {
                        let along = factor * kept[place].values[element];
                        (own - along).abs() + f64::EPSILON * (own.abs() + along.abs())
                    }
                    None => own.abs(),
                };
                *rest += left;
            }
        }
        self.space.columns = monomials + kept.len();
        for (element, form) in self.state.iter_mut().enumerate() {
            form.coefficients.truncate(monomials);
            let (mut rounding, count) = (0.0, symbols + kept.len());
            for (own, size) in kept.iter().zip(&sizes) {
                let c = own.values[element] * size;
                rounding += c.abs();
                form.coefficients.push(c);
            }
            rounding *= gamma(count + 4);
            form.error = (form.error + rest[element] * (1.0 + gamma(count)) + rounding) * ROOM;
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

    #[test]
    fn what_is_dropped_or_merged_is_not_lost() {
        let mut random = Random::new(12, 0);
        let whole = [Interval { lo: -1.0, hi: 1.0 }, Interval { lo: 0.0, hi: 0.5 }];
        for round in 0..20 {
            let mut set = Set::of_box(&whole, 1);
            // Of one variable alone, shared, and nearly parallel to each other.
            let count = if round % 2 == 0 { 8 } else { 2 * symbols_of(2) };
            for symbol in 0..count {
                let noise = set.space.noise(Interval { lo: -1.0, hi: 1.0 });
                let size = random.between(0.001, 0.1);
                let slope = if symbol % 5 == 0 { 0.7 + random.between(-0.01, 0.01) } else { random.between(-2.0, 2.0) };
                let factors = match symbol % 7 {
                    0 => [size, 0.0],
                    1 => [0.0, size],
                    _ => [size, size * slope],
                };
                for (form, factor) in set.state.iter_mut().zip(factors) {
                    let terms = [(Interval::ONE, &*form), (Interval::point(factor), &noise)];
                    *form = set.space.combine(&terms, Interval::ZERO);
                }
            }
            let directions: Vec<[f64; 2]> =
                (0..16).map(|_| [random.between(-1.0, 1.0), random.between(-1.0, 1.0)]).collect();
            let along = |set: &Set, [a, b]: [f64; 2]| {
                let terms = [(Interval::point(a), &set.state[0]), (Interval::point(b), &set.state[1])];
                set.space.combine(&terms, Interval::ZERO).range
            };
            let before: Vec<Interval> = directions.iter().map(|own| along(&set, *own)).collect();
            let reduced = set.reduced();
            assert!(reduced.space.columns - reduced.space.monomials.len() <= symbols_of(2), "round {round}");
            for (own, before) in directions.iter().zip(&before) {
                let after = along(&reduced, *own);
                // But for what rounding leaves of either enclosure.
                assert!(after.widen(1e-12).encloses(*before), "round {round}: {before:?} is not in {after:?}");
            }
        }
    }
}
