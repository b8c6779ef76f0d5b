//! Dual bound optimisation: relaxation slopes α and multipliers β by projected gradient ascent.
//!
//! *α-CROWN* (Xu, Zhang, Wang, Wang, Jana, Lin, Hsieh, *Fast and Complete: Enabling Complete Verification with Rapid and
//! Massively Parallel Incomplete Verifiers*, ICLR 2021) optimises the slopes of the relaxation; *β-CROWN* (Wang, Zhang,
//! Xu, Lin, Jana, Hsieh, Kolter, *Beta-CROWN: Efficient Bound Propagation with Per-neuron Split Constraints for Neural
//! Network Robustness Verification*, NeurIPS 2021) adds non-negative Lagrange multipliers of split constraints. Here a
//! third set of numbers is optimised with them: the weights of the rows (atoms that must be ≤ 0) that are refuted jointly.
//!
//! The objective of a column is the weighted sum of rows plus the multipliers of the subproblem's ranges. Its backward
//! bound depends on all three, and a step improves it: the backward pass gives the minimiser x* at the inputs, a forward
//! pass along the lines that were used gives every node's value there (`minimiser.rs`), and these are the derivatives.
//! Steps are Adam's (Kingma and Ba, *Adam: A Method for Stochastic Optimization*, ICLR 2015), projected onto [0, 1] for
//! α and onto non-negative numbers for β; weights move multiplicatively on the simplex.
//!
//! *Soundness.* Every α in [0, 1], every β ≥ 0 and every non-negative weight gives a sound bound, and each step ends in an
//! ordinary backward bound. So whatever the steps do, the best bound seen is sound.
//!
//! *Departures.* α is a share of the whole family of sound lines (`relaxation`), so curves other than ReLU and products
//! have one too. Gradients by α are differences, except for ReLU. Intermediate bounds are not optimised, only the final one.

use certus_graph::Interval;

use super::backward::{BetaTerm, LowerBounds, Objectives, minimise};
use super::branching_scores::{Split, best_splits};
use super::goal::{Goal, Multiplier, Row, add_rows};
use super::minimiser::{finite, relaxed_values};
use super::program::{Program, Role};
use super::table::Bounds;
use crate::relaxation::{Alpha, product_planes};

/// The best bound found for one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptimisedBound {
    pub(crate) bound: f64,
    /// The linear function at the inputs that gave the bound, and its constant.
    pub(crate) slopes: Vec<f64>,
    pub(crate) constant: f64,
    /// What gave the bound.
    pub(crate) rows: Vec<(usize, f64)>,
    pub(crate) multipliers: Vec<Multiplier>,
    pub(crate) alphas: Vec<(usize, usize, Alpha)>,
    /// The most promising splits, best first.
    pub(crate) splits: Vec<Split>,
}

/// How to ascend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ascent {
    pub(crate) steps: usize,
    /// Keep the alphas that gave the best bound (for certificates).
    pub(crate) keep_alphas: bool,
    /// How many splits to suggest.
    pub(crate) splits: usize,
}

const ALPHA_STEP: f64 = 0.25;
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

/// An unstable neuron, whose α may move.
struct Neuron {
    node: usize,
    at: usize,
    alpha: Alpha,
    lower: Moments,
    upper: Moments,
}

/// Optimises the bound of every column; box i of the table belongs to goal i.
pub(crate) fn optimise(
    program: &Program,
    bounds: &mut Bounds,
    rows: &[Row],
    goals: Vec<Goal>,
    ascent: Ascent,
    stop: &dyn Fn() -> bool,
) -> Vec<OptimisedBound> {
    let columns = goals.len();
    let mut optimiser = Optimiser::new(program, bounds, rows, goals);
    for iteration in 0..=ascent.steps {
        let lower = optimiser.bound(bounds);
        let improved = optimiser.record(&lower, ascent.keep_alphas);
        let last = iteration == ascent.steps || optimiser.done() || (iteration > 0 && stop());
        if last && ascent.splits == 0 {
            break;
        }
        let values = relaxed_values(program, bounds, &lower, optimiser.from, &mut optimiser.scratch);
        if ascent.splits > 0 {
            for column in (0..columns).filter(|&column| improved[column]) {
                optimiser.best[column].splits = optimiser.splits(bounds, &lower, &values, column, ascent.splits);
            }
        }
        if last {
            break;
        }
        optimiser.step(bounds, &lower, &values, iteration);
    }
    optimiser.best
}

