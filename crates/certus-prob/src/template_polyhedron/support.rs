//! Support functions by a dense dual simplex: the largest value of a linear function over rows `a·x ≤ b`.
//!
//! The dual simplex method is C. E. Lemke's (1954); that any dual point gives a rigorous bound whatever the rounding is A. Neumaier and
//! O. Shcherbina, 'Safe bounds in linear and mixed-integer linear programming', Mathematical Programming 99 (2004).
//!
//! *Idea.* The rows always hold a box, `±xᵢ ≤ bᵢ`, as their first 2n entries. So the dual program (fewest `b·y` with `Aᵀy = c`, `y ≥ 0`)
//! has a feasible basis to begin with, the sides of the box that `c` points at, and needs no first phase. After some pivots rows enter in
//! their order (R. G. Bland's rule), which cannot cycle.
//!
//! *Soundness.* With any y ≥ 0 whatever, c·x ≤ b·y + |c − Aᵀy|·|x|, which is evaluated with everything that rounding can have changed on
//! top. The method may stop anywhere; only tightness suffers.
//!
//! `certus-solver` has another dual simplex (`linear_program/simplex.rs`). It serves programs of hundreds of columns, refactors its basis,
//! and leaves rigour to the backward bound that re-evaluates its multipliers. Programs here have a handful of columns, are solved millions of times and
//! return a rigorous number, so the two share no code.

/// Rows `a·x ≤ b` in so many dimensions; the first 2n are `x₀ ≤`, `−x₀ ≤`, `x₁ ≤`, ….
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    dimension: usize,
    normals: Vec<f64>,
    offsets: Vec<f64>,
}

/// What is known of a maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Nowhere exceeded, over the reals.
    AtMost(f64),
    /// No point satisfies all rows.
    Empty,
}

/// Changes of the basis after which the bound so far is taken.
const MOST_PIVOTS: usize = 200;

/// Changes after which rows are taken in their order, which cannot cycle.
const IMPATIENT: usize = 60;

/// Numbers below this share of the largest are zero to the search. The answer does not rest on it.
const NEGLIGIBLE: f64 = 1e-11;

impl Rows {
    /// The rows of a box.
    pub fn of_box(lower: &[f64], upper: &[f64]) -> Rows {
        let mut rows = Rows { dimension: lower.len(), normals: Vec::new(), offsets: Vec::new() };
        for (i, (&low, &high)) in lower.iter().zip(upper).enumerate() {
            let mut normal = vec![0.0; lower.len()];
            normal[i] = 1.0;
            rows.push(&normal, high);
            normal[i] = -1.0;
            rows.push(&normal, -low);
        }
        rows
    }

    /// Adds a row.
    pub fn push(&mut self, normal: &[f64], offset: f64) {
        self.normals.extend_from_slice(normal);
        self.offsets.push(offset);
    }

    /// How many dimensions.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// A row.
    pub fn row(&self, index: usize) -> (&[f64], f64) {
        (&self.normals[index * self.dimension..(index + 1) * self.dimension], self.offsets[index])
    }

