//! Certificates of checks: what a proof rests on, and a refutation of each of its obligations.
//!
//! The second line of the file says which system, networks, settings and property it is about, and the words of the proof:
//! a depth, an invariant, a ranking function, and why no run meets a model error. `certus-obligations` derives from these what must
//! have no answer; the trees after the header refute that, in its order. The engine that found the proof only suggests the words: whoever writes a
//! certificate and whoever checks one take the obligations from the same derivation, which knows no engine.

use std::path::{Path, PathBuf};

use certus_audit_reach::{Checker, Reachable};
use certus_check::guarded;
use certus_engine::Depth;
use certus_lang::LowerOptions;
use certus_lang::system::{Integrator, Property, System};
use certus_model::NoErrors;
use certus_model::proof;
use certus_obligations::{
    Errors, Face, Method, Obligation, Proof, Refused, Scope, WitnessChoice, Words, error_obligations, obligations,
};
use certus_solver::{Answer, Budget, Progress, Query, Region, solve};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::write_atomically;
use crate::sources::{SealedSystem, Sources, Unnamed, Unsealed, load_sealed};
use crate::{Loading, Source, property_named};

/// Parts that may be looked at for words about model errors before others are tried.
const PARTS_PER_GUESS: u64 = 20_000;

/// What an engine says of a property that holds: hints for the words of its proof.
pub(crate) struct Hints<'a> {
    /// Why no run violates it.
    pub(crate) proof: &'a proof::Proof,
    /// Why no run has a model error before it is decided.
    pub(crate) no_errors: Option<&'a NoErrors>,
    /// Choices against deadlocks.
    pub(crate) witnesses: Vec<guarded::WitnessChoice>,
}

/// Writes the certificate of a property that an engine has a proof of.
pub(crate) fn write(
    path: &Path,
    loading: &Loading,
    property: &str,
    hints: &Hints<'_>,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<(), Failure> {
    let sealed = sealed(loading)?;
    let words = words(&sealed.system, property_of(&sealed.system, property)?, hints, budget)?;
    certify(path, loading, &sealed, property, &words, budget, watch)
}

/// Writes the certificate of a property that holds because of some words, if the solver can refute what follows from them.
pub fn certify_words(
    path: &Path,
    loading: &Loading,
    property: &str,
    words: &Words,
    budget: &Budget<'_>,
) -> Result<(), Failure> {
    certify(path, loading, &sealed(loading)?, property, words, budget, &mut |_| {})
}

pub(super) fn sealed(loading: &Loading) -> Result<SealedSystem, Failure> {
    load_sealed(loading, Unnamed::AsWritten, &mut Sources::default()).map_err(|error| match error {
        Unsealed::Failure(failure) => failure,
        Unsealed::Unnamed(name) => Failure::message(format!("nobody says which network '{name}' is")),
    })
}

pub(super) fn property_of<'s>(system: &'s System, name: &str) -> Result<&'s Property, Failure> {
    Ok(&system.properties[property_named(system, name)?])
}

