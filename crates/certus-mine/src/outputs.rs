//! What a controller can decide: a label among a few, whether that is a choice or a number that is put into bands.

use std::fmt;

use crate::MineError;
use crate::table::Cell;

/// Most labels that there can be.
pub const MOST_LABELS: usize = 64;

/// A set of labels, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputSet(pub u64);

impl OutputSet {
    /// The set of one label.
    pub fn of(label: usize) -> Self {
        OutputSet(1 << label)
    }

    /// The set of the first so many labels.
    pub fn all(labels: usize) -> Self {
        OutputSet(if labels >= 64 { u64::MAX } else { (1 << labels) - 1 })
    }

    /// Whether a label is in it.
    pub fn contains(self, label: usize) -> bool {
        self.0 >> label & 1 == 1
    }

    /// What is in either.
    pub fn union(self, other: Self) -> Self {
        OutputSet(self.0 | other.0)
    }

    /// What is in both.
    pub fn intersection(self, other: Self) -> Self {
        OutputSet(self.0 & other.0)
    }

    /// What is in this one and not in the other.
    pub fn without(self, other: Self) -> Self {
        OutputSet(self.0 & !other.0)
    }

    /// Whether all that is in this one is in the other.
    pub fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// How many labels there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The labels from the first on.
    pub fn labels(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |&label| self.contains(label))
    }
}

/// What makes a number a label.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// A choice: a network has one output per label, and the greatest wins (the first one on ties).
    Choice,
    /// The one output of a network is a number, and label k is the band from threshold k − 1 up to but not including
    /// threshold k.
    Bands(Vec<f64>),
    /// The one output of a network is a number whose sign counts: labels `-`, `0`, `+`. The margin is what queries take
    /// for the least number that is not zero; with 0 the comparison is strict.
    Sign {
        /// See above.
        margin: f64,
    },
}

/// All that can be decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// What is decided, for sentences.
    pub name: String,
    /// The column of tables.
    pub column: String,
    /// The labels.
    pub labels: Vec<String>,
    /// What they mean.
    pub meaning: Meaning,
    /// The unit of the labels, for sentences.
    pub unit: String,
}

impl Outputs {
    /// The signs of a number.
    pub const SIGNS: [&'static str; 3] = ["-", "0", "+"];

    /// Checks that labels and their meaning go together.
    pub fn check(&self) -> Result<(), MineError> {
        let count = self.labels.len();
        if !(2..=MOST_LABELS).contains(&count) {
            return Err(MineError::new(format!("[output]: {count} labels; from 2 to {MOST_LABELS} are possible")));
        }
        for (place, label) in self.labels.iter().enumerate() {
            if self.labels[..place].contains(label) {
                return Err(MineError::new(format!("[output]: label `{label}` occurs twice")));
            }
        }
        if let Meaning::Bands(thresholds) = &self.meaning {
            if thresholds.len() + 1 != count {
                let wanted = thresholds.len() + 1;
                return Err(MineError::new(format!("[output]: these thresholds make {wanted} bands, not {count}")));
            }
            if !thresholds.iter().all(|t| t.is_finite()) || !thresholds.is_sorted_by(|a, b| a < b) {
                return Err(MineError::new("[output]: thresholds must be numbers that increase"));
            }
        }
        Ok(())
    }

    /// How many outputs a network has.
    pub fn network_outputs(&self) -> usize {
        if self.meaning == Meaning::Choice { self.labels.len() } else { 1 }
    }

    /// The set of all labels.
    pub fn all(&self) -> OutputSet {
        OutputSet::all(self.labels.len())
    }

    /// The label of a value in a table: its name, a number equal to it, or the band of a number.
    pub fn label(&self, cell: &Cell<'_>) -> Option<usize> {
        if let Cell::Text(text) = cell {
            let text = if *text == "−" { "-" } else { text };
            if let Some(label) = self.labels.iter().position(|label| label == text) {
                return Some(label);
            }
        }
        let number = cell.number().filter(|number| number.is_finite())?;
        match self.meaning {
            Meaning::Choice => self.labels.iter().position(|label| label.parse() == Ok(number)),
            _ => self.band(number),
        }
    }

    /// The band of a number; none for a choice.
    fn band(&self, number: f64) -> Option<usize> {
        match &self.meaning {
            Meaning::Choice => None,
            Meaning::Bands(thresholds) => Some(thresholds.partition_point(|&threshold| threshold <= number)),
            Meaning::Sign { .. } if number == 0.0 => Some(1),
            Meaning::Sign { .. } => Some(if number < 0.0 { 0 } else { 2 }),
        }
    }

    /// The label that the outputs of a network stand for; none if they are not numbers.
    pub fn decided(&self, values: &[f64]) -> Option<usize> {
        if values.iter().any(|value| value.is_nan()) || values.is_empty() {
            return None;
        }
        match self.meaning {
            Meaning::Choice => {
                Some((1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best }))
            }
            _ => self.band(values[0]),
        }
    }

