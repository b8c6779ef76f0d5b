//! The linear program of a goal: minimise s where every row is at most s, within the relaxations of all unstable neurons and
//! the split constraints. Solved by the dual simplex method, or by an interior point method where that fails.

use certus_graph::Interval;
use certus_graph::ops::Family;
use certus_numerics::conic::{Cone, ConicProgram, Matrix, Settings, Status};

use super::expressions::{Expressions, Variable, unstable};
use super::simplex::{Dense, Vertex};
use crate::bound::goal::{Goal, Row};
use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;
use crate::relaxation::{Alpha, product_planes};

/// What a constraint of the program comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Origin {
    /// An input or an enclosed element stays in its range.
    Range,
    /// A row of the goal, by its place there.
    Row(usize),
    /// A multiplier of the goal, by its place there.
    Multiplier(usize),
    /// A line below a variable, by the alpha that gives it.
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
    /// From where further constraints can be tried.
    vertex: Option<(Dense, Vertex)>,
}

/// Alphas whose lines are offered to the program: two where all others are mixtures of them.
const ENDS: [f64; 2] = [0.0, 1.0];
const SEVERAL: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A bound above this share of how much the rows vary is as good as any.
const ENOUGH: f64 = 1e-6;

/// A split that gains nothing on one side is not quite worth nothing.
const LEAST_GAIN: f64 = 1e-6;

