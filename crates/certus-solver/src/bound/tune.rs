//! Better multipliers and lines for one objective per box.
//!
//! The objective of a column is a weighted sum of rows (atoms that must be ≤ 0) plus multipliers of the part's ranges. Its backward bound
//! depends on the weights, the multipliers and the leans of all curves and products, and is concave enough in them to
//! climb: a backward substitution gives the minimiser x* at the inputs, a forward pass through the lines that were chosen
//! gives every node's value there, and these are the derivatives. Each step ends in an ordinary backward bound, so whatever the
//! steps do, the best bound seen is sound.

use certus_graph::Interval;

use super::TINY;
use super::backward::{LowerBounds, Objectives, Pull, minimise};
use super::program::{Program, Role};
use super::table::{Bounds, Range};
use crate::relaxation::{Curve, Lean, product_planes};

/// A linear function of nodes' values that must be ≤ 0.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Node, element, coefficient, and how far the coefficient may be from the one meant.
    pub(crate) terms: Vec<(usize, usize, f64, f64)>,
    /// The lower end of the constant.
    pub(crate) constant: f64,
    /// Whether zero is excluded.
    pub(crate) strict: bool,
}

/// A multiplier of one end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Multiplier {
    pub(crate) node: usize,
    pub(crate) element: usize,
    /// The end of the range: value ≤ end, or value ≥ end where `from_below`.
    pub(crate) end: f64,
    pub(crate) from_below: bool,
    /// At least zero.
    pub(crate) weight: f64,
}

/// What a column is to show: that these rows and ranges cannot hold together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goal {
    /// Numbers of rows, each with its weight; the weights sum to one.
    pub(crate) rows: Vec<(usize, f64)>,
    /// The ends of the part's ranges.
    pub(crate) multipliers: Vec<Multiplier>,
    /// A row whose weight stays as it is while the others grow freely (an objective to bound).
    pub(crate) fixed: Option<usize>,
}

impl Goal {
    /// Multipliers of the given ranges, with the weights that a larger part found.
    pub(crate) fn multipliers_of(ranges: &[Range], warm: &[Multiplier]) -> Vec<Multiplier> {
        let ends = ranges.iter().flat_map(|range| {
            let below = range.lo.is_finite().then_some((range.lo, true));
            let above = range.hi.is_finite().then_some((range.hi, false));
            below.into_iter().chain(above).map(|(end, from_below)| (range.node, range.element, end, from_below))
        });
        ends.map(|(node, element, end, from_below)| {
            let same = |m: &&Multiplier| m.node == node && m.element == element && m.from_below == from_below;
            let weight = warm.iter().find(same).map_or(0.0, |m| m.weight);
            Multiplier { node, element, end, from_below, weight }
        })
        .collect()
    }
}

/// A place where cutting the range of an element promises to help.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) node: usize,
    pub(crate) element: usize,
    pub(crate) at: f64,
    pub(crate) score: f64,
}

/// What tuning found for one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuned {
    pub(crate) bound: f64,
    /// The linear function at the inputs that gave the bound, and its constant.
    pub(crate) line: Vec<f64>,
    pub(crate) constant: f64,
    /// What gave the bound.
    pub(crate) rows: Vec<(usize, f64)>,
    pub(crate) multipliers: Vec<Multiplier>,
    pub(crate) leans: Vec<(usize, usize, Lean)>,
    /// The most promising cuts, best first.
    pub(crate) cuts: Vec<Cut>,
}

/// How to climb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Climb {
    pub(crate) steps: usize,
    /// Keep the leans that gave the best bound (for certificates and for parts inside).
    pub(crate) keep_leans: bool,
    /// How many cuts to suggest.
    pub(crate) cuts: usize,
}

const LEAN_STEP: f64 = 0.25;
const WEIGHT_STEP: f64 = 0.3;
const STEP_DECAY: f64 = 0.88;
const MOMENTUM: f64 = 0.8;
const VARIANCE: f64 = 0.98;

