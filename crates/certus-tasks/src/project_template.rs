//! Starts a system file: from a network, from the spaces of an environment, or from both.
//!
//! What the plant does is in neither. So the environment moves what the network sees, by a little at every step: a model
//! of which everything that is proved holds for every plant that is as slow. The file loads, runs and can be checked
//! as it stands; its one property is a range of the outputs that interval arithmetic already shows.

use std::fmt::Write;
use std::path::Path;

use certus_graph::eval::enclose;
use certus_graph::import::load_network;
use certus_graph::{Graph, Interval};
use serde_json::Value;

use crate::failure::Failure;

/// What a system file is started from.
#[derive(Clone, Debug, Default)]
pub struct Start<'s> {
    /// The network, as the system file will name it, and where it is.
    pub network: Option<(String, &'s Path)>,
    /// The spaces of an environment.
    pub spaces: Option<Spaces>,
    /// Labels, if the network scores them and the greatest score decides.
    pub labels: Vec<String>,
    /// The system's name; otherwise that of the environment or of the network.
    pub name: Option<String>,
}

/// The spaces of an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Spaces {
    /// The environment's name.
    pub name: String,
    /// The ends of each number that is observed.
    pub observation: Vec<(f64, f64)>,
    /// Whether some of them has no end, and got one.
    pub ends_given: bool,
    /// What is done.
    pub action: Acting,
}

/// What an environment lets one do.
#[derive(Clone, Debug, PartialEq)]
pub enum Acting {
    /// One of so many things.
    Discrete(usize),
    /// Numbers between ends.
    Box(Vec<(f64, f64)>),
}

/// How far an observation goes that has no ends.
const FAR: f64 = 10.0;

/// Reads the spaces of an environment:
/// `{"name": …, "observation": {"low": […], "high": […]}, "action": {"n": 2} or {"low": […], "high": […]}}`.
/// Ends that are `null` or beyond `1e30` are none.
pub fn read_spaces(text: &str) -> Result<Spaces, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let ends = |space: &Value, key: &str| -> Result<Vec<Option<f64>>, String> {
        let list =
            space.get(key).and_then(Value::as_array).ok_or_else(|| format!("`{key}` must be a list of numbers"))?;
        let end = |value: &Value| match value {
            Value::Null => Ok(None),
            Value::Number(number) => Ok(number.as_f64().filter(|end| end.abs() < 1e30)),
            other => Err(format!("`{key}`: {other} is no number")),
        };
        list.iter().map(end).collect()
    };
    let space = |space: &Value| -> Result<Vec<(f64, f64)>, String> {
        let (low, high) = (ends(space, "low")?, ends(space, "high")?);
        if low.len() != high.len() || low.is_empty() {
            return Err("`low` and `high` must have the same length, and not be empty".to_owned());
        }
        let pair = |(low, high): (&Option<f64>, &Option<f64>)| match (*low, *high) {
            (Some(low), Some(high)) if low < high => Ok((low, high)),
            (Some(low), Some(high)) => Err(format!("{low} is not below {high}")),
            (Some(low), None) => Ok((low, low.max(0.0) + FAR)),
            (None, Some(high)) => Ok((high.min(0.0) - FAR, high)),
            (None, None) => Ok((-FAR, FAR)),
        };
        low.iter().zip(&high).map(pair).collect()
    };
    let part = |key: &str| document.get(key).ok_or_else(|| format!("`{key}` is missing"));
    let (observation, action) = (part("observation")?, part("action")?);
    let acting = match action.get("n") {
        Some(n) => match n.as_u64().filter(|n| (2..=10_000).contains(n)) {
            Some(n) => Acting::Discrete(n as usize),
            None => return Err("action: `n` must be a number from 2 to 10000".to_owned()),
        },
        None => Acting::Box(space(action).map_err(|error| format!("action: {error}"))?),
    };
    let no_end = |key: &str| ends(observation, key).is_ok_and(|ends| ends.contains(&None));
    Ok(Spaces {
        ends_given: no_end("low") || no_end("high"),
        name: document.get("name").and_then(Value::as_str).unwrap_or("environment").to_owned(),
        observation: space(observation).map_err(|error| format!("observation: {error}"))?,
        action: acting,
    })
}

