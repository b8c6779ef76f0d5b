//! `certus mdp`: probabilities of interval MDPs.

use std::path::Path;

use certus_prob::imdp::Imdp;

use crate::Finding;
use crate::arguments::Mdp;
use crate::failure::Failure;

/// Computes a probability.
pub fn run(_command: &Mdp) -> Result<Finding, Failure> {
    Err(Failure::message("not yet"))
}

/// Writes a model in the format that the file's name asks for.
pub fn write_model(_path: &Path, _model: &Imdp) -> Result<(), Failure> {
    Err(Failure::message("not yet"))
}
