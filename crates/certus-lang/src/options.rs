//! What can be chosen when a file is loaded.

/// How to turn a file into a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowerOptions {
    /// Values of parameters, in place of those in the file.
    pub overrides: Vec<(String, f64)>,
    /// Parameters that stay inputs of the step.
    pub free_params: Vec<String>,
    /// Whose networks are left out, so that somebody outside answers for them.
    pub open: Open,
    /// How many results an open network has, by its path; what is not named here is read from its file.
    pub outputs: Vec<(String, usize)>,
}

/// Which policies and actions are open: their networks' results are inputs of the step, and what the networks would
/// see are outputs of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Open {
    /// None: the loop is closed.
    #[default]
    None,
    /// All of them.
    All,
    /// Those of these names.
    Named(Vec<String>),
}

impl Open {
    /// Whether the policy or action of this name is open.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Open::None => false,
            Open::All => true,
            Open::Named(names) => names.iter().any(|own| own == name),
        }
    }
}
