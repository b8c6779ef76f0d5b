//! Convex and concave pieces of a smooth curve over a range.

use certus_graph::Interval;

/// How a curve bends over a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Convex,
    Concave,
    /// It turns from one into the other at some place in `at`, once.
    Turn {
        at: Interval,
        convex_first: bool,
    },
    /// Concave, convex in between two places, concave again.
    Hollow {
        first: Interval,
        second: Interval,
    },
    /// Convex, concave in between two places, convex again.
    Hump {
        first: Interval,
        second: Interval,
    },
}

impl Shape {
    /// The shape of −f.
    pub(crate) fn negated(self) -> Shape {
        match self {
            Shape::Convex => Shape::Concave,
            Shape::Concave => Shape::Convex,
            Shape::Turn { at, convex_first } => Shape::Turn { at, convex_first: !convex_first },
            Shape::Hollow { first, second } => Shape::Hump { first, second },
            Shape::Hump { first, second } => Shape::Hollow { first, second },
        }
    }

    /// A curve that turns at one place, seen over a range.
    pub(super) fn turning(x: Interval, at: Interval, convex_first: bool) -> Shape {
        let side = |convex: bool| if convex { Shape::Convex } else { Shape::Concave };
        if x.hi <= at.lo {
            side(convex_first)
        } else if x.lo >= at.hi {
            side(!convex_first)
        } else {
            Shape::Turn { at, convex_first }
        }
    }
}
