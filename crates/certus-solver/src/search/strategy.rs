//! Branching strategies, and which of them a query is tried with.
//!
//! With few inputs it pays to split the input box; with many, splitting unstable neurons is the only way to make
//! progress (Bunel et al., *Branch and Bound for Piecewise Linear Neural Network Verification*, JMLR 2020, compare both).
//! In between the search runs both in turns and keeps the one that comes first. A third strategy solves an LP relaxation
//! per subproblem and chooses its splits by strong branching: few subproblems, each of which takes long. It joins when
//! every nonlinearity is piecewise linear and the LP is neither small nor large.

use certus_graph::reads::elements_read;

use super::Search;
use crate::bound::program::Role;
use crate::query::visit;
use crate::vnnlib::Variable;

/// How a search branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Splits inputs; intermediate bounds are refined in every subproblem.
    InputSplits,
    /// Splits neurons (elements that curves and products read); intermediate bounds are refined once.
    NeuronSplits,
    /// Splits neurons, chosen by strong branching on an LP relaxation.
    StrongBranching,
}

impl Strategy {
    /// Whether neurons are split, not inputs.
    pub(crate) fn splits_neurons(self) -> bool {
        self != Strategy::InputSplits
    }

    /// How many subproblems one counts as in the budget.
    pub(crate) fn cost(self) -> u64 {
        if self == Strategy::StrongBranching { 16 } else { 1 }
    }
}

/// Up to this many free inputs, only inputs are split.
const FEW_INPUTS: usize = 5;

/// Beyond this many, only neurons are.
const MANY_INPUTS: usize = 40;

/// An LP relaxation for strong branching has at most this many variables.
pub(crate) const LARGEST_LP: usize = 200;

/// The strategies worth trying on a query.
pub(crate) fn strategies(search: &Search<'_>) -> Vec<Strategy> {
    let region = &search.query.region;
    // Inputs that no operator and no atom reads need not be split.
    let mut read = elements_read(&search.query.original);
    visit(&search.query.formula, &mut |variable| {
        if let Variable::Input(index) = variable {
            read[*index] = true;
        }
    });
    let ends = region.lower.iter().zip(&region.upper).zip(&read);
    let free = ends.filter(|((low, high), read)| low < high && **read).count();
    let nonlinear = search.program.roles.iter().any(|role| matches!(role, Role::Curve(..) | Role::Product(..)));
    match free {
        _ if !nonlinear => vec![Strategy::InputSplits],
        0..=FEW_INPUTS => vec![Strategy::InputSplits],
        count if count > MANY_INPUTS => vec![Strategy::NeuronSplits],
        _ => vec![Strategy::NeuronSplits, Strategy::InputSplits],
    }
}

/// Whether everything nonlinear is piecewise linear, and the LP relaxation of all of it is not too large.
pub(crate) fn fits_strong_branching(search: &Search<'_>) -> bool {
    let mut neurons = 0;
    for (role, size) in search.program.roles.iter().zip(&search.program.sizes) {
        match role {
            Role::Curve(curve, _) if curve.is_piecewise_linear() => neurons += size,
            Role::Curve(..) | Role::Product(..) => return false,
            _ => {}
        }
    }
    neurons + search.program.inputs <= LARGEST_LP
}
