//! Commands of the table that the command line has no words of its own for: flags from their options, their document as output.

use certus_documents::Number;
use certus_tasks::commands::{self, COMMANDS, Kind, Opt, Place, Session};
use certus_tasks::{Files, Loading};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use crate::Finding;
use crate::arguments::values::{parse_names, parse_network, parse_region, parse_setting, parse_width};
use crate::commands::stop_on_interrupt;
use crate::failure::{Dialect, Failure};
use crate::output::Output;
use crate::progress::LiveLine;

/// The command line with a subcommand for every command of the table that it does not have yet.
pub fn with_every_command(arguments: Command) -> Command {
    let missing =
        COMMANDS.iter().filter(|own| arguments.find_subcommand(own.name).is_none() && !own.name.contains('_'));
    let missing: Vec<Command> = missing.map(|own| subcommand(own)).collect();
    arguments.subcommands(missing)
}

fn subcommand(own: &commands::Command) -> Command {
    let flag = |name: &'static str, short: char, help: &'static str| {
        Arg::new(name).long(name).short(short).action(ArgAction::SetTrue).help(help)
    };
    let mut made = Command::new(own.name)
        .about(own.about.split_once(". ").map_or(own.about, |(first, _)| first))
        .long_about(own.about)
        .after_help(format!("Examples:\n  {}", own.example))
        .arg(
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("The document, which is written in any case"),
        )
        .arg(flag("quiet", 'q', "No progress, no notes"));
    if own.options().all(|option| option.name != "output") {
        let help = "Writes the result to a file, whole or not at all";
        made = made.arg(Arg::new("output").long("output").short('o').value_name("FILE").help(help));
    }
    made.args(own.options().map(argument))
}

fn argument(option: &'static Opt) -> Arg {
    let called = option.flag.filter(|flag| flag.len() > 1).unwrap_or(option.name);
    let name = lasting(called.replace('_', "-"));
    let made = Arg::new(option.name).help(option.about).required(option.default.is_none());
    match (option.place, option.kind) {
        (Place::First, _) => made.value_name(lasting(called.to_uppercase())),
        (Place::Rest, _) => made.value_name(lasting(called.to_uppercase())).num_args(0..),
        (Place::Named, Kind::Flag) => made.long(name).action(ArgAction::SetTrue),
        (Place::Named, kind) => made
            .long(name)
            .allow_hyphen_values(true)
            .value_name(value_name(kind))
            .action(ArgAction::Append)
            .value_delimiter(matches!(kind, Kind::Ranges | Kind::Widths).then_some(',')),
    }
}

/// A text for the rest of the process, as its arguments want it.
fn lasting(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn value_name(kind: Kind) -> &'static str {
    match kind {
        Kind::System | Kind::File | Kind::Files | Kind::Document | Kind::Documents => "FILE",
        Kind::Text | Kind::Texts => "TEXT",
        Kind::Choice(_) => "CHOICE",
        Kind::Number => "NUMBER",
        Kind::Count(_) => "N",
        Kind::Flag => "",
        Kind::Numbers | Kind::NumberLists => "X1,X2,…",
        Kind::Settings => "NAME=VALUE",
        Kind::Networks => "NAME=FILE",
        Kind::Widths => "[NAME=]WIDTH",
        Kind::Ranges => "NAME[=A..B],…",
        Kind::Names => "X,Y",
        Kind::Places => "I,J",
    }
}

/// The texts of an option as JSON.
fn value(kind: Kind, texts: &[&String]) -> Result<Value, String> {
    let number = |text: &str| {
        text.trim().parse::<f64>().map(|own| Number(own).into()).map_err(|_| format!("'{text}' is no number"))
    };
    let whole =
        |text: &str| text.trim().parse::<u64>().map(Value::from).map_err(|_| format!("'{text}' is no whole number"));
    let numbers = |text: &str| text.split(',').map(number).collect::<Result<Value, String>>();
    let only = || texts.last().map_or("", |text| text.as_str());
    Ok(match kind {
        Kind::System | Kind::File | Kind::Text | Kind::Choice(_) | Kind::Document => only().into(),
        Kind::Files | Kind::Texts | Kind::Documents => texts.iter().map(|text| Value::from(text.as_str())).collect(),
        Kind::Flag => true.into(),
        Kind::Number => number(only())?,
        Kind::Count(_) => whole(only())?,
        Kind::Numbers => numbers(only())?,
        Kind::NumberLists => texts.iter().map(|text| numbers(text)).collect::<Result<Value, String>>()?,
        Kind::Settings => {
            let named = texts.iter().map(|text| parse_setting(text).map(|(name, value)| (name, Number(value).into())));
            named.collect::<Result<Map<String, Value>, String>>()?.into()
        }
        Kind::Networks => {
            let named = |text: &&String| parse_network(text).map(|(name, path)| (name, path.to_string_lossy().into()));
            texts.iter().map(named).collect::<Result<Map<String, Value>, String>>()?.into()
        }
        Kind::Widths => {
            let named =
                |text: &&String| parse_width(text).map(|(name, width)| (name.unwrap_or_default(), width.into()));
            texts.iter().map(named).collect::<Result<Map<String, Value>, String>>()?.into()
        }
        Kind::Ranges => {
            let ends = |(low, high)| Value::from(vec![Value::from(Number(low)), Number(high).into()]);
            let named = |text: &&String| parse_region(text).map(|(name, range)| (name, range.map(ends).into()));
            texts.iter().map(named).collect::<Result<Map<String, Value>, String>>()?.into()
        }
        Kind::Names => parse_names(only()).map(|(x, y)| Value::from(vec![x, y]))?,
        Kind::Places => only().split(',').map(whole).collect::<Result<Value, String>>()?,
    })
}

