//! Whether there can be a grid for a property at all, before anything is explored.

use certus_lang::system::{Property, PropertyKind, System};

use crate::cone_of_influence::ConeOfInfluence;
use crate::grid::{DEPTH, Grid};
use crate::violation_automaton::atoms_of;

/// Says why there can be no grid of these widths, one for each number of the state, over what matters to a property.
pub fn check_feasible(
    system: &System,
    property: &Property,
    widths: &[f64],
    refinements: Option<usize>,
    extracted: bool,
) -> Result<(), String> {
    let PropertyKind::Ltl(formula) = &property.kind else { return Ok(()) };
    let mut atoms = Vec::new();
    atoms_of(formula, &mut atoms);
    let cone = ConeOfInfluence::of(system, &atoms, extracted).map_err(|error| error.to_string())?;
    // Cells may begin wider, and then there are fewer.
    let coarsening = if refinements == Some(0) { 0 } else { DEPTH };
    let widths = cone.of_state(widths);
    Grid::coarsened(&cone.system, &widths, &vec![coarsening; widths.len()]).map(drop)
}
