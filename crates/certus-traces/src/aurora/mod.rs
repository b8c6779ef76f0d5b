//! Aurora: congestion control over one bottleneck, as PCC-RL simulates it.
//!
//! A sender paces packets into a link with a queue; acknowledgements and reports of losses come back over a second
//! link. Time is cut into *monitor intervals*. After each one the policy sees three features of the last ten and says
//! how to change the rate. Source: N. Jay, N. Rotman, B. Godfrey, M. Schapira, A. Tamar, *A Deep Reinforcement Learning
//! Perspective on Internet Congestion Control*, ICML 2019, and its simulator (GitHub `PCCproject/PCC-RL`, Apache-2.0),
//! whose arithmetic is followed operation by operation: whether a packet still fits into a queue is decided by the last
//! digit, and one packet more changes all that follows.
//!
//! An addition of ours: the bandwidth can follow a trace ([`Bandwidth::Trace`]).
//!
//! ```
//! use certus_traces::aurora::{Aurora, Ranges};
//! use certus_traces::Environment;
//!
//! let mut environment = Aurora::new(Ranges::default()).unwrap();
//! environment.reset(1);
//! let outcome = environment.step(&[0.5]).unwrap();
//! assert!(outcome.reward.is_finite() && !outcome.over());
//! assert_eq!(environment.observation().len(), 30);
//! ```

mod environment;
mod flow;
mod history;
mod interval;
mod link;
mod network;
pub mod reference;
mod simulator;

pub use environment::{Aurora, EPISODE, Ranges};
pub use flow::{Acknowledgement, CongestionControl, Flow};
pub use history::{FEATURES, HISTORY, History};
pub use interval::{Interval, PACKET_BYTES};
pub use link::Bandwidth;
pub use network::Network;
pub use simulator::{DELTA_SCALE, RATES, Scenario, Simulator};
