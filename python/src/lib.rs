//! Python bindings of Certus: every command of `certus_tasks::commands` as a function, systems and networks as objects, and environments
//! for training.
//!
//! Everything here is conversion. Work is done by the crates of the workspace with the interpreter's lock released;
//! while it goes on, signals are looked at and progress is told a few times a second.

#![forbid(unsafe_code)]

mod calling;
mod commands;
mod convert;
mod environments;
mod errors;
mod network;
mod simulate;
mod statistics;
mod system;
mod worlds;

use pyo3::prelude::*;

/// The compiled part of the package `certus`.
#[pymodule]
fn _certus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CertusError", py.get_type::<errors::CertusError>())?;
    module.add("SystemError", py.get_type::<errors::SystemError>())?;
    module.add("NetworkError", py.get_type::<errors::NetworkError>())?;
    module.add("SimulationError", py.get_type::<errors::SimulationError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<system::RawSystem>()?;
    module.add_class::<network::Network>()?;
    module.add_class::<environments::RawEnvironments>()?;
    module.add_function(wrap_pyfunction!(system::network_of, module)?)?;
    module.add_class::<worlds::Traces>()?;
    module.add_class::<worlds::RawWorlds>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(commands::commands, module)?)?;
    module.add_function(wrap_pyfunction!(commands::run, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::collect, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::collected, module)?)?;
    Ok(())
}
