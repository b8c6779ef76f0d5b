//! Finite systems, decided completely.
//!
//! The states that can be reached from some initial states, with inputs from a finite list, are all visited. Every run
//! over them is then judged: by its letters as far as they decide, by a fair cycle of the negation's tableau, or by a
//! model error that comes first.

use std::collections::{HashMap, HashSet};

use dashu_base::BitTest;

use crate::formula::Specification;
use crate::graph::{self, Edge};
use crate::look::{Looker, ModelError, Position, Then};
use crate::model::{Model, State};
use crate::monitor::{Monitor, Shown, Standing};
use crate::real::Rational;
use crate::value::Stop;

/// The states and inputs that a decision is about.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    /// States of the declared ranges; those that satisfy every `init` are initial.
    pub starts: Vec<State>,
    /// The environment's choices, each flattened.
    pub inputs: Vec<Vec<Rational>>,
}

/// So often is a state visited, each time with something else left open.
const MOST_VISITS: usize = 5000;

/// States with longer numbers are not visited.
const MOST_DIGITS: usize = 2000;

/// A run: its positions, and where the last one returns to if it goes on for ever.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Each state with the position that it has.
    pub positions: Vec<(State, Position)>,
    /// The position to which the run returns.
    pub back: Option<usize>,
}

/// What is true of a finite system.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The shortest finite run that violates the property.
    pub prefix: Option<Witness>,
    /// A run that violates it for ever, if there is one.
    pub lasso: Option<Witness>,
    /// The shortest run with a model error before the property is decided.
    pub error: Option<(Witness, ModelError)>,
    /// Whether there is an initial state.
    pub has_start: bool,
}

impl Decision {
    /// Whether every run satisfies the property and none has a model error before it is decided.
    pub fn holds(&self) -> bool {
        !self.violated() && self.error.is_none()
    }

    /// Whether a run violates the property.
    pub fn violated(&self) -> bool {
        self.prefix.is_some() || self.lasso.is_some()
    }
}

/// A finite system, visited as far as the property leaves anything open.
pub struct Visited {
    pub(crate) states: Vec<State>,
    pub(crate) positions: Vec<Vec<Position>>,
    pub(crate) index: HashMap<State, usize>,
    pub(crate) initial: Vec<usize>,
    pub(crate) specification: Specification,
    monitor: Monitor,
    prefix: Option<Witness>,
    error: Option<(Witness, ModelError)>,
}

/// A state that was reached, and what the positions up to it say.
struct Visit {
    state: usize,
    standing: Standing,
    /// The visit before, and the position that led here.
    before: Option<(usize, usize)>,
}

/// The states and positions of the visits up to one.
fn places(visits: &[Visit], last: usize, position: usize) -> Vec<(usize, usize)> {
    let mut places = vec![(visits[last].state, position)];
    let mut at = last;
    while let Some((before, position)) = visits[at].before {
        places.push((visits[before].state, position));
        at = before;
    }
    places.reverse();
    places
}

/// The positions of a state; choices that make no difference are looked at once.
fn positions_of(looker: &Looker<'_>, state: &State, inputs: &[Vec<Rational>]) -> Result<Vec<Position>, String> {
    if state.iter().any(|number| number.denominator().bit_len() > MOST_DIGITS) {
        return Err("the numbers of the states become too long".to_owned());
    }
    let mut own = looker.positions(state, inputs).map_err(explained)?;
    let mut seen = HashSet::new();
    own.retain(|position| seen.insert((position.letter.clone(), position.then.clone())));
    Ok(own)
}

/// What to say of what stopped the interpreter.
pub(crate) fn explained(stop: Stop) -> String {
    match stop {
        Stop::NotKnown(what) => format!("not known: {what}"),
        Stop::Malformed(message) => message,
        Stop::Undefined(what) => what,
        Stop::Missing => "something is read that there is not".to_owned(),
    }
}

impl Visited {
    /// Visits all states; an error if they are too many, or if something is not known.
    pub fn new(model: &Model, specification: Specification, lattice: &Lattice) -> Result<Visited, String> {
        let mut own = Visited {
            states: Vec::new(),
            positions: Vec::new(),
            index: HashMap::new(),
            initial: Vec::new(),
            monitor: Monitor::new(&specification.formula)?,
            prefix: None,
            error: None,
            specification: specification.clone(),
        };
        let looker = Looker::new(model, &specification);
        let inputs: Vec<Vec<Rational>> = lattice.inputs.iter().filter(|own| model.permits(own)).cloned().collect();
        for start in lattice.starts.iter().filter(|start| model.outside(start).is_none()) {
            match looker.is_initial(start).map_err(explained)? {
                Ok(true) => {
                    let place = own.place_of(start);
                    own.initial.push(place);
                }
                Ok(false) => {}
                Err(error) => {
                    let position = Position { choice: None, letter: Vec::new(), then: Then::Error(error.clone()) };
                    let witness = Witness { positions: vec![(start.clone(), position)], back: None };
                    own.error = own.error.or(Some((witness, error)));
                }
            }
        }
        own.visit(&looker, &inputs)?;
        Ok(own)
    }

