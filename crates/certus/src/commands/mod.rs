//! The commands, one per file.

pub mod completions;
pub mod fmt;
pub mod inspect;
pub mod simulate;
pub mod verify;

use std::io::{IsTerminal, stderr};
use std::path::Path;

use certus_lang::diagnostics::Diagnostics;
use certus_lang::system::System;
use certus_lang::{LowerOptions, load_file};

use crate::failure::Failure;

/// Diagnostics as a person reads them, in colour where somebody can see it.
pub fn rendered(diagnostics: &Diagnostics) -> String {
    diagnostics.render(stderr().is_terminal())
}

/// Loads a system, shows its warnings unless told to be quiet.
pub fn load_system(path: &Path, settings: &[(String, f64)], quiet: bool) -> Result<System, Failure> {
    let options = LowerOptions { overrides: settings.to_vec(), ..LowerOptions::default() };
    let system = load_file(path, &options).map_err(|diagnostics| Failure::Diagnostics(rendered(&diagnostics)))?;
    if !quiet && !system.warnings.is_empty() {
        eprintln!("{}", rendered(&system.warnings).trim_end());
    }
    Ok(system)
}
