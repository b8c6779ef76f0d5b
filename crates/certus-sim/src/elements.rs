//! Values for the elements of variables: drawn from their ranges, or brought into them. Integers are drawn among the integers of the range.

use certus_lang::system::{Integers, System, Variable};
use certus_numerics::Random;

/// What an element of a variable can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub(crate) low: f64,
    pub(crate) high: f64,
    integers: Option<Integers>,
}

impl Element {
    /// The elements of some variables, one after the other.
    pub fn of(variables: &[Variable]) -> Vec<Element> {
        let own = |variable: &Variable, element: usize| Element {
            low: variable.lower[element],
            high: variable.upper[element],
            integers: variable.integers.clone(),
        };
        variables.iter().flat_map(|variable| (0..variable.len).map(move |element| own(variable, element))).collect()
    }

    /// A value, uniformly.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.between(self.low, self.high, random)
    }

    /// A value between two, uniformly.
    fn between(&self, low: f64, high: f64, random: &mut Random) -> f64 {
        match self.integers.as_ref().filter(|_| low < high).and_then(|own| own.between(low, high)) {
            Some(inside) => inside.nth((random.unit() * inside.count() as f64) as u64),
            None => random.between(low, high),
        }
    }

    /// The value that is nearest to a number.
    pub(crate) fn nearest(&self, value: f64) -> f64 {
        match &self.integers {
            Some(integers) => integers.nearest(value),
            None => value.clamp(self.low, self.high),
        }
    }

    /// Whether it can have a value.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high && self.integers.as_ref().is_none_or(|own| own.contains(value))
    }
}

/// How initial states are drawn: a box of the initial set by its size, then each element by itself.
pub struct Starts<'s> {
    boxes: &'s [(Vec<f64>, Vec<f64>)],
    /// The share of each box, none where there is one only.
    shares: Vec<f64>,
}

impl<'s> Starts<'s> {
    /// For a system.
    pub fn of(system: &'s System) -> Starts<'s> {
        let boxes = &system.init_boxes[..];
        let shares = if boxes.len() > 1 { shares(boxes) } else { Vec::new() };
        Starts { boxes, shares }
    }

    /// Draws the elements of a state.
    pub fn draw(&self, states: &[Element], random: &mut Random, mut set: impl FnMut(usize, f64)) {
        let place = match self.shares.is_empty() {
            true => 0,
            false => Random::pick(self.shares.iter().copied(), random.unit()),
        };
        let Some((lower, upper)) = self.boxes.get(place) else { return };
        for (element, (own, (&low, &high))) in states.iter().zip(lower.iter().zip(upper)).enumerate() {
            set(element, own.between(low, high, random));
        }
    }

    /// The state of some box that is nearest to one, element by element.
    pub(crate) fn nearest(&self, states: &[Element], wanted: &[f64], mut set: impl FnMut(usize, f64)) {
        let inside = |(lower, upper): &(Vec<f64>, Vec<f64>)| -> Vec<f64> {
            let ends = lower.iter().zip(upper).zip(states).zip(wanted);
            ends.map(|(((&low, &high), own), &value)| {
                let value = value.clamp(low, high);
                if low < high { own.nearest(value).clamp(low, high) } else { value }
            })
            .collect()
        };
        let distance = |own: &[f64]| own.iter().zip(wanted).map(|(own, value)| (own - value).abs()).sum::<f64>();
        let all = self.boxes.iter().map(inside);
        let best = all.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        best.into_iter().flatten().enumerate().for_each(|(element, value)| set(element, value));
    }
}

/// The shares of boxes: their volumes, if all extend in the same directions; equal ones otherwise, since no size compares a line with a square.
fn shares(boxes: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let extends = |(lower, upper): &(Vec<f64>, Vec<f64>)| -> Vec<bool> {
        lower.iter().zip(upper).map(|(low, high)| low < high).collect()
    };
    let directions = extends(&boxes[0]);
    let volume = |(lower, upper): &(Vec<f64>, Vec<f64>)| -> f64 {
        let widths = lower.iter().zip(upper).map(|(low, high)| high - low).filter(|width| *width > 0.0);
        widths.product()
    };
    let alike = boxes.iter().all(|own| extends(own) == directions);
    let volumes: Vec<f64> = boxes.iter().map(|own| if alike { volume(own) } else { 1.0 }).collect();
    let total: f64 = volumes.iter().sum();
    match total.is_finite() && total > 0.0 {
        true => volumes.iter().map(|own| own / total).collect(),
        false => vec![1.0 / boxes.len() as f64; boxes.len()],
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    fn loaded(text: &str) -> System {
        load_str(&format!("system s\n{text}"), &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
    }

    #[test]
    fn every_value_of_an_integer_is_as_likely() {
        let system = loaded("state n in {0..3, 7}\nnext n = n\nproperty p = G n >= 0\n");
        let elements = Element::of(&system.states);
        let mut random = Random::new(1, 0);
        let mut counts = [0; 8];
        (0..5000).for_each(|_| counts[elements[0].draw(&mut random) as usize] += 1);
        assert_eq!([counts[4], counts[5], counts[6]], [0; 3]);
        assert!([0, 1, 2, 3, 7].iter().all(|&value| (900..1100).contains(&counts[value])), "{counts:?}");
        assert_eq!(
            (elements[0].nearest(5.9), elements[0].contains(2.0), elements[0].contains(5.0)),
            (7.0, true, false)
        );
    }

    #[test]
    fn parts_of_the_initial_set_are_drawn_by_their_size() {
        let system = loaded(
            "state x in [0, 9]\nstate y in [0, 1]\ninit (x in [0, 3] & y == 0) | (x in [8, 9] & y == 1)\n\
             next x = x\nnext y = y\nproperty p = G x >= 0\n",
        );
        let (elements, starts) = (Element::of(&system.states), Starts::of(&system));
        let mut random = Random::new(1, 0);
        let mut first = 0;
        for _ in 0..4000 {
            let mut state = [0.0; 2];
            starts.draw(&elements, &mut random, |element, value| state[element] = value);
            first += usize::from(state[1] == 0.0);
            assert!(if state[1] == 0.0 { state[0] <= 3.0 } else { state[0] >= 8.0 }, "{state:?}");
        }
        assert!((2900..3100).contains(&first), "{first}");
        let mut state = [0.0; 2];
        starts.nearest(&elements, &[7.0, 0.9], |element, value| state[element] = value);
        assert_eq!(state, [8.0, 1.0]);
    }
}