/// Words that a system, or a label, cannot be called.
const RESERVED: &[&str] = &[
    "system", "const", "param", "state", "input", "chance", "policy", "action", "define", "init", "assume", "next",
    "der", "step", "reward", "terminal", "property", "expect", "if", "then", "else", "match", "of", "in", "true",
    "false", "G", "F", "X", "U", "W", "R", "P", "Pmin", "Pmax", "pi", "dt", "seen", "move", "drift", "scores", "act",
    "for", "net",
];

/// A name of the language that looks like a text.
pub(crate) fn identifier(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = text.chars().map(plain).collect();
    let name = name.trim_matches('_').to_owned();
    match name.chars().next() {
        None => "system_1".to_owned(),
        Some(first) if first.is_ascii_digit() || RESERVED.contains(&name.as_str()) => format!("the_{name}"),
        Some(_) => name,
    }
}

/// The text of the file, in canonical form but for blank lines.
pub fn project_template(start: &Start<'_>) -> Result<String, Failure> {
    let graph = match &start.network {
        None => None,
        Some((_, path)) => Some(load_network(path).map_err(|error| Failure::message(error.to_string()))?),
    };
    let wanted: Option<usize> =
        graph.as_ref().map(|graph| graph.inputs().iter().map(|port| graph.elements(port.node)).sum());
    let seen: Vec<(f64, f64)> = match (&start.spaces, wanted) {
        (Some(spaces), Some(wanted)) if spaces.observation.len() != wanted => {
            let found = spaces.observation.len();
            return Err(Failure::message(format!(
                "the network takes {wanted} numbers, and {} shows {found}: they do not belong together",
                spaces.name
            )));
        }
        (Some(spaces), _) => spaces.observation.clone(),
        (None, Some(wanted)) => vec![(-1.0, 1.0); wanted],
        (None, None) => return Err(Failure::message("name a network, or the spaces of an environment with ⟨spaces⟩")),
    };
    let own =
        start.network.as_ref().and_then(|(name, _)| Path::new(name).file_stem()).map(|stem| stem.to_string_lossy());
    let name = start.name.as_deref().or(start.spaces.as_ref().map(|own| own.name.as_str())).or(own.as_deref());
    let name = identifier(name.unwrap_or("system_1"));
    let count = seen.len();
    let mut text = String::new();
    let about = start.network.as_ref().map_or_else(
        || format!("A system like {name}, with any policy"),
        |(file, _)| format!("A system around {file}"),
    );
    let _ = writeln!(text, "/// {about}: what is seen, what is done, what must hold.\nsystem {name}\n");
    let _ = writeln!(
        text,
        "/// How far an observation moves in one step, as a share of its range.\nparam drift in [0, 1] = 0.05\n"
    );
    let (low, high) = (vector(seen.iter().map(|own| own.0)), vector(seen.iter().map(|own| own.1)));
    let width = vector(seen.iter().map(|own| own.1 - own.0));
    let _ = writeln!(
        text,
        "/// What the policy sees: {count} number{}.\nstate seen[{count}] in [{low}, {high}]\n",
        plural(count)
    );
    if start.spaces.as_ref().is_some_and(|spaces| spaces.ends_given) {
        let _ = writeln!(
            text,
            "// Where the environment names no end, {FAR} is taken; a run that goes farther is reported.\n"
        );
    }
    let (property, hint) = acting(start, graph.as_ref(), &seen, &mut text)?;
    let _ = writeln!(
        text,
        "// The plant. As it stands, the environment moves every observation as it likes, but slowly, whatever the"
    );
    let _ = writeln!(
        text,
        "// policy does: what holds here holds for every plant that is as slow. Equations of yours go in its place,"
    );
    let _ = writeln!(text, "// such as `next seen[0] = seen[0] + {hint}`.");
    let _ = writeln!(
        text,
        "input move[{count}] in [-1, 1]\nnext seen = clamp(seen + drift * {width} * move, {low}, {high})\n"
    );
    let _ = writeln!(text, "// Runs begin in the middle tenth of the ranges.");
    let inner = |share: f64| vector(seen.iter().map(|(low, high)| rounded(low + share * (high - low))));
    let _ = writeln!(text, "init all(seen in [{}, {}])\n", inner(0.45), inner(0.55));
    text.push_str(&property);
    Ok(text)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// One number where all are the same, else a list.
fn vector(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let written = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value}") };
    match values.iter().all(|value| *value == values[0]) {
        true => written(values[0]),
        false => format!("[{}]", values.iter().map(|value| written(*value)).collect::<Vec<_>>().join(", ")),
    }
}

