//! The step of the loop: successors, by `next` as written or by an integrator, and the draws of a step.

use certus_lang::syntax::ast::ActionRule;

use crate::eval::{Choice, Scene, Successor};
use crate::functions;
use crate::model::{Method, Model, Update};
use crate::operations::{product, sum};
use crate::real::{Rational, Real};
use crate::value::{Evaluated, Stop, Term, Value, element, malformed};

impl Scene<'_> {
    /// The successor of one state variable, where the state is not terminal.
    pub fn successor_of(&self, place: usize) -> Evaluated<Vec<Real>> {
        let updates = &self.model.updates[place];
        if !updates.iter().any(|update| update.is_derivative) {
            return self.given(place, updates);
        }
        let Some(dt) = self.model.dt else { return malformed("derivatives need a time step") };
        let integrated = match self.model.method {
            Method::Euler => {
                let start = self.state.ok_or(Stop::Missing)?;
                let variable = &self.model.states[place];
                moved(&start[variable.start..variable.start + variable.len], &self.given(place, updates)?, dt)?
            }
            Method::RungeKutta => self.part(place, self.runge_kutta(dt)?),
            Method::Exact => self.part(place, self.flown(dt)?),
        };
        if self.model.after[place].is_empty() {
            return Ok(integrated);
        }
        // `after` reads integrated numbers by the names of their variables.
        let mut state = self.state.ok_or(Stop::Missing)?.to_vec();
        for other in 0..self.model.states.len() {
            if self.model.updates[other].iter().any(|update| update.is_derivative) {
                let variable = &self.model.states[other];
                let own = Scene { successor: Successor::None, ..self.clone() }.integrated_only(other, dt)?;
                state[variable.start..variable.start + variable.len].clone_from_slice(&own);
            }
        }
        let stage = Scene { state: Some(&state), successor: Successor::None, ..self.clone() };
        let mut mapped = integrated;
        for update in &self.model.after[place] {
            let value = stage.clone().term(&update.value)?;
            let value = value.reals()?;
            for (at, number) in update.elements.clone().enumerate() {
                match mapped.get_mut(number) {
                    Some(own) => *own = element(value, at).clone(),
                    None => return malformed("no such element"),
                }
            }
        }
        Ok(mapped)
    }

    /// The numbers of one variable.
    fn part(&self, place: usize, all: Vec<Real>) -> Vec<Real> {
        let variable = &self.model.states[place];
        all[variable.start..variable.start + variable.len].to_vec()
    }

    /// What integration makes of one variable, before anything that comes after.
    fn integrated_only(&self, place: usize, dt: f64) -> Evaluated<Vec<Real>> {
        let all = match self.model.method {
            Method::Euler => {
                let start = self.state.ok_or(Stop::Missing)?;
                moved(start, &self.slopes(start)?, dt)?
            }
            Method::RungeKutta => self.runge_kutta(dt)?,
            Method::Exact => self.flown(dt)?,
        };
        Ok(self.part(place, all))
    }

    /// What the right sides of a variable's declarations give, element by element.
    fn given(&self, place: usize, updates: &[Update]) -> Evaluated<Vec<Real>> {
        let mut numbers: Vec<Option<Real>> = vec![None; self.model.states[place].len];
        for update in updates {
            let value = self.clone().term(&update.value)?;
            let value = match &value.value {
                Value::Labels(labels) => self.model.states[place].numbered(labels)?,
                _ => value.reals()?.to_vec(),
            };
            if value.len() != 1 && value.len() != update.elements.len() {
                return malformed("a successor has as many numbers as its variable");
            }
            for (at, number) in update.elements.clone().enumerate() {
                match numbers.get_mut(number) {
                    Some(own) => *own = Some(element(&value, at).clone()),
                    None => return malformed("no such element"),
                }
            }
        }
        let numbers: Option<Vec<Real>> = numbers.into_iter().collect();
        numbers.map_or_else(|| malformed("not every element has a successor"), Ok)
    }

    /// The derivatives of all integrated numbers in a state; zero for the others, which keep their value.
    pub(crate) fn slopes(&self, state: &[Real]) -> Evaluated<Vec<Real>> {
        let stage = Scene { state: Some(state), successor: Successor::None, ..self.clone() };
        let mut slopes = Vec::with_capacity(state.len());
        for (place, updates) in self.model.updates.iter().enumerate() {
            match updates.iter().any(|update| update.is_derivative) {
                true => slopes.extend(stage.given(place, updates)?),
                false => slopes.extend(vec![Real::zero(); self.model.states[place].len]),
            }
        }
        Ok(slopes)
    }

    /// The classical method of order four.
    fn runge_kutta(&self, dt: f64) -> Evaluated<Vec<Real>> {
        let start = self.state.ok_or(Stop::Missing)?;
        let first = self.slopes(start)?;
        let second = self.slopes(&moved(start, &first, dt / 2.0)?)?;
        let third = self.slopes(&moved(start, &second, dt / 2.0)?)?;
        let fourth = self.slopes(&moved(start, &third, dt)?)?;
        let two = Real::Exact(crate::real::whole(2));
        let combined: Vec<Real> =
            (0..start.len()).map(|i| first[i].plus(&second[i].plus(&third[i]).times(&two)).plus(&fourth[i])).collect();
        moved(start, &combined, dt / 6.0)
    }
}

