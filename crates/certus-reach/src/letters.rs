//! Letters by cases: what is left of a formula at a position where a set leaves several of its atoms open.
//!
//! Of `G (near -> fast)` a set that is near and slow somewhere shows nothing, even if it is slow only where it is far. So the set is cut along the margins of
//! the open atoms, and each part is carried through the position by itself: there the others may be certain (case splitting over predicates, as in Graf, Saïdi, "Construction of
//! abstract state graphs with PVS", CAV 1997). The parts are for the letter only: the tube goes on with the whole set.
//!
//! *Soundness.* A run at the position is in the part where an atom's margin is not negative and has the atom true, or is in the other one and has it false. What is left
//! of the formula in any part is asked of the whole set from the next position on.

use certus_automata::nnf::Nnf;
use certus_lang::system::AtomId;

use crate::closed_loop::{Set, Step};
use crate::domain::Side;
use crate::progression::{all, progress};
use crate::tube::{Branch, Tubes, Work};

/// The most atoms that are told apart.
const MOST_ATOMS: usize = 4;

/// Parts that are carried through a position, at most.
const MOST_PASSES: usize = 24;

/// A part is cut again along the same margin while that leaves no more of it than this.
const MOST_KEPT: f64 = 0.9;

/// A letter of which some values are known.
type Letter = Vec<Option<bool>>;

impl Tubes<'_> {
    /// What is left of the formula of a branch after a position, by cases of its open atoms; false if that does not help.
    pub(crate) fn left_by_cases(&self, branch: &Branch, step: &Step, work: &mut Work) -> Nnf<AtomId> {
        let open: Vec<AtomId> = step.open_atoms.iter().map(|(atom, _)| *atom).collect();
        if open.len() > MOST_ATOMS || !may_help(&branch.formula, &step.letter, &open) {
            return Nnf::falsity();
        }
        let mut passes = MOST_PASSES;
        self.left_of(branch, &branch.set, step, &[], &mut passes, work)
    }

    /// The same for a part of the set where the values of some atoms are given.
    fn left_of(
        &self,
        branch: &Branch,
        set: &Set,
        step: &Step,
        given: &[(AtomId, bool)],
        passes: &mut usize,
        work: &mut Work,
    ) -> Nnf<AtomId> {
        let mut letter = step.letter.clone();
        given.iter().for_each(|&(atom, value)| letter[atom.0] = Some(value));
        let left = progress(&branch.formula, &letter);
        if !left.is_false() {
            return left;
        }
        // What leaves least of the set is cut first.
        let parts = step.open_atoms.iter().filter(|(atom, _)| given.iter().all(|(own, _)| own != atom));
        let parts = parts.map(|(atom, margin)| (*atom, [Side::Above, Side::Below].map(|side| set.cut(margin, side))));
        let share = |part: &Option<Set>| part.as_ref().map_or(0.0, |own| own.share_of(set));
        let least = |(_, parts): &(AtomId, [Option<Set>; 2])| share(&parts[0]).min(share(&parts[1]));
        let Some((atom, parts)) = parts.min_by(|a, b| least(a).total_cmp(&least(b))) else { return Nnf::falsity() };
        let mut found = Vec::new();
        for (part, value) in parts.into_iter().zip([true, false]) {
            let Some(mut part) = part else { continue };
            let given: Vec<(AtomId, bool)> = given.iter().copied().chain([(atom, value)]).collect();
            let Some(own) = self.narrowed(branch, &mut part, (atom, value), passes, work) else {
                return Nnf::falsity();
            };
            let left = self.left_of(branch, &part, &own, &given, passes, work);
            if left.is_false() {
                return left;
            }
            found.push(left);
        }
        all(found)
    }

    /// The position over a part of the set, cut again where that narrows it; nothing if there is no work left for it.
    fn narrowed(
        &self,
        branch: &Branch,
        part: &mut Set,
        (atom, value): (AtomId, bool),
        passes: &mut usize,
        work: &mut Work,
    ) -> Option<Step> {
        let side = if value { Side::Above } else { Side::Below };
        loop {
            *passes = passes.checked_sub(1)?;
            let step = self.closed_loop.step(part, &branch.cases)?;
            work.spend(step.cost);
            let margin = step.open_atoms.iter().find(|(own, _)| *own == atom);
            let again = margin.and_then(|(_, margin)| part.cut(margin, side));
            match again {
                Some(own) if own.share_of(part) <= MOST_KEPT => *part = own,
                _ => return Some(step),
            }
        }
    }
}

/// Whether no value of a single open atom makes what is left false whatever the others are: then there is nothing that a cut could exclude.
fn may_help(formula: &Nnf<AtomId>, letter: &Letter, open: &[AtomId]) -> bool {
    let is_false = |values: usize| {
        let mut letter = letter.clone();
        open.iter().enumerate().for_each(|(place, atom)| letter[atom.0] = Some(values >> place & 1 == 1));
        progress(formula, &letter).is_false()
    };
    let bad: Vec<usize> = (0..1usize << open.len()).filter(|&values| is_false(values)).collect();
    let of_all = (1usize << open.len()) / 2;
    (0..open.len()).all(|place| {
        let ones = bad.iter().filter(|values| *values >> place & 1 == 1).count();
        ones < of_all && bad.len() - ones < of_all
    })
}

#[cfg(test)]
mod tests {
    use certus_automata::formula::Bounds;

    use super::*;

    #[test]
    fn cases_may_help_where_no_atom_alone_is_fatal() {
        let literal = |place: usize, wanted: bool| Nnf::Literal(AtomId(place), wanted);
        let always = |inner: Nnf<AtomId>| Nnf::Release(Bounds::default(), Box::new(Nnf::falsity()), Box::new(inner));
        let either = always(Nnf::Or(vec![literal(0, false), literal(1, true)]));
        let both = always(Nnf::And(vec![literal(0, false), literal(1, true)]));
        let open = [AtomId(0), AtomId(1)];
        assert!(may_help(&either, &vec![None, None], &open));
        assert!(!may_help(&either, &vec![Some(true), None], &open[1..]));
        assert!(!may_help(&both, &vec![None, None], &open));
    }
}