/// Runs a command of the table with its flags.
pub fn run(name: &str, matches: &ArgMatches) -> Result<Finding, Failure> {
    let Some(own) = COMMANDS.iter().find(|own| own.name == name) else {
        return Err(Failure::message(format!("there is no command '{name}'")));
    };
    let mut options = Map::new();
    for option in own.options() {
        let given = match option.kind {
            Kind::Flag => Some(Vec::new()).filter(|_| matches.get_flag(option.name)),
            _ => matches.get_many::<String>(option.name).map(Iterator::collect),
        };
        if let Some(texts) = given {
            let wrong = |error: String| Failure::message(format!("⟨{}⟩: {error}", option.name));
            options.insert(option.name.to_owned(), value(option.kind, &texts).map_err(wrong)?);
        }
    }
    let output = match own.options().any(|option| option.name == "output") {
        true => None,
        false => matches.get_one::<String>("output"),
    };
    files(own, &options).writes("-o", output).ready()?;
    let quiet = matches.get_flag("quiet");
    let mut line = LiveLine::new(quiet);
    let mut tell = |progress: &dyn Fn() -> Value| {
        line.show(|| progress()["text"].as_str().unwrap_or_default().to_owned());
    };
    let answer = commands::run(name, options, &mut Session { stop: stop_on_interrupt()?, tell: &mut tell })?;
    drop(line);
    let mut output = Output::open(output.map(String::as_ref))?;
    answer.document.write_indented(&mut output)?;
    output.finish()?;
    for note in answer.notes.iter().filter(|_| !quiet) {
        eprintln!("note: {}", Dialect::Flags.word(note));
    }
    Ok(finding(&answer.document.to_value()?))
}

/// Every file that is named: none of them may be written over.
fn files(own: &commands::Command, options: &Map<String, Value>) -> Files {
    let mut files = Files::new();
    for option in own.options() {
        let Some(value) = options.get(option.name) else { continue };
        let paths: Vec<&str> = match value {
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            Value::Object(values) => values.values().filter_map(Value::as_str).collect(),
            value => value.as_str().into_iter().collect(),
        };
        files = match option.kind {
            Kind::System => {
                let loading = |path: &&str| Loading { path: (*path).into(), ..Loading::default() };
                paths.iter().map(loading).fold(files, |files, own| files.reads_system(&own))
            }
            Kind::File | Kind::Files | Kind::Networks | Kind::Document | Kind::Documents => {
                files.reads(&format!("⟨{}⟩", option.name), paths)
            }
            _ => files,
        };
    }
    files
}

/// The worst verdict that a document has anywhere.
fn finding(document: &Value) -> Finding {
    let inner: Vec<Finding> = match document {
        Value::Array(values) => values.iter().map(finding).collect(),
        Value::Object(members) => {
            let own = match members.get("verdict").and_then(Value::as_str) {
                Some("violated" | "violated at a value" | "rejected" | "unsafe") => Finding::Violated,
                Some("model error" | "failed") => Finding::ModelError,
                Some("unknown" | "open" | "timeout") => Finding::Undecided,
                _ => Finding::Good,
            };
            members.values().map(finding).chain([own]).collect()
        }
        _ => return Finding::Good,
    };
    let order = [Finding::Violated, Finding::ModelError, Finding::Undecided];
    order.into_iter().find(|finding| inner.contains(finding)).unwrap_or(Finding::Good)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_values_of_their_kinds() {
        let read = |kind: Kind, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let read = value(kind, &texts.iter().collect::<Vec<_>>());
            if let Ok(value) = &read {
                assert!(kind.accepts(value), "{kind:?}: {value}");
            }
            read
        };
        assert_eq!(read(Kind::Ranges, &["a=1..2", "b"]), Ok(json!({"a": [1.0, 2.0], "b": null})));
        assert_eq!(read(Kind::Widths, &["0.5", "p=0.1"]), Ok(json!({"": 0.5, "p": 0.1})));
        assert_eq!(read(Kind::Settings, &["m=1.5"]), Ok(json!({"m": 1.5})));
        assert_eq!(read(Kind::NumberLists, &["1,0", "2,-1"]), Ok(json!([[1.0, 0.0], [2.0, -1.0]])));
        assert_eq!(read(Kind::Places, &["0,1"]), Ok(json!([0, 1])));
        assert_eq!(read(Kind::Files, &["a", "b"]), Ok(json!(["a", "b"])));
        for (kind, text) in [(Kind::Number, "x"), (Kind::Count(0), "-1"), (Kind::Networks, "f"), (Kind::Names, "p")] {
            assert!(read(kind, &[text]).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn the_worst_verdict_counts() {
        assert_eq!(finding(&json!({"results": [{"verdict": "holds"}, {"verdict": "unknown"}]})), Finding::Undecided);
        assert_eq!(finding(&json!({"regions": [{"cells": [{"verdict": "violated at a value"}]}]})), Finding::Violated);
        assert_eq!(finding(&json!({"sat": 1})), Finding::Good);
    }
}
