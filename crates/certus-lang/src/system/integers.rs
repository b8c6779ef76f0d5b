//! Finite sets of integers: what a discrete variable ranges over.

use std::fmt;

/// A finite set of integers that doubles hold exactly, as maximal runs in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Integers {
    runs: Vec<(i64, i64)>,
}

impl Integers {
    /// Beyond this, not every integer is a double.
    pub const LARGEST: i64 = 1 << 53;

    /// The union of some runs, each with both of its ends. Nothing if it is empty, or an integer is too large.
    pub fn of_runs(runs: impl IntoIterator<Item = (i64, i64)>) -> Option<Integers> {
        let mut sorted: Vec<(i64, i64)> = runs.into_iter().filter(|(from, to)| from <= to).collect();
        sorted.sort_unstable();
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for (from, to) in sorted {
            if from < -Self::LARGEST || to > Self::LARGEST {
                return None;
            }
            match runs.last_mut() {
                Some((_, last)) if from <= *last + 1 => *last = to.max(*last),
                _ => runs.push((from, to)),
            }
        }
        (!runs.is_empty()).then_some(Integers { runs })
    }

    /// The runs, in order; between two of them at least one integer is missing.
    pub fn runs(&self) -> &[(i64, i64)] {
        &self.runs
    }

    /// The least and the largest integer.
    pub fn hull(&self) -> (i64, i64) {
        (self.runs[0].0, self.runs[self.runs.len() - 1].1)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|&(from, to)| (to - from) as u64 + 1).sum()
    }

    /// Whether a number is one of them.
    pub fn contains(&self, value: f64) -> bool {
        let inside = |&(from, to): &(i64, i64)| from as f64 <= value && value <= to as f64;
        value.fract() == 0.0 && self.runs.iter().any(inside)
    }

    /// Those between two numbers, if there are any.
    pub fn between(&self, low: f64, high: f64) -> Option<Integers> {
        let cut = |&(from, to): &(i64, i64)| {
            let (from, to) = ((from as f64).max(low.ceil()), (to as f64).min(high.floor()));
            (from <= to).then_some((from as i64, to as i64))
        };
        let runs: Vec<(i64, i64)> = self.runs.iter().filter_map(cut).collect();
        (!runs.is_empty()).then_some(Integers { runs })
    }

    /// Those that are also in another set, if there are any.
    pub fn intersection(&self, other: &Integers) -> Option<Integers> {
        let both = self
            .runs
            .iter()
            .flat_map(|&(from, to)| other.runs.iter().map(move |&(first, last)| (from.max(first), to.min(last))));
        Integers::of_runs(both)
    }

    /// Whether all of them are in another set.
    pub fn is_within(&self, other: &Integers) -> bool {
        let inside = |&(from, to): &(i64, i64)| other.runs.iter().any(|&(first, last)| first <= from && to <= last);
        self.runs.iter().all(inside)
    }

    /// The one at a place in their order; the last one beyond the end.
    pub fn nth(&self, place: u64) -> f64 {
        let mut left = place;
        for &(from, to) in &self.runs {
            let count = (to - from) as u64 + 1;
            if left < count {
                return (from + left as i64) as f64;
            }
            left -= count;
        }
        self.hull().1 as f64
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.runs.iter().flat_map(|&(from, to)| (from..=to).map(|value| value as f64))
    }

    /// One that is nearest to a number, the smaller of two.
    pub fn nearest(&self, value: f64) -> f64 {
        let (first, last) = self.hull();
        let value = value.max(first as f64).min(last as f64);
        let in_run = |&(from, to): &(i64, i64)| (value - 0.5).ceil().clamp(from as f64, to as f64);
        let distance = |own: &f64| (own - value).abs();
        let candidates = self.runs.iter().map(in_run);
        candidates.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(value)
    }
}

impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = |&(from, to): &(i64, i64)| if from == to { from.to_string() } else { format!("{from}..{to}") };
        write!(f, "{{{}}}", self.runs.iter().map(run).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_set() -> impl Strategy<Value = Integers> {
        prop::collection::vec((-9..9i64, 0..4i64), 1..5)
            .prop_map(|runs| Integers::of_runs(runs.into_iter().map(|(from, more)| (from, from + more))).unwrap())
    }

    fn listed(set: &Integers) -> Vec<f64> {
        (-20..20).map(f64::from).filter(|value| set.contains(*value)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_set_is_what_it_contains(a in any_set(), b in any_set(), low in -12.0..12.0f64, high in -12.0..12.0f64) {
            let all = listed(&a);
            prop_assert_eq!(a.iter().collect::<Vec<_>>(), all.clone());
            prop_assert_eq!(a.count() as usize, all.len());
            prop_assert!(all.iter().enumerate().all(|(place, value)| a.nth(place as u64) == *value));
            prop_assert_eq!((a.hull().0 as f64, a.hull().1 as f64), (all[0], all[all.len() - 1]));
            prop_assert!(a.runs().windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
            let both: Vec<f64> = all.iter().copied().filter(|value| b.contains(*value)).collect();
            prop_assert_eq!(a.intersection(&b).map_or(Vec::new(), |own| listed(&own)), both.clone());
            prop_assert_eq!(a.is_within(&b), both == all);
            let inside: Vec<f64> = all.iter().copied().filter(|value| low <= *value && *value <= high).collect();
            prop_assert_eq!(a.between(low, high).map_or(Vec::new(), |own| listed(&own)), inside);
            let nearest = a.nearest(low);
            prop_assert!(a.contains(nearest) && all.iter().all(|value| (nearest - low).abs() <= (value - low).abs()));
        }
    }

    #[test]
    fn halves_and_infinities_are_no_members() {
        let set = Integers::of_runs([(0, 3), (5, 5)]).unwrap();
        assert!(!set.contains(0.5) && !set.contains(4.0) && !set.contains(f64::INFINITY) && !set.contains(f64::NAN));
        assert_eq!((set.nearest(f64::NEG_INFINITY), set.nearest(f64::INFINITY), set.nearest(4.0)), (0.0, 5.0, 3.0));
        assert_eq!((set.to_string().as_str(), Integers::of_runs([(3, 2)])), ("{0..3, 5}", None));
        assert_eq!(Integers::of_runs([(0, i64::MAX)]), None);
    }
}
