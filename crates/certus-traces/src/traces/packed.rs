//! Many traces in one file: a line `@ name count`, then as many points in two columns.

use std::fmt::Write;

use super::{Builder, Trace, columns, content, write_columns};
use crate::TraceError;

/// Reads all traces of a packed file, in the file's order.
pub fn read_packed(source: &str, text: &str) -> Result<Vec<Trace>, TraceError> {
    let mut traces = Vec::new();
    // The trace under way: its points, the line of its heading, and how many points that promised.
    let mut open: Option<(Builder, usize, usize)> = None;
    for (line, content) in content(text) {
        if let Some(heading) = content.strip_prefix('@') {
            traces.extend(close(source, open.take())?);
            let Some((name, count)) = heading.trim().rsplit_once(char::is_whitespace) else {
                return Err(TraceError::new(source, line, "a heading is '@ name count'"));
            };
            let Ok(count) = count.parse::<usize>() else {
                let message = format!("{count:?} is no number of points: a heading is '@ name count'");
                return Err(TraceError::new(source, line, message));
            };
            open = Some((Builder::new(source, name.trim()), line, count));
        } else if let Some((builder, heading, count)) = &mut open {
            if builder.len() == *count {
                let message = format!("the heading on line {heading} promised {count} points, this is one more");
                return Err(TraceError::new(source, line, message));
            }
            columns::push(builder, source, line, content)?;
        } else {
            return Err(TraceError::new(source, line, "a point before the first heading '@ name count'"));
        }
    }
    traces.extend(close(source, open)?);
    if traces.is_empty() {
        return Err(TraceError::new(source, 0, "there is no trace: each begins with a heading '@ name count'"));
    }
    Ok(traces)
}

fn close(source: &str, open: Option<(Builder, usize, usize)>) -> Result<Option<Trace>, TraceError> {
    let Some((builder, heading, count)) = open else { return Ok(None) };
    if builder.len() != count {
        let message = format!("the heading promises {count} points, but {} follow", builder.len());
        return Err(TraceError::new(source, heading, message));
    }
    builder.finish(heading).map(Some)
}

/// Writes traces into one text; reading it again gives the same traces.
pub fn write_packed(traces: &[Trace]) -> String {
    let mut text = String::new();
    for trace in traces {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@ {} {}", trace.name(), trace.len());
        text.push_str(&write_columns(trace));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_blanks() {
        let text = "@ a b 2\n0\t1\n1\t2\n@ c 2\n0\t3\n1\t4\n";
        let traces = read_packed("p", text).unwrap();
        assert_eq!(traces.iter().map(Trace::name).collect::<Vec<_>>(), ["a b", "c"]);
        assert_eq!(write_packed(&traces), text);
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| read_packed("p", text).unwrap_err().to_string();
        assert_eq!(message("0 1"), "p:1: a point before the first heading '@ name count'");
        assert_eq!(message("@ a"), "p:1: a heading is '@ name count'");
        assert_eq!(message("@ a x"), "p:1: \"x\" is no number of points: a heading is '@ name count'");
        assert_eq!(message("@ a 3\n0 1\n1 1"), "p:1: the heading promises 3 points, but 2 follow");
        assert_eq!(message("@ a 2\n0 1\n1 1\n2 1"), "p:4: the heading on line 1 promised 2 points, this is one more");
        assert_eq!(message("@ a 99999999999999\n0 1"), "p:1: the heading promises 99999999999999 points, but 1 follow");
        assert_eq!(message("@ a 1\n0 1"), "p:1: a trace needs at least 2 points, this one has 1");
        assert_eq!(message("\n\n"), "p: there is no trace: each begins with a heading '@ name count'");
    }
}
