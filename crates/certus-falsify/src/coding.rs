//! The choices of a run, coded as a point of the unit cube.
//!
//! A search needs a space of fixed dimension. As in S-TaLiRo (Annpureddy, Liu, Fainekos and Sankaranarayanan, TACAS 2011), signals are piecewise
//! constant with a few control points: the coordinates are the first state's free elements, then, for each of some periods, the inputs'
//! free elements and one number for each chance variable and random action, by which inverse sampling picks a label.
//! Every run that a point denotes is one that simulation could have drawn.

use certus_lang::system::{ActionRole, Integers, System, Variable};
use certus_sim::Plan;

use crate::descent::Slope;

/// Control points at most.
const MOST_ROWS: usize = 12;

/// A number below 1: labels are picked by numbers in [0, 1).
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;

/// How points of the unit cube are read as plans of runs.
#[derive(Clone, Debug)]
pub(crate) struct Coding {
    start: Vec<(f64, f64)>,
    /// The boxes of the initial set, and one state of each is chosen by a number of its own if there are several.
    boxes: Vec<(Vec<f64>, Vec<f64>)>,
    /// The only first states that are known, if draws meet none.
    starts: Vec<Vec<f64>>,
    inputs: Vec<(f64, f64)>,
    /// The integers that elements of the start and of the inputs are.
    integral_start: Vec<Option<Integers>>,
    integral_inputs: Vec<Option<Integers>>,
    /// The elements of the start and of the inputs that are not fixed.
    free_start: Vec<usize>,
    free_inputs: Vec<usize>,
    draws: usize,
    rows: usize,
    period: usize,
}

impl Coding {
    /// For runs of so many steps, from some first states if there are any, else from all of the initial box.
    pub(crate) fn new(system: &System, starts: &[Vec<f64>], steps: usize) -> Coding {
        let bounds = |variables: &[Variable]| -> Vec<(f64, f64)> {
            variables.iter().flat_map(|v| v.lower.iter().copied().zip(v.upper.iter().copied())).collect()
        };
        let (lower, upper) = &system.init_box;
        let start: Vec<(f64, f64)> = lower.iter().copied().zip(upper.iter().copied()).collect();
        let inputs = bounds(&system.inputs);
        let free = |ranges: &[(f64, f64)]| -> Vec<usize> {
            (0..ranges.len()).filter(|&element| ranges[element].0 < ranges[element].1).collect()
        };
        let random = system.roles.actions.iter().filter(|role| matches!(role, ActionRole::Softmax { .. })).count();
        let draws = system.chances.len() + random;
        let chosen = draws > 0 || !inputs.is_empty();
        let rows = if chosen { (steps + 1).min(MOST_ROWS) } else { 0 };
        let period = (steps + 1).div_ceil(rows.max(1));
        let boxes = system.init_boxes.clone();
        // Elements that no box leaves free are decided by the choice of the box.
        let is_free = |&element: &usize| boxes.iter().any(|(lower, upper)| lower[element] < upper[element]);
        let free_start = if starts.is_empty() { (0..start.len()).filter(is_free).collect() } else { Vec::new() };
        let integers = |variables: &[Variable]| -> Vec<Option<Integers>> {
            variables.iter().flat_map(|own| std::iter::repeat_n(own.integers.clone(), own.len)).collect()
        };
        Coding {
            free_start,
            free_inputs: free(&inputs),
            start,
            boxes,
            starts: starts.to_vec(),
            integral_start: integers(&system.states),
            integral_inputs: integers(&system.inputs),
            inputs,
            draws,
            rows,
            period,
        }
    }

    /// Whether a number of its own says in which box of the initial set a run begins.
    fn chooses_box(&self) -> bool {
        self.starts.is_empty() && self.boxes.len() > 1
    }

    /// Numbers by which the first state is chosen.
    pub(crate) fn start_dimensions(&self) -> usize {
        match self.starts.len() {
            0 => self.free_start.len() + usize::from(self.chooses_box()),
            known => usize::from(known > 1),
        }
    }

    fn first_state(&self, shares: &[f64]) -> Vec<f64> {
        if !self.starts.is_empty() {
            return self.starts[place(shares.first(), self.starts.len())].clone();
        }
        let (first, shares) = shares.split_at(usize::from(self.chooses_box()));
        let (lower, upper) = &self.boxes[place(first.first(), self.boxes.len())];
        let ranges: Vec<(f64, f64)> = lower.iter().copied().zip(upper.iter().copied()).collect();
        filled(&ranges, &self.free_start, &self.integral_start, shares)
    }

    /// Numbers of one control point.
    pub(crate) fn row_dimensions(&self) -> usize {
        self.free_inputs.len() + self.draws
    }

    /// Whether something that is chosen is a number, not a label.
    pub(crate) fn has_numbers(&self) -> bool {
        !self.free_start.is_empty() || !self.free_inputs.is_empty()
    }

    /// Control points.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The dimension of the cube.
    pub(crate) fn dimensions(&self) -> usize {
        self.start_dimensions() + self.rows * self.row_dimensions()
    }

