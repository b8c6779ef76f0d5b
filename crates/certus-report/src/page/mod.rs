//! One page from the JSON documents of any engine.
//!
//! What is expected of a document is what the commands write (`certus check --json` and so on). Optional members of a
//! result that pictures are made from:
//!
//! * `"words"` and `"formula"`: the property's documentation and text;
//! * `"relative_to"`: what a verdict is about;
//! * `"grid": {"axes": ["x", "y"], "reachable": {"every": n, "cells": [{"step": n, "box": [[a, b], …]}]}}`: cells of a finite
//!   abstraction that runs can reach, every n-th of them, with the step at which each is first reached;
//! * `"cells": [{"lower": […], "upper": […], "bound": p}]` with `"axes"`: parts of the start states, each with its bound;
//! * `"convergence": [{"seconds": s, "lower": a, "upper": b}]`: how an interval narrowed.
//!
//! Beside the results, `"provenance"` says where they come from (files with digests, settings, engine, budget), and `"states": [{"name": …, "lower": …, "upper": …}]` says where states lie.

mod ablation;
mod boxes;
mod course;
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

use serde_json::Value;

use boxes::Boxes;
use html::{Page, data, escaped, notes, table};
use provenance::Origin;
pub use read::Malformed;
use read::{Read, any, count, list, member, number, numbers, optional, text};

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
pub fn report(documents: &[(String, Value)]) -> Result<Report, Malformed> {
    let mut page = Page::default();
    let (mut rows, mut body) = (Vec::new(), String::new());
    for (name, document) in documents {
        let shown =
            shown(&mut page, document, documents).map_err(|error| Malformed::new(format!("{name}: {error}")))?;
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
fn audited(documents: &[(String, Value)]) -> Vec<(String, String)> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let audits = documents.iter().filter(|(_, own)| own.get("results").is_none());
    audits.filter_map(|(_, own)| Some((text(own, "certificate")?, text(own, "verdict")?))).collect()
}

fn whole(documents: &[(String, Value)], rows: &[Row], body: &str) -> String {
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
fn scope(value: &Value) -> Read<String> {
    if value.as_str() == Some("unbounded") {
        return Ok("for all time".to_owned());
    }
    if let Some(step) = optional(value, "horizon", count)? {
        return Ok(format!("up to step {step}, where the property's own bounds end"));
    }
    let steps = member(value, "bounded", count)?;
    Ok(format!("up to {steps} step{}", if steps == 1 { "" } else { "s" }))
}

/// How many steps a scope has; more than any for all time.
fn reach(value: &Value) -> Read<Option<usize>> {
    if value.as_str() == Some("unbounded") || value.get("horizon").is_some() {
        return Ok(Some(usize::MAX));
    }
    optional(value, "bounded", count)
}

/// What a property says: its documentation, or its formula in words.
fn described(result: &Value) -> Read<Option<String>> {
    let documented = optional(result, "words", text)?.filter(|words| !words.trim().is_empty());
    let formula = optional(result, "formula", text)?;
    Ok(match (documented, formula) {
        (Some(documented), Some(formula)) => Some(format!("{} ({})", documented.trim(), words::in_words(&formula))),
        (Some(documented), None) => Some(documented),
        (None, formula) => formula.map(|formula| words::in_words(&formula)),
    })
}

/// A document with where it comes from.
fn shown(page: &mut Page, document: &Value, all: &[(String, Value)]) -> Read<Shown> {
    let mut shown = of_its_kind(page, document, all)?;
    let Some(origin) = Origin::of(document)? else { return Ok(shown) };
    let relative = optional(document, "relative_to", text)?;
    for row in shown.rows.iter_mut().filter(|row| row.origin.is_none()) {
        row.origin = Some(origin.clone());
        row.relative = relative.clone().unwrap_or_else(|| std::mem::take(&mut row.relative));
    }
    // Sections of one result have said so already.
    for (_, html) in shown.sections.iter_mut().filter(|(_, html)| !html.contains("<details class=\"provenance\">")) {
        *html += &origin.section(None);
    }
    Ok(shown)
}

fn of_its_kind(page: &mut Page, document: &Value, all: &[(String, Value)]) -> Read<Shown> {
    let has = |key: &str| document.get(key).is_some();
    if !document.is_object() {
        return Err(Malformed::new(UNKNOWN));
    }
    if document.get("format").and_then(Value::as_str).is_some_and(|own| own.starts_with("certus-shield")) {
        let (row, html) = shield::section(page, document, all.iter().map(|(_, own)| own))?;
        return Ok(Shown { sections: vec![(format!("Shield of {}", row.system), html)], rows: vec![row] });
    }
    if has("network_alone") && has("with_shield") {
        let (row, html) = shield_run::section(page, document)?;
        return Ok(Shown {
            sections: vec![(format!("Runs of {} without and with the shield", row.system), html)],
            rows: vec![row],
        });
    }
    if has("regions") && has("system") {
        return regions(page, document);
    }
    if has("checkpoints") {
        let (rows, html) = gate::section(page, document)?;
        let title = format!("Checkpoints of {}", member(document, "system", text)?);
        return Ok(Shown { rows, sections: vec![(title, html)] });
    }
    if has("specifications") {
        let (rows, html) = mine::section(page, document)?;
        let title = format!("Specifications of {}", member(document, "name", text)?);
        return Ok(Shown { rows, sections: vec![(title, html)] });
    }
    if has("results") && has("system") {
        return results(page, document);
    }
    match plain::section(document)? {
        Some((rows, title, html)) => Ok(Shown { rows, sections: vec![(title, html)] }),
        None => Err(Malformed::new(UNKNOWN)),
    }
}

const UNKNOWN: &str = "this is no outcome that Certus writes; expected the document of a command, or a shield";

fn regions(page: &mut Page, document: &Value) -> Read<Shown> {
    let system = member(document, "system", text)?;
    let origin = Origin::of(document)?;
    let (mut rows, mut sections) = (Vec::new(), Vec::new());
    for (index, region) in member(document, "regions", |own| list(own, any))?.into_iter().enumerate() {
        let (mut row, mut html) =
            region::section(page, &system, region).map_err(|error| error.within(&format!(".regions[{index}]")))?;
        html += &originating(&mut row, origin.as_ref());
        if !html.is_empty() {
            sections.push((format!("{system} {} over its parameters", row.property), html));
        }
        rows.push(row);
    }
    Ok(Shown { rows, sections })
}

fn results(page: &mut Page, document: &Value) -> Read<Shown> {
    let system = member(document, "system", text)?;
    let ranges = invariant::ranges(document)?;
    let origin = Origin::of(document)?;
    let (mut rows, mut sections) = (Vec::new(), Vec::new());
    for (index, result) in member(document, "results", |own| list(own, any))?.into_iter().enumerate() {
        let (mut row, mut html) =
            one_result(page, &system, result, &ranges).map_err(|error| error.within(&format!(".results[{index}]")))?;
        html += &originating(&mut row, origin.as_ref());
        if !html.is_empty() {
            sections.push((format!("{system} {}: {}", row.property, row.verdict), html));
        }
        rows.push(row);
    }
    Ok(Shown { rows, sections })
}

/// Where a result comes from, for its section; empty if the document does not say.
fn originating(row: &mut Row, origin: Option<&Origin>) -> String {
    let Some(origin) = origin else { return String::new() };
    row.origin = Some(origin.clone());
    row.sections = true;
    let brief = origin.brief().map_or(String::new(), |brief| format!("<p>Asked {}.</p>\n", escaped(&brief)));
    brief + &origin.section(Some(row))
}

fn one_result(page: &mut Page, system: &str, result: &Value, ranges: &invariant::Ranges) -> Read<(Row, String)> {
    let mut row = Row::new(system, &member(result, "property", text)?);
    row.verdict = member(result, "verdict", text)?;
    row.words = described(result)?;
    row.formula = optional(result, "formula", text)?;
    row.scope = optional(result, "scope", scope)?.unwrap_or_else(|| "–".to_owned());
    row.reach = optional(result, "scope", reach)?.flatten();
    row.engine = optional(result, "engine", text)?.unwrap_or_else(|| "–".to_owned());
    row.seconds = optional(result, "seconds", number)?;
    row.relative = optional(result, "relative_to", text)?.unwrap_or_else(|| relative_to(&row.engine).to_owned());
    row.certificate = optional(result, "certificate", text)?;
    row.reason = optional(result, "reason", text)?;
    let stem = format!("{system} {}", row.property);
    let mut html = String::new();
    if let Some(words) = &row.words {
        html += &format!("<p class=\"says\">{}</p>\n", escaped(words));
    }
    let said = html.len();
    html += &notes(&optional(result, "notes", |own| list(own, text))?.unwrap_or_default());
    if let Some(run) = trace::read_member(result)? {
        html += &trace::section(page, &stem, &run);
    }
    if let Some(proof) = optional(result, "proof", any)? {
        html += &invariant::section(page, &stem, proof, ranges).map_err(|error| error.within(".proof"))?;
    }
    if result.get("probability").is_some_and(|own| !own.is_null()) {
        html += &prob::section(page, &stem, result)?;
    }
    if let Some(grid) = optional(result, "grid", any)? {
        html += &grid_section(page, &stem, grid).map_err(|error| error.within(".grid"))?;
    }
    if html.len() == said {
        return Ok((row, String::new()));
    }
    row.sections = true;
    Ok((row, html))
}

fn grid_section(page: &mut Page, stem: &str, grid: &Value) -> Read<String> {
    let names = member(grid, "axes", |own| list(own, text))?;
    let ends = |own: &Value| match numbers(own)?.as_slice() {
        &[low, high] => Ok((low, high)),
        _ => Err(Malformed::new("two ends are needed".to_owned())),
    };
    let cell = |cell: &Value| {
        let (lower, upper) = member(cell, "box", |own| list(own, ends))?.into_iter().unzip();
        Ok((lower, upper, member(cell, "step", count)? as f64))
    };
    let (every, parts) = member(grid, "reachable", |own| {
        let parts = member(own, "cells", |own| list(own, cell))?;
        boxes::fitting(names.len(), &parts).map_err(|error| error.within(".cells"))?;
        Ok((member(own, "every", count)?, parts))
    })?;
    let which = if every > 1 { format!(" (one in {every})") } else { String::new() };
    let caption = format!("Grid cells that runs can reach{which}, by the step at which they are first reached.");
    let value = "step".to_owned();
    let own = Boxes { stem: format!("{stem} grid"), names, parts, value, steps: true, caption, shares: Vec::new() };
    Ok(format!("<div class=\"figures\">{}</div>\n", boxes::section(page, own)))
}

#[cfg(test)]
mod tests;
