//! Which of the environment's choices a violation needs.
//!
//! An `input` is free, so a violating run may rest on choices that no real environment would make. Here a run is taken, and
//! some of its choices are let go while all else that is free (the first state, the other choices, the labels) is kept:
//!
//! * carried through the step with the whole range in place of the choice ([`crate::enclosed`]), the run may be a violation whatever
//!   is chosen: the choice is **not needed**, proved for all values;
//! * else other values are tried, and the run made again: one at which it is no run any more, or no violation, shows that
//!   the choice is **needed**. If all of them violate the property, that is said, and nothing is claimed of the rest.
//!
//! It is asked of all choices of a step, of a variable at all steps, and then of each by itself. 'Not needed' is about the
//! choices that are let go together, with the others as they are; two that are not needed one by one may be needed between
//! them.

use std::cell::Cell;
use std::time::Instant;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{GraphError, Interval};
use certus_lang::system::{Formula, System};

use crate::enclosed::{Enclosed, Returns, violates_throughout};
use crate::replay::{Drive, replay, split};
use certus_model::Run;

/// Whether a choice is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// With some other value the run is none, or violates nothing.
    Needed,
    /// Every value does, proved.
    NotNeeded,
    /// So many other values do; nothing is known of the rest.
    NotSeen(usize),
}

/// Which choices a violation needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether none of them is: whatever is chosen, at all steps, the property is violated.
    pub none: bool,
    /// Steps whose choices, all together, are not needed.
    pub free_steps: Vec<usize>,
    /// Inputs, by their place in the system, whose values at all steps together are not needed.
    pub free_inputs: Vec<usize>,
    /// For the others: the step, the input, and whether that choice by itself is needed.
    pub single: Vec<(usize, usize, Need)>,
    /// Steps at which the run is at the border of what `assume` allows.
    pub tight: Vec<usize>,
    /// Whether the time, or the number of choices that are looked at, was over before all were.
    pub cut_short: bool,
}

/// How many other values of a choice are tried.
const SAMPLES: usize = 16;

/// Positions of runs that are carried through the step, in all.
const MOST_WORK: usize = 20_000;

/// Evaluation in doubles is so many times cheaper than in intervals.
const PLAIN_SHARE: usize = 4;

/// Choices beyond this many are not looked at one by one.
const MOST_CHOICES: usize = 256;

/// Finds out which choices a violating run needs.
pub fn needs(system: &System, formula: &Formula, run: &Run, deadline: Option<Instant>) -> Result<Needs, GraphError> {
    let drive = Drive::of(system, run);
    let point = Enclosed::point(&drive);
    let steps = drive.inputs.len();
    // Counted in positions that were carried through the step, so that the answer does not depend on the load.
    let work = Cell::new(0);
    let over = || work.get() >= MOST_WORK || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    // The run with the choices of some inputs at some steps let go.
    let any = |wanted: &dyn Fn(usize, usize) -> bool| -> Result<bool, GraphError> {
        work.set(work.get() + steps);
        let mut enclosed = point.clone();
        for (step, values) in enclosed.inputs.iter_mut().enumerate() {
            for (input, element, low, high) in elements(system) {
                if wanted(step, input) {
                    values[element] = Interval::new(low, high);
                }
            }
        }
        violates_throughout(system, formula, &drive, &enclosed, Returns::Exactly)
    };
    let mut found = Needs { tight: tight_steps(system, &drive, run)?, ..Needs::default() };
    if any(&|_, _| true)? {
        return Ok(Needs { none: true, ..found });
    }
    for step in 0..steps {
        if over() {
            return Ok(Needs { cut_short: true, ..found });
        }
        if any(&|at, _| at == step)? {
            found.free_steps.push(step);
        }
    }
    for input in 0..system.inputs.len() {
        if over() {
            return Ok(Needs { cut_short: true, ..found });
        }
        if any(&|_, own| own == input)? {
            found.free_inputs.push(input);
        }
    }
    for step in (0..steps).filter(|step| !found.free_steps.contains(step)) {
        for input in (0..system.inputs.len()).filter(|input| !found.free_inputs.contains(input)) {
            if over() || found.single.len() >= MOST_CHOICES {
                return Ok(Needs { cut_short: true, ..found });
            }
            let need = match any(&|at, own| at == step && own == input)? {
                true => Need::NotNeeded,
                false => {
                    work.set(work.get() + steps * SAMPLES / PLAIN_SHARE);
                    tried(system, formula, &drive, step, input)?
                }
            };
            found.single.push((step, input, need));
        }
    }
    Ok(found)
}

/// The elements of all inputs: the input, the place in the flattened choice, and the range.
fn elements(system: &System) -> impl Iterator<Item = (usize, usize, f64, f64)> + '_ {
    let own = system.inputs.iter().enumerate();
    let flat = own.flat_map(|(input, variable)| {
        variable.lower.iter().zip(&variable.upper).map(move |(&low, &high)| (input, low, high))
    });
    flat.enumerate().map(|(element, (input, low, high))| (input, element, low, high))
}

