//! Whether there can be a grid for a property at all, before anything is explored.

use certus_lang::system::{Property, PropertyKind, System};

use crate::lattice::{DEPTH, Lattice};
use crate::reading::atoms_of;
use crate::relevant::Part;

/// Says why there can be no grid of these widths, one for each number of the state, over what matters to a property.
pub fn possible(
    system: &System,
    property: &Property,
    widths: &[f64],
    refinements: Option<usize>,
    extracted: bool,
) -> Result<(), String> {
    let PropertyKind::Ltl(formula) = &property.kind else { return Ok(()) };
    let mut atoms = Vec::new();
    atoms_of(formula, &mut atoms);
    let part = Part::of(system, &atoms, extracted).map_err(|error| error.to_string())?;
    // Units may begin wider, and then there are fewer.
    let grain = if refinements == Some(0) { 0 } else { DEPTH };
    let widths = part.of_state(widths);
    Lattice::coarse(&part.system, &widths, &vec![grain; widths.len()]).map(drop)
}
