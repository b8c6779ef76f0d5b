//! Cells of states, and parallelotopes around the sets in each.
//!
//! *Cells.* Only what decides later comparisons is told apart by cells: the *drivers*, elements of the state that the arguments of open comparisons depend on, over
//! some steps, as the linear parts of forms tell. A driver is cut as finely as it matters to the comparisons.
//!
//! *Frames.* What is joined becomes a parallelotope, not a box. All that a comparison decides is how far the next state is along one direction, so sets from
//! different cases differ by multiples of it: an element that is no driver is measured in a coordinate that does not change along such a jump. (An
//! oriented hull, as in Stursberg, Krogh, "Efficient representation and computation of reachable sets for hybrid systems", HSCC 2003; its directions
//! come from the guards.) For a cart that is pushed to hold its pole, that is the momentum without what pushes exchange between cart and pole.
//!
//! *Soundness.* Influence and jumps are guesses, and any cells and any frame will do: each state of a set is in some cell, in which it is in both the box and the
//! parallelotope.

use std::collections::BTreeMap;

use certus_graph::Interval;

use crate::closed_loop::{ClosedLoop, Set, Step};
use crate::domain::Side;
use crate::form::{Form, Space, middle};

/// Over so many steps an element's influence on the comparisons is followed.
const STEPS_OF_INFLUENCE: usize = 8;

/// What has less than this share of the greatest influence is no driver.
const LEAST_INFLUENCE: f64 = 1e-6;

/// The most comparisons whose jumps a frame knows.
const MOST_JUMPS: usize = 4;

/// A jump that is less than this share of a driver's width leads along no driver.
const LEAST_JUMP: f64 = 1e-6;

/// How sets are joined.
#[derive(Debug)]
pub(crate) struct Frame {
    hull: Vec<Interval>,
    /// Into how many cells each element is cut.
    counts: Vec<usize>,
    /// For each element, drivers with its slopes against them: x − Σ slope · driver does not change along jumps.
    slopes: Vec<Vec<(usize, f64)>>,
}

/// What the sets in a cell are in.
struct Joint {
    bounds: Vec<Interval>,
    /// In the coordinates of the frame.
    framed: Vec<Interval>,
}

impl Frame {
    /// A frame for some sets, with so many cells at most; nothing if no comparison is open on all of them together.
    pub(crate) fn around(closed_loop: &ClosedLoop, sets: &[Set], cells: usize) -> Option<Frame> {
        let hulls = sets.iter().map(Set::hull);
        let hull = hulls.reduce(|all, own| all.iter().zip(own).map(|(a, b)| a.hull(b)).collect())?;
        let whole = Set::of_box(&hull, 1);
        let step = closed_loop.step(&whole, &BTreeMap::new())?;
        if step.open.is_empty() {
            return None;
        }
        let influence = influence(&whole, &step);
        let greatest = influence.iter().copied().fold(0.0, f64::max);
        let is_driver: Vec<bool> = influence.iter().map(|own| *own > LEAST_INFLUENCE * greatest).collect();
        let jumps: Vec<Vec<f64>> = step
            .open
            .iter()
            .take(MOST_JUMPS)
            .filter_map(|(guard, _)| {
                let side =
                    |side: Side| Some(centre(&closed_loop.step(&whole, &BTreeMap::from([(*guard, side)]))?.next));
                let (below, above) = (side(Side::Below)?, side(Side::Above)?);
                Some(above.iter().zip(below).map(|(a, b)| a - b).collect())
            })
            .collect();
        let directions = directions(jumps, &hull, &is_driver);
        let slopes = (0..hull.len()).map(|element| {
            let slopes = directions.iter().map(|(driver, own)| (*driver, own[element]));
            slopes.filter(|(_, slope)| !is_driver[element] && *slope != 0.0).collect()
        });
        let slopes = slopes.collect();
        let influence: Vec<f64> =
            influence.iter().zip(&is_driver).map(|(own, is)| if *is { *own } else { 0.0 }).collect();
        Some(Frame { slopes, counts: counts(&influence, cells), hull })
    }

