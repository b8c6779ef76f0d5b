//! Where a search over several cases stands.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use certus_model::short;
use certus_solver::Progress;

/// Where a search over several cases stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchProgress {
    /// How many cases there are; none while the question is being read.
    pub cases: usize,
    /// The case that is searched now.
    case: usize,
    /// Cases that are refuted.
    finished: usize,
    /// Subproblems verified and left open in the cases before this one.
    before: Progress,
    /// The case that is searched now, so far.
    pub progress: Progress,
}

impl SearchProgress {
    /// A copy of what others may be changing.
    pub fn of(shared: &Mutex<SearchProgress>) -> SearchProgress {
        *shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes it.
    pub fn update(shared: &Mutex<SearchProgress>, change: impl FnOnce(&mut SearchProgress)) {
        change(&mut shared.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A case begins.
    pub fn begin(&mut self, case: usize) {
        self.case = case;
        self.progress = Progress::default();
    }

    /// A case goes on that was left like this.
    pub fn take_up(&mut self, case: usize, left: Progress) {
        self.case = case;
        self.before.verified = self.before.verified.saturating_sub(left.verified);
        self.before.open = self.before.open.saturating_sub(left.open);
        self.before.done -= left.done;
        self.progress = left;
    }

    /// The case is refuted.
    pub fn finish(&mut self, progress: Progress) {
        self.finished += 1;
        self.before.verified += progress.verified;
        self.before.done += 1.0;
        self.progress = Progress::default();
    }

    /// The case is left as it is.
    pub fn leave(&mut self, progress: Progress) {
        self.before.verified += progress.verified;
        self.before.open += progress.open;
        self.before.done += progress.done;
        self.progress = Progress { bound: progress.bound, ..Progress::default() };
    }

    /// Subproblems verified so far.
    pub fn verified(&self) -> u64 {
        self.before.verified + self.progress.verified
    }

    /// Parts open, as far as they are known.
    pub fn open(&self) -> u64 {
        self.before.open + self.progress.open
    }

    /// The share of all cases that is done.
    pub fn done(&self) -> f64 {
        match self.cases {
            0 => 0.0,
            cases => ((self.before.done + self.progress.done) / cases as f64).clamp(0.0, 1.0),
        }
    }
}

impl fmt::Display for SearchProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cases == 0 {
            return f.write_str("reading");
        }
        if self.cases > 1 {
            write!(f, "case {} of {}, {} refuted; ", self.case + 1, self.cases, self.finished)?;
        }
        let (verified, open, done) = (self.verified(), self.open(), 100.0 * self.done());
        write!(f, "{verified} subproblems verified, {open} open, {done:.1} % done")?;
        match self.progress.bound {
            Some(bound) => write!(f, ", lowest bound {}", short(bound)),
            None => Ok(()),
        }
    }
}
