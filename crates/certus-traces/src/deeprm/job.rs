//! Jobs, and how they arrive.

use certus_numerics::Random;

use super::HORIZON;
use crate::SettingError;
use crate::draw::between;

/// Kinds of resources.
pub const RESOURCES: usize = 2;
/// Units of each resource.
pub const UNITS: usize = 10;

/// A job: how long it runs and how many units of each resource it holds meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    length: usize,
    demand: [usize; RESOURCES],
}

impl Job {
    /// A job of 1 to 20 time steps that needs 1 to 10 units of each resource.
    pub fn new(length: usize, demand: [usize; RESOURCES]) -> Result<Job, SettingError> {
        SettingError::check("length of a job", length as f64, 1.0, HORIZON as f64)?;
        for units in demand {
            SettingError::check("demand of a job", units as f64, 1.0, UNITS as f64)?;
        }
        Ok(Job { length, demand })
    }

    /// Time steps.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Units of each resource.
    pub fn demand(&self) -> [usize; RESOURCES] {
        self.demand
    }

    /// A job of the reference's distribution: four in five are short (1 to 3 steps), the others long (10 to 15); one
    /// resource, either with equal chances, is dominant (5 to 10 units), the other is not (1 or 2).
    pub fn draw(random: &mut Random) -> Job {
        let length = if random.unit() < 0.8 { between(random, 1, 3) } else { between(random, 10, 15) };
        let dominant = between(random, 0, RESOURCES - 1);
        let mut demand = [0; RESOURCES];
        for (resource, units) in demand.iter_mut().enumerate() {
            *units = if resource == dominant { between(random, 5, 10) } else { between(random, 1, 2) };
        }
        Job { length, demand }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_distribution() {
        let mut random = Random::new(1, 0);
        let jobs: Vec<Job> = (0..10_000).map(|_| Job::draw(&mut random)).collect();
        let count = |test: &dyn Fn(&Job) -> bool| jobs.iter().filter(|job| test(job)).count();
        assert!((7800..8200).contains(&count(&|job| job.length <= 3)));
        assert_eq!(count(&|job| (1..=3).contains(&job.length) || (10..=15).contains(&job.length)), 10_000);
        assert!((4800..5200).contains(&count(&|job| job.demand[0] >= 5)));
        assert_eq!(count(&|job| (job.demand[0] >= 5) != (job.demand[1] >= 5)), 10_000);
        assert_eq!(count(&|job| job.demand.iter().any(|units| (1..=2).contains(units))), 10_000);
    }

    #[test]
    fn impossible_jobs_are_refused() {
        assert!(Job::new(0, [1, 1]).is_err());
        assert!(Job::new(21, [1, 1]).is_err());
        assert!(Job::new(1, [11, 1]).is_err());
        assert!(Job::new(20, [10, 10]).is_ok());
    }
}
