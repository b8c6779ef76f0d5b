//! Comma-separated values with a header. The header names the units, so that none has to be guessed:
//! one column is `time_s` or `time_ms`, one is `mbit_per_s`, `kbit_per_s` or `bit_per_s` (or `mbps`, `kbps`, `bps`);
//! others are ignored. Upper and lower case are the same. Quoted cells are not understood and say so.

use std::fmt::Write;

use super::{Builder, Trace, content, number};
use crate::TraceError;

const TIMES: &str = "time_s or time_ms";
const RATES: &str = "mbit_per_s, kbit_per_s or bit_per_s";

/// What a file's unit is divided by to get seconds or Mbit/s.
fn divisor(heading: &str) -> Option<(bool, f64)> {
    match heading.to_ascii_lowercase().as_str() {
        "time_s" => Some((true, 1.0)),
        "time_ms" => Some((true, 1e3)),
        "mbit_per_s" | "mbps" => Some((false, 1.0)),
        "kbit_per_s" | "kbps" => Some((false, 1e3)),
        "bit_per_s" | "bps" => Some((false, 1e6)),
        _ => None,
    }
}

/// Reads a trace of comma-separated values; see the head of the file for the header.
pub fn read_csv(source: &str, text: &str) -> Result<Trace, TraceError> {
    let mut lines = content(text);
    let Some((heading, header)) = lines.next() else {
        return Err(TraceError::new(source, 0, format!("there is no header: it names {TIMES} and {RATES}")));
    };
    let header: Vec<&str> = header.trim_start_matches('\u{feff}').split(',').map(str::trim).collect();
    let column = |is_time: bool, names: &str| {
        let mut found = header.iter().enumerate().filter_map(|(index, heading)| match divisor(heading) {
            Some((kind, divisor)) if kind == is_time => Some((index, divisor)),
            _ => None,
        });
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (None, _) => Err(TraceError::new(source, heading, format!("the header has no column {names}"))),
            (Some(_), Some(_)) => {
                let message = format!("the header has more than one column {names}");
                Err(TraceError::new(source, heading, message))
            }
        }
    };
    let (time, time_divisor) = column(true, TIMES)?;
    let (rate, rate_divisor) = column(false, RATES)?;
    let mut builder = Builder::new(source, source);
    for (line, content) in lines {
        if content.contains('"') {
            return Err(TraceError::new(source, line, "quoted cells are not understood: remove the quotes"));
        }
        let found = content.split(',').count();
        if found != header.len() {
            let message = format!("the header has {} columns, this line has {found}", header.len());
            return Err(TraceError::new(source, line, message));
        }
        let cell = |index: usize| content.split(',').nth(index).unwrap_or("").trim();
        let time = number(source, line, "time", cell(time))? / time_divisor;
        let rate = number(source, line, "rate", cell(rate))? / rate_divisor;
        builder.push(line, time, rate)?;
    }
    builder.finish(0)
}

/// Writes a trace as `time_s,mbit_per_s`; reading it again gives the same numbers.
pub fn write_csv(trace: &Trace) -> String {
    let mut text = String::from("time_s,mbit_per_s\n");
    for (time, rate) in trace.times().iter().zip(trace.rates()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{time},{rate}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_units_converted() {
        let trace = read_csv("c", "cell,Kbps, time_ms\nx,1500,0\ny, 2000 ,500\n").unwrap();
        assert_eq!((trace.times(), trace.rates()), (&[0.0, 0.5][..], &[1.5, 2.0][..]));
        assert_eq!(write_csv(&trace), "time_s,mbit_per_s\n0,1.5\n0.5,2\n");
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| read_csv("c", text).unwrap_err().to_string();
        assert_eq!(message("time_s\n"), "c:1: the header has no column mbit_per_s, kbit_per_s or bit_per_s");
        assert_eq!(message("mbps,time_s,time_ms\n"), "c:1: the header has more than one column time_s or time_ms");
        assert_eq!(message("time_s,mbps\n0,1\n1"), "c:3: the header has 2 columns, this line has 1");
        assert_eq!(message("time_s,mbps\n0,\n1"), "c:2: \"\" is no rate: a decimal number is wanted");
        assert_eq!(message("time_s,mbps\n0,\"1\""), "c:2: quoted cells are not understood: remove the quotes");
        assert!(message("").starts_with("c: there is no header"));
    }
}
