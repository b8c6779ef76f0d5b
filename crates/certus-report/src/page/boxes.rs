//! Boxes with a value each, in the colours of heat: parts of a partition, cells of a grid.

use std::fmt::Write;

use serde_json::{Value, json};

use super::html::{Page, data, escaped, script_data, select, thinned};
use super::read::Malformed;
use crate::scale::{Axis, Plot, short};
use crate::state_sets::{Along, Sets};
use crate::style::{LEVELS, heat};
use crate::svg::{Anchor, Drawing, Picture, place};

/// A box: lower ends, upper ends, value.
pub(crate) type Part = (Vec<f64>, Vec<f64>, f64);

/// Boxes to draw.
pub(crate) struct Boxes<'d> {
    /// What the figure is called.
    pub(crate) stem: String,
    /// The names of the dimensions.
    pub(crate) names: Vec<String>,
    /// The boxes.
    pub(crate) parts: Vec<Part>,
    /// What a value is.
    pub(crate) value: String,
    /// Whether values are steps, over which the boxes can be played; then the smallest value of several counts, else
    /// the largest.
    pub(crate) steps: bool,
    /// What stands below the picture, as HTML.
    pub(crate) caption: String,
    /// Other values of the same boxes, each a picture of its own.
    pub(crate) shares: Vec<Shares>,
    /// Sets of states that are drawn over them.
    pub(crate) sets: Sets<'d>,
}

/// A share from 0 to 1 of every box, between two ends.
pub(crate) struct Shares {
    /// What it is a share of, or of what: a few words.
    pub(crate) name: String,
    /// The lower end for every box.
    pub(crate) least: Vec<f64>,
    /// The upper end for every box.
    pub(crate) most: Vec<f64>,
}

/// Boxes that are drawn one by one.
const MOST: usize = 40_000;
/// Squares along each axis of a picture that stands for more.
const RASTER: usize = 128;

/// Whether every box has as many ends as there are names, in order.
pub(crate) fn fitting(names: usize, parts: &[Part]) -> Result<(), Malformed> {
    for (index, (lower, upper, value)) in parts.iter().enumerate() {
        let wrong = |what: &str| Err(Malformed::new(what.to_owned()).within(&format!("[{index}]")));
        if lower.len() != names || upper.len() != names {
            return wrong("as many ends as there are axes are needed");
        }
        if lower.iter().zip(upper).any(|(low, high)| !low.is_finite() || !high.is_finite() || low > high) {
            return wrong("`lower` is not below `upper`");
        }
        if !value.is_finite() {
            return wrong("the value is not finite");
        }
    }
    Ok(())
}

impl Boxes<'_> {
    fn ends(&self) -> (f64, f64) {
        let values = || self.parts.iter().map(|part| part.2);
        let low = values().fold(f64::INFINITY, f64::min);
        (low, values().fold(low, f64::max))
    }

    /// Whether colours go by orders of magnitude.
    fn logarithmic(&self) -> bool {
        let positive = self.parts.iter().map(|part| part.2).filter(|value| *value > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min);
        !self.steps && self.ends().1 > 1000.0 * least
    }

    /// The colour of each value.
    fn levels(&self) -> impl Fn(f64) -> usize + use<> {
        let (mut low, high) = self.ends();
        let logarithmic = self.logarithmic();
        if logarithmic {
            low = low.max(high * 1e-12);
        } else if !self.steps {
            low = low.min(0.0);
        }
        move |value: f64| {
            let share = match logarithmic {
                true => (value.max(low) / low).ln() / (high / low).ln(),
                false => (value - low) / (high - low),
            };
            // Of equal values none is more than another: all have the first colour.
            if share.is_finite() { (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize } else { 0 }
        }
    }

    /// Fewer boxes that say no more than these did: squares with the value that counts of all that meet them.
    fn rastered(&self) -> Vec<Part> {
        let axis = |dimension: usize| {
            let low = self.parts.iter().map(|part| part.0[dimension]).fold(f64::INFINITY, f64::min);
            (low, self.parts.iter().map(|part| part.1[dimension]).fold(low, f64::max))
        };
        let axes = [axis(0), axis(1)];
        let mut squares: Vec<Option<f64>> = vec![None; RASTER * RASTER];
        let place = |(low, high): (f64, f64), value: f64| {
            let share = if high > low { (value - low) / (high - low) } else { 0.0 };
            (share * RASTER as f64).clamp(0.0, RASTER as f64)
        };
        for (lower, upper, value) in &self.parts {
            let range = |dimension: usize| {
                let from = (place(axes[dimension], lower[dimension]).floor() as usize).min(RASTER - 1);
                from..(place(axes[dimension], upper[dimension]).ceil() as usize).clamp(from + 1, RASTER)
            };
            for row in range(1) {
                for column in range(0) {
                    let square = &mut squares[row * RASTER + column];
                    let better = |own: f64| if self.steps { own.min(*value) } else { own.max(*value) };
                    *square = Some(square.map_or(*value, better));
                }
            }
        }
        let end = |dimension: usize, index: usize| {
            let (low, high) = axes[dimension];
            low + (high - low) * index as f64 / RASTER as f64
        };
        let filled = squares.iter().enumerate().filter_map(|(index, value)| value.map(|value| (index, value)));
        filled
            .map(|(index, value)| {
                let (row, column) = (index / RASTER, index % RASTER);
                (vec![end(0, column), end(1, row)], vec![end(0, column + 1), end(1, row + 1)], value)
            })
            .collect()
    }
}

