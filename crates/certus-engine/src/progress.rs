//! How far an engine is.

/// How far an engine is. There is one variant for each kind of work, not for each engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Queries about runs of a number of steps.
    Queries(Depth),
    /// An abstraction of the state space that is being explored.
    Exploration {
        /// How often the abstraction was refined.
        refinements: usize,
        /// Steps from the initial states.
        steps: usize,
        /// Abstract states that were met.
        cells: usize,
    },
    /// Runs that are simulated.
    Simulation {
        /// How many.
        runs: u64,
        /// The steps of the longest ones.
        steps: usize,
        /// The smallest robustness so far.
        robustness: f64,
    },
    /// An interval that contains a probability.
    Interval {
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
        /// Cells of the initial states.
        cells: usize,
        /// Regions that were bounded.
        regions: usize,
    },
}

/// The query that is being solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// The steps of the runs that it is about.
    pub steps: usize,
    /// The position that the run returns to, if a lasso is looked for.
    pub loop_to: Option<usize>,
    /// Steps up to which another engine has shown that there is no violation and no model error.
    pub settled: Option<usize>,
    /// How far the search is.
    pub progress: certus_solver::Progress,
}

impl Progress {
    /// What was being looked at, in words.
    pub fn place(&self) -> String {
        match self {
            Progress::Queries(depth) => certus_model::steps(depth.steps),
            Progress::Exploration { steps, cells, .. } => {
                format!("{cells} cells after {}", certus_model::steps(*steps))
            }
            Progress::Simulation { runs, .. } => certus_model::counted(*runs, "simulated run"),
            Progress::Interval { regions, .. } => format!("{regions} regions"),
        }
    }

    /// The steps up to which there is no violation and no model error, if that was shown.
    pub fn settled(&self) -> Option<usize> {
        match self {
            Progress::Queries(depth) => depth.settled,
            Progress::Exploration { .. } | Progress::Simulation { .. } | Progress::Interval { .. } => None,
        }
    }
}
