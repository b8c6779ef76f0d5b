//! Increments that stay in a cone and shrink, for ever.
//!
//! In coordinates c = R·δ whose first one is along the slowest direction, a cone is {c₁ > 0, |cᵢ| ≤ w·c₁}. If M = R·D·R⁻¹ for every matrix D that is allowed, then
//! Dδ is in the cone for every δ in it as soon as |Mᵢ₁| + w·Σ|Mᵢⱼ| ≤ w·(M₁₁ − w·Σ|M₁ⱼ|), and c₁ shrinks by M₁₁ + w·Σ|M₁ⱼ| at most. R is
//! found in floats and then taken as it is; what follows from it is computed with intervals.

use certus_graph::Interval;

/// What a cone says of all increments to come.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cone {
    /// The sum of any number of them.
    pub(super) displacement: Vec<Interval>,
    /// Each one, up to a positive factor.
    pub(super) direction: Vec<Interval>,
}

type Matrix = Vec<Vec<Interval>>;

/// How the further coordinates are stretched: where directions are not at right angles, that makes matrices nearly diagonal.
const STRETCHES: [f64; 3] = [1.0, 0.125, 0.015625];

/// How wide cones are.
const WIDTHS: [f64; 7] = [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0];

/// Rounds that it takes to find directions.
const ROUNDS: usize = 200;

impl Cone {
    /// A cone that contains an increment, and with it all that follow as long as slopes are those that are given. Whether they are is for the
    /// caller to see, from the displacement.
    pub(super) fn around(slopes: &[Vec<Interval>], increment: &[Interval]) -> Option<Cone> {
        let basis = directions(slopes)?;
        STRETCHES.iter().find_map(|&stretch| {
            let size = slopes.len();
            let stretched = |j: usize| stretch.powi(j as i32);
            let forward: Vec<Vec<f64>> =
                (0..size).map(|i| (0..size).map(|j| basis[j][i] * stretched(j)).collect()).collect();
            let back: Vec<Vec<f64>> =
                (0..size).map(|i| (0..size).map(|j| basis[i][j] / stretched(i)).collect()).collect();
            let forward = inverse(&back, &forward)?;
            let back: Matrix =
                back.iter().map(|row| row.iter().map(|&value| Interval::point(value)).collect()).collect();
            let mapped = product(&product(&back, slopes), &forward);
            let coordinates = product(&back, &increment.iter().map(|&value| vec![value]).collect::<Matrix>());
            let coordinates: Vec<Interval> = coordinates.into_iter().map(|row| row[0]).collect();
            WIDTHS.iter().find_map(|&width| Cone::of(&mapped, &forward, &coordinates, width))
        })
    }

    fn of(mapped: &Matrix, forward: &Matrix, coordinates: &[Interval], width: f64) -> Option<Cone> {
        let first = coordinates[0];
        let (sign, first) = if first.hi < 0.0 { (-Interval::ONE, -first) } else { (Interval::ONE, first) };
        let width = Interval::point(width);
        let inside = |own: &Interval| own.magnitude() <= (width * Interval::point(first.lo)).lo;
        if !(first.lo > 0.0 && coordinates[1..].iter().all(inside)) {
            return None;
        }
        let others = |row: &[Interval]| row[1..].iter().fold(Interval::ZERO, |sum, own| sum + own.abs());
        let least = mapped[0][0] - width * others(&mapped[0]);
        let most = mapped[0][0] + width * others(&mapped[0]);
        let kept = |row: &Vec<Interval>| (row[0].abs() + width * others(row)).hi <= (width * least).lo;
        if !(least.lo > 0.0 && most.hi < 1.0 && mapped[1..].iter().all(kept)) {
            return None;
        }
        let total = (Interval::point(first.hi) / (Interval::ONE - Interval::point(most.hi))).hi;
        let along = |row: &Vec<Interval>| {
            let side = Interval::new(-width.hi, width.hi);
            sign * row[1..].iter().fold(row[0], |sum, &own| sum + own * side)
        };
        let direction: Vec<Interval> = forward.iter().map(along).collect();
        let displacement = direction.iter().map(|&own| own * Interval::new(0.0, total)).collect();
        Some(Cone { displacement, direction })
    }
}

fn product(left: &[Vec<Interval>], right: &[Vec<Interval>]) -> Matrix {
    let entry = |row: &Vec<Interval>, column: usize| {
        row.iter().zip(right).fold(Interval::ZERO, |sum, (&own, other)| sum + own * other[column])
    };
    let columns = right.first().map_or(0, Vec::len);
    left.iter().map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect()
}