    /// The set of the labels with these names.
    pub fn set(&self, names: &[String]) -> Result<OutputSet, MineError> {
        let label = |name: &String| {
            self.label(&Cell::Text(name))
                .filter(|&label| self.labels[label] == *name || self.meaning == Meaning::Choice)
                .map(OutputSet::of)
                .ok_or_else(|| {
                    MineError::new(format!("`{name}` is not a label; the labels are {}", self.labels.join(", ")))
                })
        };
        names.iter().try_fold(OutputSet::default(), |set, name| Ok(set.union(label(name)?)))
    }

    /// The names of the labels of a set.
    pub fn names(&self, set: OutputSet) -> Vec<String> {
        set.labels().filter_map(|label| self.labels.get(label).cloned()).collect()
    }

    /// A set as a person reads it.
    pub fn show(&self, set: OutputSet) -> impl fmt::Display {
        let names = self.names(set);
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match names.split_last() {
            None => "nothing".to_owned(),
            Some((only, [])) => format!("{only}{unit}"),
            Some((last, first)) => format!("{} or {last}{unit}", first.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(labels: &[&str], meaning: Meaning) -> Outputs {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        Outputs { name: "rate".into(), column: "rate".into(), labels, meaning, unit: "kbit/s".into() }
    }

    #[test]
    fn labels_are_names_or_equal_numbers() {
        let choice = outputs(&["300", "750"], Meaning::Choice);
        assert_eq!(choice.label(&Cell::Text("750")), Some(1));
        assert_eq!(choice.label(&Cell::Text("750.0")), Some(1));
        assert_eq!(choice.label(&Cell::Number(300.0)), Some(0));
        assert_eq!(choice.label(&Cell::Number(301.0)), None);
        assert_eq!(choice.label(&Cell::Missing), None);
        assert_eq!(choice.decided(&[1.0, 1.0]), Some(0));
        assert_eq!(choice.decided(&[1.0, f64::NAN]), None);
        assert_eq!(choice.show(OutputSet(3)).to_string(), "300 or 750 kbit/s");
    }

    #[test]
    fn numbers_fall_into_bands() {
        let bands = outputs(&["low", "mid", "high"], Meaning::Bands(vec![-1.0, 2.5]));
        assert_eq!(bands.check(), Ok(()));
        let of = |number: f64| bands.label(&Cell::Number(number));
        assert_eq!([of(-2.0), of(-1.0), of(2.4), of(2.5)], [Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(of(f64::NAN), None);
        assert_eq!(bands.label(&Cell::Text("mid")), Some(1));
        let signs = outputs(&Outputs::SIGNS, Meaning::Sign { margin: 0.0 });
        let of = |number: f64| signs.label(&Cell::Number(number));
        assert_eq!([of(-1e-300), of(-0.0), of(0.0), of(5.0)], [Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(signs.label(&Cell::Text("−")), Some(0));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(outputs(&["a"], Meaning::Choice).check().is_err());
        assert!(outputs(&["a", "a"], Meaning::Choice).check().is_err());
        assert!(outputs(&["a", "b"], Meaning::Bands(vec![1.0, 2.0])).check().is_err());
        assert!(outputs(&["a", "b", "c"], Meaning::Bands(vec![2.0, 1.0])).check().is_err());
        assert!(outputs(&["a", "b"], Meaning::Choice).set(&["c".into()]).is_err());
    }
}
