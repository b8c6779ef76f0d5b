//! Options of commands: what they are called, and what they take.

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
    /// A linear expression: a text that may begin with a minus sign.
    Expression,
    /// Texts.
    Texts,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A number.
    Number,
    /// A whole number, at least this one.
    Count(u64),
    /// A whole number from the first to the second.
    Within(u64, u64),
    /// True or false.
    Flag,
    /// Numbers.
    Numbers,
    /// Lists of finite numbers.
    NumberLists,
    /// Finite numbers by name: an object, or pairs, which may repeat a name.
    Settings,
    /// Paths by name, likewise.
    Networks,
    /// A positive number, or such numbers by name; the name `""` is every other one.
    Widths,
    /// Pairs of numbers, or nulls, by name; or names.
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
    members(value).is_some_and(|members| members.into_iter().all(|(_, value)| accepts(value)))
}

/// Values by name: an object, or pairs.
pub(super) fn members(value: &Value) -> Option<Vec<(&str, &Value)>> {
    let pair = |pair: &'_ Value| pair.as_array().is_some_and(|pair| pair.len() == 2 && pair[0].is_string());
    match value {
        Value::Object(members) => Some(members.iter().map(|(name, value)| (name.as_str(), value)).collect()),
        Value::Array(pairs) if pairs.iter().all(pair) => {
            Some(pairs.iter().map(|pair| (pair[0].as_str().unwrap_or_default(), &pair[1])).collect())
        }
        _ => None,
    }
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
            Kind::System | Kind::File | Kind::Text | Kind::Expression => value.is_string(),
            Kind::Files | Kind::Texts => all(value, Value::is_string),
            Kind::Choice(choices) => value.as_str().is_some_and(|text| choices.contains(&text)),
            Kind::Number => number(value).is_some(),
            Kind::Count(least) => value.as_u64().is_some_and(|count| count >= least),
            Kind::Within(least, most) => value.as_u64().is_some_and(|count| (least..=most).contains(&count)),
            Kind::Flag => value.is_boolean(),
            Kind::Numbers => all(value, |value| number(value).is_some()),
            Kind::NumberLists => all(value, |value| all(value, Value::is_number)),
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

    /// Whether its values add up to one list, one after the other.
    pub fn is_list(self) -> bool {
        use Kind::{Documents, Files, Networks, NumberLists, Ranges, Settings, Texts, Widths};
        matches!(self, Files | Texts | Documents | NumberLists | Settings | Networks | Widths | Ranges)
    }

    /// What is expected, in words.
    pub fn words(self) -> String {
        match self {
            Kind::System => "a `.certus` file".to_owned(),
            Kind::File => "a file".to_owned(),
            Kind::Files => "files".to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::Expression => "a linear expression".to_owned(),
            Kind::Texts => "texts".to_owned(),
            Kind::Choice(choices) => {
                choices.iter().map(|choice| format!("'{choice}'")).collect::<Vec<_>>().join(" or ")
            }
            Kind::Number => "a number".to_owned(),
            Kind::Count(0) => "a whole number that is not negative".to_owned(),
            Kind::Count(least) => format!("a whole number of at least {least}"),
            Kind::Within(least, most) => format!("a whole number from {least} to {most}"),
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
            Kind::Count(least) | Kind::Within(least, _) => serde_json::json!({"count": least}),
            Kind::Expression => "Text".into(),
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
    /// What the command line calls it, if not that; one letter for a short flag beside the name. What Python takes by
    /// its place is a flag on the command line if it has one.
    pub flag: Option<&'static str>,
    /// A short flag that messages do not use.
    pub short: Option<char>,
    /// An older name of the flag.
    pub alias: Option<&'static str>,
    /// What help calls its value, if not what the kind says.
    pub value: Option<&'static str>,
    /// What it takes.
    pub kind: Kind,
    /// How it is given.
    pub place: Place,
    /// Its default as JSON; none if it must be given.
    pub default: Option<&'static str>,
    /// What it is, in a phrase without a full stop. Texts name options between `⟨` and `⟩`, as [`crate::Failure`] does.
    pub about: &'static str,
    /// Sentences for whoever wants to know more.
    pub details: &'static str,
    /// The option without which it would be ignored.
    pub needs: Option<&'static str>,
    /// Options that it cannot be combined with.
    pub excludes: &'static [&'static str],
}

impl Opt {
    const fn new(
        name: &'static str,
        kind: Kind,
        place: Place,
        default: Option<&'static str>,
        about: &'static str,
    ) -> Opt {
        let (flag, short, alias, value, needs) = (None, None, None, None, None);
        Opt { name, flag, short, alias, value, kind, place, default, about, details: "", needs, excludes: &[] }
    }

    /// Whether it is a flag on the command line.
    pub fn is_flag(&self) -> bool {
        self.place == Place::Named || self.flag.is_some()
    }

    /// What must be given, by its place.
    pub const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt::new(name, kind, Place::First, None, about)
    }

    /// What may be given by its place.
    pub const fn first(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt::new(name, kind, Place::First, Some("null"), about)
    }

    /// Everything that is given by its place.
    pub const fn rest(name: &'static str, kind: Kind, about: &'static str) -> Opt {
        Opt::new(name, kind, Place::Rest, Some("[]"), about)
    }

    /// What is given by its name; `null` for a default that the command knows.
    pub const fn named(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Opt {
        Opt::new(name, kind, Place::Named, Some(default), about)
    }

    /// A file that may be named.
    pub const fn file(name: &'static str, about: &'static str) -> Opt {
        Opt::named(name, Kind::File, "null", about)
    }

    /// Something that is done or not.
    pub const fn switch(name: &'static str, about: &'static str) -> Opt {
        Opt::named(name, Kind::Flag, "false", about)
    }

    /// The same without a default.
    pub const fn required(self) -> Opt {
        Opt { default: None, ..self }
    }

    /// The same with a flag that has another name.
    pub const fn flag(self, flag: &'static str) -> Opt {
        Opt { flag: Some(flag), ..self }
    }

    /// The same with a short flag.
    pub const fn short(self, short: char) -> Opt {
        Opt { short: Some(short), ..self }
    }

    /// The same with an older name of its flag.
    pub const fn alias(self, alias: &'static str) -> Opt {
        Opt { alias: Some(alias), ..self }
    }

    /// The same with another name for its value.
    pub const fn value(self, value: &'static str) -> Opt {
        Opt { value: Some(value), ..self }
    }

    /// The same with more to read.
    pub const fn details(self, details: &'static str) -> Opt {
        Opt { details, ..self }
    }

    /// The same, of use only with another option.
    pub const fn needs(self, needs: &'static str) -> Opt {
        Opt { needs: Some(needs), ..self }
    }

    /// The same, not to be combined with others.
    pub const fn excludes(self, excludes: &'static [&'static str]) -> Opt {
        Opt { excludes, ..self }
    }
}