fn certify(
    path: &Path,
    loading: &Loading,
    sealed: &SealedSystem,
    property: &str,
    words: &Words,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<(), Failure> {
    let obligations = obligations(&sealed.system, property_of(&sealed.system, property)?, words)
        .map_err(|refused| unfinished(&refused.to_string()))?;
    let mut text = format!(
        "certus-certificate 1\nproof {}\n",
        header(loading, sealed, property, engine_of(words), words.to_json())
    );
    for (case, obligation) in obligations.open.iter().enumerate() {
        let mut watch = |progress| watch(Depth { steps: case, loop_to: None, settled: None, progress });
        let title = &obligation.title;
        let tree = refutation(obligation, budget, &mut watch)?
            .ok_or_else(|| unfinished(&format!("'{title}' was not refuted within the budget")))?;
        audited(obligation, &tree).map_err(|rejection| {
            unfinished(&format!("the audit cannot follow the refutation of '{title}': {}", rejection.reason))
        })?;
        text.push_str(&format!("# {title}\ncase {case}\n{tree}"));
    }
    text.push_str("end\n");
    write_atomically(path, &text)
}

/// Whether the audit accepts a tree: its relaxations are its own, and may be less sharp than those of the solver.
fn audited(obligation: &Obligation, tree: &str) -> Result<(), certus_audit::Rejection> {
    let alone = format!("certus-certificate 1\nproof {{}}\ncase 0\n{tree}end\n");
    let (_, certificate) = certus_audit::read_header(alone.as_bytes())?;
    certus_audit::check(&[obligation.problem()], certificate, &mut |_| {}).map(|_| ())
}

pub(super) fn unfinished(why: &str) -> Failure {
    Failure::message(format!("the property holds, but its certificate was not finished: {why}"))
}

/// The tree that refutes an obligation, if one was found.
fn refutation(
    obligation: &Obligation,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Option<String>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::message(error.to_string());
    let region = Region::new(obligation.lower.clone(), obligation.upper.clone());
    let query = Query::new(&obligation.graph, region, asked(&obligation.formula)).map_err(|error| failed(&error))?;
    let budget = Budget { certify: true, ..*budget };
    let answer = solve(&query, &budget, &mut |progress| watch(progress)).map_err(|error| failed(&error))?;
    Ok(match answer {
        Answer::Unsat(refutation) => refutation.tree,
        _ => None,
    })
}

/// A formula as the solver takes it.
fn asked(formula: &certus_audit::Formula) -> certus_solver::formula::Formula<certus_solver::vnnlib::Variable> {
    use certus_solver::formula::{Atom, Formula, Linear};
    use certus_solver::vnnlib::Variable;
    match formula {
        certus_audit::Formula::And(parts) => Formula::And(parts.iter().map(asked).collect()),
        certus_audit::Formula::Or(parts) => Formula::Or(parts.iter().map(asked).collect()),
        certus_audit::Formula::Atom(atom) => {
            let variable = |own: &certus_audit::Variable| match *own {
                certus_audit::Variable::Input(index) => Variable::Input(index),
                certus_audit::Variable::Output(index) => Variable::Output(index),
            };
            let terms = atom.terms.iter().map(|(own, coefficient)| (variable(own), *coefficient)).collect();
            Formula::Atom(Atom { linear: Linear { terms, constant: atom.constant }, strict: atom.strict })
        }
    }
}

/// The words of a proof that an engine found, with the first words about model errors that can be shown.
fn words(system: &System, property: &Property, hints: &Hints<'_>, budget: &Budget<'_>) -> Result<Words, Failure> {
    let proof = proof_words(hints.proof);
    let witness: Vec<WitnessChoice> = match system.roles.assume {
        Some(_) => hints.witnesses.iter().map(witness_words).collect(),
        None => Vec::new(),
    };
    let budget = Budget { subproblems: PARTS_PER_GUESS.min(budget.subproblems), ..*budget };
    let mut open = String::new();
    for errors in guesses(&proof, hints.no_errors) {
        let words = Words { proof: proof.clone(), errors, witness: witness.clone() };
        let asked = match error_obligations(system, property, &words) {
            Ok(asked) => asked,
            Err(refused) => {
                open = refused.to_string();
                continue;
            }
        };
        let mut unrefuted = None;
        for obligation in &asked {
            if refutation(obligation, &budget, &mut |_| {})?.is_none() {
                unrefuted = Some(obligation.title.clone());
                break;
            }
        }
        match unrefuted {
            None => return Ok(words),
            Some(title) => open = format!("'{title}' could not be excluded"),
        }
    }
    Err(unfinished(&open))
}

/// Words about model errors that are worth a try: what the engine found, then what often does.
fn guesses(proof: &Proof, found: Option<&NoErrors>) -> Vec<Errors> {
    let own: Vec<Face> = match proof {
        Proof::ForAllTime(methods) => methods.iter().flat_map(faces).cloned().collect(),
        Proof::Bounded { .. } | Proof::OutOfReach { .. } => Vec::new(),
    };
    let mut guesses = match found {
        Some(NoErrors::Assumed) => return vec![Errors::Assumed],
        Some(NoErrors::Bounded { steps }) => vec![Errors::Bounded(*steps)],
        Some(NoErrors::Induction(method)) => vec![Errors::Induction(faces(&method_words(method)).to_vec())],
        Some(NoErrors::Within) => vec![Errors::Induction(own.clone())],
        Some(NoErrors::Everywhere) | None => Vec::new(),
    };
    guesses.extend([Errors::Everywhere, Errors::Undecided]);
    match proof {
        Proof::Bounded { steps, .. } | Proof::OutOfReach { steps } => guesses.push(Errors::Bounded(*steps)),
        Proof::ForAllTime(_) => guesses.push(Errors::Induction(own)),
    }
    let mut different: Vec<Errors> = Vec::new();
    for guess in guesses {
        if !different.contains(&guess) {
            different.push(guess);
        }
    }
    different
}

fn witness_words(own: &guarded::WitnessChoice) -> WitnessChoice {
    let row = |(constant, coefficients): &(f64, Vec<f64>)| {
        std::iter::once(*constant).chain(coefficients.iter().copied()).collect()
    };
    WitnessChoice {
        inputs: own.inputs.iter().map(row).collect(),
        chances: own.chances.clone(),
        actions: own.actions.clone(),
    }
}

fn faces(method: &Method) -> &[Face] {
    match method {
        Method::Induction { invariant, .. } => invariant,
        Method::Ranking { .. } => &[],
    }
}

/// The words of an engine's proof.
fn proof_words(proof: &proof::Proof) -> Proof {
    match proof {
        proof::Proof::Bounded { steps, cycles } => Proof::Bounded { steps: *steps, cycles: cycles.clone() },
        proof::Proof::OutOfReach { steps } => Proof::OutOfReach { steps: *steps },
        proof::Proof::ForAllTime(methods) => Proof::ForAllTime(methods.iter().map(method_words).collect()),
    }
}

fn method_words(method: &proof::Method) -> Method {
    match method {
        proof::Method::Induction { depth, ahead, invariant, simple } => {
            let face =
                |own: &certus_model::proof::Face| Face { coefficients: own.coefficients.clone(), bound: own.bound };
            let invariant = invariant.faces.iter().map(face).collect();
            Method::Induction { depth: *depth, ahead: *ahead, invariant, different: *simple }
        }
        proof::Method::Ranking(own) => {
            Method::Ranking { coefficients: own.coefficients.clone(), decrease: own.decrease, context: own.context }
        }
    }
}

fn engine_of(words: &Words) -> &'static str {
    match words.proof {
        Proof::ForAllTime(_) => "induction",
        Proof::Bounded { .. } | Proof::OutOfReach { .. } => "bmc",
    }
}

