//! One page from the JSON documents of any engine.
//!
//! Documents are read into the types of `certus-documents`; what is missing or of another kind is told with its place.

mod ablation;
mod boxes;
mod course;
mod flowpipe;
mod gate;
mod html;
mod invariant;
mod mine;
mod plain;
mod prob;
mod provenance;
mod read;
mod region;
mod shield;
mod shield_run;
mod trace;
mod words;

use std::collections::HashSet;

use certus_documents::check::{Grid, PropertyResult};
use certus_documents::state_sets::InitialStates;
use certus_documents::{AnyDocument, NamedRange, Provenance, Scope, plain as doubles};
use serde_json::Value;

use boxes::Boxes;
use html::{Page, data, escaped, notes, table};
use provenance::Origin;
pub use read::Malformed;
use read::Read;

use crate::state_sets::{self, Sets};
use crate::style::DEFINITIONS;
use crate::svg::Picture;

/// A page, and the pictures on it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The page: one file that needs no other.
    pub html: String,
    /// How many results its summary has.
    pub results: usize,
    /// Its pictures, with names that are good for files.
    pub figures: Vec<(String, Picture)>,
}

/// A row of the summary.
#[derive(Clone, Debug, Default)]
struct Row {
    system: String,
    property: String,
    words: Option<String>,
    verdict: String,
    scope: String,
    engine: String,
    seconds: Option<f64>,
    relative: String,
    certificate: Option<String>,
    reason: Option<String>,
    /// The property's text.
    formula: Option<String>,
    /// How many steps a proof covers, or a violation takes.
    reach: Option<usize>,
    /// Where it comes from.
    origin: Option<Origin>,
    /// Whether something about it follows the summary.
    sections: bool,
    /// Where that is.
    anchor: String,
}

impl Row {
    fn new(system: &str, property: &str) -> Row {
        Row { system: system.to_owned(), property: property.to_owned(), ..Row::default() }
    }
}

/// A document is shown as rows of the summary and as sections with a heading.
struct Shown {
    rows: Vec<Row>,
    sections: Vec<(String, String)>,
}

/// Makes a page from documents, each with a name that errors and the page call it by.
pub fn report(documents: Vec<(String, Value)>) -> Result<Report, Malformed> {
    let mut page = Page::default();
    let (mut rows, mut body) = (Vec::new(), String::new());
    let named = |name: &str, error: Malformed| Malformed::new(format!("{name}: {error}"));
    let read = |(name, value): (String, Value)| match certus_documents::read(value) {
        Ok(document) => Ok((name, document)),
        Err(error) => Err(named(&name, error.into())),
    };
    let documents = &documents.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (name, document) in documents {
        let shown = shown(&mut page, document, documents).map_err(|error| named(name, error))?;
        let mut own = shown.rows;
        for (index, (title, html)) in shown.sections.into_iter().enumerate() {
            let anchor = page.name("section");
            body += &format!(
                "<section id=\"{anchor}\" aria-labelledby=\"{anchor}-h\">\n<h2 id=\"{anchor}-h\">{}</h2>\n{html}</section>\n",
                escaped(&title)
            );
            // Sections stand in the order of the rows that have one; several rows may share the only one.
            let with: Vec<usize> = (0..own.len()).filter(|&row| own[row].sections).collect();
            for (place, row) in with.into_iter().enumerate() {
                if place == index || own[row].anchor.is_empty() && index == 0 {
                    own[row].anchor.clone_from(&anchor);
                }
            }
        }
        rows.extend(own);
    }
    let mut rows = provenance::grouped(rows);
    let audited = audited(documents);
    for row in &mut rows {
        if let Some(path) = row.certificate.as_mut()
            && let Some((_, verdict)) = audited.iter().find(|(own, _)| own == path)
        {
            *path = format!("{path}: {verdict} by the audit");
        }
    }
    Ok(Report { html: whole(documents, &rows, &body), results: rows.len(), figures: page.figures })
}

/// Certificates that were audited, and what came of it.
fn audited(documents: &[(String, AnyDocument)]) -> Vec<(String, String)> {
    let audit = |(_, document): &(String, AnyDocument)| match document {
        AnyDocument::Audit(own) => Some((own.certificate.clone(), own.verdict.to_string())),
        _ => None,
    };
    documents.iter().filter_map(audit).collect()
}