/// So many boxes have outlines.
const OUTLINED: usize = 1500;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 66.0;
const SIDE: f64 = 330.0;

fn picture(boxes: &Boxes<'_>, level: &dyn Fn(f64) -> usize) -> Picture {
    let (mut low, high) = boxes.ends();
    if boxes.logarithmic() {
        low = low.max(high * 1e-12);
    } else if !boxes.steps {
        low = low.min(0.0);
    }
    picture_between(boxes, level, (low, high), boxes.logarithmic())
}

/// The picture with colours by this rule, from the first of two values to the second.
fn picture_between(boxes: &Boxes<'_>, level: &dyn Fn(f64) -> usize, range: (f64, f64), logarithmic: bool) -> Picture {
    let flat = boxes.names.len() == 1;
    let ends = |part: &Part, dimension: usize| match flat && dimension == 1 {
        true => (0.0, 1.0),
        false => (part.0[dimension], part.1[dimension]),
    };
    let axis = |dimension: usize| {
        let name = boxes.names.get(dimension).map_or("", String::as_str);
        let low = boxes.parts.iter().map(|part| ends(part, dimension).0).fold(f64::INFINITY, f64::min);
        let high = boxes.parts.iter().map(|part| ends(part, dimension).1).fold(low, f64::max);
        match low < high {
            true => Axis { name: name.to_owned(), lower: low, upper: high },
            false => Axis::around(name, [low].into_iter()),
        }
    };
    let depth = if flat { 60.0 } else { 330.0 };
    let plot = Plot { rectangle: [LEFT, 10.0, SIDE, depth], across: axis(0), up: axis(1) };
    let mut paths = vec![String::new(); LEVELS];
    for part in &boxes.parts {
        let ((a, b), (c, d)) = (ends(part, 0), ends(part, 1));
        let (x, y) = (plot.x(a), plot.y(d));
        let (width, height) = ((plot.x(b) - x).max(0.3), (plot.y(c) - y).max(0.3));
        let (x, y, width, height) = (place(x), place(y), place(width), place(height));
        let _ = write!(paths[level(part.2)], "M{x} {y}h{width}v{height}h-{width}z");
    }
    let mut drawing = Drawing::new(WIDTH, depth + 54.0);
    // Outlines show the partition, until there is hardly anything but outlines.
    let class = if boxes.parts.len() <= OUTLINED && !boxes.steps { "cell" } else { "heat" };
    drawing.line_of("<g class=\"parts\">");
    for (level, d) in paths.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
        drawing.path(d, class, &heat(level), "");
    }
    drawing.line_of("</g>");
    if flat {
        let one = Plot { up: Axis { name: String::new(), lower: 0.0, upper: 0.0 }, ..plot };
        one.frame(&mut drawing);
        bar(&mut drawing, range, logarithmic, depth);
        return drawing
            .finish(Some(Plot { up: Axis { name: String::new(), lower: 0.0, upper: 1.0 }, ..one }.geometry()));
    }
    if !boxes.sets.is_empty() {
        let (across, up) = (Along::Variable(&boxes.names[0]), Along::Variable(&boxes.names[1]));
        drawing.line_of("<g class=\"sets\">");
        boxes.sets.draw(&mut drawing, &plot, across, up);
        boxes.sets.draw_initial(&mut drawing, &plot, across, up);
        drawing.line_of("</g>");
    }
    drawing.line_of("<g class=\"axes\">");
    plot.frame(&mut drawing);
    drawing.line_of("</g>");
    bar(&mut drawing, range, logarithmic, depth);
    drawing.finish(Some(plot.geometry()))
}

