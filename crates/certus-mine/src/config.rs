//! The small file that says what tables mean and how to mine them, in TOML.
//!
//! `docs/mining.md` has the reference with an example of every key. Unknown keys are refused, with their line.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::MineError;
use crate::layout::{Column, Layout, Series};
use crate::outputs::{Meaning, Outputs};

/// What a configuration file says.
#[derive(Clone, Debug)]
pub struct Config {
    /// What the specifications are about: the name of the system in what is written.
    pub name: String,
    /// What the columns mean.
    pub layout: Layout,
    /// The algorithms whose observations are mined.
    pub references: Vec<Source>,
    /// Others whose observations are only judged: networks, mostly.
    pub judged: Vec<Source>,
    /// How to mine.
    pub settings: Settings,
    /// What a search for better settings tries.
    pub search: Option<Choices>,
}

/// Observations of one algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Tables to mine.
    pub train: Vec<PathBuf>,
    /// Tables to judge by.
    pub test: Vec<PathBuf>,
    /// The table in a database that holds what is to be mined.
    pub table: Option<String>,
}

/// The parameters of Algorithm 1, and what is done after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Parts per dimension: p.
    pub parts: usize,
    /// The share of the interesting bins that a cluster represents: τ_rep.
    pub representation: f64,
    /// How many labels a specification allows at most: τ_max.
    pub most_outputs: usize,
    /// Stops when so much of the interesting bins is in some box; never if not given.
    pub coverage: Option<f64>,
    /// Ranges that are not given reach from this quantile to its opposite; 0 is from least to greatest.
    pub quantile: f64,
    /// Bounds are rounded to so many decimals.
    pub decimals: Option<u32>,
    /// Whether to remove what is redundant and merge what overlaps.
    pub refine: bool,
}

