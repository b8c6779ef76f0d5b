//! Handing states of the automaton on to successors.
//!
//! Units that many others lead to are asked again and again whether they have what is handed to them, and mostly they do. A shelf whose units all
//! have a state needs to be asked only once: in many dimensions, where a unit has thousands of successors, that is most of them.

use crate::units::{Units, Visitor};

/// Units with states of the automaton that are still to be handed on: the unit, a word, and bits of it.
pub(crate) type Pending = Vec<(u32, u16, u64)>;

/// The states of the automaton with which units can be entered.
#[derive(Default)]
pub(crate) struct Entered {
    words: usize,
    /// For each unit, as bits.
    states: Vec<u64>,
    /// For each shelf the states that all of its units have, among the first few.
    full: Vec<u8>,
    /// For each shelf how many of its units have each of those.
    counts: Vec<[u16; COUNTED]>,
    /// So many units a shelf has; none if that is not counted.
    room: Option<u16>,
}

/// So many states are counted.
const COUNTED: usize = 8;

impl Entered {
    /// Nothing was entered yet; sets of states have so many words.
    pub fn new(words: usize, units: &Units) -> Entered {
        // Parts of units have no places on shelves.
        let room = u16::try_from(units.room_of_shelf()).ok().filter(|_| units.halvings() == 0);
        Entered { words, room, states: vec![0; units.len() * words], full: Vec::new(), counts: Vec::new() }
    }

    /// How many bytes that takes.
    pub fn bytes(&self) -> usize {
        8 * self.states.capacity() + self.full.capacity() + 2 * COUNTED * self.counts.capacity()
    }

    /// The states of all units that were met, one unit after the other.
    pub fn all(&self) -> &[u64] {
        &self.states
    }

    /// The states with which a unit can be entered.
    pub fn of(&self, unit: u32) -> &[u64] {
        self.states.get(unit as usize * self.words..(unit as usize + 1) * self.words).unwrap_or(&[])
    }

    /// Takes note that a unit of a shelf has some states that it had not.
    fn count(&mut self, shelf: usize, fresh: u64) {
        let Some(room) = self.room else { return };
        if self.counts.len() <= shelf {
            self.counts.resize(shelf + 1, [0; COUNTED]);
            self.full.resize(shelf + 1, 0);
        }
        let mut rest = fresh as u8;
        while rest != 0 {
            let state = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let count = &mut self.counts[shelf][state];
            *count += 1;
            if *count == room {
                self.full[shelf] |= 1 << state;
            }
        }
    }
}

/// Hands states on to units.
pub(crate) struct Handing<'p> {
    pub entered: &'p mut Entered,
    /// The states.
    pub states: &'p [u64],
    /// Who is to hand them on next.
    pub next: &'p mut Pending,
    /// How many units and shelves were looked at.
    pub handed: usize,
}

impl Visitor for Handing<'_> {
    fn skips(&mut self, shelf: usize) -> bool {
        // A look at a shelf is work, too: whoever counts it looks at the clock.
        self.handed += 1;
        let full = self.entered.full.get(shelf).copied().unwrap_or(0);
        self.states[0] & !u64::from(full) == 0 && self.states[1..].iter().all(|&word| word == 0)
    }

    #[inline]
    fn visit(&mut self, unit: u32, shelf: usize, met: usize) {
        self.handed += 1;
        // Mostly one word, and nothing that is new.
        if let (&[states], Some(&own)) = (self.states, self.entered.states.get(unit as usize))
            && states & !own == 0
        {
            return;
        }
        self.add(unit, shelf, met);
    }
}

impl Handing<'_> {
    #[inline(never)]
    fn add(&mut self, unit: u32, shelf: usize, met: usize) {
        let words = self.entered.words;
        if self.entered.states.len() < met * words {
            self.entered.states.resize(met * words, 0);
        }
        for (word, &states) in self.states.iter().enumerate() {
            let own = &mut self.entered.states[unit as usize * words + word];
            let fresh = states & !*own;
            if fresh != 0 {
                *own |= fresh;
                self.next.push((unit, word as u16, fresh));
                if word == 0 {
                    self.entered.count(shelf, fresh);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use proptest::prelude::*;

    use super::*;
    use crate::lattice::{DEPTH, Lattice};
    use crate::units::Places;

    proptest! {
        /// Boxes of units in three dimensions, each with some states: with and without skipping full shelves.
        #[test]
        fn skipping_full_shelves_changes_nothing(
            boxes in prop::collection::vec((prop::array::uniform3((0u64..9, 0u64..9)), 0u64..16), 1..40),
        ) {
            let file = "system wide\nstate x[3] in [0, 10]\nnext x = x\ninit all(x in [0, 0])\nproperty p = G x[0] < 2\n";
            let system = load_str(file, &mut FileNetworks::new("."), &LowerOptions::default()).unwrap();
            let lattice = Lattice::new(&system, &[1.0; 3]).unwrap();
            let mut runs: Vec<(Pending, Vec<u64>, usize)> = Vec::new();
            for counted in [true, false] {
                let mut units = Units::new(&lattice);
                let mut entered = Entered::new(1, &units);
                entered.room = entered.room.filter(|_| counted);
                let (mut next, mut asked) = (Pending::new(), 0);
                for (ends, states) in &boxes {
                    let mut meeting = Places::default();
                    for (axis, (one, other)) in ends.iter().enumerate() {
                        meeting.low[axis] = one.min(other) << DEPTH;
                        meeting.high[axis] = one.max(other) << DEPTH;
                    }
                    let mut handing = Handing { entered: &mut entered, states: &[*states], next: &mut next, handed: 0 };
                    prop_assert!(units.each_meeting(&lattice, &meeting, &mut handing));
                    asked += handing.handed;
                }
                runs.push((next, entered.states, asked));
            }
            let (with, without) = (&runs[0], &runs[1]);
            prop_assert_eq!((&with.0, &with.1), (&without.0, &without.1));
            prop_assert!(with.2 <= without.2, "{} and {} looks", with.2, without.2);
        }
    }
}