    /// The box of the first rows: lower and upper corner.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let lower = (0..self.dimension).map(|i| -self.offsets[2 * i + 1]).collect();
        let upper = (0..self.dimension).map(|i| self.offsets[2 * i]).collect();
        (lower, upper)
    }

    fn magnitude(&self, i: usize) -> f64 {
        self.offsets[2 * i].abs().max(self.offsets[2 * i + 1].abs())
    }

    /// The bound that multipliers of rows prove of `c·x`.
    fn proved(&self, c: &[f64], multipliers: &[(usize, f64)]) -> f64 {
        debug_assert!(multipliers.iter().all(|&(_, y)| y >= 0.0), "multipliers are not negative: {multipliers:?}");
        let (mut value, mut size) = (0.0, 0.0);
        for &(row, y) in multipliers {
            value += self.offsets[row] * y;
            size += (self.offsets[row] * y).abs();
        }
        let mut slack = 0.0;
        for (i, &own) in c.iter().enumerate() {
            let (mut rest, mut sum) = (own, own.abs());
            for &(row, y) in multipliers {
                let term = self.normals[row * self.dimension + i] * y;
                rest -= term;
                sum += term.abs();
            }
            if rest != 0.0 || multipliers.len() > 1 {
                slack += (rest.abs() + 8.0 * (multipliers.len() + 2) as f64 * f64::EPSILON * sum) * self.magnitude(i);
            }
        }
        let exact = multipliers.len() <= 1 && slack == 0.0;
        let rounding = if exact { 0.0 } else { 8.0 * (multipliers.len() + 2) as f64 * f64::EPSILON * size };
        let total = (value + (slack + rounding) * (1.0 + 1e-10)).next_up();
        // One side of the box with a factor of one: nothing was rounded.
        if exact && multipliers.iter().all(|&(_, y)| y == 1.0) { value } else { total }
    }

    /// The largest value of `c·x` where all rows hold.
    pub fn maximum(&self, c: &[f64]) -> Support {
        let n = self.dimension;
        let mut basis: Vec<usize> = (0..n).map(|i| 2 * i + usize::from(c[i] < 0.0)).collect();
        // Column i of the basis matrix is the normal of row basis[i]; the inverse is kept row by row.
        let mut inverse = vec![0.0; n * n];
        let mut y: Vec<f64> = c.iter().map(|value| value.abs()).collect();
        for i in 0..n {
            inverse[i * n + i] = if c[i] < 0.0 { -1.0 } else { 1.0 };
        }
        if self.len() == 2 * n {
            return Support::AtMost(self.proved(c, &multipliers(&basis, &y)));
        }
        let mut x = vec![0.0; n];
        let mut column = vec![0.0; n];
        for pivot in 0..MOST_PIVOTS {
            // The vertex: normals of the basis times x are their offsets.
            for (j, value) in x.iter_mut().enumerate() {
                *value = (0..n).map(|i| inverse[i * n + j] * self.offsets[basis[i]]).sum();
            }
            let mut entering: Option<(usize, f64)> = None;
            for row in 0..self.len() {
                let (normal, offset) = self.row(row);
                let at: f64 = normal.iter().zip(&x).map(|(a, x)| a * x).sum();
                let scale = offset.abs().max(at.abs()).max(NEGLIGIBLE);
                let excess = at - offset;
                if excess > NEGLIGIBLE * scale
                    && !basis.contains(&row)
                    && entering.is_none_or(|(_, best)| excess > best)
                {
                    entering = Some((row, excess));
                    if pivot >= IMPATIENT {
                        break;
                    }
                }
            }
            let Some((row, _)) = entering else { break };
            let (normal, _) = self.row(row);
            for (i, value) in column.iter_mut().enumerate() {
                *value = (0..n).map(|j| inverse[i * n + j] * normal[j]).sum();
            }
            let leaving = (0..n)
                .filter(|&i| column[i] > NEGLIGIBLE)
                .min_by(|&a, &b| (y[a] / column[a]).total_cmp(&(y[b] / column[b])).then(basis[a].cmp(&basis[b])));
            let Some(leaving) = leaving else {
                // A ray of the dual: rows that contradict each other, if rounding leaves that so.
                let ray: Vec<(usize, f64)> = std::iter::once((row, 1.0))
                    .chain(basis.iter().zip(&column).map(|(&row, &value)| (row, (-value).max(0.0))))
                    .filter(|&(_, y)| y > 0.0)
                    .collect();
                if self.proved(&vec![0.0; n], &ray) < 0.0 {
                    return Support::Empty;
                }
                break;
            };
            let ratio = (y[leaving] / column[leaving]).max(0.0);
            for i in 0..n {
                y[i] = if i == leaving { ratio } else { (y[i] - ratio * column[i]).max(0.0) };
            }
            let factor = 1.0 / column[leaving];
            for j in 0..n {
                let value = inverse[leaving * n + j] * factor;
                inverse[leaving * n + j] = value;
                for i in (0..n).filter(|&i| i != leaving) {
                    inverse[i * n + j] -= column[i] * value;
                }
            }
            basis[leaving] = row;
        }
        let value = self.proved(c, &multipliers(&basis, &y));
        let plain: Vec<usize> = (0..n).map(|i| 2 * i + usize::from(c[i] < 0.0)).collect();
        let sizes: Vec<f64> = c.iter().map(|value| value.abs()).collect();
        Support::AtMost(value.min(self.proved(c, &multipliers(&plain, &sizes))))
    }

    /// Whether no point satisfies all rows and `normal·x ≤ offset` too, for certain.
    pub fn excludes(&self, normal: &[f64], offset: f64) -> bool {
        let opposite: Vec<f64> = normal.iter().map(|value| -value).collect();
        match self.maximum(&opposite) {
            Support::Empty => true,
            // Everywhere normal·x ≥ −value.
            Support::AtMost(value) => -value > offset,
        }
    }
}