/// Tries other values of one choice.
fn tried(system: &System, formula: &Formula, drive: &Drive, step: usize, input: usize) -> Result<Need, GraphError> {
    for sample in 0..SAMPLES {
        let mut other = drive.clone();
        let variable = &system.inputs[input];
        for (count, (_, element, low, high)) in elements(system).filter(|own| own.0 == input).enumerate() {
            let share = match sample {
                0 => 0.0,
                1 => 1.0,
                // Spread evenly, differently for each element.
                _ => (0.5 + 0.618_033_988_749_895 * (sample - 2) as f64 + 0.754_877_666_246_693 * count as f64).fract(),
            };
            other.inputs[step][element] = variable.nearest(count, low + (high - low) * share);
        }
        if replay(system, formula, &other)?.is_none() {
            return Ok(Need::Needed);
        }
    }
    Ok(Need::NotSeen(SAMPLES))
}

/// The steps at which the margin of `assume` is not positive: a little to one side, and the transition is not allowed.
fn tight_steps(system: &System, drive: &Drive, run: &Run) -> Result<Vec<usize>, GraphError> {
    let Some(assume) = system.roles.assume else { return Ok(Vec::new()) };
    let step = Evaluator::<f64>::new(&system.step);
    let mut workspace = Workspace::default();
    let mut tight = Vec::new();
    for position in (0..run.states.len()).filter(|&position| drive.is_followed(position)) {
        let numbers = split(&system.states, &run.states[position]).chain(split(&system.inputs, &run.inputs[position]));
        let arguments: Vec<Vec<f64>> = numbers.map(<[f64]>::to_vec).chain(drive.one_hots(system, position)).collect();
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        step.run(&mut workspace, &slices, 1)?;
        if step.output(&workspace, &slices, assume.margin.port)[0] <= 0.0 {
            tight.push(position);
        }
    }
    Ok(tight)
}

impl Needs {
    /// In words, one sentence each; nothing for a system whose environment has no choice.
    pub fn notes(&self, system: &System) -> Vec<String> {
        if system.inputs.is_empty() {
            return Vec::new();
        }
        if self.none {
            return vec![
                "from this initial state the property is violated whatever the environment chooses (proved)".to_owned(),
            ];
        }
        let mut notes = Vec::new();
        let name = |input: usize| system.inputs[input].name.as_str();
        // For each input, the steps at which it stands so.
        let grouped = |wanted: &dyn Fn(Need) -> bool| -> Vec<String> {
            let inputs = 0..system.inputs.len();
            let steps = |input: usize| -> Vec<usize> {
                let own = self.single.iter().filter(|(_, own, need)| *own == input && wanted(*need));
                own.map(|(step, ..)| *step).collect()
            };
            let parts = inputs.map(|input| (input, steps(input))).filter(|(_, steps)| !steps.is_empty());
            parts.map(|(input, steps)| format!("{} at {}", name(input), listed(&steps))).collect()
        };
        let needed = grouped(&|need| need == Need::Needed);
        if !needed.is_empty() {
            let needed = needed.join(", ");
            notes.push(format!("the violation needs the environment's choice of {needed}: with some other value, all else kept, this run is none or violates nothing"));
        }
        let mut free: Vec<String> = self.free_inputs.iter().map(|&input| name(input).to_owned()).collect();
        if !self.free_steps.is_empty() {
            free.push(format!("all choices at {}", listed(&self.free_steps)));
        }
        free.extend(grouped(&|need| need == Need::NotNeeded));
        if !free.is_empty() {
            let free = free.join("; ");
            notes.push(format!("it does not need {free} (each of these let go alone; proved for all values)"));
        }
        let unseen = grouped(&|need| matches!(need, Need::NotSeen(_)));
        if !unseen.is_empty() {
            let unseen = unseen.join(", ");
            notes.push(format!("{SAMPLES} other values each of {unseen} violate it too; not proved for all"));
        }
        if self.cut_short {
            notes.push("not all choices of the environment were looked at".to_owned());
        }
        if !self.tight.is_empty() {
            let tight = listed(&self.tight);
            notes.push(format!("at {tight} it is at the border of the transitions that `assume` allows"));
        }
        if !needed.is_empty() {
            let allowed = if system.roles.assume.is_some() { " that `assume` allows" } else { "" };
            notes.push(format!(
                "the model lets the environment choose anything in its ranges{allowed}, which a real one may not do"
            ));
        }
        notes
    }
}

/// `step 3`, or `steps 0–2, 5`.
fn listed(steps: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &step in steps {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == step => *last = step,
            _ => ranges.push((step, step)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    if steps.len() == 1 { format!("step {shown}") } else { format!("steps {shown}") }
}
