//! The recipes of CONTRIBUTING.md are true: each is followed here as far as a test can, or the tables that it adds a row to are compared with
//! what must follow from a row. CONTRIBUTING.md names the test behind each recipe.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{certus, root};
use certus_check::replay::{Drive, replay};
use certus_engine::{
    Budget, Engine, Next, Session, Shared, Support, Task, Turn, Watch, run_alone, run_portfolio, spent,
};
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::{CheckError, Outcome, Property, System, Unknown, Verdict, formula_of};
use certus_tasks::commands::COMMANDS;

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sections of CONTRIBUTING.md that say how something is added.
fn recipes() -> Vec<(String, String)> {
    let whole = text("CONTRIBUTING.md");
    let sections = whole.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    sections
        .filter(|(title, _)| title.starts_with("Add "))
        .map(|(title, body)| (title.to_owned(), body.to_owned()))
        .collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The source files below a folder, without what builds leave there.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&entry, found);
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            found.push(entry);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    ["crates", "python"].iter().for_each(|folder| sources(&root().join(folder), &mut found));
    found
}

#[test]
fn files_and_names_of_the_recipes_exist() {
    let titles: Vec<String> = recipes().into_iter().map(|(title, _)| title).collect();
    let expected = ["activation", "operator", "engine", "property kind", "command", "output document"];
    for kind in expected {
        assert!(titles.iter().any(|title| title.ends_with(kind)), "there is no recipe for a new {kind}: {titles:?}");
    }
    let words: BTreeSet<String> = all_sources()
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned);
            words.collect::<Vec<_>>()
        })
        .collect();
    let (mut files, mut names) = (0, 0);
    for (title, body) in recipes() {
        for own in quoted(&body) {
            if ["crates/", "docs/", "python/", "zoo/"].iter().any(|folder| own.starts_with(folder)) {
                // A file that the recipe adds stands in a folder that is there.
                let own = own.split("NAME").next().unwrap_or(own);
                assert!(root().join(own).exists(), "{title}: there is no {own}");
                files += 1;
            } else if own.chars().all(|c| c.is_alphanumeric() || "_:!".contains(c)) && !own.contains("NAME") {
                let name = own.trim_end_matches('!').rsplit("::").next().unwrap_or(own);
                // Words of the file formats and of the command line are none of the code's.
                if name.chars().next().is_some_and(char::is_alphabetic) && name.len() > 1 {
                    assert!(words.contains(name), "{title}: nothing is called {own}");
                    names += 1;
                }
            }
        }
    }
    assert!(files > 25 && names > 25, "only {files} files and {names} names were found");
}

/// The recipe says where kinds of properties are named, and they are named nowhere else: all others ask the property.
#[test]
fn a_property_kind_is_named_in_the_files_of_its_recipe() {
    let (_, body) = recipes().into_iter().find(|(title, _)| title.ends_with("property kind")).unwrap();
    // The steps: what is guarded by what follows them.
    let steps = body.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let listed: BTreeSet<&str> = steps.filter_map(|line| quoted(line).next()).collect();
    // In two halves, so that this file does not name them.
    let names = [concat!("Property", "Kind"), concat!("Property", "Body")];
    let root = root();
    let naming: BTreeSet<String> = all_sources()
        .iter()
        .filter(|path| names.iter().any(|name| std::fs::read_to_string(path).unwrap().contains(name)))
        .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    assert_eq!(naming.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed);
    assert!(listed.len() <= 6, "{listed:?}");
}

/// An engine as the recipe adds one, of no crate of the product: it follows the runs from the corners of the initial box, with all inputs at
/// their lower ends, and reports those that replay shows to violate the property.
struct Corners;

struct Following<'t> {
    task: Task<'t>,
    /// The next corner, by its bits.
    corner: usize,
}

impl Engine for Corners {
    fn name(&self) -> &'static str {
        "corners"
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        match formula_of(property) {
            Ok(_) if system.state_len() <= 16 => Support::Yes,
            Ok(_) => Support::No("there are too many corners".to_owned()),
            Err(refused) => Support::No(refused.to_string()),
        }
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Following { task: *task, corner: 0 }))
    }
}

