//! What the columns of a table mean: features, their histories, and where they enter a network.

use crate::MineError;
use crate::outputs::Outputs;

/// One column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in tables.
    pub column: String,
    /// Its name for a person.
    pub name: String,
    /// The network's input that it is.
    pub input: Option<usize>,
    /// The unit of the value times the scale.
    pub unit: String,
    /// What to multiply with to get the unit.
    pub scale: f64,
    /// Values outside are faults of the data.
    pub valid: Option<(f64, f64)>,
    /// What is cut into parts, if not what was seen.
    pub range: Option<(f64, f64)>,
    /// The feature that it is a part of.
    pub series: usize,
}

/// A feature: one column, or the newest and older values of one quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its first column: the newest value.
    pub first: usize,
    /// How many columns it has.
    pub length: usize,
    /// How many of the newest are in preconditions; none if 0.
    pub mined: usize,
}

/// What all columns mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// All columns with numbers, in the order of the configuration.
    pub columns: Vec<Column>,
    /// The features.
    pub series: Vec<Series>,
    /// What is decided.
    pub outputs: Outputs,
    /// How many inputs a network has.
    pub inputs: Option<usize>,
    /// The range of inputs that are no column.
    pub unread: Option<(f64, f64)>,
}

impl Layout {
    /// The columns that preconditions speak of.
    pub fn mined(&self) -> Vec<usize> {
        self.series.iter().flat_map(|series| series.first..series.first + series.mined).collect()
    }

    /// The columns that they do not.
    pub fn others(&self) -> Vec<usize> {
        let mined = self.mined();
        (0..self.columns.len()).filter(|column| !mined.contains(column)).collect()
    }

    /// How much history preconditions speak of, where a mined feature has one.
    pub fn history(&self) -> Option<usize> {
        self.series.iter().filter(|series| series.mined > 0 && series.length > 1).map(|series| series.mined).max()
    }

    /// The same with so much history in every mined feature that has one.
    pub fn with_history(&self, history: usize) -> Layout {
        let mut layout = self.clone();
        for series in layout.series.iter_mut().filter(|series| series.mined > 0 && series.length > 1) {
            series.mined = history.clamp(1, series.length);
        }
        layout
    }

    pub(crate) fn check(&self) -> Result<(), MineError> {
        if self.mined().is_empty() {
            return Err(MineError::new(
                "no [[feature]] has `mined`: give it to at least one, so that preconditions have something to refer to",
            ));
        }
        for (place, column) in self.columns.iter().enumerate() {
            let before = &self.columns[..place];
            if before.iter().any(|other| other.column == column.column) || column.column == self.outputs.column {
                return Err(MineError::new(format!("column `{}` is used twice", column.column)));
            }
            let Some(input) = column.input else { continue };
            if self.inputs.is_some_and(|inputs| input >= inputs) {
                let message = format!("column `{}` is input {input}, but `inputs` says there are fewer", column.column);
                return Err(MineError::new(message));
            }
            if before.iter().any(|other| other.input == Some(input)) {
                return Err(MineError::new(format!("input {input} is read from two columns")));
            }
        }
        if let Some((low, high)) = self.unread
            && !(low <= high && low.is_finite() && high.is_finite())
        {
            return Err(MineError::new(format!("unread = [{low}, {high}] is not a range")));
        }
        Ok(())
    }

    /// The column that is a network's input.
    pub fn column_of_input(&self, input: usize) -> Option<usize> {
        self.columns.iter().position(|column| column.input == Some(input))
    }
}