    /// The plan that a point denotes.
    pub(crate) fn plan(&self, point: &[f64]) -> Plan {
        let (start, rows) = point.split_at(self.start_dimensions());
        let row_length = self.row_dimensions();
        let row = |number: usize| &rows[number * row_length..][..row_length];
        let inputs = |number: usize| {
            filled(&self.inputs, &self.free_inputs, &self.integral_inputs, &row(number)[..self.free_inputs.len()])
        };
        let draws = |number: usize| -> Vec<f64> {
            row(number)[self.free_inputs.len()..].iter().map(|&share| share.clamp(0.0, BELOW_ONE)).collect()
        };
        Plan {
            start: self.first_state(start),
            inputs: (0..self.rows).map(inputs).collect(),
            draws: (0..self.rows).map(draws).collect(),
            period: self.period,
        }
    }

    /// The plan that a point denotes, with rows for each of so many steps.
    pub(crate) fn step_by_step(&self, point: &[f64], steps: usize) -> Plan {
        let plan = self.plan(point);
        let spread = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..=steps).filter_map(|step| rows.get(step / self.period).cloned()).collect()
        };
        Plan { inputs: spread(&plan.inputs), draws: spread(&plan.draws), period: 1, ..plan }
    }

    /// A plan, each of its numbers moved against the sign of a slope by a share of its range.
    pub(crate) fn moved(&self, plan: &Plan, slope: &Slope, share: f64) -> Plan {
        let moved =
            |values: &[f64], slopes: &[f64], ranges: &[(f64, f64)], integers: &[Option<Integers>]| -> Vec<f64> {
                let mut moved = Vec::with_capacity(values.len());
                for (element, (&value, &slope)) in values.iter().zip(slopes).enumerate() {
                    let (low, high) = ranges[element];
                    let sign = if slope == 0.0 { 0.0 } else { slope.signum() };
                    let value = (value - share * sign * (high - low)).clamp(low, high);
                    moved.push(integers[element].as_ref().map_or(value, |own| own.nearest(value)));
                }
                moved
            };
        let rows = plan.inputs.iter().zip(&slope.inputs);
        Plan {
            start: match self.starts.is_empty() {
                true => moved(&plan.start, &slope.start, &self.start, &self.integral_start),
                false => plan.start.clone(),
            },
            inputs: rows.map(|(row, slopes)| moved(row, slopes, &self.inputs, &self.integral_inputs)).collect(),
            ..plan.clone()
        }
    }

    /// The plan that has a point's start and draws all else step by step.
    pub(crate) fn drawn(&self, point: &[f64]) -> Plan {
        Plan { inputs: Vec::new(), draws: Vec::new(), ..self.plan(point) }
    }
}

/// One of so many places, by a share.
fn place(share: Option<&f64>, count: usize) -> usize {
    let share = share.map_or(0.0, |share| share.clamp(0.0, BELOW_ONE));
    ((share * count as f64) as usize).min(count.saturating_sub(1))
}

/// Values in ranges: of the free elements by their shares, of the others the only ones. An integer is one of those in its range.
fn filled(ranges: &[(f64, f64)], free: &[usize], integers: &[Option<Integers>], shares: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = ranges.iter().map(|range| range.0).collect();
    for (&element, &share) in free.iter().zip(shares) {
        let ((low, high), share) = (ranges[element], share.clamp(0.0, 1.0));
        values[element] = match integers[element].as_ref().and_then(|own| own.between(low, high)) {
            Some(inside) => inside.nth((share.min(BELOW_ONE) * inside.count() as f64) as u64),
            None => (low * (1.0 - share) + high * share).clamp(low, high),
        };
    }
    values
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    fn loaded(text: &str) -> System {
        load_str(&format!("system s\n{text}"), &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
    }

    #[test]
    fn a_point_denotes_values_in_their_ranges() {
        let system = loaded(
            "state x in [0, 9]\nstate y in [0, 9]\ninput u in [-2, 2]\nchance c of { a: 0.5, b: 0.5 }\n\
             init x >= 1 & x <= 3 & y == 4\nnext x = x\nnext y = y\nproperty p = G x >= 0\n",
        );
        let coding = Coding::new(&system, &[], 1);
        assert_eq!((coding.start_dimensions(), coding.row_dimensions(), coding.rows()), (1, 2, 2));
        let plan = coding.plan(&[0.5, 0.0, 0.25, 1.0, 1.0]);
        assert_eq!(plan.start, [2.0, 4.0]);
        assert_eq!(plan.inputs, [[-2.0], [2.0]]);
        assert!(plan.draws[0] == [0.25] && plan.draws[1][0] < 1.0);
        assert_eq!(Coding::new(&system, &[], 1000).rows(), MOST_ROWS);
        let known = [vec![1.5, 4.0], vec![3.0, 4.0]];
        let coding = Coding::new(&system, &known, 0);
        assert_eq!((coding.start_dimensions(), coding.has_numbers()), (1, true));
        assert_eq!([0.0, 1.0].map(|share| coding.plan(&[share, 0.5, 0.5]).start), known);
        assert_eq!(Coding::new(&system, &known[..1], 3).start_dimensions(), 0);
    }

    #[test]
    fn without_choices_only_the_start_is_free() {
        let system = loaded("state x in [0, 9]\ninit x <= 3\nnext x = x\nproperty p = G x >= 0\n");
        assert_eq!(Coding::new(&system, &[], 100).dimensions(), 1);
    }
}