/// The colours and what they mean.
fn bar(drawing: &mut Drawing, (low, high): (f64, f64), logarithmic: bool, depth: f64) {
    let x = LEFT + SIDE + 14.0;
    let slice = depth / LEVELS as f64;
    for level in 0..LEVELS {
        let y = 10.0 + depth - (level + 1) as f64 * slice;
        let d = format!("M{} {}h12v{}h-12z", place(x), place(y), place(slice + 0.4));
        drawing.path(&d, "heat", &heat(level), "");
    }
    drawing.text(x + 16.0, 20.0, Anchor::Start, &compact(high));
    drawing.text(x + 16.0, 10.0 + depth, Anchor::Start, &compact(low));
    if logarithmic {
        drawing.classed_text(x + 16.0, 10.0 + depth / 2.0, Anchor::Start, "soft", "log");
    }
}

fn compact(value: f64) -> String {
    let text = short(value);
    if text.len() > 7 { format!("{value:.1e}") } else { text }
}

/// The figure with its controls and data, and those of other values of the same boxes.
pub(crate) fn section(page: &mut Page, mut boxes: Boxes<'_>) -> String {
    if boxes.parts.is_empty() || boxes.names.is_empty() {
        return String::new();
    }
    let count = boxes.parts.len();
    let mut html = String::new();
    let mut shares = std::mem::take(&mut boxes.shares);
    let rastered = count > MOST && boxes.names.len() >= 2;
    if rastered {
        boxes.parts = boxes.rastered();
        boxes.names.truncate(2);
        let which = if boxes.steps { "smallest" } else { "largest" };
        html += &thinned(&format!(
            "{count} boxes are too many to draw one by one: the picture has {RASTER} × {RASTER} squares, each with the {which} \
             value of all boxes that meet it."
        ));
        if !shares.is_empty() {
            html += &thinned("Pictures of single actions are left out for the same reason.");
            shares.clear();
        }
    }
    // What counts is drawn last.
    let mut order: Vec<usize> = (0..boxes.parts.len()).collect();
    let value = |index: usize| boxes.parts[index].2;
    order.sort_by(|&a, &b| if boxes.steps { value(b).total_cmp(&value(a)) } else { value(a).total_cmp(&value(b)) });
    boxes.parts = order.iter().map(|&index| boxes.parts[index].clone()).collect();
    let level = boxes.levels();
    let id = page.name("boxes");
    html += &figure(page, &id, &boxes, count, &picture(&boxes, &level));
    let dimensions = boxes.names.len();
    let column =
        |read: &dyn Fn(&Part) -> f64| -> Value { boxes.parts.iter().map(|part| Value::from(read(part))).collect() };
    let lower: Vec<Value> = (0..dimensions).map(|i| column(&|part| part.0[i])).collect();
    let upper: Vec<Value> = (0..dimensions).map(|i| column(&|part| part.1[i])).collect();
    let levels: Vec<usize> = boxes.parts.iter().map(|part| level(part.2)).collect();
    let colours: Vec<String> = (0..LEVELS).map(heat).collect();
    html += &script_data(
        &id,
        &json!({
            "names": boxes.names, "lower": lower, "upper": upper, "values": column(&|part| part.2), "levels": levels,
            "colours": colours, "value": boxes.value, "steps": boxes.steps, "states": boxes.sets.data(),
        }),
    );
    shares.iter().for_each(|own| html += &shared(page, &id, &boxes, &order, own));
    html
}

/// The picture with its controls.
fn figure(page: &mut Page, id: &str, boxes: &Boxes<'_>, count: usize, picture: &Picture) -> String {
    page.keep(&boxes.stem, picture);
    let mut controls = String::new();
    if boxes.names.len() > 2 {
        controls += &select("across", "across", &boxes.names, 0);
        controls += &select("up", "up", &boxes.names, 1);
    }
    let (low, high) = boxes.ends();
    if boxes.steps && high > low {
        controls += &format!(
            "<button type=\"button\" class=\"play\" aria-label=\"play\">▶ play</button>\
             <label>up to step <input type=\"range\" class=\"until\" min=\"{low}\" max=\"{high}\" value=\"{high}\" step=\"1\"></label>\
             <output class=\"at\" aria-live=\"polite\">{high}</output>"
        );
    }
    let label = format!("{}: {count} boxes, {} from {} to {}", boxes.stem, boxes.value, short(low), short(high));
    format!(
        "<figure class=\"boxes\" data-boxes=\"{id}\"><div class=\"controls\">{controls}</div>{}<figcaption>{} {}: {} to {}, {} \
         boxes.</figcaption><output class=\"pointed\" aria-live=\"polite\">Point at a box, or focus the picture and use the \
         arrow keys.</output></figure>\n",
        picture.inline(&label).replacen("<svg ", "<svg tabindex=\"0\" ", 1),
        boxes.caption,
        escaped(&boxes.value),
        data(low),
        data(high),
        data(count as f64),
    )
}

