//! An inner box of a polyhedron: a box inscribed in it, as large as coordinate-wise growth from a centre makes it.
//!
//! A state in the box needs no look at the half-spaces, which may be hundreds, and a good policy keeps the state there. The box is certain to be
//! inside: distances to the half-spaces are reduced by what rounding may be off.

/// A half-space normal · x ≤ bound.
pub struct Side<'s> {
    /// The normal.
    pub normal: &'s [f64],
    /// The bound, less all that a test of it may be off.
    pub bound: f64,
}

/// Rounds in which sides of the box are moved outwards.
const ROUNDS: usize = 24;

/// Which part of the room that is left one side of the box may take in a round.
const SHARE: f64 = 0.25;

/// Half-spaces that are this few are looked at.
pub const FEW: usize = 6;

/// A box around a state on which every half-space holds, large compared with the domain; none if the state is not inside.
pub fn inner_box(sides: &[Side<'_>], centre: &[f64], domain: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    if !centre.iter().zip(domain).all(|(x, (lower, upper))| lower < x && x < upper) {
        return None;
    }
    let mut ends: Vec<(f64, f64)> = centre.iter().map(|&x| (x, x)).collect();
    // At first as far in all directions, in the domain's measure; then each side by itself.
    let widths: Vec<f64> = domain.iter().map(|(lower, upper)| upper - lower).collect();
    let slope = |side: &Side<'_>| side.normal.iter().zip(&widths).map(|(g, w)| g.abs() * w).sum::<f64>();
    let even = sides.iter().map(|side| room(side, &ends) / slope(side)).fold(1.0, f64::min);
    if even <= 0.0 || even.is_nan() {
        return None;
    }
    for (end, (width, range)) in ends.iter_mut().zip(widths.iter().zip(domain)) {
        let moved = 0.5 * even * width;
        *end = ((end.0 - moved).max(range.0), (end.1 + moved).min(range.1));
    }
    for _ in 0..ROUNDS {
        for (place, range) in domain.iter().enumerate() {
            for upwards in [false, true] {
                let presses = |side: &&Side<'_>| (side.normal[place] > 0.0) == upwards && side.normal[place] != 0.0;
                let free = sides.iter().filter(presses).map(|side| room(side, &ends) / side.normal[place].abs());
                let moved = SHARE * free.fold(f64::INFINITY, f64::min).max(0.0);
                match upwards {
                    false => ends[place].0 = (ends[place].0 - moved).max(range.0),
                    true => ends[place].1 = (ends[place].1 + moved).min(range.1),
                }
            }
        }
    }
    // Rooms were found in floating point: a last look decides.
    sides.iter().all(|side| room(side, &ends) >= 0.0).then_some(ends)
}

/// How far a box is from the bound of a half-space, less what rounding may be off.
fn room(side: &Side<'_>, ends: &[(f64, f64)]) -> f64 {
    let (mut highest, mut size) = (0.0, side.bound.abs());
    for (g, (lower, upper)) in side.normal.iter().zip(ends) {
        highest += if *g < 0.0 { g * lower } else { g * upper };
        size += g.abs() * lower.abs().max(upper.abs());
    }
    let rounding = (4 * ends.len() + 8) as f64 * f64::EPSILON * size;
    side.bound - highest - rounding
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Corners are the extreme points of a box, and every one of them is inside of every half-space; no side of the box
        /// has much room left.
        #[test]
        fn the_inner_box_is_inside_and_fills_what_it_can(
            normals in prop::collection::vec(prop::array::uniform3(-2.0f64..2.0), 1..40),
            bounds in prop::collection::vec(0.01f64..3.0, 40),
            centre in prop::array::uniform3(-0.01f64..0.01),
        ) {
            let domain = [(-1.0, 1.0), (-2.0, 2.0), (-0.5, 4.0)];
            let sides: Vec<Side<'_>> =
                normals.iter().zip(&bounds).map(|(normal, &bound)| Side { normal, bound }).collect();
            let at = |side: &Side<'_>, x: &[f64]| side.normal.iter().zip(x).map(|(g, x)| g * x).sum::<f64>();
            match inner_box(&sides, &centre, &domain) {
                None => prop_assert!(sides.iter().any(|side| at(side, &centre) >= side.bound - 1e-12)),
                Some(ends) => {
                    for corner in 0..8usize {
                        let x: Vec<f64> =
                            ends.iter().enumerate().map(|(i, e)| if corner >> i & 1 == 0 { e.0 } else { e.1 }).collect();
                        for side in &sides {
                            prop_assert!(at(side, &x) <= side.bound);
                        }
                    }
                    for place in 0..3 {
                        prop_assert!(ends[place].0 <= centre[place] && centre[place] <= ends[place].1);
                        let wider = ends[place].1 + 0.05;
                        let mut larger = ends.clone();
                        larger[place].1 = wider;
                        let fits = sides.iter().all(|side| room(side, &larger) >= 0.0);
                        prop_assert!(!fits || wider > domain[place].1);
                    }
                }
            }
        }
    }

    #[test]
    fn a_centre_that_is_outside_has_no_inner_box() {
        let side = Side { normal: &[1.0], bound: 0.5 };
        assert_eq!(inner_box(&[side], &[0.75], &[(-1.0, 1.0)]), None);
        let side = Side { normal: &[f64::NAN], bound: 0.5 };
        assert_eq!(inner_box(&[side], &[0.0], &[(-1.0, 1.0)]), None);
    }
}
