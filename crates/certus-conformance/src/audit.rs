//! Certificates: what was just written is accepted as what it is, and nothing is accepted for what is not true, whichever
//! property, settings or system its header is changed to.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_lang::LowerOptions;
use certus_model::{Scope, Verdict};
use certus_tasks::audit::{Accepted, Audit, Judgement, audit};
use certus_tasks::check::{Check, EngineChoice, GridOptions, check};
use certus_tasks::{BudgetOptions, Loading, Sources, deadline_after};
use serde_json::{Value, json};

use crate::campaign::Tally;
use crate::compare::{Class, Judged, holds};
use crate::rows::Study;
use crate::systems::{Case, case};
use crate::truth::Truth;

/// How the audit is called in reports.
pub const NAME: &str = "audit";

/// What is asked of every other property: `-k`.
const STEPS: usize = 2;

/// Seconds after which a check gives up; usual ones take a thousandth.
const PATIENCE: f64 = 2.0;

/// Writes a certificate of every property that holds, has it audited, and changes what it is about.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let case = study.case;
    // Proofs about differential equations leave no certificate.
    if case.features.contains(&"exact") {
        return Ok(());
    }
    let path = case.write(study.folder, "system.certus")?;
    for (place, property) in case.properties.iter().enumerate() {
        let Some(truth) = &study.truths[place] else { continue };
        let steps = (place % 2 == 1).then_some(STEPS);
        let written = study.folder.join("certificate");
        let _ = fs::remove_file(&written);
        let Some(scope) = certified(case, property, steps, &path, &written)? else { continue };
        let asked = (study.number, case, property.as_str(), NAME);
        let judged = match audited(&written)? {
            Err(reason) => Judged::Wrong(Class::RejectedWrongly, reason),
            Ok(accepted) => as_claimed(&accepted, (case, property), (scope, steps), truth),
        };
        tally.note(asked, judged, || truth.in_words());
        let text = fs::read_to_string(&written).map_err(|error| error.to_string())?;
        for Changed { text, case: other, property, truth: own } in changes(study, place, &text)? {
            fs::write(&written, text).map_err(|error| error.to_string())?;
            let judged = match audited(&written) {
                Err(_) | Ok(Err(_)) => Judged::Right("rejected"),
                Ok(Ok(accepted)) => match scope_of(&accepted) {
                    None => Judged::Wrong(Class::AcceptedWrongly, format!("{:?}", accepted.particulars)),
                    Some(scope) => accepted_for(scope, &own),
                },
            };
            tally.note((study.number, &other, &property, NAME), judged, || own.in_words());
        }
    }
    Ok(())
}

/// Checks a property; what was shown, if there is a certificate of it.
fn certified(
    case: &Case,
    property: &str,
    steps: Option<usize>,
    path: &Path,
    certificate: &Path,
) -> Result<Option<Scope>, String> {
    let options = LowerOptions { overrides: case.settings.clone(), ..LowerOptions::default() };
    let deadline = deadline_after(Some(PATIENCE), "").map_err(|failure| failure.to_string())?;
    let task = Check {
        system: Loading { path: path.to_owned(), options, ..Loading::default() },
        properties: vec![property.to_owned()],
        engine: EngineChoice::default(),
        grid: GridOptions::default(),
        steps,
        assume_no_model_errors: false,
        certificate: Some(certificate.to_owned()),
        effort: BudgetOptions { threads: 1, deadline, ..BudgetOptions::default() },
    };
    let checked = check(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|failure| failure.to_string())?;
    let result = checked.results.into_iter().next().ok_or("nothing was said")?;
    let outcome = result.outcome?;
    Ok(match (outcome.runs().map(|runs| &runs.verdict), result.certificate) {
        (Some(Verdict::Holds(scope)), Some(_)) => Some(*scope),
        _ => None,
    })
}

/// What the audit says: a proof, or why it is none.
fn audited(certificate: &Path) -> Result<Result<Accepted, String>, String> {
    let task = Audit { certificate: certificate.to_owned(), ..Audit::default() };
    let (judgement, _) =
        audit(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|failure| failure.to_string())?;
    match judgement {
        Some(Judgement::Accepted(accepted)) => Ok(Ok(*accepted)),
        Some(Judgement::Rejected { reason, .. }) => Ok(Err(reason)),
        Some(Judgement::Shield(_)) => Err("a shield".to_owned()),
        None => Err("no judgement".to_owned()),
    }
}

