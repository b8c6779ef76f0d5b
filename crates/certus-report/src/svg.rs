//! The little of SVG that pictures are made of.

use std::fmt::Write;

/// A picture under construction.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, body: String::new() }
    }

    /// A rectangle; `title` is what a reader sees who points at it.
    pub(crate) fn rectangle(&mut self, [x, y, width, height]: [f64; 4], fill: &str, stroke: &str, title: &str) {
        let (x, y, width, height) = (place(x), place(y), place(width), place(height));
        let start =
            format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="{stroke}""#);
        match title {
            "" => self.line_of(&format!("{start}/>")),
            title => self.line_of(&format!("{start}><title>{}</title></rect>", escaped(title))),
        }
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.styled_text(x, y, anchor, "", text);
    }

    pub(crate) fn heading(&mut self, x: f64, y: f64, text: &str) {
        self.styled_text(x, y, Anchor::Start, r#" font-weight="bold" font-size="15""#, text);
    }

    /// A text in a colour.
    pub(crate) fn inked_text(&mut self, x: f64, y: f64, ink: &str, text: &str) {
        self.styled_text(x, y, Anchor::Middle, &format!(r#" fill="{ink}""#), text);
    }

    /// A text that reads from bottom to top.
    pub(crate) fn upright_text(&mut self, x: f64, y: f64, text: &str) {
        let (x, y) = (place(x), place(y));
        let turn = format!(r#" transform="rotate(-90 {x} {y})""#);
        let text = escaped(text);
        self.line_of(&format!(r#"<text x="{x}" y="{y}" text-anchor="middle"{turn}>{text}</text>"#));
    }

    fn styled_text(&mut self, x: f64, y: f64, anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, text) = (place(x), place(y), escaped(text));
        self.line_of(&format!(r#"<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{text}</text>"#));
    }

    pub(crate) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        let (x1, y1, x2, y2) = (place(x1), place(y1), place(x2), place(y2));
        self.line_of(&format!(r##"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#333"/>"##));
    }

    /// A line that is seen on any ground.
    pub(crate) fn bold_line(&mut self, [x1, y1, x2, y2]: [f64; 4]) {
        let (x1, y1, x2, y2) = (place(x1), place(y1), place(x2), place(y2));
        for (ink, width) in [("#fff", 5), ("#000", 2)] {
            self.line_of(&format!(
                r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{ink}" stroke-width="{width}"/>"#
            ));
        }
    }

    fn line_of(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// The whole text of the picture.
    pub(crate) fn finish(self, definitions: &str) -> String {
        let (width, height) = (place(self.width), place(self.height));
        let mut text = String::new();
        let _ = writeln!(
            text,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">"#
        );
        let _ = writeln!(text, "<defs>{definitions}</defs>");
        let _ = writeln!(text, r##"<rect width="100%" height="100%" fill="#fff"/>"##);
        text.push_str(&self.body);
        text.push_str("</svg>\n");
        text
    }
}

/// A coordinate with at most two decimals.
fn place(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            // Control characters have no place in XML.
            other if other.is_control() => shown.push(' '),
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
    }
}
