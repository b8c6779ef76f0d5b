//! Modes: a piecewise plant as a decision tree over its guards, each leaf a plant without them.
//!
//! The plant becomes a piecewise-affine or piecewise-smooth system (E. D. Sontag, 'Nonlinear regulation: the piecewise linear approach', IEEE TAC
//! 26, 1981), so that a region is split where the dynamics change instead of being bounded across the change.
//!
//! A guard is a comparison, a maximum, an absolute value or a clip of one number that is linear in the variables. Both of its outcomes get a
//! half-space and a graph in which the guard is decided.
//!
//! *Soundness.* Half-spaces are closed, so a point on a guard belongs to both sides, and to the side that its strictness chooses in particular:
//! the leaves cover every point with the plant that is true there. Guards that are not linear stay in the leaves' graphs, and relaxations
//! bound them.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::enclose;
use certus_graph::ops::{Clip, Compare, Min, Neg, Op, Sub};
use certus_graph::{Graph, GraphError, Interval, NodeId, Tensor};
use certus_solver::{LinearBound, LinearBounds};

use super::joint::Layout;
use crate::template_polyhedron::Rows;

/// A half-space `normal·x ≤ offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSpace {
    /// Its normal.
    pub normal: Vec<f64>,
    /// Its offset.
    pub offset: f64,
}

/// A plant without linear guards.
pub struct Mode {
    /// The next states of all moves, one after the other, over boxes.
    pub next: LinearBounds,
    /// For each move, whether it leaves the state as it is: absorbing states are such.
    pub still: Vec<bool>,
    /// Whether the goal holds, if that is the same everywhere.
    pub goal: Option<bool>,
    /// Whether the condition before the goal holds, if that is the same everywhere.
    pub stay: Option<bool>,
    /// For each move, whether the environment's choice is allowed, if that is the same everywhere; empty if nothing is assumed.
    pub allowed: Vec<Option<bool>>,
    /// For each move, whether the step is defined, if that is the same everywhere; empty if it always is.
    pub defined: Vec<Option<bool>>,
    /// Whether the atoms are defined, if that is the same everywhere.
    pub atoms_defined: Option<bool>,
    /// The next states of all moves, for intervals.
    pub nexts: Graph,
    /// The guards that lead to it, by their number, and whether its side is the high one.
    path: Vec<(usize, bool)>,
}

impl Mode {
    /// Whether no choice of the environment that leads here is allowed, whatever the move.
    pub fn is_forbidden(&self) -> bool {
        !self.allowed.is_empty() && self.allowed.iter().all(|&allowed| allowed == Some(false))
    }

    /// Whether a move may be made by an allowed choice.
    pub fn may_move(&self, number: usize) -> bool {
        self.allowed.get(number).is_none_or(|&allowed| allowed != Some(false))
    }
}

/// What tells guards apart. On the edge of a comparison its strictness says which side is true; where the plant is continuous both are.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    comparison: Option<Compare>,
    low: HalfSpace,
    high: HalfSpace,
    /// Which variables beside the state decide it, by their place behind the state.
    depends_on: Vec<usize>,
}

/// A decision tree over guards.
pub enum Tree {
    /// The mode of this number.
    Leaf(usize),
    /// A guard, with the side on which its difference is at most zero first.
    Split(HalfSpace, HalfSpace, Box<Tree>, Box<Tree>),
}

/// The modes of a plant.
pub struct Modes {
    /// All of them.
    pub modes: Vec<Mode>,
    /// Which one is where.
    pub tree: Tree,
    guards: Vec<Identity>,
    states: usize,
    layout: Layout,
    /// Places at which the ranges of variables are split where the plant depends on these.
    splits: Vec<(usize, f64)>,
}

/// Beyond so many modes ranges of variables are not split.
const MOST_CUT: usize = 64;

/// Beyond this many modes guards are left to relaxations.
const MOST_MODES: usize = 512;

/// How a guard's node is replaced on the side where its difference is at most zero, or at least.
enum Replacement {
    Value(f64),
    Argument(usize),
    Negated(usize),
    SmallerOf(usize, f64),
}

/// A guard: its node, the nodes whose difference decides it (the second may be a number), and what it becomes.
struct Guard {
    node: NodeId,
    left: NodeId,
    right: Result<NodeId, f64>,
    low: Replacement,
    high: Replacement,
}

