//! What checks proofs depends on nothing that finds them.

use std::collections::BTreeSet;
use std::path::Path;

const ENGINES: [&str; 10] = [
    "certus-check",
    "certus-engine",
    "certus-solver",
    "certus-grid",
    "certus-reach",
    "certus-prob",
    "certus-sim",
    "certus-shield",
    "certus-tasks",
    "certus-mine",
];

/// The crates of this workspace that a crate depends on, itself or through others; what its tests use does not count.
fn dependencies(name: &str, found: &mut BTreeSet<String>) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
        }
        let inline = section.strip_prefix("dependencies.").or(section.strip_prefix("build-dependencies."));
        let is_list =
            matches!(section.as_str(), "dependencies" | "build-dependencies") || section.ends_with(".dependencies");
        let own = match inline {
            Some(name) => name,
            None if is_list => line.split(['.', '=', ' ']).next().unwrap_or_default(),
            None => continue,
        };
        if own.starts_with("certus-") && found.insert(own.to_owned()) {
            dependencies(own, found);
        }
    }
}

#[test]
fn the_audit_depends_on_no_engine() {
    for name in ["certus-audit", "certus-obligations", "certus-audit-reach"] {
        let mut found = BTreeSet::new();
        dependencies(name, &mut found);
        assert!(found.contains("certus-graph") && found.contains("certus-lang"), "{name}: {found:?}");
        let engines: Vec<&String> = found.iter().filter(|own| ENGINES.contains(&own.as_str())).collect();
        assert!(engines.is_empty(), "{name} depends on {engines:?}");
    }
    // The test can fail: those who search do depend on engines.
    let mut found = BTreeSet::new();
    dependencies("certus-tasks", &mut found);
    assert!(found.contains("certus-check") && found.contains("certus-solver"));
}
