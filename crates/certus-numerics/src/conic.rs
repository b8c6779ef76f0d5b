//! Conic programs, solved by Clarabel's interior-point method.
//!
//! P. J. Goulart and Y. Chen, 'Clarabel: an interior-point solver for conic programs with quadratic objectives' (2024). A program minimises
//! `c·x` where `A x + s = b` and `s` lies in a product of cones. This wrapper is the one place where Certus calls the solver, so that
//! its settings, statuses and the LAPACK routines that its semidefinite cones need are handled once.
//!
//! *Soundness.* Nothing here is a proof. Callers treat a solution as a suggestion and establish what they claim by other means: a backward
//! bound with the multipliers, a check in rational arithmetic, an evaluation of the candidate.

use std::time::Instant;

// The BLAS and LAPACK routines that Clarabel's semidefinite cones call.
use certus_lapack as _;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// A cone for consecutive rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cone {
    /// So many rows with equality.
    Zero(usize),
    /// So many rows with `≤`.
    Nonnegative(usize),
    /// The upper triangle, column by column, of a positive semidefinite matrix of so many rows; entries off the diagonal are multiplied by √2.
    Semidefinite(usize),
}

impl Cone {
    /// How many rows of the program belong to it.
    pub fn rows(self) -> usize {
        match self {
            Cone::Zero(rows) | Cone::Nonnegative(rows) => rows,
            Cone::Semidefinite(size) => size * (size + 1) / 2,
        }
    }
}

/// A sparse matrix in compressed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    starts: Vec<usize>,
    places: Vec<usize>,
    values: Vec<f64>,
}

impl Matrix {
    /// From the entries (column, value) of each row; entries of one row and column are added.
    pub fn from_rows<'a>(columns: usize, rows: impl IntoIterator<Item = &'a [(usize, f64)]>) -> Matrix {
        let mut by_column: Vec<Vec<(usize, f64)>> = vec![Vec::new(); columns];
        let mut count = 0;
        for (place, row) in rows.into_iter().enumerate() {
            count += 1;
            for &(column, value) in row {
                match by_column[column].last_mut() {
                    Some((last, sum)) if *last == place => *sum += value,
                    _ => by_column[column].push((place, value)),
                }
            }
        }
        let mut matrix = Matrix { rows: count, starts: vec![0], places: Vec::new(), values: Vec::new() };
        for column in by_column {
            matrix.places.extend(column.iter().map(|entry| entry.0));
            matrix.values.extend(column.iter().map(|entry| entry.1));
            matrix.starts.push(matrix.places.len());
        }
        matrix
    }

    /// From entries (column, row, value) in any order; entries of one place are added.
    pub fn from_triplets(rows: usize, columns: usize, mut triplets: Vec<(usize, usize, f64)>) -> Matrix {
        triplets.sort_unstable_by_key(|&(column, row, _)| (column, row));
        let mut matrix = Matrix { rows, starts: vec![0; columns + 1], places: Vec::new(), values: Vec::new() };
        let mut last = None;
        for (column, row, value) in triplets {
            debug_assert!(row < rows && column < columns, "an entry lies in the matrix");
            match matrix.values.last_mut() {
                Some(sum) if last == Some((column, row)) => *sum += value,
                _ => {
                    last = Some((column, row));
                    matrix.places.push(row);
                    matrix.values.push(value);
                    matrix.starts[column + 1] += 1;
                }
            }
        }
        for column in 0..columns {
            matrix.starts[column + 1] += matrix.starts[column];
        }
        matrix
    }
}

/// Minimise `objective · x` where `matrix · x + s = limits` and s lies in the cones, which follow each other row by row.
#[derive(Clone, Debug)]
pub struct ConicProgram {
    /// The coefficients of what is minimised.
    pub objective: Vec<f64>,
    /// The coefficients of the rows.
    pub matrix: Matrix,
    /// The right-hand sides of the rows.
    pub limits: Vec<f64>,
    /// The cones.
    pub cones: Vec<Cone>,
}

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The largest number of interior-point steps.
    pub iterations: u32,
    /// The tolerance of feasibility and of the duality gap.
    pub tolerance: f64,
    /// When to stop.
    pub deadline: Option<Instant>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { iterations: 200, tolerance: 1e-8, deadline: None }
    }
}

