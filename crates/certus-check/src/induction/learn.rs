//! A direction along which all of some differences go down, by linear programming.

use certus_numerics::conic::{Cone, ConicProgram, Matrix, Settings, Status};

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
    // Every difference goes down by the margin, which is the last variable; coefficients and margin are at most one.
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(differences.len() + 2 * columns);
    for own in differences {
        let moving = used.iter().enumerate().filter(|&(_, &place)| own[place] != 0.0);
        let mut row: Vec<(usize, f64)> = moving.map(|(column, &place)| (column, own[place] / widths[place])).collect();
        row.push((columns - 1, 1.0));
        rows.push(row);
    }
    for column in 0..used.len() {
        rows.extend([vec![(column, 1.0)], vec![(column, -1.0)]]);
    }
    rows.push(vec![(columns - 1, 1.0)]);
    let mut limits = vec![0.0; differences.len()];
    limits.resize(rows.len(), 1.0);
    let mut objective = vec![0.0; columns];
    objective[columns - 1] = -1.0;
    let matrix = Matrix::from_rows(columns, rows.iter().map(Vec::as_slice));
    let program = ConicProgram { objective, matrix, limits, cones: vec![Cone::Nonnegative(rows.len())] };
    let solution = program.solve(Settings::default())?;
    if solution.status != Status::Solved {
        return None;
    }
    let mut coefficients = vec![0.0; dimension];
    for (column, &place) in used.iter().enumerate() {
        coefficients[place] = solution.x[column] / widths[place];
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
