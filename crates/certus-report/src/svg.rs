//! The little of SVG that pictures are made of.
//!
//! Shapes carry classes, not colours: a page paints them to suit its light, and a picture that stands alone brings the
//! style sheet of [`crate::style`] along.

use std::fmt::Write;

use crate::raster::{self, Shape};
use crate::style::{DEFINITIONS, STYLE};

/// A picture under construction.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: String,
    shapes: Vec<Shape>,
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where the numbers of a picture are: the rectangle of its plot, and the ends of its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Left, top, width and height of the plot.
    pub plot: [f64; 4],
    /// The ends of the axis to the right.
    pub across: (f64, f64),
    /// The ends of the axis upwards.
    pub up: (f64, f64),
}

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// How wide it is, in pixels.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// Where its numbers are, if a reader may point at them.
    pub geometry: Option<Geometry>,
    body: String,
    shapes: Vec<Shape>,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, body: String::new(), shapes: Vec::new() }
    }

    /// A rectangle; `title` is what a reader sees who points at it.
    pub(crate) fn rectangle(&mut self, [x, y, width, height]: [f64; 4], class: &str, title: &str) {
        let (x, y, width, height) = (place(x), place(y), place(width), place(height));
        let d = format!("M{x} {y}h{width}v{height}h-{width}z");
        self.shapes.push(Shape::Path { d, class: class.to_owned(), fill: String::new() });
        let start = format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}""#);
        match title {
            "" => self.line_of(&format!("{start}/>")),
            title => self.line_of(&format!("{start}><title>{}</title></rect>", escaped(title))),
        }
    }

    /// A path; `fill` is a colour of its own, or nothing where the class says it.
    pub(crate) fn path(&mut self, d: &str, class: &str, fill: &str, title: &str) {
        self.shapes.push(Shape::Path { d: d.to_owned(), class: class.to_owned(), fill: fill.to_owned() });
        let fill = if fill.is_empty() { String::new() } else { format!(r#" fill="{fill}""#) };
        let start = format!(r#"<path d="{d}" class="{class}"{fill}"#);
        match title {
            "" => self.line_of(&format!("{start}/>")),
            title => self.line_of(&format!("{start}><title>{}</title></path>", escaped(title))),
        }
    }

    /// A path through points.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], class: &str) {
        let mut d = String::with_capacity(12 * points.len());
        for (index, (x, y)) in points.iter().enumerate() {
            d.push(if index == 0 { 'M' } else { 'L' });
            let _ = write!(d, "{} {}", place(*x), place(*y));
        }
        if !points.is_empty() {
            self.path(&d, class, "", "");
        }
    }

    /// A dot.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str, title: &str) {
        self.shapes.push(Shape::Dot { x, y, radius, class: class.to_owned() });
        let (x, y, radius, title) = (place(x), place(y), place(radius), escaped(title));
        self.line_of(&format!(
            r#"<circle cx="{x}" cy="{y}" r="{radius}" class="{class}"><title>{title}</title></circle>"#
        ));
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.classed_text(x, y, anchor, "", text);
    }

    pub(crate) fn heading(&mut self, x: f64, y: f64, text: &str) {
        self.classed_text(x, y, Anchor::Start, "heading", text);
    }

    /// A text that reads from bottom to top.
    pub(crate) fn upright_text(&mut self, x: f64, y: f64, text: &str) {
        self.turned_text(x, y, Anchor::Middle, "", -90.0, text);
    }

    pub(crate) fn classed_text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        self.turned_text(x, y, anchor, class, 0.0, text);
    }

    /// A text, turned by so many degrees around its place.
    pub(crate) fn turned_text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, turn: f64, text: &str) {
        let (anchor, before) = match anchor {
            Anchor::Start => ("start", 0.0),
            Anchor::Middle => ("middle", 0.5),
            Anchor::End => ("end", 1.0),
        };
        let size = match class {
            "heading" => 15.0,
            "over" => 11.0,
            _ => 12.0,
        };
        let (own, text) = (text.to_owned(), escaped(text));
        self.shapes.push(Shape::Text { x, y, size, before, class: class.to_owned(), turn, text: own });
        let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
        let (x, y) = (place(x), place(y));
        let turn = if turn == 0.0 { String::new() } else { format!(r#" transform="rotate({turn} {x} {y})""#) };
        self.line_of(&format!(r#"<text x="{x}" y="{y}" text-anchor="{anchor}"{class}{turn}>{text}</text>"#));
    }

    pub(crate) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], class: &str) {
        let (x1, y1, x2, y2) = (place(x1), place(y1), place(x2), place(y2));
        // A cursor is for pages: a picture alone has none.
        if class != "cursor" {
            let d = format!("M{x1} {y1}L{x2} {y2}");
            self.shapes.push(Shape::Path { d, class: class.to_owned(), fill: String::new() });
        }
        self.line_of(&format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{class}"/>"#));
    }

    /// A line that is seen on any ground.
    pub(crate) fn bold_line(&mut self, ends: [f64; 4]) {
        self.line(ends, "halo");
        self.line(ends, "bold");
    }

    /// Text of SVG as it stands; pictures in pixels know nothing of it.
    pub(crate) fn line_of(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// The same with another size.
    pub(crate) fn sized(self, width: f64, height: f64) -> Drawing {
        Drawing { width, height, ..self }
    }

    /// The picture.
    pub(crate) fn finish(self, geometry: Option<Geometry>) -> Picture {
        Picture { width: self.width, height: self.height, geometry, body: self.body, shapes: self.shapes }
    }
}

impl Picture {
    /// As a file of its own, on white.
    pub fn standalone(&self) -> String {
        let (width, height) = (place(self.width), place(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<style>{STYLE}</style>\n<defs>{DEFINITIONS}</defs>\n\
             <rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n{}</svg>\n",
            self.body
        )
    }

    /// As a PNG file, on white, two pixels for each unit.
    pub fn png(&self) -> Vec<u8> {
        raster::png(self.width, self.height, &self.shapes)
    }

    /// As a part of a page, whose style sheet paints it. `label` is what a screen reader says.
    pub fn inline(&self, label: &str) -> String {
        let (width, height) = (place(self.width), place(self.height));
        let geometry = self.geometry.map_or(String::new(), |own| {
            let [left, top, across, down] = own.plot.map(place);
            let ((a, b), (c, d)) = (own.across, own.up);
            format!(r#" data-plot="{left} {top} {across} {down} {a} {b} {c} {d}""#)
        });
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" style=\"max-width:{}px\" role=\"img\" aria-label=\"{}\" \
             font-size=\"12\"{geometry}>\n{}</svg>\n",
            place(self.width * 1.25),
            escaped(label),
            self.body
        )
    }
}

/// A coordinate with at most two decimals.
pub(crate) fn place(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A text as HTML and XML have it.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            // Control characters have no place in XML.
            other if other.is_control() && other != '\n' => shown.push(' '),
            other => shown.push(other),
        }
    }
    shown
}

/// How much room a text takes, roughly.
pub(crate) fn text_width(text: &str) -> f64 {
    7.0 * text.chars().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(escaped("a < \"b\" & c\u{7}"), "a &lt; &quot;b&quot; &amp; c ");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!((place(1.0), place(0.126), place(-3.5)), ("1".to_owned(), "0.13".to_owned(), "-3.5".to_owned()));
        assert_eq!(place(-0.001), "0");
    }
}
