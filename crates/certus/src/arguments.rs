//! The command line, made from the table of commands: flags and help out of options, and options out of flags.

use certus_tasks::commands::{Kind, Opt, Request};
use certus_tasks::failure::Dialect;
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, ValueHint};
use clap_complete::Shell;
use serde_json::{Map, Value};

use crate::commands::{Face, faces};
use crate::failure::Failure;
use crate::terminal::colourful_messages;
use crate::values::parser;

const ABOUT: &str = "Certus predicts what a trained network will do in the system around it";

const LONG_ABOUT: &str = "\
Certus predicts what a trained network will do in the system around it.

You describe the system in a `.certus` file: its state, the network that controls it, its environment, and its \
requirements. Networks are ONNX or NNet files.";

const AFTER_HELP: &str = "\
Exit codes: 0 success; 1 a property is violated; 2 bad input or usage, or a run left the model;
3 undecided within the budget.

Examples:
  certus inspect zoo/pendulum/pendulum.certus
  certus check zoo/toy/toy.certus
  certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500
  certus fmt --check zoo/*/*.certus";

/// The whole command line.
pub fn whole() -> Command {
    let flag = |name: &'static str, action: ArgAction, help: &'static str| {
        // After the flags of a command.
        Arg::new(name).long(name).global(true).action(action).help(help).display_order(900)
    };
    let stats = "Print time by phase and counts of the engines to standard error";
    let verbose = "Log the decisions of the engines to standard error; `-vv` logs more";
    let whole = Command::new("certus")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(AFTER_HELP)
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(flag("stats", ArgAction::SetTrue, stats))
        .arg(flag("verbose", ArgAction::Count, verbose).short('v'));
    let whole = faces().iter().fold(whole, |whole, face| match face.command.name.split_once('_') {
        None => whole.subcommand(subcommand(face.command.name, face)),
        Some((outer, inner)) => whole.mut_subcommand(outer, |outer| {
            let inner = subcommand(inner, face);
            outer.subcommand(inner).args_conflicts_with_subcommands(true).subcommand_negates_reqs(true)
        }),
    });
    whole.subcommand(completions())
}

fn completions() -> Command {
    Command::new("completions")
        .about("Generate a completion script for a shell")
        .arg(
            Arg::new("shell").value_name("SHELL").required(true).value_parser(clap::value_parser!(Shell)).help("Shell"),
        )
        .after_help(
            "Examples:
  certus completions bash > ~/.local/share/bash-completion/completions/certus
  certus completions zsh > ~/.zfunc/_certus
  certus completions fish > ~/.config/fish/completions/certus.fish",
        )
}

/// A text about options as the command line words it.
fn worded(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    Dialect::Flags.word(&texts.join("\n\n"))
}

fn subcommand(name: &'static str, face: &Face) -> Command {
    let own = face.command;
    let options = face.options();
    let group = ArgGroup::new("one of").args(own.one_of).required(!own.one_of.is_empty());
    Command::new(name)
        .about(worded(&[own.about]))
        .long_about(worded(&[own.about, own.details, own.command_line]))
        .after_help(format!("Examples:\n  {}", own.examples.join("\n  ")))
        .args(options.iter().map(|option| argument(option, &options)))
        .groups((!own.one_of.is_empty()).then_some(group))
}

fn argument(option: &Opt, others: &[&Opt]) -> Arg {
    let kind = option.kind;
    let conflicts = option.excludes.iter().filter(|name| others.iter().any(|other| other.name == **name));
    // Where a program gives a list, people repeat the flag.
    let repeated = if option.is_flag() && kind.is_list() { "; may be repeated" } else { "" };
    let about = format!("{}{repeated}", option.about);
    let mut made = Arg::new(option.name)
        .help(worded(&[&about]))
        .long_help(worded(&[&about, option.details]))
        .required(option.default.is_none())
        .conflicts_with_all(conflicts);
    if let Some(other) = option.needs {
        made = made.requires(other);
    }
    if option.is_flag() {
        let flag = option.flag.unwrap_or(option.name);
        let is_letter = flag.len() == 1;
        made = made
            .long(if is_letter { option.name } else { flag }.replace('_', "-"))
            .short(option.short.or(flag.chars().next().filter(|_| is_letter)))
            .alias(option.alias);
        if kind == Kind::Flag {
            return made.action(ArgAction::SetTrue);
        }
    }
    let default = option.default.map(|text| text.trim_matches('"')).filter(|text| !["null", "[]", "{}"].contains(text));
    let separated = matches!(kind, Kind::Widths | Kind::Ranges) || kind == Kind::Texts && option.is_flag();
    let several = kind == Kind::Files || !option.is_flag() && kind.is_list();
    let folder = option.value == Some("FOLDER");
    made.value_name(value_name(option))
        .value_parser(parser(kind))
        .default_value(default)
        .value_delimiter(separated.then_some(','))
        .action(if kind.is_list() { ArgAction::Append } else { ArgAction::Set })
        .num_args(if several { ValueRange::from(1..) } else { ValueRange::SINGLE })
        .allow_negative_numbers(kind == Kind::Number)
        .allow_hyphen_values(matches!(kind, Kind::Numbers | Kind::NumberLists | Kind::Expression))
        .value_hint(match kind {
            Kind::File if folder => ValueHint::DirPath,
            Kind::System | Kind::File | Kind::Files | Kind::Document | Kind::Documents => ValueHint::AnyPath,
            _ => ValueHint::Unknown,
        })
}

/// What help calls the value of an option.
fn value_name(option: &Opt) -> String {
    let by_kind = match option.kind {
        _ if option.value.is_some() => option.value.unwrap_or_default(),
        _ if !option.is_flag() => "",
        Kind::System | Kind::File | Kind::Files | Kind::Document | Kind::Documents => "FILE",
        Kind::Text | Kind::Texts => "NAME",
        Kind::Expression => "EXPRESSION",
        Kind::Count(_) | Kind::Within(..) => "N",
        Kind::Numbers | Kind::NumberLists => "X1,X2,…",
        Kind::Settings => "NAME=VALUE",
        Kind::Networks => "NAME=FILE",
        Kind::Widths => "[NAME=]WIDTH",
        Kind::Ranges => "NAME[=LOW..HIGH],…",
        Kind::Names => "X,Y",
        Kind::Places => "I,J",
        Kind::Number | Kind::Choice(_) | Kind::Flag => "",
    };
    if by_kind.is_empty() { option.name.to_uppercase() } else { by_kind.to_owned() }
}

/// The name of the command that was called, with `_` between words, and its flags.
pub fn called(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut name, mut own) = (String::new(), matches);
    while let Some((inner, matches)) = own.subcommand() {
        name = if name.is_empty() { inner.to_owned() } else { format!("{name}_{inner}") };
        own = matches;
    }
    (name, own)
}

/// The options of a call.
pub fn request(face: &Face, matches: &ArgMatches) -> Result<Request, Failure> {
    let options = face.options();
    let mut given = Map::new();
    for option in &options {
        let value = match option.kind {
            Kind::Flag => matches.get_flag(option.name).into(),
            kind => {
                let Some(values) = matches.get_many::<Value>(option.name) else { continue };
                let mut values: Vec<Value> = values.cloned().collect();
                if kind.is_list() { Value::Array(values) } else { values.pop().unwrap_or_default() }
            }
        };
        given.insert(option.name.to_owned(), value);
    }
    let mut request = Request::new(face.command, &options, given)?;
    request.colour = colourful_messages();
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        whole().debug_assert();
    }

    #[test]
    fn examples_of_the_help_are_understood() {
        fn examples(command: &Command) -> Vec<String> {
            let own = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let own = own.lines().map(str::trim).filter(|line| line.starts_with("certus ")).map(str::to_owned);
            own.chain(command.get_subcommands().flat_map(examples)).collect()
        }
        let mut whole = whole();
        whole.build();
        let lines = examples(&whole);
        assert!(lines.len() > 50, "{lines:?}");
        for line in lines {
            let parts = line.split('\'').enumerate();
            let words = parts
                .flat_map(|(place, part)| if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
            // What follows is for a shell.
            let words = words.take_while(|word| !["|", ">", "<"].contains(word));
            let understood = whole.clone().try_get_matches_from(words);
            assert!(
                understood.is_ok(),
                "{line}: {}",
                understood.err().map(|error| error.to_string()).unwrap_or_default()
            );
        }
    }
}
