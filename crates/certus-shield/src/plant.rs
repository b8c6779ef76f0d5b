//! A model in floating point: what searching needs of it.

use certus_audit::shield::{Model, Piece, Polynomial, Range, rational, rounded};

use crate::polynomial::Poly;

/// A step and its limits in floating point, beside the exact model.
#[derive(Clone, Debug)]
pub struct Plant {
    /// The exact model.
    pub model: Model,
    /// The next state over states, actions and choices.
    pub next: Vec<Poly>,
    /// Lower and upper ends of the initial states.
    pub init: Vec<(f64, f64)>,
    /// Lower and upper ends of the domain; may be infinite.
    pub domain: Vec<(f64, f64)>,
    /// Limits of the actions; may be infinite.
    pub limits: Vec<(f64, f64)>,
    /// What the environment chooses from.
    pub choices: Vec<(f64, f64)>,
    /// Unsafe pieces.
    pub pieces: Vec<Vec<Poly>>,
}

/// A box of states.
pub type Region = Vec<(f64, f64)>;

/// A program in floating point: one polynomial of the states per action.
pub type Policy = Vec<Poly>;

fn ends(range: &Range) -> (f64, f64) {
    let lower = range.lower.as_ref().map_or(f64::NEG_INFINITY, rounded);
    (lower, range.upper.as_ref().map_or(f64::INFINITY, rounded))
}

impl Plant {
    /// The model in floating point.
    pub fn new(model: Model) -> Plant {
        let pair = |(a, b): &(_, _)| (rounded(a), rounded(b));
        Plant {
            next: model.next.iter().map(Poly::of).collect(),
            init: model.init.iter().map(pair).collect(),
            domain: model.domain.iter().map(ends).collect(),
            limits: model.actions.iter().map(ends).collect(),
            choices: model.choices.iter().map(pair).collect(),
            pieces: pieces_of(&model.unsafe_pieces),
            model,
        }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.init.len()
    }

    /// The number of actions.
    pub fn actions(&self) -> usize {
        self.limits.len()
    }

    /// The next state at a point, for actions and choices.
    pub fn step(&self, state: &[f64], actions: &[f64], choices: &[f64]) -> Vec<f64> {
        let point: Vec<f64> = state.iter().chain(actions).chain(choices).copied().collect();
        self.next.iter().map(|next| next.value(&point)).collect()
    }

    /// The actions of a program within their limits.
    pub fn clamped(&self, policy: &Policy, state: &[f64]) -> Vec<f64> {
        policy.iter().zip(&self.limits).map(|(p, &(lower, upper))| p.value(state).clamp(lower, upper)).collect()
    }

    /// Whether a state is unsafe or outside of the domain.
    pub fn is_unsafe(&self, state: &[f64]) -> bool {
        self.pieces.iter().any(|piece| piece.iter().all(|constraint| constraint.value(state) > 0.0))
    }

    /// The middle of every choice.
    pub fn middle(&self) -> Vec<f64> {
        self.choices.iter().map(|(a, b)| 0.5 * (a + b)).collect()
    }

    /// The step with a program in the place of the actions, over states and choices.
    pub fn closed(&self, policy: &Policy) -> Vec<Poly> {
        let (states, choices) = (self.states(), self.choices.len());
        let variables = states + choices;
        let mut replacements: Vec<Poly> = (0..states).map(|i| Poly::variable(variables, i)).collect();
        replacements.extend(policy.iter().map(|action| action.widened(variables)));
        replacements.extend((0..choices).map(|i| Poly::variable(variables, states + i)));
        self.next.iter().map(|next| next.compose(&replacements)).collect()
    }

    /// The matrices of the linearisation at a point with the choices in the middle: next ≈ A x + B a + c.
    pub fn linearised(&self, state: &[f64], actions: &[f64]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let point: Vec<f64> = state.iter().chain(actions).copied().chain(self.middle()).collect();
        let slopes = |from: usize, count: usize| -> Vec<Vec<f64>> {
            self.next.iter().map(|f| (from..from + count).map(|i| f.derivative(i).value(&point)).collect()).collect()
        };
        (slopes(0, self.states()), slopes(self.states(), self.actions()))
    }

    /// The matrix of the closed loop's linearisation at zero.
    pub fn closed_slopes(&self, policy: &Policy) -> Vec<Vec<f64>> {
        let states = self.states();
        let rest = vec![0.0; states];
        let actions: Vec<f64> = policy.iter().map(|p| p.value(&rest)).collect();
        let (a, b) = self.linearised(&rest, &actions);
        let slopes: Vec<Vec<f64>> =
            policy.iter().map(|p| (0..states).map(|j| p.derivative(j).value(&rest)).collect()).collect();
        let through = |i: usize, j: usize| b[i].iter().zip(&slopes).map(|(b, own)| b * own[j]).sum::<f64>();
        (0..states).map(|i| (0..states).map(|j| a[i][j] + through(i, j)).collect()).collect()
    }

    /// Whether the step is linear in states, actions and choices together.
    pub fn is_linear(&self) -> bool {
        self.next.iter().all(|next| next.degree() <= 1)
    }
}

fn pieces_of(pieces: &[Piece]) -> Vec<Vec<Poly>> {
    pieces.iter().map(|piece| piece.constraints.iter().map(|c| Poly::of(&c.polynomial)).collect()).collect()
}

/// A program as the certificate has it: exactly these doubles.
pub fn exact_program(policy: &Policy) -> Option<Vec<Polynomial>> {
    let exact = |poly: &Poly| {
        let mut exact = Polynomial::zero(poly.variables());
        for (monomial, c) in poly.terms() {
            exact.add_term(monomial.clone(), rational(c)?);
        }
        Some(exact)
    };
    policy.iter().map(exact).collect()
}

/// Rounds the coefficients of a program to so many decimals of their magnitude, for readers.
pub fn readable(policy: &Policy) -> Policy {
    let round = |poly: &Poly| {
        let mut short = Poly::zero(poly.variables());
        for (monomial, c) in poly.terms() {
            short.add(monomial.clone(), short_number(c, 6));
        }
        short
    };
    policy.iter().map(round).collect()
}

/// The double nearest to so many significant decimals.
pub fn short_number(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// A number of at most 24 binary digits after the point: it enters products of exact numbers.
pub fn short_power(value: f64) -> f64 {
    (value * 16_777_216.0).round() / 16_777_216.0
}
