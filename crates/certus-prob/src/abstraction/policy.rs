//! Probabilities of moves over a region, from bounds of score differences.
//!
//! A softmax depends on differences of scores alone: pⱼ = 1 / (1 + Σ exp(sᵢ − sⱼ)). Each ordered difference is bounded from below over the
//! region by the solver's backward linear bounds, which keeps what the scores have in common; intervals of single scores would lose it. The
//! exponentials are then enclosed and summed with outward rounding.

use certus_graph::Interval;
use certus_graph::interval::{add_down, add_up};
use certus_solver::LinearBound;

use super::{Abstraction, Choice};
use crate::template_polyhedron::{Polyhedron, Rows};

impl Abstraction {
    /// For each region, the probability of each move.
    pub(super) fn probabilities(&self, regions: &[Rows]) -> Vec<Vec<Interval>> {
        self.differences(regions).iter().map(|least| self.combine(&self.labels(least))).collect()
    }

    /// For each region, the probability of every label of every action, chance variables left out.
    pub fn policy(&self, regions: &[Polyhedron]) -> Vec<Vec<Vec<Interval>>> {
        let rows: Vec<Rows> = regions.iter().map(|region| self.lift(region)).collect();
        let actions = |least: &Vec<f64>| {
            let labels = self.labels(least).into_iter().zip(&self.choices);
            labels.filter(|(_, choice)| !matches!(choice, Choice::Chance(_))).map(|(own, _)| own).collect()
        };
        self.differences(&rows).iter().map(actions).collect()
    }

    /// For each region, lower bounds of all ordered differences of each choice's scores.
    fn differences(&self, regions: &[Rows]) -> Vec<Vec<f64>> {
        let mut pairs = Vec::new();
        for choice in &self.choices {
            if let Choice::Softmax(start, labels) | Choice::Argmax(start, labels) = choice {
                let own = |i: usize, j: usize| vec![(start + i, 1.0), (start + j, -1.0)];
                pairs.extend((0..*labels).flat_map(|i| (0..*labels).filter(move |&j| j != i).map(move |j| own(i, j))));
            }
        }
        let lines = match &self.policy {
            Some(policy) if !pairs.is_empty() => {
                let boxes: Vec<_> = regions.iter().map(|rows| self.bounds(rows)).collect();
                policy.below(&boxes, &pairs)
            }
            _ => vec![Vec::new(); regions.len()],
        };
        let least = |(rows, lines): (&Rows, &Vec<LinearBound>)| {
            lines.iter().map(|line| Abstraction::least(line, rows)).collect()
        };
        regions.iter().zip(&lines).map(least).collect()
    }

    /// The probability of each choice's labels, given lower bounds of all ordered differences of its scores.
    fn labels(&self, least: &[f64]) -> Vec<Vec<Interval>> {
        let mut at = 0;
        self.choices
            .iter()
            .map(|choice| match choice {
                Choice::Chance(probabilities) => probabilities.iter().map(|&p| Interval::point(p)).collect(),
                Choice::Softmax(_, labels) | Choice::Argmax(_, labels) => {
                    let own = &least[at..at + labels * (labels - 1)];
                    at += labels * (labels - 1);
                    // Score i minus score j.
                    let difference = |i: usize, j: usize| {
                        let low = own[i * (labels - 1) + j - usize::from(j > i)];
                        let high = -own[j * (labels - 1) + i - usize::from(i > j)];
                        if low <= high { Interval::new(low, high) } else { Interval::new(high, low) }
                    };
                    match choice {
                        Choice::Argmax(..) => first_maximum(*labels, &difference),
                        _ => softmax(*labels, &difference),
                    }
                }
            })
            .collect()
    }

    /// The probability of each move, given those of each choice's labels.
    pub(crate) fn combine(&self, labels: &[Vec<Interval>]) -> Vec<Interval> {
        let probability = |own: &Vec<usize>| {
            own.iter().zip(labels).fold(Interval::ONE, |product, (&label, choice)| product * choice[label])
        };
        self.moves.iter().map(|own| clamp(probability(own))).collect()
    }
}

fn clamp(p: Interval) -> Interval {
    debug_assert!(p.lo <= p.hi, "the ends of a probability are crossed: {p}");
    Interval { lo: p.lo.clamp(0.0, 1.0), hi: p.hi.clamp(0.0, 1.0) }
}

/// The softmax of scores by their differences.
pub(crate) fn softmax(labels: usize, difference: &dyn Fn(usize, usize) -> Interval) -> Vec<Interval> {
    let own = |j: usize| {
        let others = (0..labels).filter(|&i| i != j);
        let (mut low, mut high) = (1.0, 1.0);
        for i in others {
            let power = difference(i, j).exp();
            low = add_down(low, power.lo);
            high = add_up(high, power.hi);
        }
        let inverse = |value: f64| Interval::ONE / Interval::point(value);
        let lo = if high.is_finite() { inverse(high).lo } else { 0.0 };
        clamp(Interval { lo, hi: inverse(low).hi })
    };
    (0..labels).map(own).collect()
}

/// Which score may be the first largest one: probabilities 0, 1 or anything between.
fn first_maximum(labels: usize, difference: &dyn Fn(usize, usize) -> Interval) -> Vec<Interval> {
    let possible: Vec<bool> =
        (0..labels).map(|j| (0..labels).filter(|&i| i != j).all(|i| difference(j, i).hi >= 0.0)).collect();
    let several = possible.iter().filter(|&&possible| possible).count() != 1;
    let of = |possible: bool| match (possible, several) {
        (true, false) => Interval::ONE,
        (true, true) => Interval::UNKNOWN_TRUTH,
        (false, _) => Interval::ZERO,
    };
    possible.into_iter().map(of).collect()
}
