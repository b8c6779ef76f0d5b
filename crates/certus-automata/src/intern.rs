//! Values with numbers.
//!
//! Formulas, states of automata and states of systems are all met many times and kept once. An [`Interner`] gives each
//! distinct value the number of its first appearance. Values lie in one vector; beside it stands an open-addressing table
//! of numbers alone (four bytes a slot, at most three quarters full), so that a state costs its own size and about six
//! bytes. Hashing is a multiply-and-rotate mix: keys here are small and nobody gains by making them collide.

use std::hash::{Hash, Hasher};

/// A fast hasher for small keys.
#[derive(Clone, Copy, Default)]
pub struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word) ^ ((chunk.len() as u64) << 56));
        }
    }
    fn write_u8(&mut self, n: u8) {
        self.add(n.into());
    }
    fn write_u32(&mut self, n: u32) {
        self.add(n.into());
    }
    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }
    fn write_usize(&mut self, n: usize) {
        self.add(n as u64);
    }
    fn finish(&self) -> u64 {
        let mixed = self.0 ^ (self.0 >> 32);
        mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (mixed >> 29)
    }
}

const FREE: u32 = u32::MAX;

/// A set of values, each with the number of its first appearance.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    values: Vec<T>,
    table: Vec<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), table: Vec::new() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    fn hash(value: &T) -> usize {
        let mut mix = Mix::default();
        value.hash(&mut mix);
        mix.finish() as usize
    }

    /// How many distinct values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values, by their numbers.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The value with a number.
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// The slot that holds the value, or the free one where it belongs. The table must not be empty.
    fn slot(&self, value: &T) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = Self::hash(value) & mask;
        while self.table[slot] != FREE && self.values[self.table[slot] as usize] != *value {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![FREE; (self.table.len() * 2).max(16)];
        let mask = self.table.len() - 1;
        for (number, value) in self.values.iter().enumerate() {
            let mut slot = Self::hash(value) & mask;
            while self.table[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = number as u32;
        }
    }

    /// The number of a value that is known already.
    pub fn find(&self, value: &T) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        let number = self.table[self.slot(value)];
        (number != FREE).then_some(number)
    }

    /// The number of a value, and whether it is new. After 2³² − 2 values further ones get the last number: whoever may
    /// come near asks [`Interner::is_full`] first.
    pub fn insert(&mut self, value: T) -> (u32, bool) {
        if (self.values.len() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let slot = self.slot(&value);
        if self.table[slot] != FREE {
            return (self.table[slot], false);
        }
        if self.is_full() {
            return (FREE - 2, false);
        }
        let number = self.values.len() as u32;
        self.table[slot] = number;
        self.values.push(value);
        (number, true)
    }

    /// Whether there are no numbers left.
    pub fn is_full(&self) -> bool {
        self.values.len() >= (FREE - 1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Interner;

    #[test]
    fn numbers_follow_first_appearance() {
        let mut set = Interner::default();
        for n in 0..1000u64 {
            assert_eq!(set.insert(n * 7919), (n as u32, true));
        }
        for n in 0..1000u64 {
            assert_eq!(set.insert(n * 7919), (n as u32, false));
            assert_eq!(set.find(&(n * 7919)), Some(n as u32));
            assert_eq!(set.find(&(n * 7919 + 1)), None);
        }
        assert_eq!(set.len(), 1000);
        assert!(!set.is_empty() && !set.is_full() && set.values().len() == 1000);
        assert_eq!(Interner::<u8>::default().find(&0), None);
    }
}
