//! Many copies of an environment, stepped together (a vectorised environment).
//!
//! Training wants batches; results must not depend on how they are divided. So each copy has random streams that are determined by (seed, number of the
//! copy, number of the episode), and copy 7 of a batch of 64 behaves exactly as a batch of one that begins at copy 7. A copy whose episode
//! ends begins the next one in the same step (autoreset): the observation is then the new episode's first, and the last one of the old episode is kept
//! beside it.

use certus_numerics::Random;

use crate::environment::write;
use crate::{ActionSpace, Environment, EnvironmentError, Outcome, Scalar};

/// Copies of an environment, all with the same spaces.
#[derive(Clone, Debug)]
pub struct VectorEnvironment<W> {
    copies: Vec<W>,
    first: u64,
    seed: u64,
    /// Per copy, how many episodes it began since the last reset.
    episodes: Vec<u64>,
    observation_length: usize,
    action_space: ActionSpace,
}

/// Where a step of a batch of n copies writes its results.
#[derive(Debug)]
pub struct Batch<'a, T> {
    /// n observations, one after the other.
    pub observations: &'a mut [T],
    /// Where an episode ended, its last observation; elsewhere left as it was. n observations, or empty: not wanted.
    pub last_observations: &'a mut [T],
    /// n rewards.
    pub rewards: &'a mut [f64],
    /// Per copy, whether its episode terminated in this step.
    pub terminated: &'a mut [bool],
    /// Per copy, whether its episode was truncated in this step.
    pub truncated: &'a mut [bool],
}

impl<W: Environment> VectorEnvironment<W> {
    /// A batch of copies; `first` is the number of the first, so that a batch can be one part of a larger one. The
    /// copies must agree in their spaces. Call [`VectorEnvironment::reset`] before stepping.
    pub fn new(copies: Vec<W>, first: u64) -> Result<Self, EnvironmentError> {
        let Some(model) = copies.first() else {
            return Err(EnvironmentError::Length { what: "environments", expected: 1, found: 0 });
        };
        let (observation_length, action_space) = (model.observation_length(), model.action_space());
        for (copy, environment) in copies.iter().enumerate() {
            let in_copy = |error| EnvironmentError::Copy { copy, error: Box::new(error) };
            EnvironmentError::check_length("observations", observation_length, environment.observation_length())
                .map_err(in_copy)?;
            if environment.action_space() != action_space {
                return Err(in_copy(EnvironmentError::Action(
                    "its action space differs from that of the first copy".into(),
                )));
            }
        }
        let episodes = vec![0; copies.len()];
        Ok(VectorEnvironment { copies, first, seed: 0, episodes, observation_length, action_space })
    }

    /// How many copies there are; at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    /// How many numbers an observation of one copy has.
    pub fn observation_length(&self) -> usize {
        self.observation_length
    }

    /// Which actions each copy takes.
    pub fn action_space(&self) -> ActionSpace {
        self.action_space
    }

    /// The copies.
    pub fn copies(&self) -> &[W] {
        &self.copies
    }

    /// The seed of an episode of a copy: what a single environment's `reset` needs to live the same life.
    pub fn episode_seed(seed: u64, copy: u64, episode: u64) -> u64 {
        Random::new(Random::new(seed, copy).bits(), episode).bits()
    }

    /// Begins the first episode of every copy and writes all observations.
    pub fn reset<T: Scalar>(&mut self, seed: u64, observations: &mut [T]) -> Result<(), EnvironmentError> {
        EnvironmentError::check_length("observations", self.len() * self.observation_length, observations.len())?;
        self.seed = seed;
        self.episodes.fill(0);
        let rows = observations.chunks_exact_mut(self.observation_length.max(1));
        for (copy, row) in rows.enumerate().take(self.copies.len()) {
            self.begin(copy);
            write(self.copies[copy].observation(), row);
        }
        Ok(())
    }

    /// Steps every copy: `actions` holds one action after the other. If any of them is wrong, no copy moves.
    pub fn step<T: Scalar>(&mut self, actions: &[f64], batch: &mut Batch<'_, T>) -> Result<(), EnvironmentError> {
        let (count, length, width) = (self.len(), self.observation_length, self.action_space.width());
        EnvironmentError::check_length("actions", count * width, actions.len())?;
        EnvironmentError::check_length("observations", count * length, batch.observations.len())?;
        if !batch.last_observations.is_empty() {
            EnvironmentError::check_length("last observations", count * length, batch.last_observations.len())?;
        }
        EnvironmentError::check_length("rewards", count, batch.rewards.len())?;
        EnvironmentError::check_length("terminated", count, batch.terminated.len())?;
        EnvironmentError::check_length("truncated", count, batch.truncated.len())?;
        let in_copy = |copy| move |error| EnvironmentError::Copy { copy, error: Box::new(error) };
        for copy in 0..count {
            if self.episodes[copy] == 0 {
                return Err(in_copy(copy)(EnvironmentError::NotRunning));
            }
            self.action_space.check(&actions[copy * width..][..width]).map_err(in_copy(copy))?;
        }
        for copy in 0..count {
            let action = &actions[copy * width..][..width];
            let Outcome { reward, terminated, truncated } = self.copies[copy].step(action).map_err(in_copy(copy))?;
            batch.rewards[copy] = reward;
            batch.terminated[copy] = terminated;
            batch.truncated[copy] = truncated;
            if terminated || truncated {
                if let Some(row) = batch.last_observations.get_mut(copy * length..(copy + 1) * length) {
                    write(self.copies[copy].observation(), row);
                }
                self.begin(copy);
            }
            write(self.copies[copy].observation(), &mut batch.observations[copy * length..][..length]);
        }
        Ok(())
    }