fn whole(documents: &[(String, AnyDocument)], rows: &[Row], body: &str) -> String {
    let systems: Vec<&str> = rows.iter().map(|row| row.system.as_str()).filter(|own| !own.is_empty()).collect();
    let mut seen = HashSet::new();
    let systems: Vec<&str> = systems.into_iter().filter(|own| seen.insert(*own)).collect();
    let title = format!("Certus: {}", systems.join(", "));
    let sources: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{css}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#summary\">To the summary</a>\n\
         <svg width=\"0\" height=\"0\" class=\"patterns\" aria-hidden=\"true\"><defs>{DEFINITIONS}</defs></svg>\n\
         <header><h1>{title}</h1><p>Made by <code>certus report</code> from {sources}.</p></header>\n<main>\n\
         <section id=\"summary\" aria-labelledby=\"summary-h\">\n<h2 id=\"summary-h\">Summary</h2>\n{summary}</section>\n\
         {body}</main>\n<script>\n{js}</script>\n</body>\n</html>\n",
        title = escaped(&title),
        css = include_str!("page.css"),
        js = include_str!("page.js"),
        sources = escaped(&sources.join(", ")),
        summary = summary(rows),
    )
}

/// A verdict with its sign.
fn verdict(word: &str) -> String {
    let (class, sign) = match word {
        "holds" | "verified" | "safe" | "accepted" | "unsat" => ("good", "✓"),
        "violated" | "unsafe" | "rejected" | "sat" => ("wrong", "✗"),
        "model error" => ("unsure", "!"),
        "mined" | "bounded" => ("neutral", "•"),
        _ => ("unsure", "?"),
    };
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {}</span>", escaped(word))
}

fn summary(rows: &[Row]) -> String {
    let count = |wanted: &str| rows.iter().filter(|row| verdict(&row.verdict).contains(wanted)).count();
    let (good, wrong) = (count("verdict good"), count("verdict wrong"));
    let line = format!(
        "<p class=\"tally\"><b>{}</b> results: <b>{good}</b> good, <b>{wrong}</b> violated, <b>{}</b> others.</p>\n",
        rows.len(),
        rows.len() - good - wrong
    );
    let head = ["property", "verdict", "scope", "engine", "seconds", "relative to", "certificate"].map(str::to_owned);
    let cells = |row: &Row| {
        let name = format!("{} <b>{}</b>", escaped(&row.system), escaped(&row.property));
        let name = if row.anchor.is_empty() { name } else { format!("<a href=\"#{}\">{name}</a>", row.anchor) };
        let words = row
            .words
            .as_ref()
            .map_or(String::new(), |words| format!("<br><span class=\"words\">{}</span>", escaped(words)));
        let brief = row.origin.as_ref().and_then(Origin::brief);
        let brief =
            brief.map_or(String::new(), |brief| format!("<br><span class=\"words\">{}</span>", escaped(&brief)));
        let reason = row
            .reason
            .as_ref()
            .map_or(String::new(), |reason| format!("<br><span class=\"words\">{}</span>", escaped(reason)));
        vec![
            name + &words,
            verdict(&row.verdict) + &brief + &reason,
            escaped(&row.scope),
            escaped(&row.engine),
            row.seconds.map_or("–".to_owned(), data),
            escaped(&row.relative),
            escaped(row.certificate.as_deref().unwrap_or("none")),
        ]
    };
    let explained = notes(&provenance::explained(rows));
    line + &table("Results", &head, &rows.iter().map(cells).collect::<Vec<_>>()) + &explained
}

/// What the verdicts of an engine are about.
fn relative_to(engine: &str) -> &'static str {
    match engine {
        "simulation" => "sampled runs, in floating point",
        _ => "the network in its file, over the reals",
    }
}

/// A scope in words.
fn scope(scope: Scope) -> String {
    match scope {
        Scope::Unbounded => "for all time".to_owned(),
        Scope::Horizon(step) => format!("up to step {step}, where the property's own bounds end"),
        Scope::Bounded(steps) => format!("up to {steps} step{}", if steps == 1 { "" } else { "s" }),
    }
}

/// How many steps a scope has; more than any for all time.
fn reach(scope: Scope) -> usize {
    match scope {
        Scope::Unbounded | Scope::Horizon(_) => usize::MAX,
        Scope::Bounded(steps) => steps,
    }
}

/// What a property says: its documentation and its formula in words.
fn described(documented: &str, formula: &str) -> String {
    match documented.trim() {
        "" => words::in_words(formula),
        documented => format!("{documented} ({})", words::in_words(formula)),
    }
}

