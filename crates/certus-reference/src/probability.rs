//! Probabilities of finite systems: the worst case over initial states and inputs, which are chosen after the draws or, where the file says so, before
//! some of them (`order.rs`).

use std::collections::HashMap;

use certus_lang::syntax::ast::ActionRule;

use crate::decide::{Lattice, explained};
use crate::eval::{Choice, Scene};
use crate::formula::{Formula, Specification, Steps};
use crate::look::{Looker, Position, Then, reals};
use crate::model::{Model, State};
use crate::monitor::{Monitor, Shown, Standing};
use crate::order::{Stage, stages};
use crate::real::{Rational, Real};
use crate::step::{Draw, softmax};

/// Pairs of a state and what is left open are not more than this.
const MOST_NODES: usize = 5000;

/// Rounds of value iteration; bounded formulas need no more than their steps.
const ROUNDS: usize = 64;

/// Which of the environment's choices, and what a model error counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worst {
    /// The largest probability; a model error counts as if the formula were satisfied (`P<=`).
    Largest,
    /// The smallest one; a model error counts as if the formula were violated (`P>=`).
    Smallest,
}

/// Where a step leads: to a node, or to an end with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Node(usize),
    End(bool),
}

/// What becomes of a node: draws and choices in their order.
#[derive(Clone, Debug)]
enum Tree {
    /// One draw with one choice: how likely the draw is, and where it leads.
    Leaf(Real, Goal),
    /// Something is drawn.
    Drawn(Vec<Tree>),
    /// The environment chooses.
    Chosen(Vec<Tree>),
}

/// The probability of a path formula in the worst case: exactly if its own bounds decide it, else between two numbers.
pub fn probability(
    model: &Model,
    specification: &Specification,
    lattice: &Lattice,
    worst: Worst,
) -> Result<Real, String> {
    let forever = match (endless(&specification.formula, true), endless(&specification.formula, false)) {
        // A formula that is open for ever is violated if something is still to come, and satisfied if nothing bad came.
        (_, false) => false,
        (false, true) => true,
        (true, true) => return Err("the formula both waits and forbids for ever".to_owned()),
    };
    let monitor = Monitor::new(&specification.formula)?;
    let looker = Looker::new(model, specification);
    let stages = stages(model)?;
    let mut graph = Unfolded { looker, stages, monitor, worst, index: HashMap::new(), nodes: Vec::new() };
    let mut starts = Vec::new();
    for start in lattice.starts.iter().filter(|start| model.outside(start).is_none()) {
        match graph.looker.is_initial(start).map_err(explained)? {
            Ok(true) => starts.push(graph.node(start.clone(), graph.monitor.beginning())),
            Ok(false) => {}
            Err(_) => return Err("`init` is undefined somewhere".to_owned()),
        }
    }
    let inputs: Vec<Vec<Rational>> = lattice.inputs.iter().filter(|own| model.permits(own)).cloned().collect();
    let mut branches: Vec<Tree> = Vec::new();
    while branches.len() < graph.nodes.len() {
        let own = graph.tree(branches.len(), &inputs)?;
        branches.push(own);
        if graph.nodes.len() > MOST_NODES {
            return Err("there are too many states".to_owned());
        }
    }
    let can_end = reaching(&branches, !forever);
    let mut bounds = [false, true].map(|above| {
        // What can never end in the other way is what it is for ever.
        let first = |node: usize| Real::Exact(if can_end[node] { truth(above) } else { truth(forever) });
        (0..branches.len()).map(first).collect::<Vec<Real>>()
    });
    for _ in 0..ROUNDS {
        for values in &mut bounds {
            let next = branches.iter().enumerate().map(|(node, own)| match can_end[node] {
                true => own.value(values, worst),
                false => values[node].clone(),
            });
            *values = next.collect();
        }
    }
    let over_starts = |values: &[Real]| {
        let all = starts.iter().map(|&start| values[start].clone());
        all.reduce(|a, b| if worst == Worst::Largest { a.max(&b) } else { a.min(&b) })
    };
    let (Some(low), Some(high)) = (over_starts(&bounds[0]), over_starts(&bounds[1])) else {
        return Err("there is no initial state".to_owned());
    };
    Ok(Real::between(low.low().clone(), high.high().clone()))
}

fn truth(value: bool) -> Rational {
    if value { Rational::ONE } else { Rational::ZERO }
}

/// Whether a formula, or its negation, has an `U` (`until`) or an `R` without an upper bound.
fn endless(formula: &Formula, until: bool) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => false,
        Formula::Not(inner) => endless(inner, !until),
        Formula::Next(inner) => endless(inner, until),
        Formula::And(left, right) | Formula::Or(left, right) => endless(left, until) || endless(right, until),
        Formula::Until(steps, left, right) => {
            unbounded(*steps) && until || endless(left, until) || endless(right, until)
        }
        Formula::Release(steps, left, right) => {
            unbounded(*steps) && !until || endless(left, until) || endless(right, until)
        }
    }
}

fn unbounded(steps: Steps) -> bool {
    steps.upper.is_none()
}

/// Nodes from which an end with this value can be reached.
fn reaching(branches: &[Tree], value: bool) -> Vec<bool> {
    let mut reaching = vec![false; branches.len()];
    loop {
        let mut changed = false;
        for (node, own) in branches.iter().enumerate() {
            let reaches = |goal: &Goal| match goal {
                Goal::End(end) => *end == value,
                Goal::Node(next) => reaching[*next],
            };
            if !reaching[node] && own.leads(&reaches) {
                reaching[node] = true;
                changed = true;
            }
        }
        if !changed {
            return reaching;
        }
    }
}