fn multipliers(basis: &[usize], y: &[f64]) -> Vec<(usize, f64)> {
    basis.iter().copied().zip(y.iter().copied()).filter(|&(_, y)| y > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_box_is_exact() {
        let rows = Rows::of_box(&[-1.0, 0.1], &[2.0, 0.3]);
        assert_eq!(rows.maximum(&[1.0, 0.0]), Support::AtMost(2.0));
        assert_eq!(rows.maximum(&[0.0, -1.0]), Support::AtMost(-0.1));
    }

    #[test]
    fn a_triangle_and_an_empty_one() {
        let mut rows = Rows::of_box(&[0.0, 0.0], &[1.0, 1.0]);
        rows.push(&[1.0, 1.0], 1.0);
        let Support::AtMost(value) = rows.maximum(&[2.0, 1.0]) else { panic!() };
        assert!((2.0..2.0 + 1e-12).contains(&value), "{value}");
        assert!(rows.excludes(&[-1.0, -1.0], -1.5));
        assert!(!rows.excludes(&[-1.0, -1.0], -1.0));
        rows.push(&[-1.0, -1.0], -1.5);
        assert_eq!(rows.maximum(&[1.0, 0.0]), Support::Empty);
    }

    proptest! {
        /// No sample exceeds the bound, and some corner of the arrangement nearly attains it.
        #[test]
        fn bounds_are_sound_and_tight(
            splits in prop::collection::vec((-1.0f64..1.0, -1.0f64..1.0, -1.0f64..1.5), 0..5),
            c in (-2.0f64..2.0, -2.0f64..2.0),
        ) {
            let mut rows = Rows::of_box(&[-1.0, -1.0], &[1.0, 1.0]);
            for (a, b, offset) in &splits {
                rows.push(&[*a, *b], *offset);
            }
            let inside = |x: f64, y: f64, slack: f64| (0..rows.len()).all(|i| {
                let (normal, offset) = rows.row(i);
                normal[0] * x + normal[1] * y <= offset + slack
            });
            let value = |x: f64, y: f64| c.0 * x + c.1 * y;
            let mut best = f64::NEG_INFINITY;
            for (i, j) in (0..=40).flat_map(|i| (0..=40).map(move |j| (i as f64 / 20.0 - 1.0, j as f64 / 20.0 - 1.0))) {
                if inside(i, j, 0.0) {
                    best = best.max(value(i, j));
                }
            }
            let mut corner = f64::NEG_INFINITY;
            for a in 0..rows.len() {
                for b in 0..a {
                    let ((p, u), (q, v)) = (rows.row(a), rows.row(b));
                    let determinant = p[0] * q[1] - p[1] * q[0];
                    if determinant.abs() > 1e-6 {
                        let (x, y) = ((u * q[1] - v * p[1]) / determinant, (p[0] * v - q[0] * u) / determinant);
                        if inside(x, y, 1e-9) {
                            corner = corner.max(value(x, y));
                        }
                    }
                }
            }
            match rows.maximum(&[c.0, c.1]) {
                Support::Empty => prop_assert!(best == f64::NEG_INFINITY),
                Support::AtMost(bound) => {
                    prop_assert!(bound >= best, "{bound} below {best}");
                    if corner.is_finite() {
                        prop_assert!(bound <= corner + 1e-4, "{bound} far above {corner}");
                    }
                }
            }
        }
    }
}
