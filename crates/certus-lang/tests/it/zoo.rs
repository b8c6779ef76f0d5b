//! The systems of the repository: all load, without warnings, and formatting them changes nothing but layout.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::without_spans;
use certus_lang::{LowerOptions, Source, load_file};

fn systems() -> Vec<PathBuf> {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo");
    let folders = fs::read_dir(zoo).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.filter_map(|f| fs::read_dir(f).ok()).flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "certus")).collect();
    files.sort();
    files
}

#[test]
fn all_load() {
    for path in systems() {
        let system = load_file(&path, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"));
        // A state without a range is meant where the source has none.
        let is_meant = system.warnings.items().iter().all(|warning| warning.code == "unbounded");
        assert!(is_meant, "{}", system.warnings);
        assert!(!system.properties.is_empty(), "{} states no property", path.display());
    }
}

#[test]
fn formatting_keeps_the_tree() {
    for path in systems() {
        let text = fs::read_to_string(&path).expect("a system");
        let name = path.display().to_string();
        let source = Source::new(name.as_str(), text);
        let once = certus_lang::format(&source).unwrap_or_else(|d| panic!("{d}"));
        let formatted = Source::new(name.as_str(), once.as_str());
        let tree = |s| without_spans(&certus_lang::parse(s).unwrap_or_else(|d| panic!("{d}")).declarations);
        assert_eq!(tree(&source), tree(&formatted), "{name}");
        assert_eq!(certus_lang::format(&formatted).ok(), Some(once), "{name}");
    }
}
