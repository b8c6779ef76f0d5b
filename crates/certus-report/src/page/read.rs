//! Reading JSON documents: what is missing or of another kind is told with its place.

use std::fmt;

use serde_json::Value;

/// Why a document cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    place: String,
    message: String,
}

impl Malformed {
    pub(crate) fn new(message: impl Into<String>) -> Malformed {
        Malformed { place: String::new(), message: message.into() }
    }

    /// The same, a level further out.
    pub(crate) fn within(mut self, outer: &str) -> Malformed {
        self.place.insert_str(0, outer);
        self
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.trim_start_matches('.') {
            "" => write!(formatter, "{}", self.message),
            place => write!(formatter, "{place}: {}", self.message),
        }
    }
}

impl std::error::Error for Malformed {}

pub(crate) type Read<T> = Result<T, Malformed>;

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn expected<T>(what: &str, value: &Value) -> Read<T> {
    Err(Malformed::new(format!("expected {what}, found {}", kind(value))))
}

/// A member that must be there.
pub(crate) fn member<'v, T>(value: &'v Value, key: &str, read: impl FnOnce(&'v Value) -> Read<T>) -> Read<T> {
    match optional(value, key, read)? {
        Some(found) => Ok(found),
        None => Err(Malformed::new(format!("`{key}` is missing"))),
    }
}

/// A member that may be missing or `null`.
pub(crate) fn optional<'v, T>(value: &'v Value, key: &str, read: impl FnOnce(&'v Value) -> Read<T>) -> Read<Option<T>> {
    if !value.is_object() {
        return expected("an object", value);
    }
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(found) => read(found).map(Some).map_err(|error| error.within(&format!(".{key}"))),
    }
}

/// The items of a list.
pub(crate) fn list<'v, T>(value: &'v Value, mut read: impl FnMut(&'v Value) -> Read<T>) -> Read<Vec<T>> {
    let Some(items) = value.as_array() else { return expected("a list", value) };
    let items = items.iter().enumerate();
    items.map(|(index, item)| read(item).map_err(|error| error.within(&format!("[{index}]")))).collect()
}

/// The members of an object, in their order.
pub(crate) fn members<'v, T>(value: &'v Value, mut read: impl FnMut(&'v Value) -> Read<T>) -> Read<Vec<(String, T)>> {
    let Some(found) = value.as_object() else { return expected("an object", value) };
    let named = found.iter();
    named
        .map(|(name, item)| match read(item) {
            Ok(item) => Ok((name.clone(), item)),
            Err(error) => Err(error.within(&format!(".{name}"))),
        })
        .collect()
}

/// A number; those that JSON cannot write are texts.
pub(crate) fn number(value: &Value) -> Read<f64> {
    match value {
        Value::Number(number) => number.as_f64().ok_or_else(|| Malformed::new("a number beyond all doubles")),
        Value::String(text) if text == "Infinity" => Ok(f64::INFINITY),
        Value::String(text) if text == "-Infinity" => Ok(f64::NEG_INFINITY),
        Value::String(text) if text == "NaN" => Ok(f64::NAN),
        other => expected("a number", other),
    }
}

/// Numbers.
pub(crate) fn numbers(value: &Value) -> Read<Vec<f64>> {
    list(value, number)
}

/// A count.
pub(crate) fn count(value: &Value) -> Read<usize> {
    match value.as_u64() {
        Some(found) => Ok(found as usize),
        None => expected("a whole number", value),
    }
}

/// A text.
pub(crate) fn text(value: &Value) -> Read<String> {
    match value.as_str() {
        Some(found) => Ok(found.to_owned()),
        None => expected("a text", value),
    }
}

/// A truth value.
pub(crate) fn truth(value: &Value) -> Read<bool> {
    match value.as_bool() {
        Some(found) => Ok(found),
        None => expected("true or false", value),
    }
}

/// Any value.
pub(crate) fn any(value: &Value) -> Read<&Value> {
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_their_place() {
        let document = json!({"a": [{"b": 1}, {"b": "x"}]});
        let read = member(&document, "a", |a| list(a, |item| member(item, "b", number)));
        assert_eq!(read.unwrap_err().to_string(), "a[1].b: expected a number, found a text");
        let read = member(&document, "c", number);
        assert_eq!(read.unwrap_err().to_string(), "`c` is missing");
        assert_eq!(member(&json!({"x": "-Infinity"}), "x", number), Ok(f64::NEG_INFINITY));
    }
}
