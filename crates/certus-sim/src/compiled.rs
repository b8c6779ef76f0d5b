//! A system compiled for evaluation: which outputs are computed, and where they are.
//!
//! Random actions need the policy's probabilities before the rest of the step can be evaluated, so such a system is
//! compiled in two parts: scores first, then the step with the sampled choices as inputs.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::Evaluator;
use certus_lang::system::{ActionRole, Formula, System};

use crate::SimulationError;

/// Where in the outputs of a compiled step to find things.
#[derive(Default)]
pub(crate) struct Ports {
    pub(crate) next: Vec<usize>,
    pub(crate) truths: Vec<usize>,
    pub(crate) margins: Vec<usize>,
    pub(crate) assume: Option<usize>,
    /// Where a position is defined, a whole step, and each atom that is watched.
    pub(crate) choice_defined: Option<usize>,
    pub(crate) defined: Option<usize>,
    pub(crate) atoms_defined: Vec<Option<usize>>,
    pub(crate) terminal: Option<usize>,
    pub(crate) reward: Option<usize>,
    pub(crate) policies: Vec<usize>,
    /// For each argmax action, its choice.
    pub(crate) argmax: Vec<usize>,
}

/// A random action.
pub(crate) struct RandomAction {
    /// How many labels it has.
    pub(crate) labels: usize,
    /// The open network whose result is the choice, one-hot: somebody outside makes it.
    pub(crate) given: Option<usize>,
}

/// The parts of a compiled system.
pub(crate) struct Compiled {
    pub(crate) step: Evaluator<f64>,
    pub(crate) ports: Ports,
    /// The probabilities of each random action, then the policies; `None` if nothing is sampled.
    pub(crate) scores: Option<Evaluator<f64>>,
    pub(crate) init: Option<Evaluator<f64>>,
    pub(crate) random_actions: Vec<RandomAction>,
}

/// A system with its compiled parts.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) system: &'a System,
    pub(crate) compiled: &'a Compiled,
    /// The formulas that are judged on every run.
    pub(crate) watched: &'a [Formula],
}

/// Collects the outputs to keep, in order.
struct Keep(Vec<usize>);

impl Keep {
    fn add(&mut self, port: usize) -> usize {
        self.0.push(port);
        self.0.len() - 1
    }
}

/// Compiles the part of a step that some outputs need.
pub(crate) fn compile(system: &System, keep: &[usize]) -> Result<Evaluator<f64>, SimulationError> {
    Ok(Evaluator::new(&canonicalize(&system.step.keep_outputs(keep))?))
}

impl Compiled {
    /// Compiles a system; `watched` asks for atoms, policies and actions too.
    pub(crate) fn new(system: &System, watched: bool) -> Result<Self, SimulationError> {
        let roles = &system.roles;
        let softmax: Vec<(usize, RandomAction)> = roles
            .actions
            .iter()
            .enumerate()
            .filter_map(|(index, role)| match role {
                ActionRole::Softmax { probabilities, .. } => {
                    let labels = system.actions[index].labels.len();
                    let given = system.networks.iter().position(|network| network.action == Some(index));
                    Some((probabilities.port, RandomAction { labels, given }))
                }
                ActionRole::Argmax { .. } => None,
            })
            .collect();
        let sampled = softmax.iter().any(|(_, action)| action.given.is_none());
        let policies = || roles.policies.iter().map(|policy| policy.port);
        let atoms = if watched { roles.atoms.as_slice() } else { &[] };
        let actions = if watched { roles.actions.as_slice() } else { &[] };
        let mut keep = Keep(Vec::new());
        let ports = Ports {
            next: roles.next.iter().map(|next| keep.add(next.port)).collect(),
            truths: atoms.iter().map(|atom| keep.add(atom.truth.port)).collect(),
            margins: atoms.iter().map(|atom| keep.add(atom.margin.port)).collect(),
            assume: roles.assume.map(|assume| keep.add(assume.truth.port)),
            choice_defined: roles.choice_defined.map(|defined| keep.add(defined.truth.port)),
            defined: roles.defined.map(|defined| keep.add(defined.truth.port)),
            atoms_defined: match watched {
                true => roles.atoms_defined.iter().map(|own| own.map(|own| keep.add(own.truth.port))).collect(),
                false => Vec::new(),
            },
            terminal: roles.terminal.map(|terminal| keep.add(terminal.truth.port)),
            reward: roles.reward.map(|reward| keep.add(reward.port)),
            policies: match watched && !sampled {
                true => policies().map(|port| keep.add(port)).collect(),
                false => Vec::new(),
            },
            argmax: actions
                .iter()
                .filter_map(|role| match role {
                    ActionRole::Argmax { choice, .. } => Some(keep.add(choice.port)),
                    ActionRole::Softmax { .. } => None,
                })
                .collect(),
        };
        let score_ports: Vec<usize> = softmax.iter().map(|&(port, _)| port).chain(policies()).collect();
        let scores = if sampled { Some(compile(system, &score_ports)?) } else { None };
        let init = roles.init.map(|init| compile(system, &[init.truth.port])).transpose()?;
        let step = compile(system, &keep.0)?;
        let random_actions = softmax.into_iter().map(|(_, action)| action).collect();
        Ok(Compiled { step, ports, scores, init, random_actions })
    }
}
