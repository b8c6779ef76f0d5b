//! Progress: a live line on a terminal, nothing in a pipe.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::terminal::fitting;

/// Whether lines that stay are written in place of the live one.
static REPLACED: AtomicBool = AtomicBool::new(false);

/// From now on, no live line is shown: what else goes to standard error would break it up.
pub fn without_live_lines() {
    REPLACED.store(true, Ordering::Relaxed);
}

/// A line on standard error that is written over; quiet unless that is a terminal.
pub struct LiveLine {
    shown: bool,
    enabled: bool,
    started: Instant,
    last: Option<Instant>,
}

impl LiveLine {
    /// A live line, unless it is not wanted or nobody would see it.
    pub fn new(quiet: bool) -> LiveLine {
        LiveLine {
            shown: false,
            enabled: !quiet && !REPLACED.load(Ordering::Relaxed) && stderr().is_terminal(),
            started: Instant::now(),
            last: None,
        }
    }

    /// Shows the text with the time that has passed, at most ten times a second.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.enabled || self.last.is_some_and(|last| now - last < Duration::from_millis(100)) {
            return;
        }
        self.last = Some(now);
        self.shown = true;
        let line = format!("{}  {:.1} s", text(), self.started.elapsed().as_secs_f64());
        eprint!("\r\x1b[K{}", fitting(&line));
        let _ = stderr().flush();
    }

    /// Takes the line away until there is more to show.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
            let _ = stderr().flush();
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.clear();
    }
}
