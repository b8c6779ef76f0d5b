//! A step as polynomials.

use super::polynomial::{Polynomial, Rational};

/// A closed range of reals; an end that is missing is infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub lower: Option<Rational>,
    /// The upper end.
    pub upper: Option<Rational>,
}

/// Where a polynomial is positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The polynomial.
    pub polynomial: Polynomial,
    /// Whether zero is left out.
    pub strict: bool,
}

/// States that all constraints hold of.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is, for messages.
    pub name: String,
    /// The constraints, over the states.
    pub constraints: Vec<Constraint>,
    /// Whether it is the outside of the domain on one side.
    pub bounds_domain: bool,
}

/// One step of a system whose network is outside, as polynomials: the variables are the states, then the actions, then
/// what the environment chooses (its inputs, and the remainders of functions that are no polynomials).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The names of the states.
    pub states: Vec<String>,
    /// Where the initial states are: a box.
    pub init: Vec<(Rational, Rational)>,
    /// The box that every invariant lies in.
    pub domain: Vec<Range>,
    /// The limits of the actions.
    pub actions: Vec<Range>,
    /// What the environment chooses from.
    pub choices: Vec<(Rational, Rational)>,
    /// How many of the choices are inputs of the system; the others are remainders.
    pub inputs: usize,
    /// The next state, over all variables.
    pub next: Vec<Polynomial>,
    /// The states that must not be reached: those that violate the property, and those outside of the domain.
    pub unsafe_pieces: Vec<Piece>,
}

impl Model {
    /// The number of variables of [`Model::next`].
    pub fn variables(&self) -> usize {
        self.states.len() + self.actions.len() + self.choices.len()
    }

    /// The step with a program in the place of the actions: the next state over states and choices.
    pub fn closed(&self, program: &[Polynomial]) -> Option<Vec<Polynomial>> {
        let (states, choices) = (self.states.len(), self.choices.len());
        let variables = states + choices;
        let mut replacements: Vec<Polynomial> = (0..states).map(|i| Polynomial::variable(variables, i)).collect();
        replacements.extend(program.iter().map(|action| action.widened(variables)));
        replacements.extend((0..choices).map(|i| Polynomial::variable(variables, states + i)));
        self.next.iter().map(|next| next.compose(&replacements)).collect()
    }

    /// The states at which a program would leave the limits of the actions.
    pub fn beyond_limits(&self, program: &[Polynomial]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (index, (action, limits)) in program.iter().zip(&self.actions).enumerate() {
            let constant = |value: &Rational| Polynomial::constant(self.states.len(), value.clone());
            let sides = [
                limits.lower.as_ref().map(|lower| ("below", constant(lower).minus(action))),
                limits.upper.as_ref().map(|upper| ("above", action.minus(&constant(upper)))),
            ];
            for (side, polynomial) in sides.into_iter().flatten() {
                pieces.push(Piece {
                    name: format!("action {index} {side} its limit"),
                    constraints: vec![Constraint { polynomial, strict: true }],
                    bounds_domain: false,
                });
            }
        }
        pieces
    }
}
