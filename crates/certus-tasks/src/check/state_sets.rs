//! Initial, unsafe and goal states as documents have them, for pictures.

use certus_check::state_sets::{Linear, Part, Role, StateSet, state_sets as of_property};
use certus_documents as documents;
use certus_documents::check::Face;
use certus_documents::state_sets::{Flowpipe, InitialStates, Raster, SetRole, StatePart};
use certus_documents::{NamedRange, members};
use certus_lang::system::{Property, System};

use super::document::names_of;

/// Squares of a raster along each axis.
const SQUARES: usize = 96;

/// Where pictures of a system show states: sets that are no polyhedra are looked at there.
pub(crate) struct Extents(Vec<(f64, f64)>);

impl Extents {
    /// The initial states.
    pub(crate) fn of(system: &System) -> Extents {
        let (lower, upper) = &system.init_box;
        Extents(lower.iter().copied().zip(upper.iter().copied()).collect())
    }

    /// The declared ranges, where they have ends, and the initial states.
    pub(crate) fn of_ranges(system: &System) -> Extents {
        let mut extents = Extents::of(system);
        let ends = system.states.iter().flat_map(|state| state.lower.iter().copied().zip(state.upper.iter().copied()));
        for (own, (low, high)) in extents.0.iter_mut().zip(ends).filter(|(_, (low, high))| (high - low).is_finite()) {
            *own = (own.0.min(low), own.1.max(high));
        }
        extents
    }

    /// More states, with two ends for each element.
    pub(crate) fn add(&mut self, ends: impl IntoIterator<Item = (f64, f64)>) {
        for (own, (low, high)) in self.0.iter_mut().zip(ends) {
            *own = (own.0.min(low), own.1.max(high));
        }
    }

    /// The boxes of a flowpipe.
    pub(crate) fn add_boxes(&mut self, pipe: &Flowpipe) {
        for own in &pipe.boxes {
            self.add(own.ends.iter().map(|[low, high]| (low.0, high.0)));
        }
    }

    /// Where a raster begins and ends along an element, with some air; nothing if it has no end.
    fn along(&self, element: usize) -> Option<(f64, f64)> {
        let (low, high) = self.0[element];
        let width = high - low;
        let air = if width > 0.0 { 0.1 * width } else { (0.1 * low.abs()).max(0.5) };
        width.is_finite().then_some((low - air, high + air))
    }
}

/// The initial states of a system.
pub(crate) fn initial_states(system: &System) -> InitialStates {
    let (lower, upper) = &system.init_box;
    let ends = lower.iter().zip(upper);
    let ranges = names_of(&system.states).into_iter().zip(ends);
    let ranges = ranges.map(|(name, (&lower, &upper))| NamedRange { name, lower: lower.into(), upper: upper.into() });
    InitialStates { ranges: ranges.collect(), all: system.init_is_box }
}

/// The unsafe sets and the goals of a property, as far as pictures can show them.
pub(crate) fn state_sets(
    system: &System,
    property: &Property,
    extents: &Extents,
) -> Vec<documents::state_sets::StateSet> {
    let names = names_of(&system.states);
    match of_property(system, property) {
        Ok(sets) => sets.iter().filter_map(|set| documented(set, &names, extents)).collect(),
        // Whoever cannot evaluate a condition cannot draw it.
        Err(error) => {
            tracing::info!("no sets of states: {error}");
            Vec::new()
        }
    }
}

fn documented(set: &StateSet, names: &[String], extents: &Extents) -> Option<documents::state_sets::StateSet> {
    let parts: Vec<StatePart> = set.parts.iter().filter_map(|part| part_of(part, names, extents)).collect();
    (!parts.is_empty()).then(|| documents::state_sets::StateSet {
        role: match set.role {
            Role::Unsafe => SetRole::Unsafe,
            Role::Goal => SetRole::Goal,
        },
        condition: set.condition.clone(),
        from: set.from,
        until: set.until,
        all: set.is_all && parts.len() == set.parts.len(),
        parts,
    })
}

fn part_of(part: &Part, names: &[String], extents: &Extents) -> Option<StatePart> {
    let variables: Vec<String> = part.elements.iter().map(|&element| names[element].clone()).collect();
    if part.is_linear() {
        let face = |own: &Linear| Face {
            linear: members(own.factors.iter().map(|(&element, &factor)| (names[element].clone(), factor))),
            at_most: (0.0 - own.constant).into(),
        };
        return Some(StatePart { variables, faces: part.faces.iter().map(face).collect(), raster: None });
    }
    let raster = raster_of(part, names.len(), extents)?;
    Some(StatePart { variables, faces: Vec::new(), raster: Some(raster) })
}

/// The squares whose middle is in a part; nothing if it depends on more than two elements, or is nowhere in the picture.
fn raster_of(part: &Part, elements: usize, extents: &Extents) -> Option<Raster> {
    let axes: Vec<usize> = part.elements.iter().copied().collect();
    let ends: Vec<(f64, f64)> = axes.iter().map(|&element| extents.along(element)).collect::<Option<_>>()?;
    let height = match axes.len() {
        1 => 1,
        2 => SQUARES,
        _ => return None,
    };
    let middle = |axis: usize, square: usize| {
        let (low, high) = ends[axis];
        low + (high - low) * (square as f64 + 0.5) / SQUARES as f64
    };
    let state = |row: usize, column: usize| {
        let mut state = vec![0.0; elements];
        state[axes[0]] = middle(0, column);
        if let Some(&second) = axes.get(1) {
            state[second] = middle(1, row);
        }
        state
    };
    let states: Vec<Vec<f64>> =
        (0..height).flat_map(|row| (0..SQUARES).map(move |column| (row, column))).map(|(r, c)| state(r, c)).collect();
    let excess = part.excess(&states).ok()?;
    let rows: Vec<Vec<[usize; 2]>> = excess.chunks(SQUARES).map(stretches).collect();
    let (lower, upper): (Vec<f64>, Vec<f64>) = ends.iter().copied().unzip();
    rows.iter().any(|row| !row.is_empty()).then(|| Raster {
        lower: documents::numbers(&lower),
        upper: documents::numbers(&upper),
        squares: SQUARES,
        rows,
    })
}

/// The stretches of a row where its numbers are at most zero.
fn stretches(row: &[f64]) -> Vec<[usize; 2]> {
    let mut found: Vec<[usize; 2]> = Vec::new();
    for (place, _) in row.iter().enumerate().filter(|(_, excess)| **excess <= 0.0) {
        match found.last_mut() {
            Some(last) if last[1] == place => last[1] += 1,
            _ => found.push([place, place + 1]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_stretches() {
        assert_eq!(stretches(&[1.0, 0.0, -1.0, 2.0, -3.0]), [[1, 3], [4, 5]]);
        assert!(stretches(&[1.0]).is_empty());
    }
}
