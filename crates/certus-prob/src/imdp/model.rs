//! The model: states, their choices, and the choices' transitions with intervals of probability, in compressed rows.

use std::collections::BTreeMap;
use std::fmt;

/// An interval Markov decision process. Every state has at least one choice, every choice at least one transition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imdp {
    /// The first choice of each state, and the number of choices.
    choices: Vec<u32>,
    /// The first transition of each choice, and the number of transitions.
    transitions: Vec<u32>,
    targets: Vec<u32>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// What a choice is called, where it has a name.
    names: BTreeMap<u32, String>,
    initial: Vec<u32>,
    labels: BTreeMap<String, Vec<u32>>,
}

/// Why something is no model.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelError {
    /// An interval is not inside [0, 1], or is turned around.
    Interval {
        /// The state.
        state: usize,
        /// Its choice, counted within the state.
        choice: usize,
        /// The interval.
        interval: (f64, f64),
    },
    /// The intervals of a choice admit no distribution.
    Sum {
        /// The state.
        state: usize,
        /// Its choice, counted within the state.
        choice: usize,
        /// The sums of lower and of upper ends.
        sums: (f64, f64),
    },
    /// A transition leads to a state that does not exist.
    Target {
        /// The state.
        state: usize,
        /// Where the transition leads.
        target: usize,
    },
    /// There are too many states, choices or transitions to count them with 32 bits.
    Size,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Interval { state, choice, interval } => write!(
                f,
                "state {state}, choice {choice}: [{}, {}] is not an interval of probabilities",
                interval.0, interval.1
            ),
            ModelError::Sum { state, choice, sums } => write!(
                f,
                "state {state}, choice {choice}: no distribution fits, the lower ends sum to {} and the upper ends to {}",
                sums.0, sums.1
            ),
            ModelError::Target { state, target } => write!(f, "state {state} leads to {target}, which does not exist"),
            ModelError::Size => f.write_str("the model is too large to count its transitions with 32 bits"),
        }
    }
}

impl std::error::Error for ModelError {}

/// How far sums of decimals may be from one.
const TOLERANCE: f64 = 1e-9;

/// Builds a model state by state.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    model: Imdp,
    largest_target: usize,
    error: Option<ModelError>,
}

impl Builder {
    /// A model without states.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Begins the next state and returns its number. A state that is given no choice stays where it is.
    pub fn state(&mut self) -> usize {
        self.finish_state();
        self.model.choices.push(self.model.transitions.len() as u32);
        self.model.choices.len() - 1
    }

    fn finish_state(&mut self) {
        if self.model.choices.last() == Some(&(self.model.transitions.len() as u32)) {
            let own = self.model.choices.len() - 1;
            self.choice(&[(own, 1.0, 1.0)]);
        }
    }

    /// Adds a choice to the present state: targets with intervals. Several intervals of one target are summed.
    pub fn choice(&mut self, transitions: &[(usize, f64, f64)]) {
        let model = &mut self.model;
        model.transitions.push(model.targets.len() as u32);
        let first = model.targets.len();
        let state = model.choices.len().saturating_sub(1);
        let number = model.transitions.len() - 1 - model.choices.last().map_or(0, |&first| first as usize);
        let mut sums = (0.0, 0.0);
        for &(target, lo, hi) in transitions {
            let valid = lo >= 0.0 && lo <= hi && hi <= 1.0 + TOLERANCE;
            if !valid && self.error.is_none() {
                self.error = Some(ModelError::Interval { state, choice: number, interval: (lo, hi) });
            }
            sums = (sums.0 + lo, sums.1 + hi);
            self.largest_target = self.largest_target.max(target);
            match model.targets[first..].iter().position(|&other| other as usize == target) {
                Some(place) => {
                    model.lower[first + place] = (model.lower[first + place] + lo).min(1.0);
                    model.upper[first + place] = (model.upper[first + place] + hi).min(1.0);
                }
                None => {
                    model.targets.push(target.min(u32::MAX as usize) as u32);
                    model.lower.push(lo);
                    model.upper.push(hi.min(1.0));
                }
            }
        }
        let possible = sums.0 <= 1.0 + TOLERANCE && sums.1 >= 1.0 - TOLERANCE;
        if !possible && self.error.is_none() {
            self.error = Some(ModelError::Sum { state, choice: number, sums });
        }
        if model.targets.len() >= u32::MAX as usize {
            self.error = Some(ModelError::Size);
        }
    }

