//! Boxes that runs stay in for ever, for a certificate: those of the engine, made wider until the audit's own checker keeps runs in them.
//!
//! The checker's arithmetic is another one, so what leaves a box of the engine by its sight usually misses another one by very little. That box is then joined with what
//! was reached, and so are those that its runs lead to, until nothing new comes; a box that is joined again and again is widened (Cousot and Cousot, "Abstract
//! interpretation", POPL 1977). The result is nothing to believe: whoever audits the certificate derives it again.

use std::collections::BTreeSet;

use certus_audit_reach::{Checker, Lasting};
use certus_engine::{Budget, Progress, spent};
use certus_graph::Interval;
use certus_lang::system::System;
use certus_numerics::parallel;

use super::certificate::unfinished;
use crate::failure::Failure;

/// Boxes that are looked at together.
const BATCH: usize = 16;

/// By which share of its width a box that is joined becomes wider where it grows, for so many joins.
const WIDENINGS: [(usize, f64); 3] = [(4, 1e-6), (8, 0.02), (16, 0.25)];

/// A box is new where every other one of its kind would have to become wider by more than this share of its width.
const ANOTHER: f64 = 0.5;

/// The most boxes, for each one of the engine's.
const MORE_BOXES: usize = 4;

/// A box, and how often it was joined with what was reached.
struct Candidate {
    bounds: Vec<Interval>,
    joins: usize,
}

