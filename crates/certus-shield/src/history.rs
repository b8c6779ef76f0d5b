//! What a trial remembers for pictures: how often the program decided, over time, and the first runs.

/// Stretches of time that a history has at most.
const STRETCHES: usize = 200;

/// First steps that are kept one by one: most of what happens to a run happens there.
const BEGINNING: usize = 100;

/// Runs that are kept, the first ones by their numbers.
pub const SAMPLES: u64 = 8;

/// How often the program decided over time, and some runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Steps of a stretch of time.
    pub width: usize,
    /// Steps that were made in each stretch, by all runs.
    pub steps: Vec<u64>,
    /// Of these, steps that the program decided.
    pub interventions: Vec<u64>,
    /// The first runs, in the order of their numbers.
    pub samples: Vec<Sample>,
}

/// A run: its first steps, then the beginning of each stretch of time, and where it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its number.
    pub run: u64,
    /// The steps that are kept.
    pub steps: Vec<usize>,
    /// The state at each.
    pub states: Vec<Vec<f64>>,
    /// Whether the program decided there, or before the next.
    pub overridden: Vec<bool>,
    /// The step at which it was unsafe.
    pub unsafe_at: Option<usize>,
}

impl History {
    /// Of runs of so many steps.
    pub fn new(steps: usize) -> History {
        let width = steps.div_ceil(STRETCHES).max(1);
        let stretches = steps.div_ceil(width);
        History { width, steps: vec![0; stretches], interventions: vec![0; stretches], samples: Vec::new() }
    }

    /// Notes a step that was made.
    pub fn step(&mut self, step: usize, overridden: bool) {
        if let (Some(steps), Some(interventions)) =
            (self.steps.get_mut(step / self.width), self.interventions.get_mut(step / self.width))
        {
            *steps += 1;
            *interventions += u64::from(overridden);
        }
    }

    /// Adds another history of runs of as many steps.
    pub fn add(&mut self, other: History) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, own)| *sum += own);
        self.interventions.iter_mut().zip(&other.interventions).for_each(|(sum, own)| *sum += own);
        self.samples.extend(other.samples);
        self.samples.sort_by_key(|sample| sample.run);
    }
}

impl Sample {
    /// Of a run that is kept; nothing for the others.
    pub fn of(run: u64) -> Option<Sample> {
        (run < SAMPLES).then(|| Sample { run, ..Sample::default() })
    }

    /// Notes a step; its state if it is a first one, begins a stretch or is the last one.
    pub fn note(&mut self, step: usize, state: &[f64], overridden: bool, width: usize, last: bool) {
        if self.steps.last() == Some(&step) {
            return;
        }
        if step < BEGINNING || step.is_multiple_of(width) || last {
            self.steps.push(step);
            self.states.push(state.to_vec());
            self.overridden.push(false);
        }
        if let (true, Some(seen)) = (overridden, self.overridden.last_mut()) {
            *seen = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_all_steps_and_histories_add_up() {
        for steps in [0, 1, 199, 200, 201, 5000, 5001] {
            let mut history = History::new(steps);
            (0..steps).for_each(|step| history.step(step, step % 3 == 0));
            assert_eq!(history.steps.iter().sum::<u64>(), steps as u64);
            assert_eq!(history.interventions.iter().sum::<u64>(), steps.div_ceil(3) as u64);
            assert!(history.steps.len() <= STRETCHES);
            let mut twice = history.clone();
            twice.add(history);
            assert_eq!(twice.steps.iter().sum::<u64>(), 2 * steps as u64);
        }
    }

    #[test]
    fn samples_keep_every_stretch_and_the_end() {
        let mut sample = Sample::of(0).unwrap();
        (0..=114).for_each(|step| sample.note(step, &[step as f64], step == 105, 4, step == 114));
        assert_eq!(sample.steps[..100], (0..100).collect::<Vec<_>>());
        assert_eq!(sample.steps[100..], [100, 104, 108, 112, 114]);
        assert_eq!(sample.overridden[100..], [false, true, false, false, false]);
        assert!(Sample::of(SAMPLES).is_none());
    }
}
