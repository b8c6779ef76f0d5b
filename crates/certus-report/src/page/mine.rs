//! Mined specifications: sentences, their boxes, how well they fit, what networks do.

use serde_json::Value;

use super::html::{Page, data, escaped, table, thinned};
use super::read::{Malformed, Read, any, count, list, member, members, number, numbers, optional, text, truth};
use super::{Row, ablation};
use crate::scale::{Axis, Plot, short};
use crate::svg::{Anchor, Drawing, Picture};

/// The ends of columns; what has no end is infinite.
type Bounds = Vec<(String, (f64, f64))>;

struct Specification {
    id: usize,
    when: Bounds,
    observed: Bounds,
    sentence: String,
    quality: Vec<(String, Value)>,
}

/// Five quantiles of each column, or nothing where there was no row.
type Quantiles = Vec<[f64; 5]>;

/// How observations are spread: all of them, and those inside of each specification.
struct Spread {
    columns: Vec<String>,
    all: Quantiles,
    inside: Vec<Quantiles>,
}

impl Spread {
    fn read(value: &Value) -> Read<Spread> {
        let five = |value: &Value| {
            let found = numbers(value)?;
            <[f64; 5]>::try_from(found).map_err(|_| Malformed::new("expected five quantiles"))
        };
        let columns = member(value, "columns", |own| list(own, text))?;
        let quantiles = |own: &Value| {
            let found = member(own, "columns", |own| list(own, five))?;
            match found.len() {
                count if count == 0 || count == columns.len() => Ok(found),
                _ => Err(Malformed::new("as many quantiles as there are columns are needed")),
            }
        };
        let all = member(value, "all", quantiles)?;
        let inside = member(value, "specifications", |own| list(own, quantiles))?;
        Ok(Spread { all, inside, columns })
    }

    fn find(&self, own: &Quantiles, column: &str) -> Option<[f64; 5]> {
        own.get(self.columns.iter().position(|name| name == column)?).copied()
    }
}

fn bounds(value: &Value) -> Read<Bounds> {
    members(value, |ends| {
        let end = |value: &Value, open: f64| if value.is_null() { Ok(open) } else { number(value) };
        match ends.as_array().map(Vec::as_slice) {
            Some([low, high]) => Ok((end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?)),
            _ => Err(Malformed::new("expected two ends")),
        }
    })
}

fn read(value: &Value) -> Read<Specification> {
    Ok(Specification {
        id: member(value, "id", count)?,
        when: member(value, "when", bounds)?,
        observed: optional(value, "observed", bounds)?.unwrap_or_default(),
        sentence: member(value, "sentence", text)?,
        quality: optional(value, "quality", |own| members(own, |quality| Ok(quality.clone())))?.unwrap_or_default(),
    })
}

/// Specifications of one picture.
const MOST_ROWS: usize = 40;
/// Columns of one picture.
const MOST_COLUMNS: usize = 8;
/// Attacks that are listed.
const MOST_ATTACKS: usize = 20;

/// Everything about a mining.
pub(crate) fn section(page: &mut Page, document: &Value) -> Read<(Vec<Row>, String)> {
    let name = member(document, "name", text)?;
    let specifications = member(document, "specifications", |own| list(own, read))?;
    let mut html = String::new();
    if let Some(mined) = optional(document, "mined", any)? {
        let coverage = optional(mined, "coverage", number)?.unwrap_or(f64::NAN);
        html += &format!(
            "<p>{} specifications; they cover {} % of the common situations.</p>\n",
            data(specifications.len() as f64),
            data(100.0 * coverage)
        );
    }
    let mut head = vec!["".to_owned(), "specification".to_owned()];
    let references: Vec<String> =
        specifications.first().map_or(Vec::new(), |own| own.quality.iter().map(|(name, _)| name.clone()).collect());
    for reference in &references {
        head.push(format!("support, {}", escaped(reference)));
        head.push(format!("confidence, {}", escaped(reference)));
    }
    let mut rows = Vec::new();
    for own in &specifications {
        let mut cells = vec![own.id.to_string(), escaped(&own.sentence)];
        for (_, quality) in &own.quality {
            cells.push(optional(quality, "support", number)?.map_or("–".to_owned(), data));
            cells.push(optional(quality, "confidence", number)?.map_or("–".to_owned(), data));
        }
        rows.push(cells);
    }
    html += &table("What the reference algorithms do", &head, &rows);
    let spread = optional(document, "spread", Spread::read)?;
    html += &picture_of(page, &name, &specifications, spread.as_ref());
    let observed = optional(document, "observations", |own| list(own, any))?.unwrap_or_default();
    let mut names = Vec::new();
    for (index, own) in observed.iter().enumerate() {
        let place = |error: Malformed| error.within(&format!(".observations[{index}]"));
        if member(own, "reference", truth).map_err(place)? {
            names.push(member(own, "name", text).map_err(place)?);
        }
    }
    html += &ablation::section(page, &name, document, &names)?;
    let mut summary = Vec::new();
    let networks = optional(document, "networks", |own| list(own, any))?.unwrap_or_default();
    for (index, network) in networks.iter().enumerate() {
        let place = |error: Malformed| error.within(&format!(".networks[{index}]"));
        let (rows, own) = network_section(&name, &specifications, network).map_err(place)?;
        summary.extend(rows);
        html += &own;
    }
    if summary.is_empty() {
        let mut row = Row::new(&name, "specifications");
        row.verdict = "mined".to_owned();
        row.engine = "mine".to_owned();
        row.scope = format!("{} specifications", specifications.len());
        row.relative = "what was observed".to_owned();
        row.sections = true;
        summary.push(row);
    }
    Ok((summary, html))
}

