//! Shrinking: the same violation with fewer and rounder numbers.
//!
//! Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002) over the choices of a run. An input that is 0
//! throughout, a label that is the most likely one, a first state of few digits: each is tried for all steps at once, then for halves of
//! them, and kept if the run still violates the property, in no more steps, and as surely as before. What is tried and in which order
//! depends on the run alone.

use certus_check::replay::Drive;
use certus_engine::{Budget, spent};
use certus_lang::system::System;
use certus_model::{CheckError, Run};

use crate::cost::Cost;
use crate::judge::{Grade, Judge};

/// Runs that are tried at most, and the scalar operations that they may take: each is replayed, in doubles and in intervals.
const MOST_TRIALS: usize = 400;
const MOST_OPERATIONS: u64 = 1 << 30;
const COST_OF_TRIAL: u64 = 8;

/// Significant digits that are tried.
const DIGITS: std::ops::RangeInclusive<i32> = 1..=4;

/// A violation that is being simplified.
struct Shrinking<'j, 't> {
    judge: &'j Judge<'t>,
    budget: &'j Budget<'j>,
    drive: Drive,
    run: Run,
    grade: Grade,
    cost: Cost,
    operations: u64,
    trials: usize,
}

/// A simpler run that violates the formula as surely; at worst the same.
pub(crate) fn shrunk(judge: &Judge<'_>, run: Run, grade: Grade, budget: &Budget<'_>) -> Result<Run, CheckError> {
    let drive = Drive::of(judge.system, &run);
    let cost = Cost::of(judge.system);
    let mut own = Shrinking { judge, budget, drive, run, grade, cost, operations: 0, trials: 0 };
    own.inputs_to_defaults()?;
    own.labels_to_likely()?;
    own.round_start()?;
    own.round_inputs()?;
    Ok(own.run)
}

impl Shrinking<'_, '_> {
    fn is_over(&self) -> bool {
        self.operations >= MOST_OPERATIONS || self.trials >= MOST_TRIALS || spent(self.budget).is_some()
    }

    /// Keeps a change if the run violates the formula as before.
    fn keeps(&mut self, change: &dyn Fn(&mut Drive)) -> Result<bool, CheckError> {
        if self.is_over() {
            return Ok(false);
        }
        let mut changed = self.drive.clone();
        change(&mut changed);
        if changed == self.drive {
            return Ok(true);
        }
        self.trials += 1;
        self.operations += COST_OF_TRIAL * self.cost.of_runs(1, changed.inputs.len());
        let Some(run) = self.judge.finite(changed, self.budget)? else { return Ok(false) };
        if run.states.len() > self.run.states.len() || self.judge.grade(&run)? < self.grade {
            return Ok(false);
        }
        self.drive = Drive::of(self.judge.system, &run);
        self.run = run;
        Ok(true)
    }

    /// Tries a change at all of some positions, then at halves of them.
    fn halving(&mut self, change: &dyn Fn(&mut Drive, usize)) -> Result<(), CheckError> {
        let mut ranges = vec![(0, self.drive.inputs.len())];
        while let Some((from, to)) = ranges.pop() {
            let all = |drive: &mut Drive| (from..to.min(drive.inputs.len())).for_each(|at| change(drive, at));
            if from < to.min(self.drive.inputs.len()) && !self.keeps(&all)? && to - from > 1 {
                let middle = from + (to - from) / 2;
                ranges.extend([(middle, to), (from, middle)]);
            }
        }
        Ok(())
    }

    fn inputs_to_defaults(&mut self) -> Result<(), CheckError> {
        let inputs = self.judge.system.inputs.iter();
        let defaults: Vec<f64> =
            inputs.flat_map(|input| (0..input.len).map(|element| input.nearest(element, 0.0))).collect();
        // Many at once: of a wide input hardly any element matters.
        let mut ranges = vec![(0, defaults.len())];
        while let Some((from, to)) = ranges.pop() {
            let some = |drive: &mut Drive, at: usize| drive.inputs[at][from..to].copy_from_slice(&defaults[from..to]);
            if to - from == 1 {
                self.halving(&some)?;
            } else if from < to && !self.keeps(&|drive| (0..drive.inputs.len()).for_each(|at| some(drive, at)))? {
                let middle = from + (to - from) / 2;
                ranges.extend([(middle, to), (from, middle)]);
            }
        }
        Ok(())
    }

    fn labels_to_likely(&mut self) -> Result<(), CheckError> {
        let system = self.judge.system;
        for (place, chance) in system.chances.iter().enumerate() {
            let probabilities = chance.probabilities.iter().enumerate();
            let likely = probabilities.rev().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(label, _)| label);
            self.halving(&|drive, at| drive.chances[at][place] = likely)?;
        }
        let random = self.drive.choices.first().map_or(0, Vec::len);
        for place in 0..random {
            self.halving(&|drive, at| drive.choices[at][place] = 0)?;
        }
        Ok(())
    }

    fn round_start(&mut self) -> Result<(), CheckError> {
        let (lower, upper) = &self.judge.system.init_box;
        for element in 0..lower.len() {
            let (low, high) = (lower[element], upper[element]);
            for rounder in rounder(self.drive.state[element], low, high) {
                if self.keeps(&|drive| drive.state[element] = rounder)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn round_inputs(&mut self) -> Result<(), CheckError> {
        for (element, (low, high)) in input_ranges(self.judge.system).into_iter().enumerate() {
            for digits in DIGITS {
                let change = |drive: &mut Drive| {
                    for own in &mut drive.inputs {
                        own[element] = rounded(own[element], digits).clamp(low, high);
                    }
                };
                if self.keeps(&change)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn input_ranges(system: &System) -> Vec<(f64, f64)> {
    let ranges = system.inputs.iter().flat_map(|input| input.lower.iter().copied().zip(input.upper.iter().copied()));
    ranges.collect()
}

/// Values in a range that are simpler than one, the simplest first: zero, its ends and middle, then few digits. Nothing if it is simple.
fn rounder(value: f64, low: f64, high: f64) -> Vec<f64> {
    let simple = [0.0, low / 2.0 + high / 2.0, low, high];
    if simple.contains(&value) {
        return Vec::new();
    }
    let few = DIGITS.map(|digits| rounded(value, digits));
    let mut all: Vec<f64> = simple.into_iter().chain(few).filter(|own| (low..=high).contains(own)).collect();
    all.dedup();
    all
}

/// A number to so many significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // By way of decimals: products with powers of ten are not the nearest doubles.
    let places = usize::try_from(digits - 1).unwrap_or(0);
    format!("{value:.places$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_decimals() {
        assert_eq!(rounded(0.123_456, 2), 0.12);
        assert_eq!(rounded(-1234.5, 1), -1000.0);
        assert_eq!(rounded(0.0, 3), 0.0);
    }

    #[test]
    fn what_is_simple_stays() {
        assert!(rounder(2.0, 1.0, 3.0).is_empty() && rounder(0.0, -1.0, 3.0).is_empty());
        let few = rounder(1.2345, 1.0, 3.0);
        assert_eq!(few[..3], [2.0, 1.0, 3.0]);
        assert!(few.ends_with(&[1.2, 1.23, 1.234]) || few.ends_with(&[1.2, 1.23, 1.235]), "{few:?}");
    }
}
