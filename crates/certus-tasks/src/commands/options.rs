//! Options of commands: what they are called, what they take, and what several commands share.

use serde_json::Value;

/// What an option takes, as JSON has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The path of a `.certus` file.
    System,
    /// The path of a file.
    File,
    /// Paths of files.
    Files,
    /// A text.
    Text,
    /// Texts.
    Texts,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A number.
    Number,
    /// A whole number, at least this one.
    Count(u64),
    /// True or false.
    Flag,
    /// Numbers.
    Numbers,
    /// Lists of numbers.
    NumberLists,
    /// An object of finite numbers.
    Settings,
    /// An object of paths.
    Networks,
    /// A positive number, or an object of such; the name `""` is every other one.
    Widths,
    /// An object of pairs of numbers, or of nulls; or names.
    Ranges,
    /// Two different names.
    Names,
    /// Two different whole numbers.
    Places,
    /// The path of a JSON file, or a document.
    Document,
    /// Paths of JSON files, or documents.
    Documents,
}

fn all(value: &Value, accepts: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(accepts))
}

fn each(value: &Value, accepts: impl Fn(&Value) -> bool) -> bool {
    value.as_object().is_some_and(|values| values.values().all(accepts))
}

/// A number; what JSON cannot write is a text.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

/// The ends of a range.
pub(super) fn range(value: &Value) -> Option<(f64, f64)> {
    match value.as_array()?.as_slice() {
        [low, high] => Some((number(low)?, number(high)?)),
        _ => None,
    }
}

fn two_different(value: &Value) -> bool {
    value.as_array().is_some_and(|values| values.len() == 2 && values[0] != values[1])
}

impl Kind {
    /// Whether a value is of this kind.
    pub fn accepts(self, value: &Value) -> bool {
        let width = |value: &Value| value.as_f64().is_some_and(|width| width > 0.0);
        match self {
            Kind::System | Kind::File | Kind::Text => value.is_string(),
            Kind::Files | Kind::Texts => all(value, Value::is_string),
            Kind::Choice(choices) => value.as_str().is_some_and(|text| choices.contains(&text)),
            Kind::Number => number(value).is_some(),
            Kind::Count(least) => value.as_u64().is_some_and(|count| count >= least),
            Kind::Flag => value.is_boolean(),
            Kind::Numbers => all(value, |value| number(value).is_some()),
            Kind::NumberLists => all(value, |value| all(value, |value| number(value).is_some())),
            Kind::Settings => each(value, Value::is_number),
            Kind::Networks => each(value, Value::is_string),
            Kind::Widths => width(value) || each(value, width),
            Kind::Ranges => {
                all(value, Value::is_string) || each(value, |value| value.is_null() || range(value).is_some())
            }
            Kind::Names => two_different(value) && all(value, Value::is_string),
            Kind::Places => two_different(value) && all(value, Value::is_u64),
            Kind::Document => value.is_string() || value.is_object(),
            Kind::Documents => all(value, |value| value.is_string() || value.is_object()),
        }
    }

    /// What is expected, in words.
    pub fn words(self) -> String {
        match self {
            Kind::System => "a `.certus` file".to_owned(),
            Kind::File => "a file".to_owned(),
            Kind::Files => "files".to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::Texts => "texts".to_owned(),
            Kind::Choice(choices) => {
                choices.iter().map(|choice| format!("'{choice}'")).collect::<Vec<_>>().join(" or ")
            }
            Kind::Number => "a number".to_owned(),
            Kind::Count(0) => "a whole number that is not negative".to_owned(),
            Kind::Count(least) => format!("a whole number from {least} on"),
            Kind::Flag => "true or false".to_owned(),
            Kind::Numbers => "numbers".to_owned(),
            Kind::NumberLists => "lists of numbers".to_owned(),
            Kind::Settings => "finite numbers by name".to_owned(),
            Kind::Networks => "files by name".to_owned(),
            Kind::Widths => "a positive number, or positive numbers by name".to_owned(),
            Kind::Ranges => "names, or pairs of numbers by name".to_owned(),
            Kind::Names => "two different names".to_owned(),
            Kind::Places => "two different whole numbers".to_owned(),
            Kind::Document => "a file, or a document".to_owned(),
            Kind::Documents => "files or documents".to_owned(),
        }
    }

    /// The same as JSON for front ends that make code from it: the kind's name, and what it allows.
    pub fn to_json(self) -> Value {
        match self {
            Kind::Choice(choices) => serde_json::json!({"choice": choices}),
            Kind::Count(least) => serde_json::json!({"count": least}),
            other => format!("{other:?}").into(),
        }
    }
}

/// How an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By its place, before all others.
    First,
    /// By its place, as many as there are.
    Rest,
    /// By its name.
    Named,
}

/// An option of a command.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Its name; with `_` between words.
    pub name: &'static str,
    /// What the command line calls it, if not that.
    pub flag: Option<&'static str>,
    /// What it takes.
    pub kind: Kind,
    /// How it is given.
    pub place: Place,
    /// Its default as JSON; none if it must be given.
    pub default: Option<&'static str>,
    /// What it is.
    pub about: &'static str,
}

impl Opt {
    /// What must be given, by its place.
    pub(super) const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt { name, flag: None, kind, place: Place::First, default: None, about }
    }

    /// What may be given by its place.
    pub(super) const fn first(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt { name, flag: None, kind, place: Place::First, default: Some("null"), about }
    }

    /// Everything that is given by its place.
    pub(super) const fn rest(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt { name, flag: None, kind, place: Place::Rest, default: Some("[]"), about }
    }

    /// What is given by its name; `null` for a default that the command knows.
    pub(super) const fn named(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Opt {
        Opt { name, flag: None, kind, place: Place::Named, default: Some(default), about }
    }

    /// The same with a flag that has another name.
    pub(super) const fn flag(self, flag: &'static str) -> Opt {
        Opt { flag: Some(flag), ..self }
    }
}

/// A system that is loaded.
pub(super) const SYSTEM: &[Opt] =
    &[Opt::named("set", Kind::Settings, "{}", "Values of parameters of the system, by name"), NETWORKS];

/// Networks in place of others.
pub(super) const NETWORKS: Opt = Opt::named(
    "networks",
    Kind::Networks,
    "{}",
    "Networks in place of the system's, by the policy or action that applies them, or as the file writes them",
)
.flag("network");

/// What long work is worth.
pub(super) const EFFORT: &[Opt] = &[
    Opt::named("timeout", Kind::Number, "null", "Seconds after which the work stops, with what was found so far"),
    Opt::named(
        "threads",
        Kind::Count(0),
        "0",
        "How many threads; 0 for one per processor. Results do not depend on it",
    ),
    Opt::named("seed", Kind::Count(0), "0", "Seed of the random numbers; the same seed gives the same result"),
];

/// What a search may grow to.
pub(super) const MEMORY: &[Opt] =
    &[Opt::named("memory", Kind::Count(0), "4096", "Megabytes that the open subproblems of a search may take")];

/// What a question about networks is read from.
pub(super) const ASKED: &[Opt] = &[
    Opt::needed(
        "file",
        Kind::File,
        "The network (`.onnx`, `.nnet`); or a `.query` file; or, with `networks`, the specification",
    ),
    Opt::first("specification", Kind::File, "The specification: a `.vnnlib` file, also compressed as `.vnnlib.gz`"),
    Opt::named("networks", Kind::Networks, "{}", "Networks that the specification declares, by name (VNN-LIB 2.0)")
        .flag("network"),
];
