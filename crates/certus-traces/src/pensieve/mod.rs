//! Pensieve: a video player that chooses the bitrate of the next chunk, over a recorded network.
//!
//! Chunks are downloaded one after the other at the rate of a trace; downloaded seconds fill the buffer and playing
//! empties it; an empty buffer stalls. Source: H. Mao, R. Netravali, M. Alizadeh, *Neural Adaptive Video Streaming with
//! Pensieve*, SIGCOMM 2017, and its simulator (GitHub `hongzimao/pensieve`, MIT), whose arithmetic is followed
//! operation by operation.
//!
//! ```
//! use std::sync::Arc;
//! use certus_traces::pensieve::{Pensieve, Settings, Video};
//! use certus_traces::traces::Cellular;
//! use certus_traces::Environment;
//!
//! let traces = [Cellular::default().generate("commute", 1).unwrap()];
//! let mut environment = Pensieve::new(Settings::training(), Arc::new(Video::reference()), traces.into()).unwrap();
//! environment.reset(1);
//! // The first chunk came at 750 kbit/s; 47 decisions remain.
//! assert_eq!(environment.observation()[47], 47.0 / 48.0);
//! let outcome = environment.step(&[2.0]).unwrap();
//! assert!(!outcome.over());
//! ```

mod environment;
pub mod observe;
mod playback;
mod player;
mod qoe;
pub mod reference;
mod state;
mod video;

pub use environment::{FIRST_QUALITY, Pensieve, Settings, Start};
pub use playback::Playback;
pub use player::{BUFFER_LIMIT_MS, Download, Player, ROUND_TRIP_MS};
pub use qoe::Qoe;
pub use state::{COLUMNS, ROWS, State};
pub use video::{BITRATES, CHUNK_SECONDS, QUALITIES, Video};
