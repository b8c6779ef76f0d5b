//! The interface of every simulator: an environment in the sense of reinforcement learning.
//!
//! The contract is Gymnasium's. `reset` begins an episode that is determined by its seed; `step` takes an action and returns the reward and whether
//! the episode *terminated* (the task is over) or was *truncated* (it was cut off). Actions are numbers for all environments, so that one array
//! carries those of a batch: a discrete action is its index.

use crate::EnvironmentError;

/// Which actions an environment takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActionSpace {
    /// One of 0, 1, …, n − 1.
    Discrete(usize),
    /// `length` numbers, each in [lower, upper].
    Box {
        /// Least value.
        lower: f64,
        /// Greatest value.
        upper: f64,
        /// How many numbers an action has.
        length: usize,
    },
}

impl ActionSpace {
    /// How many numbers an action has.
    pub fn width(&self) -> usize {
        match self {
            ActionSpace::Discrete(_) => 1,
            ActionSpace::Box { length, .. } => *length,
        }
    }

    /// Whether this is an action; the error says why not.
    pub fn check(&self, action: &[f64]) -> Result<(), EnvironmentError> {
        EnvironmentError::check_length("actions", self.width(), action.len())?;
        match *self {
            ActionSpace::Discrete(count) => self.index(action, count).map(|_| ()),
            ActionSpace::Box { lower, upper, .. } => match action.iter().find(|&&x| !(lower <= x && x <= upper)) {
                None => Ok(()),
                Some(x) => {
                    Err(EnvironmentError::Action(format!("{x} is no action: it must lie in [{lower}, {upper}]")))
                }
            },
        }
    }

    fn index(&self, action: &[f64], count: usize) -> Result<usize, EnvironmentError> {
        match action {
            // Comparing with the count first keeps the conversion exact; a NaN fails both.
            &[x] if x >= 0.0 && x < count as f64 && x.fract() == 0.0 => Ok(x as usize),
            _ => Err(EnvironmentError::Action(format!(
                "{action:?} is no action: it must be one whole number from 0 to {}",
                count.saturating_sub(1)
            ))),
        }
    }

    /// The index that a discrete action stands for.
    pub fn discrete(&self, action: &[f64]) -> Result<usize, EnvironmentError> {
        match *self {
            ActionSpace::Discrete(count) => self.index(action, count),
            ActionSpace::Box { .. } => Err(EnvironmentError::Action("the action space is not discrete".into())),
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// What the action earned.
    pub reward: f64,
    /// The task is over.
    pub terminated: bool,
    /// The episode was cut although the task is not over.
    pub truncated: bool,
}

impl Outcome {
    /// Whether the episode is over, for whatever reason.
    pub fn over(&self) -> bool {
        self.terminated || self.truncated
    }
}

/// An environment. Everything that happens in an episode follows from the environment's settings, the seed of its reset (and,
/// where an environment says so, the number of resets before it) and the actions.
pub trait Environment {
    /// How many numbers an observation has.
    fn observation_length(&self) -> usize;

    /// Which actions the environment takes.
    fn action_space(&self) -> ActionSpace;

    /// Begins an episode.
    fn reset(&mut self, seed: u64);

    /// Obeys an action. After an error the environment is as it was.
    fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError>;

    /// What the policy sees now: zeros before the first reset.
    fn observation(&self) -> &[f64];
}

impl<W: Environment + ?Sized> Environment for Box<W> {
    fn observation_length(&self) -> usize {
        (**self).observation_length()
    }

    fn action_space(&self) -> ActionSpace {
        (**self).action_space()
    }

    fn reset(&mut self, seed: u64) {
        (**self).reset(seed);
    }

    fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError> {
        (**self).step(action)
    }

    fn observation(&self) -> &[f64] {
        (**self).observation()
    }
}

/// The number types that observations can be written in.
pub trait Scalar: Copy {
    /// The nearest number of this type.
    fn nearest(value: f64) -> Self;
}

impl Scalar for f64 {
    fn nearest(value: f64) -> f64 {
        value
    }
}

impl Scalar for f32 {
    fn nearest(value: f64) -> f32 {
        value as f32
    }
}

/// Writes numbers into a slice of the same length.
pub(crate) fn write<T: Scalar>(from: &[f64], into: &mut [T]) {
    for (place, &value) in into.iter_mut().zip(from) {
        *place = T::nearest(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discrete_actions_are_whole_numbers_in_range() {
        let space = ActionSpace::Discrete(6);
        assert_eq!(space.discrete(&[5.0]), Ok(5));
        for wrong in [&[6.0][..], &[-1.0], &[0.5], &[f64::NAN], &[f64::INFINITY], &[], &[1.0, 1.0]] {
            assert!(space.check(wrong).is_err(), "{wrong:?}");
            assert!(space.discrete(wrong).is_err(), "{wrong:?}");
        }
        assert!(ActionSpace::Discrete(0).check(&[0.0]).is_err());
    }

    #[test]
    fn boxes_are_closed_and_refuse_nan() {
        let space = ActionSpace::Box { lower: -1.0, upper: 1.0, length: 2 };
        assert_eq!(space.check(&[-1.0, 1.0]), Ok(()));
        assert!(space.check(&[0.0]).is_err());
        assert!(space.check(&[0.0, f64::NAN]).is_err());
        let error = space.check(&[0.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "2 is no action: it must lie in [-1, 1]");
        assert!(space.discrete(&[0.0, 0.0]).is_err());
    }
}
