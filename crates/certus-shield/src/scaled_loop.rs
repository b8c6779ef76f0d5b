//! A closed loop in coordinates scaled by powers of two to about one, which is exact to undo, and SOS claims about it with their
//! bases: monomials of half the Newton polytope (B. Reznick, 'Extremal psd forms with few terms', Duke Mathematical Journal 45, 1978), in blocks
//! of even and odd ones where nothing changes with x → −x.

use certus_audit::shield::Monomial;

use crate::plant::{Plant, Policy};
use crate::polynomial::{Poly, degree, monomials};
use crate::sos::Claim;

/// A closed loop in scaled coordinates.
pub struct Setting {
    /// Powers of two for states, then choices.
    pub scales: Vec<f64>,
    /// The closed loop in scaled coordinates.
    pub next: Vec<Poly>,
    /// Unsafe pieces and limits of actions in scaled coordinates, with the factor that each constraint was given.
    pub pieces: Vec<Vec<(Poly, f64)>>,
    /// Whether nothing changes with the sign of all variables.
    pub symmetric: bool,
    /// Of each piece, an earlier one that is the same (false) or its mirror image (true).
    pub copies: Vec<Option<(usize, bool)>>,
}

/// The power of two that is not smaller; one for what is no positive number.
pub fn power_of_two(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 { value.log2().ceil().clamp(-60.0, 60.0).exp2() } else { 1.0 }
}

fn mirrored(poly: &Poly) -> Poly {
    poly.rescaled(&vec![-1.0; poly.variables()])
}

impl Setting {
    /// For a program and a box of initial states.
    pub fn new(plant: &Plant, policy: &Policy, region: &[(f64, f64)]) -> Setting {
        let states = plant.states();
        let size = |&(a, b): &(f64, f64)| power_of_two(a.abs().max(b.abs()));
        let mut scales: Vec<f64> = plant
            .domain
            .iter()
            .zip(&plant.init)
            .map(
                |(domain, init)| {
                    if domain.0.is_finite() && domain.1.is_finite() { size(domain) } else { 4.0 * size(init) }
                },
            )
            .collect();
        scales.extend(plant.choices.iter().map(size));
        let closed = plant.closed(policy);
        let next: Vec<Poly> =
            closed.iter().enumerate().map(|(i, f)| f.rescaled(&scales).scaled(1.0 / scales[i])).collect();
        let normal = |poly: &Poly| {
            let scaled = poly.rescaled(&scales[..states]);
            let factor = 1.0 / power_of_two(scaled.size());
            (scaled.scaled(factor), factor)
        };
        let mut pieces: Vec<Vec<(Poly, f64)>> =
            plant.pieces.iter().map(|piece| piece.iter().map(normal).collect()).collect();
        for (action, &(lower, upper)) in policy.iter().zip(&plant.limits) {
            let constant = |value| Poly::constant(states, value);
            if lower.is_finite() {
                pieces.push(vec![normal(&constant(lower).plus(action, -1.0))]);
            }
            if upper.is_finite() {
                pieces.push(vec![normal(&action.plus(&constant(upper), -1.0))]);
            }
        }
        let even = |&(a, b): &(f64, f64)| a == -b;
        let same = |x: &[(Poly, f64)], y: &[(Poly, f64)], turned: bool| {
            x.len() == y.len()
                && x.iter().zip(y).all(|((p, c), (q, d))| c == d && if turned { mirrored(p) == *q } else { p == q })
        };
        let symmetric = plant.domain.iter().chain(region).chain(&plant.choices).all(even)
            && next.iter().all(|f| f.has_parity(true))
            && pieces.iter().all(|piece| pieces.iter().any(|other| same(piece, other, true)));
        let copies = (0..pieces.len())
            .map(|i| {
                let copy = |turned| (0..i).find(|&j| same(&pieces[j], &pieces[i], turned)).map(|j| (j, turned));
                copy(false).or_else(|| symmetric.then(|| copy(true)).flatten())
            })
            .collect();
        Setting { scales, next, pieces, symmetric, copies }
    }

    /// (x − lower)(upper − x) over the given range in scaled coordinates, with the factor it was given.
    pub fn side(&self, index: usize, (lower, upper): (f64, f64), variables: usize) -> Option<(Poly, f64)> {
        let scale = self.scales[index];
        let x = Poly::variable(variables, index);
        let constant = |value: f64| Poly::constant(variables, value / scale);
        let below = lower.is_finite().then(|| x.plus(&constant(lower), -1.0));
        let above = upper.is_finite().then(|| constant(upper).plus(&x, -1.0));
        match (below, above) {
            (Some(below), Some(above)) => Some((below.times(&above), 1.0 / (scale * scale))),
            (one, other) => Some((one.or(other)?, 1.0 / scale)),
        }
    }

    /// The same for consecutive variables.
    pub fn sides(&self, ranges: &[(f64, f64)], first: usize, variables: usize) -> Vec<(Poly, f64)> {
        ranges.iter().enumerate().filter_map(|(i, &range)| self.side(first + i, range, variables)).collect()
    }

    /// A basis split by parity where everything is symmetric.
    fn blocks(&self, basis: Vec<Monomial>) -> Vec<Vec<Monomial>> {
        if !self.symmetric {
            return vec![basis];
        }
        let (even, odd): (Vec<Monomial>, Vec<Monomial>) = basis.into_iter().partition(|m| degree(m).is_multiple_of(2));
        [even, odd].into_iter().filter(|block| !block.is_empty()).collect()
    }
}

