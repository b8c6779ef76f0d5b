//! Every file in `tests/wrong` is rejected with exactly the message that stands beside it.
//!
//! `CERTUS_BLESS=1 cargo test -p certus-lang --test wrong_files` rewrites the messages.

use std::fs;
use std::path::Path;

use crate::support::Linear;
use certus_lang::{LowerOptions, Source, load_source, load_str};

#[test]
fn wrong_files_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let bless = std::env::var_os("CERTUS_BLESS").is_some();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder of wrong files")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".certus"))
        .collect();
    names.sort();
    assert!(names.len() >= 45, "only {} wrong files", names.len());
    let mut differing = Vec::new();
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).expect("a wrong file");
        let source = Source::new(name.as_str(), text);
        let rendered = match load_source(&source, &mut Linear, &LowerOptions::default()) {
            Ok(_) => panic!("{name} is accepted"),
            Err(diagnostics) => diagnostics.render(false),
        };
        let expected_path = folder.join(name.replace(".certus", ".stderr"));
        if bless {
            fs::write(&expected_path, &rendered).expect("writing a message");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if rendered != expected {
            differing.push(format!("--- {name}: expected\n{expected}\n+++ found\n{rendered}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

const SPRING: &str = "system spring\nparam stiffness in [0.5, 2] = 1\nstate x in [-1, 1]\n\
                      next x = -stiffness * x\nproperty p = G x < 1\n";

fn message(text: &str, options: &LowerOptions) -> String {
    load_str(text, &mut Linear, options).expect_err("an error").to_string()
}

#[test]
fn overrides_are_checked() {
    let set = |name: &str, value| LowerOptions { overrides: vec![(name.to_owned(), value)], ..LowerOptions::default() };
    let unknown = message(SPRING, &set("stifness", 1.0));
    assert!(unknown.contains("no parameter `stifness`"), "{unknown}");
    assert!(unknown.contains("did you mean `stiffness`?"), "{unknown}");
    let outside = message(SPRING, &set("stiffness", 3.0));
    assert!(outside.contains("cannot be set to 3: it is outside its range"), "{outside}");
    let free = LowerOptions { free_params: vec!["mass".to_owned()], ..LowerOptions::default() };
    assert!(message(SPRING, &free).contains("the parameters are stiffness"));
}

#[test]
fn a_missing_file_is_reported() {
    let error = certus_lang::load_file("no/such/file.certus", &LowerOptions::default());
    let message = error.expect_err("an error").to_string();
    assert!(message.contains("the file cannot be read"), "{message}");
    assert!(message.contains("no/such/file.certus"), "{message}");
}

#[test]
fn oddities_are_warnings() {
    let text = "system odd\nstate x\ndefine y = sin(90) * deg(pi)\nnext x = x\n";
    let system = load_str(text, &mut Linear, &LowerOptions::default()).expect("a system");
    let codes: Vec<&str> = system.warnings.items().iter().map(|w| w.code).collect();
    assert_eq!(codes, ["unbounded", "unused", "units", "units", "no-property"]);
}