    /// Names the last choice.
    pub fn name(&mut self, name: &str) {
        let last = self.model.transitions.len().saturating_sub(1) as u32;
        self.model.names.insert(last, name.to_owned());
    }

    /// Declares a state initial.
    pub fn initial(&mut self, state: usize) {
        self.model.initial.push(state as u32);
    }

    /// Puts a label on a state.
    pub fn label(&mut self, label: &str, state: usize) {
        let list = self.model.labels.entry(label.to_owned()).or_default();
        if list.last() != Some(&(state as u32)) {
            list.push(state as u32);
        }
    }

    /// Declares a label, on no state yet.
    pub fn declare(&mut self, label: &str) {
        self.model.labels.entry(label.to_owned()).or_default();
    }

    /// The model.
    pub fn finish(mut self) -> Result<Imdp, ModelError> {
        self.finish_state();
        let mut model = self.model;
        if let Some(error) = self.error {
            return Err(error);
        }
        let states = model.choices.len();
        if self.largest_target >= states && !model.targets.is_empty() {
            let place = model.targets.iter().position(|&target| target as usize >= states).unwrap_or(0);
            let choice = model.transitions.partition_point(|&first| first as usize <= place) - 1;
            let state = model.choices.partition_point(|&first| first as usize <= choice) - 1;
            return Err(ModelError::Target { state, target: self.largest_target });
        }
        model.choices.push(model.transitions.len() as u32);
        model.transitions.push(model.targets.len() as u32);
        for list in model.labels.values_mut().chain([&mut model.initial]) {
            list.sort_unstable();
            list.dedup();
            list.retain(|&state| (state as usize) < states);
        }
        Ok(model)
    }
}

impl Imdp {
    /// How many states.
    pub fn states(&self) -> usize {
        self.choices.len().saturating_sub(1)
    }

    /// How many choices in all states together.
    pub fn choice_count(&self) -> usize {
        self.transitions.len().saturating_sub(1)
    }

    /// How many transitions in all choices together.
    pub fn transition_count(&self) -> usize {
        self.targets.len()
    }

    /// The choices of a state, numbered over the whole model.
    pub fn choices(&self, state: usize) -> std::ops::Range<usize> {
        self.choices[state] as usize..self.choices[state + 1] as usize
    }

    /// The places of a choice's transitions.
    pub(crate) fn places(&self, choice: usize) -> std::ops::Range<usize> {
        self.transitions[choice] as usize..self.transitions[choice + 1] as usize
    }

    /// The transitions of a choice: target, lower and upper end.
    pub fn transitions(&self, choice: usize) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        self.places(choice).map(|place| (self.targets[place] as usize, self.lower[place], self.upper[place]))
    }

    /// The name of a choice.
    pub fn choice_name(&self, choice: usize) -> Option<&str> {
        self.names.get(&(choice as u32)).map(String::as_str)
    }

    /// The initial states.
    pub fn initial(&self) -> impl Iterator<Item = usize> + '_ {
        self.initial.iter().map(|&state| state as usize)
    }

    /// The labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.keys().map(String::as_str)
    }

    /// The states with a label; nothing if there is no such label. `init` and `deadlock` always exist.
    pub fn labelled(&self, label: &str) -> Option<Vec<bool>> {
        let mut found = vec![false; self.states()];
        match self.labels.get(label) {
            Some(list) => list.iter().for_each(|&state| found[state as usize] = true),
            None if label == "init" => self.initial.iter().for_each(|&state| found[state as usize] = true),
            None if label == "deadlock" => {}
            None => return None,
        }
        Some(found)
    }

    /// Whether every interval is a single number: a plain MDP.
    pub fn is_plain(&self) -> bool {
        self.lower.iter().zip(&self.upper).all(|(lo, hi)| lo == hi)
    }

    /// For each state the states that may lead to it, in compressed rows.
    pub(crate) fn predecessors(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0u32; self.states() + 1];
        for (place, &target) in self.targets.iter().enumerate() {
            starts[target as usize + 1] += u32::from(self.upper[place] > 0.0);
        }
        for state in 0..self.states() {
            starts[state + 1] += starts[state];
        }
        let mut filled = starts.clone();
        let mut sources = vec![0u32; *starts.last().unwrap_or(&0) as usize];
        for state in 0..self.states() {
            for choice in self.choices(state) {
                for place in self.places(choice).filter(|&place| self.upper[place] > 0.0) {
                    let slot = &mut filled[self.targets[place] as usize];
                    sources[*slot as usize] = state as u32;
                    *slot += 1;
                }
            }
        }
        (starts, sources)
    }
}
