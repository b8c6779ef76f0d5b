//! The truth of a formula on an infinite word that repeats itself, straight from the definition.

use crate::formula::{Formula, Steps};

/// A word: its letters, each the truth of every atom, and the place to which it returns after the last one.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// The letters.
    pub letters: &'a [Vec<bool>],
    /// Where the loop begins.
    pub back: usize,
}

impl Word<'_> {
    /// Whether the word satisfies a formula.
    pub fn satisfies(&self, formula: &Formula) -> bool {
        self.truths(formula).first().copied().unwrap_or(false)
    }

    fn following(&self, place: usize) -> usize {
        if place + 1 < self.letters.len() { place + 1 } else { self.back }
    }

    /// The truth of a formula at every place.
    fn truths(&self, formula: &Formula) -> Vec<bool> {
        let places = 0..self.letters.len();
        match formula {
            Formula::Constant(truth) => vec![*truth; self.letters.len()],
            Formula::Atom(atom) => self.letters.iter().map(|letter| letter[*atom]).collect(),
            Formula::Not(inner) => self.truths(inner).into_iter().map(|truth| !truth).collect(),
            Formula::And(left, right) => both(self.truths(left), &self.truths(right), |a, b| a && b),
            Formula::Or(left, right) => both(self.truths(left), &self.truths(right), |a, b| a || b),
            Formula::Next(inner) => {
                let inner = self.truths(inner);
                places.map(|place| inner[self.following(place)]).collect()
            }
            Formula::Until(steps, left, right) => {
                let (left, right) = (self.truths(left), self.truths(right));
                places.map(|place| self.until(place, *steps, &left, &right)).collect()
            }
            Formula::Release(steps, left, right) => {
                let opposite =
                    |formula: &Formula| -> Vec<bool> { self.truths(formula).into_iter().map(|truth| !truth).collect() };
                let (left, right) = (opposite(left), opposite(right));
                places.map(|place| !self.until(place, *steps, &left, &right)).collect()
            }
        }
    }

    /// Walks ahead: after as many steps as there are letters nothing new comes, but a lower bound may still be ahead.
    fn until(&self, place: usize, steps: Steps, left: &[bool], right: &[bool]) -> bool {
        let last = steps.upper.unwrap_or(steps.lower + self.letters.len() as u32);
        let mut at = place;
        for step in 0..=last {
            if step >= steps.lower && right[at] {
                return true;
            }
            if !left[at] {
                return false;
            }
            at = self.following(at);
        }
        false
    }
}

fn both(left: Vec<bool>, right: &[bool], f: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    left.into_iter().zip(right).map(|(a, b)| f(a, *b)).collect()
}
