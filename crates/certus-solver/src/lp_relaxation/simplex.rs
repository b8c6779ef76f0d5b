//! The dual simplex method (Lemke, *The Dual Method of Solving the Linear Programming Problem*, Naval Research Logistics
//! Quarterly 1954) for programs in which every variable has a limit on each side.
//!
//! It minimises the last variable where `row · u ≤ limit` for all rows. A vertex is given by as many rows as there are
//! variables, taken as equalities; it is *dual feasible* if non-negative multiples of these rows add up to a bound of the
//! objective. The method begins with such a vertex and replaces one row after the other by one that the vertex violates;
//! the bound only grows, so it can end as soon as the bound is good enough. The first vertex is what a backward bound is
//! made of: from the last variable to the first, each is replaced by the limit that its coefficient asks for. Strong
//! branching adds rows and goes on from the optimal vertex, which stays dual feasible.
//!
//! *Departures.* Dense tableau with an explicit inverse, Dantzig's rule (the most violated row enters), and a fresh
//! inverse where the multipliers became inaccurate.
//!
//! *Soundness.* Everything is in plain floats, and nothing is believed of the result: multipliers are turned into a sound
//! bound elsewhere.

/// Rows `row · u ≤ limit`, with one more column than there are variables: the last one is minimised.
#[derive(Clone)]
pub(super) struct Dense {
    pub(super) columns: usize,
    /// Row by row.
    pub(super) rows: Vec<f64>,
    pub(super) limits: Vec<f64>,
}

/// How the method ended.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    pub(super) at: Vec<f64>,
    /// The multipliers of rows; those that are left out are zero.
    pub(super) duals: Vec<(usize, f64)>,
    /// Whether the rows contradict each other. The multipliers say how.
    pub(super) infeasible: bool,
    /// From where further rows can be taken into account.
    state: State,
}

/// Rows are satisfied up to this, in units of their largest coefficient.
const FEASIBLE: f64 = 1e-10;

/// Smaller multiples of a row do not count.
const SMALLEST_PIVOT: f64 = 1e-9;

/// The multipliers' sum is right up to this, or everything is computed afresh, so many times.
const ACCURATE: f64 = 1e-8;
const MOST_RESTARTS: usize = 3;

/// Pivots that trying out a few more rows may take.
const MOST_PIVOTS_OF_TRIALS: usize = 30;

impl Dense {
    /// The coefficients of a row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.columns..(row + 1) * self.columns]
    }

    /// Solves the program from a dual feasible set of rows; ends early when the last variable is at least `enough`.
    /// Nothing where numbers fail.
    pub(super) fn solve(&self, start: Vec<usize>, enough: f64) -> Option<Vertex> {
        let mut basis = start;
        let most = 20 * self.columns + 100;
        let mut pivots = 0;
        for _ in 0..MOST_RESTARTS {
            let mut state = State::new(self, &basis)?;
            let infeasible = loop {
                let Some((broken, excess)) = self.most_broken(&state.at) else { break None };
                if state.at[self.columns - 1] >= enough {
                    break None;
                }
                pivots += 1;
                if pivots > most {
                    return None;
                }
                let shares = state.shares(self.row(broken));
                match state.leaving(&shares) {
                    None => break Some((broken, shares)),
                    Some(place) => {
                        state.pivot(place, &shares, excess);
                        basis[place] = broken;
                    }
                }
            };
            if let Some(vertex) = self.finished(&basis, state, infeasible) {
                return Some(vertex);
            }
        }
        None
    }

    /// What the optimum is at least when rows are added behind those that a vertex was found with: after a few pivots.
    pub(super) fn at_least(&self, vertex: &Vertex, enough: f64) -> f64 {
        let mut state = vertex.state.clone();
        let last = self.columns - 1;
        for _ in 0..MOST_PIVOTS_OF_TRIALS {
            let Some((broken, excess)) = self.most_broken(&state.at) else { break };
            if state.at[last] >= enough {
                break;
            }
            let shares = state.shares(self.row(broken));
            match state.leaving(&shares) {
                None => return f64::INFINITY,
                Some(place) => state.pivot(place, &shares, excess),
            }
        }
        state.at[last]
    }

    /// The row that a point breaks most, and by how much.
    fn most_broken(&self, at: &[f64]) -> Option<(usize, f64)> {
        let mut worst: Option<(usize, f64)> = None;
        for (number, (row, limit)) in self.rows.chunks_exact(self.columns).zip(&self.limits).enumerate() {
            let excess = dot(row, at) - limit;
            if excess > worst.map_or(FEASIBLE, |worst| worst.1) {
                worst = Some((number, excess));
            }
        }
        worst
    }

    /// The result, if its multipliers are what they must be.
    fn finished(&self, basis: &[usize], state: State, ray: Option<(usize, Vec<f64>)>) -> Option<Vertex> {
        let infeasible = ray.is_some();
        let mut duals: Vec<(usize, f64)> = match ray {
            None => basis.iter().copied().zip(state.duals()).collect(),
            Some((broken, shares)) => {
                let others = basis.iter().zip(shares).map(|(&row, share)| (row, -share));
                others.chain([(broken, 1.0)]).collect()
            }
        };
        duals.iter_mut().for_each(|dual| dual.1 = dual.1.max(0.0));
        debug_assert!(duals.iter().all(|(row, _)| *row < self.limits.len()), "a multiplier belongs to no row");
        // They add up to minus the objective, or to nothing.
        let mut sum = vec![0.0; self.columns];
        sum[self.columns - 1] = if infeasible { 0.0 } else { 1.0 };
        for &(row, dual) in &duals {
            axpy(&mut sum, dual, self.row(row));
        }
        let size = duals.iter().map(|dual| dual.1).fold(1.0, f64::max);
        let accurate = sum.iter().all(|value| value.abs() <= ACCURATE * size) && state.at.iter().all(|x| x.is_finite());
        accurate.then(|| Vertex { at: state.at.clone(), duals, infeasible, state })
    }
}