/// A number without the noise of binary fractions.
fn rounded(value: f64) -> f64 {
    format!("{value:.9}").parse().unwrap_or(value)
}

/// A term for what labels do, and for what numbers do.
fn pushed(labels: &[String]) -> String {
    format!("match act {{ {}: -0.1, _: 0.1 }}", labels[0])
}

const SCALED: &str = "0.1 * act[0]";

/// What is done, into the text; returns the properties about it, and a term of it as an example.
fn acting(
    start: &Start<'_>,
    graph: Option<&Graph>,
    seen: &[(f64, f64)],
    text: &mut String,
) -> Result<(String, String), Failure> {
    let Some(graph) = graph else {
        match start.spaces.as_ref().map(|spaces| &spaces.action) {
            Some(Acting::Box(ends)) => {
                let (low, high) = (vector(ends.iter().map(|own| own.0)), vector(ends.iter().map(|own| own.1)));
                let _ = writeln!(
                    text,
                    "/// What is done: anything that the environment allows, for any policy.\ninput act[{}] in [{low}, {high}]\n",
                    ends.len()
                );
                let property = format!("property actions_in_range = G all(act in [{low}, {high}])\n");
                return Ok((format!("/// Every action is in its range.\n{property}"), SCALED.to_owned()));
            }
            Some(Acting::Discrete(n)) => {
                let labels = labels(start, *n)?;
                let even: Vec<String> = labels.iter().map(|label| format!("{label}: 1 / {n}")).collect();
                let _ = writeln!(
                    text,
                    "/// What is done: each with the same probability, as an untrained policy would.\nchance act of {{ {} }}\n",
                    even.join(", ")
                );
                return Ok((repeats(&labels), pushed(&labels)));
            }
            None => return Err(Failure::message("name a network, or the spaces of an environment with ⟨spaces⟩")),
        }
    };
    let Some((file, _)) = &start.network else { return Err(Failure::message("the network has no name")) };
    let scores: usize = graph.outputs().iter().map(|port| graph.elements(port.node)).sum();
    let discrete = match (start.spaces.as_ref().map(|own| &own.action), start.labels.len()) {
        (Some(Acting::Discrete(n)), _) => Some(*n),
        (_, 0) => None,
        (_, given) => Some(given),
    };
    let expected = match start.spaces.as_ref().map(|own| &own.action) {
        Some(Acting::Box(ends)) if start.labels.is_empty() => Some(ends.len()),
        _ => discrete,
    };
    if let Some(expected) = expected.filter(|expected| *expected != scores) {
        return Err(Failure::message(format!(
            "the network gives {scores} number{}, and {expected} would be needed",
            plural(scores)
        )));
    }
    let quoted = file.replace('\\', "\\\\").replace('"', "\\\"");
    let applied = format!("net(\"{quoted}\", seen)");
    let range = output_range(graph, seen)?;
    let of = |name: &str, range: &[(f64, f64)]| {
        let (low, high) = (vector(range.iter().map(|own| own.0)), vector(range.iter().map(|own| own.1)));
        format!("property outputs_in_range = G all({name} in [{low}, {high}]) expect holds\n")
    };
    let doc = "/// What the network can give at all, over the ranges of what it sees.\n";
    if let Some(n) = discrete {
        let labels = labels(start, n)?;
        let _ = writeln!(text, "/// What the network says: a score for each action.\npolicy scores = {applied}\n");
        let _ = writeln!(
            text,
            "/// What is done: the action with the greatest score.\naction act = argmax(scores) of {{ {} }}\n",
            labels.join(", ")
        );
        return Ok((format!("{doc}{}\n{}", of("scores", &range), repeats(&labels)), pushed(&labels)));
    }
    match start.spaces.as_ref().map(|own| &own.action) {
        Some(Acting::Box(ends)) => {
            let (low, high) = (vector(ends.iter().map(|own| own.0)), vector(ends.iter().map(|own| own.1)));
            let _ = writeln!(
                text,
                "/// What is done: what the network says, clipped to what the environment allows.\n\
                 policy act = clamp({applied}, {low}, {high})\n"
            );
            let clipped: Vec<(f64, f64)> = range
                .iter()
                .zip(ends)
                .map(|(own, &(low, high))| (own.0.max(low).min(high), own.1.max(low).min(high)))
                .collect();
            let doc = "/// What can be done at all, over the ranges of what the network sees.\n";
            Ok((format!("{doc}{}", of("act", &clipped)), SCALED.to_owned()))
        }
        _ => {
            let _ = writeln!(text, "/// What is done: {scores} number{}.\npolicy act = {applied}\n", plural(scores));
            Ok((format!("{doc}{}", of("act", &range)), SCALED.to_owned()))
        }
    }
}

