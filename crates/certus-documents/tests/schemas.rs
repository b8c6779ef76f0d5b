//! The JSON Schemas in `docs/schema` are those of the types.
//!
//! `CERTUS_BLESS=1 cargo test -p certus-documents --test schemas` writes them. Read the difference: a member that was removed,
//! renamed or has another type needs a new version of the document.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

/// The file of a schema: `certus/check/1` is in `check.json`.
fn file_name(schema: &str) -> String {
    let mut parts = schema.split('/');
    assert_eq!(parts.next(), Some("certus"), "{schema}");
    let kind = parts.next().unwrap_or_else(|| panic!("{schema} names no kind"));
    let version = parts.next().and_then(|version| version.parse::<u32>().ok());
    assert!(version.is_some_and(|version| version > 0) && parts.next().is_none(), "{schema} names no version");
    format!("{kind}.json")
}

#[test]
fn published_schemas_are_those_of_the_types() {
    let bless = std::env::var_os("CERTUS_BLESS").is_some();
    let mut names = BTreeSet::new();
    for (schema, value) in certus_documents::schemas() {
        let name = file_name(schema);
        let path = folder().join(&name);
        let made = format!("{value:#}\n");
        assert_eq!(value["properties"]["schema"]["const"], schema);
        if bless {
            std::fs::write(&path, &made).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(published == made, "{name} is not the schema of its type; CERTUS_BLESS=1 writes it");
        assert!(names.insert(name), "two kinds of documents are called {schema}");
    }
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|name| name.ends_with(".json")).collect();
    assert_eq!(files, names, "docs/schema has a file for each kind of document, and no other");
}
