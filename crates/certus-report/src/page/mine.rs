//! Mined specifications: sentences, their boxes, how well they fit, what networks do.

use certus_documents::mine::{Ends, Mine, MineVerdict, NetworkResults, Quantiles, Specification, Spread};
use certus_documents::{Members, Number, plain as doubles};

use super::html::{Page, data, escaped, table, thinned};
use super::read::{Malformed, Read};
use super::{Row, ablation};
use crate::scale::{Axis, Plot, short};
use crate::svg::{Anchor, Drawing, Picture};

/// The ends of a column; what has no end is infinite.
fn ends(bounds: &Members<Ends>, column: &str) -> Option<(f64, f64)> {
    let [low, high] = bounds.get(column)?;
    Some((low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)))
}

/// Five quantiles of a column, if there was a row.
fn quantiles(spread: &Spread, own: &Quantiles, column: &str) -> Option<[f64; 5]> {
    let place = spread.columns.iter().position(|name| name == column)?;
    own.columns.get(place).map(|own| own.map(Into::into))
}

/// That there are as many quantiles as columns, or none.
fn fitting(spread: &Spread) -> Read<()> {
    let fits = |own: &Quantiles| own.columns.is_empty() || own.columns.len() == spread.columns.len();
    match fits(&spread.all) && spread.specifications.iter().all(fits) {
        true => Ok(()),
        false => Err(Malformed::new("as many quantiles as there are columns are needed").within(".spread")),
    }
}

/// Specifications of one picture.
const MOST_ROWS: usize = 40;
/// Columns of one picture.
const MOST_COLUMNS: usize = 8;
/// Attacks that are listed.
const MOST_ATTACKS: usize = 20;

/// Everything about a mining.
pub(crate) fn section(page: &mut Page, document: &Mine) -> Read<(Vec<Row>, String)> {
    let (name, specifications) = (&document.name, &document.specifications);
    let mut html = String::new();
    if let Some(mined) = &document.mined {
        html += &format!(
            "<p>{} specifications; they cover {} % of the common situations.</p>\n",
            data(specifications.len() as f64),
            data(100.0 * mined.coverage.0)
        );
    }
    let mut head = vec!["".to_owned(), "specification".to_owned()];
    for reference in specifications.first().and_then(|own| own.quality.as_ref()).into_iter().flat_map(Members::keys) {
        head.push(format!("support, {}", escaped(reference)));
        head.push(format!("confidence, {}", escaped(reference)));
    }
    let row = |own: &Specification| {
        let mut cells = vec![own.id.to_string(), escaped(&own.sentence)];
        for quality in own.quality.iter().flat_map(Members::values) {
            cells.push(data(quality.support.0));
            cells.push(quality.confidence.map_or("–".to_owned(), |own| data(own.0)));
        }
        cells
    };
    let rows: Vec<Vec<String>> = specifications.iter().map(row).collect();
    html += &table("What the reference algorithms do", &head, &rows);
    if let Some(spread) = &document.spread {
        fitting(spread)?;
    }
    html += &picture_of(page, name, specifications, document.spread.as_ref());
    let references = document.observations.iter().filter(|own| own.reference);
    let names: Vec<String> = references.map(|own| own.name.clone()).collect();
    html += &ablation::section(page, name, document, &names)?;
    let mut summary = Vec::new();
    for network in &document.networks {
        let (rows, own) = network_section(name, specifications, network);
        summary.extend(rows);
        html += &own;
    }
    if summary.is_empty() {
        let mut row = Row::new(name, "specifications");
        row.verdict = "mined".to_owned();
        row.engine = "mine".to_owned();
        row.scope = format!("{} specifications", specifications.len());
        row.relative = "what was observed".to_owned();
        row.sections = true;
        summary.push(row);
    }
    Ok((summary, html))
}

fn network_section(name: &str, specifications: &[Specification], network: &NetworkResults) -> (Vec<Row>, String) {
    let path = &network.network;
    let (mut summary, mut lines, mut attacks) = (Vec::new(), Vec::new(), Vec::new());
    let folded = |input: &[Number]| {
        format!("<details><summary>{} numbers</summary>{}</details>", input.len(), joined(&doubles(input)))
    };
    for result in &network.results {
        let id = result.specification;
        let said = specifications.iter().find(|own| own.id == id).map(|own| own.sentence.clone());
        let seconds = result.seconds.map(Into::into);
        summary.push(Row {
            words: said,
            verdict: match result.verdict {
                MineVerdict::Open => "unknown".to_owned(),
                verdict => verdict.to_string(),
            },
            engine: "mine".to_owned(),
            scope: "one decision".to_owned(),
            relative: format!("{path}, over the reals"),
            seconds,
            reason: result.reason.clone(),
            sections: true,
            ..Row::new(name, &format!("specification {id}"))
        });
        let input = result.input.as_deref().map_or("–".to_owned(), folded);
        let verdict = super::verdict(result.verdict.word());
        lines.push(vec![id.to_string(), verdict, seconds.map_or("–".to_owned(), data), input]);
        for attack in result.attacks.iter().flatten() {
            let references = attack.references.iter().map(|(name, label)| {
                format!("{}: {}", escaped(name), escaped(label.as_deref().unwrap_or("nothing like it")))
            });
            attacks.push(vec![
                id.to_string(),
                escaped(&attack.decided),
                references.collect::<Vec<_>>().join(", "),
                folded(&attack.input),
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
    (summary, html)
}

fn joined(values: &[f64]) -> String {
    values.iter().map(|value| data(*value)).collect::<Vec<_>>().join(", ")
}

/// Specifications down, columns across, each with its range as a bar.
fn picture_of(page: &mut Page, name: &str, specifications: &[Specification], spread: Option<&Spread>) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for column in specifications.iter().flat_map(|own| own.when.keys()) {
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
    for (index, column) in columns.iter().enumerate() {
        let x = left + width * index as f64;
        let found =
            specifications.iter().flat_map(|own| [ends(&own.when, column), ends(&own.observed, column)]).flatten();
        let all = spread.and_then(|spread| quantiles(spread, &spread.all, column));
        let axis = Axis::around(column, found.flat_map(|(low, high)| [low, high]).chain(all.into_iter().flatten()));
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
            for (range, class, inset) in
                [(ends(&own.observed, column), "bar2", 7.0), (ends(&own.when, column), "bar", 5.0)]
            {
                let Some((low, high)) = range else { continue };
                let clamp = |value: f64| plot.x(value.clamp(plot.across.lower, plot.across.upper));
                let title = format!("{}: {column} from {} to {}", own.id, short(low), short(high));
                drawing.rectangle(
                    [clamp(low), y + inset, (clamp(high) - clamp(low)).max(1.5), pitch - 2.0 * inset],
                    class,
                    &title,
                );
            }
            let inside = spread.and_then(|spread| quantiles(spread, spread.specifications.get(row)?, column));
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
