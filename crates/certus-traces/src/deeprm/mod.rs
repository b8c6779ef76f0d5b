//! DeepRM: a cluster of two resources that schedules jobs that arrive at random.
//!
//! Jobs wait in five visible slots and a backlog; the scheduler places one of the five, or lets time pass. Source: H.
//! Mao, M. Alizadeh, I. Menache, S. Kandula, *Resource Management with Deep Reinforcement Learning*, HotNets 2016, and
//! its simulator (GitHub `hongzimao/deeprm`, MIT).
//!
//! ```
//! use certus_traces::deeprm::{DeepRm, Settings, shortest_job_first};
//! use certus_traces::Environment;
//!
//! let mut environment = DeepRm::new(Settings::default()).unwrap();
//! environment.reset(1);
//! assert_eq!(environment.observation().len(), 20 * 124);
//! loop {
//!     let action = shortest_job_first(environment.cluster());
//!     if environment.step(&[action as f64]).unwrap().over() {
//!         break;
//!     }
//! }
//! ```

mod cluster;
mod environment;
mod heuristics;
mod job;
mod machine;
mod view;

pub use cluster::{BACKLOG, Cluster, MOST_SINCE_ARRIVAL, SLOTS};
pub use environment::{DeepRm, Ending, Settings, View};
pub use heuristics::{packer, shortest_job_first};
pub use job::{Job, RESOURCES, UNITS};
pub use machine::{COLOURS, HORIZON, Machine};
pub use view::{COMPACT_LENGTH, IMAGE_COLUMNS, IMAGE_LENGTH, compact, image};
