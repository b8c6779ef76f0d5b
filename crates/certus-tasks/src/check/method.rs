//! The engines by their names.

use std::fmt;
use std::str::FromStr;

use certus_check::Engine;
use certus_lang::system::{Property, PropertyKind};

/// How properties are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By questions about runs.
    Runs(Engine),
    /// On a grid of cells.
    Grid,
    /// By bounds on probabilities.
    Imdp,
}

impl Default for Method {
    fn default() -> Self {
        Method::Runs(Engine::default())
    }
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Runs(engine) => engine.name(),
            Method::Grid => certus_grid::NAME,
            Method::Imdp => certus_prob::NAME,
        }
    }

    /// Whether cells of a grid have a part in it.
    pub fn has_grid(self) -> bool {
        matches!(self, Method::Grid | Method::Runs(Engine::Auto))
    }

    /// What is taken for a property: where the choice is free, probabilities go to the one engine that knows them.
    pub(super) fn suited(self, property: &Property) -> Method {
        match (self, &property.kind) {
            (Method::Runs(Engine::Auto), PropertyKind::Probability { .. }) => Method::Imdp,
            _ => self,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        match text {
            certus_grid::NAME => Ok(Method::Grid),
            certus_prob::NAME => Ok(Method::Imdp),
            _ => text
                .parse()
                .map(Method::Runs)
                .map_err(|message: String| format!("{message}, {}, {}", certus_grid::NAME, certus_prob::NAME)),
        }
    }
}