/// First and second moments of a gradient (Adam).
#[derive(Clone, Copy, Default)]
struct Moments {
    first: f64,
    second: f64,
}

impl Moments {
    /// The normalised step, about one in size.
    fn step(&mut self, gradient: f64, iteration: i32) -> f64 {
        self.first = MOMENTUM * self.first + (1.0 - MOMENTUM) * gradient;
        self.second = VARIANCE * self.second + (1.0 - VARIANCE) * gradient * gradient;
        let first = self.first / (1.0 - MOMENTUM.powi(iteration));
        let second = self.second / (1.0 - VARIANCE.powi(iteration));
        if second > 0.0 && second.is_finite() { first / second.sqrt() } else { 0.0 }
    }
}

/// A lean that may move.
struct Cell {
    node: usize,
    at: usize,
    lean: Lean,
    lower: Moments,
    upper: Moments,
}

/// Climbs for every column; box i of the table belongs to goal i.
pub(crate) fn tune(
    program: &Program,
    bounds: &mut Bounds,
    rows: &[Row],
    goals: Vec<Goal>,
    climb: Climb,
    stop: &dyn Fn() -> bool,
) -> Vec<Tuned> {
    let columns = goals.len();
    let mut tuner = Tuner::new(program, bounds, rows, goals);
    for iteration in 0..=climb.steps {
        let lower = tuner.bound(bounds);
        let improved = tuner.record(&lower, climb.keep_leans);
        let last = iteration == climb.steps || tuner.done() || (iteration > 0 && stop());
        if last && climb.cuts == 0 {
            break;
        }
        let values = tuner.values(bounds, &lower);
        if climb.cuts > 0 {
            for column in (0..columns).filter(|&column| improved[column]) {
                tuner.best[column].cuts = tuner.cuts(bounds, &lower, &values, column, climb.cuts);
            }
        }
        if last {
            break;
        }
        tuner.step(bounds, &lower, &values, iteration);
    }
    tuner.best
}

/// The bound of one goal over the one box of a table with given leans (default ones where they are no numbers), without any steps.
pub(crate) fn certify(
    program: &Program,
    bounds: &mut Bounds,
    rows: &[Row],
    goal: Goal,
    leans: &[(usize, usize, Lean)],
    keep_leans: bool,
) -> Tuned {
    let mut tuner = Tuner::new(program, bounds, rows, vec![goal]);
    for cell in &mut tuner.cells {
        if let Some((.., lean)) = leans.iter().find(|(node, element, _)| (*node, *element) == (cell.node, cell.at)) {
            let or = |value: f64, default: f64| if value.is_nan() { default } else { value.clamp(0.0, 1.0) };
            cell.lean = Lean { lower: or(lean.lower, cell.lean.lower), upper: or(lean.upper, cell.lean.upper) };
        }
    }
    for cells in tuner.cells.chunk_by(|a, b| a.node == b.node) {
        bounds.set_lines(program, cells[0].node);
        for cell in cells {
            bounds.turn_line(program, cell.node, cell.at, true, cell.lean.lower);
            bounds.turn_line(program, cell.node, cell.at, false, cell.lean.upper);
        }
    }
    let lower = tuner.bound(bounds);
    tuner.record(&lower, keep_leans);
    tuner.best.pop().unwrap_or_default()
}

struct Tuner<'a> {
    program: &'a Program,
    rows: &'a [Row],
    goals: Vec<Goal>,
    cells: Vec<Cell>,
    row_moments: Vec<Vec<Moments>>,
    multiplier_moments: Vec<Vec<Moments>>,
    best: Vec<Tuned>,
    from: usize,
    scratch: Vec<f64>,
}

