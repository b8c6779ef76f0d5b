//! The player: download, buffer, stalls, sleep.

use std::sync::Arc;

use certus_numerics::Random;

use super::{CHUNK_SECONDS, Playback, QUALITIES, Video};
use crate::traces::Trace;
use crate::{EnvironmentError, SettingError};

/// What each download takes at least, ms.
pub const ROUND_TRIP_MS: f64 = 80.0;
/// The player sleeps when more than this is in the buffer, ms.
pub const BUFFER_LIMIT_MS: f64 = 60_000.0;
/// The player sleeps in multiples of this, ms.
const NAP_MS: f64 = 500.0;
/// What training multiplies download times by.
const NOISE: (f64, f64) = (0.9, 1.1);

/// What happened to one chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Download {
    /// The chunk.
    pub chunk: usize,
    /// Its quality.
    pub quality: usize,
    /// Its bytes.
    pub size: f64,
    /// How long it took, ms.
    pub download_ms: f64,
    /// How long the player slept after it because the buffer was full, ms.
    pub sleep_ms: f64,
    /// The buffer after all that, s.
    pub buffer_s: f64,
    /// How long the picture stood still, s.
    pub rebuffer_s: f64,
    /// Sizes of the chunk that comes next; after the last chunk those of the first.
    pub next_sizes: [f64; QUALITIES],
    /// Chunks that remain.
    pub remaining: usize,
}

impl Download {
    /// Whether this was the last chunk of the video.
    pub fn ends_video(&self) -> bool {
        self.remaining == 0
    }

    /// Bytes per microsecond, that is MB/s.
    pub fn throughput(&self) -> f64 {
        self.size / self.download_ms / 1000.0
    }
}

/// A player of one video over traces.
#[derive(Clone, Debug)]
pub struct Player {
    video: Arc<Video>,
    playback: Playback,
    buffer_ms: f64,
    chunk: usize,
    noise: Option<Random>,
}

impl Player {
    /// A player without noise at the beginning of the first trace: the test simulator.
    pub fn new(video: Arc<Video>, traces: Arc<[Trace]>) -> Result<Player, SettingError> {
        Ok(Player { video, playback: Playback::new(traces)?, buffer_ms: 0.0, chunk: 0, noise: None })
    }

    /// Begins the video again with an empty buffer, at the interval that ends at a point of a trace; with noise that a
    /// stream of random numbers draws, or without.
    pub fn begin(&mut self, trace: usize, point: usize, noise: Option<Random>) {
        self.playback.seek(trace, point);
        (self.buffer_ms, self.chunk, self.noise) = (0.0, 0, noise);
    }

    /// Where in which trace the player is.
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// The video.
    pub fn video(&self) -> &Video {
        &self.video
    }

    /// Downloads the next chunk at a quality. After the last chunk the video begins again with an empty buffer, and the
    /// trace goes on where it is: call [`Player::begin`] for another.
    pub fn download(&mut self, quality: usize) -> Result<Download, EnvironmentError> {
        if quality >= QUALITIES {
            return Err(EnvironmentError::Action(format!(
                "{quality} is no quality: they go from 0 to {}",
                QUALITIES - 1
            )));
        }
        let chunk = self.chunk;
        let size = self.video.sizes(chunk)[quality];
        let mut download_ms = self.playback.download(size) * 1000.0 + ROUND_TRIP_MS;
        if let Some(random) = &mut self.noise {
            download_ms *= random.between(NOISE.0, NOISE.1);
        }
        let rebuffer_ms = (download_ms - self.buffer_ms).max(0.0);
        self.buffer_ms = (self.buffer_ms - download_ms).max(0.0) + CHUNK_SECONDS * 1000.0;
        let mut sleep_ms = 0.0;
        if self.buffer_ms > BUFFER_LIMIT_MS {
            sleep_ms = ((self.buffer_ms - BUFFER_LIMIT_MS) / NAP_MS).ceil() * NAP_MS;
            self.buffer_ms -= sleep_ms;
            self.playback.sleep(sleep_ms);
        }
        let buffer_s = self.buffer_ms / 1000.0;
        self.chunk += 1;
        let remaining = self.video.chunks() - self.chunk;
        if remaining == 0 {
            (self.buffer_ms, self.chunk) = (0.0, 0);
        }
        let next_sizes = self.video.sizes(self.chunk);
        let rebuffer_s = rebuffer_ms / 1000.0;
        Ok(Download { chunk, quality, size, download_ms, sleep_ms, buffer_s, rebuffer_s, next_sizes, remaining })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(mbit_per_s: f64) -> Player {
        let trace = Trace::constant("c", mbit_per_s).unwrap();
        Player::new(Arc::new(Video::reference()), [trace].into()).unwrap()
    }

    #[test]
    fn the_first_chunk_stalls_for_its_whole_download() {
        // 8 Mbit/s carry 0.95 MB of video per second.
        let mut player = player(8.0);
        let first = player.download(1).unwrap();
        assert!((first.download_ms - (450_283.0 / 950.0 + 80.0)).abs() < 1e-9);
        assert_eq!(first.rebuffer_s, first.download_ms / 1000.0);
        assert_eq!((first.buffer_s, first.remaining, first.sleep_ms), (4.0, 47, 0.0));
        let second = player.download(0).unwrap();
        assert_eq!(second.rebuffer_s, 0.0);
        assert!((second.buffer_s - (8.0 - second.download_ms / 1000.0)).abs() < 1e-12);
    }

    #[test]
    fn a_full_buffer_puts_the_player_to_sleep() {
        let mut player = player(1000.0);
        let downloads: Vec<Download> = (0..48).map(|_| player.download(0).unwrap()).collect();
        let slept = downloads.iter().find(|download| download.sleep_ms > 0.0).unwrap();
        assert!(slept.buffer_s <= 60.0 && slept.buffer_s > 59.5 && slept.sleep_ms % 500.0 == 0.0);
        assert!(downloads[47].ends_video());
        assert_eq!(downloads[47].next_sizes, Video::reference().sizes(0));
        // The next video begins with an empty buffer.
        assert_eq!(player.download(0).unwrap().buffer_s, 4.0);
    }

    #[test]
    fn noise_stays_within_a_tenth() {
        let (mut still, mut noisy) = (player(8.0), player(8.0));
        noisy.begin(0, 1, Some(Random::new(1, 0)));
        let ratios: Vec<f64> =
            (0..40).map(|_| noisy.download(2).unwrap().download_ms / still.download(2).unwrap().download_ms).collect();
        assert!(ratios.iter().all(|ratio| (0.9..=1.1).contains(ratio)));
        assert!(ratios.iter().any(|ratio| (ratio - 1.0).abs() > 0.05));
        assert!(still.download(6).is_err());
    }
}