/// A vertex and the inverse of its rows.
#[derive(Clone, Debug)]
struct State {
    /// Column i of the inverse: how the vertex moves when the limit of row i does.
    inverse: Vec<Vec<f64>>,
    at: Vec<f64>,
}

impl State {
    /// The vertex of some rows; nothing if they do not have one.
    fn new(program: &Dense, basis: &[usize]) -> Option<State> {
        let count = program.columns;
        // Rows of [M | I] until M is the identity: then the other half is the inverse.
        let mut left: Vec<Vec<f64>> = basis.iter().map(|&row| program.row(row).to_vec()).collect();
        let mut right: Vec<Vec<f64>> = (0..count)
            .map(|row| {
                let mut unit = vec![0.0; count];
                unit[row] = 1.0;
                unit
            })
            .collect();
        for column in 0..count {
            let pivot = (column..count).max_by(|&a, &b| left[a][column].abs().total_cmp(&left[b][column].abs()))?;
            if left[pivot][column].abs() <= 1e-13 || left[pivot][column].is_nan() {
                return None;
            }
            left.swap(column, pivot);
            right.swap(column, pivot);
            let factor = 1.0 / left[column][column];
            left[column].iter_mut().chain(&mut right[column]).for_each(|value| *value *= factor);
            let (own_left, own_right) = (left[column].clone(), right[column].clone());
            for row in (0..count).filter(|&row| row != column) {
                let factor = -left[row][column];
                if factor != 0.0 {
                    axpy(&mut left[row][column..], factor, &own_left[column..]);
                    axpy(&mut right[row], factor, &own_right);
                }
            }
        }
        let inverse: Vec<Vec<f64>> = (0..count).map(|column| right.iter().map(|row| row[column]).collect()).collect();
        let mut at = vec![0.0; count];
        for (&row, column) in basis.iter().zip(&inverse) {
            axpy(&mut at, program.limits[row], column);
        }
        Some(State { inverse, at })
    }

    /// The multipliers of the rows: they add up to minus the objective.
    fn duals(&self) -> impl Iterator<Item = f64> {
        self.inverse.iter().map(|column| -column[column.len() - 1])
    }

    /// A row as a sum of the vertex's rows.
    fn shares(&self, row: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|column| dot(column, row)).collect()
    }

    /// The row that makes room for one with these shares, so that no multiplier becomes negative.
    fn leaving(&self, shares: &[f64]) -> Option<usize> {
        let mut best: Option<(usize, f64, f64)> = None;
        for (place, (&share, dual)) in shares.iter().zip(self.duals()).enumerate() {
            if share <= SMALLEST_PIVOT {
                continue;
            }
            let ratio = dual.max(0.0) / share;
            let better = best.is_none_or(|(_, least, largest)| ratio < least || (ratio == least && share > largest));
            if better {
                best = Some((place, ratio, share));
            }
        }
        best.map(|best| best.0)
    }

    /// Replaces a row by one with these shares, whose limit the vertex exceeds by `excess`.
    fn pivot(&mut self, place: usize, shares: &[f64], excess: f64) {
        let factor = 1.0 / shares[place];
        let mut own = std::mem::take(&mut self.inverse[place]);
        own.iter_mut().for_each(|value| *value *= factor);
        for (column, &share) in self.inverse.iter_mut().zip(shares).filter(|(column, _)| !column.is_empty()) {
            if share != 0.0 {
                axpy(column, -share, &own);
            }
        }
        axpy(&mut self.at, -excess, &own);
        self.inverse[place] = own;
    }
}

/// Lanes in which sums are kept apart, so that they can be added up side by side.
const LANES: usize = 8;

fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (left_chunks, right_chunks) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest: f64 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(l, r)| l * r).sum();
    for (left, right) in left_chunks.zip(right_chunks) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn axpy(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}
