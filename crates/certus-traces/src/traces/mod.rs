//! Bandwidth traces: what they are, reading and writing them, and making them.
//!
//! A trace is a list of points (time, rate). It means what Pensieve's files mean: times begin at 0 and increase, the
//! rate of a point holds over the interval that ends at it (so the first point's rate holds nowhere), and after the
//! last point everything begins again. Rates are in Mbit/s whatever the file's unit.
//!
//! | format | reader | writer |
//! | --- | --- | --- |
//! | two columns, seconds and Mbit/s, any white space | [`read_columns`] | [`write_columns`] |
//! | many of those in one file, each after `@ name count` | [`read_packed`] | [`write_packed`] |
//! | mahimahi: the millisecond of each 1500-byte delivery | [`read_mahimahi`] | |
//! | comma-separated with a header that names the units | [`read_csv`] | [`write_csv`] |
//!
//! Files are not trusted: the first thing that is wrong is one error that names its line. [`Cellular`] and
//! [`Broadband`] are random processes of our own that make traces.

mod broadband;
mod capacity;
mod cellular;
mod columns;
mod csv;
mod file;
mod mahimahi;
mod packed;

use crate::TraceError;

pub use broadband::Broadband;
pub use capacity::Capacity;
pub use cellular::{CellState, Cellular};
pub use columns::{read_columns, write_columns};
pub use csv::{read_csv, write_csv};
pub use file::{Format, read_file};
pub use mahimahi::{MAHIMAHI_PACKET_BYTES, read_mahimahi};
pub use packed::{read_packed, write_packed};

/// Most points of a trace.
pub const MOST_POINTS: usize = 10_000_000;
/// Greatest rate, Mbit/s.
pub const GREATEST_RATE: f64 = 1e7;
/// Least mean rate, Mbit/s: below it nothing is ever delivered for practical purposes.
pub const LEAST_MEAN_RATE: f64 = 1e-3;
/// Least and greatest time of the last point, s.
pub const DURATIONS: (f64, f64) = (0.1, 1e9);

/// A bandwidth trace; see the head of the module for its meaning.
///
/// That it carries at least [`LEAST_MEAN_RATE`] on average over at least a tenth of a second is what makes every
/// download end.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    name: String,
    times: Vec<f64>,
    rates: Vec<f64>,
    volume: f64,
}

impl Trace {
    /// A trace of points (seconds, Mbit/s).
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Result<Trace, TraceError> {
        let mut builder = Builder::new(name, name);
        for (time, rate) in points {
            builder.push(0, time, rate)?;
        }
        builder.finish(0)
    }

    /// The same rate for ever.
    pub fn constant(name: &str, mbit_per_s: f64) -> Result<Trace, TraceError> {
        Trace::new(name, [(0.0, mbit_per_s), (1.0, mbit_per_s)])
    }

    /// The name: a file's name, mostly.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The times of the points, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The rates of the points, Mbit/s.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// How many points there are; at least two.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// When the trace begins again, s.
    pub fn duration(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// Mbit delivered in one pass.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Mean rate, Mbit/s.
    pub fn mean_rate(&self) -> f64 {
        self.volume() / self.duration()
    }
}

fn volume(times: &[f64], rates: &[f64]) -> f64 {
    times.windows(2).zip(&rates[1..]).map(|(t, rate)| (t[1] - t[0]) * rate).sum()
}

/// Collects points and checks them as they come, so that errors name lines. All traces are made here.
pub(crate) struct Builder {
    source: String,
    trace: Trace,
}

impl Builder {
    pub(crate) fn new(source: &str, name: &str) -> Self {
        let trace = Trace { name: name.to_owned(), times: Vec::new(), rates: Vec::new(), volume: 0.0 };
        Builder { source: source.to_owned(), trace }
    }

    pub(crate) fn len(&self) -> usize {
        self.trace.times.len()
    }

