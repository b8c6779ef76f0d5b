//! The linear program of a goal: minimise s where every row is at most s, within the lines of all curves and the ranges of the part.

// Linked wherever clarabel is: with its semidefinite cones it calls these routines.
use certus_lapack as _;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::expressions::{Expressions, bends};
use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;
use crate::bound::tune::{Goal, Row};
use crate::relaxation::{Curve, Lean, product_planes};

/// What a constraint of the program comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Origin {
    /// An input or an enclosed element stays in its range.
    Range,
    /// A row of the goal, by its place there.
    Row(usize),
    /// A multiplier of the goal, by its place there.
    Multiplier(usize),
    /// A line below a variable, by the lean that gives it.
    Below(usize, f64),
    /// A line above a variable.
    Above(usize, f64),
}

/// Constraints `coefficients · u ≤ limit`.
pub(super) struct Problem {
    origins: Vec<Origin>,
    /// What each constraint was divided by.
    norms: Vec<f64>,
    rows: Vec<Vec<(usize, f64)>>,
    limits: Vec<f64>,
    columns: usize,
    /// s = base + scale · (last variable).
    base: f64,
    scale: f64,
}

/// Where the program is solved, or why there is nothing.
pub(super) struct Solution {
    /// The values of the variables; meaningless where nothing is feasible.
    pub(super) at: Vec<f64>,
    /// The smallest s, infinite where nothing is feasible.
    pub(super) value: f64,
    /// How much the rows vary over the box; the method's accuracy is relative to it.
    pub(super) scale: f64,
    /// Multipliers of the constraints as they were meant.
    pub(super) duals: Vec<(Origin, f64)>,
}

/// Leans whose lines are offered to the program: two where all others are mixtures of them.
const ENDS: [f64; 2] = [0.0, 1.0];
const SEVERAL: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Steps of the interior point method; it rarely takes thirty.
const MOST_STEPS: u32 = 60;

impl Problem {
    pub(super) fn new(program: &Program, bounds: &Bounds, rows: &[Row], goal: &Goal, own: &Expressions) -> Self {
        let columns = own.width;
        let mut problem = Problem {
            origins: Vec::new(),
            norms: Vec::new(),
            rows: Vec::new(),
            limits: Vec::new(),
            columns,
            base: f64::NEG_INFINITY,
            scale: 0.0,
        };
        let sums: Vec<Vec<f64>> = goal.rows.iter().map(|&(row, _)| combined(&rows[row], own)).collect();
        // With an objective, its row alone is minimised and the others must hold.
        let soft = |place: usize| goal.fixed.is_none_or(|fixed| goal.rows[place].0 == fixed);
        for sum in sums.iter().enumerate().filter(|(place, _)| soft(*place)).map(|(_, sum)| sum) {
            problem.base = problem.base.max(sum[columns - 1]);
            problem.scale = problem.scale.max(sum[..columns - 1].iter().map(|c| c.abs()).sum());
        }
        // Rows that are constant here have no scale; any will do.
        if problem.scale < 1e-280 {
            problem.scale = 1.0;
        }
        for (place, sum) in sums.iter().enumerate() {
            let slack = if soft(place) { (problem.base, problem.scale) } else { (0.0, 0.0) };
            problem.add(Origin::Row(place), sum, slack);
        }
        for (place, multiplier) in goal.multipliers.iter().enumerate() {
            let sign = if multiplier.from_below { -1.0 } else { 1.0 };
            let mut sum: Vec<f64> =
                own.of(multiplier.node, multiplier.element).iter().map(|value| sign * value).collect();
            sum[columns - 1] -= sign * multiplier.end;
            problem.add(Origin::Multiplier(place), &sum, (0.0, 0.0));
        }
        for (place, variable) in own.variables.iter().enumerate() {
            if bends(program, bounds, variable.node, variable.element, 0) {
                problem.add_lines(program, bounds, own, place);
            } else {
                for sign in [1.0, -1.0] {
                    problem.push(Origin::Range, vec![(place, sign)], 1.0, 1.0);
                }
            }
        }
        problem
    }

    /// Adds `sum ≤ base + scale · s`.
    fn add(&mut self, origin: Origin, sum: &[f64], (base, scale): (f64, f64)) {
        let last = self.columns - 1;
        let norm = sum[..last].iter().fold(scale, |norm, value| norm.max(value.abs()));
        // Without any variable it says nothing, or that there is nothing; the latter bounds find by themselves.
        if norm < 1e-280 || !norm.is_finite() {
            return;
        }
        let mut row: Vec<(usize, f64)> = sum[..last]
            .iter()
            .enumerate()
            .filter(|&(_, &value)| value != 0.0)
            .map(|(place, value)| (place, value / norm))
            .collect();
        if scale != 0.0 {
            row.push((last, -scale / norm));
        }
        self.push(origin, row, (base - sum[last]) / norm, norm);
    }

    fn push(&mut self, origin: Origin, row: Vec<(usize, f64)>, limit: f64, norm: f64) {
        if limit.is_finite() {
            self.origins.push(origin);
            self.rows.push(row);
            self.limits.push(limit);
            self.norms.push(norm);
        }
    }

