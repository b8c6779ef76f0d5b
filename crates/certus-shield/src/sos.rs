//! Sum-of-squares (SOS) programming.
//!
//! P. A. Parrilo, 'Semidefinite programming relaxations for semialgebraic problems', Mathematical Programming 96 (2003): a polynomial is a sum
//! of squares iff it is zᵀ G z for a positive semidefinite *Gram matrix* G over a vector z of monomials. That a polynomial is
//! non-negative where constraints gᵢ ≥ 0 hold is certified as σ₀ + Σ σᵢ gᵢ with SOS multipliers (M. Putinar, 'Positive polynomials on compact
//! semi-algebraic sets', Indiana University Mathematics Journal 42, 1993).
//!
//! A program has free numbers (the coefficients of an unknown polynomial) and claims, each a polynomial that depends linearly on them and
//! needs such a certificate.
//!
//! *Soundness.* The result is a candidate. Gram matrices are kept a little inside of the cone, so that they survive rounding to a certificate that
//! `certus-audit` checks in rational arithmetic.
//!
//! *Departure.* Where every product of two monomials occurs once, the Gram matrix follows from the rest and gets no variables.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use certus_audit::shield::{Monomial, Multiplier, PutinarCertificate, SumOfSquares};
use certus_numerics::conic::{Cone, ConicProgram, Matrix, Settings};

use crate::polynomial::{Poly, monomial_product};
use crate::work_count::{semidefinite_program, spend};

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
    pub identities: Vec<PutinarCertificate>,
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
        // Where every product of two monomials comes once, the Gram matrix follows from the rest, and has no variables.
        let determined: Vec<bool> = self.claims.iter().map(products_differ).collect();
        let mut block = |basis: &[Monomial]| {
            let block = Block { start: columns, size: basis.len() };
            columns += block.entries();
            block
        };
        let layout: Vec<(Vec<Block>, Vec<Vec<Block>>)> = self
            .claims
            .iter()
            .zip(&determined)
            .map(|(claim, determined)| {
                let own = if *determined { Vec::new() } else { claim.basis.iter().map(|basis| block(basis)).collect() };
                let multipliers =
                    claim.constraints.iter().map(|(_, bases)| bases.iter().map(|b| block(b)).collect()).collect();
                (own, multipliers)
            })
            .collect();
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        let mut right: Vec<f64> = Vec::new();
        let mut sums: Vec<Option<Sums>> = Vec::new();
        for ((claim, (own, multipliers)), determined) in self.claims.iter().zip(&layout).zip(&determined) {
            let own_sums = gathered(claim, own, multipliers);
            let known = if *determined { products(claim) } else { HashMap::new() };
            for (_, sum) in own_sums.iter().filter(|(monomial, _)| !known.contains_key(*monomial)) {
                for &(variable, coefficient) in &sum.parts {
                    triplets.push((variable, right.len(), coefficient));
                }
                right.push(-sum.constant);
            }
            sums.push(determined.then_some(own_sums));
        }
        let mut cones = vec![Cone::Zero(right.len())];
        let blocks = layout.iter().flat_map(|(own, multipliers)| own.iter().chain(multipliers.iter().flatten()));
        for &block in blocks.filter(|block| block.size > 0) {
            for j in 0..block.size {
                for i in 0..=j {
                    let scale = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
                    triplets.push((block.variable(i, j), right.len(), -scale));
                    right.push(if i == j { -self.inside } else { 0.0 });
                }
            }
            cones.push(Cone::Semidefinite(block.size));
        }
        for (claim, sums) in self.claims.iter().zip(&sums) {
            let Some(sums) = sums else { continue };
            for basis in claim.basis.iter().filter(|basis| !basis.is_empty()) {
                for j in 0..basis.len() {
                    for i in 0..=j {
                        // s = scale · (sum / entries of this product) − inside on the diagonal.
                        let (scale, entries) = if i == j { (1.0, 1.0) } else { (std::f64::consts::SQRT_2, 2.0) };
                        let sum = sums.get(&monomial_product(&basis[i], &basis[j]));
                        for &(variable, coefficient) in sum.iter().flat_map(|sum| &sum.parts) {
                            triplets.push((variable, right.len(), -scale * coefficient / entries));
                        }
                        let constant = sum.map_or(0.0, |sum| sum.constant);
                        right.push(scale * constant / entries - if i == j { self.inside } else { 0.0 });
                    }
                }
                cones.push(Cone::Semidefinite(basis.len()));
            }
        }
        let mut objective = self.objective.clone();
        objective.resize(columns, 0.0);
        let rows = right.len();
        let matrix = Matrix::from_triplets(rows, columns, triplets);
        let program = ConicProgram { objective, matrix, limits: right, cones };
        let solution = program.solve(Settings { iterations: 120, deadline, ..Settings::default() })?;
        spend(semidefinite_program(solution.iterations, rows));
        let x = &solution.x;
        if x.len() != columns || x.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let identities = self.claims.iter().zip(&layout).zip(&sums).map(|((claim, (own, multipliers)), sums)| {
            let of = |bases: &[Vec<Monomial>], blocks: &[Block]| squares(bases, blocks, x);
            let own_multipliers = claim.constraints.iter().zip(multipliers).enumerate();
            PutinarCertificate {
                free: sums.as_ref().map_or_else(|| of(&claim.basis, own), |sums| implied(&claim.basis, sums, x)),
                multipliers: own_multipliers
                    .map(|(constraint, ((_, bases), blocks))| Multiplier { constraint, squares: of(bases, blocks) })
                    .collect(),
            }
        });
        Some(Candidate { free: x[..free].to_vec(), identities: identities.collect() })
    }
}

