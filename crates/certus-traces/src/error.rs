//! Errors, each with its place and the way out.

use std::fmt;

/// A trace that could not be read or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file, or the name that the caller gave to the text.
    pub source: String,
    /// The line, counted from 1; 0 where the error is about the whole.
    pub line: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl TraceError {
    pub(crate) fn new(source: &str, line: usize, message: impl Into<String>) -> Self {
        TraceError { source: source.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.source, self.message),
            line => write!(f, "{}:{line}: {}", self.source, self.message),
        }
    }
}

impl std::error::Error for TraceError {}

/// A setting outside the range in which a simulator makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The setting.
    pub setting: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

impl SettingError {
    pub(crate) fn new(setting: &'static str, message: impl Into<String>) -> Self {
        SettingError { setting, message: message.into() }
    }

    /// Checks that a number lies between two others; infinite ends are excluded by being no numbers to compute with.
    pub(crate) fn check(setting: &'static str, value: f64, lower: f64, upper: f64) -> Result<(), Self> {
        if value.is_finite() && lower <= value && value <= upper {
            return Ok(());
        }
        Err(SettingError::new(setting, format!("is {value}, but must lie in [{lower}, {upper}]")))
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.setting, self.message)
    }
}

impl std::error::Error for SettingError {}

/// A call that an environment cannot obey. The environment is as it was before the call.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentError {
    /// An action that is not in the action space.
    Action(String),
    /// A step before the first reset or after the end of an episode.
    NotRunning,
    /// A slice of the wrong length.
    Length {
        /// What the slice is for.
        what: &'static str,
        /// How many values it has to have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// An error of one copy of many.
    Copy {
        /// The copy, counted from 0.
        copy: usize,
        /// Its error.
        error: Box<EnvironmentError>,
    },
}

impl EnvironmentError {
    pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(EnvironmentError::Length { what, expected, found }) }
    }
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnvironmentError::Action(message) => f.write_str(message),
            EnvironmentError::NotRunning => f.write_str("no episode is running: call reset first"),
            EnvironmentError::Length { what, expected, found } => {
                write!(f, "{what} need {expected} values, got {found}")
            }
            EnvironmentError::Copy { copy, error } => write!(f, "copy {copy}: {error}"),
        }
    }
}

impl std::error::Error for EnvironmentError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place() {
        assert_eq!(TraceError::new("a.txt", 3, "no number").to_string(), "a.txt:3: no number");
        assert_eq!(TraceError::new("a.txt", 0, "is empty").to_string(), "a.txt: is empty");
        let error = SettingError::check("loss", 1.5, 0.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "loss is 1.5, but must lie in [0, 1]");
        assert!(SettingError::check("loss", f64::NAN, 0.0, 1.0).is_err());
        let error = EnvironmentError::Copy { copy: 2, error: Box::new(EnvironmentError::NotRunning) };
        assert_eq!(error.to_string(), "copy 2: no episode is running: call reset first");
    }
}