    /// The lines below and above a curve or product.
    fn add_lines(&mut self, program: &Program, bounds: &Bounds, own: &Expressions, place: usize) {
        let (node, element) = (own.variables[place].node, own.variables[place].element);
        let value = own.of(node, element);
        let range = |node: usize| bounds.interval(node, element, 0);
        match &program.roles[node] {
            Role::Curve(curve, argument) => {
                let hinge = matches!(curve, Curve::Relu | Curve::LeakyRelu(_) | Curve::Abs);
                let default = curve.default_lean(range(*argument));
                let leans: &[f64] = if hinge { &ENDS } else { &SEVERAL };
                let leans = leans.iter().map(|&t| Lean { lower: t, upper: t }).chain((!hinge).then_some(default));
                let (mut below, mut above) = (Vec::new(), Vec::new());
                for lean in leans {
                    let lines = curve.lines(range(*argument), lean);
                    below.push((lean.lower, [lines.lower_slope, 0.0, lines.lower_offset]));
                    above.push((lean.upper, [lines.upper_slope, 0.0, lines.upper_offset]));
                }
                self.add_planes(place, value, (own.of(*argument, element), None), below, above);
            }
            Role::Product(left, right) => {
                let planes =
                    ENDS.map(|t| (t, product_planes(range(*left), range(*right), Lean { lower: t, upper: t })));
                let below = planes.iter().map(|(t, planes)| (*t, planes.lower)).collect();
                let above = planes.iter().map(|(t, planes)| (*t, planes.upper)).collect();
                let arguments = (own.of(*left, element), Some(own.of(*right, element)));
                self.add_planes(place, value, arguments, below, above);
            }
            _ => {}
        }
    }

    fn add_planes(
        &mut self,
        place: usize,
        value: &[f64],
        (first, second): (&[f64], Option<&[f64]>),
        below: Vec<(f64, [f64; 3])>,
        above: Vec<(f64, [f64; 3])>,
    ) {
        for (planes, sign) in [(below, 1.0), (above, -1.0)] {
            for (index, &(lean, plane)) in planes.iter().enumerate() {
                // The same line again says nothing new.
                if planes[..index].iter().any(|(_, other)| *other == plane) {
                    continue;
                }
                let mut sum: Vec<f64> =
                    value.iter().zip(first).map(|(value, first)| sign * (plane[0] * first - value)).collect();
                if let Some(second) = second {
                    sum.iter_mut().zip(second).for_each(|(sum, value)| *sum += sign * plane[1] * value);
                }
                sum[self.columns - 1] += sign * plane[2];
                let origin = if sign > 0.0 { Origin::Below(place, lean) } else { Origin::Above(place, lean) };
                self.add(origin, &sum, (0.0, 0.0));
            }
        }
    }

    /// Solves the program; nothing where the method fails.
    pub(super) fn solve(&self) -> Option<Solution> {
        let columns = self.columns;
        let mut objective = vec![0.0; columns];
        objective[columns - 1] = 1.0;
        let settings = DefaultSettings {
            verbose: false,
            max_iter: MOST_STEPS,
            max_threads: 1,
            presolve_enable: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-10,
            tol_feas: 1e-10,
            ..DefaultSettings::default()
        };
        let cones = [SupportedConeT::NonnegativeConeT(self.limits.len())];
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver =
            DefaultSolver::new(&quadratic, &objective, &self.matrix(), &self.limits, &cones, settings).ok()?;
        solver.solve();
        let solution = &solver.solution;
        let infeasible =
            matches!(solution.status, SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible);
        let unbounded = matches!(solution.status, SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible);
        if unbounded || solution.z.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let value = match infeasible {
            true => f64::INFINITY,
            false => self.base + self.scale * solution.x[columns - 1],
        };
        if value.is_nan() {
            return None;
        }
        let duals = self.origins.iter().zip(&solution.z).zip(&self.norms);
        let duals = duals.map(|((&origin, &dual), &norm)| (origin, (dual / norm * self.scale).max(0.0))).collect();
        Some(Solution { at: solution.x[..columns - 1].to_vec(), value, scale: self.scale, duals })
    }

    /// The constraints column by column.
    fn matrix(&self) -> CscMatrix<f64> {
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.columns];
        for (row, entries) in self.rows.iter().enumerate() {
            entries.iter().for_each(|&(column, value)| columns[column].push((row, value)));
        }
        let mut starts = vec![0];
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for column in columns {
            places.extend(column.iter().map(|entry| entry.0));
            values.extend(column.iter().map(|entry| entry.1));
            starts.push(places.len());
        }
        CscMatrix::new(self.rows.len(), self.columns, starts, places, values)
    }

    /// How far the constraints other than rows are exceeded at a point, at most, each in its own unit.
    #[cfg(test)]
    pub(super) fn excess(&self, at: &[f64]) -> f64 {
        let constraints = self.rows.iter().zip(&self.limits).zip(&self.origins);
        let own = constraints.filter(|(_, origin)| !matches!(origin, Origin::Row(_)));
        own.map(|((row, limit), _)| row.iter().map(|&(column, value)| value * at[column]).sum::<f64>() - limit)
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A row as an expression.
fn combined(row: &Row, own: &Expressions) -> Vec<f64> {
    let mut sum = vec![0.0; own.width];
    for &(node, element, coefficient, _) in &row.terms {
        sum.iter_mut().zip(own.of(node, element)).for_each(|(sum, value)| *sum += coefficient * value);
    }
    sum[own.width - 1] += row.constant;
    sum
}
