//! How things look: kinds of cells apart in lightness and in pattern, so that grey is enough; colours for heat.

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The property holds.
    Holds,
    /// It is violated.
    Violated,
    /// It is violated somewhere in the cell, and nothing is known of the rest.
    PartlyViolated,
    /// Nothing is known.
    Open,
}

impl Kind {
    /// The class of a cell of this kind; the class of a text on it is the same with `on-` before it.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Kind::Holds => "holds",
            Kind::Violated => "violated",
            Kind::PartlyViolated => "partly",
            Kind::Open => "open",
        }
    }
}

/// The patterns.
pub(crate) const DEFINITIONS: &str = concat!(
    r##"<pattern id="partly" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">"##,
    r##"<rect width="6" height="6" fill="#f6d9d0"/><rect width="2" height="6" fill="#b2432f"/></pattern>"##,
    r##"<pattern id="open" width="6" height="6" patternUnits="userSpaceOnUse">"##,
    r##"<rect width="6" height="6" fill="#f2f2f2"/><circle cx="3" cy="3" r="1" fill="#777"/></pattern>"##,
);

/// The style of pictures that stand alone; pages have their own, `page.css`, with the same classes.
pub(crate) const STYLE: &str = "text{fill:#1a1a1a}.heading{font-weight:bold;font-size:15px}.soft{fill:#666}\
.paper{fill:#fff}.frame{fill:none;stroke:#333}.tick{stroke:#333}.halo{stroke:#fff;stroke-width:5}\
.bold{stroke:#000;stroke-width:2}.holds{fill:#d5ebf7;stroke:#fff}.violated{fill:#b2432f;stroke:#fff}\
.partly{fill:url(#partly);stroke:#fff}.open{fill:url(#open);stroke:#fff}.edged{stroke:#333}.on-violated{fill:#fff}\
.series{fill:none;stroke:#2a6fb0;stroke-width:1.5}.second{fill:none;stroke:#b2432f;stroke-width:1.5}\
.mark{fill:#2a6fb0}.bad{fill:#b2432f}.badband{fill:#b2432f;fill-opacity:0.22}.loopband{fill:#c98a00;fill-opacity:0.2}\
.area{fill:#2a6fb0;fill-opacity:0.22;stroke:#2a6fb0;stroke-width:1.5}.start{fill:none;stroke:#1b7a3d;stroke-width:2}\
.danger{fill:url(#partly);fill-opacity:0.6}.bar{fill:#2a6fb0}.bar2{fill:#9cc3e6}.cursor{stroke:#c98a00;stroke-width:1.5;display:none}\
.heat{stroke:none}.cell{stroke:#fff;stroke-width:0.4}.low{fill:none;stroke:#1b7a3d;stroke-width:1.5}.level{fill:none;stroke:#2a6fb0;stroke-opacity:0.5}\
.region{fill:#2a6fb0;fill-opacity:0.22}.goal{fill:#1b7a3d;fill-opacity:0.28;stroke:#1b7a3d;stroke-width:1}.run{fill:none;stroke:#d98200;stroke-width:0.8}.first{fill:#1b7a3d}.over{font-size:11px}";

/// What an area is filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fill {
    /// A colour and how much it hides.
    Plain([f64; 3], f64),
    /// The pattern `partly`, and how much it hides.
    Partly(f64),
    /// The pattern `open`.
    Open,
}

impl Fill {
    /// What is written with.
    pub(crate) const INK: Fill = Fill::Plain([26.0, 26.0, 26.0], 1.0);

    fn rgb(colour: u32, opacity: f64) -> Fill {
        let part = |shift: u32| f64::from((colour >> shift) & 255);
        Fill::Plain([part(16), part(8), part(0)], opacity)
    }

    /// A colour as `#rrggbb`.
    pub(crate) fn of_colour(text: &str) -> Option<Fill> {
        u32::from_str_radix(text.strip_prefix('#')?, 16).ok().map(|colour| Fill::rgb(colour, 1.0))
    }

    /// Colour and opacity at a place of the drawing.
    pub(crate) fn at(self, x: f64, y: f64) -> ([f64; 3], f64) {
        match self {
            Fill::Plain(colour, opacity) => (colour, opacity),
            Fill::Partly(opacity) => {
                let along = ((x + y) / std::f64::consts::SQRT_2).rem_euclid(6.0);
                (if along < 2.0 { [178.0, 67.0, 47.0] } else { [246.0, 217.0, 208.0] }, opacity)
            }
            Fill::Open => {
                let away = (x.rem_euclid(6.0) - 3.0).hypot(y.rem_euclid(6.0) - 3.0);
                (if away <= 1.0 { [119.0; 3] } else { [242.0; 3] }, 1.0)
            }
        }
    }
}

