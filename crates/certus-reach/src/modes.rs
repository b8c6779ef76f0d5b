//! Proofs for all time by boxes that are joined: one box for each mode.
//!
//! Where a loop switches, tubes fall apart into more cases than can be followed, although they meet again: after a switch it hardly matters which case came before. So
//! sets in the same *mode* are joined into one box: a mode is what the whole numbers among the state are that have one value in all of the set (valves, counters,
//! phases). This is an abstract interpreter with trace partitioning (Rival, Mauborgne, "The trace partitioning abstract domain", TOPLAS 29, 2007) by the states of
//! control that the sets show themselves.
//!
//! The boxes are carried on in step for some steps first, so that what only holds at the beginning has passed; then each new box is joined with what is known of its mode,
//! until nothing new comes (Cousot and Cousot, "Abstract interpretation", POPL 1977).
//!
//! *Soundness.* Every run is in one of the boxes at each position; from each box every successor is in a box of the final set, and what is left of the formula at each
//! position is the formula itself ([`crate::progression`], *Loops*).

use std::collections::BTreeMap;

use certus_automata::nnf::Nnf;
use certus_graph::Interval;
use certus_lang::system::AtomId;

use crate::closed_loop::Set;
use crate::progression::repeatable;
use crate::tube::{Branch, Moved, Tubes, Work};

/// Steps that boxes are carried on before they are joined with later ones, tried one after the other.
const FIRST_STEPS: [usize; 3] = [0, 8, 32];

/// The most modes.
const MOST_MODES: usize = 2048;

/// Cases of one step from a box.
const MOST_CASES: usize = 64;

/// Joins of a mode before its box is widened.
const JOINS: usize = 16;

/// How far it is widened where it grows, as a share of its width.
const WIDENING: f64 = 0.25;

/// Whole numbers that have one value in a set, by their bits.
type Mode = Vec<Option<u64>>;

/// One box for each mode.
type Boxes = BTreeMap<Mode, Vec<Interval>>;

/// What an attempt came to.
pub(crate) enum Joined {
    /// The formula holds for ever, by so many boxes.
    Holds { boxes: usize, steps: usize },
    /// Something was open.
    Open,
    /// The work was used up.
    OutOfWork,
}

/// Why the successors of a box are not known.
enum Failure {
    Open,
    OutOfWork,
}

fn mode_of(bounds: &[Interval]) -> Mode {
    let value =
        |range: &Interval| (range.lo == range.hi && range.lo.fract() == 0.0).then(|| (range.lo + 0.0).to_bits());
    bounds.iter().map(value).collect()
}

impl Tubes<'_> {
    /// Tries to show that the formula holds for ever from boxes of initial states.
    pub(crate) fn joined(&self, starts: &[Vec<Interval>], work: &mut Work) -> Joined {
        if repeatable(self.formula) != Some(self.formula) {
            return Joined::Open;
        }
        for steps in FIRST_STEPS {
            match self.joined_after(starts, steps, work) {
                Ok(boxes) => return Joined::Holds { boxes, steps },
                Err(Failure::OutOfWork) => return Joined::OutOfWork,
                Err(Failure::Open) => {}
            }
        }
        Joined::Open
    }

    /// The same by boxes that are joined with later ones from some step on; says how many there are.
    fn joined_after(&self, starts: &[Vec<Interval>], steps: usize, work: &mut Work) -> Result<usize, Failure> {
        let mut now = Boxes::new();
        for bounds in starts {
            for (mode, next) in self.after_step(bounds, 0, work)? {
                join(&mut now, mode, &next)?;
            }
        }
        for step in 1..=steps {
            let mut later = Boxes::new();
            for own in now.values() {
                for (mode, next) in self.after_step(own, step, work)? {
                    join(&mut later, mode, &next)?;
                }
            }
            now = later;
        }
        let mut joins: BTreeMap<Mode, usize> = BTreeMap::new();
        let mut open: Vec<Mode> = now.keys().cloned().collect();
        while let Some(mode) = open.pop() {
            let Some(own) = now.get(&mode).cloned() else { continue };
            for (mode, next) in self.after_step(&own, steps + 1, work)? {
                let before = now.get(&mode).cloned();
                if before.as_ref().is_some_and(|own| own.iter().zip(&next).all(|(own, next)| own.encloses(*next))) {
                    continue;
                }
                let count = joins.entry(mode.clone()).or_insert(0);
                *count += 1;
                let is_wide = *count > JOINS;
                join(&mut now, mode.clone(), &next)?;
                if let (true, Some(before), Some(own)) = (is_wide, before, now.get_mut(&mode)) {
                    self.widen(own, &before);
                }
                if !open.contains(&mode) {
                    open.push(mode);
                }
            }
        }
        Ok(now.len())
    }

    /// Widens a box where it grew, as far as the ranges allow.
    fn widen(&self, own: &mut [Interval], before: &[Interval]) {
        for ((own, before), range) in own.iter_mut().zip(before).zip(&self.closed_loop.ranges) {
            let more = WIDENING * own.width();
            let lo = if own.lo < before.lo { (own.lo - more).max(range.lo) } else { own.lo };
            let hi = if own.hi > before.hi { (own.hi + more).min(range.hi) } else { own.hi };
            *own = Interval { lo: lo.min(own.lo), hi: hi.max(own.hi) };
        }
    }

    /// The boxes of the successors of a box, by their modes.
    fn after_step(&self, bounds: &[Interval], step: usize, work: &mut Work) -> Result<Boxes, Failure> {
        let formula: Nnf<AtomId> = self.formula.clone();
        let mut first = Branch::new(Set::of_box(bounds, 1), formula);
        first.step = step;
        let mut branches = vec![first];
        let mut cases = MOST_CASES;
        let mut found = Boxes::new();
        while let Some(mut branch) = branches.pop() {
            match self.advance(&mut branch, &mut branches, &mut cases, work, None) {
                Moved::OutOfWork => return Err(Failure::OutOfWork),
                Moved::Obstacle(_) => return Err(Failure::Open),
                Moved::Ended(_) => {}
                Moved::Onwards if branch.formula == *self.formula => {
                    let hull = branch.set.hull();
                    join(&mut found, mode_of(&hull), &hull)?;
                }
                Moved::Onwards => return Err(Failure::Open),
            }
        }
        Ok(found)
    }
}

/// Joins a box with that of its mode.
fn join(boxes: &mut Boxes, mode: Mode, next: &[Interval]) -> Result<(), Failure> {
    if let Some(own) = boxes.get_mut(&mode) {
        own.iter_mut().zip(next).for_each(|(own, next)| *own = own.hull(*next));
        return Ok(());
    }
    if boxes.len() >= MOST_MODES {
        return Err(Failure::Open);
    }
    boxes.insert(mode, next.to_vec());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_the_whole_numbers_with_one_value() {
        let point = Interval::point;
        let bounds = [point(1.0), point(0.5), Interval { lo: 0.0, hi: 1.0 }, point(-0.0)];
        assert_eq!(mode_of(&bounds), [Some(1f64.to_bits()), None, None, Some(0)]);
    }
}