/// `start + h * slopes`.
fn moved(start: &[Real], slopes: &[Real], h: f64) -> Evaluated<Vec<Real>> {
    let change = product(&Term::number(h)?, &Term::varying(slopes.to_vec()))?;
    Ok(sum(&Term::varying(start.to_vec()), &change)?.reals()?.to_vec())
}

/// One outcome of the dice of a step.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub chances: Vec<usize>,
    pub actions: Vec<Option<usize>>,
    /// How likely it is, apart from the actions.
    pub probability: Rational,
}

/// Every outcome with a positive probability.
pub(crate) fn draws(model: &Model) -> Vec<Draw> {
    let mut all = vec![Draw { chances: Vec::new(), actions: Vec::new(), probability: Rational::ONE }];
    for chance in &model.chances {
        let mut longer = Vec::new();
        for draw in &all {
            for (label, probability) in chance.probabilities.iter().enumerate() {
                if probability > &Rational::ZERO {
                    let mut own = draw.clone();
                    own.chances.push(label);
                    own.probability *= probability;
                    longer.push(own);
                }
            }
        }
        all = longer;
    }
    for action in &model.actions {
        let labels: Vec<Option<usize>> = match action.rule {
            ActionRule::Argmax => vec![None],
            ActionRule::Softmax => (0..action.labels.len()).map(Some).collect(),
        };
        let longer = all.iter().flat_map(|draw| {
            labels.iter().map(|label| {
                let mut own = draw.clone();
                own.actions.push(*label);
                own
            })
        });
        all = longer.collect();
    }
    all
}

impl Draw {
    /// The draw together with the environment's choice.
    pub fn with(&self, inputs: &[Rational]) -> Choice {
        Choice { inputs: inputs.to_vec(), chances: self.chances.clone(), actions: self.actions.clone() }
    }
}

/// The probabilities of a softmax over scores.
pub(crate) fn softmax(scores: &[Real]) -> Evaluated<Vec<Real>> {
    let unknown = || Stop::NotKnown("a softmax".to_owned());
    let Some(first) = scores.first() else { return malformed("no scores") };
    let relative = |score: &Real| {
        let difference = score.minus(first);
        let (low, high) = (functions::exp(difference.low()), functions::exp(difference.high()));
        Ok(Real::between(low.ok_or_else(unknown)?.low().clone(), high.ok_or_else(unknown)?.high().clone()))
    };
    let weights: Vec<Real> = scores.iter().map(relative).collect::<Evaluated<_>>()?;
    let total = weights.iter().fold(Real::zero(), |total, weight| total.plus(weight));
    weights.iter().map(|weight| weight.over(&total).ok_or_else(unknown)).collect()
}