    pub(crate) fn push(&mut self, line: usize, time: f64, rate: f64) -> Result<(), TraceError> {
        let wrong = |message: String| Err(TraceError::new(&self.source, line, message));
        match self.trace.times.last() {
            None if time != 0.0 => {
                return wrong(format!("the first time is {time}, but must be 0: subtract it from all times"));
            }
            Some(&last) if time.is_nan() || time <= last => {
                return wrong(format!("time {time} does not come after {last}: times must increase"));
            }
            _ if time > DURATIONS.1 => return wrong(format!("time {time} is beyond the limit of {} s", DURATIONS.1)),
            _ => {}
        }
        if !(0.0..=GREATEST_RATE).contains(&rate) {
            return wrong(format!("rate {rate} Mbit/s must lie in [0, {GREATEST_RATE}]"));
        }
        if self.trace.times.len() == MOST_POINTS {
            return wrong(format!("more than {MOST_POINTS} points: cut the trace"));
        }
        // A negative zero would print as one.
        self.trace.times.push(time + 0.0);
        self.trace.rates.push(rate + 0.0);
        Ok(())
    }

    pub(crate) fn finish(self, line: usize) -> Result<Trace, TraceError> {
        let Builder { source, mut trace } = self;
        let wrong = |message: String| Err(TraceError::new(&source, line, message));
        if trace.times.len() < 2 {
            return wrong(format!("a trace needs at least 2 points, this one has {}", trace.times.len()));
        }
        trace.volume = volume(&trace.times, &trace.rates);
        let name = &trace.name;
        if name.is_empty() || name.trim() != name || name.chars().any(char::is_control) {
            return wrong(format!("{name:?} is no name: it must be one line of text without blanks around it"));
        }
        if trace.duration() < DURATIONS.0 {
            return wrong(format!("the trace ends after {} s, but must last {} s", trace.duration(), DURATIONS.0));
        }
        if trace.mean_rate() < LEAST_MEAN_RATE {
            let mean = trace.mean_rate();
            return wrong(format!("the mean rate is {mean} Mbit/s, but must be at least {LEAST_MEAN_RATE}"));
        }
        Ok(trace)
    }
}

/// A number of a text file.
pub(crate) fn number(source: &str, line: usize, what: &str, text: &str) -> Result<f64, TraceError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(TraceError::new(source, line, format!("{shown:?} is no {what}: a decimal number is wanted")))
        }
    }
}

/// The lines of a text that say something, with their numbers from 1: blank ones and those that begin with # do not.
pub(crate) fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())).filter(|(_, line)| {
        let blank = line.is_empty() || line.starts_with('#');
        !blank
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_leaves_out_the_first_rate() {
        let trace = Trace::new("t", [(0.0, 100.0), (2.0, 1.0), (3.0, 4.0)]).unwrap();
        assert_eq!((trace.volume(), trace.duration(), trace.mean_rate()), (6.0, 3.0, 2.0));
        assert_eq!(Trace::constant("c", 5.0).unwrap().mean_rate(), 5.0);
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let message = |name: &str, points: &[(f64, f64)]| {
            Trace::new(name, points.iter().copied()).map(|_| ()).unwrap_err().message
        };
        assert!(message("t", &[(1.0, 1.0)]).contains("must be 0"));
        assert!(message("t", &[(f64::NAN, 1.0)]).contains("must be 0"));
        assert!(message("t", &[(0.0, 1.0), (0.0, 1.0)]).contains("must increase"));
        assert!(message("t", &[(0.0, 1.0), (f64::NAN, 1.0)]).contains("must increase"));
        assert!(message("t", &[(0.0, 1.0), (1.0, -1.0)]).contains("must lie in"));
        assert!(message("t", &[(0.0, 1.0), (1.0, f64::NAN)]).contains("must lie in"));
        assert!(message("t", &[(0.0, 1.0), (1e300, 1.0)]).contains("beyond the limit"));
        assert!(message("t", &[(0.0, 1.0)]).contains("at least 2 points"));
        assert!(message("t", &[(0.0, 1.0), (0.01, 1.0)]).contains("must last"));
        assert!(message("t", &[(0.0, 1.0), (1.0, 0.0)]).contains("mean rate"));
        assert!(message(" t", &[(0.0, 1.0), (1.0, 1.0)]).contains("is no name"));
        assert!(message("a\nb", &[(0.0, 1.0), (1.0, 1.0)]).contains("is no name"));
    }
}
