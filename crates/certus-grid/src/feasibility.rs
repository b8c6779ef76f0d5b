//! Whether a property can have a grid at all, before anything is explored.

use certus_lang::system::{Property, System};
use certus_model::own_horizon;

use crate::cone_of_influence::ConeOfInfluence;
use crate::grid::{DEPTH, Grid};
use crate::violation_automaton::atoms_of;

/// Fails with the reason if there can be no grid of these widths, one per state coordinate, over a property's cone of influence.
pub fn check_feasible(
    system: &System,
    property: &Property,
    widths: &[f64],
    refinements: Option<usize>,
    extracted: bool,
) -> Result<(), String> {
    let Ok(formula) = property.over_runs() else { return Ok(()) };
    let mut atoms = Vec::new();
    atoms_of(formula, &mut atoms);
    let cone =
        ConeOfInfluence::of(system, &atoms, own_horizon(property), extracted).map_err(|error| error.to_string())?;
    // The grid may begin coarser, with fewer cells.
    let coarsening = if refinements == Some(0) { 0 } else { DEPTH };
    let widths = cone.of_state(widths);
    Grid::coarsened(&cone.system, &widths, &vec![coarsening; widths.len()]).map(drop)
}
