//! What every document has: its kind and version, and the ways to write it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::marker::PhantomData;

use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// A kind of document.
pub trait Document: Serialize + DeserializeOwned + JsonSchema {
    /// Its kind and version: `certus/<kind>/<version>`.
    const SCHEMA: &'static str;

    /// Writes it indented, with a line break at the end: what commands print.
    fn write_indented(&self, mut output: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut output, self)?;
        output.write_all(b"\n")
    }

    /// The same as a text.
    fn to_indented(&self) -> io::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The document on one line, without a line break at the end.
    fn to_line(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// The document as a JSON value.
    fn to_value(&self) -> io::Result<Value> {
        Ok(serde_json::to_value(self)?)
    }
}

/// The member `schema` of a document: always [`Document::SCHEMA`], and refused when it reads otherwise.
pub struct Schema<D>(PhantomData<fn() -> D>);

impl<D> Default for Schema<D> {
    fn default() -> Schema<D> {
        Schema(PhantomData)
    }
}

impl<D> Clone for Schema<D> {
    fn clone(&self) -> Schema<D> {
        *self
    }
}

impl<D> Copy for Schema<D> {}

impl<D> PartialEq for Schema<D> {
    fn eq(&self, _: &Schema<D>) -> bool {
        true
    }
}

impl<D: Document> fmt::Debug for Schema<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", D::SCHEMA)
    }
}

impl<D: Document> Serialize for Schema<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(D::SCHEMA)
    }
}

impl<'de, D: Document> Deserialize<'de> for Schema<D> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Schema<D>, R::Error> {
        let found = String::deserialize(deserializer)?;
        if found == D::SCHEMA {
            return Ok(Schema::default());
        }
        Err(R::Error::custom(format!("expected `{}`, found `{found}`", D::SCHEMA)))
    }
}

impl<D: Document> JsonSchema for Schema<D> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        D::SCHEMA.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!({ "description": "The kind of document and its version.", "const": D::SCHEMA })
    }
}
