//! Probabilities: the interval, how it narrowed, and the bound over the parts of the start states.

use certus_documents::check::{ActionBounds, PropertyResult};
use certus_documents::plain as doubles;

use super::boxes::{self, Boxes, Shares};
use super::html::{Page, bound, data, escaped, thinned};
use super::read::{Malformed, Read};
use crate::scale::{Axis, Plot, number as tick};
use crate::state_sets::Sets;
use crate::svg::{Anchor, Drawing, Picture};

/// The number that a property compares its probability with.
fn threshold(formula: &str) -> Option<f64> {
    let rest = formula.trim_start().strip_prefix('P')?;
    let rest = rest.trim_start_matches(|c: char| c.is_alphabetic()).trim_start();
    let rest =
        rest.strip_prefix("<=").or(rest.strip_prefix(">=")).or(rest.strip_prefix('<')).or(rest.strip_prefix('>'))?;
    let end = rest.find('[').unwrap_or(rest.len());
    rest[..end].trim().parse().ok()
}

/// Everything about a probability; nothing if the result is of another kind.
pub(crate) fn section(page: &mut Page, stem: &str, result: &PropertyResult) -> Read<String> {
    let Some(probability) = result.probability else { return Ok(String::new()) };
    let (lower, upper) = (probability.lower.0, probability.upper.0);
    let asked = threshold(&result.formula);
    let mut html = format!(
        "<p>The worst probability over all initial states is in [{}, {}]",
        bound(lower, false),
        bound(upper, true)
    );
    if let Some(method) = &result.method {
        html += &format!(", by {}", escaped(method));
    }
    if let Some(regions) = result.regions {
        html += &format!("; {} regions", data(regions as f64));
    }
    html += ".</p>\n";
    if let Some(Some(start)) = &result.start {
        let values: Vec<String> =
            start.iter().map(|(name, value)| format!("{} = {}", escaped(name), data(value.0))).collect();
        html += &format!("<p>Worst start state found: {}.</p>\n", values.join(", "));
    }
    html += "<div class=\"figures\">\n";
    let caption = match asked {
        Some(_) => "The interval that contains the worst probability; the line is what the property asks for.",
        None => "The interval that contains the worst probability.",
    };
    html += &page.figure(
        &format!("{stem} interval"),
        &interval(lower, upper, asked),
        &format!("{stem}: interval from {lower} to {upper}"),
        caption,
    );
    let course = result.convergence.iter().flatten();
    let course: Vec<(f64, f64, f64)> = course.map(|own| (own.seconds.0, own.lower.0, own.upper.0)).collect();
    if course.len() > 1 {
        let caption = format!("How the interval narrowed: {} points in time.", data(course.len() as f64));
        html += &page.figure(
            &format!("{stem} convergence"),
            &convergence(&course),
            &format!("{stem}: both ends of the interval over time"),
            &caption,
        );
    }
    let cells = result.cells.iter().flatten();
    let parts: Vec<boxes::Part> = cells.map(|own| (doubles(&own.lower), doubles(&own.upper), own.bound.0)).collect();
    if !parts.is_empty() {
        let names = result.axes.clone().ok_or_else(|| Malformed::new("`axes` is missing"))?;
        boxes::fitting(names.len(), &parts).map_err(|error| error.within(".cells"))?;
        let caption = "Start states: bound of the probability to reach the goal, in boxes around the parts.".to_owned();
        let actions = result.actions.iter().flatten().flatten().enumerate();
        let shares = actions
            .map(|(index, own)| shares(own, parts.len()).map_err(|error| error.within(&format!(".actions[{index}]"))));
        let shares = shares.collect::<Read<Vec<Shares>>>()?;
        if result.actions == Some(None) {
            html +=
                &thinned("What the policy does was not bounded over so many parts, so there are no pictures of it.");
        }
        let value = "bound".to_owned();
        let stem = format!("{stem} partition");
        html += &boxes::section(
            page,
            Boxes { stem, names, parts, value, steps: false, caption, shares, sets: Sets::default() },
        );
    }
    Ok(html + "</div>\n")
}

/// What a policy does over the parts: bounds of the probability of one label.
fn shares(action: &ActionBounds, parts: usize) -> Read<Shares> {
    let name = format!("{} = {}", action.action, action.label);
    let (least, most) = (doubles(&action.lower), doubles(&action.upper));
    if least.len() != parts || most.len() != parts {
        return Err(Malformed::new(format!("`lower` and `upper` need a number for each of {parts} cells")));
    }
    Ok(Shares { name, least, most })
}

