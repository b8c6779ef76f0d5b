//! Certificates of checks: what a proof rests on, and a refutation of each of its questions.
//!
//! The second line of the file says which system, networks, settings and property it is about, and what the proof is:
//! a depth, an invariant, a ranking function. The questions follow from that; the trees after it refute them, in their
//! order. Whoever checks the certificate makes the questions again from the files.

use std::path::{Path, PathBuf};

use certus_check::bmc::Depth;
use certus_check::induction::{Face, Invariant, Ranking};
use certus_check::proof::{Method, Obligation, Proof, obligations};
use certus_lang::LowerOptions;
use certus_lang::applied_networks;
use certus_lang::system::System;
use certus_solver::{Answer, Budget, Query, solve};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::write_whole;
use crate::{Loading, Source, load_system, property_named};

/// Writes the certificate of a property that holds.
pub(crate) fn write(
    path: &Path,
    loading: &Loading,
    system: &System,
    property: usize,
    proof: &Proof,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<(), Failure> {
    let header = header(loading, &system.properties[property].name, proof)?;
    let mut text = format!("certus-certificate 1\nproof {header}\n");
    for (case, (title, query)) in queries(system, property, proof)?.into_iter().enumerate() {
        let budget = Budget { certify: true, ..*budget };
        let answer = solve(&query, &budget, &mut |progress| {
            watch(Depth { steps: case, loop_to: None, settled: None, progress })
        });
        let tree = match answer.map_err(|error| Failure::message(error.to_string()))? {
            Answer::Unsat(refutation) => refutation.tree,
            _ => None,
        };
        let tree = tree.ok_or_else(|| {
            Failure::message(format!(
                "the property holds, but its certificate was not finished: '{title}' was not refuted again within the budget"
            ))
        })?;
        text.push_str(&format!("# {title}\ncase {case}\n{tree}"));
    }
    text.push_str("end\n");
    write_whole(path, &text)
}

/// The questions of a proof, with their names.
fn queries(system: &System, property: usize, proof: &Proof) -> Result<Vec<(String, Query)>, Failure> {
    let failed = |error: certus_check::CheckError| Failure::message(error.to_string());
    let own = obligations(system, &system.properties[property], proof).map_err(failed)?;
    let query = |Obligation { title, question }: Obligation| {
        Ok((title, question.query().map_err(|error| Failure::message(error.to_string()))?))
    };
    own.into_iter().map(query).collect()
}

/// What a certificate is about, read again: the files, and the questions that it must refute.
pub(crate) struct Claim {
    pub(crate) sources: Vec<Source>,
    pub(crate) queries: Vec<Query>,
    /// What is claimed, in words.
    pub(crate) says: String,
}

/// Reads what a certificate claims, and makes its questions. A file that has changed is an error in words.
pub(crate) fn claim(header: &str) -> Result<Result<Claim, String>, Failure> {
    let malformed = |what: &str| Failure::message(format!("the certificate's second line is malformed: {what}"));
    let value: Value = serde_json::from_str(header).map_err(|error| malformed(&error.to_string()))?;
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| malformed(key));
    let mut sources = vec![source("system", &text(&value["system"], "path")?)?];
    let mut digests = vec![text(&value["system"], "sha256")?];
    let mut networks = Vec::new();
    for network in value["networks"].as_array().ok_or_else(|| malformed("networks"))? {
        let path = text(network, "path")?;
        sources.push(source("network", &path)?);
        digests.push(text(network, "sha256")?);
        networks.push((text(network, "name")?, PathBuf::from(path)));
    }
    for (source, digest) in sources.iter().zip(&digests) {
        if source.digest.as_ref() != Some(digest) {
            let (role, path) = (source.role, source.path.display());
            return Ok(Err(format!("it is about another {role}: {path} has changed since")));
        }
    }
    // A network that the certificate does not name would be taken as it is now.
    let unnamed = names(&sources[0].path)?.into_iter().find(|name| !networks.iter().any(|(own, _)| own == name));
    if let Some(name) = unnamed {
        return Ok(Err(format!("it does not say which network '{name}' is")));
    }
    let settings = value["settings"].as_array().ok_or_else(|| malformed("settings"))?;
    let overrides = settings
        .iter()
        .map(|setting| Ok((text(setting, "name")?, number(&setting["value"]).ok_or_else(|| malformed("settings"))?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let loading = Loading {
        path: sources[0].path.clone(),
        options: LowerOptions { overrides, ..LowerOptions::default() },
        networks,
        colour: false,
    };
    let system = load_system(&loading)?;
    let property = property_named(&system, &text(&value, "property")?)?;
    let proof = read_proof(&value["proof"]).ok_or_else(|| malformed("proof"))?;
    let queries = match queries(&system, property, &proof) {
        Ok(queries) => queries.into_iter().map(|(_, query)| query).collect(),
        Err(failure) => return Ok(Err(failure.to_string())),
    };
    let name = &system.properties[property].name;
    let says = match &proof {
        Proof::Bounded { steps, .. } => format!("that {name} holds up to {steps} steps"),
        _ => format!("that {name} holds for all time"),
    };
    Ok(Ok(Claim { sources, queries, says }))
}

fn source(role: &'static str, path: &str) -> Result<Source, Failure> {
    let path = PathBuf::from(path);
    let bytes = std::fs::read(&path).map_err(|error| Failure::reading(&path, &error))?;
    Ok(Source { role, name: None, digest: Some(certus_audit::digest(&bytes)), path })
}

/// The networks that a system applies, as its file writes them.
fn names(system: &Path) -> Result<Vec<String>, Failure> {
    let failed = |diagnostics: certus_lang::Diagnostics| Failure::Diagnostics(diagnostics.render(false));
    let mut names: Vec<String> = Vec::new();
    for path in applied_networks(system).map_err(failed)?.into_iter().flat_map(|(_, paths)| paths) {
        if !names.contains(&path) {
            names.push(path);
        }
    }
    Ok(names)
}

fn header(loading: &Loading, property: &str, proof: &Proof) -> Result<Value, Failure> {
    let folder = loading.path.parent().unwrap_or(Path::new("."));
    let mut networks = Vec::new();
    for name in names(&loading.path)? {
        let replaced = loading
            .networks
            .iter()
            .find(|(own, _)| crate::network_of(&loading.path, Some(own), false).ok().as_ref() == Some(&name));
        let path = replaced.map_or_else(|| folder.join(&name), |(_, path)| path.clone());
        let own = source("network", &path.display().to_string())?;
        networks.push(json!({"name": name, "path": own.path.display().to_string(), "sha256": own.digest}));
    }
    let system = source("system", &loading.path.display().to_string())?;
    let settings = loading.options.overrides.iter().map(|(name, value)| json!({"name": name, "value": exact(*value)}));
    Ok(json!({
        "system": {"path": system.path.display().to_string(), "sha256": system.digest},
        "networks": networks,
        "settings": settings.collect::<Vec<_>>(),
        "property": property,
        "proof": proof_value(proof),
    }))
}

/// A number as text, which reads back to the same double everywhere.
fn exact(value: f64) -> String {
    format!("{value:?}")
}

fn number(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn proof_value(proof: &Proof) -> Value {
    let numbers = |values: &[f64]| values.iter().map(|&value| exact(value)).collect::<Vec<_>>();
    let method = |method: &Method| match method {
        Method::Induction { depth, invariant, simple } => {
            let faces = invariant.faces.iter();
            let faces =
                faces.map(|face| json!({"coefficients": numbers(&face.coefficients), "bound": exact(face.bound)}));
            json!({"induction": depth, "different": simple, "invariant": faces.collect::<Vec<_>>()})
        }
        Method::Leaves { steps } => json!({"leaves": steps}),
        Method::Ranking(ranking) => json!({
            "ranking": numbers(&ranking.coefficients),
            "decrease": exact(ranking.decrease),
            "context": ranking.context,
        }),
    };
    match proof {
        Proof::Bounded { steps, cycles } => json!({"bounded": steps, "cycles": cycles}),
        Proof::OutOfReach { steps } => json!({"out_of_reach": steps}),
        Proof::ForAllTime(methods) => json!({"for_all_time": methods.iter().map(method).collect::<Vec<_>>()}),
    }
}

/// No honest proof looks at more steps than this.
const MOST_STEPS: u64 = 10_000;

fn read_proof(value: &Value) -> Option<Proof> {
    let count = |value: &Value| value.as_u64().filter(|&count| count <= MOST_STEPS).map(|count| count as usize);
    let numbers = |value: &Value| value.as_array()?.iter().map(number).collect::<Option<Vec<f64>>>();
    let method = |value: &Value| -> Option<Method> {
        if let Some(depth) = count(&value["induction"]) {
            let face = |face: &Value| {
                Some(Face { coefficients: numbers(&face["coefficients"])?, bound: number(&face["bound"])? })
            };
            let faces = value["invariant"].as_array()?.iter().map(face).collect::<Option<Vec<_>>>()?;
            let simple = value["different"].as_bool()?;
            return Some(Method::Induction { depth, invariant: Invariant { faces }, simple });
        }
        if let Some(steps) = count(&value["leaves"]) {
            return Some(Method::Leaves { steps });
        }
        let coefficients = numbers(&value["ranking"])?;
        Some(Method::Ranking(Ranking {
            coefficients,
            decrease: number(&value["decrease"])?,
            context: count(&value["context"])?,
        }))
    };
    if let Some(steps) = count(&value["bounded"]) {
        let cycles = value["cycles"].as_array()?.iter().map(count).collect::<Option<Vec<_>>>()?;
        return Some(Proof::Bounded { steps, cycles });
    }
    if let Some(steps) = count(&value["out_of_reach"]) {
        return Some(Proof::OutOfReach { steps });
    }
    Some(Proof::ForAllTime(value["for_all_time"].as_array()?.iter().map(method).collect::<Option<Vec<_>>>()?))
}
