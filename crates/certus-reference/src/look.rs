//! The positions that a state can have: every choice that may be made there, what the atoms say, and what follows.

use crate::decide::explained;
use crate::eval::{Choice, Scene, Successor};
use crate::formula::Specification;
use crate::model::{Model, State};
use crate::real::{Rational, Real};
use crate::step::{Draw, draws};
use crate::value::{Evaluated, Stop};

/// Where the file does not describe a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ModelError {
    /// An element of the successor is outside of its range.
    RangeExit {
        /// The element.
        variable: String,
        /// Its value.
        value: Rational,
    },
    /// No choice is allowed.
    Deadlock,
    /// An operation is outside of its domain.
    Undefined(String),
}

/// What follows a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// The successor.
    State(State),
    /// The run ends with a model error.
    Error(ModelError),
    /// Nothing: no choice is allowed in a terminal state, and none was needed.
    Nothing,
}

/// A position of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// What is chosen; nothing where choices do not matter any more.
    pub choice: Option<Choice>,
    /// The truth of each atom; none for those without a value.
    pub letter: Vec<Option<bool>>,
    /// What follows.
    pub then: Then,
}

/// A system and what is asked of it, with the inputs that are tried.
pub(crate) struct Looker<'a> {
    pub model: &'a Model,
    pub specification: &'a Specification,
    pub draws: Vec<Draw>,
}

/// What a state alone settles.
struct OfState {
    /// The truth of each atom; none for those without a value, or that read more.
    letter: Vec<Option<bool>>,
    /// Whether it is terminal.
    terminal: Result<bool, ModelError>,
    /// An atom that has no value because it is undefined.
    undefined: Option<ModelError>,
}

/// The result of one check: fine, undefined, or not known.
type Defined<T> = Evaluated<Result<T, ModelError>>;

/// Keeps an undefined operation apart from what stops the interpreter.
fn defined<T>(evaluated: Evaluated<T>) -> Defined<T> {
    match evaluated {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Undefined(what)) => Ok(Err(ModelError::Undefined(what))),
        Err(other) => Err(other),
    }
}

