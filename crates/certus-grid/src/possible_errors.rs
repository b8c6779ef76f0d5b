//! Model errors that the bounds of a cell do not exclude.
//!
//! A cell stands for all of its states. Where its bounds do not exclude that a choice leads out of a range, that nothing may be chosen, or that an operation is undefined, a run may end
//! there with a model error, and `holds` requires that the property is decided by then. What the atoms are at such a position counts only as far as they have a value there, which
//! [`Valued`] knows.

use certus_automata::system::Truths;
use certus_lang::system::{AtomId, System};

/// Model errors that may happen in a cell, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PossibleErrors(pub u16);

impl PossibleErrors {
    /// A successor may be out of its range.
    pub const RANGE: PossibleErrors = PossibleErrors(0x1000);
    /// There may be nothing that can be chosen.
    pub const DEADLOCK: PossibleErrors = PossibleErrors(0x2000);
    /// An operation may be outside of its domain.
    pub const UNDEFINED: PossibleErrors = PossibleErrors(0x4000);
    /// Nothing may be allowed in a terminal state: no error, but no run goes on from there.
    pub const STUCK: PossibleErrors = PossibleErrors(0x8000);
    /// All model errors.
    pub const ERRORS: PossibleErrors = PossibleErrors(0x7000);
    /// Everything.
    pub const ALL: PossibleErrors = PossibleErrors(0xF000);

    /// Whether one of some others is among them.
    pub fn has(self, others: PossibleErrors) -> bool {
        self.0 & others.0 != 0
    }

    /// Adds others.
    pub fn add(&mut self, others: PossibleErrors) {
        self.0 |= others.0;
    }

    /// Those that are not among others.
    #[must_use]
    pub fn without(self, others: PossibleErrors) -> PossibleErrors {
        PossibleErrors(self.0 & !others.0)
    }
}

/// Which of a property's atoms have a value where a model error happens, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Valued {
    /// Those that do not speak of the successor: they have one where it is out of its range.
    pub without_successor: u64,
    /// Those that speak of nothing that is chosen: they have one where nothing can be chosen.
    pub without_choice: u64,
    /// Those that are defined everywhere and read nothing that may be undefined: they have one whatever else is.
    pub always: u64,
}

impl Valued {
    /// Of some atoms, in their order.
    pub fn of(system: &System, atoms: &[AtomId]) -> Valued {
        let bits = |has: &dyn Fn(AtomId) -> bool| {
            atoms.iter().enumerate().fold(0, |bits, (place, &atom)| bits | u64::from(has(atom)) << place)
        };
        let own = |atom: AtomId| &system.atoms[atom.0];
        // Without partial operations but in the successor, only that can be undefined.
        let is_safe = |atom: AtomId| own(atom).state_only || system.roles.choice_defined.is_none();
        Valued {
            without_successor: bits(&|atom| !own(atom).uses_next),
            without_choice: bits(&|atom| !own(atom).uses_next && !own(atom).uses_choice),
            always: bits(&|atom| is_safe(atom) && !own(atom).uses_next && !may_be_undefined(system, atom)),
        }
    }

    /// What is known of the atoms at a position with some model errors.
    pub fn at(&self, truths: Truths, errors: PossibleErrors) -> Truths {
        let mut mask = u64::MAX;
        if errors.has(PossibleErrors::RANGE) {
            mask &= self.without_successor;
        }
        if errors.has(PossibleErrors(PossibleErrors::DEADLOCK.0 | PossibleErrors::STUCK.0)) {
            mask &= self.without_choice;
        }
        if errors.has(PossibleErrors::UNDEFINED) {
            mask &= self.always;
        }
        Truths { yes: truths.yes & mask, no: truths.no & mask }
    }
}

/// Whether an atom has an operation that is undefined somewhere.
fn may_be_undefined(system: &System, atom: AtomId) -> bool {
    system.roles.atoms_defined.get(atom.0).is_some_and(Option::is_some)
}
