//! Exceptions, with the messages that the command line prints.

use certus_tasks::Failure;
use certus_tasks::failure::Dialect;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(certus, CertusError, PyException, "Something that Certus cannot do as it was asked to.");
create_exception!(certus, SystemError, CertusError, "A `.certus` file with mistakes; the text marks each of them.");
create_exception!(certus, NetworkError, CertusError, "A network that cannot be read or applied.");
create_exception!(certus, SimulationError, CertusError, "A simulation or an environment that cannot be run.");

/// What the command line would print, without the word `error:` before it, with options as keyword arguments.
pub fn failure(failure: Failure) -> PyErr {
    match failure.worded(Dialect::Keywords) {
        Failure::Diagnostics(text) => SystemError::new_err(text.trim_end().to_owned()),
        Failure::Message(text) => CertusError::new_err(text),
        Failure::Fault(fault) => CertusError::new_err(format!("{fault}\n{}", fault.details)),
        Failure::ClosedPipe => CertusError::new_err("the output was closed"),
    }
}

/// The same for simulations.
pub fn simulation(error: certus_sim::SimulationError) -> PyErr {
    SimulationError::new_err(error.to_string())
}