/// The same boxes with shares in place of their values: colours go from 0 to 1, and places are read from the first figure's data.
fn shared(page: &mut Page, first: &str, boxes: &Boxes<'_>, order: &[usize], shares: &Shares) -> String {
    let most = order.iter().map(|&index| shares.most[index]);
    let parts = boxes.parts.iter().zip(most).map(|((lower, upper, _), most)| (lower.clone(), upper.clone(), most));
    let own = Boxes {
        stem: format!("{} {}", boxes.stem, shares.name),
        names: boxes.names.clone(),
        parts: parts.collect(),
        value: shares.name.clone(),
        steps: false,
        caption: format!("Probability of {} over the same boxes: colours are upper ends.", escaped(&shares.name)),
        shares: Vec::new(),
        sets: Sets::default(),
    };
    let level = |value: f64| (value.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize;
    let picture = picture_between(&own, &level, (0.0, 1.0), false);
    let id = page.name("boxes");
    let html = figure(page, &id, &own, own.parts.len(), &picture);
    let levels: Vec<usize> = own.parts.iter().map(|part| level(part.2)).collect();
    let most: Vec<f64> = own.parts.iter().map(|part| part.2).collect();
    let least: Vec<f64> = order.iter().map(|&index| shares.least[index]).collect();
    html + &script_data(
        &id,
        &json!({"of": first, "values": most, "least": least, "levels": levels, "value": own.value}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(parts: Vec<Part>, steps: bool) -> Boxes<'static> {
        let names = vec!["x".to_owned(), "y".to_owned()];
        Boxes {
            stem: "s".to_owned(),
            names,
            parts,
            value: "bound".to_owned(),
            steps,
            caption: String::new(),
            shares: Vec::new(),
            sets: Sets::default(),
        }
    }

    #[test]
    fn a_raster_never_shows_less_than_what_was_there() {
        let parts: Vec<Part> = (0..300)
            .flat_map(|i| (0..300).map(move |j| (i, j)))
            .map(|(i, j)| {
                let (x, y) = (f64::from(i), f64::from(j));
                (vec![x, y], vec![x + 1.0, y + 1.0], f64::from((i * 31 + j * 17) % 101))
            })
            .collect();
        let own = boxes(parts, false);
        let raster = own.rastered();
        assert!(raster.len() <= RASTER * RASTER);
        for (lower, upper, value) in own.parts.iter().step_by(97) {
            let (x, y) = ((lower[0] + upper[0]) / 2.0, (lower[1] + upper[1]) / 2.0);
            let above =
                raster.iter().any(|(a, b, own)| a[0] <= x && x <= b[0] && a[1] <= y && y <= b[1] && own >= value);
            assert!(above, "{x} {y} {value}");
        }
    }

    #[test]
    fn every_box_has_its_own_place_and_colour() {
        let parts = vec![(vec![0.0, 0.0], vec![1.0, 1.0], 0.0), (vec![1.0, 0.0], vec![2.0, 2.0], 0.5)];
        let own = boxes(parts, false);
        let text = picture(&own, &own.levels()).standalone();
        assert!(text.contains(r##"<path d="M66 175h165v165h-165z" class="cell" fill="#440154"/>"##), "{text}");
        assert!(text.contains(r##"<path d="M231 10h165v330h-165z" class="cell" fill="#fde725"/>"##), "{text}");
    }

    #[test]
    fn boxes_must_fit_their_axes() {
        assert!(fitting(1, &[(vec![0.0], vec![1.0], 0.0)]).is_ok());
        assert!(fitting(2, &[(vec![0.0], vec![1.0], 0.0)]).is_err());
        assert!(fitting(1, &[(vec![2.0], vec![1.0], 0.0)]).is_err());
    }
}