impl Session for Following<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, _: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let system = self.task.system;
        let (formula, (lower, upper)) = (formula_of(self.task.property)?, &system.init_box);
        let idle: Vec<f64> = system.inputs.iter().flat_map(|input| input.lower.iter().copied()).collect();
        let positions = 1 + self.task.steps.unwrap_or(10);
        let open = |next| {
            let unknown = Unknown::at(spent(budget), "the corners of the initial box");
            Turn::Open { so_far: Box::new(Outcome::new("corners", Verdict::Unknown(unknown))), next }
        };
        let mut work = 0;
        while self.corner < 1 << lower.len() {
            if work == budget.subproblems || spent(budget).is_some() {
                return Ok(open(Next::MoreWork));
            }
            let end = |place: usize| if self.corner >> place & 1 == 1 { upper[place] } else { lower[place] };
            let state: Vec<f64> = (0..lower.len()).map(end).collect();
            for length in 1..=positions {
                let drive = Drive {
                    state: state.clone(),
                    inputs: vec![idle.clone(); length],
                    chances: vec![Vec::new(); length],
                    choices: vec![Vec::new(); length],
                    loop_to: None,
                };
                if let Some(run) = replay(system, formula, &drive)? {
                    return Ok(Turn::Decided(Box::new(Outcome::new("corners", Verdict::Violated(run)))));
                }
            }
            (self.corner, work) = (self.corner + 1, work + 1);
        }
        Ok(open(Next::Never))
    }
}

#[test]
fn an_engine_of_another_crate_takes_its_turns() {
    let file = "system doubling\nstate x in [0, 64]\ninit x >= 1 & x <= 3\nnext x = clamp(2 * x, 0, 64)\n\
                property small = G<=3 x <= 20\nproperty large = G x >= 1\n";
    let system = load_str(file, &mut FileNetworks::default(), &LowerOptions::default()).unwrap();
    let task = |place: usize| Task {
        system: &system,
        property: &system.properties[place],
        steps: Some(4),
        assume_no_model_errors: false,
    };
    let engines: Vec<Box<dyn Engine>> = vec![Box::new(Corners)];
    let ask = |place: usize| {
        let (task, budget) = (task(place), Budget::default());
        run_portfolio(&engines, &task, &budget, &mut |_| {}, &mut |outcome, _| Ok(outcome)).unwrap().outcome
    };
    // 1, 2, 4, 8 stays below; 3, 6, 12, 24 does not.
    let Outcome { engine, verdict: Verdict::Violated(run), .. } = ask(0) else { panic!("no violation was found") };
    assert_eq!((engine, run.states), ("corners", vec![vec![3.0], vec![6.0], vec![12.0], vec![24.0]]));
    assert!(matches!(ask(1).verdict, Verdict::Unknown(_)));
    // Where the budget ends it goes on in the next turn, and finds the same run.
    let one = Budget { subproblems: 1, ..Budget::default() };
    let (task, mut shared) = (task(0), Shared::default());
    let mut session = Corners.start(&task).unwrap();
    let first = session.advance(&one, &mut shared, &mut |_| {}).unwrap();
    assert!(matches!(first, Turn::Open { next: Next::MoreWork, .. }));
    let second = session.advance(&one, &mut shared, &mut |_| {}).unwrap();
    assert!(matches!(second, Turn::Decided(outcome) if matches!(outcome.verdict, Verdict::Violated(_))));
    let alone = run_alone(&Corners, &task, &Budget::default(), &mut |_| {}).unwrap().outcome;
    assert!(matches!(alone.verdict, Verdict::Violated(_)));
}

/// From one row of the table a command is on the command line, in Python's stubs and in the documentation.
#[test]
fn every_command_of_the_table_is_everywhere() {
    let (stubs, python) = (text("python/package/certus/_commands.pyi"), text("docs/python.md"));
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let commands: String = pages.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(COMMANDS.len() >= 19);
    for command in COMMANDS {
        let name = command.name;
        let words: Vec<&str> = name.split('_').chain(["--help"]).collect();
        let help = certus(&words);
        assert_eq!(help.code, 0, "certus {words:?}: {}", help.stderr);
        let about = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = command.about.split(['⟨', '⟩']).next().unwrap_or_default().trim();
        assert!(!first.is_empty() && about.contains(first), "certus {words:?} does not say `{first}`: {about}");
        assert!(stubs.contains(&format!("\ndef {name}(")), "run python -m certus._stubs for {name}");
        let shown = name.replace('_', " ");
        assert!(commands.contains(&format!("certus {shown} ")), "docs has no example of {shown}");
        let called = [format!("certus.{name}("), format!(".{}(", name.trim_start_matches("shield_"))];
        assert!(called.iter().any(|own| python.contains(own)), "docs/python.md has no example of {name}");
    }
}

/// Every kind of document has its row in the list of schemas and its section in the documents that are tried.
#[test]
fn every_document_is_listed() {
    let list = text("docs/schema/README.md");
    let schemas = certus_documents::schemas();
    assert!(schemas.len() >= 24);
    for (schema, _) in schemas {
        let kind = schema.split('/').nth(1).unwrap();
        assert!(
            list.contains(&format!("| [{kind}.json]({kind}.json) |")),
            "docs/schema/README.md has no row for {kind}"
        );
    }
}