/// A polytope around exponents, as far as degrees and some directions tell.
struct Polytope {
    variables: usize,
    /// The variables that occur.
    among: Vec<usize>,
    lowest: usize,
    highest: usize,
    /// Directions, and how far the exponents go along each.
    most: Vec<(Vec<i64>, i64)>,
}

/// Coordinates of a direction reach from minus this to this.
const STEEPEST: i64 = 3;

/// So many directions are looked along where not all of them are few.
const SOME_DIRECTIONS: usize = 64;

/// All directions of so few variables are few.
const FEW_VARIABLES: usize = 4;

fn directions(variables: usize, among: &[usize]) -> Vec<Vec<i64>> {
    let width = 2 * STEEPEST + 1;
    if among.len() <= FEW_VARIABLES {
        let all = 0..width.pow(among.len() as u32);
        return all
            .map(|number| {
                let mut direction = vec![0; variables];
                let mut rest = number;
                for &variable in among {
                    direction[variable] = rest % width - STEEPEST;
                    rest /= width;
                }
                direction
            })
            .collect();
    }
    let axis = |&v: &usize| (0..variables).map(|i| i64::from(i == v)).collect();
    let mut directions: Vec<Vec<i64>> = among.iter().map(axis).collect();
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..SOME_DIRECTIONS {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % width as u64) as i64 - STEEPEST
        };
        directions.push((0..variables).map(|_| draw()).collect());
    }
    directions
}

fn along(direction: &[i64], monomial: &[u8]) -> i64 {
    direction.iter().zip(monomial).map(|(d, &e)| d * i64::from(e)).sum()
}

impl Polytope {
    fn around(support: &[Monomial], variables: usize) -> Polytope {
        let among: Vec<usize> = (0..variables).filter(|&v| support.iter().any(|m| m[v] > 0)).collect();
        let most = directions(variables, &among)
            .into_iter()
            .map(|direction| {
                let most = support.iter().map(|m| along(&direction, m)).max().unwrap_or(0);
                (direction, most)
            })
            .collect();
        let degrees = || support.iter().map(|m| degree(m));
        Polytope { variables, among, lowest: degrees().min().unwrap_or(0), highest: degrees().max().unwrap_or(0), most }
    }

    fn contains(&self, monomial: &[u8]) -> bool {
        let own = degree(monomial);
        self.lowest <= own
            && own <= self.highest
            && self.most.iter().all(|(direction, most)| along(direction, monomial) <= *most)
    }

    /// Monomials whose squares are inside.
    fn half(&self) -> Vec<Monomial> {
        let inside = |m: &Monomial| {
            2 * degree(m) >= self.lowest && self.most.iter().all(|(direction, most)| 2 * along(direction, m) <= *most)
        };
        monomials(self.variables, &self.among, self.highest / 2).into_iter().filter(inside).collect()
    }
}

/// Multipliers of constraints may have more than this many monomials only if they stay in the Newton polytope.
const MANY_MONOMIALS: usize = 40;

/// A claim with its bases chosen. Multipliers of the constraints are as free as their degree allows; where they are large, none of
/// what they add leaves the Newton polytope of what is claimed, which is weaker, and far cheaper where degrees differ between
/// variables.
pub fn claim(
    setting: &Setting,
    parts: Vec<(usize, Poly)>,
    constant: Poly,
    constraints: Vec<(Poly, usize)>,
    symmetric: bool,
) -> Claim {
    let variables = constant.variables();
    let all: Vec<usize> = (0..variables).collect();
    let blocks = |basis| if symmetric { setting.blocks(basis) } else { vec![basis] };
    let mut support: Vec<Monomial> = parts.iter().flat_map(|(_, p)| p.terms().map(|(m, _)| m.clone())).collect();
    support.extend(constant.terms().map(|(m, _)| m.clone()));
    support.sort();
    support.dedup();
    let mut polytope = Polytope::around(&support, variables);
    // What the square of a monomial adds when it multiplies a constraint.
    let added = |monomial: &Monomial, g: &Poly| -> Vec<Monomial> {
        let own = Poly::term(monomial.clone(), 1.0);
        own.times(&own).times(g).terms().map(|(m, _)| m.clone()).collect()
    };
    let fits = |monomial: &Monomial, g: &Poly| added(monomial, g).iter().all(|m| polytope.contains(m));
    let mut bases: Vec<(Poly, Vec<Monomial>)> =
        constraints.into_iter().map(|(g, half)| (g, monomials(variables, &all, half))).collect();
    if bases.iter().any(|(_, basis)| basis.len() > MANY_MONOMIALS) {
        bases.iter_mut().for_each(|(g, basis)| basis.retain(|m| fits(m, g)));
    } else {
        for (g, basis) in &bases {
            support.extend(basis.iter().flat_map(|m| added(m, g)));
        }
        polytope = Polytope::around(&support, variables);
    }
    let constraints = bases.into_iter().map(|(g, basis)| (g, blocks(basis))).collect();
    let basis = blocks(polytope.half());
    Claim { parts, constant, constraints, basis }
}

/// The mean of a monomial over the domain in scaled coordinates.
pub fn mean(monomial: &[u8], setting: &Setting, plant: &Plant) -> f64 {
    let along = |(i, &e): (usize, &u8)| {
        let (lower, upper) = plant.domain[i];
        let scale = setting.scales[i];
        let (a, b) = if lower.is_finite() && upper.is_finite() { (lower / scale, upper / scale) } else { (-1.0, 1.0) };
        let e = i32::from(e);
        if b - a < 1e-12 {
            return a.powi(e);
        }
        (b.powi(e + 1) - a.powi(e + 1)) / (f64::from(e + 1) * (b - a))
    };
    monomial.iter().enumerate().map(along).product()
}