fn particular<'a>(accepted: &'a Accepted, name: &str) -> &'a str {
    accepted.particulars.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| text)
}

/// The scope that an accepted certificate is said to have.
fn scope_of(accepted: &Accepted) -> Option<Scope> {
    let scope = particular(accepted, "scope");
    let number = || scope.split(' ').find_map(|word| word.parse().ok());
    match scope {
        "for all time" => Some(Scope::Unbounded),
        _ if scope.starts_with("up to step ") => number().map(Scope::Horizon),
        _ if scope.starts_with("up to ") => number().map(Scope::Bounded),
        _ => None,
    }
}

/// Whether the audit says of a certificate what the check said.
fn as_claimed(
    accepted: &Accepted,
    (case, property): (&Case, &str),
    (scope, steps): (Scope, Option<usize>),
    truth: &Truth,
) -> Judged {
    let said = || format!("{:?} for {scope:?}", accepted.particulars);
    let names_property = particular(accepted, "property").starts_with(&format!("{property}: "));
    let names_settings = case.settings.is_empty() == (particular(accepted, "settings") == "none");
    match scope_of(accepted) {
        Some(own) if names_property && names_settings && own == scope => match holds(steps, scope, truth) {
            Judged::Right(_) => Judged::Right("accepted"),
            wrong => wrong,
        },
        _ => Judged::Wrong(Class::AcceptedWrongly, said()),
    }
}

/// Whether what was accepted is true.
fn accepted_for(scope: Scope, truth: &Truth) -> Judged {
    let steps = match scope {
        Scope::Bounded(steps) => Some(steps),
        _ => None,
    };
    match holds(steps, scope, truth) {
        Judged::Wrong(_, said) => Judged::Wrong(Class::AcceptedWrongly, said),
        _ => Judged::Right("accepted elsewhere"),
    }
}

/// A certificate whose header was changed, and what is true of what it now claims.
struct Changed {
    text: String,
    case: Case,
    property: String,
    truth: Truth,
}

/// The certificate with another header: about another property, with other settings, about another system; each with
/// what is true there.
fn changes(study: &Study<'_>, place: usize, text: &str) -> Result<Vec<Changed>, String> {
    let case = study.case;
    let mut lines = text.splitn(3, '\n');
    let (Some(first), Some(second), Some(rest)) = (lines.next(), lines.next(), lines.next()) else {
        return Err("a certificate of fewer than three lines".to_owned());
    };
    let header: Value = serde_json::from_str(second.trim_start_matches("proof ")).map_err(|error| error.to_string())?;
    let mut changes = Vec::new();
    let mut add = |change: &dyn Fn(&mut Value), other: Case, property: &str| {
        let mut header = header.clone();
        change(&mut header);
        if let Ok(truth) = Truth::of(&other, property) {
            let text = format!("{first}\nproof {header}\n{rest}");
            changes.push(Changed { text, case: other, property: property.to_owned(), truth });
        }
    };
    for other in case.properties.iter().enumerate().filter(|(own, _)| *own != place).map(|(_, name)| name) {
        add(&|header| header["property"] = json!(other), case.clone(), other);
    }
    let property = &case.properties[place];
    if !case.settings.is_empty() {
        let other = Case { settings: Vec::new(), ..case.clone() };
        add(&|header| header["settings"] = json!([]), other, property);
    }
    // Another system with properties of the same names, its digest put into the header.
    let other = self::case(study.seed, study.number + 1, study.properties);
    let other = Case { settings: case.settings.clone(), ..other };
    let folder = study.folder.join("other");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = other.write(&folder, "system.certus")?;
    let digest = |path: &Path| Sources::default().read(path).map(|own| own.digest.clone()).map_err(|f| f.to_string());
    let system = json!({"path": path.display().to_string(), "sha256": digest(&path)?});
    let mut networks = Vec::new();
    for (name, _) in &other.networks {
        let path = folder.join(name);
        networks.push(json!({"name": name, "path": path.display().to_string(), "sha256": digest(&path)?}));
    }
    let with_system = |header: &mut Value| {
        (header["system"], header["networks"]) = (system.clone(), networks.clone().into());
        if !mentions_parameter(&other) {
            header["settings"] = json!([]);
        }
    };
    add(&with_system, other.clone(), property);
    Ok(changes)
}

fn mentions_parameter(case: &Case) -> bool {
    case.text.contains("\nparam ")
}