/// Whether a picture goes by orders of magnitude, and how its values are placed then.
fn magnitudes(values: &[f64]) -> Option<f64> {
    let positive = values.iter().copied().filter(|value| *value > 0.0);
    let least = positive.clone().fold(f64::INFINITY, f64::min);
    let most = positive.fold(0.0, f64::max);
    (most > 50.0 * least || (most > 0.0 && most < 0.005)).then(|| least.log10().floor().max(-30.0))
}

fn placed(value: f64, floor: Option<f64>) -> f64 {
    match floor {
        Some(floor) if value > 0.0 => value.log10().max(floor),
        Some(floor) => floor,
        None => value,
    }
}

fn interval(lower: f64, upper: f64, asked: Option<f64>) -> Picture {
    let values: Vec<f64> = [lower, upper].into_iter().chain(asked).collect();
    let floor = magnitudes(&values);
    let most = values.iter().copied().fold(0.0, f64::max);
    let axis = match floor {
        Some(floor) => Axis { name: String::new(), lower: floor - 0.5, upper: (most.log10() + 0.5).min(0.0) },
        None => Axis { name: String::new(), lower: 0.0, upper: if most > 0.5 { 1.0 } else { (1.2 * most).max(1e-3) } },
    };
    let [left, top, width, height] = [40.0, 20.0, 400.0, 34.0];
    let mut drawing = Drawing::new(480.0, 100.0);
    let x = |value: f64| left + width * axis.share(placed(value, floor)).clamp(0.0, 1.0);
    drawing.rectangle([left, top, width, height], "frame", "");
    let title = format!("from {lower} to {upper}");
    drawing.rectangle([x(lower), top + 4.0, (x(upper) - x(lower)).max(2.0), height - 8.0], "bar", &title);
    for own in axis.ticks(5.0).into_iter().filter(|own| floor.is_none() || own.fract() == 0.0) {
        let at = left + width * axis.share(own);
        drawing.line([at, top + height, at, top + height + 5.0], "tick");
        let shown = if floor.is_some() {
            if own == 0.0 { "1".to_owned() } else { format!("1e{}", tick(own)) }
        } else {
            tick(own)
        };
        drawing.text(at, top + height + 18.0, Anchor::Middle, &shown);
    }
    drawing.text(
        left + width / 2.0,
        top + height + 36.0,
        Anchor::Middle,
        if floor.is_some() { "probability, logarithmic" } else { "probability" },
    );
    if let Some(asked) = asked {
        drawing.bold_line([x(asked), top - 6.0, x(asked), top + height + 6.0]);
        drawing.text(x(asked), top - 8.0, Anchor::Middle, &tick(asked));
    }
    drawing.finish(None)
}

fn convergence(course: &[(f64, f64, f64)]) -> Picture {
    let values: Vec<f64> = course.iter().flat_map(|(_, lower, upper)| [*lower, *upper]).collect();
    let floor = magnitudes(&values);
    let mut up = Axis::around("probability", values.iter().map(|value| placed(*value, floor)));
    if floor.is_some() {
        up.name = "probability, power of ten".to_owned();
    }
    let last = course.last().map_or(1.0, |point| point.0);
    let plot = Plot {
        rectangle: [66.0, 10.0, 402.0, 240.0],
        across: Axis { name: "seconds".to_owned(), lower: 0.0, upper: if last > 0.0 { last } else { 1.0 } },
        up,
    };
    let mut drawing = Drawing::new(480.0, 294.0);
    plot.frame(&mut drawing);
    for (class, end) in [("second", 1), ("low", 0)] {
        // A bound holds from when it was known until the next one is.
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (seconds, lower, upper) in course {
            let point = plot.at(*seconds, placed(if end == 1 { *upper } else { *lower }, floor));
            if let Some(before) = points.last().copied() {
                points.push((point.0, before.1));
            }
            points.push(point);
        }
        drawing.polyline(&points, class);
        let (words, y) = if end == 1 { ("upper end", 128.0) } else { ("lower end", 144.0) };
        drawing.line([360.0, y - 4.0, 384.0, y - 4.0], class);
        drawing.text(390.0, y, Anchor::Start, words);
    }
    drawing.finish(Some(plot.geometry()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read() {
        assert_eq!(threshold("P<=0.01 [ F<=7 crash ]"), Some(0.01));
        assert_eq!(threshold("Pmax>=0.5 [ F ok ]"), Some(0.5));
        assert_eq!(threshold("Pmax=? [ F<=20 crash ]"), None);
        assert_eq!(threshold("G x < 1"), None);
    }
}
