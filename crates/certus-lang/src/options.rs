//! What can be chosen when a file is loaded.

/// How to turn a file into a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowerOptions {
    /// Values of parameters, in place of those in the file.
    pub overrides: Vec<(String, f64)>,
    /// Parameters that stay inputs of the step.
    pub free_params: Vec<String>,
}
