//! Where an outcome comes from: the version, the files with their digests, the settings, the engine and its budget.
//!
//! Every JSON document has it as its member `provenance`. What differs from result to result (the property and its text, the engine that
//! decided, the scope, what the verdict is relative to) stands beside each verdict; a document about one claim, as a shield, has that in here too.
//! The number of threads is left out: nothing depends on it.

use std::path::PathBuf;

use certus_documents as documents;
use certus_documents::{Claim, Limit, Members, Scope};
use certus_lang::system::{Integrator, System};
use certus_model::short;
use serde_json::Value;

use crate::{BudgetOptions, Loading, Source};

/// A parameter that was set.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The value that it was set to.
    pub value: f64,
    /// The value in the file, if it is a parameter of a system.
    pub declared: Option<f64>,
}

/// Where an outcome comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The files, with the digests of the bytes that were parsed.
    pub sources: Vec<Source>,
    /// Every parameter that was set.
    pub settings: Vec<Setting>,
    /// Every network that took the place of one in the system's file: what was named, and the file.
    pub replaced: Vec<(String, PathBuf)>,
    /// Who was asked.
    pub engine: String,
    /// What names the random numbers, if there are any.
    pub seed: Option<u64>,
    /// How much work was allowed, and of what kind: seconds, bytes, steps, runs.
    pub budget: Members<Option<Limit>>,
    /// How derivatives became steps, and how long a step is.
    pub time: Option<(Integrator, f64)>,
    /// What is claimed, in a document about one claim.
    pub claim: Option<Claim>,
}

/// Whose behaviour a verdict is about, and in which numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The network itself, over the reals.
    Reals,
    /// The network itself; a run of doubles shows it.
    Doubles,
    /// The network itself, in runs that were sampled.
    Sampled,
    /// One action per cell, extracted from the network, over the reals.
    Extracted,
    /// The same; a run of doubles shows it.
    ExtractedInDoubles,
}

impl Provenance {
    /// That of a question to an engine about files.
    pub fn new(engine: &str, sources: Vec<Source>) -> Provenance {
        Provenance { engine: engine.to_owned(), sources, ..Provenance::default() }
    }

    /// That of a question about a system.
    pub fn of_system(engine: &str, loading: &Loading, system: &System, sources: &[Source]) -> Provenance {
        let declared = |name: &String| system.params.iter().find(|own| own.name == *name).map(|own| own.declared);
        let settings = loading.options.overrides.iter();
        Provenance {
            settings: settings
                .map(|(name, value)| Setting { name: name.clone(), value: *value, declared: declared(name) })
                .collect(),
            replaced: loading.networks.clone(),
            time: system.integrator.zip(system.dt),
            ..Provenance::new(engine, sources.to_vec())
        }
    }

    /// With the seed and the time of an effort.
    pub fn with_effort(mut self, effort: &BudgetOptions) -> Provenance {
        self.seed = Some(effort.seed);
        self.limit("timeout", effort.timeout.map(Into::into))
    }

    /// With the seed, the time and the memory of an effort.
    pub fn with_search(self, effort: &BudgetOptions) -> Provenance {
        self.with_effort(effort).limit("memory", Some(effort.memory.into()))
    }

    /// With a limit or an option; `null` if there was none.
    pub fn limit(mut self, name: &str, value: Option<Limit>) -> Provenance {
        self.budget.insert(name.to_owned(), value);
        self
    }

    /// With the one claim that a document is about.
    pub fn claiming(mut self, property: &str, formula: &str, scope: Scope, relative_to: String) -> Provenance {
        self.claim = Some(Claim { property: property.to_owned(), formula: formula.to_owned(), scope, relative_to });
        self
    }

    /// As a member of a document.
    pub fn document(&self) -> documents::Provenance {
        let source = |source: &Source| documents::SourceFile {
            role: source.role.to_owned(),
            name: source.name.clone(),
            path: source.path.display().to_string(),
            sha256: source.digest.clone(),
        };
        let setting = |own: &Setting| documents::Setting {
            name: own.name.clone(),
            value: own.value.into(),
            declared: own.declared.map(Into::into),
        };
        let replaced = |(name, path): &(String, PathBuf)| documents::Replaced {
            name: name.clone(),
            path: path.display().to_string(),
        };
        let shown = documents::Provenance {
            certus: env!("CARGO_PKG_VERSION").to_owned(),
            sources: self.sources.iter().map(source).collect(),
            settings: self.settings.iter().map(setting).collect(),
            replaced: self.replaced.iter().map(replaced).collect(),
            engine: self.engine.clone(),
            seed: self.seed,
            budget: self.budget.clone(),
            time: self
                .time
                .map(|(scheme, dt)| documents::Time { scheme: scheme_name(scheme).to_owned(), dt: dt.into() }),
            ..documents::Provenance::default()
        };
        match &self.claim {
            Some(claim) => shown.claiming(claim.clone()),
            None => shown,
        }
    }

