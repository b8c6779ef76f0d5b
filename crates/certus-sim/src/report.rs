//! The report of one run.

/// What a run says about a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every continuation of the run satisfies it.
    Satisfied,
    /// Every continuation of the run violates it.
    Violated,
    /// The run is too short to tell, as it always is for 'globally' unless it is broken.
    Open,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It made all the steps that were asked for.
    Completed,
    /// It reached a terminal state, which repeats for ever.
    Terminal,
    /// The next state left its declared range: the model says nothing about it.
    LeftRange {
        /// The element, as `x` or `x[i]`.
        variable: String,
        /// The value it had.
        value: f64,
        /// The range that it left.
        range: (f64, f64),
    },
    /// No choice of the environment that was tried satisfies the system's `assume`.
    Blocked,
    /// The next state is not a number, or an operation was outside of its domain.
    NotANumber {
        /// The element, as `x` or `x[i]`, or that it was an operation.
        variable: String,
    },
}

/// What a run says about one property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PropertyReport {
    /// The verdict on the run.
    pub verdict: Verdict,
    /// How far the run is from the other verdict: for 'globally', the smallest margin seen. Infinite where nothing was
    /// seen that matters.
    pub margin: f64,
    /// For a violated property, the position at which the violation became certain.
    pub broken_at: Option<usize>,
    /// The first position at which one of its atoms has no value, if there is one: what comes after does not count.
    pub undefined_at: Option<usize>,
}

/// What is said of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// The run's number; with the seed, it names the run.
    pub run: u64,
    /// How many steps it made.
    pub steps: usize,
    /// How it ended.
    pub end: End,
    /// The sum of its rewards, if the system has a reward.
    pub total_reward: Option<f64>,
    /// One entry per property of the system.
    pub properties: Vec<PropertyReport>,
    /// Its states and choices, if they were asked for.
    pub trace: Option<Trace>,
}

/// The positions of a run, from the initial state on.
pub type Trace = Vec<Step>;

/// One position of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The flattened state.
    pub state: Vec<f64>,
    /// The environment's choice, flattened.
    pub input: Vec<f64>,
    /// The label of each chance variable, by index.
    pub chances: Vec<usize>,
    /// The value of each policy, flattened.
    pub policies: Vec<f64>,
    /// The label of each action, by index.
    pub actions: Vec<usize>,
    /// The reward of the step taken from here.
    pub reward: Option<f64>,
    /// Whether each atom of the system holds here.
    pub atoms: Vec<bool>,
}
