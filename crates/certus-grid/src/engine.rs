//! The grid engine: prepares a property's cone of influence, grid, transition relation and automaton, and runs the refinement loop.

use std::time::Instant;

use certus_lang::system::{Property, System};
use certus_model::{CheckError, Outcome, formula_of, own_horizon};
use certus_solver::Budget;

use crate::coarse_to_fine::{coarsenings, suggested_widths, whole_widths};
use crate::concretise::Concretisation;
use crate::cone_of_influence::ConeOfInfluence;
use crate::expand::Expander;
use crate::extract::{ExtractOptions, Extraction};
use crate::grid::Grid;
use crate::initial_cells::InitialCells;
use crate::policy_bounds::PolicyBounds;
use crate::possible_errors::PossibleErrors;
use crate::product::Product;
use crate::range_invariants::stays_in_range;
use crate::refinement::Check;
use crate::report::Report;
use crate::transition_relation::TransitionRelation;
use crate::violation_automaton::ViolationAutomaton;

/// The name of the engine.
pub const NAME: &str = "grid";

/// The policy that is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// The network itself: every action that it may take in a cell.
    #[default]
    Network,
    /// One action per cell, extracted from the network.
    Extracted(ExtractOptions),
}

/// Options of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The width of cells along each state coordinate; empty for widths that the system suggests.
    pub widths: Vec<f64>,
    /// The policy that is verified.
    pub policy: Policy,
    /// The most refinements; none for as many as the budget allows.
    pub refinements: Option<usize>,
    /// The most cells that may be bounded; none for as many as the budget allows.
    pub most: Option<u64>,
    /// Whether model errors are assumed not to happen; the verdict is then relative to that assumption.
    pub assume_no_model_errors: bool,
}

/// The progress of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Refinements so far.
    pub refinements: usize,
    /// Steps from the initial states.
    pub steps: usize,
    /// Cells met so far.
    pub cells: usize,
}

/// The share of the time that is kept back for the report.
const KEPT_BACK: f64 = 0.05;

/// A property prepared for grids: what does not depend on widths or work.
pub struct Prepared {
    violations: ViolationAutomaton,
    cone: ConeOfInfluence,
}

impl Prepared {
    /// For the network itself, or policies extracted from it.
    pub fn new(system: &System, property: &Property, extracted: bool) -> Result<Prepared, CheckError> {
        let violations = ViolationAutomaton::new(system, formula_of(property)?).map_err(CheckError::Unsupported)?;
        let cone = ConeOfInfluence::of(system, &violations.atoms, own_horizon(property), extracted)?;
        Ok(Prepared { violations, cone })
    }

    /// The dimension of the grid: the state coordinates in the property's cone of influence.
    pub fn dimensions(&self) -> usize {
        self.cone.kept.len()
    }
}

/// Checks an LTL property.
pub fn check(
    system: &System,
    property: &Property,
    options: &Options,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<(Outcome, Report), CheckError> {
    let extracted = matches!(options.policy, Policy::Extracted(_));
    check_prepared(system, property, &Prepared::new(system, property, extracted)?, options, budget, watch)
}

/// Checks an LTL property that is prepared for the policy of the options.
pub fn check_prepared(
    system: &System,
    property: &Property,
    prepared: &Prepared,
    options: &Options,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<(Outcome, Report), CheckError> {
    let formula = formula_of(property)?;
    let unsupported = CheckError::Unsupported;
    let widths = if options.widths.is_empty() { suggested_widths(system) } else { options.widths.clone() };
    if widths.len() != system.state_len() {
        let (found, expected) = (widths.len(), system.state_len());
        return Err(unsupported(format!("{found} widths for a state of {expected} numbers")));
    }
    // Concrete runs are those of the whole system; the grid is over the cone of influence.
    let extracted = matches!(options.policy, Policy::Extracted(_));
    let Prepared { violations, cone } = prepared;
    let own_system = &cone.system;
    let widths = whole_widths(own_system, &cone.of_state(&widths));
    let relation = TransitionRelation::new(own_system, &violations.atoms, extracted).map_err(unsupported)?;
    let extraction = match options.policy {
        Policy::Network => None,
        Policy::Extracted(own) => Some(Extraction::new(own_system, &relation, own)?),
    };
    let mut coarsenings = coarsenings(own_system, &widths);
    // Cells that may not be split have the requested widths.
    if options.refinements == Some(0) {
        coarsenings.fill(0);
    }
    if let Some(own) = extraction.as_ref().filter(|_| coarsenings.iter().any(|&coarsening| coarsening > 0))
        && !PolicyBounds::new(own_system, &relation, own)?.is_known()
    {
        coarsenings.fill(0);
    }
    let grid = Grid::coarsened(own_system, &widths, &coarsenings).map_err(unsupported)?;
    let concretisation = match &extraction {
        None => Concretisation::network(system, formula),
        Some(own) => Concretisation::extracted(system, formula, (&grid, cone), own.clone())?,
    };
    let mut expander = Expander::new(own_system, &grid, &relation, &violations.atoms, extraction)?;
    // Ranges that no state leaves need not be checked cell by cell.
    if stays_in_range(system, extracted)?.iter().all(|stays| *stays) {
        expander.excluded.add(PossibleErrors::RANGE);
    }
    // The report needs some of the time.
    let own = Budget {
        deadline: budget.deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now).mul_f64(1.0 - KEPT_BACK)
        }),
        ..*budget
    };
    let mut product = Product::new(own_system, &grid, violations.clone());
    if !extracted {
        product.with_closed_cells(own_system);
    }
    product.most = options.most.unwrap_or(u64::MAX);
    product.with_initial_cells(InitialCells::new(system, cone));
    product.without_errors = options.assume_no_model_errors;
    let mut check = Check {
        system,
        cone,
        formula,
        convergence: None,
        product,
        expander,
        concretisation,
        budget: &own,
        refinements: 0,
        candidate: Vec::new(),
        loop_to: None,
        error_rounds: 0,
    };
    let verdict = check.decide(options, watch)?;
    let mut outcome = Outcome::new(NAME, verdict);
    outcome.notes = check.notes(options, &outcome.verdict);
    let names = own_system.state_names();
    let report = Report::new(&check.product, (names, &widths), extracted, check.refinements, &check.candidate);
    Ok((outcome, report))
}