fn network_section(name: &str, specifications: &[Specification], network: &Value) -> Read<(Vec<Row>, String)> {
    let path = member(network, "network", text)?;
    let results = member(network, "results", |own| list(own, any))?;
    let (mut summary, mut lines, mut attacks) = (Vec::new(), Vec::new(), Vec::new());
    for (index, result) in results.iter().enumerate() {
        let place = |error: Malformed| error.within(&format!(".results[{index}]"));
        let id = member(result, "specification", count).map_err(place)?;
        let verdict = member(result, "verdict", text).map_err(place)?;
        let seconds = optional(result, "seconds", number).map_err(place)?;
        let mut row = Row::new(name, &format!("specification {id}"));
        row.words = specifications.iter().find(|own| own.id == id).map(|own| own.sentence.clone());
        row.verdict = if verdict == "open" { "unknown".to_owned() } else { verdict.clone() };
        row.engine = "mine".to_owned();
        row.scope = "one decision".to_owned();
        row.relative = format!("{path}, over the reals");
        row.seconds = seconds;
        row.reason = optional(result, "reason", text).map_err(place)?;
        row.sections = true;
        summary.push(row);
        let input = optional(result, "input", numbers).map_err(place)?;
        let input = input.map_or("–".to_owned(), |input| {
            format!("<details><summary>{} numbers</summary>{}</details>", input.len(), joined(&input))
        });
        lines.push(vec![id.to_string(), super::verdict(&verdict), seconds.map_or("–".to_owned(), data), input]);
        for attack in optional(result, "attacks", |own| list(own, any)).map_err(place)?.unwrap_or_default() {
            let decided = member(attack, "decided", text).map_err(place)?;
            let input = member(attack, "input", numbers).map_err(place)?;
            let references =
                optional(attack, "references", |own| members(own, any)).map_err(place)?.unwrap_or_default();
            let references: Vec<String> = references
                .iter()
                .map(|(name, label)| {
                    format!("{}: {}", escaped(name), escaped(label.as_str().unwrap_or("nothing like it")))
                })
                .collect();
            attacks.push(vec![
                id.to_string(),
                escaped(&decided),
                references.join(", "),
                format!("<details><summary>{} numbers</summary>{}</details>", input.len(), joined(&input)),
            ]);
        }
    }
    let title = format!("What {path} does");
    let mut html =
        table(&title, &["specification", "verdict", "seconds", "input that violates it"].map(str::to_owned), &lines);
    if !attacks.is_empty() {
        let total = attacks.len();
        if total > MOST_ATTACKS {
            html += &thinned(&format!("The first {MOST_ATTACKS} of {total} attacks."));
            attacks.truncate(MOST_ATTACKS);
        }
        let head = ["specification", "the network decides", "observations most like it", "input"].map(str::to_owned);
        html += &table("Attacks: inputs on which the network leaves a specification", &head, &attacks);
    }
    Ok((summary, html))
}

fn joined(values: &[f64]) -> String {
    values.iter().map(|value| data(*value)).collect::<Vec<_>>().join(", ")
}