    fn begin(&mut self, copy: usize) {
        let seed = Self::episode_seed(self.seed, self.first.wrapping_add(copy as u64), self.episodes[copy]);
        self.episodes[copy] += 1;
        self.copies[copy].reset(seed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts down from a number that the seed names; earns the action.
    #[derive(Clone, Debug, Default)]
    struct Countdown {
        left: [f64; 1],
    }

    impl Environment for Countdown {
        fn observation_length(&self) -> usize {
            1
        }

        fn action_space(&self) -> ActionSpace {
            ActionSpace::Discrete(3)
        }

        fn reset(&mut self, seed: u64) {
            self.left[0] = 1.0 + (seed % 5) as f64;
        }

        fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError> {
            let reward = self.action_space().discrete(action)? as f64;
            self.left[0] -= 1.0;
            Ok(Outcome { reward, terminated: self.left[0] == 0.0, truncated: false })
        }

        fn observation(&self) -> &[f64] {
            &self.left
        }
    }

    fn lives(count: usize, first: u64, steps: usize) -> Vec<Vec<(f32, f32, f64, bool)>> {
        let mut environments = VectorEnvironment::new(vec![Countdown::default(); count], first).unwrap();
        let (mut observations, mut last) = (vec![0f32; count], vec![0f32; count]);
        let (mut rewards, mut terminated, mut truncated) = (vec![0.0; count], vec![false; count], vec![false; count]);
        environments.reset(9, &mut observations).unwrap();
        let mut lives: Vec<Vec<_>> = observations.iter().map(|&x| vec![(x, 0.0, 0.0, false)]).collect();
        for step in 0..steps {
            let actions: Vec<f64> = (0..count).map(|copy| ((first as usize + copy + step) % 3) as f64).collect();
            let mut batch = Batch {
                observations: &mut observations,
                last_observations: &mut last,
                rewards: &mut rewards,
                terminated: &mut terminated,
                truncated: &mut truncated,
            };
            environments.step(&actions, &mut batch).unwrap();
            for (copy, life) in lives.iter_mut().enumerate() {
                life.push((observations[copy], last[copy], rewards[copy], terminated[copy]));
            }
        }
        lives
    }

    #[test]
    fn a_copy_lives_the_same_life_in_any_batch() {
        let together = lives(7, 3, 40);
        for (copy, life) in together.iter().enumerate() {
            assert_eq!(&lives(1, 3 + copy as u64, 40)[0], life);
        }
        assert!(together.iter().any(|life| life != &together[0]));
    }

    #[test]
    fn a_finished_copy_begins_again_in_the_same_step() {
        for life in lives(3, 0, 40) {
            for pair in life.windows(2) {
                let (before, after) = (pair[0], pair[1]);
                assert_eq!(after.3, before.0 == 1.0);
                if after.3 {
                    assert_eq!(after.1, 0.0);
                    assert!(after.0 >= 1.0);
                } else {
                    assert_eq!(after.0, before.0 - 1.0);
                }
            }
        }
    }

    #[test]
    fn wrong_calls_move_nothing() {
        let mut environments = VectorEnvironment::new(vec![Countdown::default(); 2], 0).unwrap();
        let (mut observations, mut rewards) = ([7.0f64; 2], [7.0; 2]);
        let (mut terminated, mut truncated) = ([false; 2], [false; 2]);
        let mut batch = Batch {
            observations: &mut observations,
            last_observations: &mut [],
            rewards: &mut rewards,
            terminated: &mut terminated,
            truncated: &mut truncated,
        };
        let error = environments.step(&[0.0, 0.0], &mut batch).unwrap_err();
        assert_eq!(error.to_string(), "copy 0: no episode is running: call reset first");
        let mut first = [0.0f64; 2];
        environments.reset(1, &mut first).unwrap();
        let error = environments.step(&[0.0, 3.0], &mut batch).unwrap_err();
        assert_eq!(error.to_string(), "copy 1: [3.0] is no action: it must be one whole number from 0 to 2");
        assert!(environments.step(&[0.0], &mut batch).is_err());
        assert_eq!(*batch.observations, [7.0; 2]);
        assert!(environments.copies().iter().zip(first).all(|(environment, x)| environment.left[0] == x));
        assert!(VectorEnvironment::<Countdown>::new(vec![], 0).is_err());
        assert!(environments.reset(1, &mut [0.0f32; 3]).is_err());
    }
}