    fn place_of(&mut self, state: &State) -> usize {
        *self.index.entry(state.clone()).or_insert_with(|| {
            self.states.push(state.clone());
            self.states.len() - 1
        })
    }

    /// Visits states breadth first, as long as nothing is decided; the first violation and the first error are the shortest.
    fn visit(&mut self, looker: &Looker<'_>, inputs: &[Vec<Rational>]) -> Result<(), String> {
        let beginning = self.monitor.beginning();
        let mut known: HashSet<(usize, Standing)> = HashSet::new();
        let mut visits: Vec<Visit> = Vec::new();
        for &state in &self.initial {
            if known.insert((state, beginning.clone())) {
                visits.push(Visit { state, standing: beginning.clone(), before: None });
            }
        }
        let mut at = 0;
        while at < visits.len() {
            let state = visits[at].state;
            while self.positions.len() <= state {
                let place = self.positions.len();
                let own = positions_of(looker, &self.states[place], inputs)?;
                self.positions.push(own);
            }
            for place in 0..self.positions[state].len() {
                let position = self.positions[state][place].clone();
                let standing = self.monitor.after(&visits[at].standing, &position.letter);
                match (standing.shown(), position.then) {
                    (Shown::Satisfied, _) | (Shown::Open, Then::Nothing) => {}
                    (Shown::Violated, _) => {
                        if self.prefix.is_none() {
                            self.prefix = Some(self.witness(&places(&visits, at, place), None));
                        }
                    }
                    (Shown::Open, Then::Error(error)) => {
                        if self.error.is_none() {
                            self.error = Some((self.witness(&places(&visits, at, place), None), error));
                        }
                    }
                    (Shown::Open, Then::State(next)) => {
                        let next = self.place_of(&next);
                        if known.insert((next, standing.clone())) {
                            visits.push(Visit { state: next, standing, before: Some((at, place)) });
                        }
                    }
                }
            }
            if visits.len() > MOST_VISITS {
                return Err("there are too many states".to_owned());
            }
            at += 1;
        }
        Ok(())
    }

    /// Decides the property.
    pub fn decide(&self) -> Decision {
        let (prefix, error) = (self.prefix.clone(), self.error.clone());
        Decision { prefix, lasso: self.lasso(), error, has_start: !self.initial.is_empty() }
    }

    fn witness(&self, places: &[(usize, usize)], back: Option<usize>) -> Witness {
        let positions =
            places.iter().map(|&(state, place)| (self.states[state].clone(), self.positions[state][place].clone()));
        Witness { positions: positions.collect(), back }
    }

    /// A run that violates the property for ever: a fair cycle of the product with the negation's tableau.
    fn lasso(&self) -> Option<Witness> {
        let tableau = &self.monitor.negation;
        let mut nodes: Vec<(usize, usize)> = Vec::new();
        let mut index: HashMap<(usize, usize), usize> = HashMap::new();
        for &state in &self.initial {
            for node in tableau.beginning() {
                index.entry((state, node)).or_insert_with(|| {
                    nodes.push((state, node));
                    nodes.len() - 1
                });
            }
        }
        let roots = nodes.len();
        let mut edges: Vec<Vec<Edge>> = Vec::new();
        let mut labels: Vec<Vec<usize>> = Vec::new();
        while edges.len() < nodes.len() {
            let (state, node) = nodes[edges.len()];
            let (mut own, mut own_labels) = (Vec::new(), Vec::new());
            for (place, position) in self.positions[state].iter().enumerate() {
                let Then::State(next) = &position.then else { continue };
                // What lies behind a decision was not visited, and shows nothing new.
                let Some(&next) = self.index.get(next).filter(|&&next| next < self.positions.len()) else { continue };
                for way in &tableau.ways[node] {
                    if tableau.satisfiable[way.to] && way.fits(&position.letter) {
                        let to = *index.entry((next, way.to)).or_insert_with(|| {
                            nodes.push((next, way.to));
                            nodes.len() - 1
                        });
                        own.push(Edge { to, put_off: way.put_off });
                        own_labels.push(place);
                    }
                }
            }
            edges.push(own);
            labels.push(own_labels);
        }
        let (stem, cycle) = graph::fair_run(&edges, roots)?;
        let place = |(node, edge): (usize, usize)| (nodes[node].0, labels[node][edge]);
        let back = stem.len();
        let places: Vec<(usize, usize)> = stem.into_iter().chain(cycle).map(place).collect();
        Some(self.witness(&places, Some(back)))
    }
}