/// Specifications down, columns across, each with its range as a bar.
fn picture_of(page: &mut Page, name: &str, specifications: &[Specification], spread: Option<&Spread>) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for (column, _) in specifications.iter().flat_map(|own| &own.when) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    if columns.is_empty() {
        return String::new();
    }
    let mut html = String::new();
    let (all, rows) = (columns.len(), specifications.len());
    columns.truncate(MOST_COLUMNS);
    if all > MOST_COLUMNS || rows > MOST_ROWS {
        html += &thinned(&format!(
            "The picture shows {} of {rows} specifications and {} of {all} columns; the sentences have all.",
            rows.min(MOST_ROWS),
            columns.len()
        ));
    }
    let picture = ranges_picture(&columns, &specifications[..rows.min(MOST_ROWS)], spread);
    let label = format!("{name}: ranges of {} columns in {} specifications", columns.len(), rows);
    let figure = page.figure(
        &format!("{name} specifications"),
        &picture,
        &label,
        "When each specification applies (dark: its condition, light: where it was observed), column by column. \
         Boxes: how the observations inside are spread, and all of them in the first row (5, 25, 50, 75, 95 %).",
    );
    html + &format!("<div class=\"figures\">{figure}</div>\n")
}

fn ranges_picture(columns: &[&String], specifications: &[Specification], spread: Option<&Spread>) -> Picture {
    let (left, top, pitch) = (34.0, 64.0, 20.0);
    let width = (480.0 - left - 12.0) / columns.len() as f64;
    // All observations come first.
    let first = usize::from(spread.is_some());
    let depth = pitch * (specifications.len() + first) as f64;
    let mut drawing = Drawing::new(480.0, top + depth + 34.0);
    let find = |bounds: &Bounds, column: &String| bounds.iter().find(|(name, _)| name == column).map(|(_, ends)| *ends);
    for (index, column) in columns.iter().enumerate() {
        let x = left + width * index as f64;
        let ends =
            specifications.iter().flat_map(|own| [find(&own.when, column), find(&own.observed, column)]).flatten();
        let all = spread.and_then(|spread| spread.find(&spread.all, column));
        let axis = Axis::around(column, ends.flat_map(|(low, high)| [low, high]).chain(all.into_iter().flatten()));
        let plot = Plot {
            rectangle: [x + 4.0, top, width - 8.0, depth],
            across: axis,
            up: Axis { name: String::new(), lower: 0.0, upper: 1.0 },
        };
        drawing.turned_text(x + 6.0, top - 8.0, Anchor::Start, "", -20.0, column);
        drawing.rectangle(plot.rectangle, "frame", "");
        for own in [plot.across.lower, plot.across.upper] {
            let (anchor, at) =
                if own == plot.across.lower { (Anchor::Start, x + 4.0) } else { (Anchor::End, x + width - 4.0) };
            let shown = short((own * 100.0).round() / 100.0);
            if width > 70.0 {
                drawing.text(at, top + depth + 16.0, anchor, &shown);
            }
        }
        if let Some(all) = all {
            quantile_box(&mut drawing, &plot, top, pitch, all, &format!("all: {column}"));
        }
        for (row, own) in specifications.iter().enumerate() {
            let y = top + pitch * (row + first) as f64;
            for (ends, class, inset) in
                [(find(&own.observed, column), "bar2", 7.0), (find(&own.when, column), "bar", 5.0)]
            {
                let Some((low, high)) = ends else { continue };
                let clamp = |value: f64| plot.x(value.clamp(plot.across.lower, plot.across.upper));
                let title = format!("{}: {column} from {} to {}", own.id, short(low), short(high));
                drawing.rectangle(
                    [clamp(low), y + inset, (clamp(high) - clamp(low)).max(1.5), pitch - 2.0 * inset],
                    class,
                    &title,
                );
            }
            let inside = spread.and_then(|spread| spread.find(spread.inside.get(row)?, column));
            if let Some(inside) = inside {
                quantile_box(&mut drawing, &plot, y, pitch, inside, &format!("{}: {column}", own.id));
            }
        }
    }
    if first == 1 {
        drawing.text(left - 6.0, top + 14.0, Anchor::End, "all");
    }
    for (row, own) in specifications.iter().enumerate() {
        drawing.text(left - 6.0, top + pitch * (row + first) as f64 + 14.0, Anchor::End, &own.id.to_string());
    }
    drawing.finish(None)
}

/// A line from the first to the last quantile, a box around the middle half, and the median.
fn quantile_box(drawing: &mut Drawing, plot: &Plot, y: f64, pitch: f64, quantiles: [f64; 5], title: &str) {
    let [least, low, middle, high, most] =
        quantiles.map(|value| plot.x(value.clamp(plot.across.lower, plot.across.upper)));
    let centre = y + pitch / 2.0;
    drawing.line([least, centre, most, centre], "tick");
    let shown: Vec<String> = quantiles.iter().map(|value| short(*value)).collect();
    let title = format!("{title}, 5 to 95 %: {}", shown.join(", "));
    drawing.rectangle([low, centre - 5.0, (high - low).max(1.0), 10.0], "holds edged", &title);
    drawing.line([middle, centre - 5.0, middle, centre + 5.0], "bold");
}
