//! The options of one call, read from a JSON object.

use std::path::PathBuf;

use certus_lang::LowerOptions;
use certus_lang::diagnostics::nearest;
use serde_json::{Map, Value};

use super::options::{members, number, range};
use super::{Command, Opt};
use crate::failure::Failure;
use crate::{BudgetOptions, Files, Loading, QuerySource, deadline_after};

/// The options that a command was given, each of its kind.
#[derive(Debug)]
pub struct Request {
    values: Map<String, Value>,
    /// Whether diagnostics are rendered in colour.
    pub colour: bool,
}

impl Request {
    /// Reads the options of a command, and those that a front end adds: each must be known, of its kind, and of use.
    pub fn new(command: &Command, options: &[&Opt], given: Map<String, Value>) -> Result<Request, Failure> {
        let names = || options.iter().map(|option| option.name);
        if let Some(unknown) = given.keys().find(|name| names().all(|own| own != name.as_str())) {
            let hint = nearest(unknown, names()).map_or_else(
                || format!("there are {}", names().collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean '{near}'?"),
            );
            return Err(Failure::message(format!("{} has no option '{unknown}'; {hint}", command.name)));
        }
        let mut values = given;
        let mut chosen = Vec::new();
        for option in options {
            let name = option.name;
            let default: Value = option.default.and_then(|own| serde_json::from_str(own).ok()).unwrap_or_default();
            match values.get(name).filter(|value| !value.is_null()) {
                Some(value) if !option.kind.accepts(value) => {
                    let shown =
                        if value.is_object() || value.is_array() { "another thing" } else { &*value.to_string() };
                    return Err(Failure::message(format!("⟨{name}⟩: expected {}, got {shown}", option.kind.words())));
                }
                Some(value) if *value == default => {}
                Some(_) => chosen.push(name),
                None if option.default.is_some() => {
                    values.insert(name.to_owned(), default);
                }
                None => {
                    let what = option.kind.words();
                    return Err(Failure::message(format!("{}: ⟨{name}⟩ is missing; expected {what}", command.name)));
                }
            }
        }
        for option in options.iter().filter(|option| chosen.contains(&option.name)) {
            let name = option.name;
            if let Some(other) = option.excludes.iter().find(|other| chosen.contains(other)) {
                return Err(Failure::message(format!("⟨{name}⟩ cannot be used with ⟨{other}⟩")));
            }
            if let Some(other) = option.needs.filter(|other| !chosen.contains(other)) {
                return Err(Failure::message(format!("⟨{name}⟩ has no effect without ⟨{other}⟩")));
            }
        }
        let one = command.one_of;
        if !one.is_empty() && one.iter().filter(|name| chosen.contains(name)).count() != 1 {
            let named: Vec<String> = one.iter().map(|name| format!("⟨{name}⟩")).collect();
            return Err(Failure::message(format!("{}: give exactly one of {}", command.name, named.join(" and "))));
        }
        Ok(Request { values, colour: false })
    }

    /// Whether the command has an option of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn value(&self, name: &str) -> &Value {
        debug_assert!(self.values.contains_key(name), "{name} is no option");
        self.values.get(name).unwrap_or(&Value::Null)
    }

    fn items(&self, name: &str) -> &[Value] {
        self.value(name).as_array().map_or(&[], Vec::as_slice)
    }

    fn members(&self, name: &str) -> impl Iterator<Item = (&str, &Value)> {
        members(self.value(name)).into_iter().flatten()
    }

    /// Whether something was given that is not `null`.
    pub fn has(&self, name: &str) -> bool {
        !self.value(name).is_null()
    }

