//! Pensieve's format: one point per line, seconds and Mbit/s, separated by a tab or other white space.

use std::fmt::Write;

use super::{Builder, Trace, content, number};
use crate::TraceError;

/// Reads a trace of two columns. `source` names the text in errors and becomes the trace's name.
pub fn read_columns(source: &str, text: &str) -> Result<Trace, TraceError> {
    let mut builder = Builder::new(source, source);
    for (line, content) in content(text) {
        push(&mut builder, source, line, content)?;
    }
    builder.finish(0)
}

/// Adds the point that a line of two columns holds.
pub(super) fn push(builder: &mut Builder, source: &str, line: usize, content: &str) -> Result<(), TraceError> {
    let mut cells = content.split_whitespace();
    let (Some(time), Some(rate), None) = (cells.next(), cells.next(), cells.next()) else {
        let found = content.split_whitespace().count();
        let message = format!("a point has 2 columns (seconds, Mbit/s), this line has {found}");
        return Err(TraceError::new(source, line, message));
    };
    builder.push(line, number(source, line, "time", time)?, number(source, line, "rate", rate)?)
}

/// Writes a trace in two columns; reading it again gives the same numbers.
pub fn write_columns(trace: &Trace) -> String {
    let mut text = String::new();
    for (time, rate) in trace.times().iter().zip(trace.rates()) {
        // Writing to a string cannot fail. The shortest decimals that read back as the same double.
        let _ = writeln!(text, "{time}\t{rate}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_blanks_and_comments() {
        let trace = read_columns("t", "# seconds, Mbit/s\n0.0\t4.0\n\n 0.5   2e0 \r\n1 3").unwrap();
        assert_eq!((trace.times(), trace.rates()), (&[0.0, 0.5, 1.0][..], &[4.0, 2.0, 3.0][..]));
        assert_eq!(write_columns(&trace), "0\t4\n0.5\t2\n1\t3\n");
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| read_columns("f.log", text).unwrap_err().to_string();
        assert_eq!(message("0 1\n1"), "f.log:2: a point has 2 columns (seconds, Mbit/s), this line has 1");
        assert_eq!(message("0 1\n1 2 3"), "f.log:2: a point has 2 columns (seconds, Mbit/s), this line has 3");
        assert_eq!(message("0 1\n1 x"), "f.log:2: \"x\" is no rate: a decimal number is wanted");
        assert_eq!(message("0 1\n\nnan 1"), "f.log:3: \"nan\" is no time: a decimal number is wanted");
        assert_eq!(message("0 1\n1 2\n1 3"), "f.log:3: time 1 does not come after 1: times must increase");
        assert_eq!(message(""), "f.log: a trace needs at least 2 points, this one has 0");
    }
}
