//! An invariant without the faces that the others imply: the same set of states, said in fewer words.
//!
//! A face a·x ≤ b follows from others if a is a sum of theirs with non-negative multipliers λ, and the same sum of their bounds is at most b
//! (Farkas; Schrijver, "Theory of Linear and Integer Programming", Wiley 1986, section 7). A linear program suggests λ.
//!
//! Sound: what λ leaves of a is bounded over a box of states, with outward rounding, and only then is the face dropped; an inaccurate λ keeps
//! a face that could go. Faces go one after the other, each because of those that stay or were not looked at yet, so no two vouch for each other.

use certus_graph::Interval;
use certus_model::proof::{Face, Invariant};
use certus_numerics::conic::{Cone, ConicProgram, Matrix, Settings};

/// Invariants of more faces are compared with their box alone.
const MOST_FACES: usize = 200;

/// Drops faces that follow from the others and from the ranges of the elements of the state.
pub fn irredundant(invariant: &Invariant, ranges: &[Interval]) -> Invariant {
    let Some(whole) = invariant.narrowed(ranges) else { return invariant.clone() };
    let (single, several): (Vec<&Face>, Vec<&Face>) =
        invariant.faces.iter().partition(|face| element_of(face).is_some());
    let mut kept = tightest(&single, ranges);
    let mut others: Vec<Option<&Face>> = several.into_iter().map(Some).collect();
    // What was derived last is the likeliest to say nothing new.
    for place in (0..others.len()).rev() {
        let Some(face) = others[place].take() else { continue };
        let rest: Vec<&Face> = others.iter().flatten().copied().collect();
        if !follows(face, &rest, &whole) {
            others[place] = Some(face);
        }
    }
    kept.extend(others.into_iter().flatten());
    Invariant { faces: kept.into_iter().cloned().collect() }
}

/// The element that a face is about, if it is about one, and its coefficient.
fn element_of(face: &Face) -> Option<(usize, f64)> {
    let mut used = face.coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
    match (used.next(), used.next()) {
        (Some((element, &coefficient)), None) => Some((element, coefficient)),
        _ => None,
    }
}

/// Of the faces about one element, the tightest of each side, unless the declared range is as tight.
fn tightest<'f>(faces: &[&'f Face], ranges: &[Interval]) -> Vec<&'f Face> {
    // An enclosure of where the face cuts; both ends grow with how much it admits.
    let cut = |face: &Face, coefficient: f64| Interval::point(face.bound) / Interval::point(coefficient.abs());
    let mut kept: Vec<&Face> = Vec::new();
    for &face in faces {
        let Some((element, coefficient)) = element_of(face) else { continue };
        let own = cut(face, coefficient);
        let range = ranges.get(element).copied().unwrap_or(Interval::ENTIRE);
        let declared = if coefficient > 0.0 { range.hi } else { -range.lo };
        let alike = kept.iter().position(|other| {
            element_of(other).is_some_and(|(same, sign)| same == element && sign.signum() == coefficient.signum())
        });
        match alike {
            _ if declared <= own.lo => {}
            None => kept.push(face),
            Some(place) => {
                let other = cut(kept[place], element_of(kept[place]).map_or(1.0, |(_, sign)| sign));
                if own.hi <= other.lo {
                    kept[place] = face;
                } else if other.hi > own.lo {
                    // Too close to tell: both stay.
                    kept.push(face);
                }
            }
        }
    }
    kept
}

/// Whether a face follows from others over a box of states.
fn follows(face: &Face, others: &[&Face], states: &[Interval]) -> bool {
    let none = vec![0.0; others.len()];
    if implied_by(face, others, &none, states) {
        return true;
    }
    if others.len() > MOST_FACES {
        return false;
    }
    multipliers(face, others, states).is_some_and(|found| implied_by(face, others, &found, states))
}

/// Whether the sum of faces with these multipliers implies a face over a box: λ·b + max over the box of (a − λ·A)·x ≤ bound.
fn implied_by(face: &Face, others: &[&Face], multipliers: &[f64], states: &[Interval]) -> bool {
    debug_assert!(
        multipliers.iter().all(|own| *own >= 0.0),
        "a face only vouches with a multiplier that is not negative"
    );
    let mut most = Interval::ZERO;
    for (other, &multiplier) in others.iter().zip(multipliers) {
        most = most + Interval::point(multiplier) * Interval::point(other.bound);
    }
    let length = others.iter().map(|other| other.coefficients.len()).max().unwrap_or(0).max(face.coefficients.len());
    for element in 0..length {
        let coefficient = |face: &Face| face.coefficients.get(element).copied().unwrap_or(0.0);
        let mut left = Interval::point(coefficient(face));
        for (other, &multiplier) in others.iter().zip(multipliers).filter(|(_, multiplier)| **multiplier != 0.0) {
            left = left - Interval::point(multiplier) * Interval::point(coefficient(other));
        }
        if left != Interval::ZERO {
            most = most + left * states.get(element).copied().unwrap_or(Interval::ENTIRE);
        }
    }
    most.hi <= face.bound
}

