//! The group-by of [`crate::regions`] as SQL, for the engine that holds the logs.
//!
//! One statement gives the statistics, a second one counts the rows that are left out. Numbers are cast from texts, so
//! that no dialect reads them as decimals; bins are computed by the same operations in the same order as
//! [`crate::bins::Partition::part`], so both give the same bins.

use std::path::PathBuf;

use crate::MineError;
use crate::config::{Config, Source};
use crate::layout::{Column, Layout};
use crate::outputs::Meaning;
use crate::regions::stored_names;
use crate::table::is_parquet;

/// Whose SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// DuckDB, which also reads files.
    DuckDb,
    /// Apache Spark.
    Spark,
    /// Trino.
    Trino,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::DuckDb => "DuckDB",
            Dialect::Spark => "Spark",
            Dialect::Trino => "Trino",
        }
    }

    fn quoted(self, name: &str) -> String {
        match self {
            Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn text_type(self) -> &'static str {
        if self == Dialect::Spark { "STRING" } else { "VARCHAR" }
    }
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn number(value: f64) -> String {
    format!("CAST('{value:?}' AS DOUBLE)")
}

/// The statements for a configuration.
pub fn statements(config: &Config, dialect: Dialect) -> Result<String, MineError> {
    let layout = &config.layout;
    let mined = layout.mined();
    let open = mined.iter().any(|&column| layout.columns[column].range.is_none());
    if config.settings.quantile > 0.0 && open {
        return Err(MineError::new("ranges from quantiles are not made by SQL: give every mined feature a `range`"));
    }
    let observed: Result<Vec<String>, MineError> =
        config.references.iter().map(|source| select(source, layout, dialect)).collect();
    let observed = observed?.join("\n  UNION ALL\n");
    let name = |column: usize| dialect.quoted(&layout.columns[column].column);
    let usable: Vec<String> =
        (0..layout.columns.len()).map(|column| in_range(&layout.columns[column], &name(column))).collect();
    let usable = format!("output IS NOT NULL\n    AND {}", usable.join("\n    AND "));
    let with = format!("WITH observed AS (\n{observed}\n), usable AS (\n  SELECT * FROM observed\n  WHERE {usable}\n)");

    let mut bounds = Vec::new();
    let mut bins = Vec::new();
    let (bin_names, end_names) = stored_names(layout);
    for (place, (&column, bin)) in mined.iter().zip(&bin_names).enumerate() {
        let (low, high) = match layout.columns[column].range {
            Some((low, high)) => (number(low), number(high)),
            None => {
                bounds.push(format!("MIN({0}) AS low_{place}, MAX({0}) AS high_{place}", name(column)));
                (format!("low_{place}"), format!("high_{place}"))
            }
        };
        let value = name(column);
        let part = format!(
            "CASE WHEN {value} < {low} OR {value} > {high} THEN NULL WHEN {low} = {high} THEN 0\n    \
             ELSE CAST(LEAST(FLOOR({} * ({value} - {low}) / ({high} - {low})), {}) AS INTEGER) END AS {}",
            number(config.settings.parts as f64),
            number(config.settings.parts as f64 - 1.0),
            dialect.quoted(bin),
        );
        bins.push(part);
    }
    let (bounds, join) = match bounds.is_empty() {
        true => (String::new(), String::new()),
        false => (
            format!(", bounds AS (\n  SELECT {} FROM usable\n)", bounds.join(",\n    ")),
            " CROSS JOIN bounds".to_owned(),
        ),
    };
    let ends: Vec<String> = end_names
        .iter()
        .enumerate()
        .map(|(column, (low, high))| {
            let value = name(column);
            format!("MIN({value}) AS {}, MAX({value}) AS {}", dialect.quoted(low), dialect.quoted(high))
        })
        .collect();
    let groups: Vec<String> = bin_names.iter().map(|bin| dialect.quoted(bin)).collect();
    let groups = groups.join(", ");
    let faults: Vec<String> = layout
        .columns
        .iter()
        .map(|column| {
            let value = dialect.quoted(&column.column);
            format!(
                "COUNT(CASE WHEN {} THEN NULL ELSE 1 END) AS {}",
                in_range(column, &value),
                dialect.quoted(&format!("unusable_{}", column.column))
            )
        })
        .collect();
    let dialect = dialect.name();
    Ok(format!(
        "-- Region statistics of {} for {dialect}. Save the result as Parquet or CSV and give it to `certus mine --regions`.\n\
         {with}{bounds}, located AS (\n  SELECT usable.*,\n    {}\n  FROM usable{join}\n)\n\
         SELECT reference, output, {groups},\n  COUNT(*) AS observations,\n  {}\n\
         FROM located\nGROUP BY reference, output, {groups};\n\n\
         -- Rows that are left out, and how many values of each column cannot be used.\n\
         {with}\nSELECT reference,\n  COUNT(*) AS observations,\n  \
         COUNT(CASE WHEN output IS NULL THEN 1 END) AS unusable_output,\n  {}\nFROM observed\nGROUP BY reference;\n",
        config.name,
        bins.join(",\n    "),
        ends.join(",\n  "),
        faults.join(",\n  "),
    ))
}

/// That a value is a number, finite, and valid. Comparisons with the greatest number fail for infinities and, in all
/// three dialects, for what is not a number.
fn in_range(column: &Column, value: &str) -> String {
    let (low, high) = column.valid.unwrap_or((-f64::MAX, f64::MAX));
    format!("COALESCE({value} BETWEEN {} AND {}, FALSE)", number(low), number(high))
}

fn select(source: &Source, layout: &Layout, dialect: Dialect) -> Result<String, MineError> {
    let columns: Vec<String> = layout
        .columns
        .iter()
        .map(|column| {
            let name = dialect.quoted(&column.column);
            format!("TRY_CAST({name} AS DOUBLE) AS {name}")
        })
        .collect();
    let output = dialect.quoted(&layout.outputs.column);
    let as_text = format!("TRIM(CAST({output} AS {}))", dialect.text_type());
    let as_number = format!("TRY_CAST({output} AS DOUBLE)");
    let mut cases: Vec<String> = Vec::new();
    for label in &layout.outputs.labels {
        cases.push(format!("WHEN {as_text} = {} THEN {}", text(label), text(label)));
    }
    let finite = format!("{as_number} BETWEEN {} AND {}", number(-f64::MAX), number(f64::MAX));
    match &layout.outputs.meaning {
        Meaning::Choice => {
            for label in &layout.outputs.labels {
                if let Ok(value) = label.parse::<f64>() {
                    cases.push(format!("WHEN {as_number} = {} THEN {}", number(value), text(label)));
                }
            }
        }
        Meaning::Sign { .. } => {
            cases.push(format!("WHEN {as_text} = '−' THEN '-'"));
            cases.push(format!("WHEN {finite} AND {as_number} < 0 THEN '-'"));
            cases.push(format!("WHEN {as_number} = 0 THEN '0'"));
            cases.push(format!("WHEN {finite} AND {as_number} > 0 THEN '+'"));
        }
        Meaning::Bands(thresholds) => {
            for (threshold, label) in thresholds.iter().zip(&layout.outputs.labels) {
                cases.push(format!("WHEN {finite} AND {as_number} < {} THEN {}", number(*threshold), text(label)));
            }
            if let Some(last) = layout.outputs.labels.last() {
                cases.push(format!("WHEN {finite} THEN {}", text(last)));
            }
        }
    }
    Ok(format!(
        "  SELECT {} AS reference,\n    CASE {}\n    END AS output,\n    {}\n  FROM {}",
        text(&source.name),
        cases.join("\n      "),
        columns.join(",\n    "),
        origin(source, dialect)?
    ))
}

/// Where a reference's rows are: its table, or, for DuckDB, its files.
fn origin(source: &Source, dialect: Dialect) -> Result<String, MineError> {
    if let Some(table) = &source.table {
        return Ok(table.clone());
    }
    let list = |files: &[&PathBuf]| {
        let names: Vec<String> = files.iter().map(|file| text(&file.display().to_string())).collect();
        format!("[{}]", names.join(", "))
    };
    let (parquet, csv): (Vec<&PathBuf>, Vec<&PathBuf>) = source.train.iter().partition(|file| is_parquet(file));
    match (dialect, parquet.is_empty(), csv.is_empty()) {
        (Dialect::DuckDb, false, true) => Ok(format!("read_parquet({})", list(&parquet))),
        (Dialect::DuckDb, true, false) => Ok(format!("read_csv({}, header = true, all_varchar = true)", list(&csv))),
        _ => Err(MineError::new(format!(
            "[[reference]] {}: give the name of its `table` in {}",
            source.name,
            dialect.name()
        ))),
    }
}
