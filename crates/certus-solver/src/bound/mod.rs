//! Sound bounds of linear functions of a graph's nodes, over a batch of boxes at once.
//!
//! * [`program`]: the lowered graph with packed weights;
//! * [`table`]: bounds of every node for every box, and the relaxations of its curves;
//! * [`forward`]: interval bound propagation, which fills the table;
//! * [`backward`]: CROWN, linear lower bounds by backward substitution: the only step that proofs rest on;
//! * [`zonotope`]: forward bounds that remember where values come from, which spare backward ones;
//! * [`domain`]: the walker of forward passes, and what an abstract domain provides;
//! * [`refine`]: all of these together, the intermediate bounds of a batch;
//! * [`goal`], [`optimise_slopes`], [`minimiser`]: optimised dual bounds (α-CROWN, β-CROWN);
//! * [`branching_scores`]: how much the split of each unstable neuron promises (BaBSR).

pub(crate) mod backward;
pub(crate) mod branching_scores;
pub(crate) mod domain;
pub(crate) mod forward;
pub(crate) mod goal;
mod minimiser;
pub(crate) mod optimise_slopes;
pub(crate) mod program;
pub(crate) mod refine;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod zonotope;

/// γₙ = n·u / (1 − n·u) with room for the roundings of its own use.
pub fn gamma(terms: usize) -> f64 {
    let unit = (2.0 * terms as f64 + 16.0) * f64::EPSILON / 2.0;
    unit / (1.0 - unit) * (1.0 + 1e-10)
}

/// What a product that underflows may be off by. Products of coefficients are multiplied by values of any size, so this counts.
pub(crate) const TINY: f64 = f64::from_bits(1);

/// A factor that covers the roundings of sums of rounding errors themselves.
pub const ROOM: f64 = 1.0 + 1e-10;