/// Boxes from which no step leads out of them, while the property returns to itself.
pub(super) fn closed(
    checker: &Checker,
    suggested: &[Vec<Interval>],
    system: &System,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Vec<Lasting>, Failure> {
    let ends = system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
    let ranges: Vec<Interval> = ends.map(|(&lo, &hi)| Interval { lo, hi }).collect();
    let mut boxes: Vec<Candidate> = Vec::new();
    for bounds in suggested {
        if !boxes.iter().any(|own| encloses(&own.bounds, bounds)) {
            boxes.retain(|own| !encloses(bounds, &own.bounds));
            boxes.push(Candidate { bounds: bounds.clone(), joins: 0 });
        }
    }
    let most = MORE_BOXES * boxes.len();
    let mut open: BTreeSet<usize> = (0..boxes.len()).collect();
    while !open.is_empty() {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(place) = open.pop_first()
        {
            batch.push(place);
        }
        let found = parallel::map(&batch, budget.threads, |place| {
            checker.successors(&boxes[*place].bounds, &|| spent(budget).is_some())
        });
        if spent(budget).is_some() {
            return Err(unfinished("no time is left"));
        }
        for successors in found {
            let successors = successors.map_err(|reason| {
                unfinished(&format!("the audit's own arithmetic does not show it of a box that runs stay in: {reason}"))
            })?;
            for reached in successors {
                if boxes.iter().any(|own| encloses(&own.bounds, &reached)) {
                    continue;
                }
                let place = joined(&mut boxes, &reached, &ranges, most)
                    .ok_or_else(|| unfinished("the audit's own arithmetic does not keep runs in boxes"))?;
                open.insert(place);
            }
        }
        watch(Progress::Exploration { refinements: open.len(), steps: 0, cells: boxes.len() });
    }
    Ok(boxes.into_iter().map(|own| checker.lasting(own.bounds)).collect())
}

/// Joins what was reached with the box of its kind that it misses by the least, or makes it a box of its own; nothing if that has happened too often.
fn joined(boxes: &mut Vec<Candidate>, reached: &[Interval], ranges: &[Interval], most: usize) -> Option<usize> {
    let alike = (0..boxes.len()).filter(|&place| same_kind(&boxes[place].bounds, reached));
    let nearest = alike
        .map(|place| (missed(&boxes[place].bounds, reached), place))
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some((_, place)) = nearest.filter(|(missed, _)| *missed <= ANOTHER || boxes.len() >= most) else {
        boxes.push(Candidate { bounds: reached.to_vec(), joins: 0 });
        return (boxes.len() <= most).then_some(boxes.len() - 1);
    };
    let own = &mut boxes[place];
    own.joins += 1;
    let (_, share) = WIDENINGS.into_iter().find(|(joins, _)| own.joins <= *joins)?;
    for ((range, reached), declared) in own.bounds.iter_mut().zip(reached).zip(ranges) {
        let both = range.hull(*reached);
        let more = share * both.width();
        if both.lo < range.lo {
            range.lo = (both.lo - more).max(declared.lo).min(both.lo);
        }
        if both.hi > range.hi {
            range.hi = (both.hi + more).min(declared.hi).max(both.hi);
        }
    }
    Some(place)
}

fn encloses(own: &[Interval], other: &[Interval]) -> bool {
    own.iter().zip(other).all(|(own, other)| own.encloses(*other))
}

/// Whether the same elements have one value, the same in both boxes.
fn same_kind(own: &[Interval], other: &[Interval]) -> bool {
    own.iter().zip(other).all(|(own, other)| match (own.lo == own.hi, other.lo == other.hi) {
        (true, true) => own.lo == other.lo,
        (own, other) => own == other,
    })
}

/// By which share of its width a box would have to become wider.
fn missed(own: &[Interval], reached: &[Interval]) -> f64 {
    let share = |(own, reached): (&Interval, &Interval)| {
        let more = (own.lo - reached.lo).max(reached.hi - own.hi).max(0.0);
        if more == 0.0 { 0.0 } else { more / own.width() }
    };
    own.iter().zip(reached).map(share).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use certus_audit_reach::{Branch, Reachable};
    use certus_lang::{FileNetworks, LowerOptions, load_str};

    use super::*;

    fn system(factor: &str) -> System {
        let text = format!(
            "system t\nstate n in [0, 1]\nstate x in [-9, 9]\ninput w in [-0.1, 0.1]\nnext n = 1 - n\nnext x = {factor} * x + w\n\
             init n == 0 & x in [-0.1, 0.1]\nproperty small = G abs(x) < 1\n"
        );
        load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn boxes(ends: &[(f64, f64)]) -> Vec<Vec<Interval>> {
        ends.iter().map(|&(n, x)| vec![Interval::point(n), Interval::new(-x, x)]).collect()
    }

    #[test]
    fn boxes_are_made_wider_until_runs_stay_in_them() {
        let system = system("0.5");
        let about = system.property("small").unwrap();
        let checker = Checker::new(&system, about, 2, 6, true).unwrap();
        // Runs stay where |x| is at most 0.2, and in no smaller box.
        let suggested = boxes(&[(0.0, 0.19), (1.0, 0.19), (1.0, 0.1)]);
        let found = [1, 2].map(|threads| {
            let budget = Budget { threads, ..Budget::default() };
            closed(&checker, &suggested, &system, &budget, &mut |_| {}).unwrap_or_else(|failure| panic!("{failure}"))
        });
        assert_eq!(found[0], found[1]);
        let invariants: Vec<_> = found[0].iter().map(|own| own.invariant.clone()).collect();
        assert_eq!(invariants.len(), 2);
        assert!(
            invariants.iter().all(|own| own.bounds[1].encloses(Interval::new(-0.2, 0.2)) && own.bounds[1].hi < 0.5)
        );
        let claim = Reachable { degree: 2, order: 6, shows_no_errors: true, invariants, tree: vec![Branch::Leaf] };
        assert!(Checker::accept(&system, about, &claim, &mut |_| {}).is_ok());
    }

    #[test]
    fn boxes_that_runs_leave_for_good_come_to_an_end() {
        for factor in ["1.01", "1"] {
            let system = system(factor);
            let checker = Checker::new(&system, system.property("small").unwrap(), 2, 6, true).unwrap();
            let found = closed(&checker, &boxes(&[(0.0, 0.2), (1.0, 0.2)]), &system, &Budget::default(), &mut |_| {});
            assert!(found.is_err(), "{factor}");
        }
    }
}