    /// What a reader of verdicts has to know: settings that differ from the file's own values, other networks, discretised time.
    /// Nothing if there is nothing of the kind.
    pub fn brief(&self) -> Option<String> {
        let mut with: Vec<String> = Vec::new();
        for Setting { name, value, declared } in &self.settings {
            match declared {
                Some(declared) if declared == value => {}
                Some(declared) => with.push(format!("{name} = {} ({} in the file)", short(*value), short(*declared))),
                None => with.push(format!("{name} = {}", short(*value))),
            }
        }
        with.extend(self.replaced.iter().map(|(name, path)| format!("{name} from {}", path.display())));
        let with = (!with.is_empty()).then(|| format!("with {}", with.join(", ")));
        let time = self.time.map(|(scheme, dt)| match scheme {
            Integrator::Exact => format!("in continuous time with a period of {} s", short(dt)),
            _ => format!("about the system discretised by {} with dt = {}", scheme_name(scheme), short(dt)),
        });
        let parts: Vec<String> = with.into_iter().chain(time).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What a verdict about the system is relative to.
    pub fn relative_to(&self, about: About) -> String {
        let networks = self.sources.iter().filter(|source| source.role == "network").count();
        let whose = match (about, networks) {
            (About::Extracted | About::ExtractedInDoubles, _) => "a policy extracted from the network",
            (_, 0) => "the system in its file",
            (_, 1) => "the network in its file",
            _ => "the networks in their files",
        };
        let how = match about {
            About::Reals | About::Extracted => "over the reals",
            About::Doubles | About::ExtractedInDoubles => "as a run of doubles",
            About::Sampled => "in sampled runs of doubles",
        };
        format!("{whose}{}, {how}", self.discretised())
    }

    /// How time was discretised, to be put after what a verdict is about; empty if the file itself counts steps.
    pub fn discretised(&self) -> String {
        self.time.map_or(String::new(), |(scheme, dt)| match scheme {
            Integrator::Exact => format!(", in continuous time with a period of {} s", short(dt)),
            _ => format!(", in the system discretised by {} with dt = {}", scheme_name(scheme), short(dt)),
        })
    }
}

/// A scheme as files call it.
pub fn scheme_name(scheme: Integrator) -> &'static str {
    match scheme {
        Integrator::Euler => "euler",
        Integrator::Rk4 => "rk4",
        Integrator::Exact => "exact",
    }
}

/// The provenance of a document as lines of text: for the head of an export.
pub fn lines(provenance: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    flatten("", provenance, &mut lines);
    lines
}

/// Every value with the way to it. Texts are quoted, so that none of them can end a comment or a line.
fn flatten(way: &str, value: &Value, lines: &mut Vec<String>) {
    let inner = |name: &str| if way.is_empty() { name.to_owned() } else { format!("{way} {name}") };
    match value {
        Value::Null => {}
        Value::Object(members) => members.iter().for_each(|(name, value)| flatten(&inner(name), value, lines)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&inner(&(index + 1).to_string()), item, lines);
            }
        }
        // Quotes of JSON escape line breaks; a backslash is never last.
        other => lines.push(format!("{way}: {}", other.to_string().replace("*/", "*\\/"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(role: &'static str) -> Source {
        Source { role, name: None, path: "a.certus".into(), digest: Some("ab".to_owned()) }
    }

    #[test]
    fn only_what_differs_from_the_file_is_told_in_brief() {
        let setting = |value: f64| Setting { name: "gust".to_owned(), value, declared: Some(1.0) };
        let plain = Provenance::new("auto", vec![source("system")]);
        assert_eq!(plain.brief(), None);
        let same = Provenance { settings: vec![setting(1.0)], ..plain.clone() };
        assert_eq!(same.brief(), None);
        let other = Provenance { settings: vec![setting(0.0)], time: Some((Integrator::Rk4, 2.0)), ..plain };
        assert_eq!(
            other.brief().as_deref(),
            Some("with gust = 0 (1 in the file); about the system discretised by rk4 with dt = 2")
        );
        assert_eq!(other.document().settings[0].declared, Some(1.0.into()));
    }

    #[test]
    fn a_verdict_says_what_it_is_about() {
        let mut own = Provenance::new("auto", vec![source("system")]);
        assert_eq!(own.relative_to(About::Reals), "the system in its file, over the reals");
        own.sources.push(source("network"));
        own.time = Some((Integrator::Euler, 0.1));
        let said = "the network in its file, in the system discretised by euler with dt = 0.1, as a run of doubles";
        assert_eq!(own.relative_to(About::Doubles), said);
    }

    #[test]
    fn no_text_ends_a_comment() {
        let path = "a*/b\nc\\";
        let told = lines(&serde_json::json!({"sources": [{"path": path}]}));
        assert_eq!(told, [r#"sources 1 path: "a*\/b\nc\\""#]);
    }
}