/// How a class looks: its area, and its line with the width.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Paint {
    pub(crate) fill: Option<Fill>,
    pub(crate) stroke: Option<(Fill, f64)>,
}

/// How classes look in pixels: as [`STYLE`] says.
pub(crate) fn paint(classes: &str) -> Paint {
    let area = |fill| Paint { fill: Some(fill), stroke: None };
    let line = |colour, width| Paint { fill: None, stroke: Some((Fill::rgb(colour, 1.0), width)) };
    let both = |fill, colour, width| Paint { fill: Some(fill), stroke: Some((Fill::rgb(colour, 1.0), width)) };
    let mut names = classes.split(' ');
    let mut paint = match names.next().unwrap_or_default() {
        "frame" | "tick" => line(0x333333, 1.0),
        "halo" => line(0xffffff, 5.0),
        "bold" => line(0x000000, 2.0),
        "holds" => both(Fill::rgb(0xd5ebf7, 1.0), 0xffffff, 1.0),
        "violated" => both(Fill::rgb(0xb2432f, 1.0), 0xffffff, 1.0),
        "partly" => both(Fill::Partly(1.0), 0xffffff, 1.0),
        "open" => both(Fill::Open, 0xffffff, 1.0),
        "on-violated" => area(Fill::rgb(0xffffff, 1.0)),
        "soft" => area(Fill::rgb(0x666666, 1.0)),
        "series" => line(0x2a6fb0, 1.5),
        "second" => line(0xb2432f, 1.5),
        "low" => line(0x1b7a3d, 1.5),
        "start" => line(0x1b7a3d, 2.0),
        "cell" => line(0xffffff, 0.4),
        "level" => Paint { fill: None, stroke: Some((Fill::rgb(0x2a6fb0, 0.5), 1.0)) },
        "mark" | "bar" => area(Fill::rgb(0x2a6fb0, 1.0)),
        "bar2" => area(Fill::rgb(0x9cc3e6, 1.0)),
        "first" => area(Fill::rgb(0x1b7a3d, 1.0)),
        "bad" => area(Fill::rgb(0xb2432f, 1.0)),
        "badband" => area(Fill::rgb(0xb2432f, 0.22)),
        "loopband" => area(Fill::rgb(0xc98a00, 0.2)),
        "area" => both(Fill::rgb(0x2a6fb0, 0.22), 0x2a6fb0, 1.5),
        "region" => area(Fill::rgb(0x2a6fb0, 0.22)),
        "goal" => both(Fill::rgb(0x1b7a3d, 0.28), 0x1b7a3d, 1.0),
        "run" => line(0xd98200, 0.8),
        "danger" => area(Fill::Partly(0.6)),
        _ => Paint::default(),
    };
    if names.any(|name| name == "edged") {
        paint.stroke = Some((Fill::rgb(0x333333, 1.0), 1.0));
    }
    paint
}

/// From dark blue over green to yellow, in equally bright steps.
const COLOURS: [(u8, u8, u8); 6] =
    [(68, 1, 84), (65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37)];

/// How many colours heat has.
pub(crate) const LEVELS: usize = 48;

/// The colour of a level of heat.
pub(crate) fn heat(level: usize) -> String {
    let at = level.min(LEVELS - 1) as f64 / (LEVELS - 1) as f64 * (COLOURS.len() - 1) as f64;
    let low = (at as usize).min(COLOURS.len() - 2);
    let rest = at - low as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + rest * (f64::from(b) - f64::from(a))).round() as u8;
    let (a, b) = (COLOURS[low], COLOURS[low + 1]);
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_style_sheet_is_painted() {
        for rule in STYLE.split('}').filter_map(|rule| rule.split('{').next()?.strip_prefix('.')) {
            let known = paint(rule) != Paint::default()
                || ["heading", "paper", "edged", "cursor", "heat", "over"].contains(&rule);
            assert!(known, "{rule}");
        }
    }

    #[test]
    fn heat_goes_from_dark_to_light() {
        assert_eq!((heat(0), heat(LEVELS - 1), heat(1000)), ("#440154".into(), "#fde725".into(), "#fde725".into()));
    }
}