    /// Sets around what of some others is in each cell.
    pub(crate) fn join(&self, sets: &[Set]) -> Vec<Set> {
        let mut joints: BTreeMap<Vec<usize>, Joint> = BTreeMap::new();
        for set in sets {
            let framed: Vec<Interval> = (0..set.state.len()).map(|element| self.coordinate(set, element)).collect();
            let bounds = set.hull();
            let ends: Vec<(usize, usize)> =
                (0..bounds.len()).map(|element| self.cells_of(element, bounds[element])).collect();
            let mut cell: Vec<usize> = ends.iter().map(|(first, _)| *first).collect();
            loop {
                self.add(&mut joints, &cell, &bounds, &framed);
                // The next cell, as an odometer counts.
                let Some(place) = (0..cell.len()).find(|&place| cell[place] < ends[place].1) else { break };
                cell[place] += 1;
                (0..place).for_each(|earlier| cell[earlier] = ends[earlier].0);
            }
        }
        joints.into_values().map(|joint| self.set(&joint)).collect()
    }

    /// Adds what a set has in a cell.
    fn add(&self, joints: &mut BTreeMap<Vec<usize>, Joint>, cell: &[usize], bounds: &[Interval], framed: &[Interval]) {
        let inside = |(element, own): (usize, &Interval)| self.cell(element, cell[element]).intersection(*own);
        let Some(bounds) = bounds.iter().enumerate().map(inside).collect::<Option<Vec<Interval>>>() else { return };
        // Where an element is its own coordinate.
        let of_frame = |element: usize| if self.slopes[element].is_empty() { bounds[element] } else { framed[element] };
        let framed: Vec<Interval> = (0..bounds.len()).map(of_frame).collect();
        let widen =
            |own: &mut [Interval], other: &[Interval]| own.iter_mut().zip(other).for_each(|(a, b)| *a = a.hull(*b));
        match joints.get_mut(cell) {
            Some(joint) => {
                widen(&mut joint.bounds, &bounds);
                widen(&mut joint.framed, &framed);
            }
            None => _ = joints.insert(cell.to_vec(), Joint { bounds, framed }),
        }
    }

    /// x − Σ slope · driver over a set.
    fn coordinate(&self, set: &Set, element: usize) -> Interval {
        if self.slopes[element].is_empty() {
            return set.state[element].range;
        }
        let drivers = self.slopes[element].iter().map(|&(driver, slope)| (Interval::point(-slope), &set.state[driver]));
        let terms: Vec<(Interval, &Form)> =
            std::iter::once((Interval::ONE, &set.state[element])).chain(drivers).collect();
        set.space.combine(&terms, Interval::ZERO).range
    }

    /// The set of all states that are in both.
    fn set(&self, joint: &Joint) -> Set {
        let mut set = Set::of_box(&joint.framed, 1);
        let along: Vec<Form> = (0..set.state.len())
            .map(|element| {
                let own = std::iter::once((Interval::ONE, &set.state[element]));
                let drivers =
                    self.slopes[element].iter().map(|&(driver, slope)| (Interval::point(slope), &set.state[driver]));
                match self.slopes[element].is_empty() {
                    true => set.state[element].clone(),
                    false => set.space.combine(&own.chain(drivers).collect::<Vec<_>>(), Interval::ZERO),
                }
            })
            .collect();
        set.state =
            along.into_iter().zip(&joint.bounds).map(|(form, bounds)| set.space.within(form, *bounds)).collect();
        set
    }

    /// A cell of one element.
    fn cell(&self, element: usize, place: usize) -> Interval {
        let (range, count) = (self.hull[element], self.counts[element]);
        let border = |place: usize| match place {
            0 => range.lo,
            _ if place == count => range.hi,
            _ => (range.lo + range.width() * (place as f64 / count as f64)).clamp(range.lo, range.hi),
        };
        Interval { lo: border(place), hi: border(place + 1) }
    }

