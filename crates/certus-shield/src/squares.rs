//! Sums of squares by semidefinite programming.
//!
//! A program has free numbers (the coefficients of an unknown polynomial) and claims, each a polynomial that depends
//! linearly on them and has to be a sum of squares plus sums of squares times constraints. Gram matrices are kept a little
//! away from the boundary of the cone, so that they survive rounding. What comes out is a candidate, no proof.

use std::collections::HashMap;
use std::time::Instant;

use certus_audit::shield::{Identity, Monomial, Multiplier, Squares};
// The routines that clarabel's semidefinite cones call.
use certus_lapack as _;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

use crate::polynomial::{Poly, monomial_product};

/// A polynomial that has to be nowhere negative where its constraints are not.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What multiplies each free number.
    pub parts: Vec<(usize, Poly)>,
    /// The rest.
    pub constant: Poly,
    /// The constraints, each with the basis of its multiplier in blocks.
    pub constraints: Vec<(Poly, Vec<Vec<Monomial>>)>,
    /// The basis of the free sum of squares, in blocks that do not mix.
    pub basis: Vec<Vec<Monomial>>,
}

/// A semidefinite program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// What is made small, one number per free number.
    pub objective: Vec<f64>,
    /// What has to hold.
    pub claims: Vec<Claim>,
    /// How far inside of the cone Gram matrices are kept.
    pub inside: f64,
}

/// A candidate.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The free numbers.
    pub free: Vec<f64>,
    /// One identity per claim.
    pub identities: Vec<Identity>,
}

/// One positive semidefinite block: where its variables begin, and its size.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    size: usize,
}

impl Block {
    fn entries(self) -> usize {
        self.size * (self.size + 1) / 2
    }

    /// The variable of entry (i, j), i ≤ j: columns of the upper triangle one after the other.
    fn variable(self, i: usize, j: usize) -> usize {
        self.start + j * (j + 1) / 2 + i
    }
}

impl Program {
    /// Solves it; nothing where the method ends without numbers.
    pub fn solve(&self, deadline: Option<Instant>) -> Option<Candidate> {
        let free = self.objective.len();
        let mut columns = free;
        let mut block = |basis: &[Monomial]| {
            let block = Block { start: columns, size: basis.len() };
            columns += block.entries();
            block
        };
        let layout: Vec<(Vec<Block>, Vec<Vec<Block>>)> = self
            .claims
            .iter()
            .map(|claim| {
                let own = claim.basis.iter().map(|basis| block(basis)).collect();
                let multipliers =
                    claim.constraints.iter().map(|(_, bases)| bases.iter().map(|b| block(b)).collect()).collect();
                (own, multipliers)
            })
            .collect();
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        let mut right: Vec<f64> = Vec::new();
        for (claim, (own, multipliers)) in self.claims.iter().zip(&layout) {
            equations(claim, own, multipliers, &mut triplets, &mut right);
        }
        let mut cones = vec![SupportedConeT::ZeroConeT(right.len())];
        let blocks = layout.iter().flat_map(|(own, multipliers)| own.iter().chain(multipliers.iter().flatten()));
        for &block in blocks.filter(|block| block.size > 0) {
            for j in 0..block.size {
                for i in 0..=j {
                    let scale = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
                    triplets.push((block.variable(i, j), right.len(), -scale));
                    right.push(if i == j { -self.inside } else { 0.0 });
                }
            }
            cones.push(SupportedConeT::PSDTriangleConeT(block.size));
        }
        let matrix = compressed(right.len(), columns, triplets);
        let mut objective = self.objective.clone();
        objective.resize(columns, 0.0);
        let settings = DefaultSettings {
            verbose: false,
            max_iter: 120,
            max_threads: 1,
            presolve_enable: false,
            chordal_decomposition_enable: false,
            time_limit: deadline
                .map_or(f64::INFINITY, |deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64()),
            ..DefaultSettings::default()
        };
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver = DefaultSolver::new(&quadratic, &objective, &matrix, &right, &cones, settings).ok()?;
        solver.solve();
        let x = &solver.solution.x;
        if x.len() != columns || x.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let identities = self.claims.iter().zip(&layout).map(|(claim, (own, multipliers))| {
            let of = |bases: &[Vec<Monomial>], blocks: &[Block]| squares(bases, blocks, x);
            let multiplier = |(constraint, ((_, bases), blocks)): (usize, (&(Poly, Vec<Vec<Monomial>>), &Vec<Block>))| {
                Multiplier { constraint, squares: of(bases, blocks) }
            };
            Identity {
                free: of(&claim.basis, own),
                multipliers: claim.constraints.iter().zip(multipliers).enumerate().map(multiplier).collect(),
            }
        });
        Some(Candidate { free: x[..free].to_vec(), identities: identities.collect() })
    }
}

