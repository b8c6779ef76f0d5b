//! Labels of transitions: sets of letters as disjunctions of cubes.
//!
//! A [`Cube`] is a conjunction of literals over at most 64 atoms, two words; a [`Label`] is a list of cubes. Labels in
//! automata from formulas are small, so entailment is decided by splitting on atoms (Shannon expansion) until a cube is
//! empty or none is left, and no decision diagram is needed. [`Label::simplified`] drops literals and cubes while that
//! changes nothing: what remains is an irredundant cover by prime implicants (expand and irredundant as in ESPRESSO: Brayton,
//! Hachtel, McMullen and Sangiovanni-Vincentelli, "Logic Minimization Algorithms for VLSI Synthesis", Kluwer 1984).

/// A conjunction of literals: atoms that must hold and atoms that must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cube {
    /// Atoms that hold, one bit each.
    pub yes: u64,
    /// Atoms that do not hold.
    pub no: u64,
}

impl Cube {
    /// The empty conjunction: every letter.
    pub const TRUE: Cube = Cube { yes: 0, no: 0 };

    /// One literal. Atoms are below 64.
    pub fn literal(atom: u32, holds: bool) -> Cube {
        let bit = 1 << (atom & 63);
        if holds { Cube { yes: bit, no: 0 } } else { Cube { yes: 0, no: bit } }
    }

    /// The conjunction of both, unless no letter is in it.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let cube = Cube { yes: self.yes | other.yes, no: self.no | other.no };
        (cube.yes & cube.no == 0).then_some(cube)
    }

    /// Whether every letter of this cube is in the other.
    pub fn implies(self, other: Cube) -> bool {
        other.yes & !self.yes == 0 && other.no & !self.no == 0
    }

    /// Whether a letter is in the cube.
    pub fn contains(self, letter: u64) -> bool {
        self.yes & !letter == 0 && self.no & letter == 0
    }
}

/// A disjunction of cubes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Label(pub Vec<Cube>);

impl Label {
    /// Every letter.
    pub fn all() -> Label {
        Label(vec![Cube::TRUE])
    }

    /// Whether no letter is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a letter is in it.
    pub fn contains(&self, letter: u64) -> bool {
        self.0.iter().any(|cube| cube.contains(letter))
    }

    /// Letters in both.
    pub fn and(&self, other: &Label) -> Label {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().filter_map(|b| a.and(*b)));
        Label(pairs.collect()).absorbed()
    }

    /// Letters in one of both.
    pub fn or(&self, other: &Label) -> Label {
        Label([self.0.as_slice(), &other.0].concat()).absorbed()
    }

    /// Letters of this label that are not in the other.
    pub fn minus(&self, other: &Label) -> Label {
        let mut left = self.0.clone();
        for cut in &other.0 {
            let mut next = Vec::new();
            for cube in left {
                // Letters of the cube that miss the cut by its first literal, by its second but not its first, …
                let Some(_) = cube.and(*cut) else {
                    next.push(cube);
                    continue;
                };
                let mut cube = cube;
                for atom in 0..64 {
                    let bit = 1u64 << atom;
                    if cut.yes & bit != 0 && cube.yes & bit == 0 {
                        next.push(Cube { no: cube.no | bit, ..cube });
                        cube.yes |= bit;
                    } else if cut.no & bit != 0 && cube.no & bit == 0 {
                        next.push(Cube { yes: cube.yes | bit, ..cube });
                        cube.no |= bit;
                    }
                }
            }
            left = next;
        }
        Label(left)
    }

    /// Whether every letter of this label is in the other.
    pub fn implies(&self, other: &Label) -> bool {
        self.0.iter().all(|cube| covered(*cube, &other.0))
    }

    /// Whether both have the same letters.
    pub fn equals(&self, other: &Label) -> bool {
        self == other || (self.implies(other) && other.implies(self))
    }

    /// Whether no letter is in both.
    pub fn disjoint(&self, other: &Label) -> bool {
        self.0.iter().all(|a| other.0.iter().all(|b| a.and(*b).is_none()))
    }

    /// Without cubes that are in other cubes.
    fn absorbed(mut self) -> Label {
        self.0.sort_unstable_by_key(|cube| (cube.yes.count_ones() + cube.no.count_ones(), *cube));
        self.0.dedup();
        let mut kept: Vec<Cube> = Vec::with_capacity(self.0.len());
        for cube in self.0 {
            if !kept.iter().any(|other| cube.implies(*other)) {
                kept.push(cube);
            }
        }
        Label(kept)
    }

    /// The same letters by prime cubes, none superfluous.
    pub fn simplified(self) -> Label {
        let mut label = self.absorbed();
        if label.0.len() <= 1 {
            return label;
        }
        for i in 0..label.0.len() {
            for atom in 0..64 {
                let bit = 1u64 << atom;
                let cube = label.0[i];
                if (cube.yes | cube.no) & bit != 0 {
                    let wider = Cube { yes: cube.yes & !bit, no: cube.no & !bit };
                    if covered(wider, &label.0) {
                        label.0[i] = wider;
                    }
                }
            }
        }
        label = label.absorbed();
        let mut i = label.0.len();
        while i > 0 {
            i -= 1;
            let cube = label.0.remove(i);
            if !covered(cube, &label.0) {
                label.0.insert(i, cube);
            }
        }
        label
    }
}

/// Whether every letter of the cube is in one of the others.
pub fn covered(cube: Cube, others: &[Cube]) -> bool {
    if others.iter().any(|other| cube.implies(*other)) {
        return true;
    }
    // An atom that a meeting cube constrains and this one does not; both halves must be covered.
    let meeting: Vec<Cube> = others.iter().copied().filter(|other| cube.and(*other).is_some()).collect();
    if meeting.len() < 2 {
        return false;
    }
    let free = (meeting[0].yes | meeting[0].no) & !(cube.yes | cube.no);
    let bit = free & free.wrapping_neg();
    bit != 0
        && covered(Cube { yes: cube.yes | bit, ..cube }, &meeting)
        && covered(Cube { no: cube.no | bit, ..cube }, &meeting)
}

#[cfg(test)]
mod tests {
    use super::{Cube, Label};
    use proptest::prelude::*;

    fn label() -> impl Strategy<Value = Label> {
        let cube = (0u64..16, 0u64..16).prop_map(|(yes, no)| Cube { yes, no: no & !yes });
        prop::collection::vec(cube, 0..5).prop_map(Label)
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets(a in label(), b in label()) {
            let small = a.clone().simplified();
            for letter in 0..16 {
                let (in_a, in_b) = (a.contains(letter), b.contains(letter));
                prop_assert_eq!(small.contains(letter), in_a);
                prop_assert_eq!(a.and(&b).contains(letter), in_a && in_b);
                prop_assert_eq!(a.or(&b).contains(letter), in_a || in_b);
                prop_assert_eq!(a.minus(&b).contains(letter), in_a && !in_b);
            }
            prop_assert_eq!(a.implies(&b), (0..16).all(|letter| !a.contains(letter) || b.contains(letter)));
            prop_assert_eq!(a.disjoint(&b), (0..16).all(|letter| !a.contains(letter) || !b.contains(letter)));
            prop_assert!(a.equals(&small));
        }
    }
}