/// What a certificate says of itself, before its trees: what it is about, and its claims.
pub(super) fn header(
    loading: &Loading,
    sealed: &SealedSystem,
    property: &str,
    engine: &'static str,
    claims: Value,
) -> Value {
    let networks = sealed.networks.iter().map(|(name, contents)| {
        json!({"name": name, "path": contents.path.display().to_string(), "sha256": contents.digest})
    });
    // A number as text reads back to the same double everywhere.
    let settings =
        loading.options.overrides.iter().map(|(name, value)| json!({"name": name, "value": format!("{value:?}")}));
    let mut header = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "engine": engine,
        "system": {"path": sealed.file.path.display().to_string(), "sha256": sealed.file.digest},
        "networks": networks.collect::<Value>(),
        "settings": settings.collect::<Value>(),
        "property": property,
    });
    if let (Value::Object(header), Value::Object(words)) = (&mut header, claims) {
        header.extend(words);
    }
    header
}

/// What a certificate claims, with everything that follows from it derived anew.
pub(crate) struct Claim {
    /// The files that it is about.
    pub(crate) sources: Vec<Source>,
    /// What must have no answer.
    pub(crate) obligations: Vec<Obligation>,
    /// How many more have none by intervals alone.
    pub(crate) settled: usize,
    /// The boxes of a reachability proof, which has been checked.
    pub(crate) boxes: usize,
    /// What is claimed, in words.
    pub(crate) says: String,
    /// What it is relative to, and where it comes from.
    pub(crate) particulars: Vec<(&'static str, String)>,
}

/// Reads what a certificate claims, and derives its obligations; a reachability proof has none, and is checked here. A claim that cannot be one is refused in words.
pub(crate) fn claim(
    header: &str,
    sources: &mut Sources,
    progress: &mut dyn FnMut(u64),
) -> Result<Result<Claim, String>, Failure> {
    let malformed = |what: &str| Failure::message(format!("the certificate's second line is malformed: {what}"));
    let value: Value = serde_json::from_str(header).map_err(|error| malformed(&error.to_string()))?;
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| malformed(key));
    let mut networks: Vec<(String, PathBuf)> = Vec::new();
    let mut files = vec![("system", PathBuf::from(text(&value["system"], "path")?), text(&value["system"], "sha256")?)];
    for network in value["networks"].as_array().ok_or_else(|| malformed("networks"))? {
        let (name, path) = (text(network, "name")?, PathBuf::from(text(network, "path")?));
        if networks.iter().any(|(own, _)| *own == name) {
            return Ok(Err(format!("it names two files for the network '{name}'")));
        }
        files.push(("network", path.clone(), text(network, "sha256")?));
        networks.push((name, path));
    }
    for (role, path, digest) in &files {
        if sources.read(path)?.digest != *digest {
            return Ok(Err(format!("it is about another {role}: {} has changed since", path.display())));
        }
    }
    let mut overrides: Vec<(String, f64)> = Vec::new();
    for setting in value["settings"].as_array().ok_or_else(|| malformed("settings"))? {
        let number = setting["value"].as_str().and_then(|own| own.parse().ok()).filter(|own: &f64| own.is_finite());
        overrides.push((text(setting, "name")?, number.ok_or_else(|| malformed("settings"))?));
    }
    let loading = Loading {
        path: files[0].1.clone(),
        options: LowerOptions { overrides, ..LowerOptions::default() },
        networks,
        colour: false,
    };
    let sealed = match load_sealed(&loading, Unnamed::Refused, sources) {
        Ok(sealed) => sealed,
        Err(Unsealed::Failure(failure)) => return Err(failure),
        Err(Unsealed::Unnamed(name)) => return Ok(Err(format!("it does not say which network '{name}' is"))),
    };
    let property = property_of(&sealed.system, &text(&value, "property")?)?;
    let derived = match value["proof"].get("reachable") {
        Some(_) => Derived::reached(&sealed.system, property, &value, progress).map_err(malformed)?,
        None => Derived::obliged(&sealed.system, property, &value).map_err(malformed)?,
    };
    let derived = match derived {
        Ok(derived) => derived,
        Err(refused) => return Ok(Err(refused.to_string())),
    };
    let settings = settings(&sealed, &loading.options.overrides);
    let with = if settings.is_empty() { String::new() } else { format!(", with {}", settings.join(", ")) };
    let assumed = match derived.assumed {
        true => "; that no run meets a model error before is assumed, not proved",
        false => "",
    };
    let mut particulars = vec![("property", format!("{}: {}", property.name, property.source))];
    particulars.push(("settings", if settings.is_empty() { "none".to_owned() } else { settings.join(", ") }));
    particulars.push(("scope", derived.scope.to_string()));
    particulars.extend(derived.method.map(|own| ("method", own)));
    particulars.push(("model errors", derived.errors.to_owned()));
    let said = |key: &str| value[key].as_str().unwrap_or("unknown").to_owned();
    particulars
        .push(("written by", format!("certus {}, engine {} (as it says itself)", said("version"), said("engine"))));
    particulars.push(("audited by", format!("certus {}", env!("CARGO_PKG_VERSION"))));
    particulars.push(("relative to", relative_to(&sealed.system).to_owned()));
    Ok(Ok(Claim {
        sources: sealed.sources(),
        obligations: derived.open,
        settled: derived.settled,
        boxes: derived.boxes,
        says: format!("that {} {}{with}{assumed}", property.name, holds(derived.scope)),
        particulars,
    }))
}

