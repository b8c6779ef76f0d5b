//! Heat maps of start states as SVG: cells coloured by their bounds, with their outlines over them.

use std::fmt::Write;

use crate::domain::Polyhedron;
use crate::engine::search::Cell;

/// What a picture shows.
#[derive(Clone, Debug)]
pub struct Caption<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The names of all state variables.
    pub names: &'a [String],
    /// Which two are drawn.
    pub axes: (usize, usize),
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const LEGEND: f64 = 110.0;

/// From dark blue over green to yellow, equally bright steps.
const COLOURS: [(u8, u8, u8); 6] =
    [(68, 1, 84), (65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37)];

fn colour(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let (low, rest) = ((at as usize).min(COLOURS.len() - 2), at - (at as usize).min(COLOURS.len() - 2) as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + rest * (f64::from(b) - f64::from(a))).round() as u8;
    let (a, b) = (COLOURS[low], COLOURS[low + 1]);
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The corners of a cell's shadow on two axes, in order: its box, cut by the sides that speak of these axes alone.
fn corners(region: &Polyhedron, (x, y): (usize, usize)) -> Vec<(f64, f64)> {
    let (lower, upper) = region.bounds();
    let mut shape = vec![(lower[x], lower[y]), (upper[x], lower[y]), (upper[x], upper[y]), (lower[x], upper[y])];
    for (direction, &offset) in region.template().directions().iter().zip(region.offsets()) {
        let others = direction.iter().enumerate().any(|(i, &value)| i != x && i != y && value != 0.0);
        if others {
            continue;
        }
        let excess = |point: (f64, f64)| direction[x] * point.0 + direction[y] * point.1 - offset;
        let mut cut: Vec<(f64, f64)> = Vec::with_capacity(shape.len() + 1);
        for (place, &point) in shape.iter().enumerate() {
            let next = shape[(place + 1) % shape.len()];
            let (here, there) = (excess(point), excess(next));
            if here <= 0.0 {
                cut.push(point);
            }
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                let t = here / (here - there);
                cut.push((point.0 + t * (next.0 - point.0), point.1 + t * (next.1 - point.1)));
            }
        }
        shape = cut;
        if shape.is_empty() {
            break;
        }
    }
    shape
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A number for a tick: few digits.
fn tick(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A map of start states: each cell in the colour of its bound. Where cells hide each other (in more than two dimensions), the worst is on top.
pub fn heat_map(cells: &[Cell], caption: &Caption<'_>) -> String {
    let (x, y) = caption.axes;
    let ends = |axis: usize| {
        let low = cells.iter().map(|cell| cell.region.lower(axis)).fold(f64::INFINITY, f64::min);
        let high = cells.iter().map(|cell| cell.region.upper(axis)).fold(f64::NEG_INFINITY, f64::max);
        if low < high { (low, high) } else { (low - 0.5, low + 0.5) }
    };
    let ((left, right), (bottom, top)) = (ends(x), ends(y));
    let across = |value: f64| LEFT + (value - left) / (right - left) * (WIDTH - LEFT - LEGEND);
    let down = |value: f64| HEIGHT - BOTTOM - (value - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM);
    let largest = cells.iter().map(|cell| cell.upper).fold(0.0, f64::max);
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{}</text>\n",
        escaped(caption.title)
    );
    let mut order: Vec<&Cell> = cells.iter().collect();
    order.sort_by(|a, b| a.upper.total_cmp(&b.upper));
    for cell in order {
        let points: Vec<String> = corners(&cell.region, caption.axes)
            .into_iter()
            .map(|(a, b)| format!("{:.2},{:.2}", across(a), down(b)))
            .collect();
        let _ = writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{}\" stroke=\"white\" stroke-width=\"0.4\"><title>at most {:.3e}</title></polygon>",
            points.join(" "),
            colour(cell.upper / scale),
            cell.upper
        );
    }
    for place in 0..=4 {
        let share = f64::from(place) / 4.0;
        let (a, b) = (left + share * (right - left), bottom + share * (top - bottom));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            across(a),
            HEIGHT - BOTTOM + 18.0,
            tick(a),
            LEFT - 6.0,
            down(b) + 4.0,
            tick(b)
        );
    }
    let name = |axis: usize| caption.names.get(axis).map_or("", String::as_str);
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text x=\"16\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1})\">{}</text>",
        (LEFT + WIDTH - LEGEND) / 2.0,
        HEIGHT - 10.0,
        escaped(name(x)),
        HEIGHT / 2.0,
        HEIGHT / 2.0,
        escaped(name(y))
    );
    let bar = WIDTH - LEGEND + 24.0;
    for place in 0..50 {
        let share = f64::from(place) / 49.0;
        let height = (HEIGHT - TOP - BOTTOM) / 50.0;
        let _ = writeln!(
            svg,
            "<rect x=\"{bar}\" y=\"{:.2}\" width=\"16\" height=\"{:.2}\" fill=\"{}\"/>",
            HEIGHT - BOTTOM - f64::from(place + 1) * height,
            height + 0.3,
            colour(share)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">0</text>\n<text x=\"{}\" y=\"{}\">{:.2e}</text>\n</svg>",
        bar + 20.0,
        HEIGHT - BOTTOM,
        bar + 20.0,
        TOP + 10.0,
        scale
    );
    svg
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::Template;

    #[test]
    fn every_cell_is_drawn_with_its_own_corners() {
        let square = Polyhedron::of_box(&Arc::new(Template::octagons(2)), &[0.0, 0.0], &[1.0, 1.0]);
        let [low, high] = square.cut(2, 0.5);
        let cells: Vec<Cell> =
            [low, high].into_iter().flatten().zip([0.25, 0.5]).map(|(region, upper)| Cell { region, upper }).collect();
        assert_eq!(corners(&cells[0].region, (0, 1)).len(), 3);
        assert_eq!(corners(&cells[1].region, (0, 1)).len(), 5);
        let names = ["a<b".to_owned(), "c".to_owned()];
        let svg = heat_map(&cells, &Caption { title: "T & U", names: &names, axes: (0, 1) });
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert!(svg.contains("a&lt;b") && svg.contains("T &amp; U") && svg.contains("at most 5.000e-1"));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
