//! Controllers that learned policies are compared with, one file each.

mod buffer_based;
mod robust_mpc;

pub use buffer_based::buffer_based;
pub use robust_mpc::RobustMpc;
