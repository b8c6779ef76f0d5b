//! What is said of a query.

/// A point at which the formula holds, replayed on the graph as it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The flattened inputs: float32 values wherever one lies in the region.
    pub inputs: Vec<f64>,
    /// The flattened outputs in single precision.
    pub outputs: Vec<f32>,
}

/// Why a query stayed open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    /// The deadline passed.
    Deadline,
    /// The search was cancelled.
    Stopped,
    /// The open subproblems take more memory than the budget allows.
    Memory,
    /// The budget of subproblems is spent.
    Subproblems,
    /// The region has no bound in some direction, or subproblems became too small to split further.
    Numerics,
    /// The same, and at some point the formula holds in double precision but not in single precision.
    Precision,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Subproblems that were verified (pruned by a bound).
    pub verified: u64,
    /// Subproblems that are open.
    pub open: u64,
    /// The share of the region that is verified, by volume of the splits made.
    pub done: f64,
    /// The lowest bound over the open subproblems: nothing is left open once it could be raised above zero. Not known at
    /// first.
    pub bound: Option<f64>,
    /// The multiplications that bounds have taken, in all strategies.
    pub effort: u64,
}

/// That a formula holds nowhere, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refutation {
    /// How much was verified.
    pub progress: Progress,
    /// The branch tree with what refutes each leaf, if the budget asked for it: the case's records of a certificate.
    pub tree: Option<String>,
}

/// What is said of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The formula holds at this point.
    Sat(Witness),
    /// The formula holds nowhere in the region, over the reals.
    Unsat(Refutation),
    /// Neither was found.
    Unknown(UnknownReason, Progress),
}