/// One equation per monomial: claim = free sum of squares + Σ multiplier · constraint.
fn equations(
    claim: &Claim,
    own: &[Block],
    multipliers: &[Vec<Block>],
    triplets: &mut Vec<(usize, usize, f64)>,
    right: &mut Vec<f64>,
) {
    let mut rows: HashMap<Monomial, usize> = HashMap::new();
    let first = right.len();
    let mut row = |monomial: Monomial, right: &mut Vec<f64>| {
        let next = first + rows.len();
        *rows.entry(monomial).or_insert_with(|| {
            right.push(0.0);
            next
        })
    };
    for (monomial, coefficient) in claim.constant.terms() {
        let place = row(monomial.clone(), right);
        right[place] -= coefficient;
    }
    for (variable, part) in &claim.parts {
        for (monomial, coefficient) in part.terms() {
            let place = row(monomial.clone(), right);
            triplets.push((*variable, place, coefficient));
        }
    }
    let mut squares = |basis: &[Monomial], block: Block, factor: Option<&Poly>, right: &mut Vec<f64>| {
        for j in 0..block.size {
            for i in 0..=j {
                let weight = if i == j { -1.0 } else { -2.0 };
                let product = monomial_product(&basis[i], &basis[j]);
                match factor {
                    None => {
                        let place = row(product, right);
                        triplets.push((block.variable(i, j), place, weight));
                    }
                    Some(factor) => {
                        for (monomial, coefficient) in factor.terms() {
                            let place = row(monomial_product(&product, monomial), right);
                            triplets.push((block.variable(i, j), place, weight * coefficient));
                        }
                    }
                }
            }
        }
    };
    for (basis, &block) in claim.basis.iter().zip(own) {
        squares(basis, block, None, right);
    }
    for ((constraint, bases), blocks) in claim.constraints.iter().zip(multipliers) {
        for (basis, &block) in bases.iter().zip(blocks) {
            squares(basis, block, Some(constraint), right);
        }
    }
}

/// Column-compressed, with equal places added.
fn compressed(rows: usize, columns: usize, mut triplets: Vec<(usize, usize, f64)>) -> CscMatrix<f64> {
    triplets.sort_unstable_by_key(|&(column, row, _)| (column, row));
    let (mut starts, mut places, mut values) = (vec![0usize; columns + 1], Vec::new(), Vec::<f64>::new());
    let mut last = None;
    for (column, row, value) in triplets {
        if last == Some((column, row)) {
            if let Some(value_before) = values.last_mut() {
                *value_before += value;
            }
            continue;
        }
        last = Some((column, row));
        places.push(row);
        values.push(value);
        starts[column + 1] += 1;
    }
    for column in 0..columns {
        starts[column + 1] += starts[column];
    }
    CscMatrix::new(rows, columns, starts, places, values)
}

/// The Gram matrix of several blocks as one.
fn squares(bases: &[Vec<Monomial>], blocks: &[Block], x: &[f64]) -> Squares {
    let basis: Vec<Monomial> = bases.iter().flatten().cloned().collect();
    let mut gram: Vec<Vec<f64>> = (0..basis.len()).map(|i| vec![0.0; i + 1]).collect();
    let mut offset = 0;
    for &block in blocks {
        for j in 0..block.size {
            for i in 0..=j {
                gram[offset + j][offset + i] = x[block.variable(i, j)];
            }
        }
        offset += block.size;
    }
    Squares { basis, gram }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::monomials;

    #[test]
    fn the_largest_lower_bound_of_a_polynomial_is_found() {
        // min c with x⁴ − 3x² + c a sum of squares: 9/4.
        let quartic = Poly::term(vec![4], 1.0).plus(&Poly::term(vec![2], -3.0), 1.0);
        let claim = Claim {
            parts: vec![(0, Poly::constant(1, 1.0))],
            constant: quartic,
            constraints: Vec::new(),
            basis: vec![monomials(1, &[0], 2)],
        };
        let program = Program { objective: vec![1.0], claims: vec![claim], inside: 0.0 };
        let candidate = program.solve(None).unwrap();
        assert!((candidate.free[0] - 2.25).abs() < 1e-5, "{:?}", candidate.free);
    }

    #[test]
    fn constraints_are_used() {
        // min c with x + c ≥ 0 where 1 − x² ≥ 0: 1.
        let claim = Claim {
            parts: vec![(0, Poly::constant(1, 1.0))],
            constant: Poly::variable(1, 0),
            constraints: vec![(Poly::constant(1, 1.0).plus(&Poly::term(vec![2], -1.0), 1.0), vec![vec![vec![0]]])],
            basis: vec![monomials(1, &[0], 1)],
        };
        let program = Program { objective: vec![1.0], claims: vec![claim], inside: 0.0 };
        let candidate = program.solve(None).unwrap();
        assert!((candidate.free[0] - 1.0).abs() < 1e-5, "{:?}", candidate.free);
    }
}