/// What follows from the claims of a certificate.
struct Derived {
    open: Vec<Obligation>,
    settled: usize,
    boxes: usize,
    scope: Scope,
    /// Whether model errors are assumed to be absent.
    assumed: bool,
    /// Why there are none, in words.
    errors: &'static str,
    /// The kind of proof, where the obligations do not say it.
    method: Option<String>,
}

impl Derived {
    fn obliged(system: &System, property: &Property, value: &Value) -> Result<Result<Derived, Refused>, &'static str> {
        let words = Words::from_json(value)?;
        let derived = obligations(system, property, &words).map(|own| Derived {
            open: own.open,
            settled: own.settled,
            boxes: 0,
            scope: own.scope,
            assumed: words.errors == Errors::Assumed,
            errors: errors_text(&words.errors),
            method: None,
        });
        Ok(derived)
    }

    fn reached(
        system: &System,
        property: &Property,
        value: &Value,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Result<Derived, Refused>, &'static str> {
        let claim = Reachable::from_json(value)?;
        let checked = Checker::accept(system, property, &claim, progress).map(|own| {
            let boxes = if own.leaves == 1 { "one box".to_owned() } else { format!("{} boxes", own.leaves) };
            let method = format!(
                "reachable sets from {boxes} of initial states, {} at most, recomputed with Taylor models of degree {}",
                certus_model::steps(own.steps),
                claim.degree
            );
            Derived {
                open: Vec::new(),
                settled: 0,
                boxes: own.leaves,
                scope: own.scope,
                assumed: !claim.shows_no_errors,
                errors: match claim.shows_no_errors {
                    true => "excluded along the reachable sets while the property is open",
                    false => errors_text(&Errors::Assumed),
                },
                method: Some(method),
            }
        });
        Ok(checked)
    }
}

