//! A shield as tables: polynomials as short programs for a stack of numbers.

use crate::Guard;

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Puts a number on the stack.
    Number(f64),
    /// Multiplies the top by a variable.
    Times(u16),
    /// Takes two numbers off, and puts their sum on: first the lower one, then the upper one.
    Plus,
}

/// Deepest stack.
const DEPTH: usize = 40;

/// The value of a polynomial; what does not fit on the stack, or is no variable, makes it not a number.
fn value(ops: &[Op], variables: [&[f64]; 3]) -> f64 {
    let mut stack = [f64::NAN; DEPTH];
    let mut top = 0usize;
    for op in ops {
        match *op {
            Op::Number(number) => {
                let Some(place) = stack.get_mut(top) else { return f64::NAN };
                *place = number;
                top += 1;
            }
            Op::Times(index) => {
                let factor = variable(variables, usize::from(index));
                let Some(place) = top.checked_sub(1).and_then(|top| stack.get_mut(top)) else { return f64::NAN };
                *place *= factor;
            }
            Op::Plus => {
                let Some(upper) = top.checked_sub(1) else { return f64::NAN };
                let added = stack.get(upper).copied().unwrap_or(f64::NAN);
                let Some(place) = upper.checked_sub(1).and_then(|lower| stack.get_mut(lower)) else { return f64::NAN };
                *place += added;
                top = upper;
            }
        }
    }
    match top {
        1 => stack[0],
        _ => f64::NAN,
    }
}

/// A variable of several lists one after the other.
fn variable(lists: [&[f64]; 3], mut index: usize) -> f64 {
    for list in lists {
        match list.get(index) {
            Some(value) => return *value,
            None => index -= list.len(),
        }
    }
    f64::NAN
}

/// Whether a state is in a box; what is not a number is in none.
fn within(state: &[f64], ranges: &[(f64, f64)]) -> bool {
    state.iter().zip(ranges).all(|(x, &(lower, upper))| lower <= *x && *x <= upper)
}

/// A polynomial that is not positive inside of an invariant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface<'a> {
    /// The polynomial of the states.
    pub ops: &'a [Op],
    /// A predicted state counts as inside only this far below zero.
    pub reserve: f64,
    /// A policy gets control back only where a predicted state is this far below zero.
    pub release: f64,
    /// A state counts as inside up to this far above zero.
    pub rounding: f64,
}

/// One branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch<'a> {
    /// Inside is where all of these are not positive.
    pub surfaces: &'a [Surface<'a>],
    /// A box on which all of these are below zero by their reserves; empty for none.
    pub inner_box: &'a [(f64, f64)],
    /// One polynomial of the states per action.
    pub program: &'a [&'a [Op]],
}

/// A shield as tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tables<'a> {
    /// The limits of each action.
    pub limits: &'a [(f64, f64)],
    /// The box that every invariant lies in.
    pub domain: &'a [(f64, f64)],
    /// The next state: polynomials of the states, the actions and the choices.
    pub next: &'a [&'a [Op]],
    /// The choices at every corner.
    pub corners: &'a [&'a [f64]],
    /// The branches.
    pub branches: &'a [Branch<'a>],
}

impl Tables<'_> {
    /// Whether a state is in the inner box of a branch, where no surface needs to be looked at.
    fn in_inner_box(&self, branch: usize, state: &[f64]) -> bool {
        let inner_box = self.branches.get(branch).map_or(&[][..], |branch| branch.inner_box);
        !inner_box.is_empty() && inner_box.len() == state.len() && within(state, inner_box)
    }

    /// Whether a state is in the domain, and so far below zero on every surface of a branch.
    fn below(&self, branch: usize, state: &[f64], room: impl Fn(&Surface<'_>) -> f64) -> bool {
        let Some(branch) = self.branches.get(branch) else { return false };
        within(state, self.domain)
            && branch.surfaces.iter().all(|surface| value(surface.ops, [state, &[], &[]]) <= -room(surface))
    }
}

impl Guard for Tables<'_> {
    fn branches(&self) -> usize {
        self.branches.len()
    }

    fn corners(&self) -> usize {
        self.corners.len()
    }

    fn limit(&self, actions: &mut [f64]) {
        for (action, &(lower, upper)) in actions.iter_mut().zip(self.limits) {
            // Not `clamp`, which panics on strange limits. What is not a number becomes the lower limit.
            let above = if *action >= lower { *action } else { lower };
            *action = if above <= upper { above } else { upper };
        }
    }

    fn predict(&self, state: &[f64], actions: &[f64], corner: usize, next: &mut [f64]) {
        let choices = self.corners.get(corner).copied().unwrap_or(&[]);
        for (target, ops) in next.iter_mut().zip(self.next) {
            *target = value(ops, [state, actions, choices]);
        }
    }

    fn surely_inside(&self, branch: usize, next: &[f64]) -> bool {
        self.in_inner_box(branch, next) || self.below(branch, next, |surface| surface.reserve)
    }

    fn well_inside(&self, branch: usize, next: &[f64]) -> bool {
        self.below(branch, next, |surface| surface.release)
    }

    fn inside(&self, branch: usize, state: &[f64]) -> bool {
        let Some(own) = self.branches.get(branch) else { return false };
        let below = |surface: &Surface<'_>| value(surface.ops, [state, &[], &[]]) <= surface.rounding;
        self.in_inner_box(branch, state) || own.surfaces.iter().all(below)
    }

    fn program(&self, branch: usize, state: &[f64], actions: &mut [f64]) {
        let Some(branch) = self.branches.get(branch) else { return };
        for (action, ops) in actions.iter_mut().zip(branch.program) {
            *action = value(ops, [state, &[], &[]]);
        }
    }
}