impl<'a> Tuner<'a> {
    fn new(program: &'a Program, bounds: &Bounds, rows: &'a [Row], goals: Vec<Goal>) -> Self {
        let mut cells = Vec::new();
        for (node, role) in program.roles.iter().enumerate() {
            let movable = |at: usize| -> Option<Lean> {
                match role {
                    Role::Curve(curve, argument) => {
                        let range = Interval::new(bounds.lower[*argument][at], bounds.upper[*argument][at]);
                        (!curve.is_linear(range)).then(|| curve.default_lean(range))
                    }
                    Role::Product(left, right) => {
                        let wide = |argument: usize| bounds.lower[argument][at] < bounds.upper[argument][at];
                        (wide(*left) && wide(*right)).then_some(Lean { lower: 0.5, upper: 0.5 })
                    }
                    _ => None,
                }
            };
            for at in 0..program.sizes[node] * bounds.boxes {
                if let Some(lean) = movable(at) {
                    cells.push(Cell { node, at, lean, lower: Moments::default(), upper: Moments::default() });
                }
            }
        }
        let row_moments = goals.iter().map(|goal| vec![Moments::default(); goal.rows.len()]).collect();
        let multiplier_moments = goals.iter().map(|goal| vec![Moments::default(); goal.multipliers.len()]).collect();
        let nodes_of = |goal: &Goal| -> Option<usize> {
            let rows = goal.rows.iter().flat_map(|&(row, _)| rows[row].terms.iter().map(|term| term.0));
            rows.chain(goal.multipliers.iter().map(|m| m.node)).max()
        };
        let from = goals.iter().filter_map(nodes_of).max().unwrap_or(0);
        let best = goals.iter().map(|_| Tuned { bound: f64::NEG_INFINITY, ..Tuned::default() }).collect();
        Tuner { program, rows, goals, cells, row_moments, multiplier_moments, best, from, scratch: Vec::new() }
    }

    fn bound(&mut self, bounds: &Bounds) -> LowerBounds {
        let columns = self.goals.len();
        let mut objectives = Objectives::new(self.program.roles.len(), (0..columns).collect());
        for (column, goal) in self.goals.iter().enumerate() {
            add_rows(self.program, bounds, &mut objectives, column, self.rows, &goal.rows);
            let pulls = goal.multipliers.iter().filter(|m| m.weight > 0.0).map(|m| Pull {
                node: m.node,
                element: m.element,
                column,
                weight: if m.from_below { -m.weight } else { m.weight },
                end: m.end,
            });
            objectives.pulls.extend(pulls);
        }
        objectives.pulls.sort_by_key(|pull| std::cmp::Reverse(pull.node));
        objectives.kept = Some(vec![Vec::new(); self.program.roles.len()]);
        minimise(self.program, bounds, objectives, self.from, &mut self.scratch)
    }

    /// Whether every column is refuted already.
    fn done(&self) -> bool {
        self.best.iter().zip(&self.goals).all(|(best, goal)| best.bound > 0.0 && goal.fixed.is_none())
    }

    /// Keeps what is best so far; which columns that changed.
    fn record(&mut self, lower: &LowerBounds, keep_leans: bool) -> Vec<bool> {
        let columns = self.goals.len();
        let mut improved = vec![false; columns];
        for (column, (best, improved)) in self.best.iter_mut().zip(&mut improved).enumerate() {
            if lower.bounds[column] > best.bound || best.line.is_empty() {
                *improved = true;
                best.bound = lower.bounds[column];
                best.line = lower.inputs.iter().skip(column).step_by(columns).copied().collect();
                best.constant = lower.constants[column];
                best.rows.clone_from(&self.goals[column].rows);
                best.multipliers.clone_from(&self.goals[column].multipliers);
                best.leans.clear();
            }
        }
        if keep_leans {
            for cell in &self.cells {
                let column = cell.at % columns;
                if improved[column] {
                    self.best[column].leans.push((cell.node, cell.at / columns, cell.lean));
                }
            }
        }
        improved
    }

