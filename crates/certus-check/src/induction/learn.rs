//! A direction along which all of some differences go down, by linear programming.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// Coefficients `v` such that `v · d` is below zero for every difference `d`, and by how much at least: the largest such number
/// where every |v·width| is at most one. Nothing if there are none.
pub fn descent(differences: &[Vec<f64>], widths: &[f64]) -> Option<(Vec<f64>, f64)> {
    let dimension = widths.len();
    // Coordinates that never move are worth nothing.
    let used: Vec<usize> = (0..dimension)
        .filter(|&place| widths[place] > 0.0 && differences.iter().any(|own| own[place] != 0.0))
        .collect();
    if used.is_empty() || differences.is_empty() {
        return None;
    }
    let columns = used.len() + 1;
    let (mut starts, mut rows, mut values) = (vec![0usize], Vec::new(), Vec::new());
    let limits = differences.len();
    let count = limits + 2 * used.len() + 1;
    for (column, &place) in used.iter().enumerate() {
        for (row, own) in differences.iter().enumerate().filter(|(_, own)| own[place] != 0.0) {
            rows.push(row);
            values.push(own[place] / widths[place]);
        }
        rows.extend([limits + 2 * column, limits + 2 * column + 1]);
        values.extend([1.0, -1.0]);
        starts.push(rows.len());
    }
    // The margin: in every difference's row, and at most one.
    rows.extend(0..limits);
    values.extend(std::iter::repeat_n(1.0, limits));
    rows.push(count - 1);
    values.push(1.0);
    starts.push(rows.len());
    let matrix = CscMatrix::new(count, columns, starts, rows, values);
    let mut right = vec![0.0; limits];
    right.extend(std::iter::repeat_n(1.0, count - limits));
    let mut goal = vec![0.0; columns];
    goal[columns - 1] = -1.0;
    let none = CscMatrix::zeros((columns, columns));
    let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
    let cones = [SupportedConeT::NonnegativeConeT(count)];
    let mut solver = DefaultSolver::new(&none, &goal, &matrix, &right, &cones, settings).ok()?;
    solver.solve();
    if !matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return None;
    }
    let mut coefficients = vec![0.0; dimension];
    for (column, &place) in used.iter().enumerate() {
        coefficients[place] = solver.solution.x[column] / widths[place];
    }
    // What the method found is checked, not believed.
    let along = |own: &Vec<f64>| -> f64 { own.iter().zip(&coefficients).map(|(d, c)| d * c).sum() };
    let margin = -differences.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
    (margin > 0.0).then_some((coefficients, margin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_in_a_half_space_have_a_descent() {
        let differences = vec![vec![-1.0, 2.0], vec![-1.0, -2.0], vec![-0.5, 0.1]];
        let (coefficients, margin) = descent(&differences, &[1.0, 1.0]).unwrap();
        assert!(coefficients[0] > 0.9 && coefficients[1].abs() < 0.3 && margin > 0.4, "{coefficients:?} {margin}");
    }

    #[test]
    fn differences_that_cancel_have_none() {
        assert_eq!(descent(&[vec![1.0, 0.0], vec![-1.0, 0.0]], &[1.0, 1.0]), None);
        assert_eq!(descent(&[vec![0.0, 0.0]], &[1.0, 1.0]), None);
    }
}