fn holds(scope: Scope) -> String {
    format!("holds {scope}")
}

/// Every setting, and what the file itself says where that is something else.
pub(crate) fn settings(sealed: &SealedSystem, overrides: &[(String, f64)]) -> Vec<String> {
    let own = if overrides.is_empty() { Some(Vec::new()) } else { sealed.own_parameters() };
    let setting = |(name, value): &(String, f64)| {
        let own = own.as_ref().map(|own| own.iter().find(|(other, _)| other == name).map(|(_, value)| *value));
        match own {
            Some(Some(own)) if own == *value => format!("{name} = {value}"),
            Some(Some(own)) => format!("{name} = {value} in place of the file's {own}"),
            _ => format!("{name} = {value} in place of what the file says"),
        }
    };
    overrides.iter().map(setting).collect()
}

fn errors_text(errors: &Errors) -> &'static str {
    match errors {
        Errors::Everywhere => "excluded in every state of a box that no run leaves",
        Errors::Bounded(_) => "excluded step by step while the property is open",
        Errors::Induction(_) => "excluded within an invariant while the property is open",
        Errors::Undecided => "excluded in every state in which the property is open",
        Errors::Assumed => "assumed to be absent, not excluded",
    }
}

fn relative_to(system: &System) -> &'static str {
    match system.integrator {
        Some(Integrator::Euler | Integrator::Rk4) => {
            "the files with these digests, as Certus reads them, over the real numbers; the discretised system, not the differential equation"
        }
        Some(Integrator::Exact) => {
            "the files with these digests, as Certus reads them, over the real numbers; the differential equation itself"
        }
        None => "the files with these digests, as Certus reads them, over the real numbers",
    }
}
