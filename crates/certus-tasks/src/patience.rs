//! Waiting for work, but not for ever.
//!
//! The engines poll their deadline; reading a large file or bringing a graph into form does not. So the work is done on
//! a thread of its own, and whoever asked for it waits no longer than a moment beyond the deadline, or beyond Ctrl-C.
//! What is late is left behind: the process ends soon after.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The work has at least this long to stop by itself.
const SHORTEST_GRACE: Duration = Duration::from_millis(100);

/// After Ctrl-C it has this long.
const GRACE_AFTER_STOP: Duration = Duration::from_secs(2);

/// How often the deadline, the flag and the progress are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Readers recurse with a bound; the default stack of a thread is smaller than that of the process.
const STACK: usize = 64 << 20;

/// How waiting ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited<T> {
    /// The work was done.
    Done(T),
    /// The deadline passed, and the work did not stop.
    Late,
    /// Somebody asked to stop, and the work did not.
    Stopped,
}

/// Does some work and waits for it; `tick` is called now and then while waiting.
pub fn wait<T: Send + 'static>(
    deadline: Option<Instant>,
    stop: &AtomicBool,
    mut tick: impl FnMut(),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Waited<T>, Failure> {
    let started = Instant::now();
    // A hundredth of the time that was given, so that long work has a little longer.
    let last = deadline.map(|deadline| deadline + SHORTEST_GRACE.max((deadline - started) / 100));
    let (sender, receiver) = channel();
    let thread = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            // Nobody listens any more when the work is late.
            let _ = sender.send(work());
        })
        .map_err(|error| Failure::message(format!("cannot start a thread: {error}")))?;
    let mut stopped_at: Option<Instant> = None;
    loop {
        let now = Instant::now();
        let until = last.map_or(TICK, |last| last.saturating_duration_since(now).min(TICK));
        match receiver.recv_timeout(until) {
            Ok(result) => return Ok(Waited::Done(result)),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(Failure::message("the work ended without a result")),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        tick();
        let now = Instant::now();
        if last.is_some_and(|last| now >= last) {
            return Ok(Waited::Late);
        }
        if stop.load(Ordering::Relaxed) && now - *stopped_at.get_or_insert(now) >= GRACE_AFTER_STOP {
            return Ok(Waited::Stopped);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_is_done_in_time_is_returned() {
        let stop = AtomicBool::new(false);
        assert_eq!(wait(None, &stop, || {}, || 7).unwrap(), Waited::Done(7));
    }

    #[test]
    fn what_is_late_is_left_behind() {
        // The work ends only when it is told to, after the waiting is over.
        let release = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&release);
        let work = move || {
            while !seen.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        };
        let waited = wait(Some(Instant::now()), &AtomicBool::new(false), || {}, work).unwrap();
        release.store(true, Ordering::Relaxed);
        assert_eq!(waited, Waited::Late);
    }
}
