//! The abstraction of a system over template polyhedra: where a region lies, which moves it makes with which probabilities,
//! and where each move leads.
//!
//! E. Bacci and D. Parker, 'Verified probabilistic policies for deep reinforcement learning', NFM 2022. A region is an abstract state; the
//! bounds of its moves' probabilities make the abstraction an interval MDP that contains the concrete process.
//!
//! * `joint.rs`: the step as graphs over one vector of variables;
//! * `modes.rs`: the plant's guards as a decision tree; `order.rs`: what the environment knows when it chooses; `inputs.rs`: what it may choose;
//! * `policy.rs`: probabilities of moves; `image.rs`, `subdivide.rs`: next states; `expand.rs`: one step of a batch of regions;
//! * `cross_entropy_split.rs`, `templates.rs`: where to split regions, and along which directions to bound them;
//! * `samples.rs`: plain evaluation at points, which proves nothing and guides all of these.
//!
//! *Soundness.* Probabilities and next states are bounded over the whole region, from linear bounds of the step graph that hold over its box,
//! maximised over the polyhedron by a rigorous linear program, and rounded outwards.

mod cross_entropy_split;
mod expand;
mod image;
mod inputs;
mod joint;
mod modes;
mod order;
mod policy;
mod samples;
mod subdivide;
mod templates;

use std::sync::Arc;

use certus_graph::Graph;
use certus_graph::canonical::canonicalize;
use certus_graph::eval::Evaluator;
use certus_lang::System;
use certus_lang::system::Integers;
use certus_solver::{LinearBound, LinearBounds};

pub use cross_entropy_split::best_split;
pub use expand::{Expansion, Failure, Part, Refining, Successor};
pub use joint::{Choice, Joint, Layout, Task};
pub use modes::{HalfSpace, Mode, Modes};
pub(crate) use policy::softmax;
pub use samples::Behaved;
use samples::element_major;
pub use templates::automatic;

use crate::template_polyhedron::{Rows, Template};

/// A system with a task, prepared for bounds over polyhedra of one template.
pub struct Abstraction {
    template: Arc<Template>,
    modes: Modes,
    /// For modes that are linear: a line above each direction of each move's next state.
    images: Vec<Option<Vec<LinearBound>>>,
    choices: Vec<Choice>,
    moves: Vec<Vec<usize>>,
    order: order::Order,
    inputs: inputs::Inputs,
    policy: Option<LinearBounds>,
    evaluator: Option<Evaluator<f64>>,
    plant: Evaluator<f64>,
    scores: Graph,
    plant_graph: Graph,
    /// The next states alone, as they were written.
    next_graph: Graph,
    layout: Layout,
    /// The ranges of all variables; those without an end as far as the system is followed, beyond which nothing is known of it.
    range: (Vec<f64>, Vec<f64>),
    /// The declared ranges of the state.
    declared: (Vec<f64>, Vec<f64>),
    states: usize,
    /// Whether staying up to the last step counts as reaching.
    weak: bool,
    /// A region is split into at most so many pieces for its image.
    pieces: usize,
}

/// Pieces of a region that are tried where its image is loose, if nothing else was said.
pub const PIECES: usize = 8;

/// What stands for a range without end.
const FAR: f64 = 1e6;

impl Abstraction {
    /// Prepares a system and a task.
    pub fn new(system: &System, task: &Task, template: Template) -> Result<Abstraction, String> {
        let joint = Joint::new(system, task)?;
        let states = joint.states;
        if template.dimension() != states {
            return Err(format!("a template of {} dimensions for {states} state variables", template.dimension()));
        }
        let (mut lower, mut upper) = (joint.lower, joint.upper);
        let declared = (lower[..states].to_vec(), upper[..states].to_vec());
        for i in 0..states {
            let far = |other: f64| if other.is_finite() { FAR.max(2.0 * other.abs()) } else { FAR };
            let (low, high) = (lower[i], upper[i]);
            lower[i] = if low.is_finite() { low } else { -far(high) };
            upper[i] = if high.is_finite() { high } else { far(low) };
        }
        let failed = |error: certus_graph::GraphError| format!("the step cannot be bounded: {error}");
        let splits = order::splits(system, states, (&lower, &upper));
        let modes =
            Modes::new(&joint.plant, states, joint.layout, &Rows::of_box(&lower, &upper), splits).map_err(failed)?;
        let integers: Vec<Option<Integers>> =
            system.inputs.iter().flat_map(|own| std::iter::repeat_n(own.integers.clone(), own.len)).collect();
        let inputs =
            inputs::Inputs::new((&lower, &upper), states, &integers, joint.allowed.as_ref()).map_err(failed)?;
        let scored = !joint.scores.outputs().is_empty();
        let policy = if scored { Some(LinearBounds::new(&joint.scores).map_err(failed)?) } else { None };
        let compiled = canonicalize(&joint.scores).map_err(failed)?;
        let plant = canonicalize(&joint.plant).map_err(failed)?;
        let mut own = Abstraction {
            template: Arc::new(template),
            images: Vec::new(),
            modes,
            order: order::Order::new(system, &joint.choices, &joint.moves),
            inputs,
            choices: joint.choices,
            moves: joint.moves,
            policy,
            evaluator: scored.then(|| Evaluator::new(&compiled)),
            plant: Evaluator::new(&plant),
            scores: compiled,
            next_graph: joint.plant.keep_outputs(&(0..joint.layout.moves).collect::<Vec<_>>()),
            plant_graph: joint.plant,
            layout: joint.layout,
            range: (lower, upper),
            declared,
            states,
            weak: task.weak,
            pieces: PIECES,
        };
        own.images = (0..own.modes.modes.len())
            .map(|mode| {
                let lines = &own.modes.modes[mode].next;
                lines.is_linear().then(|| lines.below(std::slice::from_ref(&own.range), &own.directions()).remove(0))
            })
            .collect();
        Ok(own)
    }

    /// The same with another limit on the pieces that a region is split into where its image is loose.
    pub fn with_pieces(self, pieces: usize) -> Abstraction {
        Abstraction { pieces, ..self }
    }

    /// The template.
    pub fn template(&self) -> &Arc<Template> {
        &self.template
    }

    /// How many moves a step has.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// How many numbers a state has.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Whether staying up to the last step counts as reaching the goal.
    pub fn weak(&self) -> bool {
        self.weak
    }

    /// How many modes the plant has.
    pub fn modes(&self) -> usize {
        self.modes.modes.len()
    }

    /// The graph of all moves' next states, the goal and the condition before it, over the variables: as it was written, nothing folded.
    pub(crate) fn plant_graph(&self) -> &Graph {
        &self.plant_graph
    }

    /// The graph of the scores over the variables.
    pub(crate) fn scores_graph(&self) -> &Graph {
        &self.scores
    }

    pub(crate) fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The declared ranges of the state.
    pub(crate) fn declared(&self) -> (&[f64], &[f64]) {
        (&self.declared.0, &self.declared.1)
    }

    pub(crate) fn range(&self) -> (&[f64], &[f64]) {
        (&self.range.0, &self.range.1)
    }
}