fn repeats(labels: &[String]) -> String {
    format!("/// The first action is taken again and again.\nproperty repeats = G F act == {}\n", labels[0])
}

fn labels(start: &Start<'_>, n: usize) -> Result<Vec<String>, Failure> {
    if start.labels.is_empty() {
        return Ok((0..n).map(|index| format!("action_{index}")).collect());
    }
    if start.labels.len() != n {
        return Err(Failure::message(format!("{} labels for {n} actions", start.labels.len())));
    }
    let labels: Vec<String> = start.labels.iter().map(|label| identifier(label)).collect();
    let mut sorted = labels.clone();
    sorted.sort();
    sorted.dedup();
    if sorted.len() < n {
        return Err(Failure::message("two labels would have the same name"));
    }
    Ok(labels)
}

/// A range of each output that interval arithmetic shows, widened to short numbers.
fn output_range(graph: &Graph, seen: &[(f64, f64)]) -> Result<Vec<(f64, f64)>, Failure> {
    let intervals: Vec<Interval> = seen.iter().map(|(low, high)| Interval { lo: *low, hi: *high }).collect();
    let mut rest = intervals.as_slice();
    let mut inputs: Vec<&[Interval]> = Vec::new();
    for port in graph.inputs() {
        let (own, after) = rest.split_at(graph.elements(port.node));
        inputs.push(own);
        rest = after;
    }
    let outputs = enclose(graph, &inputs).map_err(|error| Failure::message(error.to_string()))?;
    let outward = |value: f64, up: bool| {
        if !value.is_finite() {
            return Err(Failure::message(
                "over these ranges the network's outputs have no bounds that intervals show; give narrower ones with ⟨spaces⟩",
            ));
        }
        // A tenth of its size beyond, to two digits: more than any other way of adding up could differ.
        let away = value.abs().max(1e-6) * 0.1;
        let wide = if up { value + away } else { value - away };
        let digits = 10f64.powf(wide.abs().log10().floor() - 1.0);
        let steps = if up { (wide / digits).ceil() } else { (wide / digits).floor() };
        Ok(format!("{:.2e}", steps * digits).parse().unwrap_or(wide))
    };
    outputs.iter().flatten().map(|own| Ok((outward(own.lo, false)?, outward(own.hi, true)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_without_ends_get_some() {
        let text = r#"{"name": "CartPole-v1", "observation": {"low": [-4.8, -3.4e38, null], "high": [4.8, 3.4e38, 2]}, "action": {"n": 2}}"#;
        let spaces = read_spaces(text).unwrap();
        assert_eq!(spaces.observation, [(-4.8, 4.8), (-10.0, 10.0), (-10.0, 2.0)]);
        assert!(spaces.ends_given);
        assert_eq!(spaces.action, Acting::Discrete(2));
        for wrong in [
            "{}",
            "[",
            r#"{"observation": {"low": [1], "high": [0]}, "action": {"n": 2}}"#,
            r#"{"observation": {"low": [0], "high": [1]}, "action": {"n": 1}}"#,
        ] {
            assert!(read_spaces(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_fit_the_language() {
        assert_eq!(identifier("CartPole-v1"), "cartpole_v1");
        assert_eq!(identifier("3d"), "the_3d");
        assert_eq!(identifier("next"), "the_next");
        assert_eq!(identifier("--"), "system_1");
    }
}
