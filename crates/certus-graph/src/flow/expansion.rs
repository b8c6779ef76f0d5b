//! One step of the Taylor series method for sets that others represent: how long it may be, its order, and what the polynomial leaves out.
//!
//! The polynomial itself is [`Field::coefficients`], over the arithmetic of whoever asks; this is the validated rest (`segment.rs` says why it is right).

use super::Field;
use super::lohner::Set;
use super::segment::{Deviation, Last, TooLong, deviation, remainder};
use crate::Interval;

/// What the Taylor polynomial of a step leaves out.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The order of the polynomial.
    pub order: usize,
    /// Every state of every solution over the step.
    pub bounds: Vec<Interval>,
    /// The coefficients of the next order over all solutions: what is left out is these times tᵖ⁺¹.
    pub remainder: Vec<Interval>,
    deviation: Vec<Deviation>,
}

impl Expansion {
    /// How far each variable may be away because of varying inputs, after a time of the step.
    pub fn deviation(&self, time: f64) -> Vec<f64> {
        self.deviation.iter().map(|own| own.after(time)).collect()
    }
}

impl Field {
    /// The expansion of solutions from a box over [0, h]; nothing if the step is too long to be validated with a remainder that is small
    /// beside the box or as a share of the state, or with any at all if `last`.
    pub fn expansion(
        &self,
        start: &[Interval],
        held: &[Interval],
        h: f64,
        (share, last): (f64, bool),
    ) -> Option<Expansion> {
        let bounds = self.a_priori(start, held, h)?;
        let time = Interval::point(h);
        let set = Set::new(start, held);
        let found = remainder(self, &set, held, &bounds, time, (Last { coarse: last, kinked: false }, share));
        let (order, remainder) = found.ok()?;
        let deviation = match deviation(self, held, &bounds, h) {
            Ok(own) => own,
            Err(TooLong::Unbounded | TooLong::Coarse | TooLong::Kinked) => return None,
        };
        Some(Expansion { order, bounds, remainder, deviation })
    }
}