    /// A text, or what was chosen.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).as_str()
    }

    /// The same to keep.
    pub fn string(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.items(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// A path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// Where the result is written, if the front end has a say in it.
    pub fn output(&self) -> Option<PathBuf> {
        self.values.get("output").and_then(Value::as_str).map(PathBuf::from)
    }

    /// The files that a command touches, to which it adds its own; the output is among them, whichever front end has one.
    pub fn files(&self) -> Files {
        Files::new().writes("⟨output⟩", self.output())
    }

    /// A path that must be given.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path(name).unwrap_or_default()
    }

    /// Paths.
    pub fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.items(name).iter().filter_map(Value::as_str).map(PathBuf::from).collect()
    }

    /// Paths by name.
    pub fn named_paths(&self, name: &str) -> Vec<(String, PathBuf)> {
        self.members(name).filter_map(|(name, path)| Some((name.to_owned(), path.as_str()?.into()))).collect()
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        number(self.value(name))
    }

    /// A number with a default.
    pub fn real(&self, name: &str) -> f64 {
        self.number(name).unwrap_or(f64::NAN)
    }

    /// A number that may not be negative.
    pub fn not_negative(&self, name: &str) -> Result<f64, Failure> {
        let value = self.real(name);
        if value.is_finite() && value >= 0.0 {
            return Ok(value);
        }
        Err(Failure::message(format!("⟨{name}={value}⟩: expected a number that is not negative")))
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.value(name).as_u64().map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// A whole number with a default.
    pub fn whole(&self, name: &str) -> usize {
        self.count(name).unwrap_or(0)
    }

    /// Whether something is wanted.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name) == &Value::Bool(true)
    }

    /// Numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.items(name).iter().filter_map(number).collect()
    }

    /// Lists of numbers.
    pub fn number_lists(&self, name: &str) -> Vec<Vec<f64>> {
        let list = |value: &Value| value.as_array().into_iter().flatten().filter_map(number).collect();
        self.items(name).iter().map(list).collect()
    }

    /// Values of parameters.
    pub fn settings(&self, name: &str) -> Vec<(String, f64)> {
        self.members(name).filter_map(|(name, value)| Some((name.to_owned(), value.as_f64()?))).collect()
    }

    /// Widths by name, or of everything that has no name here.
    pub fn widths(&self, name: &str) -> Vec<(Option<String>, f64)> {
        match self.number(name) {
            Some(width) => vec![(None, width)],
            None => {
                let named = |name: String| Some(name).filter(|name| !name.is_empty());
                self.settings(name).into_iter().map(|(name, width)| (named(name), width)).collect()
            }
        }
    }

    /// Ranges by name, or names without one.
    pub fn ranges(&self, name: &str) -> Vec<(String, Option<(f64, f64)>)> {
        let names = self.texts(name).into_iter().map(|name| (name, None));
        names.chain(self.members(name).map(|(name, value)| (name.to_owned(), range(value)))).collect()
    }

    /// Two names.
    pub fn names(&self, name: &str) -> Option<(String, String)> {
        match self.texts(name).as_slice() {
            [x, y] => Some((x.clone(), y.clone())),
            _ => None,
        }
    }

    /// Two whole numbers.
    pub fn places(&self, name: &str) -> Option<(usize, usize)> {
        let whole = |value: &Value| value.as_u64().and_then(|place| usize::try_from(place).ok());
        match self.items(name) {
            [x, y] => Some((whole(x)?, whole(y)?)),
            _ => None,
        }
    }

    /// Documents, or the files that they are in.
    pub fn documents(&self, name: &str) -> Vec<Value> {
        match self.value(name) {
            Value::Null => Vec::new(),
            Value::Array(values) => values.clone(),
            only => vec![only.clone()],
        }
    }

    /// The system.
    pub fn loading(&self) -> Loading {
        Loading { path: self.file("system"), ..self.changes() }
    }

    /// How a system is loaded, without its file.
    pub fn changes(&self) -> Loading {
        let replaces = self.values.contains_key("networks");
        Loading {
            path: PathBuf::new(),
            options: LowerOptions { overrides: self.settings("set"), ..LowerOptions::default() },
            networks: if replaces { self.named_paths("networks") } else { Vec::new() },
            colour: self.colour,
        }
    }

    /// The budget; its time runs from now on.
    pub fn effort(&self) -> Result<BudgetOptions, Failure> {
        let timeout = self.number("timeout");
        let memory =
            self.values.get("memory").and_then(Value::as_u64).map_or(BudgetOptions::default().memory, |megabytes| {
                usize::try_from(megabytes).unwrap_or(usize::MAX).saturating_mul(1 << 20)
            });
        Ok(BudgetOptions {
            deadline: deadline_after(timeout, "⟨timeout⟩")?,
            timeout,
            threads: self.whole("threads"),
            seed: self.value("seed").as_u64().unwrap_or(0),
            memory,
        })
    }

    /// What a query about networks is read from.
    pub fn asked(&self) -> QuerySource {
        QuerySource {
            file: self.file("file"),
            specification: self.path("specification"),
            networks: self.named_paths("networks"),
        }
    }
}
