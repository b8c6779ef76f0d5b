//! Pensieve as an environment: one video per episode.
//!
//! The first chunk is downloaded at 750 kbit/s by the reset, because a policy that has seen nothing cannot decide; so
//! an episode of the reference video has 47 decisions, and its rewards add up to what papers call the QoE of a video.

use std::sync::Arc;

use certus_numerics::Random;

use super::{COLUMNS, Player, QUALITIES, Qoe, ROWS, State, Video};
use crate::draw::{below, between};
use crate::traces::Trace;
use crate::{ActionSpace, Environment, EnvironmentError, Outcome, SettingError};

/// The quality of the first chunk.
pub const FIRST_QUALITY: usize = 1;

/// Which trace an episode plays, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A random one from a random point.
    Random,
    /// Traces in turn, each from its beginning: episode k plays trace `first` + k·`stride`, wrapped. This environment counts
    /// its resets; give copies of a batch different firsts.
    InTurn {
        /// The trace of the first episode.
        first: usize,
        /// How many traces to go on at each reset.
        stride: usize,
    },
}

/// How the environment behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which trace an episode plays.
    pub start: Start,
    /// Whether download times are multiplied by a random number in [0.9, 1.1].
    pub noise: bool,
    /// The reward.
    pub qoe: Qoe,
}

impl Settings {
    /// The training simulator: random traces and points, noise.
    pub fn training() -> Settings {
        Settings { start: Start::Random, noise: true, qoe: Qoe::Linear }
    }

    /// The test simulator: traces in turn from their beginnings, no noise.
    pub fn test() -> Settings {
        Settings { start: Start::InTurn { first: 0, stride: 1 }, noise: false, qoe: Qoe::Linear }
    }
}

/// The environment. Action: a quality. Observation: the 48 numbers of [`State`].
#[derive(Clone, Debug)]
pub struct Pensieve {
    settings: Settings,
    player: Player,
    state: State,
    last_quality: usize,
    /// Resets so far.
    episodes: usize,
    running: bool,
}

impl Pensieve {
    /// An environment of a video and traces; fails where there is no trace.
    pub fn new(settings: Settings, video: Arc<Video>, traces: Arc<[Trace]>) -> Result<Pensieve, SettingError> {
        if video.chunks() < 2 {
            return Err(SettingError::new("chunks", "is 1: a video without a second chunk leaves nothing to decide"));
        }
        let player = Player::new(video, traces)?;
        Ok(Pensieve {
            settings,
            player,
            state: State::default(),
            last_quality: FIRST_QUALITY,
            episodes: 0,
            running: false,
        })
    }

    /// The player: where in which trace it is.
    pub fn player(&self) -> &Player {
        &self.player
    }

    fn play(&mut self, quality: usize) -> Result<Outcome, EnvironmentError> {
        let download = self.player.download(quality)?;
        self.state.push(&download);
        let reward = self.settings.qoe.reward(quality, self.last_quality, download.rebuffer_s);
        self.last_quality = quality;
        Ok(Outcome { reward, terminated: download.ends_video(), truncated: false })
    }
}

impl Environment for Pensieve {
    fn observation_length(&self) -> usize {
        ROWS * COLUMNS
    }

    fn action_space(&self) -> ActionSpace {
        ActionSpace::Discrete(QUALITIES)
    }

    fn reset(&mut self, seed: u64) {
        let traces = self.player.playback().traces();
        let (trace, point) = match self.settings.start {
            Start::Random => {
                let random = &mut Random::new(seed, 0);
                let trace = below(random, traces.len());
                (trace, between(random, 1, traces[trace].len() - 1))
            }
            Start::InTurn { first, stride } => (first.wrapping_add(self.episodes.wrapping_mul(stride)), 1),
        };
        let noise = self.settings.noise.then(|| Random::new(seed, 1));
        self.player.begin(trace, point, noise);
        self.episodes = self.episodes.wrapping_add(1);
        self.state = State::default();
        self.last_quality = FIRST_QUALITY;
        // The first quality is one of the six.
        self.running = self.play(FIRST_QUALITY).is_ok();
    }

    fn step(&mut self, action: &[f64]) -> Result<Outcome, EnvironmentError> {
        let quality = self.action_space().discrete(action)?;
        if !self.running {
            return Err(EnvironmentError::NotRunning);
        }
        let outcome = self.play(quality)?;
        self.running = !outcome.over();
        Ok(outcome)
    }

    fn observation(&self) -> &[f64] {
        self.state.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(settings: Settings) -> Pensieve {
        let traces: Vec<Trace> = [1.0, 2.0, 3.0].iter().map(|&rate| Trace::constant("c", rate).unwrap()).collect();
        Pensieve::new(settings, Arc::new(Video::reference()), traces.into()).unwrap()
    }

    #[test]
    fn a_video_is_47_decisions() {
        let mut environment = environment(Settings::test());
        assert_eq!(environment.step(&[0.0]), Err(EnvironmentError::NotRunning));
        environment.reset(0);
        let outcomes: Vec<Outcome> = (0..47).map(|_| environment.step(&[0.0]).unwrap()).collect();
        assert!(outcomes[46].terminated && outcomes[..46].iter().all(|outcome| !outcome.over()));
        assert_eq!(environment.step(&[0.0]), Err(EnvironmentError::NotRunning));
        assert_eq!(outcomes[0].reward, -0.150_000_000_000_000_02);
        assert_eq!(outcomes[1].reward, 0.3);
    }

    #[test]
    fn traces_are_played_in_turn() {
        let mut environment =
            environment(Settings { start: Start::InTurn { first: 1, stride: 2 }, ..Settings::test() });
        let played: Vec<usize> = (0..4)
            .map(|_| {
                environment.reset(0);
                environment.player().playback().index()
            })
            .collect();
        assert_eq!(played, [1, 0, 2, 1]);
    }

    #[test]
    fn training_draws_trace_and_noise() {
        let mut environment = environment(Settings::training());
        let mut seen = [false; 3];
        for seed in 0..40 {
            environment.reset(seed);
            seen[environment.player().playback().index()] = true;
            let first = environment.observation().to_vec();
            environment.reset(seed);
            assert_eq!(environment.observation(), first);
        }
        assert_eq!(seen, [true; 3]);
    }
}
