//! Monte Carlo evaluation of an extracted policy beside its network: returns of episodes of both.
//!
//! Sutton and Barto, "Reinforcement Learning: An Introduction", MIT Press, 2nd edition 2018, chapter 5. Episodes of both policies begin in the same states and draw the same inputs (common random numbers), as far as
//! `assume` allows them after what each policy does. Where it does not, others are drawn; an episode in which none is found ends.

use std::collections::{BTreeMap, HashMap};

use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, Output, System};
use certus_numerics::Random;
use certus_sim::{Element, Starts};

use crate::extract::{ExtractOptions, ExtractedAction, Extraction};
use crate::grid::{Cell, Grid};
use crate::transition_relation::{Choice, TransitionRelation};

/// The episodes of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episodes {
    /// How many.
    pub count: usize,
    /// How many steps each has at most.
    pub steps: usize,
}

/// Episodes per batch: enough to evaluate many states at once, few enough that stopping loses little.
const TOGETHER: usize = 256;

/// How often other inputs are drawn where `assume` does not allow a step.
const ATTEMPTS: usize = 256;

/// The returns of both policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// The network's return in each episode; fewer than requested if the evaluation was stopped.
    pub network: Vec<f64>,
    /// The extracted policy's return in each of the same episodes.
    pub extracted: Vec<f64>,
    /// Every cell that an episode visited, by its first fine places, with the extracted policy's action.
    pub cells: BTreeMap<Vec<u64>, ExtractedAction>,
}

/// The five-number summary of a box plot: minimum, quartiles, maximum.
pub fn five_numbers(values: &[f64]) -> [f64; 5] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (sorted.len().max(1) - 1) as f64;
        let (low, high) = (place.floor() as usize, place.ceil() as usize);
        match (sorted.get(low), sorted.get(high)) {
            (Some(a), Some(b)) => a + (b - a) * (place - place.floor()),
            _ => f64::NAN,
        }
    };
    [0.0, 0.25, 0.5, 0.75, 1.0].map(at)
}

/// Runs episodes with the network and with the policy extracted from it, until all are over or `stop` says so.
pub fn compare(
    system: &System,
    grid: &Grid,
    options: ExtractOptions,
    episodes: Episodes,
    stop: &dyn Fn() -> bool,
) -> Result<Compared, String> {
    let roles = &system.roles;
    let Some(reward) = roles.reward else {
        return Err(format!("{} declares no `reward`, so it has no returns to compare", system.name));
    };
    if !system.init_is_union {
        return Err(format!("the initial states of {} are not boxes, so they cannot be sampled", system.name));
    }
    let others = roles.terminal.into_iter().chain(roles.assume).map(|own| own.truth);
    let wanted: Vec<Output> = [reward].into_iter().chain(others).collect();
    let mut network = Player::new(system, grid, TransitionRelation::with(system, &wanted, false)?, None)?;
    let mut extracted = Player::new(system, grid, TransitionRelation::with(system, &wanted, true)?, Some(options))?;
    let mut compared = Compared::default();
    while compared.network.len() < episodes.count {
        let first = compared.network.len();
        let numbers = first..episodes.count.min(first + TOGETHER);
        let play = |player: &mut Player<'_>| {
            let runs = numbers.clone().map(|run| Episode::new(system, options.seed, run)).collect();
            player.play(system, runs, episodes.steps, stop).map_err(|error| error.to_string())
        };
        let Some(by_network) = play(&mut network)? else { break };
        let Some(by_extracted) = play(&mut extracted)? else { break };
        compared.network.extend(by_network);
        compared.extracted.extend(by_extracted);
    }
    compared.cells = extracted.known.into_iter().collect();
    Ok(compared)
}

struct Episode {
    state: Vec<f64>,
    random: Random,
    sum: f64,
    over: bool,
}

impl Episode {
    fn new(system: &System, seed: u64, run: usize) -> Episode {
        let mut random = Random::new(seed, run as u64);
        let mut state = vec![0.0; system.state_len()];
        Starts::of(system).draw(&Element::of(&system.states), &mut random, |element, value| state[element] = value);
        Episode { state, random, sum: 0.0, over: false }
    }
}

/// A policy that makes steps.
struct Player<'a> {
    grid: &'a Grid,
    relation: TransitionRelation,
    policy: Evaluator<f64>,
    steps: Vec<Evaluator<f64>>,
    extraction: Option<Extraction>,
    known: HashMap<Vec<u64>, ExtractedAction>,
    workspace: Workspace<f64>,
}

