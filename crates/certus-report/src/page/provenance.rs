//! Where results come from, and why two results of one property differ.

use certus_documents::{Limit, Provenance, Setting, SourceFile};

use super::Row;
use super::html::{escaped, table};
use crate::scale::short;

/// What a document says of where its results come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    version: String,
    sources: Vec<SourceFile>,
    settings: Vec<Setting>,
    /// How derivatives became steps.
    time: Option<String>,
    engine: String,
    /// The seed, and how much work was allowed.
    budget: Vec<(String, String)>,
}

impl Origin {
    /// What a document says of it.
    pub(crate) fn of(own: &Provenance) -> Origin {
        let seed = own.seed.map(|seed| ("seed".to_owned(), seed.to_string()));
        let limits = own.budget.iter();
        let limits = limits.filter_map(|(name, limit)| Some((name.replace('_', " "), plain(limit.as_ref()?))));
        let time = own.time.as_ref();
        Origin {
            version: own.certus.clone(),
            sources: own.sources.clone(),
            settings: own.settings.clone(),
            time: time.map(|own| match own.scheme.as_str() {
                "exact" => format!("in continuous time, period {} s", short(own.dt.into())),
                scheme => format!("discretised by {scheme} with dt = {}", short(own.dt.into())),
            }),
            engine: own.engine.clone(),
            budget: seed.into_iter().chain(limits).collect(),
        }
    }

    /// The same with a further network.
    pub(crate) fn with_network(mut self, name: Option<String>, path: String, sha256: Option<String>) -> Origin {
        self.sources.push(SourceFile { role: "network".to_owned(), name, path, sha256 });
        self
    }