impl<'a> Looker<'a> {
    pub fn new(model: &'a Model, specification: &'a Specification) -> Looker<'a> {
        Looker { model, specification, draws: draws(model) }
    }

    /// Whether a state is initial; an error if that is undefined.
    pub fn is_initial(&self, state: &[Rational]) -> Defined<bool> {
        let reals = reals(state);
        let mut initial = true;
        for condition in &self.model.init {
            match defined(Scene::at(self.model, &reals).truth(condition))? {
                Ok(truth) => initial &= truth,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(initial && self.model.outside(state).is_none()))
    }

    /// Every position that a state can have, for all draws and some inputs.
    pub fn positions(&self, state: &[Rational], inputs: &[Vec<Rational>]) -> Evaluated<Vec<Position>> {
        let own = reals(state);
        let OfState { letter, terminal, undefined } = self.of_state(&own)?;
        let terminal = match terminal {
            Ok(terminal) => terminal,
            Err(error) => {
                let letter = self.without_policies(letter);
                return Ok(vec![Position { choice: None, letter, then: Then::Error(error) }]);
            }
        };
        let mut positions = Vec::new();
        for draw in &self.draws {
            for inputs in inputs {
                positions.extend(self.position(state, &own, terminal, &letter, draw.with(inputs))?);
            }
        }
        // What is chosen still gives a value to the atoms that read it.
        for position in &mut positions {
            if let (Then::State(_), Some(error)) = (&position.then, &undefined) {
                position.then = Then::Error(error.clone());
            }
        }
        if positions.is_empty() {
            let then = match terminal {
                _ if undefined.is_some() => undefined.map_or(Then::Nothing, Then::Error),
                false => Then::Error(ModelError::Deadlock),
                true if self.specification.reads_choices() => return Ok(positions),
                true => Then::Nothing,
            };
            positions.push(Position { choice: None, letter, then });
        }
        Ok(positions)
    }

    /// What the state alone settles: the atoms that read nothing else, and whether it is terminal.
    fn of_state(&self, state: &[Real]) -> Evaluated<OfState> {
        let mut scene = Scene::at(self.model, state);
        let (mut terminal, mut undefined) = (Ok(false), None);
        if let Some(condition) = &self.model.terminal {
            terminal = defined(scene.truth(condition))?;
        }
        let mut letter = Vec::new();
        for atom in &self.specification.atoms {
            if atom.uses.choice || atom.uses.next {
                letter.push(None);
                continue;
            }
            match defined(scene.truth(&atom.condition))? {
                Ok(truth) => letter.push(Some(truth)),
                Err(error) => {
                    letter.push(None);
                    undefined = undefined.or(Some(error));
                }
            }
        }
        Ok(OfState { letter, terminal, undefined })
    }

    /// What is left where a policy, an action, `terminal` or `assume` is undefined: atoms that read a policy or an action have no value.
    fn without_policies(&self, mut letter: Vec<Option<bool>>) -> Vec<Option<bool>> {
        for (truth, atom) in letter.iter_mut().zip(&self.specification.atoms) {
            *truth = truth.filter(|_| !atom.uses.policy);
        }
        letter
    }

    /// The position with one choice, if that is allowed or undefined.
    pub fn position(
        &self,
        state: &[Rational],
        own: &[Real],
        terminal: bool,
        letter: &[Option<bool>],
        choice: Choice,
    ) -> Evaluated<Option<Position>> {
        let model = self.model;
        let scene = Scene { choice: Some(&choice), successor: Successor::Computed, ..Scene::at(model, own) };
        let mut error = None;
        for expression in model.policies.iter().chain(model.actions.iter().map(|action| &action.scores)) {
            let scene = Scene { successor: Successor::None, ..scene.clone() };
            error = error.or(defined(scene.clone().term(expression))?.err());
        }
        let mut allowed = true;
        for assumption in model.assume.iter().filter(|own| !(terminal && own.mentions_next)) {
            match defined(scene.clone().truth(&assumption.condition))? {
                Ok(truth) => allowed &= truth,
                Err(undefined) => {
                    // Whether the choice is allowed cannot be said.
                    allowed = false;
                    error = error.or(Some(undefined));
                }
            }
        }
        let letter = letter.to_vec();
        if let Some(error) = error {
            let letter = self.without_policies(letter);
            return Ok(Some(Position { choice: Some(choice), letter, then: Then::Error(error) }));
        }
        if !allowed {
            return Ok(None);
        }
        let then = match self.successor(state, &scene, terminal)? {
            Err(error) => Then::Error(error),
            Ok(successor) => match model.outside(&successor) {
                Some((variable, value)) => Then::Error(ModelError::RangeExit { variable, value }),
                None => Then::State(successor),
            },
        };
        self.with_atoms(own, choice, letter, then).map(Some)
    }

    /// The successor of a state.
    fn successor(&self, state: &[Rational], scene: &Scene<'_>, terminal: bool) -> Defined<State> {
        if terminal {
            return Ok(Ok(state.to_vec()));
        }
        let mut successor = Vec::with_capacity(state.len());
        for place in 0..self.model.states.len() {
            let next = match defined(Scene { successor: Successor::None, ..scene.clone() }.successor_of(place))? {
                Ok(next) => next,
                Err(error) => return Ok(Err(error)),
            };
            for number in next {
                match number {
                    Real::Exact(value) => successor.push(value),
                    Real::Between(..) => return Err(Stop::NotKnown("the successor".to_owned())),
                }
            }
        }
        Ok(Ok(successor))
    }

    /// The truth of the atoms that read what is chosen, or the successor where there is one.
    fn with_atoms(
        &self,
        own: &[Real],
        choice: Choice,
        mut letter: Vec<Option<bool>>,
        mut then: Then,
    ) -> Evaluated<Position> {
        let successor = match &then {
            Then::State(state) => Some(reals(state)),
            _ => None,
        };
        for (place, atom) in self.specification.atoms.iter().enumerate() {
            if !atom.uses.choice && !atom.uses.next || atom.uses.next && successor.is_none() {
                continue;
            }
            let known = successor.as_deref().map_or(Successor::None, Successor::Known);
            let mut scene = Scene { choice: Some(&choice), successor: known, ..Scene::at(self.model, own) };
            match defined(scene.truth(&atom.condition))? {
                Ok(truth) => letter[place] = Some(truth),
                Err(error) => {
                    if let Then::State(_) = then {
                        then = Then::Error(error);
                    }
                }
            }
        }
        Ok(Position { choice: Some(choice), letter, then })
    }
}

/// A state as numbers that are known exactly.
pub(crate) fn reals(state: &[Rational]) -> Vec<Real> {
    state.iter().cloned().map(Real::Exact).collect()
}

/// Every position that a state can have with some inputs.
pub fn positions(
    model: &Model,
    specification: &Specification,
    state: &[Rational],
    inputs: &[Vec<Rational>],
) -> Result<Vec<Position>, String> {
    Looker::new(model, specification).positions(state, inputs).map_err(explained)
}
