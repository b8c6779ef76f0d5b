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
.paper{fill:#fff}.frame{fill:none;stroke:#333}.tick{stroke:#333}.grid{stroke:#ddd}.halo{stroke:#fff;stroke-width:5}\
.bold{stroke:#000;stroke-width:2}.holds{fill:#d5ebf7;stroke:#fff}.violated{fill:#b2432f;stroke:#fff}\
.partly{fill:url(#partly);stroke:#fff}.open{fill:url(#open);stroke:#fff}.edged{stroke:#333}.on-violated{fill:#fff}\
.series{fill:none;stroke:#2a6fb0;stroke-width:1.5}.second{fill:none;stroke:#b2432f;stroke-width:1.5}\
.mark{fill:#2a6fb0}.bad{fill:#b2432f}.badband{fill:#b2432f;fill-opacity:0.22}.loopband{fill:#c98a00;fill-opacity:0.2}\
.area{fill:#2a6fb0;fill-opacity:0.22;stroke:#2a6fb0;stroke-width:1.5}.start{fill:none;stroke:#1b7a3d;stroke-width:2}\
.danger{fill:url(#partly);fill-opacity:0.6}.bar{fill:#2a6fb0}.bar2{fill:#9cc3e6}.cursor{stroke:#c98a00;stroke-width:1.5;display:none}\
.heat{stroke:none}.low{fill:none;stroke:#1b7a3d;stroke-width:1.5}";

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
    fn heat_goes_from_dark_to_light() {
        assert_eq!((heat(0), heat(LEVELS - 1), heat(1000)), ("#440154".into(), "#fde725".into(), "#fde725".into()));
    }
}