    /// The value of every node where each column's bound is attained: the corner of the box, carried forward along the
    /// lines that were used.
    fn values(&mut self, bounds: &Bounds, lower: &LowerBounds) -> Vec<Vec<f64>> {
        let program = self.program;
        let columns = self.goals.len();
        let mut values: Vec<Vec<f64>> = Vec::with_capacity(self.from + 1);
        for node in 0..=self.from {
            let cells = program.sizes[node] * columns;
            let kept = lower.kept[node].as_slice();
            let coefficient = |at: usize| kept.get(at).copied().unwrap_or(0.0);
            let table = &bounds.lines[node];
            let own = match &program.roles[node] {
                Role::Input(offset) => {
                    let slopes = &lower.inputs[offset * columns..];
                    (0..cells)
                        .map(|at| {
                            let (low, high) = (bounds.lower[node][at], bounds.upper[node][at]);
                            finite(if slopes[at] > 0.0 {
                                low
                            } else if slopes[at] < 0.0 {
                                high
                            } else {
                                low / 2.0 + high / 2.0
                            })
                        })
                        .collect()
                }
                Role::Affine(layer) => {
                    let mut own = vec![0.0; cells];
                    for (row, &bias) in layer.bias.iter().enumerate() {
                        own[row * columns..(row + 1) * columns].fill(bias);
                    }
                    for term in &layer.terms {
                        term.weights.mul_acc(&values[term.argument], &mut own, columns, &mut self.scratch);
                    }
                    own
                }
                Role::Movement(sources) => {
                    let rows = sources
                        .iter()
                        .flat_map(|&(argument, element)| &values[argument][element * columns..(element + 1) * columns]);
                    rows.copied().collect()
                }
                Role::Curve(_, argument) => {
                    let line = |at: usize| {
                        let x = values[*argument][at];
                        let low = table.lower_slope[at] * x + table.lower_offset[at];
                        let high = table.upper_slope[at] * x + table.upper_offset[at];
                        pick(coefficient(at), low, high)
                    };
                    (0..cells).map(line).collect()
                }
                Role::Product(left, right) => {
                    let plane = |at: usize| {
                        let (x, y) = (values[*left][at], values[*right][at]);
                        let low = table.lower_slope[at] * x + table.lower_second[at] * y + table.lower_offset[at];
                        let high = table.upper_slope[at] * x + table.upper_second[at] * y + table.upper_offset[at];
                        pick(coefficient(at), low, high)
                    };
                    (0..cells).map(plane).collect()
                }
                Role::Opaque => {
                    (0..cells).map(|at| pick(coefficient(at), bounds.lower[node][at], bounds.upper[node][at])).collect()
                }
            };
            values.push(own);
        }
        values
    }

    fn step(&mut self, bounds: &mut Bounds, lower: &LowerBounds, values: &[Vec<f64>], iteration: usize) {
        let columns = self.goals.len();
        let count = iteration as i32 + 1;
        let decay = STEP_DECAY.powi(iteration as i32);
        let closed: Vec<bool> =
            self.best.iter().zip(&self.goals).map(|(best, goal)| best.bound > 0.0 && goal.fixed.is_none()).collect();
        for cell in &mut self.cells {
            let coefficient = lower.kept[cell.node].get(cell.at).copied().unwrap_or(0.0);
            if closed[cell.at % columns] || coefficient == 0.0 {
                continue;
            }
            let slope = coefficient * lean_slope(self.program, bounds, cell, coefficient > 0.0, values);
            if slope == 0.0 || !slope.is_finite() {
                continue;
            }
            let below = coefficient > 0.0;
            let (lean, moments) = match below {
                true => (&mut cell.lean.lower, &mut cell.lower),
                false => (&mut cell.lean.upper, &mut cell.upper),
            };
            *lean = (*lean + LEAN_STEP * decay * moments.step(slope, count)).clamp(0.0, 1.0);
            let share = *lean;
            if let Role::Curve(Curve::Relu, argument) = &self.program.roles[cell.node] {
                // Only the slope below moves, and its offset stays zero.
                let reach = bounds.lower[*argument][cell.at].abs().max(bounds.upper[*argument][cell.at]);
                let table = &mut bounds.lines[cell.node];
                table.lower_slope[cell.at] = share;
                table.size[cell.at] = table.size[cell.at].max(share * reach);
            } else {
                bounds.turn_line(self.program, cell.node, cell.at, below, share);
            }
        }
        for (column, goal) in self.goals.iter_mut().enumerate().filter(|(column, _)| !closed[*column]) {
            let moments = self.row_moments[column].iter_mut();
            step_rows(self.rows, goal, values, columns, column, moments, WEIGHT_STEP * decay, count);
            // A multiplier competes with the coefficients that reach its node: their size is its natural unit.
            for (multiplier, moments) in goal.multipliers.iter_mut().zip(&mut self.multiplier_moments[column]) {
                let value = values[multiplier.node][multiplier.element * columns + column];
                let slope = if multiplier.from_below { multiplier.end - value } else { value - multiplier.end };
                let unit = unit_at(lower, multiplier, columns, column);
                let step = unit * LEAN_STEP * decay * moments.step(slope, count);
                multiplier.weight = finite((multiplier.weight + step).max(0.0));
            }
        }
    }

