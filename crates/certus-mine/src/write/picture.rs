//! A picture of specifications: one row each, one column per feature with the range as a bar, and the labels as dots.

use std::fmt::Write;

use super::sentence::short;
use crate::Specification;
use crate::layout::Layout;

const ROW: f64 = 18.0;
const WIDE: f64 = 150.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 60.0;
const DOT: f64 = 16.0;

/// An SVG document. `ranges` are those of the columns that the first specification speaks of.
pub fn picture(layout: &Layout, ranges: &[(f64, f64)], specifications: &[Specification]) -> String {
    let columns: Vec<usize> =
        specifications.first().map(|own| own.bounds.iter().map(|bound| bound.column).collect()).unwrap_or_default();
    let labels = &layout.outputs.labels;
    let width = LEFT + columns.len() as f64 * (WIDE + 20.0) + labels.len() as f64 * DOT + 60.0;
    let height = TOP + specifications.len() as f64 * ROW + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a text cannot fail.
    for (place, (&column, &(low, high))) in columns.iter().zip(ranges).enumerate() {
        let x = LEFT + place as f64 * (WIDE + 20.0);
        let own = &layout.columns[column];
        let unit = if own.unit.is_empty() { String::new() } else { format!(", {}", own.unit) };
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"20\">{}{}</text>", escaped(&own.name), escaped(&unit));
        let (from, to) = (short(low * own.scale), short(high * own.scale));
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"40\" fill=\"#777\">{from}</text>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"40\" fill=\"#777\" text-anchor=\"end\">{to}</text>", x + WIDE);
    }
    let dots = LEFT + columns.len() as f64 * (WIDE + 20.0) + 10.0;
    for (place, label) in labels.iter().enumerate() {
        let x = dots + place as f64 * DOT;
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"50\" transform=\"rotate(-60 {x} 50)\">{}</text>", escaped(label));
    }
    for (row, own) in specifications.iter().enumerate() {
        let y = TOP + row as f64 * ROW;
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 10.0, y + 12.0, row + 1);
        for (place, (bound, &(low, high))) in own.bounds.iter().zip(ranges).enumerate() {
            let x = LEFT + place as f64 * (WIDE + 20.0);
            let at = |value: f64| if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) * WIDE } else { 0.0 };
            let (from, to) = (at(bound.low), at(bound.high));
            let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{}\" width=\"{WIDE}\" height=\"1\" fill=\"#ddd\"/>", y + 8.0);
            let wide = (to - from).max(1.5);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{}\" width=\"{wide:.2}\" height=\"9\" fill=\"#3b6ea5\"/>",
                x + from,
                y + 4.0
            );
        }
        for label in 0..labels.len() {
            let fill = if own.allowed.contains(label) { "#3b6ea5" } else { "none" };
            let x = dots + label as f64 * DOT;
            let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"4\" fill=\"{fill}\" stroke=\"#999\"/>", y + 8.0);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
