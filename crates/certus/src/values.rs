//! Values of flags: texts become JSON of the kind that an option takes.

use certus_documents::Number;
use certus_tasks::commands::Kind;
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use serde_json::Value;

/// What reads the values of a kind, one at a time.
pub fn parser(kind: Kind) -> ValueParser {
    match kind {
        Kind::Choice(choices) => PossibleValuesParser::new(choices).map(Value::String).into(),
        kind => ValueParser::new(move |text: &str| read(kind, text)),
    }
}

/// One value of a kind; what has a name is a pair.
fn read(kind: Kind, text: &str) -> Result<Value, String> {
    Ok(match kind {
        Kind::Count(least) => count(text, least, None)?,
        Kind::Within(least, most) => count(text, least, Some(most))?,
        Kind::Number => number(text).ok_or_else(|| format!("'{text}' is no number"))?,
        Kind::Numbers => {
            let numbers: Option<Value> = text.split(',').map(number).collect();
            numbers.ok_or("expected numbers, for example 0.1,-0.2")?
        }
        Kind::NumberLists => {
            let numbers: Option<Value> = text.split(',').map(finite).collect();
            numbers.ok_or("expected numbers, for example 0.22,1")?
        }
        Kind::Settings => {
            let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example mass=1.3")?;
            pair(name, finite(value).ok_or_else(|| format!("'{value}' is no finite number"))?)
        }
        Kind::Networks => match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => pair(name, file),
            _ => return Err("expected NAME=FILE, for example f=policy.onnx".to_owned()),
        },
        Kind::Widths => {
            let (name, width) = text.split_once('=').unwrap_or(("", text));
            let wrong = || format!("'{width}' is no positive number; expected 0.01 or NAME=0.01");
            pair(name, finite(width).filter(|width| *width > 0.0).ok_or_else(wrong)?)
        }
        Kind::Ranges => range(text).ok_or("expected NAME or NAME=LOW..HIGH, for example mass=0.5..2")?,
        Kind::Names => match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
            [x, y] if x == y => return Err(format!("'{x}' is named twice")),
            [x, y] if !x.is_empty() && !y.is_empty() => vec![x, y].into(),
            _ => return Err("expected two names, for example p,v".to_owned()),
        },
        Kind::Places => {
            let places: Option<Vec<u64>> = text.split(',').map(|own| own.trim().parse().ok()).collect();
            let wrong = "expected two different numbers of state variables, for example 0,1";
            places.filter(|own| own.len() == 2 && own[0] != own[1]).ok_or(wrong)?.into()
        }
        _ => text.into(),
    })
}

fn pair(name: &str, value: impl Into<Value>) -> Value {
    Value::Array(vec![name.trim().into(), value.into()])
}

fn count(text: &str, least: u64, most: Option<u64>) -> Result<Value, String> {
    let count: u64 = text.trim().parse().map_err(|_| format!("'{text}' is no whole number that is not negative"))?;
    match most {
        None if count < least => Err(format!("{count} is not in {least}..")),
        Some(most) if !(least..=most).contains(&count) => Err(format!("{count} is not in {least}..={most}")),
        _ => Ok(count.into()),
    }
}

fn number(text: &str) -> Option<Value> {
    text.trim().parse().ok().map(|own| Number(own).into())
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|own: &f64| own.is_finite())
}

/// A name with its range, or with none.
fn range(text: &str) -> Option<Value> {
    let Some((name, range)) = text.split_once('=') else {
        return Some(pair(text, Value::Null)).filter(|_| !text.trim().is_empty());
    };
    let (low, high) = range.split_once("..")?;
    Some(pair(name, vec![finite(low)?, finite(high)?]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_values_of_their_kinds() {
        for (kind, text, value) in [
            (Kind::Ranges, "a=-1..2.5", json!(["a", [-1.0, 2.5]])),
            (Kind::Ranges, "b", json!(["b", null])),
            (Kind::Widths, "0.5", json!(["", 0.5])),
            (Kind::Widths, "p=0.1", json!(["p", 0.1])),
            (Kind::Settings, "m=1.5", json!(["m", 1.5])),
            (Kind::Networks, "f=a=b.onnx", json!(["f", "a=b.onnx"])),
            (Kind::NumberLists, "2,-1", json!([2.0, -1.0])),
            (Kind::Numbers, "2,nan", json!([2.0, "NaN"])),
            (Kind::Number, "inf", json!("Infinity")),
            (Kind::Count(2), "2", json!(2)),
            (Kind::Within(1, 3), "3", json!(3)),
            (Kind::Places, "0,1", json!([0, 1])),
            (Kind::Names, "p, v[0]", json!(["p", "v[0]"])),
            (Kind::Files, "a", json!("a")),
        ] {
            assert_eq!(read(kind, text), Ok(value.clone()), "{kind:?}");
            let whole = if kind.is_list() { json!([value]) } else { value };
            assert!(kind.accepts(&whole), "{kind:?}: {whole}");
        }
    }

    #[test]
    fn what_is_of_no_kind_is_refused() {
        for (kind, texts) in [
            (Kind::Number, &["x", ""][..]),
            (Kind::Count(1), &["0", "-1", "1.5"]),
            (Kind::Within(1, 3), &["0", "4"]),
            (Kind::Networks, &["f.onnx", "=f.onnx", "f="]),
            (Kind::Ranges, &["", "a=1", "a=1..", "a=1..x", "a=0..inf"]),
            (Kind::Names, &["", "p", "p,", "p,p", "p,v,w"]),
            (Kind::Places, &["0", "0,0", "0,-1", "0,1,2"]),
            (Kind::Settings, &["m", "m=x", "m=inf"]),
            (Kind::Widths, &["0", "-1", "p=nan", "p="]),
            (Kind::NumberLists, &["1,x", "nan"]),
        ] {
            for text in texts {
                assert!(read(kind, text).is_err(), "{kind:?}: {text}");
            }
        }
    }
}
