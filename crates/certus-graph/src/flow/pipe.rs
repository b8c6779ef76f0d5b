//! Enclosures of all solutions over a period, in steps whose length follows the equation.
//!
//! Steps begin and end at doubles; their lengths are enclosed, so the last one ends at the period's end exactly. A step is halved
//! until it succeeds and the next one is tried at twice the length. What cannot be halved further is taken as it is (a large
//! remainder, a first-order step across a kink) or there is no pipe.

use super::Field;
use super::lohner::Set;
use super::segment::{Last, Segment, TooLong};
use crate::Interval;

/// No step is shorter than this part of the period.
const FINEST: f64 = 4096.0;
/// Steps across kinks are taken once they are this part of the period.
const FINEST_KINK: f64 = 128.0;
/// No more steps than this.
const MOST_SEGMENTS: usize = 1024;

/// All solutions from a box of starts over a period.
#[derive(Clone, Debug)]
pub struct FlowPipe {
    segments: Vec<Segment>,
    end: Vec<Interval>,
    duration: f64,
}

impl FlowPipe {
    /// The solutions over [0, duration] from a box, with held numbers in another; nothing where that could not be validated.
    pub fn new(field: &Field, start: &[Interval], held: &[Interval], duration: f64) -> Option<FlowPipe> {
        if start.len() != field.states() || held.len() != field.held() || !(duration >= 0.0 && duration.is_finite()) {
            return None;
        }
        if start.iter().chain(held).any(|own| !own.magnitude().is_finite()) {
            return None;
        }
        let mut set = Set::new(start, held);
        let mut segments: Vec<Segment> = Vec::new();
        let (mut now, mut step) = (0.0, duration);
        while now < duration {
            if segments.len() == MOST_SEGMENTS || now + step == now {
                return None;
            }
            // A sliver at the end is taken along.
            let end = if now + 1.001 * step >= duration { duration } else { now + step };
            let last = Last { coarse: step * FINEST <= duration, kinked: step * FINEST_KINK <= duration * 1.001 };
            match Segment::new(field, &set, held, (now, end), last) {
                Ok(segment) => {
                    set = segment.end_set();
                    segments.push(segment);
                    now = end;
                    step *= 2.0;
                }
                Err(TooLong::Unbounded | TooLong::Coarse | TooLong::Kinked) if step * FINEST > duration => step /= 2.0,
                Err(_) => return None,
            }
        }
        let end = set.hull.clone();
        end.iter().all(|own| own.magnitude().is_finite()).then_some(FlowPipe { segments, end, duration })
    }

    /// The states at the end of the period.
    pub fn end(&self) -> &[Interval] {
        &self.end
    }

    /// How long it is.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The states at all instants between two of the period.
    pub fn over(&self, from: f64, to: f64) -> Vec<Interval> {
        let mut found: Option<Vec<Interval>> = None;
        for segment in &self.segments {
            let (a, b) = (from.max(segment.start), to.min(segment.end));
            if a <= b {
                let start = Interval::point(segment.start);
                let own = segment.at((Interval { lo: a, hi: b } - start).max(Interval::ZERO));
                found = Some(match found {
                    None => own,
                    Some(so_far) => so_far.iter().zip(own).map(|(x, y)| x.hull(y)).collect(),
                });
            }
        }
        found.unwrap_or_else(|| self.end.clone())
    }
}
