//! The linear relaxations of the audit: lines below and above a curve, planes below and above a product. They share no code
//! with those of the solver.
//!
//! A line is found in two steps that are kept apart. First a slope is *chosen*, in plain floats; any choice is fine.
//! Then the offset is *proved* for that slope: a lower bound, in outward rounded intervals, of f(x) − slope·x over the
//! range. So a poor choice can only make a line loose, and what has to be right is short: [`piecewise_linear`] for piecewise linear
//! curves (the extremes are at the knots), [`smooth`] for the others (pieces that are convex or concave), [`product`]
//! (the extremes of a bilinear function are at the corners).
//!
//! The slope *α* chooses within a family: 0 and 1 are the ends of the family, for the line below and for
//! the line above.

mod curve;
mod functions;
mod piecewise_linear;
mod product;
mod shape;
mod smooth;
#[cfg(test)]
mod tests;

use certus_graph::Interval;

pub(crate) use curve::Curve;
pub(crate) use product::{PRODUCT_ALPHA, product_sides};

/// Which line of the family: two numbers in [0, 1], for the line below and for the one above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Alpha {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// `slope·x + other·y + offset`, on one side of a function of x, or of x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    pub(crate) slope: f64,
    pub(crate) other: f64,
    pub(crate) offset: f64,
}

/// A function between two lines or planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sides {
    pub(crate) lower: Side,
    pub(crate) upper: Side,
}

impl Side {
    fn line(slope: f64, offset: f64) -> Side {
        Side { slope, other: 0.0, offset }
    }

    fn constant(offset: f64) -> Side {
        Side::line(0.0, offset)
    }

    /// The line below −f as the line above f.
    fn negated(self) -> Side {
        Side { slope: -self.slope, other: -self.other, offset: -self.offset }
    }

    /// This line, or a constant where it has become useless on the way.
    fn or_constant(self, value: f64) -> Side {
        let useful = self.slope.is_finite() && self.other.is_finite() && self.offset.is_finite();
        if useful { self } else { Side::constant(value) }
    }
}

impl Sides {
    /// No bound at all.
    pub(crate) const UNKNOWN: Sides = Sides {
        lower: Side { slope: 0.0, other: 0.0, offset: f64::NEG_INFINITY },
        upper: Side { slope: 0.0, other: 0.0, offset: f64::INFINITY },
    };

    /// The constants at the ends of what the value lies in.
    fn constants(value: Interval) -> Sides {
        Sides { lower: Side::constant(value.lo), upper: Side::constant(value.hi) }
    }
}
