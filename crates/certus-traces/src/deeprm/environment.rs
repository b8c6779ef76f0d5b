//! DeepRM as an environment.
//!
//! Time steps are numbered from 1. Step k < `arrivals` may bring a job; at step `arrivals` none comes any more, and the
//! episode ends there or, if so set, when all jobs are done. (So 10 arrival steps bring at most 9 jobs: the original
//! skips the first entry of its list.) After 200 decisions an episode is cut.

use certus_numerics::Random;

use super::view::{COMPACT_LENGTH, IMAGE_LENGTH, compact, image};
use super::{Cluster, Job, SLOTS};
use crate::{ActionSpace, Environment, EnvironmentError, Outcome, SettingError};

/// When an episode ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// When no more jobs will come.
    #[default]
    NoMoreArrivals,
    /// When, moreover, all jobs are done.
    AllDone,
}

/// What the policy sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The image of 20 × 124 numbers.
    #[default]
    Image,
    /// The 76 numbers of the compact view.
    Compact,
}

/// How the environment behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The time step at which arrivals are over; 10 by default, 50 in the documented runs of the original.
    pub arrivals: u32,
    /// Chance that a job arrives in a time step before that.
    pub arrival_chance: f64,
    /// Decisions after which an episode is cut.
    pub decisions: u32,
    /// When an episode ends.
    pub ending: Ending,
    /// What the policy sees.
    pub view: View,
    /// If not empty, what arrives at time steps 1, 2, … instead of random jobs.
    pub script: Vec<Option<Job>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            arrivals: 10,
            arrival_chance: 0.7,
            decisions: 200,
            ending: Ending::NoMoreArrivals,
            view: View::Image,
            script: Vec::new(),
        }
    }
}

/// The environment. Action: a slot whose job is placed, or 5 to wait; what cannot be placed is waiting, too.
#[derive(Clone, Debug)]
pub struct DeepRm {
    settings: Settings,
    cluster: Cluster,
    random: Random,
    decisions: u32,
    running: bool,
    observation: Vec<f64>,
}

impl DeepRm {
    /// An environment with these settings.
    pub fn new(settings: Settings) -> Result<DeepRm, SettingError> {
        SettingError::check("arrivals", f64::from(settings.arrivals), 1.0, 1e9)?;
        SettingError::check("arrival_chance", settings.arrival_chance, 0.0, 1.0)?;
        SettingError::check("decisions", f64::from(settings.decisions), 1.0, 1e9)?;
        let length = match settings.view {
            View::Image => IMAGE_LENGTH,
            View::Compact => COMPACT_LENGTH,
        };
        let cluster = Cluster::new(&mut Random::new(0, 1));
        let (random, observation) = (Random::new(0, 0), vec![0.0; length]);
        Ok(DeepRm { settings, cluster, random, decisions: 0, running: false, observation })
    }

    /// The cluster: for heuristics and for looking.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn look(&mut self) {
        self.observation = match self.settings.view {
            View::Image => image(&self.cluster),
            View::Compact => compact(&self.cluster),
        };
    }

    /// One time step with what arrives in it; whether the episode is over.
    fn pass_time(&mut self) -> bool {
        self.cluster.advance();
        let more = self.cluster.time() < u64::from(self.settings.arrivals);
        let over = !more && (self.settings.ending == Ending::NoMoreArrivals || self.cluster.is_empty());
        if more && let Some(job) = self.arrival() {
            self.cluster.arrive(job);
        }
        over
    }

    fn arrival(&mut self) -> Option<Job> {
        if self.settings.script.is_empty() {
            return (self.random.unit() < self.settings.arrival_chance).then(|| Job::draw(&mut self.random));
        }
        let index = usize::try_from(self.cluster.time()).ok()?.checked_sub(1)?;
        self.settings.script.get(index).copied().flatten()
    }
}

impl Environment for DeepRm {
    fn observation_length(&self) -> usize {
        self.observation.len()
    }

    fn action_space(&self) -> ActionSpace {
        ActionSpace::Discrete(SLOTS + 1)
    }

    fn reset(&mut self, seed: u64) {
        self.random = Random::new(seed, 0);
        self.cluster = Cluster::new(&mut Random::new(seed, 1));
        (self.decisions, self.running) = (0, true);
        self.look();
    }

    fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError> {
        let action = self.action_space().discrete(action)?;
        if !self.running {
            return Err(EnvironmentError::NotRunning);
        }
        // Waiting is a slot that does not exist, so it places nothing.
        let (reward, terminated) = if self.cluster.schedule(action) {
            (0.0, false)
        } else {
            let over = self.pass_time();
            (self.cluster.reward(), over)
        };
        self.decisions += 1;
        let truncated = !terminated && self.decisions >= self.settings.decisions;
        self.running = !(terminated || truncated);
        self.look();
        Ok(Outcome { reward, terminated, truncated })
    }

    fn observation(&self) -> &[f64] {
        &self.observation
    }
}

#[cfg(test)]
mod tests {
    use super::super::shortest_job_first;
    use super::*;

    fn scripted(ending: Ending) -> DeepRm {
        let job = |length| Some(Job::new(length, [6, 1]).unwrap());
        let script = vec![job(2), None, job(4)];
        DeepRm::new(Settings { arrivals: 4, script, ending, view: View::Compact, ..Settings::default() }).unwrap()
    }

    #[test]
    fn an_episode_by_hand() {
        let mut environment = scripted(Ending::NoMoreArrivals);
        environment.reset(0);
        let step = |environment: &mut DeepRm, action: f64| {
            let outcome = environment.step(&[action]).unwrap();
            (outcome.reward, outcome.terminated)
        };
        // An empty slot is waiting; the first job arrives at time 1 and already counts.
        assert_eq!(step(&mut environment, 3.0), (-0.5, false));
        assert_eq!(step(&mut environment, 0.0), (0.0, false));
        assert_eq!(environment.cluster().time(), 1);
        assert_eq!(step(&mut environment, 5.0), (-0.5, false));
        // At time 3 the first job is done and the second has come.
        assert_eq!(step(&mut environment, 5.0), (-0.25, false));
        assert_eq!(step(&mut environment, 5.0), (-0.25, true));
        assert_eq!(environment.step(&[5.0]), Err(EnvironmentError::NotRunning));
    }

    #[test]
    fn an_episode_may_wait_for_all_jobs() {
        let mut environment = scripted(Ending::AllDone);
        environment.reset(0);
        let mut outcomes = Vec::new();
        while outcomes.last().is_none_or(|outcome: &Outcome| !outcome.over()) {
            let action = shortest_job_first(environment.cluster()) as f64;
            outcomes.push(environment.step(&[action]).unwrap());
        }
        // The second job runs from time 3 to 7.
        assert_eq!((environment.cluster().time(), outcomes.len()), (7, 9));
        assert!(outcomes[8].terminated && environment.cluster().is_empty());
        assert_eq!(outcomes[8].reward, 0.0);
    }

    #[test]
    fn long_episodes_are_cut() {
        let mut environment = DeepRm::new(Settings { arrivals: 1000, decisions: 30, ..Settings::default() }).unwrap();
        environment.reset(1);
        let outcomes: Vec<Outcome> = (0..30).map(|_| environment.step(&[5.0]).unwrap()).collect();
        assert!(outcomes[29].truncated && !outcomes[29].terminated);
        assert!(DeepRm::new(Settings { arrival_chance: 1.5, ..Settings::default() }).is_err());
    }
}
