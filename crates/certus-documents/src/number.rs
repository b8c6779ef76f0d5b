//! Numbers, also those that JSON cannot write.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A double. What JSON cannot write is one of the texts `NaN`, `Infinity` and `-Infinity`, never `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

const NAN: &str = "NaN";
const INFINITY: &str = "Infinity";
const MINUS_INFINITY: &str = "-Infinity";

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number(value)
    }
}

impl From<Number> for serde_json::Value {
    fn from(value: Number) -> serde_json::Value {
        match serde_json::Number::from_f64(value.0) {
            Some(number) => number.into(),
            None => value.text().into(),
        }
    }
}

impl Number {
    /// The text that stands for a number that JSON cannot write.
    fn text(self) -> &'static str {
        match self.0 {
            value if value.is_nan() => NAN,
            value if value > 0.0 => INFINITY,
            _ => MINUS_INFINITY,
        }
    }
}

impl From<Number> for f64 {
    fn from(value: Number) -> f64 {
        value.0
    }
}

/// Doubles as a document has them.
pub fn numbers<'v>(values: impl IntoIterator<Item = &'v f64>) -> Vec<Number> {
    values.into_iter().copied().map(Number).collect()
}

/// The numbers of a document as doubles.
pub fn plain<'v>(values: impl IntoIterator<Item = &'v Number>) -> Vec<f64> {
    values.into_iter().map(|value| value.0).collect()
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.is_finite() => serializer.serialize_f64(value),
            _ => serializer.serialize_str(self.text()),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Number;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                match text {
                    NAN => Ok(Number(f64::NAN)),
                    INFINITY => Ok(Number(f64::INFINITY)),
                    MINUS_INFINITY => Ok(Number(f64::NEG_INFINITY)),
                    _ => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A double; what JSON cannot write as a number is a text.",
            "anyOf": [{ "type": "number" }, { "enum": [NAN, INFINITY, MINUS_INFINITY] }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_write_is_a_text() {
        let values = [0.1 + 0.2, -0.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let text = serde_json::to_string(&numbers(&values)).unwrap();
        assert_eq!(text, r#"[0.30000000000000004,-0.0,3.0,"Infinity","-Infinity","NaN"]"#);
        let read: Vec<Number> = serde_json::from_str(&text).unwrap();
        assert!(read.iter().zip(values).all(|(own, value)| own.0.to_bits() == value.to_bits()));
        assert_eq!(serde_json::from_str::<Number>("3").unwrap(), Number(3.0));
        let wrong = serde_json::from_str::<Number>("\"much\"").unwrap_err().to_string();
        assert!(wrong.starts_with("invalid type: string \"much\", expected a number"), "{wrong}");
    }
}