/// Rows of the goal that are tried as the first.
const MOST_FIRST_ROWS: usize = 8;

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
            if unstable(program, bounds, variable.node, variable.element, 0) {
                let element = variable.element;
                problem.add_lines(program, own, place, &|node| bounds.interval(node, element, 0));
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

    /// The lines below and above a curve or product whose arguments have these ranges.
    fn add_lines(&mut self, program: &Program, own: &Expressions, place: usize, range: &dyn Fn(usize) -> Interval) {
        let (node, element) = (own.variables[place].node, own.variables[place].element);
        let value = own.of(node, element);
        match &program.roles[node] {
            Role::Curve(curve, argument) => {
                let relu = matches!(curve.family(), Some(Family::Breakpoint { .. }));
                let default = curve.default_alpha(range(*argument));
                let alphas: &[f64] = if relu { &ENDS } else { &SEVERAL };
                let alphas = alphas.iter().map(|&t| Alpha { lower: t, upper: t }).chain((!relu).then_some(default));
                let (mut below, mut above) = (Vec::new(), Vec::new());
                for alpha in alphas {
                    let lines = curve.relax(range(*argument), alpha);
                    below.push((alpha.lower, [lines.lower_slope, 0.0, lines.lower_offset]));
                    above.push((alpha.upper, [lines.upper_slope, 0.0, lines.upper_offset]));
                }
                self.add_planes(place, value, (own.of(*argument, element), None), below, above);
            }
            Role::Product(left, right) => {
                let planes =
                    ENDS.map(|t| (t, product_planes(range(*left), range(*right), Alpha { lower: t, upper: t })));
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
            for (index, &(alpha, plane)) in planes.iter().enumerate() {
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
                let origin = if sign > 0.0 { Origin::Below(place, alpha) } else { Origin::Above(place, alpha) };
                self.add(origin, &sum, (0.0, 0.0));
            }
        }
    }

    /// Solves the program; nothing where all methods fail. With `enough`, a positive bound may end it early.
    pub(super) fn solve(&self, enough: bool) -> Option<Solution> {
        self.by_dual_simplex(enough).or_else(|| self.by_interior_point())
    }

    /// Solves the program by the dual simplex method.
    pub(super) fn by_dual_simplex(&self, enough: bool) -> Option<Solution> {
        tracing::trace!(target: "certus::count", dual_simplex_solves = 1_u64);
        let columns = self.columns;
        let mut rows = vec![0.0; self.rows.len() * columns];
        for (entries, row) in self.rows.iter().zip(rows.chunks_exact_mut(columns)) {
            entries.iter().for_each(|&(column, value)| row[column] = value);
        }
        let dense = Dense { columns, rows, limits: self.limits.clone() };
        let enough = if enough { ENOUGH - self.base / self.scale } else { f64::INFINITY };
        let vertex = dense.solve(self.first_rows(&dense)?, enough)?;
        let duals = vertex.duals.iter().map(|&(row, dual)| (self.origins[row], dual / self.norms[row] * self.scale));
        Some(Solution {
            value: match vertex.infeasible {
                true => f64::INFINITY,
                false => self.base + self.scale * vertex.at[columns - 1],
            },
            at: vertex.at[..columns - 1].to_vec(),
            scale: self.scale,
            duals: duals.collect(),
            vertex: Some((dense, vertex)),
        })
    }

    /// By how much splitting the argument of a curve at a place brings the optimum nearer to zero, as shares of the whole way: the
    /// product of both sides. Nothing where that cannot be told.
    pub(super) fn strong_branching_score(
        &self,
        program: &Program,
        bounds: &Bounds,
        own: &Expressions,
        solution: &Solution,
        place: usize,
        at: f64,
    ) -> Option<f64> {
        tracing::trace!(target: "certus::count", strong_branching_trials = 1_u64);
        let (dense, vertex) = solution.vertex.as_ref()?;
        let Variable { node, element, .. } = own.variables[place];
        let Role::Curve(_, argument) = &program.roles[node] else { return None };
        let range = bounds.interval(*argument, element, 0);
        let enough = -self.base / self.scale;
        let now = vertex.at[self.columns - 1];
        let gain = |side: Interval, sign: f64| {
            let mut own_rows =
                Problem { origins: Vec::new(), norms: Vec::new(), rows: Vec::new(), limits: Vec::new(), ..*self };
            let mut sum: Vec<f64> = own.of(*argument, element).iter().map(|value| sign * value).collect();
            sum[self.columns - 1] -= sign * at;
            own_rows.add(Origin::Range, &sum, (0.0, 0.0));
            own_rows.add_lines(program, own, place, &|_| side);
            let mut more = dense.clone();
            for (entries, &limit) in own_rows.rows.iter().zip(&own_rows.limits) {
                let start = more.rows.len();
                more.rows.resize(start + self.columns, 0.0);
                entries.iter().for_each(|&(column, value)| more.rows[start + column] = value);
                more.limits.push(limit);
            }
            ((more.at_least(vertex, enough) - now) / (enough - now)).clamp(LEAST_GAIN, 1.0)
        };
        Some(gain(Interval { lo: range.lo, hi: at }, 1.0) * gain(Interval { lo: at, hi: range.hi }, -1.0))
    }

    /// The rows of a first vertex: a row of the goal, and for each variable the limit that its coefficient asks for when the later
    /// ones are replaced by theirs.
    fn first_rows(&self, dense: &Dense) -> Option<Vec<usize>> {
        let last = self.columns - 1;
        let mut limits: Vec<Vec<usize>> = vec![Vec::new(); last];
        for (row, origin) in self.origins.iter().enumerate() {
            match *origin {
                Origin::Range => limits[self.rows[row].first()?.0].push(row),
                Origin::Below(variable, _) | Origin::Above(variable, _) => limits[variable].push(row),
                Origin::Row(_) | Origin::Multiplier(_) => {}
            }
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        let goals = (0..self.rows.len()).filter(|&row| dense.row(row)[last] < 0.0);
        for goal in goals.take(MOST_FIRST_ROWS) {
            let unit = -1.0 / dense.row(goal)[last];
            let mut sum: Vec<f64> = dense.row(goal).iter().map(|value| unit * value).collect();
            let mut bound = -unit * self.limits[goal];
            let mut chosen = vec![goal];
            for variable in (0..last).rev() {
                let wanted = sum[variable];
                let fits = |row: &usize| dense.row(*row)[variable] * wanted <= 0.0 && dense.row(*row)[variable] != 0.0;
                let row = limits[variable].iter().copied().find(fits)?;
                let dual = -wanted / dense.row(row)[variable];
                sum.iter_mut().zip(dense.row(row)).for_each(|(sum, value)| *sum += dual * value);
                bound -= dual * self.limits[row];
                chosen.push(row);
            }
            if best.as_ref().is_none_or(|best| bound > best.0) {
                best = Some((bound, chosen));
            }
        }
        best.map(|best| best.1)
    }

    /// Solves the program by an interior point method (Clarabel).
    pub(super) fn by_interior_point(&self) -> Option<Solution> {
        tracing::trace!(target: "certus::count", interior_point_solves = 1_u64);
        let columns = self.columns;
        let mut objective = vec![0.0; columns];
        objective[columns - 1] = 1.0;
        let program = ConicProgram {
            objective,
            matrix: Matrix::from_rows(columns, self.rows.iter().map(Vec::as_slice)),
            limits: self.limits.clone(),
            cones: vec![Cone::Nonnegative(self.limits.len())],
        };
        let settings = Settings { iterations: MOST_STEPS, tolerance: 1e-10, ..Settings::default() };
        let solution = program.solve(settings)?;
        let infeasible = solution.status == Status::Infeasible;
        if solution.status == Status::Unbounded || solution.multipliers.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let value = match infeasible {
            true => f64::INFINITY,
            false => self.base + self.scale * solution.x[columns - 1],
        };
        if value.is_nan() {
            return None;
        }
        let duals = self.origins.iter().zip(&solution.multipliers).zip(&self.norms);
        let duals = duals.map(|((&origin, &dual), &norm)| (origin, (dual / norm * self.scale).max(0.0))).collect();
        Some(Solution { at: solution.x[..columns - 1].to_vec(), value, scale: self.scale, duals, vertex: None })
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