    /// The elements whose relaxation loses most at this column's minimiser.
    fn cuts(&self, bounds: &Bounds, lower: &LowerBounds, values: &[Vec<f64>], column: usize, most: usize) -> Vec<Cut> {
        let columns = self.goals.len();
        let mut cuts: Vec<Cut> = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.at % columns == column && cell.node <= self.from) {
            let coefficient = lower.kept[cell.node].get(cell.at).copied().unwrap_or(0.0);
            let (at, element) = (cell.at, cell.at / columns);
            let interval = |node: usize| Interval::new(bounds.lower[node][at], bounds.upper[node][at]);
            match &self.program.roles[cell.node] {
                Role::Curve(curve, argument) if coefficient != 0.0 => {
                    let range = interval(*argument);
                    let Some(place) = curve.split_point(range) else { continue };
                    let loss = (curve.value(values[*argument][at]) - values[cell.node][at]).abs();
                    let score = coefficient.abs() * (finite(loss) + 0.25 * finite(curve.gap(range)));
                    cuts.push(Cut { node: *argument, element, at: place, score });
                }
                Role::Product(left, right) if coefficient != 0.0 => {
                    let (x, y) = (interval(*left), interval(*right));
                    let loss = (values[*left][at] * values[*right][at] - values[cell.node][at]).abs();
                    let score = coefficient.abs() * (finite(loss) + finite(0.0625 * x.width() * y.width()));
                    // Both factors matter alike to the planes; the wider one is cut first.
                    let (node, range) = if x.width() >= y.width() { (*left, x) } else { (*right, y) };
                    cuts.push(Cut { node, element, at: range.lo / 2.0 + range.hi / 2.0, score });
                }
                _ => {}
            }
        }
        cuts.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.node.cmp(&b.node)).then(a.element.cmp(&b.element)));
        cuts.truncate(most);
        cuts
    }
}

