//! Congestion controllers that learned policies are compared with, one file each, and observations of them.

mod bbr;
mod cubic;
mod observe;

pub use bbr::{Bbr, BbrMode};
pub use cubic::Cubic;
pub use observe::{Window, observe, observe_policy, observed_names};
