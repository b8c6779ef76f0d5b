//! Long work called from Python: signals, progress, and stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use certus_tasks::Failure;
use pyo3::prelude::*;

use crate::errors::failure;

/// Progress is told at most this often.
const INTERVAL: Duration = Duration::from_millis(200);

/// Whoever waits for some work: told of progress, and asked whether it should go on.
pub struct Caller {
    progress: Option<Py<PyAny>>,
    /// Set when the work is to stop.
    pub stop: Arc<AtomicBool>,
    fault: Option<PyErr>,
    last: Instant,
}

impl Caller {
    /// A caller with a function that wants to know of progress, or without one.
    pub fn new(progress: Option<Py<PyAny>>) -> Caller {
        Caller { progress, stop: Arc::new(AtomicBool::new(false)), fault: None, last: Instant::now() }
    }

    /// Looks at signals, and tells of progress if it is time. An exception stops the work.
    pub fn tick(&mut self, progress: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) {
        if self.fault.is_some() {
            return;
        }
        let told = Python::attach(|py| -> PyResult<()> {
            py.check_signals()?;
            if let Some(callback) = &self.progress
                && self.last.elapsed() >= INTERVAL
            {
                self.last = Instant::now();
                callback.call1(py, (progress(py)?,))?;
            }
            Ok(())
        });
        if let Err(fault) = told {
            self.fault = Some(fault);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The exception that stopped the work, if one did. An internal fault keeps every result back, as on the command line.
    pub fn finish(self) -> PyResult<()> {
        match (self.fault, certus_graph::fault::noted()) {
            (Some(stopped), _) => Err(stopped),
            (None, Some(fault)) => Err(failure(Failure::Fault(Box::new(fault)))),
            (None, None) => Ok(()),
        }
    }
}
