//! Documentation that runs: every `$ certus …` in a `console` block prints what stands below it.
//!
//! `CERTUS_BLESS=1 cargo test -p certus --test documentation` writes the present output into the files.

use std::path::{Path, PathBuf};

use crate::support::{certus, root};

const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/commands.md",
    "docs/falsification.md",
    "docs/model-checking.md",
    "docs/reachability.md",
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
            let shell = words.iter().find(|word| ["|", ">", "<", ";", "&&", "||", "\\"].contains(word));
            assert_eq!(shell, None, "{}: {command}: there is no shell here", path.display());
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
    let help = certus(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"check") && commands.contains(&"report"), "{help}");
    let documents = DOCUMENTS.iter().map(|name| std::fs::read_to_string(root().join(name)).unwrap());
    let text = documents.collect::<Vec<_>>().join("\n");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(text.contains(&format!("\n$ certus {command} ")), "there is no example of {command}");
    }
}

#[test]
fn lines_of_the_architecture_fit_a_screen() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let long: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| line.chars().count() >= 120).map(|(place, _)| place + 1).collect();
    assert!(long.is_empty(), "lines {long:?} have 120 characters or more");
}

/// The files that people read.
fn written() -> Vec<PathBuf> {
    let folders = ["", "docs", "bench", "zoo", "python"].map(|folder| root().join(folder));
    let zoo = std::fs::read_dir(root().join("zoo")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.into_iter().chain(zoo.filter(|path| path.is_dir()));
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Where the links of a text lead: what stands in parentheses after brackets, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        code ^= line.starts_with("```");
        if code || line.starts_with("    ") {
            continue;
        }
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("");
        let ends = plain.match_indices("](").map(|(place, _)| &plain[place + 2..]);
        found.extend(ends.filter_map(|rest| rest.split(')').next()).map(str::to_owned));
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for path in written() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
            if !place.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let there = headings.map(anchor).any(|own| own == place);
                assert!(there, "{}: {link}: there is no such heading", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} links were found");
}

#[test]
fn the_map_of_the_code_is_true() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let entries = std::fs::read_dir(root().join("crates")).unwrap();
    let mut crates: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    crates.sort();
    let mut listed: Vec<String> =
        map.split("**`crates/").skip(1).filter_map(|rest| rest.split('`').next().map(str::to_owned)).collect();
    listed.sort();
    assert_eq!(listed, crates, "the paragraphs of ARCHITECTURE.md and the folder crates/ differ");
    for path in map.split('`').skip(1).step_by(2).filter(|path| path.contains('/') && !path.contains(' ')) {
        assert!(root().join(path).exists(), "ARCHITECTURE.md speaks of {path}, which does not exist");
    }
}

#[test]
fn the_glossary_and_the_map_name_files_that_exist() {
    for (name, least) in [("docs/map.md", 40), ("docs/glossary.md", 30)] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let files =
            text.split('`').skip(1).step_by(2).filter(|own| own.starts_with("crates/") || own.starts_with("docs/"));
        let files: Vec<&str> = files.collect();
        assert!(files.len() >= least, "{name} names {} files only", files.len());
        for file in files {
            assert!(root().join(file).exists(), "{name} speaks of {file}, which does not exist");
        }
        // Each row begins with a term of its own.
        let mut terms: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
        let count = terms.len();
        terms.sort_unstable();
        terms.dedup();
        assert_eq!(terms.len(), count, "{name} has a term twice");
    }
}