impl Tree {
    /// Whether some leaf is of a kind.
    fn leads(&self, kind: &dyn Fn(&Goal) -> bool) -> bool {
        match self {
            Tree::Leaf(_, goal) => kind(goal),
            Tree::Drawn(trees) | Tree::Chosen(trees) => trees.iter().any(|tree| tree.leads(kind)),
        }
    }

    /// The expected value, where the environment makes the worst of what it has seen. Leaves have the probability of their whole draw, which
    /// is the same for all that can be chosen, so sums need no conditional probabilities.
    fn value(&self, values: &[Real], worst: Worst) -> Real {
        let of = |tree: &Tree| tree.value(values, worst);
        match self {
            Tree::Leaf(probability, Goal::End(value)) => probability.times(&Real::Exact(truth(*value))),
            Tree::Leaf(probability, Goal::Node(node)) => probability.times(&values[*node]),
            Tree::Drawn(trees) => trees.iter().map(of).fold(Real::zero(), |sum, own| sum.plus(&own)),
            Tree::Chosen(trees) => {
                let best =
                    trees.iter().map(of).reduce(|a, b| if worst == Worst::Largest { a.max(&b) } else { a.min(&b) });
                best.unwrap_or_else(Real::zero)
            }
        }
    }
}

/// The leaves of a step, in the order of its moments.
fn arranged(model: &Model, stages: &[Stage], leaves: Vec<(Choice, Tree)>) -> Tree {
    let Some((stage, later)) = stages.split_first() else {
        // Every draw and every input is settled.
        return Tree::Drawn(leaves.into_iter().map(|(_, leaf)| leaf).collect());
    };
    let mut groups: Vec<Vec<(Choice, Tree)>> = Vec::new();
    for leaf in leaves {
        match groups.iter_mut().find(|group| stage.alike(model, &group[0].0, &leaf.0)) {
            Some(group) => group.push(leaf),
            None => groups.push(vec![leaf]),
        }
    }
    let trees = groups.into_iter().map(|group| arranged(model, later, group)).collect();
    match stage {
        Stage::Drawn(_) => Tree::Drawn(trees),
        Stage::Chosen(_) => Tree::Chosen(trees),
    }
}

struct Unfolded<'a> {
    looker: Looker<'a>,
    stages: Vec<Stage>,
    monitor: Monitor,
    worst: Worst,
    index: HashMap<(State, Standing), usize>,
    nodes: Vec<(State, Standing)>,
}

impl Unfolded<'_> {
    fn node(&mut self, state: State, standing: Standing) -> usize {
        let nodes = &mut self.nodes;
        *self.index.entry((state, standing)).or_insert_with_key(|key| {
            nodes.push(key.clone());
            nodes.len() - 1
        })
    }

    fn tree(&mut self, node: usize, inputs: &[Vec<Rational>]) -> Result<Tree, String> {
        let (state, standing) = self.nodes[node].clone();
        let positions = self.looker.positions(&state, inputs).map_err(explained)?;
        // What the state alone settles needs no draw.
        if let [position @ Position { choice: None, .. }] = positions.as_slice() {
            let goal = self.goal(&standing, position)?;
            return Ok(Tree::Leaf(Real::Exact(Rational::ONE), goal));
        }
        let blind = self.looker.model.inputs.iter().any(|input| !input.before.is_empty());
        let mut leaves: Vec<(Choice, Tree)> = Vec::new();
        let mut allowed: Option<Vec<Vec<Rational>>> = None;
        for draw in self.looker.draws.clone() {
            let own = positions.iter().filter_map(|position| {
                let choice = position.choice.as_ref()?;
                (choice.chances == draw.chances && choice.actions == draw.actions).then_some((choice, position))
            });
            let likelihood = self.likelihood(&state, &draw)?;
            let before = leaves.len();
            for (choice, position) in own {
                leaves.push((choice.clone(), Tree::Leaf(likelihood.clone(), self.goal(&standing, position)?)));
            }
            let chosen: Vec<Vec<Rational>> = leaves[before..].iter().map(|(choice, _)| choice.inputs.clone()).collect();
            let differs = blind && allowed.as_ref().is_some_and(|known| *known != chosen);
            if chosen.is_empty() || differs {
                return Err("what may be chosen depends on a random outcome".to_owned());
            }
            allowed = Some(chosen);
        }
        Ok(arranged(self.looker.model, &self.stages, leaves))
    }

    fn goal(&mut self, standing: &Standing, position: &Position) -> Result<Goal, String> {
        let after = self.monitor.after(standing, &position.letter);
        Ok(match (after.shown(), &position.then) {
            (Shown::Satisfied, _) => Goal::End(true),
            (Shown::Violated, _) => Goal::End(false),
            (Shown::Open, Then::State(next)) => Goal::Node(self.node(next.clone(), after)),
            (Shown::Open, Then::Error(_)) => Goal::End(self.worst == Worst::Largest),
            (Shown::Open, Then::Nothing) => return Err("no choice is allowed in a terminal state".to_owned()),
        })
    }

    /// The probability of a draw in a state.
    fn likelihood(&self, state: &State, draw: &Draw) -> Result<Real, String> {
        let model = self.looker.model;
        let own = reals(state);
        let mut likelihood = Real::Exact(draw.probability.clone());
        for (action, label) in model.actions.iter().zip(&draw.actions) {
            if let (ActionRule::Softmax, Some(label)) = (action.rule, label) {
                let scores = Scene::at(model, &own).term(&action.scores).map_err(explained)?;
                let all = softmax(scores.reals().map_err(explained)?).map_err(explained)?;
                likelihood = likelihood.times(&all[*label]);
            }
        }
        Ok(likelihood)
    }
}