/// The bound of one goal over the one box of a table with given alphas (default ones where they are no numbers), without any steps.
pub(crate) fn certify(
    program: &Program,
    bounds: &mut Bounds,
    rows: &[Row],
    goal: Goal,
    alphas: &[(usize, usize, Alpha)],
    keep_alphas: bool,
) -> OptimisedBound {
    let mut optimiser = Optimiser::new(program, bounds, rows, vec![goal]);
    for neuron in &mut optimiser.neurons {
        if let Some((.., alpha)) =
            alphas.iter().find(|(node, element, _)| (*node, *element) == (neuron.node, neuron.at))
        {
            let or = |value: f64, default: f64| if value.is_nan() { default } else { value.clamp(0.0, 1.0) };
            neuron.alpha =
                Alpha { lower: or(alpha.lower, neuron.alpha.lower), upper: or(alpha.upper, neuron.alpha.upper) };
        }
    }
    for neurons in optimiser.neurons.chunk_by(|a, b| a.node == b.node) {
        bounds.set_relaxations(program, neurons[0].node);
        for neuron in neurons {
            bounds.set_slope(program, neuron.node, neuron.at, true, neuron.alpha.lower);
            bounds.set_slope(program, neuron.node, neuron.at, false, neuron.alpha.upper);
        }
    }
    let lower = optimiser.bound(bounds);
    optimiser.record(&lower, keep_alphas);
    optimiser.best.pop().unwrap_or_default()
}

struct Optimiser<'a> {
    program: &'a Program,
    rows: &'a [Row],
    goals: Vec<Goal>,
    neurons: Vec<Neuron>,
    row_moments: Vec<Vec<Moments>>,
    multiplier_moments: Vec<Vec<Moments>>,
    best: Vec<OptimisedBound>,
    from: usize,
    scratch: Vec<f64>,
}