/// Where a document comes from, and what all of it is relative to.
fn provenance_of(document: &AnyDocument) -> (Option<&Provenance>, Option<&String>) {
    match document {
        AnyDocument::Check(own) => (Some(&own.provenance), None),
        AnyDocument::Region(own) => (Some(&own.provenance), None),
        AnyDocument::Prob(own) => (Some(&own.provenance), None),
        AnyDocument::Mdp(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Verify(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Optimise(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Gate(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Simulate(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Mine(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Shield(own) => (own.provenance.as_ref(), None),
        AnyDocument::ShieldSynthesis(own) => (own.provenance.as_ref(), own.relative_to.as_ref()),
        AnyDocument::ShieldRun(own) => (own.provenance.as_ref(), own.relative_to.as_ref()),
        AnyDocument::Extract(own) => (Some(&own.provenance), Some(&own.relative_to)),
        AnyDocument::Audit(_)
        | AnyDocument::SimulatedRun(_)
        | AnyDocument::Specifications(_)
        | AnyDocument::Network(_)
        | AnyDocument::System(_)
        | AnyDocument::Fmt(_)
        | AnyDocument::MineSql(_)
        | AnyDocument::New(_)
        | AnyDocument::Observe(_)
        | AnyDocument::Report(_)
        | AnyDocument::ShieldExport(_) => (None, None),
    }
}

/// A document with where it comes from.
fn shown(page: &mut Page, document: &AnyDocument, all: &[(String, AnyDocument)]) -> Read<Shown> {
    let mut shown = of_its_kind(page, document, all)?;
    let (Some(provenance), relative) = provenance_of(document) else { return Ok(shown) };
    let origin = Origin::of(provenance);
    for row in shown.rows.iter_mut().filter(|row| row.origin.is_none()) {
        row.origin = Some(origin.clone());
        row.relative = relative.cloned().unwrap_or_else(|| std::mem::take(&mut row.relative));
    }
    // Sections of one result have said so already.
    for (_, html) in shown.sections.iter_mut().filter(|(_, html)| !html.contains("<details class=\"provenance\">")) {
        *html += &origin.section(None);
    }
    Ok(shown)
}

fn of_its_kind(page: &mut Page, document: &AnyDocument, all: &[(String, AnyDocument)]) -> Read<Shown> {
    let one = |row: Row, title: String, html: String| Shown { rows: vec![row], sections: vec![(title, html)] };
    Ok(match document {
        AnyDocument::Check(own) => {
            results(page, &own.system, &own.states, own.initial.as_ref(), &own.results, &own.provenance)?
        }
        AnyDocument::Prob(own) => results(page, &own.system, &[], None, &own.results, &own.provenance)?,
        AnyDocument::Region(own) => regions(page, own)?,
        AnyDocument::Gate(own) => {
            let (rows, html) = gate::section(page, own);
            Shown { rows, sections: vec![(format!("Checkpoints of {}", own.system), html)] }
        }
        AnyDocument::Mine(own) => {
            let (rows, html) = mine::section(page, own)?;
            Shown { rows, sections: vec![(format!("Specifications of {}", own.name), html)] }
        }
        AnyDocument::Shield(own) => {
            let (row, html) = shield::section(page, own, all.iter().map(|(_, own)| own))?;
            one(row, format!("Shield of {}", own.system.name), html)
        }
        AnyDocument::ShieldRun(own) => {
            let (row, html) = shield_run::section(page, own)?;
            one(row, format!("Runs of {} without and with the shield", own.system), html)
        }
        AnyDocument::ShieldSynthesis(own) => plain::synthesised(own)?,
        AnyDocument::Audit(own) => plain::audited(own)?,
        AnyDocument::Verify(own) => plain::verified(own)?,
        AnyDocument::Optimise(own) => plain::optimised(own)?,
        AnyDocument::Mdp(own) => plain::model(own)?,
        AnyDocument::Simulate(own) => plain::simulated(own),
        AnyDocument::Extract(_)
        | AnyDocument::SimulatedRun(_)
        | AnyDocument::Specifications(_)
        | AnyDocument::Network(_)
        | AnyDocument::System(_)
        | AnyDocument::Fmt(_)
        | AnyDocument::MineSql(_)
        | AnyDocument::New(_)
        | AnyDocument::Observe(_)
        | AnyDocument::Report(_)
        | AnyDocument::ShieldExport(_) => return Err(Malformed::new(NO_PAGE)),
    })
}

const NO_PAGE: &str =
    "there is no page for a document of this kind; expected verdicts, bounds, runs, specifications or a shield";

fn regions(page: &mut Page, document: &certus_documents::region::Region) -> Read<Shown> {
    let system = &document.system;
    let origin = Origin::of(&document.provenance);
    let (mut rows, mut sections) = (Vec::new(), Vec::new());
    for (index, region) in document.regions.iter().enumerate() {
        let (mut row, mut html) =
            region::section(page, system, region).map_err(|error| error.within(&format!(".regions[{index}]")))?;
        html += &originating(&mut row, &origin);
        sections.push((format!("{system} {} over its parameters", row.property), html));
        rows.push(row);
    }
    Ok(Shown { rows, sections })
}

fn results(
    page: &mut Page,
    system: &str,
    states: &[NamedRange],
    initial: Option<&InitialStates>,
    results: &[PropertyResult],
    provenance: &Provenance,
) -> Read<Shown> {
    let ranges = invariant::ranges(states);
    let origin = Origin::of(provenance);
    let (mut rows, mut sections) = (Vec::new(), Vec::new());
    for (index, result) in results.iter().enumerate() {
        let (mut row, mut html) = one_result(page, system, result, &ranges, initial)
            .map_err(|error| error.within(&format!(".results[{index}]")))?;
        html += &originating(&mut row, &origin);
        sections.push((format!("{system} {}: {}", row.property, row.verdict), html));
        rows.push(row);
    }
    Ok(Shown { rows, sections })
}

/// Where a result comes from, for its section.
fn originating(row: &mut Row, origin: &Origin) -> String {
    row.origin = Some(origin.clone());
    row.sections = true;
    let brief = origin.brief().map_or(String::new(), |brief| format!("<p>Asked {}.</p>\n", escaped(&brief)));
    brief + &origin.section(Some(row))
}

fn one_result(
    page: &mut Page,
    system: &str,
    result: &PropertyResult,
    ranges: &invariant::Ranges,
    initial: Option<&InitialStates>,
) -> Read<(Row, String)> {
    if !state_sets::fitting(&result.state_sets) {
        return Err(Malformed::new("parts and their variables do not fit together").within(".state_sets"));
    }
    let sets = Sets { initial, sets: &result.state_sets };
    let reached = result.scope.flatten();
    let engine = result.engine.clone().unwrap_or_else(|| "–".to_owned());
    let row = Row {
        verdict: result.verdict.to_string(),
        words: Some(described(&result.words, &result.formula)),
        formula: Some(result.formula.clone()),
        scope: reached.map_or("–".to_owned(), scope),
        reach: reached.map(reach),
        seconds: result.seconds.map(Into::into),
        relative: result.relative_to.clone().unwrap_or_else(|| relative_to(&engine).to_owned()),
        engine,
        certificate: result.certificate.clone().flatten(),
        reason: result.reason.clone(),
        ..Row::new(system, &result.property)
    };
    let stem = format!("{system} {}", row.property);
    let mut html = String::new();
    if let Some(words) = &row.words {
        html += &format!("<p class=\"says\">{}</p>\n", escaped(words));
    }
    html += &notes(result.notes.as_deref().unwrap_or_default());
    if let Some(run) = trace::of_result(result)? {
        html += &trace::section(page, &stem, &run, sets);
    }
    if let Some(Some(proof)) = &result.proof {
        html += &invariant::section(page, &stem, proof, ranges, sets);
    }
    if result.probability.is_some() {
        html += &prob::section(page, &stem, result)?;
    }
    if let Some(grid) = &result.grid {
        html += &grid_section(page, &stem, grid, sets).map_err(|error| error.within(".grid"))?;
    }
    if let Some(pipe) = &result.flowpipe {
        let own = flowpipe::section(page, system, &result.property, pipe, sets);
        html += &own.map_err(|error| error.within(".flowpipe"))?;
    }
    Ok((row, html))
}

fn grid_section(page: &mut Page, stem: &str, grid: &Grid, sets: Sets<'_>) -> Read<String> {
    let parts = grid.reachable.cells.iter().map(|cell| {
        let (lower, upper): (Vec<_>, Vec<_>) = cell.ends.iter().map(|&[low, high]| (low, high)).unzip();
        (doubles(&lower), doubles(&upper), cell.step as f64)
    });
    let (names, parts) = (grid.axes.clone(), parts.collect::<Vec<_>>());
    boxes::fitting(names.len(), &parts).map_err(|error| error.within(".reachable.cells"))?;
    let which = if grid.reachable.every > 1 { format!(" (one in {})", grid.reachable.every) } else { String::new() };
    let beside = if sets.is_empty() {
        ""
    } else {
        " Initial states have a green outline, unsafe states are hatched, goals green."
    };
    let caption =
        format!("Grid cells that runs can reach{which}, by the step at which they are first reached.{beside}");
    let value = "step".to_owned();
    let own =
        Boxes { stem: format!("{stem} grid"), names, parts, value, steps: true, caption, shares: Vec::new(), sets };
    Ok(format!("<div class=\"figures\">{}</div>\n", boxes::section(page, own)))
}

#[cfg(test)]
mod tests;
