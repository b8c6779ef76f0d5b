//! How the kinds of cells look: apart in lightness and in pattern, so that grey is enough.

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
    /// What fills a cell of this kind.
    pub(crate) fn fill(self) -> &'static str {
        match self {
            Kind::Holds => "#d5ebf7",
            Kind::Violated => "#b2432f",
            Kind::PartlyViolated => "url(#partly)",
            Kind::Open => "url(#open)",
        }
    }

    /// The colour of a text on that.
    pub(crate) fn ink(self) -> &'static str {
        if self == Kind::Violated { "#fff" } else { "#000" }
    }
}

/// The patterns.
pub(crate) const DEFINITIONS: &str = concat!(
    r##"<pattern id="partly" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">"##,
    r##"<rect width="6" height="6" fill="#f6d9d0"/><rect width="2" height="6" fill="#b2432f"/></pattern>"##,
    r##"<pattern id="open" width="6" height="6" patternUnits="userSpaceOnUse">"##,
    r##"<rect width="6" height="6" fill="#f2f2f2"/><circle cx="3" cy="3" r="1" fill="#777"/></pattern>"##,
);