    /// Settings that differ from the file's, and discretised time: what a reader of a verdict has to know.
    pub(crate) fn brief(&self) -> Option<String> {
        let differ = self.settings.iter().filter(|own| own.declared != Some(own.value));
        let with: Vec<String> = differ.map(set).collect();
        let with = (!with.is_empty()).then(|| format!("with {}", with.join(", ")));
        let parts: Vec<String> = with.into_iter().chain(self.time.clone()).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// All of it, folded, with what a result says of itself.
    pub(crate) fn section(&self, row: Option<&Row>) -> String {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut say = |what: &str, text: String| lines.push((what.to_owned(), text));
        if let Some(row) = row {
            row.formula.iter().for_each(|formula| say("property", format!("{}: {formula}", row.property)));
            say("engine", row.engine.clone());
            say("scope", row.scope.clone());
            say("relative to", row.relative.clone());
        }
        for own in &self.sources {
            let name = own.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
            let digest = own.sha256.as_deref().unwrap_or("not digested");
            say(&format!("{}{name}", own.role), format!("{}, sha256 {digest}", own.path));
        }
        self.settings.iter().for_each(|own| say("set", set(own)));
        self.time.iter().for_each(|own| say("time", own.clone()));
        say("asked", self.engine.clone());
        self.budget.iter().for_each(|(name, value)| say(name, value.clone()));
        say("Certus", self.version.clone());
        let rows: Vec<Vec<String>> = lines.iter().map(|(what, text)| vec![escaped(what), escaped(text)]).collect();
        let shown = table("Where this comes from", &["", "value"].map(str::to_owned), &rows);
        format!("<details class=\"provenance\"><summary>Provenance</summary>\n{shown}</details>\n")
    }
}

/// A limit as a text.
fn plain(limit: &Limit) -> String {
    match limit {
        Limit::Flag(own) => own.to_string(),
        Limit::Count(own) => own.to_string(),
        Limit::Amount(own) => format!("{:?}", own.0),
        Limit::Text(own) => own.clone(),
        Limit::Names(own) => own.join(", "),
    }
}

/// A setting as a text.
fn set(own: &Setting) -> String {
    let (name, value) = (&own.name, short(own.value.into()));
    match own.declared {
        Some(declared) => format!("{name} = {value} ({} in the file)", short(declared.into())),
        None => format!("{name} = {value}"),
    }
}

/// Puts results of one property beside each other, in the order in which properties first come.
pub(crate) fn grouped(rows: Vec<Row>) -> Vec<Row> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        let of_one =
            |other: &Row| !row.system.is_empty() && (&other.system, &other.property) == (&row.system, &row.property);
        match groups.iter_mut().find(|group| group.first().is_some_and(of_one)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().flatten().collect()
}

/// Pairs of results that are explained, at most.
const MOST_PAIRS: usize = 40;

/// For each two results of one property with different verdicts: what else differs, or that they contradict each other.
pub(crate) fn explained(rows: &[Row]) -> Vec<String> {
    let mut said = Vec::new();
    for (index, second) in rows.iter().enumerate() {
        let of_one = |first: &&Row| {
            !first.system.is_empty()
                && (&first.system, &first.property) == (&second.system, &second.property)
                && first.verdict != second.verdict
        };
        said.extend(rows[..index].iter().filter(of_one).map(|first| pair(first, second)));
    }
    if said.len() > MOST_PAIRS {
        let rest = said.split_off(MOST_PAIRS).len();
        said.push(format!("… and {rest} more pairs of results that differ"));
    }
    said
}

/// Why two verdicts about one property are not the same.
fn pair(first: &Row, second: &Row) -> String {
    let head = format!("{} {} is {} and {}", first.system, first.property, first.verdict, second.verdict);
    let (Some(own), Some(other)) = (&first.origin, &second.origin) else {
        return format!("{head}: the documents do not say where both results come from, so it is not known why");
    };
    let (telling, others) = (telling(first, own, second, other), beside(first, own, second, other));
    let all = || telling.iter().chain(&others).cloned().collect::<Vec<_>>().join("; ");
    let opposed = [&first.verdict, &second.verdict].map(|verdict| verdict.as_str());
    let opposed = opposed.contains(&"holds") && opposed.contains(&"violated");
    match (telling.is_empty() && opposed, telling.is_empty() && others.is_empty()) {
        (false, true) => format!("{head}: nothing else differs"),
        (false, false) => format!("{head}: they differ in {}", all()),
        (true, true) => format!("{head}: THEY CONTRADICT EACH OTHER, for nothing else differs; one of them is wrong"),
        (true, false) => {
            format!("{head}: THEY CONTRADICT EACH OTHER, for all that differs is {}; one of them is wrong", all())
        }
    }
}

fn differs(what: &str, first: &str, second: &str) -> Option<String> {
    (first != second).then(|| format!("{what} ({first} / {second})"))
}

/// Differences that can make both verdicts true: they are about different things.
fn telling(first: &Row, own: &Origin, second: &Row, other: &Origin) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(a), Some(b)) = (&first.formula, &second.formula) {
        found.extend(differs("the property's text", a, b));
    }
    let named = own.settings.iter().chain(&other.settings).map(|setting| setting.name.as_str());
    let mut seen: Vec<&str> = Vec::new();
    for name in named {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        // The last one counts; what was not set has the value of the file, which only the other may tell.
        let last = |origin: &Origin| origin.settings.iter().rev().find(|own| own.name == name).cloned();
        let (a, b) = (last(own), last(other));
        let declared = a.iter().chain(&b).find_map(|own| own.declared);
        let value = |own: &Option<Setting>| own.as_ref().map(|own| own.value).or(declared);
        let shown = |own: &Option<Setting>| match own {
            Some(own) => short(own.value.into()),
            None => {
                declared.map_or("as in the file".to_owned(), |value| format!("{} in the file", short(value.into())))
            }
        };
        if value(&a) != value(&b) {
            found.push(format!("{name} ({} / {})", shown(&a), shown(&b)));
        }
    }
    for role in ["system", "network", "weights", "model", "labels"] {
        let digests = |origin: &Origin| {
            let mut all: Vec<(Option<String>, Option<String>)> = Vec::new();
            for own in origin.sources.iter().filter(|own| own.role == role) {
                if !all.iter().any(|known| *known == (own.name.clone(), own.sha256.clone())) {
                    all.push((own.name.clone(), own.sha256.clone()));
                }
            }
            all.sort();
            all
        };
        if digests(own) != digests(other) {
            let paths = |origin: &Origin| {
                let own = origin.sources.iter().filter(|own| own.role == role);
                let shown = own.map(|own| {
                    let digest =
                        own.sha256.as_deref().map_or("not digested", |digest| digest.get(..12).unwrap_or(digest));
                    format!("{} {digest}", own.path)
                });
                let shown: Vec<String> = shown.collect();
                if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
            };
            found.push(format!("the {role} ({} / {})", paths(own), paths(other)));
        }
    }
    found.extend(differs("what they are relative to", &first.relative, &second.relative));
    let varied = |origin: &Origin| {
        let own = origin.budget.iter().find(|(name, _)| name == "varied");
        own.map_or("none".to_owned(), |(_, names)| names.clone())
    };
    found.extend(differs("the parameters that vary", &varied(own), &varied(other)));
    if first.scope != second.scope && !covers(first, second) {
        found.extend(differs("scope", &first.scope, &second.scope));
    }
    found
}

/// Differences that a sound verdict does not depend on.
fn beside(first: &Row, own: &Origin, second: &Row, other: &Origin) -> Vec<String> {
    let mut found: Vec<String> = differs("engine", &first.engine, &second.engine).into_iter().collect();
    if first.scope != second.scope && covers(first, second) {
        found.extend(differs("scope", &first.scope, &second.scope));
    }
    found.extend(differs("the version of Certus", &own.version, &other.version));
    let names = own.budget.iter().chain(&other.budget).map(|(name, _)| name.as_str());
    let mut seen = vec!["varied"];
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
            let value = |origin: &Origin| {
                let own = origin.budget.iter().find(|(own, _)| own == name);
                own.map_or("not given".to_owned(), |(_, value)| value.clone())
            };
            found.extend(differs(name, &value(own), &value(other)));
        }
    }
    found
}

/// Whether what is said to hold reaches as far as the violation: then both cannot be true.
fn covers(first: &Row, second: &Row) -> bool {
    let (holds, violated) = match (first.verdict.as_str(), second.verdict.as_str()) {
        ("holds", "violated") => (first, second),
        ("violated", "holds") => (second, first),
        _ => return false,
    };
    holds.reach.is_some_and(|reach| violated.reach.is_some_and(|step| step <= reach))
}