fn linear_nodes(graph: &Graph) -> Vec<bool> {
    let mut linear: Vec<bool> = Vec::with_capacity(graph.len());
    for node in graph.nodes() {
        let behind = node.inputs.iter().all(|id| linear[id.index()]);
        linear.push(match &node.op {
            Op::Input(_) | Op::Constant(_) => true,
            Op::Affine(_) | Op::Reshape(_) | Op::Slice(_) | Op::Gather(_) | Op::Transpose(_) | Op::Concat(_) => behind,
            Op::Add(_) | Op::Sub(_) | Op::Neg(_) => behind,
            _ => false,
        });
    }
    linear
}

fn first_guard(graph: &Graph) -> Option<Guard> {
    let linear = linear_nodes(graph);
    for (id, node) in graph.ids().zip(graph.nodes()) {
        let decidable = graph.elements(id) == 1
            && !node.inputs.is_empty()
            && node.inputs.iter().all(|input| linear[input.index()] && graph.elements(*input) == 1);
        if !decidable {
            continue;
        }
        let arguments = &node.inputs;
        let guard = |right, low, high| Some(Guard { node: id, left: arguments[0], right, low, high });
        let found = match &node.op {
            Op::Compare(Compare::Less | Compare::LessEqual) => {
                guard(Ok(arguments[1]), Replacement::Value(1.0), Replacement::Value(0.0))
            }
            Op::Compare(Compare::Greater | Compare::GreaterEqual) => {
                guard(Ok(arguments[1]), Replacement::Value(0.0), Replacement::Value(1.0))
            }
            Op::Max(_) => guard(Ok(arguments[1]), Replacement::Argument(1), Replacement::Argument(0)),
            Op::Min(_) => guard(Ok(arguments[1]), Replacement::Argument(0), Replacement::Argument(1)),
            Op::Relu(_) => guard(Err(0.0), Replacement::Value(0.0), Replacement::Argument(0)),
            Op::Abs(_) => guard(Err(0.0), Replacement::Negated(0), Replacement::Argument(0)),
            Op::Clip(Clip { lower, upper }) if lower < upper => match (lower.is_finite(), upper.is_finite()) {
                (true, true) => guard(Err(*lower), Replacement::Value(*lower), Replacement::SmallerOf(0, *upper)),
                (true, false) => guard(Err(*lower), Replacement::Value(*lower), Replacement::Argument(0)),
                (false, true) => guard(Err(*upper), Replacement::Argument(0), Replacement::Value(*upper)),
                (false, false) => None,
            },
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The graph with a guard decided, in canonical form.
fn decided(graph: &Graph, guard: &Guard, replacement: &Replacement) -> Result<Graph, GraphError> {
    let mut rebuilt = Graph::new();
    let mut mapped: Vec<NodeId> = Vec::with_capacity(graph.len());
    let mut ports = graph.inputs().iter();
    for (id, node) in graph.ids().zip(graph.nodes()) {
        let arguments: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
        let filled = |value: f64| Tensor::new(node.shape.clone(), vec![value]);
        let own = if id == guard.node {
            match replacement {
                Replacement::Value(value) => rebuilt.constant(filled(*value)?),
                Replacement::Argument(place) => arguments[*place],
                Replacement::Negated(place) => rebuilt.apply(Neg, &[arguments[*place]])?,
                Replacement::SmallerOf(place, value) => {
                    let bound = rebuilt.constant(filled(*value)?);
                    rebuilt.apply(Min, &[arguments[*place], bound])?
                }
            }
        } else if let Op::Input(_) = node.op {
            rebuilt.input(ports.next().map_or("", |port| &port.name), &node.shape)
        } else {
            rebuilt.apply(node.op.clone(), &arguments)?
        };
        mapped.push(own);
    }
    for port in graph.outputs() {
        rebuilt.output(&port.name, mapped[port.node.index()]);
    }
    canonicalize(&rebuilt)
}

/// The two half-spaces of a guard, over a box.
fn half_spaces(graph: &Graph, guard: &Guard, rows: &Rows) -> Result<Option<(HalfSpace, HalfSpace)>, GraphError> {
    let mut extended = graph.clone();
    let right = match guard.right {
        Ok(node) => node,
        Err(value) => {
            let shape = graph.shape(guard.left).to_vec();
            extended.constant(Tensor::new(shape, vec![value])?)
        }
    };
    let difference = extended.apply(Sub, &[guard.left, right])?;
    extended.output("difference", difference);
    let lines = LinearBounds::new(&extended.keep_outputs(&[graph.outputs().len()]))?;
    if !lines.is_linear() {
        return Ok(None);
    }
    let found = lines.below(&[rows.bounds()], &[vec![(0, 1.0)], vec![(0, -1.0)]]);
    // Where the difference is at most zero, a line below it is too.
    let side = |line: &LinearBound| HalfSpace { normal: line.slopes.clone(), offset: -line.constant };
    let usable = found[0].iter().all(|line| line.constant.is_finite());
    Ok(usable.then(|| (side(&found[0][0]), side(&found[0][1]))))
}

/// Which outputs are the first variables, unchanged. An affine function is that if it is so at zero and at the unit vectors, where nothing is rounded.
fn still(graph: &Graph) -> Vec<bool> {
    let linear = linear_nodes(graph);
    let variables = graph.inputs().first().map_or(0, |port| graph.elements(port.node));
    let mut found: Vec<bool> = graph.outputs().iter().map(|port| linear[port.node.index()]).collect();
    for place in 0..=variables {
        if !found.contains(&true) {
            break;
        }
        let point: Vec<Interval> =
            (0..variables).map(|i| if i == place { Interval::ONE } else { Interval::ZERO }).collect();
        let Ok(values) = enclose(graph, &[&point]) else { return vec![false; found.len()] };
        for (found, values) in found.iter_mut().zip(values) {
            *found &= values.iter().zip(&point).all(|(value, own)| value.lo == own.lo && value.hi == own.hi);
        }
    }
    found
}

/// Whether some output differs between values of a variable, at a few points of a box. Only what is worth while rests on it.
fn seems_to_depend(graph: &Graph, rows: &Rows, variable: usize) -> bool {
    let (lower, upper) = rows.bounds();
    let at = |others: f64, own: f64| {
        let share = |i: usize| if i == variable { own } else { others };
        let value = |i: usize| (lower[i] * (1.0 - share(i)) + upper[i] * share(i)).clamp(lower[i], upper[i]);
        let point: Vec<Interval> = (0..lower.len()).map(|i| Interval::point(value(i))).collect();
        enclose(graph, &[&point]).ok()
    };
    [0.0, 0.4, 0.7, 1.0].iter().any(|&others| [0.3, 1.0].iter().any(|&own| at(others, own) != at(others, 0.0)))
}

impl Modes {
    /// The modes of a plant with so many numbers of state, within a box. `splits` are variables with places: what depends on such a variable becomes one mode
    /// on each side of them.
    pub fn new(
        plant: &Graph,
        states: usize,
        layout: Layout,
        rows: &Rows,
        splits: Vec<(usize, f64)>,
    ) -> Result<Modes, GraphError> {
        let mut modes = Modes { modes: Vec::new(), tree: Tree::Leaf(0), guards: Vec::new(), states, layout, splits };
        modes.tree = modes.grow(&canonicalize(plant)?, rows, &mut Vec::new())?;
        Ok(modes)
    }

    /// The number of a guard.
    fn numbered(&mut self, comparison: Option<Compare>, low: &HalfSpace, high: &HalfSpace) -> usize {
        let mentions = |place: usize| [low, high].iter().any(|side| side.normal[self.states + place] != 0.0);
        let depends_on = (0..low.normal.len() - self.states).filter(|&place| mentions(place)).collect();
        let own = Identity { comparison, low: low.clone(), high: high.clone(), depends_on };
        self.guards.iter().position(|known| *known == own).unwrap_or_else(|| {
            self.guards.push(own);
            self.guards.len() - 1
        })
    }

    /// Whether one state may be in two modes, by choices of the environment that are the same in some variables (by their place behind the state): no
    /// guard that the state and these alone decide stands between them.
    pub fn may_share_states(&self, one: usize, other: usize, same: &dyn Fn(usize) -> bool) -> bool {
        let other = &self.modes[other].path;
        let decided = |guard: usize| self.guards[guard].depends_on.iter().all(|&place| same(place));
        let apart = |(guard, side): &(usize, bool)| decided(*guard) && other.contains(&(*guard, !side));
        !self.modes[one].path.iter().any(apart)
    }

    fn grow(&mut self, graph: &Graph, rows: &Rows, path: &mut Vec<(usize, bool)>) -> Result<Tree, GraphError> {
        if self.modes.len() < MOST_MODES
            && let Some(guard) = first_guard(graph)
            && let Some((low, high)) = half_spaces(graph, &guard, rows)?
        {
            if rows.excludes(&low.normal, low.offset) {
                return self.grow(&decided(graph, &guard, &guard.high)?, rows, path);
            }
            if rows.excludes(&high.normal, high.offset) {
                return self.grow(&decided(graph, &guard, &guard.low)?, rows, path);
            }
            let comparison = match graph.node(guard.node).op {
                Op::Compare(how) => Some(how),
                _ => None,
            };
            let number = self.numbered(comparison, &low, &high);
            let sides = [decided(graph, &guard, &guard.low)?, decided(graph, &guard, &guard.high)?];
            return self.branch(number, [(low, &sides[0]), (high, &sides[1])], rows, path);
        }
        if let Some((number, low, high)) = self.next_split(graph, rows, path) {
            return self.branch(number, [(low, graph), (high, graph)], rows, path);
        }
        let (layout, moves) = (self.layout, self.layout.moves);
        let known = |output: usize| {
            let value = graph.constant_value(graph.outputs()[output].node)?;
            Some(value.data().iter().all(|&value| value != 0.0))
        };
        let (goal, stay) = (known(moves), known(moves + 1));
        let nexts = graph.keep_outputs(&(0..moves).collect::<Vec<_>>());
        let still = still(&nexts);
        self.modes.push(Mode {
            next: LinearBounds::new(&nexts)?,
            still,
            goal,
            stay,
            allowed: layout.allowed().map(known).collect(),
            defined: layout.defined().map(known).collect(),
            atoms_defined: layout.atoms_defined().map_or(Some(true), known),
            nexts,
            path: path.clone(),
        });
        Ok(Tree::Leaf(self.modes.len() - 1))
    }

    /// Both sides of a guard, the low one first.
    fn branch(
        &mut self,
        number: usize,
        [low, high]: [(HalfSpace, &Graph); 2],
        rows: &Rows,
        path: &mut Vec<(usize, bool)>,
    ) -> Result<Tree, GraphError> {
        let mut side = |modes: &mut Modes, (half_space, graph): &(HalfSpace, &Graph), is_high: bool| {
            let mut rows = rows.clone();
            rows.push(&half_space.normal, half_space.offset);
            path.push((number, is_high));
            let tree = modes.grow(graph, &rows, path);
            path.pop();
            tree.map(Box::new)
        };
        let (below, above) = (side(self, &low, false)?, side(self, &high, true)?);
        Ok(Tree::Split(low.0, high.0, below, above))
    }

    /// The next split of a variable that the next states depend on, as a guard: its number and both sides.
    fn next_split(
        &mut self,
        graph: &Graph,
        rows: &Rows,
        path: &[(usize, bool)],
    ) -> Option<(usize, HalfSpace, HalfSpace)> {
        if self.modes.len() >= MOST_CUT {
            return None;
        }
        let nexts = graph.keep_outputs(&(0..self.layout.moves).collect::<Vec<_>>());
        for (variable, place) in self.splits.clone() {
            let side = |slope: f64| {
                let mut normal = vec![0.0; rows.dimension()];
                normal[variable] = slope;
                HalfSpace { normal, offset: slope * place }
            };
            let (low, high) = (side(1.0), side(-1.0));
            let number = self.numbered(None, &low, &high);
            let known = path.iter().any(|(guard, _)| *guard == number);
            let outside = [&low, &high].iter().any(|side| rows.excludes(&side.normal, side.offset));
            if !known && !outside && seems_to_depend(&nexts, rows, variable) {
                return Some((number, low, high));
            }
        }
        None
    }

    /// The modes that a region may have points in, each with the rows of the region there.
    pub fn parts(&self, rows: Rows) -> Vec<(usize, Rows)> {
        let mut found = Vec::new();
        let mut pending = vec![(&self.tree, rows)];
        while let Some((tree, rows)) = pending.pop() {
            match tree {
                Tree::Leaf(mode) => found.push((*mode, rows)),
                Tree::Split(low, high, below, above) => {
                    let sides = [(low, below), (high, above)];
                    let possible: Vec<bool> =
                        sides.iter().map(|(side, _)| !rows.excludes(&side.normal, side.offset)).collect();
                    for ((side, tree), _) in sides.iter().zip(&possible).filter(|(_, possible)| **possible) {
                        let mut rows = rows.clone();
                        // Where the other side is impossible, this one says nothing new.
                        if possible.iter().all(|&possible| possible) {
                            rows.push(&side.normal, side.offset);
                        }
                        pending.push((tree, rows));
                    }
                }
            }
        }
        found
    }
}