/// What a search tries; nothing for what stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Choices {
    /// How much history.
    pub history: Vec<usize>,
    /// Parts per dimension.
    pub parts: Vec<usize>,
    /// Representation.
    pub representation: Vec<f64>,
    /// Labels.
    pub most_outputs: Vec<usize>,
    /// Whether each of them is changed alone, with the others as configured, not all combinations: an ablation.
    pub one_at_a_time: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    inputs: Option<usize>,
    #[serde(default)]
    unread: Option<[f64; 2]>,
    output: OutputTable,
    feature: Vec<FeatureTable>,
    reference: Vec<SourceTable>,
    #[serde(default)]
    judged: Vec<SourceTable>,
    #[serde(default)]
    mine: MineTable,
    search: Option<Choices>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputTable {
    column: String,
    name: Option<String>,
    #[serde(default)]
    unit: String,
    labels: Option<Vec<Label>>,
    #[serde(default)]
    sign: bool,
    #[serde(default)]
    margin: f64,
    thresholds: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Label {
    Text(String),
    Whole(i64),
    Number(f64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Numbers {
    One(usize),
    Steps(String),
    Many(Vec<usize>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureTable {
    name: Option<String>,
    columns: Names,
    inputs: Option<Numbers>,
    #[serde(default)]
    mined: usize,
    #[serde(default)]
    unit: String,
    #[serde(default = "one")]
    scale: f64,
    valid: Option<[f64; 2]>,
    range: Option<[f64; 2]>,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    name: String,
    train: Option<Names>,
    test: Option<Names>,
    table: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MineTable {
    parts: usize,
    representation: f64,
    most_outputs: Option<usize>,
    coverage: Option<f64>,
    quantile: f64,
    decimals: Option<u32>,
    refine: bool,
}

impl Default for MineTable {
    fn default() -> Self {
        MineTable {
            parts: 100,
            representation: 0.01,
            most_outputs: None,
            coverage: None,
            quantile: 0.0,
            decimals: None,
            refine: false,
        }
    }
}

impl Config {
    /// Reads a configuration; paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Config, MineError> {
        let text = std::fs::read_to_string(path).map_err(|error| MineError::in_file(path, error))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Config::parse(&text, &folder).map_err(|error| MineError::in_file(path, error))
    }

    /// Reads a configuration from its text.
    pub fn parse(text: &str, folder: &Path) -> Result<Config, MineError> {
        let document: Document =
            toml::from_str(text).map_err(|error| MineError::new(error.to_string().trim_end().to_owned()))?;
        let outputs = outputs(document.output)?;
        let layout = layout(document.feature, outputs, document.inputs, document.unread)?;
        let sources = |tables: Vec<SourceTable>| -> Vec<Source> {
            tables.into_iter().map(|table| source(table, folder)).collect()
        };
        let (references, judged) = (sources(document.reference), sources(document.judged));
        let names: Vec<&str> = references.iter().chain(&judged).map(|source| source.name.as_str()).collect();
        if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            return Err(MineError::new(format!("two sources of observations are called `{}`", twice.1)));
        }
        if references.is_empty() {
            return Err(MineError::new("no [[reference]] is given: add one for each table of observations to mine"));
        }
        let mine = document.mine;
        let most = layout.outputs.labels.len() - 1;
        let settings = Settings {
            parts: mine.parts,
            representation: mine.representation,
            most_outputs: mine.most_outputs.unwrap_or(most).min(most),
            coverage: mine.coverage,
            quantile: mine.quantile,
            decimals: mine.decimals,
            refine: mine.refine,
        };
        settings.check()?;
        Ok(Config { name: document.name, layout, references, judged, settings, search: document.search })
    }
}

impl Settings {
    /// Whether the numbers make sense.
    pub fn check(&self) -> Result<(), MineError> {
        let wrong = |message: String| Err(MineError::new(format!("[mine]: {message}")));
        if !(1..=usize::from(u16::MAX)).contains(&self.parts) {
            return wrong(format!("parts is {}, but must be from 1 to {}", self.parts, u16::MAX));
        }
        if !(0.0..=1.0).contains(&self.representation) {
            return wrong(format!("representation is {}, but must lie in [0, 1]", self.representation));
        }
        if !(0.0..0.5).contains(&self.quantile) {
            return wrong(format!("quantile is {}, but must lie in [0, 0.5)", self.quantile));
        }
        if self.most_outputs == 0 {
            return wrong("most_outputs is 0, but a specification must allow something".to_owned());
        }
        if self.decimals.is_some_and(|decimals| decimals > 15) {
            return wrong("decimals must be at most 15".to_owned());
        }
        Ok(())
    }
}

fn source(table: SourceTable, folder: &Path) -> Source {
    let paths = |names: Option<Names>| -> Vec<PathBuf> {
        let names = match names {
            None => Vec::new(),
            Some(Names::One(name)) => vec![name],
            Some(Names::Many(names)) => names,
        };
        names.iter().map(|name| folder.join(name)).collect()
    };
    Source { name: table.name, train: paths(table.train), test: paths(table.test), table: table.table }
}

fn outputs(table: OutputTable) -> Result<Outputs, MineError> {
    let labels: Option<Vec<String>> = table.labels.map(|labels| {
        let name = |label| match label {
            Label::Text(text) => text,
            Label::Whole(number) => number.to_string(),
            Label::Number(number) => number.to_string(),
        };
        labels.into_iter().map(name).collect()
    });
    let (labels, meaning) = match (labels, table.sign, table.thresholds) {
        (None, true, None) => (Outputs::SIGNS.map(str::to_owned).to_vec(), Meaning::Sign { margin: table.margin }),
        (labels, false, Some(thresholds)) => {
            let bands = labels.unwrap_or_else(|| (0..=thresholds.len()).map(|band| format!("band {band}")).collect());
            (bands, Meaning::Bands(thresholds))
        }
        (Some(labels), false, None) => (labels, Meaning::Choice),
        _ => return Err(MineError::new("[output] needs one of `labels`, `sign = true` and `thresholds`")),
    };
    if !(table.margin >= 0.0 && table.margin.is_finite()) {
        return Err(MineError::new("[output]: margin must be a number that is not negative"));
    }
    let name = table.name.unwrap_or_else(|| table.column.clone());
    let outputs = Outputs { name, column: table.column, labels, meaning, unit: table.unit };
    outputs.check()?;
    Ok(outputs)
}

fn layout(
    tables: Vec<FeatureTable>,
    outputs: Outputs,
    inputs: Option<usize>,
    unread: Option<[f64; 2]>,
) -> Result<Layout, MineError> {
    let mut layout =
        Layout { columns: Vec::new(), series: Vec::new(), outputs, inputs, unread: unread.map(|[a, b]| (a, b)) };
    for table in tables {
        let names = match &table.columns {
            Names::One(pattern) => expand(pattern)?,
            Names::Many(names) => names.clone(),
        };
        let wrong = |message: String| MineError::new(format!("[[feature]] {}: {message}", names.join(", ")));
        let inputs = match &table.inputs {
            None => vec![None; names.len()],
            Some(Numbers::One(input)) => vec![Some(*input)],
            Some(Numbers::Many(inputs)) => inputs.iter().map(|&input| Some(input)).collect(),
            Some(Numbers::Steps(steps)) => {
                let expanded = expand(&format!("{{{steps}}}"))?;
                let parsed: Result<Vec<usize>, _> = expanded.iter().map(|text| text.parse()).collect();
                parsed
                    .map_err(|_| wrong(format!("inputs = {steps:?} is not a range such as \"31..24\"")))?
                    .into_iter()
                    .map(Some)
                    .collect()
            }
        };
        if inputs.len() != names.len() {
            return Err(wrong(format!("{} columns, but {} inputs", names.len(), inputs.len())));
        }
        if table.mined > names.len() {
            return Err(wrong(format!("mined = {}, but there are {} columns", table.mined, names.len())));
        }
        if !(table.scale.is_finite() && table.scale != 0.0) {
            return Err(wrong("scale must be a number other than 0".to_owned()));
        }
        for [low, high] in [table.valid, table.range].into_iter().flatten() {
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) || !low.is_finite() || !high.is_finite() {
                return Err(wrong(format!("[{low}, {high}] is not a range")));
            }
        }
        let series = layout.series.len();
        layout.series.push(Series { first: layout.columns.len(), length: names.len(), mined: table.mined });
        let title = table.name.clone().unwrap_or_else(|| names[0].clone());
        for (age, (column, input)) in names.iter().zip(inputs).enumerate() {
            let name = if names.len() == 1 { title.clone() } else { format!("{title} −{}", age + 1) };
            layout.columns.push(Column {
                column: column.clone(),
                name,
                input,
                unit: table.unit.clone(),
                scale: table.scale,
                valid: table.valid.map(|[low, high]| (low, high)),
                range: table.range.map(|[low, high]| (low, high)),
                series,
            });
        }
    }
    layout.check()?;
    Ok(layout)
}

/// `x_{1..3}` is x_1, x_2, x_3; the numbers may go down.
fn expand(pattern: &str) -> Result<Vec<String>, MineError> {
    let Some((before, rest)) = pattern.split_once('{') else { return Ok(vec![pattern.to_owned()]) };
    let wrong = || MineError::new(format!("{pattern:?}: expected {{FIRST..LAST}} with whole numbers"));
    let (range, after) = rest.split_once('}').ok_or_else(wrong)?;
    let (first, last) = range.split_once("..").ok_or_else(wrong)?;
    let first: usize = first.trim().parse().map_err(|_| wrong())?;
    let last: usize = last.trim().parse().map_err(|_| wrong())?;
    if first.abs_diff(last) > 10_000 {
        return Err(wrong());
    }
    let name = |number: usize| format!("{before}{number}{after}");
    Ok(if first <= last { (first..=last).map(name).collect() } else { (last..=first).rev().map(name).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIDEO: &str = r#"
        name = "video"
        inputs = 8
        unread = [0, 1]

        [output]
        column = "br"
        labels = [300, 750, "high"]

        [[feature]]
        columns = "buffer"
        inputs = 0
        mined = 1
        unit = "s"
        scale = 10

        [[feature]]
        name = "download time"
        columns = "dt_{1..3}"
        inputs = "7..5"
        mined = 2

        [[reference]]
        name = "bb"
        train = "bb.csv"
        test = ["a.csv", "b.parquet"]

        [mine]
        parts = 50
    "#;

    #[test]
    fn a_configuration_is_read() {
        let config = Config::parse(VIDEO, Path::new("data")).unwrap();
        let columns: Vec<(&str, Option<usize>)> =
            config.layout.columns.iter().map(|column| (column.name.as_str(), column.input)).collect();
        let expected = [
            ("buffer", Some(0)),
            ("download time −1", Some(7)),
            ("download time −2", Some(6)),
            ("download time −3", Some(5)),
        ];
        assert_eq!(columns, expected);
        assert_eq!(config.layout.mined(), [0, 1, 2]);
        assert_eq!(config.layout.with_history(3).mined(), [0, 1, 2, 3]);
        assert_eq!(config.layout.outputs.labels, ["300", "750", "high"]);
        assert_eq!(config.references[0].train, [Path::new("data/bb.csv")]);
        assert_eq!((config.settings.parts, config.settings.most_outputs), (50, 2));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |from: &str, to: &str| {
            assert!(VIDEO.contains(from));
            Config::parse(&VIDEO.replacen(from, to, 1), Path::new("")).unwrap_err().to_string()
        };
        assert!(error("parts", "part").contains("unknown field `part`"), "{}", error("parts", "part"));
        assert!(error("\"7..5\"", "[7, 6]").contains("3 columns, but 2 inputs"));
        assert!(error("mined = 2", "mined = 4").contains("mined = 4, but there are 3 columns"));
        assert!(error("inputs = 0", "inputs = 7").contains("input 7 is read from two columns"));
        assert!(error("inputs = 0", "inputs = 8").contains("input 8"));
        assert!(error("scale = 10", "range = [2, 1]").contains("[2, 1] is not a range"));
        assert!(error("parts = 50", "parts = 0").contains("parts is 0"));
        assert!(error("labels = [300, 750, \"high\"]", "").contains("needs one of"));
    }

    #[test]
    fn patterns_count_up_and_down() {
        assert_eq!(expand("x").unwrap(), ["x"]);
        assert_eq!(expand("x{2..4}y").unwrap(), ["x2y", "x3y", "x4y"]);
        assert_eq!(expand("{3..2}").unwrap(), ["3", "2"]);
        assert!(expand("x{1-3}").is_err());
    }
}
