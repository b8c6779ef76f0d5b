//! Every system of the zoo loads, is in canonical form, simulates without leaving its model, and does not contradict the
//! verdicts that its file expects.

use std::path::PathBuf;

use certus_lang::diagnostics::Source;
use certus_lang::system::Expect;
use certus_lang::{LowerOptions, load_file};
use certus_sim::{Options, Simulator};

fn systems() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(crate::support::root().join("zoo")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "certus"));
    files.sort();
    files
}

#[test]
fn every_system_loads_is_canonical_and_runs() {
    let systems = systems();
    assert!(systems.len() >= 40, "only {} systems", systems.len());
    let mut faults = Vec::new();
    for path in systems {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let system = match load_file(&path, &LowerOptions::default()) {
            Ok(system) => system,
            Err(errors) => {
                faults.push(errors.render(false));
                continue;
            }
        };
        let text = std::fs::read_to_string(&path).unwrap();
        if certus_lang::format(&Source::new(name.clone(), text.clone())).ok().as_deref() != Some(&text) {
            faults.push(format!("{name}: not in canonical form; run `certus fmt`"));
        }
        // A state without a range is meant where the source has none.
        if system.warnings.items().iter().any(|warning| warning.code != "unbounded") {
            faults.push(system.warnings.render(false));
        }
        if system.properties.is_empty() {
            faults.push(format!("{name}: no property"));
        }
        let simulator = Simulator::new(&system).unwrap();
        let options = Options { runs: 100, steps: 100, seed: 1, ..Options::default() };
        let summary = match simulator.run(&options, &mut |_| {}, &mut |_| {}) {
            Ok(summary) => summary,
            Err(error) => {
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        if let Some(report) = &summary.first_fault {
            faults.push(format!("{name}: run {} ended with {:?}", report.run, report.end));
        }
        for (property, seen) in system.properties.iter().zip(&summary.properties) {
            if property.is_over_runs() && property.expect == Some(Expect::Holds) && seen.violated > 0 {
                faults
                    .push(format!("{name}: {} is expected to hold, run {:?} breaks it", property.name, seen.worst_run));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_folder_has_a_readme_and_stands_in_the_table() {
    let table = std::fs::read_to_string(crate::support::root().join("zoo/README.md")).unwrap();
    for path in systems() {
        let folder = path.parent().unwrap();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(folder.join("README.md").exists(), "{name} has no README.md");
        assert!(table.contains(&format!("[{name}]({name}/")), "zoo/README.md does not list {name}");
    }
}