    /// The first and the last cell of an element that a part of its range meets.
    fn cells_of(&self, element: usize, part: Interval) -> (usize, usize) {
        let last = self.counts[element] - 1;
        let cell = |place: usize| self.cell(element, place);
        let at = |value: f64| {
            let share = (value - self.hull[element].lo) / self.hull[element].width();
            ((share * self.counts[element] as f64) as usize).min(last)
        };
        // Rounding may lead beside it.
        let (mut from, mut to) = (at(part.lo), at(part.hi));
        while from > 0 && part.lo < cell(from).lo {
            from -= 1;
        }
        while to < last && part.hi > cell(to).hi {
            to += 1;
        }
        (from, to.max(from))
    }
}

/// The coefficients of a form's strong variables.
fn linear<'f>(space: &Space, form: &'f Form) -> &'f [f64] {
    &form.coefficients[1..=space.monomials.variables]
}

fn centre(set: &Set) -> Vec<f64> {
    set.state.iter().map(|form| middle(form.range).0).collect()
}

/// How much each element of a box decides open comparisons, in shares of their arguments' widths: the most of some steps.
fn influence(whole: &Set, step: &Step) -> Vec<f64> {
    let wide: Vec<usize> = (0..whole.state.len()).filter(|&element| whole.state[element].range.width() > 0.0).collect();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (_, argument) in &step.open {
        let width = argument.range.width().max(f64::MIN_POSITIVE);
        rows.push(linear(&whole.space, argument).iter().map(|c| c / width).collect());
    }
    let mut found = vec![0.0f64; whole.state.len()];
    for _ in 0..STEPS_OF_INFLUENCE {
        for row in &mut rows {
            wide.iter().zip(row.iter()).for_each(|(&element, c)| found[element] = found[element].max(c.abs()));
            // The same comparison a step later.
            let mut before = vec![0.0; row.len()];
            for (&element, c) in wide.iter().zip(row.iter()) {
                let share = c / (whole.state[element].range.width() / 2.0);
                let moved = linear(&step.next.space, &step.next.state[element]);
                before.iter_mut().zip(moved).for_each(|(sum, own)| *sum += share * own);
            }
            *row = before;
        }
    }
    found
}

/// Jumps as combinations of directions, each of which leads one step along a driver of its own, and none along those of others.
fn directions(jumps: Vec<Vec<f64>>, hull: &[Interval], is_driver: &[bool]) -> Vec<(usize, Vec<f64>)> {
    let mut found: Vec<(usize, Vec<f64>)> = Vec::new();
    let minus = |from: &mut [f64], factor: f64, other: &[f64]| {
        from.iter_mut().zip(other).for_each(|(a, b)| *a -= factor * b);
    };
    for mut jump in jumps {
        for (driver, own) in &found {
            let factor = jump[*driver];
            minus(&mut jump, factor, own);
        }
        let share = |element: &usize| jump[*element].abs() / hull[*element].width();
        let drivers = (0..hull.len()).filter(|&own| is_driver[own] && share(&own) > LEAST_JUMP);
        let Some(driver) = drivers.max_by(|a, b| share(a).total_cmp(&share(b))) else { continue };
        let length = jump[driver];
        jump.iter_mut().for_each(|own| *own /= length);
        for (_, own) in &mut found {
            let factor = own[driver];
            minus(own, factor, &jump);
        }
        if jump.iter().all(|own| own.is_finite()) {
            found.push((driver, jump));
        }
    }
    found
}

/// Into how many cells each element is cut, as its influence says, so many together at most.
fn counts(influence: &[f64], cells: usize) -> Vec<usize> {
    let greatest = influence.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let with = |scale: f64| {
        influence.iter().map(move |own| ((own / greatest * scale) as usize).max(1)).collect::<Vec<usize>>()
    };
    let fits = |scale: f64| {
        with(scale).iter().try_fold(1usize, |all, own| all.checked_mul(*own)).is_some_and(|all| all <= cells)
    };
    let (mut low, mut high) = (1.0, 2.0 * cells as f64);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        match fits(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    with(low)
}
