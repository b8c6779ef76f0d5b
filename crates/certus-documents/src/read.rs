//! The table of all kinds of documents, and reading a document of any kind.

use std::fmt;

use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::Document;

/// Why a document cannot be read, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The way to the member that is wrong, as `results[0].trace[1].state.x`; empty for the document itself.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => formatter.write_str(&self.message),
            place => write!(formatter, "{place}: {}", self.message),
        }
    }
}

impl std::error::Error for ReadError {}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { String::new() } else { place };
        ReadError { place, message: error.into_inner().to_string() }
    })
}

fn schema_of<D: Document>() -> (&'static str, Value) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    (D::SCHEMA, generator.into_root_schema_for::<D>().to_value())
}

/// Declares all kinds of documents: the one place that lists them.
macro_rules! documents {
    ($($(#[$about:meta])* $kind:ident($module:ident::$type:ident) = $schema:literal,)+) => {
        /// A document of any kind.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyDocument {
            $($(#[$about])* $kind(Box<crate::$module::$type>),)+
        }

        impl AnyDocument {
            /// Its kind and version.
            pub fn schema(&self) -> &'static str {
                match self {
                    $(AnyDocument::$kind(_) => $schema,)+
                }
            }

            /// Writes it indented, with a line break at the end: what commands print.
            pub fn write_indented(&self, output: impl std::io::Write) -> std::io::Result<()> {
                match self {
                    $(AnyDocument::$kind(own) => own.write_indented(output),)+
                }
            }

            /// The document on one line, without a line break at the end.
            pub fn to_line(&self) -> std::io::Result<String> {
                match self {
                    $(AnyDocument::$kind(own) => own.to_line(),)+
                }
            }

            /// The document as a JSON value.
            pub fn to_value(&self) -> std::io::Result<Value> {
                match self {
                    $(AnyDocument::$kind(own) => own.to_value(),)+
                }
            }
        }

        $(impl From<crate::$module::$type> for AnyDocument {
            fn from(own: crate::$module::$type) -> AnyDocument {
                AnyDocument::$kind(Box::new(own))
            }
        })+

        $(impl Document for crate::$module::$type {
            const SCHEMA: &'static str = $schema;
        })+

        /// Reads a document of the kind that its member `schema` names.
        pub fn read(value: Value) -> Result<AnyDocument, ReadError> {
            let wrong = |message: String| ReadError { place: String::new(), message };
            let Some(schema) = value.get("schema").and_then(Value::as_str) else {
                return Err(wrong(NO_SCHEMA.to_owned()));
            };
            match schema {
                $($schema => parse(value).map(AnyDocument::$kind),)+
                other => {
                    let known: &[&str] = &[$($schema),+];
                    Err(wrong(other_version(other, known)))
                }
            }
        }

        /// The JSON Schema of every kind of document that Certus writes, with the name of its kind and version.
        pub fn schemas() -> Vec<(&'static str, Value)> {
            vec![$(schema_of::<crate::$module::$type>()),+]
        }
    };
}

const NO_SCHEMA: &str =
    "this is no outcome that Certus writes: it has no member `schema`; expected the document of a command, or a shield";

fn other_version(found: &str, known: &[&str]) -> String {
    let kind = |schema: &str| schema.rsplit_once('/').map(|(kind, _)| kind.to_owned());
    match known.iter().find(|own| kind(own) == kind(found)) {
        Some(own) => format!("this is a document `{found}`, and this version of Certus reads `{own}`"),
        None => format!("`{found}` is no kind of document that Certus writes"),
    }
}

documents! {
    /// `certus check`.
    Check(check::Check) = "certus/check/1",
    /// `certus region`, `certus check --region`.
    Region(region::Region) = "certus/region/1",
    /// `certus prob`.
    Prob(prob::Prob) = "certus/prob/1",
    /// `certus mdp`.
    Mdp(mdp::Mdp) = "certus/mdp/1",
    /// `certus verify`.
    Verify(verify::Verify) = "certus/verify/1",
    /// `certus optimise`.
    Optimise(optimise::Optimise) = "certus/optimise/1",
    /// `certus gate`.
    Gate(gate::Gate) = "certus/gate/1",
    /// `certus extract`.
    Extract(extract::Extract) = "certus/extract/1",
    /// `certus simulate`.
    Simulate(simulate::Simulate) = "certus/simulate/1",
    /// One line of `certus simulate --format jsonl`.
    SimulatedRun(simulate::SimulatedRun) = "certus/simulated-run/1",
    /// A shield, as `certus shield` writes it to a file.
    Shield(shield::Shield) = "certus/shield/1",
    /// `certus shield`.
    ShieldSynthesis(shield_synthesis::ShieldSynthesis) = "certus/shield-synthesis/1",
    /// `certus shield run`.
    ShieldRun(shield_run::ShieldRun) = "certus/shield-run/1",
    /// `certus audit`.
    Audit(audit::Audit) = "certus/audit/1",
    /// `certus mine`.
    Mine(mine::Mine) = "certus/mine/1",
    /// The specifications that `certus mine --write` writes to a file.
    Specifications(mine::Specifications) = "certus/specifications/1",
    /// `certus inspect` of a network.
    Network(inspect::Network) = "certus/network/1",
    /// `certus inspect` of a system.
    System(inspect::System) = "certus/system/1",
    /// `certus fmt`.
    Fmt(fmt::Fmt) = "certus/fmt/1",
    /// `certus.mine` in Python, with `emit_sql`.
    MineSql(mine::MineSql) = "certus/mine-sql/1",
    /// `certus.new` in Python.
    New(new::New) = "certus/new/1",
    /// `certus.observe` in Python.
    Observe(observe::Observe) = "certus/observe/1",
    /// `certus.report` in Python.
    Report(report::Report) = "certus/report/1",
    /// `certus.shield_export` in Python.
    ShieldExport(shield_export::ShieldExport) = "certus/shield-export/1",
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_their_place() {
        let told = |value: Value| read(value).unwrap_err().to_string();
        assert_eq!(told(json!({"a": 1})), NO_SCHEMA);
        assert!(told(json!({"schema": "certus/check/9"})).contains("this version of Certus reads `certus/check/1`"));
        assert!(told(json!({"schema": "certus/tea/1"})).contains("is no kind of document"));
        let file = json!({"file": "a", "status": "canonical", "error": null});
        let fmt = |file: Value| json!({"schema": "certus/fmt/1", "files": [file]});
        assert!(read(fmt(file.clone())).is_ok());
        let mut more = file.clone();
        more["more"] = json!(1);
        assert!(told(fmt(more)).starts_with("files[0].more: unknown field `more`"));
        let mut wrong = file;
        wrong["status"] = json!("good");
        assert!(told(fmt(wrong)).starts_with("files[0].status: unknown variant `good`"));
    }
}