impl<'a> Optimiser<'a> {
    fn new(program: &'a Program, bounds: &Bounds, rows: &'a [Row], goals: Vec<Goal>) -> Self {
        let mut neurons = Vec::new();
        for (node, role) in program.roles.iter().enumerate() {
            let movable = |at: usize| -> Option<Alpha> {
                match role {
                    Role::Curve(curve, argument) => {
                        let range = Interval::new(bounds.lower[*argument][at], bounds.upper[*argument][at]);
                        (!curve.is_linear(range)).then(|| curve.default_alpha(range))
                    }
                    Role::Product(left, right) => {
                        let wide = |argument: usize| bounds.lower[argument][at] < bounds.upper[argument][at];
                        (wide(*left) && wide(*right)).then_some(Alpha { lower: 0.5, upper: 0.5 })
                    }
                    _ => None,
                }
            };
            for at in 0..program.sizes[node] * bounds.boxes {
                if let Some(alpha) = movable(at) {
                    neurons.push(Neuron { node, at, alpha, lower: Moments::default(), upper: Moments::default() });
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
        let best =
            goals.iter().map(|_| OptimisedBound { bound: f64::NEG_INFINITY, ..OptimisedBound::default() }).collect();
        Optimiser { program, rows, goals, neurons, row_moments, multiplier_moments, best, from, scratch: Vec::new() }
    }

    fn bound(&mut self, bounds: &Bounds) -> LowerBounds {
        let columns = self.goals.len();
        debug_assert!(self.goals.iter().all(Goal::is_nonnegative), "a weight or a multiplier β is negative");
        debug_assert!(self.neurons.iter().all(|neuron| neuron.alpha.is_valid()), "a slope α is outside of [0, 1]");
        let mut objectives = Objectives::new(self.program.roles.len(), (0..columns).collect());
        for (column, goal) in self.goals.iter().enumerate() {
            add_rows(self.program, bounds, &mut objectives, column, self.rows, &goal.rows);
            let beta_terms = goal.multipliers.iter().filter(|m| m.weight > 0.0).map(|m| BetaTerm {
                node: m.node,
                element: m.element,
                column,
                weight: if m.from_below { -m.weight } else { m.weight },
                end: m.end,
            });
            objectives.beta_terms.extend(beta_terms);
        }
        objectives.beta_terms.sort_by_key(|beta| std::cmp::Reverse(beta.node));
        objectives.kept = Some(vec![Vec::new(); self.program.roles.len()]);
        minimise(self.program, bounds, objectives, self.from, &mut self.scratch)
    }

    /// Whether every column is refuted already.
    fn done(&self) -> bool {
        self.best.iter().zip(&self.goals).all(|(best, goal)| best.bound > 0.0 && goal.fixed.is_none())
    }

    /// Keeps what is best so far; which columns that changed.
    fn record(&mut self, lower: &LowerBounds, keep_alphas: bool) -> Vec<bool> {
        let columns = self.goals.len();
        let mut improved = vec![false; columns];
        for (column, (best, improved)) in self.best.iter_mut().zip(&mut improved).enumerate() {
            if lower.bounds[column] > best.bound || best.slopes.is_empty() {
                *improved = true;
                best.bound = lower.bounds[column];
                best.slopes = lower.inputs.iter().skip(column).step_by(columns).copied().collect();
                best.constant = lower.constants[column];
                best.rows.clone_from(&self.goals[column].rows);
                best.multipliers.clone_from(&self.goals[column].multipliers);
                best.alphas.clear();
            }
        }
        if keep_alphas {
            for neuron in &self.neurons {
                let column = neuron.at % columns;
                if improved[column] {
                    self.best[column].alphas.push((neuron.node, neuron.at / columns, neuron.alpha));
                }
            }
        }
        improved
    }

    fn step(&mut self, bounds: &mut Bounds, lower: &LowerBounds, values: &[Vec<f64>], iteration: usize) {
        let columns = self.goals.len();
        let count = iteration as i32 + 1;
        let decay = STEP_DECAY.powi(iteration as i32);
        let refuted: Vec<bool> =
            self.best.iter().zip(&self.goals).map(|(best, goal)| best.bound > 0.0 && goal.fixed.is_none()).collect();
        for neuron in &mut self.neurons {
            let coefficient = lower.kept[neuron.node].get(neuron.at).copied().unwrap_or(0.0);
            if refuted[neuron.at % columns] || coefficient == 0.0 {
                continue;
            }
            let slope = coefficient * alpha_gradient(self.program, bounds, neuron, coefficient > 0.0, values);
            if slope == 0.0 || !slope.is_finite() {
                continue;
            }
            let below = coefficient > 0.0;
            let (alpha, moments) = match below {
                true => (&mut neuron.alpha.lower, &mut neuron.lower),
                false => (&mut neuron.alpha.upper, &mut neuron.upper),
            };
            *alpha = (*alpha + ALPHA_STEP * decay * moments.step(slope, count)).clamp(0.0, 1.0);
            let share = *alpha;
            if let Role::Curve(curve, argument) = &self.program.roles[neuron.node]
                && curve.is_relu()
            {
                // Only the slope below moves, and its offset stays zero.
                let reach = bounds.lower[*argument][neuron.at].abs().max(bounds.upper[*argument][neuron.at]);
                let table = &mut bounds.relaxations[neuron.node];
                table.lower_slope[neuron.at] = share;
                table.size[neuron.at] = table.size[neuron.at].max(share * reach);
            } else {
                bounds.set_slope(self.program, neuron.node, neuron.at, below, share);
            }
        }
        for (column, goal) in self.goals.iter_mut().enumerate().filter(|(column, _)| !refuted[*column]) {
            let moments = self.row_moments[column].iter_mut();
            step_rows(self.rows, goal, values, columns, column, moments, WEIGHT_STEP * decay, count);
            // A multiplier competes with the coefficients that reach its node: their size is its natural unit.
            for (multiplier, moments) in goal.multipliers.iter_mut().zip(&mut self.multiplier_moments[column]) {
                let value = values[multiplier.node][multiplier.element * columns + column];
                let slope = if multiplier.from_below { multiplier.end - value } else { value - multiplier.end };
                let unit = unit_at(lower, multiplier, columns, column);
                let step = unit * ALPHA_STEP * decay * moments.step(slope, count);
                multiplier.weight = finite((multiplier.weight + step).max(0.0));
            }
        }
    }

    /// The neuron splits that promise most for one column.
    fn splits(
        &self,
        bounds: &Bounds,
        lower: &LowerBounds,
        values: &[Vec<f64>],
        column: usize,
        most: usize,
    ) -> Vec<Split> {
        let columns = self.goals.len();
        let own = self.neurons.iter().filter(|neuron| neuron.at % columns == column && neuron.node <= self.from);
        best_splits(self.program, bounds, lower, values, own.map(|neuron| (neuron.node, neuron.at)), most)
    }
}

/// How the line that is used changes with its alpha, at the value where the bound is attained.
fn alpha_gradient(program: &Program, bounds: &Bounds, neuron: &Neuron, below: bool, values: &[Vec<f64>]) -> f64 {
    const DELTA: f64 = 0.0625;
    let at = neuron.at;
    let interval = |node: usize| Interval::new(bounds.lower[node][at], bounds.upper[node][at]);
    let alpha = if below { neuron.alpha.lower } else { neuron.alpha.upper };
    // A difference that stays inside [0, 1].
    let delta = if alpha + DELTA <= 1.0 { DELTA } else { -DELTA };
    let table = &bounds.relaxations[neuron.node];
    let (slope, second, offset) = match below {
        true => (&table.lower_slope, &table.lower_second, &table.lower_offset),
        false => (&table.upper_slope, &table.upper_second, &table.upper_offset),
    };
    match &program.roles[neuron.node] {
        Role::Curve(curve, argument) if curve.is_relu() && below => values[*argument][at],
        Role::Curve(curve, _) if curve.is_relu() => 0.0,
        Role::Curve(curve, argument) => {
            let x = values[*argument][at];
            let moved = curve.line(interval(*argument), below, alpha + delta);
            (moved.slope * x + moved.offset - (slope[at] * x + offset[at])) / delta
        }
        Role::Product(left, right) => {
            let (x, y) = (values[*left][at], values[*right][at]);
            let share = alpha + delta;
            let planes = product_planes(interval(*left), interval(*right), Alpha { lower: share, upper: share });
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
