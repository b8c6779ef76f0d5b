//! The monitor that runs beside a policy: predict, test the invariant, pass or override.
//!
//! At each step the policy proposes actions. The monitor limits them, predicts the next state for every corner of what the
//! environment may do, and passes them if the prediction is inside of a proved invariant. Otherwise the program of the
//! branch that the state is in decides: it is proved to stay inside. It goes on deciding until the policy's actions lead
//! well inside, so that a policy that pushes against the boundary does not get it back at once. If the state is in no branch
//! (which the proof excludes for the modelled plant), an alarm latches, and the last branch's program, or an action of the
//! user's, is applied.
//!
//! No standard library, no allocation, no panic, no dependency. All arithmetic is plain IEEE doubles in a fixed order, the
//! same as in the code that `certus shield export` writes for other languages, so that results agree to the last bit.

#![no_std]
#![forbid(unsafe_code)]

mod tables;

pub use tables::{Branch, Op, Surface, Tables};

/// What a shield knows: limits, predictions, invariants, programs.
pub trait Guard {
    /// How many branches the program has.
    fn branches(&self) -> usize;

    /// How many corners of the environment's choices are predicted; at least one.
    fn corners(&self) -> usize;

    /// Moves actions into their limits.
    fn limit(&self, actions: &mut [f64]);

    /// Predicts the next state at a corner.
    fn predict(&self, state: &[f64], actions: &[f64], corner: usize, next: &mut [f64]);

    /// Whether a predicted state is inside of a branch's invariant, with what prediction and rounding may be off.
    fn surely_inside(&self, branch: usize, next: &[f64]) -> bool;

    /// Whether a predicted state is so far inside of a branch's invariant that a policy gets control back.
    fn well_inside(&self, branch: usize, next: &[f64]) -> bool {
        self.surely_inside(branch, next)
    }

    /// Whether a state is inside of a branch's invariant, up to rounding.
    fn inside(&self, branch: usize, state: &[f64]) -> bool;

    /// The actions of a branch's program.
    fn program(&self, branch: usize, state: &[f64], actions: &mut [f64]);
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The policy's actions pass, into this branch's invariant.
    Passed(usize),
    /// This branch's program took over.
    Overridden(usize),
    /// The state is in no branch: the fallback decided, and the alarm is on.
    Alarm,
}

/// What happens when no branch covers the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback<'a> {
    /// The program of the branch that was last in use; the first one if none was.
    LastBranch,
    /// These actions.
    Actions(&'a [f64]),
}

/// One intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Intervention {
    /// The step at which it happened, from zero.
    pub step: u64,
    /// The branch that took over.
    pub branch: usize,
}

/// How many interventions the log keeps: the last ones.
pub const LOG: usize = 16;

/// The state of a monitor: which branch is in use, the alarm, counts, and a short log.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Monitor {
    branch: Option<usize>,
    holding: bool,
    alarm: bool,
    steps: u64,
    interventions: u64,
    log: [Intervention; LOG],
}

impl Monitor {
    /// A monitor at the beginning of a run.
    pub const fn new() -> Monitor {
        let none = Intervention { step: 0, branch: 0 };
        Monitor { branch: None, holding: false, alarm: false, steps: 0, interventions: 0, log: [none; LOG] }
    }

    /// Whether a state was met that is in no branch. It stays on until [`Monitor::clear_alarm`].
    pub const fn alarm(&self) -> bool {
        self.alarm
    }

    /// Turns the alarm off.
    pub const fn clear_alarm(&mut self) {
        self.alarm = false;
    }

    /// How many steps were decided.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// How many of them were not left to the policy.
    pub const fn interventions(&self) -> u64 {
        self.interventions
    }

    /// The last interventions, the oldest first.
    pub fn log(&self) -> impl Iterator<Item = Intervention> + '_ {
        let kept = self.interventions.min(LOG as u64);
        (self.interventions - kept..self.interventions)
            .filter_map(|number| self.log.get((number % LOG as u64) as usize).copied())
    }

    /// Decides a step: `actions` are the policy's, and become those to be applied; `next` is room for one state.
    pub fn decide<G: Guard + ?Sized>(
        &mut self,
        guard: &G,
        state: &[f64],
        actions: &mut [f64],
        next: &mut [f64],
        fallback: Fallback<'_>,
    ) -> Decision {
        let step = self.steps;
        self.steps = self.steps.wrapping_add(1);
        guard.limit(actions);
        if let Some(branch) = self.passing(guard, state, actions, next) {
            self.branch = Some(branch);
            self.holding = false;
            return Decision::Passed(branch);
        }
        self.holding = true;
        let current = self.branch.filter(|&branch| guard.inside(branch, state));
        let current = current.or_else(|| (0..guard.branches()).find(|&branch| guard.inside(branch, state)));
        let decision = match current {
            Some(branch) => {
                self.branch = Some(branch);
                guard.program(branch, state, actions);
                Decision::Overridden(branch)
            }
            None => {
                self.alarm = true;
                match fallback {
                    Fallback::LastBranch => guard.program(self.branch.unwrap_or(0), state, actions),
                    Fallback::Actions(own) => actions.iter_mut().zip(own).for_each(|(action, own)| *action = *own),
                }
                Decision::Alarm
            }
        };
        guard.limit(actions);
        if let Some(place) = self.log.get_mut((self.interventions % LOG as u64) as usize) {
            *place = Intervention { step, branch: self.branch.unwrap_or(0) };
        }
        self.interventions = self.interventions.wrapping_add(1);
        decision
    }

    /// The branch whose invariant every predicted corner is inside of: the one in use if it will do.
    fn passing<G: Guard + ?Sized>(&self, guard: &G, state: &[f64], actions: &[f64], next: &mut [f64]) -> Option<usize> {
        let kept = |branch: usize, next: &mut [f64]| {
            (0..guard.corners()).all(|corner| {
                guard.predict(state, actions, corner, next);
                if self.holding { guard.well_inside(branch, next) } else { guard.surely_inside(branch, next) }
            })
        };
        if let Some(branch) = self.branch
            && kept(branch, next)
        {
            return Some(branch);
        }
        (0..guard.branches()).find(|&branch| Some(branch) != self.branch && kept(branch, next))
    }
}

#[cfg(test)]
mod tests;
