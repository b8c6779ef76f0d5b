//! Sine and cosine: where they turn.
//!
//! Both turn once every half period, at multiples of π or half-way between, which are no doubles and so are enclosed. A
//! range with up to two turns has lines; a full period is bounded by constants, and so are arguments so large that
//! the turns cannot be told apart from the ends well.

use std::f64::consts::PI;

use certus_graph::Interval;

use super::smooth::{Bend, Side, Smooth};

/// Beyond this magnitude constants have to do.
const LARGEST_ARGUMENT: f64 = 1e6;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Wave {
    Sine,
    Cosine,
}

impl Wave {
    /// The turn number `k`.
    fn turn(self, k: f64) -> Interval {
        let phase = if self == Wave::Sine { 0.0 } else { 0.5 };
        Interval::new(PI, PI.next_up()) * Interval::point(k + phase)
    }

    /// How it bends over a range, if that has no more than two turns.
    pub(super) fn bend(self, x: Interval) -> Option<Bend> {
        if x.magnitude() > LARGEST_ARGUMENT || x.width() >= 2.0 * PI {
            return None;
        }
        // The first turn that is not certainly at or before the lower end.
        let mut k = (x.lo / PI).floor() - 1.0;
        while self.turn(k).hi <= x.lo {
            k += 1.0;
        }
        let turns = [self.turn(k), self.turn(k + 1.0), self.turn(k + 2.0)];
        let inside = turns.iter().filter(|turn| turn.lo < x.hi).count();
        // Before turn number 0 the sine is convex and the cosine concave; each turn changes it.
        let convex = (k % 2.0 == 0.0) == (self == Wave::Sine);
        match (&turns[..inside], convex) {
            ([], true) => Some(Bend::Convex),
            ([], false) => Some(Bend::Concave),
            (&[turn], true) => Some(Bend::ConvexConcave(turn)),
            (&[turn], false) => Some(Bend::ConcaveConvex(turn)),
            (&[first, second], true) => Some(Bend::ConvexConcaveConvex(first, second)),
            (&[first, second], false) => Some(Bend::ConcaveConvexConcave(first, second)),
            _ => None,
        }
    }
}

impl Smooth for Wave {
    fn floats(&self, x: f64) -> [f64; 3] {
        let (sine, cosine) = x.sin_cos();
        match self {
            Wave::Sine => [sine, cosine, -sine],
            Wave::Cosine => [cosine, -sine, -cosine],
        }
    }

    fn enclosures(&self, x: f64, _: Side) -> (Interval, Interval) {
        let x = Interval::point(x);
        match self {
            Wave::Sine => (x.sin(), x.cos()),
            Wave::Cosine => (x.cos(), -x.sin()),
        }
    }
}