/// An enclosure of R⁻¹, from something near it: R⁻¹ = P·(R·P)⁻¹, and R·P is nearly one.
fn inverse(matrix: &[Vec<f64>], near: &[Vec<f64>]) -> Option<Matrix> {
    let points = |matrix: &[Vec<f64>]| -> Matrix {
        matrix.iter().map(|row| row.iter().map(|&value| Interval::point(value)).collect()).collect()
    };
    let (matrix, near) = (points(matrix), points(near));
    let mut error = 0.0f64;
    for (i, row) in product(&matrix, &near).iter().enumerate() {
        for (j, &own) in row.iter().enumerate() {
            let expected = if i == j { Interval::ONE } else { Interval::ZERO };
            error = error.max((own - expected).magnitude());
        }
    }
    // Entries of the k-th power of the error are at most nᵏ⁻¹·errorᵏ.
    let size = Interval::point(matrix.len() as f64);
    let error = Interval::point(error);
    let rest = Interval::ONE - size * error;
    if rest.lo.is_nan() || rest.lo <= 0.5 {
        return None;
    }
    let off = (error / rest).hi;
    let corrections: Matrix = (0..matrix.len())
        .map(|i| (0..matrix.len()).map(|j| if i == j { Interval::ONE } else { Interval::ZERO }.widen(off)).collect())
        .collect();
    Some(product(&near, &corrections))
}

/// Directions at right angles, of which the first few span what a matrix shrinks least; by repeated multiplication, in floats.
fn directions(slopes: &[Vec<Interval>]) -> Option<Vec<Vec<f64>>> {
    let size = slopes.len();
    let matrix: Vec<Vec<f64>> =
        slopes.iter().map(|row| row.iter().map(|own| own.lo / 2.0 + own.hi / 2.0).collect()).collect();
    // No direction is a coordinate's own, so that none is missed.
    let mut basis: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| if i == j { 1.0 } else { 0.01 * (1 + i + 2 * j) as f64 }).collect())
        .collect();
    for _ in 0..ROUNDS {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut fresh: Vec<Vec<f64>> = Vec::with_capacity(size);
        for (place, direction) in basis.iter().enumerate() {
            let mut moved: Vec<f64> = matrix.iter().map(|row| dot(row, direction)).collect();
            if dot(&moved, &moved) == 0.0 {
                moved = direction.clone();
            }
            // Twice, since what is left after once may be mostly rounding.
            for _ in 0..2 {
                for own in &fresh {
                    let share = dot(own, &moved);
                    moved.iter_mut().zip(own).for_each(|(moved, own)| *moved -= share * own);
                }
                let length = dot(&moved, &moved).sqrt();
                if !(length > 0.0 && length.is_finite()) {
                    moved = (0..size).map(|j| f64::from(u8::from(j == place))).collect();
                    continue;
                }
                moved.iter_mut().for_each(|value| *value /= length);
            }
            fresh.push(moved);
        }
        basis = fresh;
    }
    basis.iter().flatten().all(|value| value.is_finite()).then_some(basis)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thin(matrix: [[f64; 2]; 2], width: f64) -> Matrix {
        matrix.iter().map(|row| row.iter().map(|&value| Interval::point(value).widen(width)).collect()).collect()
    }

    /// Eigenvalues 0.79 and −0.56, far from right angles: a pendulum under a network.
    const PENDULUM: [[f64; 2]; 2] = [[0.6754, -0.0221], [-6.4922, -0.4422]];

    #[test]
    fn a_settling_pendulum_never_turns_back() {
        let increment = [Interval::point(-0.0209), Interval::point(0.110)];
        let cone = Cone::around(&thin(PENDULUM, 1e-4), &increment).unwrap();
        assert!(cone.direction[0].hi < 0.0 && cone.direction[1].lo > 0.0);
    }

    #[test]
    fn runs_that_turn_grow_or_change_sides_have_no_cone() {
        let increment = [Interval::point(1.0), Interval::point(0.1)];
        for matrix in [[[0.5, -0.5], [0.5, 0.5]], [[1.1, 0.0], [0.0, 0.5]], [[-0.9, 0.0], [0.0, 0.5]]] {
            assert_eq!(Cone::around(&thin(matrix, 0.0), &increment), None);
        }
    }

    proptest! {
        #[test]
        fn increments_are_where_the_cone_says(
            slow in 0.5..0.95f64, fast in -0.4..0.4f64, shear in -3.0..3.0f64, side in -0.2..0.2f64, noise in 0.0..1e-3f64,
            shares in prop::collection::vec(prop::array::uniform4(-1.0..=1.0f64), 60),
        ) {
            let matrix = [[slow, shear], [0.0, fast]];
            let increment = [1.0, side];
            let Some(cone) = Cone::around(&thin(matrix, noise), &increment.map(Interval::point)) else { return Ok(()) };
            let (mut sum, mut own) = ([0.0; 2], increment);
            for share in shares {
                for i in 0..2 {
                    sum[i] += own[i];
                    prop_assert!(cone.displacement[i].widen(1e-9).contains(sum[i]));
                    let direction = cone.direction[i];
                    prop_assert!((direction.lo <= 0.0 || own[i] > 0.0) && (direction.hi >= 0.0 || own[i] < 0.0));
                }
                let entry = |i: usize, j: usize| matrix[i][j] + noise * share[2 * i + j];
                own = [entry(0, 0) * own[0] + entry(0, 1) * own[1], entry(1, 0) * own[0] + entry(1, 1) * own[1]];
            }
        }
    }
}
