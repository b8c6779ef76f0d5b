//! What the workspace is built from: licences, sources, versions, and that every crate can be packaged by itself.
//!
//! This is the part of `cargo deny` that needs no network: advisories need a database that is fetched, and are left to the nightly workflow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences that a binary under MIT or Apache-2.0 may contain.
const LICENCES: &[&str] =
    &["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Zlib", "Unlicense", "CC0-1.0", "Unicode-3.0"];

/// Crates that occur in more than one version, because two dependencies disagree. A new entry needs a reason here.
const DUPLICATES: &[(&str, &str)] = &[
    ("cpufeatures", "sha2 and the random numbers of proptest"),
    ("getrandom", "proptest, tempfile's kin and clarabel's dependencies"),
    ("r-efi", "getrandom on UEFI, never built here"),
    ("strsim", "clap, and the derive macros of clarabel's builder"),
    ("syn", "derive macros of three generations"),
];

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(crate::support::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'a>(package: &'a Value, member: &str) -> &'a str {
    package[member].as_str().unwrap_or_default()
}

/// Whether an SPDX expression can be satisfied by licences of the list.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace(" WITH LLVM-exception", "");
    let any =
        |words: &str| words.split(" OR ").flat_map(|word| word.split('/')).any(|word| LICENCES.contains(&word.trim()));
    plain.split(" AND ").all(any)
}

#[test]
fn licences_sources_and_versions_are_known() {
    let metadata = metadata();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = text(package, "name");
        versions.entry(name).or_default().insert(text(package, "version"));
        assert!(is_allowed(text(package, "license")), "{name}: licence '{}'", text(package, "license"));
        let source = text(package, "source");
        assert!(source.is_empty() || source.starts_with("registry+"), "{name} comes from {source}");
    }
    let twice: BTreeSet<&str> = versions.iter().filter(|(_, own)| own.len() > 1).map(|(name, _)| *name).collect();
    let known: BTreeSet<&str> = DUPLICATES.iter().map(|(name, _)| *name).collect();
    assert!(twice.is_subset(&known), "new duplicates: {:?}", twice.difference(&known));
}

#[test]
fn every_crate_can_be_packaged() {
    let metadata = metadata();
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let packages = metadata["packages"].as_array().unwrap();
    let own: Vec<&Value> = packages.iter().filter(|package| members.contains(text(package, "id"))).collect();
    assert!(own.len() > 15);
    for package in own {
        let name = text(package, "name");
        assert!(!text(package, "description").is_empty(), "{name} has no description");
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_shipped = dependency["kind"].as_str() != Some("dev");
            let by_path = dependency["path"].is_string();
            let wanted = text(dependency, "req");
            assert!(!(is_shipped && by_path && wanted == "*"), "{name}: {} needs a version", text(dependency, "name"));
        }
        let folder = Path::new(text(package, "manifest_path")).parent().unwrap();
        for path in sources(folder) {
            let source = std::fs::read_to_string(&path).unwrap();
            for line in source.lines().filter(|line| line.trim_start().starts_with("#[path")) {
                let target = line.split('"').nth(1).unwrap_or_default();
                let target = path.parent().unwrap().join(target).canonicalize();
                let inside = !line.contains("../")
                    || target.is_ok_and(|target| target.starts_with(folder.canonicalize().unwrap()));
                assert!(inside, "{}: {line} leads out of the crate", path.display());
            }
        }
    }
}

#[test]
fn dependencies_point_downwards_in_the_list_of_crates() {
    let list = std::fs::read_to_string(crate::support::root().join("ARCHITECTURE.md")).unwrap();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let place = |name: &str| list.find(&format!("**`crates/{name}`**"));
    let shipped = packages.iter().filter(|package| !package["publish"].is_array());
    let mut compared = 0;
    for (package, own) in shipped.filter_map(|package| Some((package, place(text(package, "name"))?))) {
        let dependencies = package["dependencies"].as_array().unwrap();
        for dependency in dependencies.iter().filter(|dependency| dependency["kind"].as_str() != Some("dev")) {
            let Some(other) = place(text(dependency, "name")) else { continue };
            compared += 1;
            assert!(own < other, "{} uses {}", text(package, "name"), text(dependency, "name"));
        }
    }
    assert!(compared > 50);
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn expressions_of_licences_are_read() {
    assert!(is_allowed("MIT OR Apache-2.0") && is_allowed("(MIT OR GPL-3.0) AND Zlib") && is_allowed("MIT/Apache-2.0"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0") && !is_allowed(""));
}