/// Adds weighted rows to one column.
pub(crate) fn add_rows(
    program: &Program,
    bounds: &Bounds,
    objectives: &mut Objectives,
    column: usize,
    rows: &[Row],
    weights: &[(usize, f64)],
) {
    for &(row, weight) in weights.iter().filter(|&&(_, weight)| weight != 0.0) {
        for &(node, element, coefficient, radius) in &rows[row].terms {
            let product = weight * coefficient;
            let error = f64::EPSILON * product.abs() + weight * radius + TINY;
            objectives.add(program, bounds, (node, element, column), product, error);
        }
        let term = weight * rows[row].constant;
        objectives.constants[column] += term;
        objectives.errors[column] += 2.0 * f64::EPSILON * (term.abs() + objectives.constants[column].abs());
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// The line that a coefficient's sign asks for; in between where it does not matter.
fn pick(coefficient: f64, low: f64, high: f64) -> f64 {
    finite(if coefficient > 0.0 {
        low
    } else if coefficient < 0.0 {
        high
    } else {
        low / 2.0 + high / 2.0
    })
}

/// How the line that is used changes with its lean, at the value where the bound is attained.
fn lean_slope(program: &Program, bounds: &Bounds, cell: &Cell, below: bool, values: &[Vec<f64>]) -> f64 {
    const DELTA: f64 = 0.0625;
    let at = cell.at;
    let interval = |node: usize| Interval::new(bounds.lower[node][at], bounds.upper[node][at]);
    let lean = if below { cell.lean.lower } else { cell.lean.upper };
    // A difference that stays inside [0, 1].
    let delta = if lean + DELTA <= 1.0 { DELTA } else { -DELTA };
    let table = &bounds.lines[cell.node];
    let (slope, second, offset) = match below {
        true => (&table.lower_slope, &table.lower_second, &table.lower_offset),
        false => (&table.upper_slope, &table.upper_second, &table.upper_offset),
    };
    match &program.roles[cell.node] {
        Role::Curve(Curve::Relu, argument) if below => values[*argument][at],
        Role::Curve(Curve::Relu, _) => 0.0,
        Role::Curve(curve, argument) => {
            let x = values[*argument][at];
            let moved = curve.line(interval(*argument), below, lean + delta);
            (moved.slope * x + moved.offset - (slope[at] * x + offset[at])) / delta
        }
        Role::Product(left, right) => {
            let (x, y) = (values[*left][at], values[*right][at]);
            let share = lean + delta;
            let planes = product_planes(interval(*left), interval(*right), Lean { lower: share, upper: share });
            let plane = if below { planes.lower } else { planes.upper };
            (plane[0] * x + plane[1] * y + plane[2] - (slope[at] * x + second[at] * y + offset[at])) / delta
        }
        _ => 0.0,
    }
}

/// The mean size of the coefficients that reach a multiplier's node in a column.
fn unit_at(lower: &LowerBounds, multiplier: &Multiplier, columns: usize, column: usize) -> f64 {
    let reached = lower.kept[multiplier.node].iter().skip(column).step_by(columns).filter(|value| **value != 0.0);
    let (sum, count) = reached.fold((0.0, 0.0), |(sum, count), value| (sum + value.abs(), count + 1.0));
    if count > 0.0 { finite(sum / count) } else { 1.0 }
}

/// Moves the weights of a goal's rows. Without a fixed row they stay on the simplex; with one, the others grow freely from zero.
#[allow(clippy::too_many_arguments)]
fn step_rows<'m>(
    rows: &[Row],
    goal: &mut Goal,
    values: &[Vec<f64>],
    columns: usize,
    column: usize,
    moments: impl Iterator<Item = &'m mut Moments>,
    length: f64,
    count: i32,
) {
    if goal.rows.len() < 2 {
        return;
    }
    let value = |row: usize| -> f64 {
        let row = &rows[row];
        row.constant
            + row.terms.iter().map(|&(node, element, c, _)| c * values[node][element * columns + column]).sum::<f64>()
    };
    let fixed = goal.fixed;
    let slopes: Vec<f64> = goal.rows.iter().map(|&(row, _)| finite(value(row))).collect();
    if fixed.is_some() {
        for (((row, weight), &slope), moments) in goal.rows.iter_mut().zip(&slopes).zip(moments) {
            if fixed != Some(*row) {
                *weight = (*weight + length * moments.step(slope, count)).max(0.0);
            }
        }
        return;
    }
    // Multiplicative weights: no row is ever lost, and the sum stays one.
    let largest = slopes.iter().fold(0.0f64, |largest, slope| largest.max(slope.abs()));
    if largest == 0.0 {
        return;
    }
    let mut total = 0.0;
    for ((_, weight), &slope) in goal.rows.iter_mut().zip(&slopes) {
        *weight = weight.max(1e-3) * (2.0 * length * slope / largest).exp();
        total += *weight;
    }
    goal.rows.iter_mut().for_each(|(_, weight)| *weight /= total);
}
