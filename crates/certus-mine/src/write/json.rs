//! Specifications as JSON: numbers as they are, by the names of the columns.

use certus_documents::mine::{self, Ends};
use certus_documents::{Members, Schema};
use serde_json::Value;

use super::sentence;
use crate::layout::Layout;
use crate::{Bound, MineError, Specification};

/// All specifications, as documents have them.
pub fn specifications(layout: &Layout, specifications: &[Specification]) -> Vec<mine::Specification> {
    let bounds = |bounds: &[Bound]| -> Members<Ends> {
        let end = |value: f64| value.is_finite().then_some(value);
        let named = bounds.iter();
        named.map(|bound| (layout.columns[bound.column].column.clone(), [end(bound.low), end(bound.high)])).collect()
    };
    let specification = |(index, own): (usize, &Specification)| mine::Specification {
        id: index + 1,
        when: bounds(&own.bounds),
        allowed: layout.outputs.names(own.allowed),
        observed: bounds(&own.observed),
        sentence: sentence(layout, own),
        ..mine::Specification::default()
    };
    specifications.iter().enumerate().map(specification).collect()
}

/// All specifications as a document of their own.
pub fn specifications_document(name: &str, layout: &Layout, own: &[Specification]) -> mine::Specifications {
    mine::Specifications {
        schema: Schema::default(),
        name: name.to_owned(),
        specifications: specifications(layout, own),
    }
}

/// Reads what [`specifications_document`] wrote, or what was written by hand: a list, or a document with such a list under
/// `specifications`. Of each, `when` and `allowed` are needed; `null` is no end.
pub fn from_json(layout: &Layout, text: &str) -> Result<Vec<Specification>, MineError> {
    let document: Value = serde_json::from_str(text).map_err(|error| MineError::new(error.to_string()))?;
    let list = document.get("specifications").unwrap_or(&document);
    let list = list.as_array().ok_or_else(|| MineError::new("expected a list of specifications"))?;
    list.iter()
        .enumerate()
        .map(|(index, value)| {
            read(layout, value).map_err(|error| MineError::new(format!("specification {}: {error}", index + 1)))
        })
        .collect()
}

fn read(layout: &Layout, value: &Value) -> Result<Specification, MineError> {
    let bounds = |key: &str| -> Result<Vec<Bound>, MineError> {
        let Some(found) = value.get(key) else { return Ok(Vec::new()) };
        let found = found.as_object().ok_or_else(|| MineError::new(format!("`{key}` must be an object")))?;
        found.iter().map(|(name, range)| bound(layout, name, range)).collect()
    };
    let names = value.get("allowed").and_then(Value::as_array);
    let names = names.ok_or_else(|| MineError::new("`allowed` must be a list of labels"))?;
    let name = |name: &Value| match name {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(MineError::new(format!("{other} is not a label"))),
    };
    let names: Vec<String> = names.iter().map(name).collect::<Result<_, _>>()?;
    let allowed = layout.outputs.set(&names)?;
    if allowed.is_empty() || allowed == layout.outputs.all() {
        return Err(MineError::new("`allowed` must leave something, and not everything"));
    }
    Ok(Specification { bounds: bounds("when")?, allowed, observed: bounds("observed")? })
}

fn bound(layout: &Layout, name: &str, range: &Value) -> Result<Bound, MineError> {
    let column = layout.columns.iter().position(|column| column.column == name);
    let column = column.ok_or_else(|| MineError::new(format!("the configuration has no column `{name}`")))?;
    let wrong = || MineError::new(format!("`{name}`: expected [low, high], with null for no end"));
    let [low, high] = range.as_array().map(Vec::as_slice).ok_or_else(wrong)? else { return Err(wrong()) };
    let end = |value: &Value, none: f64| match value {
        Value::Null => Ok(none),
        value => value.as_f64().ok_or_else(wrong),
    };
    let bound = Bound { column, low: end(low, f64::NEG_INFINITY)?, high: end(high, f64::INFINITY)? };
    if bound.low <= bound.high { Ok(bound) } else { Err(wrong()) }
}