/// What stands beside a monomial: a constant and multiples of variables.
#[derive(Clone, Debug, Default)]
struct Sum {
    constant: f64,
    parts: Vec<(usize, f64)>,
}

type Sums = BTreeMap<Monomial, Sum>;

/// The products of two monomials of a claim's basis that its Gram matrix can take.
fn products(claim: &Claim) -> HashMap<Monomial, usize> {
    let mut all = HashMap::new();
    for basis in &claim.basis {
        for j in 0..basis.len() {
            for i in 0..=j {
                *all.entry(monomial_product(&basis[i], &basis[j])).or_insert(0) += 1;
            }
        }
    }
    all
}

fn products_differ(claim: &Claim) -> bool {
    products(claim).values().all(|&count| count == 1)
}

/// Claim − Σ multiplier · constraint − free sum of squares, monomial by monomial; the last is left out if it has no variables.
fn gathered(claim: &Claim, own: &[Block], multipliers: &[Vec<Block>]) -> Sums {
    let mut sums = Sums::new();
    for (monomial, coefficient) in claim.constant.terms() {
        sums.entry(monomial.clone()).or_default().constant += coefficient;
    }
    for (variable, part) in &claim.parts {
        for (monomial, coefficient) in part.terms() {
            sums.entry(monomial.clone()).or_default().parts.push((*variable, coefficient));
        }
    }
    let mut squares = |basis: &[Monomial], block: Block, factor: Option<&Poly>| {
        for j in 0..block.size {
            for i in 0..=j {
                let weight = if i == j { -1.0 } else { -2.0 };
                let (product, variable) = (monomial_product(&basis[i], &basis[j]), block.variable(i, j));
                match factor {
                    None => sums.entry(product).or_default().parts.push((variable, weight)),
                    Some(factor) => {
                        for (monomial, coefficient) in factor.terms() {
                            let place = sums.entry(monomial_product(&product, monomial)).or_default();
                            place.parts.push((variable, weight * coefficient));
                        }
                    }
                }
            }
        }
    };
    for (basis, &block) in claim.basis.iter().zip(own) {
        squares(basis, block, None);
    }
    for ((constraint, bases), blocks) in claim.constraints.iter().zip(multipliers) {
        for (basis, &block) in bases.iter().zip(blocks) {
            squares(basis, block, Some(constraint));
        }
    }
    sums
}

/// The Gram matrix that follows from the rest.
fn implied(bases: &[Vec<Monomial>], sums: &Sums, x: &[f64]) -> SumOfSquares {
    let basis: Vec<Monomial> = bases.iter().flatten().cloned().collect();
    let mut gram: Vec<Vec<f64>> = (0..basis.len()).map(|i| vec![0.0; i + 1]).collect();
    let mut offset = 0;
    for block in bases {
        for j in 0..block.len() {
            for i in 0..=j {
                let Some(sum) = sums.get(&monomial_product(&block[i], &block[j])) else { continue };
                let value = sum.constant + sum.parts.iter().map(|&(v, c)| c * x[v]).sum::<f64>();
                gram[offset + j][offset + i] = if i == j { value } else { value / 2.0 };
            }
        }
        offset += block.len();
    }
    SumOfSquares { basis, gram }
}

/// The Gram matrix of several blocks as one.
fn squares(bases: &[Vec<Monomial>], blocks: &[Block], x: &[f64]) -> SumOfSquares {
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
    SumOfSquares { basis, gram }
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