impl<'a> Player<'a> {
    fn new(
        system: &System,
        grid: &'a Grid,
        relation: TransitionRelation,
        options: Option<ExtractOptions>,
    ) -> Result<Player<'a>, String> {
        let extraction = options.map(|own| Extraction::new(system, &relation, own)).transpose();
        Ok(Player {
            grid,
            policy: Evaluator::new(&relation.policy),
            steps: relation.transitions.iter().map(|own| Evaluator::new(&own.step)).collect(),
            extraction: extraction.map_err(|error| error.to_string())?,
            relation,
            known: HashMap::new(),
            workspace: Workspace::default(),
        })
    }

    /// The returns of episodes; nothing if stopped.
    fn play(
        &mut self,
        system: &System,
        mut runs: Vec<Episode>,
        steps: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<f64>>, certus_graph::GraphError> {
        for _ in 0..steps {
            if stop() {
                return Ok(None);
            }
            self.step(system, &mut runs)?;
            if runs.iter().all(|run| run.over) {
                break;
            }
        }
        Ok(Some(runs.iter().map(|run| run.sum).collect()))
    }

    /// One step of all episodes that are not over.
    fn step(&mut self, system: &System, runs: &mut [Episode]) -> Result<(), certus_graph::GraphError> {
        let open: Vec<usize> = (0..runs.len()).filter(|&run| !runs[run].over).collect();
        if let Some(extraction) = &self.extraction {
            let mut missing: Vec<Cell> = Vec::new();
            for &run in &open {
                let cell = self.grid.requested_cell(&runs[run].state);
                if !self.known.contains_key(&cell.places) && !missing.contains(&cell) {
                    missing.push(cell);
                }
            }
            for cells in missing.chunks(256) {
                for (cell, given) in cells.iter().zip(extraction.actions(self.grid, cells)?) {
                    self.known.insert(cell.places.clone(), given);
                }
            }
        }
        let mut dice: HashMap<usize, Random> = HashMap::new();
        let mut waiting = open;
        for _ in 0..ATTEMPTS {
            waiting = self.attempt(system, runs, &waiting, &mut dice)?;
            if waiting.is_empty() {
                return Ok(());
            }
        }
        waiting.into_iter().for_each(|run| runs[run].over = true);
        Ok(())
    }

    /// Tries one step of some episodes, each with fresh inputs and the random draws of the first attempt; those that `assume`
    /// does not allow are returned.
    fn attempt(
        &mut self,
        system: &System,
        runs: &mut [Episode],
        waiting: &[usize],
        dice: &mut HashMap<usize, Random>,
    ) -> Result<Vec<usize>, certus_graph::GraphError> {
        let mut refused = Vec::new();
        // Runs that make the same transition make it together.
        let mut groups: BTreeMap<usize, Vec<(usize, Vec<f64>)>> = BTreeMap::new();
        for &run in waiting {
            let own = &mut runs[run];
            let mut numbers = own.state.clone();
            numbers.extend(Element::of(&system.inputs).iter().map(|input| input.draw(&mut own.random)));
            let given = match self.extraction {
                Some(_) => self.known.get(&self.grid.requested_cell(&own.state).places).cloned(),
                None => None,
            };
            let labels = match dice.get(&run) {
                Some(thrown) => self.labels(system, &numbers, given.as_ref(), &mut thrown.clone())?,
                None => {
                    dice.insert(run, own.random.clone());
                    self.labels(system, &numbers, given.as_ref(), &mut own.random)?
                }
            };
            numbers.extend(given.into_iter().flat_map(|given| given.outputs));
            let place = self.relation.transitions.iter().position(|own| own.labels == labels).unwrap_or(0);
            groups.entry(place).or_default().push((run, numbers));
        }
        for (place, members) in groups {
            let step = &self.steps[place];
            let count = members.len();
            let rows = members[0].1.len();
            let table: Vec<f64> =
                (0..rows).flat_map(|row| members.iter().map(move |(_, numbers)| numbers[row])).collect();
            let mut slices: Vec<&[f64]> = Vec::new();
            let mut row = 0;
            for port in step.graph().inputs() {
                let elements = step.graph().elements(port.node);
                slices.push(&table[row * count..(row + elements) * count]);
                row += elements;
            }
            step.run(&mut self.workspace, &slices, count)?;
            let states = system.states.len();
            for (at, (run, _)) in members.iter().enumerate() {
                let own = &mut runs[*run];
                let terminal = usize::from(system.roles.terminal.is_some());
                let ended = terminal == 1 && step.output(&self.workspace, &slices, states + 1)[at] != 0.0;
                if ended {
                    own.over = true;
                    continue;
                }
                if system.roles.assume.is_some()
                    && step.output(&self.workspace, &slices, states + 1 + terminal)[at] == 0.0
                {
                    refused.push(*run);
                    continue;
                }
                own.sum += step.output(&self.workspace, &slices, states)[at];
                let next = (0..states).flat_map(|variable| {
                    let values = step.output(&self.workspace, &slices, variable);
                    (0..values.len() / count).map(move |element| values[element * count + at])
                });
                own.state = next.collect();
                let mut inside = own.state.iter().zip(&self.grid.axes);
                own.over = !inside.all(|(value, axis)| axis.lower <= *value && *value <= axis.upper);
            }
        }
        refused.sort_unstable();
        Ok(refused)
    }

    /// The label of every choice of one run.
    fn labels(
        &mut self,
        system: &System,
        numbers: &[f64],
        given: Option<&ExtractedAction>,
        random: &mut Random,
    ) -> Result<Vec<usize>, certus_graph::GraphError> {
        if self.relation.choices.is_empty() {
            return Ok(Vec::new());
        }
        let largest = match given {
            Some(given) => given.labels.clone(),
            None => {
                let graph = self.policy.graph();
                let mut slices: Vec<Vec<f64>> = Vec::new();
                let mut rest = numbers;
                for port in graph.inputs() {
                    let elements = graph.elements(port.node);
                    // What stands for labels of others is not read by a policy that runs before them.
                    let (own, after) = rest.split_at(elements.min(rest.len()));
                    slices.push(if own.len() == elements { own.to_vec() } else { vec![0.0; elements] });
                    rest = after;
                }
                let slices: Vec<&[f64]> = slices.iter().map(Vec::as_slice).collect();
                self.policy.run(&mut self.workspace, &slices, 1)?;
                let outputs = graph.outputs().len();
                (system.policies.len()..outputs)
                    .map(|output| {
                        let own = self.policy.output(&self.workspace, &slices, output);
                        own.iter().position(|&value| value != 0.0).unwrap_or(0)
                    })
                    .collect()
            }
        };
        let mut largest = largest.into_iter();
        let labels = self.relation.choices.iter().map(|choice| match choice {
            Choice::Argmax(_) => largest.next().unwrap_or(0),
            Choice::Chance(place) => Random::pick(system.chances[*place].probabilities.iter().copied(), random.unit()),
            Choice::Softmax(place) => {
                debug_assert!(matches!(system.roles.actions[*place], ActionRole::Softmax { .. }));
                (random.bits() % system.actions[*place].labels.len() as u64) as usize
            }
        });
        Ok(labels.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell as Counter;

    use super::*;

    #[test]
    fn stopped_episodes_are_the_first_ones_of_all() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/mountain_car/mountain_car.certus");
        let system = certus_lang::load_file(path, &certus_lang::LowerOptions::default()).unwrap();
        let grid = Grid::new(&system, &[0.05, 0.005]).unwrap();
        // Too short for any of them to be over before.
        let episodes = Episodes { count: TOGETHER + 10, steps: 20 };
        let run = |stop: &dyn Fn() -> bool| compare(&system, &grid, ExtractOptions::default(), episodes, stop).unwrap();
        let all = run(&|| false);
        assert_eq!((all.network.len(), all.extracted.len()), (episodes.count, episodes.count));
        let asked = Counter::new(0);
        let some = run(&|| {
            asked.set(asked.get() + 1);
            asked.get() > 2 * episodes.steps
        });
        assert_eq!((&some.network[..], &some.extracted[..]), (&all.network[..TOGETHER], &all.extracted[..TOGETHER]));
        assert_eq!(run(&|| true), Compared::default());
    }

    /// A network that gives zero.
    struct Zero;

    impl certus_lang::Networks for Zero {
        fn load(&mut self, _: &str) -> Result<std::sync::Arc<certus_graph::Graph>, String> {
            let mut graph = certus_graph::Graph::new();
            let x = graph.input("x", &[1, 1]);
            let layer =
                certus_graph::ops::Affine::dense(vec![0.0], 1, 1, vec![0.0]).map_err(|error| error.to_string())?;
            let y = graph.apply(layer, &[x]).map_err(|error| error.to_string())?;
            graph.output("y", y);
            Ok(std::sync::Arc::new(graph))
        }
    }

    #[test]
    fn episodes_make_steps_that_are_allowed() {
        let text = "system s\nstate x in [0, 10]\ninput u in [0, 1]\nchance c of { a: 0.5, b: 0.5 }\npolicy y = net(\"zero\", x)\n\
                    next x = min(x + u + match c { a: 0, b: 0.25 }, 10)\nassume u > 0.9\ninit x == 0\nreward u + y\nproperty p = G x >= 0\n";
        let load = |text: &str| certus_lang::load_str(text, &mut Zero, &certus_lang::LowerOptions::default()).unwrap();
        let episodes = Episodes { count: 20, steps: 4 };
        let run = |text: &str| {
            let system = load(text);
            let grid = Grid::new(&system, &[1.0]).unwrap();
            compare(&system, &grid, ExtractOptions::default(), episodes, &|| false).unwrap()
        };
        let compared = run(text);
        assert!(
            compared.network.iter().chain(&compared.extracted).all(|own| (3.6..=4.0).contains(own)),
            "{compared:?}"
        );
        // Where nothing is allowed, the return is zero.
        let stuck = run(&text.replace("assume u > 0.9", "assume u > 2"));
        assert!(stuck.network.iter().chain(&stuck.extracted).all(|own| *own == 0.0));
    }

    #[test]
    fn quartiles_of_five_numbers_are_those_numbers() {
        assert_eq!(five_numbers(&[3.0, 1.0, 5.0, 2.0, 4.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(five_numbers(&[2.0, 4.0]), [2.0, 2.5, 3.0, 3.5, 4.0]);
        assert!(five_numbers(&[]).iter().all(|value| value.is_nan()));
    }
}
