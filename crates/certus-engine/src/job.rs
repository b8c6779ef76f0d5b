//! A command's work, with its deadline, cancellation, progress and partial result.
//!
//! Engines poll their deadline; reading a large file or canonicalising a graph does not. So the work of a command runs on a thread of its
//! own, and the caller waits no longer than a moment beyond the deadline or the cancellation. What the work has to show so far, and
//! how far it is, lies on a [`Board`] that both sides can read, so nothing is lost when the work is late. Late work is abandoned: the
//! process ends soon after.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use certus_model::UnknownReason;

/// The work has at least this long after the deadline to stop by itself.
const SHORTEST_GRACE: Duration = Duration::from_millis(100);

/// It has this share of the time that it was given, if that is longer.
const GRACE_DIVISOR: u32 = 100;

/// After a cancellation it has this long.
const GRACE_AFTER_CANCEL: Duration = Duration::from_secs(2);

/// How often the deadline, the flag and the progress are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Readers recurse with a bound; the default stack of a thread is smaller than that of the process.
const STACK: usize = 64 << 20;

/// When work has to stop: at a deadline, or when it is cancelled.
#[derive(Clone)]
pub struct Job {
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// Set by somebody else to stop the work.
    pub cancel: Arc<AtomicBool>,
}

/// How a job ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<T> {
    /// The work is done.
    Done(T),
    /// The deadline passed, and the work did not stop.
    Late,
    /// The job was cancelled, and the work did not stop.
    Cancelled,
}

impl<T> Ended<T> {
    /// Why there is no more than a partial result, for work that stopped by itself: because it was told to.
    pub fn reason(&self) -> UnknownReason {
        match self {
            Ended::Late => UnknownReason::Deadline,
            Ended::Done(_) | Ended::Cancelled => UnknownReason::Stopped,
        }
    }
}

/// Why a job could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError(String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

impl Job {
    /// A job that stops at a deadline or when a flag is set.
    pub fn new(deadline: Option<Instant>, cancel: &Arc<AtomicBool>) -> Job {
        Job { deadline, cancel: Arc::clone(cancel) }
    }

    /// Does some work and waits for it. `tick` is called some twenty times a second meanwhile. Fails if no thread can be started.
    pub fn run<T: Send + 'static>(
        &self,
        mut tick: impl FnMut(),
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Ended<T>, JobError> {
        let started = Instant::now();
        let grace = |deadline: Instant| SHORTEST_GRACE.max(deadline.saturating_duration_since(started) / GRACE_DIVISOR);
        let last = self.deadline.map(|deadline| deadline + grace(deadline));
        let (sender, receiver) = channel();
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                // Nobody listens any more when the work is late.
                let _ = sender.send(work());
            })
            .map_err(|error| JobError(format!("cannot start a thread: {error}")))?;
        let mut cancelled_at: Option<Instant> = None;
        loop {
            let now = Instant::now();
            let until = last.map_or(TICK, |last| last.saturating_duration_since(now).min(TICK));
            match receiver.recv_timeout(until) {
                Ok(result) => return Ok(Ended::Done(result)),
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return Err(JobError("the work ended without a result".to_owned())),
                },
                Err(RecvTimeoutError::Timeout) => {}
            }
            tick();
            let now = Instant::now();
            if last.is_some_and(|last| now >= last) {
                return Ok(Ended::Late);
            }
            let cancelled = self.cancel.load(Ordering::Relaxed);
            if cancelled && now - *cancelled_at.get_or_insert(now) >= GRACE_AFTER_CANCEL {
                return Ok(Ended::Cancelled);
            }
        }
    }

    /// Does some work that keeps its partial result and progress on a board, and waits for it. `tick` is shown the board meanwhile.
    pub fn run_with_board<S: Send + 'static, T: Send + 'static>(
        &self,
        board: &Arc<Board<S>>,
        mut tick: impl FnMut(&Board<S>),
        work: impl FnOnce(&Board<S>, &AtomicBool) -> T + Send + 'static,
    ) -> Result<Ended<T>, JobError> {
        let (shared, cancel) = (Arc::clone(board), Arc::clone(&self.cancel));
        self.run(|| tick(board), move || work(&shared, &cancel))
    }
}

/// What work has to show so far: written by the work, read by whoever waits for it.
#[derive(Debug, Default)]
pub struct Board<S>(Mutex<S>);

impl<S> Board<S> {
    /// A board that shows this.
    pub fn new(state: S) -> Arc<Board<S>> {
        Arc::new(Board(Mutex::new(state)))
    }

    /// Reads or changes what it shows. The work waits meanwhile, so be brief.
    pub fn with<R>(&self, look: impl FnOnce(&mut S) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Clone> Board<S> {
    /// A copy of what it shows.
    pub fn copy(&self) -> S {
        self.with(|state| state.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(deadline: Option<Instant>) -> Job {
        Job::new(deadline, &Arc::new(AtomicBool::new(false)))
    }

    #[test]
    fn what_is_done_in_time_is_returned() {
        assert_eq!(job(None).run(|| {}, || 7).unwrap(), Ended::Done(7));
    }

    #[test]
    fn what_is_late_is_abandoned_and_its_partial_result_kept() {
        // The work ends only when it is told to, after the waiting is over.
        let release = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&release);
        let board = Board::new(0);
        let ended = job(Some(Instant::now())).run_with_board(
            &board,
            |_| {},
            move |board, _| {
                board.with(|shown| *shown = 3);
                while !seen.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            },
        );
        release.store(true, Ordering::Relaxed);
        assert_eq!(ended.unwrap(), Ended::Late);
        assert_eq!(board.copy(), 3);
    }
}