/// How the method ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Optimal, possibly with a reduced accuracy.
    Solved,
    /// No point satisfies all rows; the multipliers show it.
    Infeasible,
    /// The objective has no lower bound.
    Unbounded,
    /// Ended by the limit of steps, by the deadline or by numerical trouble.
    Stopped,
}

/// Where the method ended.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub status: Status,
    /// The variables.
    pub x: Vec<f64>,
    /// The multipliers of the rows.
    pub multipliers: Vec<f64>,
    /// The number of steps taken.
    pub iterations: u32,
}

impl ConicProgram {
    /// Solves the program; nothing where the solver refuses its data.
    pub fn solve(&self, settings: Settings) -> Option<Solution> {
        let (rows, columns) = (self.limits.len(), self.objective.len());
        debug_assert!(self.matrix.rows == rows && self.matrix.starts.len() == columns + 1, "the shapes agree");
        debug_assert!(self.cones.iter().map(|cone| cone.rows()).sum::<usize>() == rows, "every row has a cone");
        let Matrix { starts, places, values, .. } = &self.matrix;
        let matrix = CscMatrix::new(rows, columns, starts.clone(), places.clone(), values.clone());
        let cones: Vec<SupportedConeT<f64>> = self
            .cones
            .iter()
            .map(|&cone| match cone {
                Cone::Zero(rows) => SupportedConeT::ZeroConeT(rows),
                Cone::Nonnegative(rows) => SupportedConeT::NonnegativeConeT(rows),
                Cone::Semidefinite(size) => SupportedConeT::PSDTriangleConeT(size),
            })
            .collect();
        let time_limit = settings
            .deadline
            .map_or(f64::INFINITY, |deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64());
        let options = DefaultSettings {
            verbose: false,
            max_iter: settings.iterations,
            max_threads: 1,
            presolve_enable: false,
            chordal_decomposition_enable: false,
            tol_gap_abs: settings.tolerance,
            tol_gap_rel: settings.tolerance,
            tol_feas: settings.tolerance,
            time_limit,
            ..DefaultSettings::default()
        };
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver =
            DefaultSolver::new(&quadratic, &self.objective, &matrix, &self.limits, &cones, options).ok()?;
        solver.solve();
        let solution = solver.solution;
        let status = match solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => Status::Solved,
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => Status::Infeasible,
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => Status::Unbounded,
            _ => Status::Stopped,
        };
        Some(Solution { status, x: solution.x, multipliers: solution.z, iterations: solution.iterations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_program_and_its_multipliers() {
        // The largest x + y with x ≤ 1, y ≤ 2, x + y ≤ 2.5.
        let rows: [&[(usize, f64)]; 3] = [&[(0, 1.0)], &[(1, 1.0)], &[(0, 1.0), (1, 1.0)]];
        let program = ConicProgram {
            objective: vec![-1.0, -1.0],
            matrix: Matrix::from_rows(2, rows),
            limits: vec![1.0, 2.0, 2.5],
            cones: vec![Cone::Nonnegative(3)],
        };
        let found = program.solve(Settings::default()).unwrap();
        assert_eq!(found.status, Status::Solved);
        assert!((found.x[0] + found.x[1] - 2.5).abs() < 1e-6 && (found.multipliers[2] - 1.0).abs() < 1e-5);
        let down = ConicProgram { objective: vec![1.0, 0.0], ..program };
        assert_eq!(down.solve(Settings::default()).unwrap().status, Status::Unbounded);
    }

    #[test]
    fn contradicting_rows_are_infeasible() {
        let program = ConicProgram {
            objective: vec![0.0],
            matrix: Matrix::from_triplets(2, 1, vec![(0, 1, -2.0), (0, 0, 1.0), (0, 1, 1.0)]),
            limits: vec![0.0, -1.0],
            cones: vec![Cone::Nonnegative(2)],
        };
        assert_eq!(program.solve(Settings::default()).unwrap().status, Status::Infeasible);
    }

    #[test]
    fn a_semidefinite_program() {
        // The least t with [t 1; 1 1] positive semidefinite: 1.
        let program = ConicProgram {
            objective: vec![1.0],
            matrix: Matrix::from_triplets(3, 1, vec![(0, 0, -1.0)]),
            limits: vec![0.0, std::f64::consts::SQRT_2, 1.0],
            cones: vec![Cone::Semidefinite(2)],
        };
        let found = program.solve(Settings::default()).unwrap();
        assert!(found.status == Status::Solved && (found.x[0] - 1.0).abs() < 1e-6, "{found:?}");
    }
}
