//! Documentation that runs: every `$ certus …` in a `console` block prints what stands below it.
//!
//! `CERTUS_BLESS=1 cargo test -p certus --test documentation` writes the present output into the files.

mod support;

use std::path::Path;

use support::{certus, root};

const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/commands.md",
    "docs/model-checking.md",
    "docs/regions.md",
    "docs/gate.md",
    "docs/grid.md",
    "docs/mining.md",
    "docs/probabilities.md",
    "docs/shields.md",
    "docs/report.md",
    "docs/tutorial.md",
];

/// Times differ from run to run: `0.12 s` becomes `… s`.
fn without_times(text: &str) -> String {
    let words = text.split_inclusive(' ').collect::<Vec<_>>();
    let mut shown = String::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).map(|next| next.trim_end());
        let seconds = next.is_some_and(|next| next == "s" || next.starts_with("s\n"));
        let number = word.trim_end().parse::<f64>().is_ok() && word.contains('.');
        shown.push_str(if seconds && number { "… " } else { word });
    }
    shown
}

/// The words of a command as a shell sees them: what stands between single quotes is one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(place, part)| if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

fn check(path: &Path, failures: &mut Vec<String>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut rewritten = String::new();
    let mut lines = text.lines().peekable();
    let mut examples = 0;
    while let Some(line) = lines.next() {
        rewritten.push_str(line);
        rewritten.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(command) = lines.next().filter(|line| *line != "```") {
            let mut shown = String::new();
            while let Some(output) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
                shown.push_str(output);
                shown.push('\n');
            }
            let words = words(command.trim_start_matches("$ "));
            assert_eq!(words.first(), Some(&"certus"), "{}: {command}", path.display());
            let ran = certus(&words[1..]);
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            examples += 1;
            if without_times(&printed) != without_times(&shown) {
                failures.push(format!("{}: {command}\nprints\n{printed}\nbut the file shows\n{shown}", path.display()));
            }
            rewritten.push_str(&format!("{command}\n{printed}"));
        }
        rewritten.push_str("```\n");
    }
    assert!(examples > 0, "{} has no example", path.display());
    if std::env::var_os("CERTUS_BLESS").is_some() {
        std::fs::write(path, rewritten).unwrap();
    }
}

#[test]
fn examples_print_what_the_documentation_shows() {
    let mut failures = Vec::new();
    for name in DOCUMENTS {
        check(&root().join(name), &mut failures);
    }
    assert!(std::env::var_os("CERTUS_BLESS").is_some() || failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_command_is_documented() {
    let document = std::fs::read_to_string(root().join("docs/commands.md")).unwrap();
    for command in [
        "verify",
        "audit",
        "optimise",
        "prob",
        "mdp",
        "simulate",
        "gate",
        "mine",
        "inspect",
        "report",
        "new",
        "fmt",
        "completions",
    ] {
        assert!(document.contains(&format!("$ certus {command} ")), "docs/commands.md has no example of {command}");
    }
}

#[test]
fn the_map_of_the_code_is_true() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let entries = std::fs::read_dir(root().join("crates")).unwrap();
    let mut crates: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    crates.sort();
    let mut listed: Vec<String> =
        map.lines().filter_map(|line| line.strip_prefix("| `crates/")?.split('`').next().map(str::to_owned)).collect();
    listed.sort();
    assert_eq!(listed, crates, "the table of rooms in ARCHITECTURE.md and the folder crates/ differ");
    for path in map.split('`').skip(1).step_by(2).filter(|path| path.contains('/') && !path.contains(' ')) {
        assert!(root().join(path).exists(), "ARCHITECTURE.md speaks of {path}, which does not exist");
    }
}
