//! What a terminal is told beyond plain text: colours for verdicts, and lines that fit.

use std::env::var_os;
use std::io::{IsTerminal, stderr, stdout};

use certus_tasks::output::Output;

use crate::Finding;

/// Whether the environment allows colours: `NO_COLOR` (<https://no-color.org>) is not set to anything, and the terminal is not a dumb one.
fn allowed() -> bool {
    let refused = var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether messages on standard error may have colours.
pub fn colourful_messages() -> bool {
    stderr().is_terminal() && allowed()
}

/// A verdict in the colour of its finding where somebody sees it on a terminal, and plain everywhere else.
pub fn painted(text: &str, finding: Finding, output: &Output) -> String {
    let seen = matches!(output, Output::Standard(_)) && stdout().is_terminal() && allowed();
    if seen { in_colour(text, finding) } else { text.to_owned() }
}

fn in_colour(text: &str, finding: Finding) -> String {
    let code = match finding {
        Finding::Good => 32,
        Finding::Violated | Finding::ModelError => 31,
        Finding::Undecided => 33,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// As much of a text as fits on one line of the terminal that shows messages, so that it can be written over.
pub fn fitting(text: &str) -> String {
    let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
    shortened(text, width)
}

fn shortened(text: &str, width: usize) -> String {
    // The last column stays free: some terminals begin a new line once it is written.
    let room = width.saturating_sub(1);
    match text.chars().count() <= room {
        true => text.to_owned(),
        false => text.chars().take(room.saturating_sub(1)).chain(['…']).take(room).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        assert_eq!(shortened("k = 3", 80), "k = 3");
        assert_eq!(shortened("12345678", 9), "12345678");
        assert_eq!(shortened("12345678", 8), "123456…");
        for width in 0..4 {
            assert!(shortened("abcdef", width).chars().count() < width.max(1));
        }
    }

    #[test]
    fn colours_end_where_they_should() {
        assert_eq!(in_colour("holds", Finding::Good), "\x1b[32mholds\x1b[0m");
        assert_ne!(in_colour("x", Finding::Violated), in_colour("x", Finding::Undecided));
    }
}
