//! Polyhedra: bounds of linear functions by non-negative multiples of half-spaces (Farkas' lemma), in exact numbers.

use super::certificate::Halfspace;
use super::polynomial::{Rational, is_negative, magnitude, rational};

/// A polyhedron in exact numbers, with the bounds of single coordinates that stand among its half-spaces.
pub struct Exact {
    halfspaces: Vec<(Vec<Rational>, Rational)>,
    /// For each coordinate, the largest magnitude, if two half-spaces bound it directly.
    reach: Vec<Option<Rational>>,
}

impl Exact {
    /// The half-spaces in exact numbers.
    pub fn new(halfspaces: &[Halfspace], states: usize) -> Result<Exact, String> {
        let mut exact = Vec::with_capacity(halfspaces.len());
        for halfspace in halfspaces {
            let normal: Option<Vec<Rational>> = halfspace.normal.iter().map(|&x| rational(x)).collect();
            match (normal, rational(halfspace.bound)) {
                (Some(normal), Some(bound)) if normal.len() == states => exact.push((normal, bound)),
                _ => return Err("a half-space does not have one number per state".to_owned()),
            }
        }
        let side = |state: usize, negative: bool| {
            let direct = exact.iter().filter(|(normal, _)| {
                let alone = normal.iter().enumerate().all(|(i, x)| (i == state) != x.is_zero());
                alone && is_negative(&normal[state]) == negative
            });
            direct.map(|(normal, bound)| magnitude(bound / &normal[state])).min()
        };
        let reach = (0..states).map(|state| Some(side(state, true)?.max(side(state, false)?))).collect();
        Ok(Exact { halfspaces: exact, reach })
    }

    /// The half-spaces.
    pub fn halfspaces(&self) -> &[(Vec<Rational>, Rational)] {
        &self.halfspaces
    }

    /// An upper bound of a linear function over the polyhedron, by a combination of half-spaces; what the combination
    /// misses is bounded by the reach of the coordinates.
    pub fn upper(&self, slopes: &[Rational], multipliers: &[(usize, f64)]) -> Result<Rational, String> {
        let mut rest = slopes.to_vec();
        let mut bound = Rational::ZERO;
        for &(place, weight) in multipliers {
            let weight = rational(weight).filter(|weight| !is_negative(weight));
            let (Some(weight), Some((normal, own))) = (weight, self.halfspaces.get(place)) else {
                return Err("a multiplier is negative, or its half-space does not exist".to_owned());
            };
            bound += &weight * own;
            rest.iter_mut().zip(normal).for_each(|(rest, x)| *rest -= &weight * x);
        }
        for (state, rest) in rest.into_iter().enumerate().filter(|(_, rest)| !rest.is_zero()) {
            let Some(reach) = &self.reach[state] else {
                return Err(format!("state {state} is not bounded by two half-spaces"));
            };
            bound += magnitude(rest) * reach;
        }
        Ok(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halfspace(normal: [f64; 2], bound: f64) -> Halfspace {
        Halfspace { normal: normal.to_vec(), bound, multipliers: Vec::new() }
    }

    #[test]
    fn combinations_bound_and_residuals_are_paid_for() {
        let square = [
            halfspace([1.0, 0.0], 1.0),
            halfspace([-1.0, 0.0], 1.0),
            halfspace([0.0, 1.0], 2.0),
            halfspace([0.0, -2.0], 4.0),
        ];
        let exact = Exact::new(&square, 2).unwrap();
        let slopes = [Rational::from(3), Rational::from(-1)];
        assert_eq!(exact.upper(&slopes, &[(0, 3.0), (3, 0.5)]).unwrap(), Rational::from(5));
        assert_eq!(exact.upper(&slopes, &[(0, 2.0), (3, 0.5)]).unwrap(), Rational::from(5));
        assert_eq!(exact.upper(&slopes, &[]).unwrap(), Rational::from(5));
        assert!(exact.upper(&slopes, &[(0, -1.0)]).is_err());
        let strip = Exact::new(&square[..2], 2).unwrap();
        assert!(strip.upper(&slopes, &[(0, 3.0)]).is_err());
    }
}