/// Multipliers that might show that a face follows: the least λ·b + u·p − l·q with λ·A + p − q = a and λ, p, q ≥ 0.
fn multipliers(face: &Face, others: &[&Face], states: &[Interval]) -> Option<Vec<f64>> {
    let length = others.iter().map(|other| other.coefficients.len()).max().unwrap_or(0).max(face.coefficients.len());
    let mut objective: Vec<f64> = others.iter().map(|other| other.bound).collect();
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); length];
    for (column, other) in others.iter().enumerate() {
        for (row, &value) in rows.iter_mut().zip(&other.coefficients).filter(|(_, value)| **value != 0.0) {
            row.push((column, value));
        }
    }
    for (row, range) in rows.iter_mut().zip(states) {
        for (end, sign) in [(range.hi, 1.0), (-range.lo, -1.0)].into_iter().filter(|(end, _)| end.is_finite()) {
            row.push((objective.len(), sign));
            objective.push(end);
        }
    }
    let columns = objective.len();
    let mut limits: Vec<f64> = (0..length).map(|row| face.coefficients.get(row).copied().unwrap_or(0.0)).collect();
    rows.extend((0..columns).map(|column| vec![(column, -1.0)]));
    limits.resize(length + columns, 0.0);
    let matrix = Matrix::from_rows(columns, rows.iter().map(Vec::as_slice));
    let cones = vec![Cone::Zero(length), Cone::Nonnegative(columns)];
    let found = ConicProgram { objective, matrix, limits, cones }.solve(Settings::default())?;
    Some(found.x[..others.len()].iter().map(|own| if *own > 1e-7 { *own } else { 0.0 }).collect())
}

#[cfg(test)]
mod tests {
    use certus_numerics::Random;

    use super::*;

    fn face(coefficients: &[f64], bound: f64) -> Face {
        Face { coefficients: coefficients.to_vec(), bound }
    }

    #[test]
    fn boxes_and_sums_of_faces_imply_others() {
        let range = [Interval::new(-4.0, 4.0), Interval::new(-4.0, 4.0)];
        let faces = vec![
            face(&[1.0], 1.0),
            // Weaker than the first, though written with another factor.
            face(&[2.0], 3.0),
            face(&[-1.0], 1.0),
            // As the range says.
            face(&[0.0, 1.0], 4.0),
            face(&[1.0, 1.0], 2.0),
            face(&[-1.0, 1.0], 2.0),
            // Half the sum of the last two, and some more.
            face(&[0.1, 1.0], 2.3),
            // Cuts a corner off.
            face(&[0.0, -1.0, 1.0], 0.0),
            // The box alone implies it.
            face(&[3.0, 0.5], 5.5),
        ];
        let left = irredundant(&Invariant { faces: faces.clone() }, &range).faces;
        assert_eq!(left, [&faces[0], &faces[2], &faces[4], &faces[5], &faces[7]].map(Clone::clone));
    }

    /// Whatever goes, the states stay the same.
    #[test]
    fn the_set_stays_the_same() {
        let mut random = Random::new(7, 1);
        let range = vec![Interval::new(-2.0, 2.0); 3];
        let mut dropped = 0;
        for _ in 0..40 {
            let faces: Vec<Face> = (0..14)
                .map(|_| {
                    let coefficients = (0..3).map(|_| (random.between(-3.0, 3.0)).round() / 2.0).collect();
                    Face { coefficients, bound: random.between(0.2, 3.0) }
                })
                .collect();
            let invariant = Invariant { faces };
            let left = irredundant(&invariant, &range);
            dropped += invariant.faces.len() - left.faces.len();
            for _ in 0..400 {
                let state: Vec<f64> = (0..3).map(|_| random.between(-2.0, 2.0)).collect();
                assert_eq!(invariant.contains(&state), left.contains(&state), "{state:?}: {invariant:?}");
            }
        }
        assert!(dropped > 100, "{dropped}");
    }
}
