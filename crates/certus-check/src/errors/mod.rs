//! Model errors: whether a run can have one before a property is decided on it.
//!
//! What must be excluded for a property to hold, and is reported with a run where it is found, is said in docs/semantics.md. It is
//! asked of the system with one more atom ([`crate::guarded`]), in the order of what it costs:
//!
//! 1. *everywhere*: no state of a box that no run leaves has an error, whatever is chosen. Asked once for a system, first by intervals
//!    alone (`interval_check.rs`), which settles most;
//! 2. *at a depth*: no run of so many steps on which the property is still open ends in one; by boxes that intervals carry along from
//!    the initial states, or by a query for each depth;
//! 3. *within a proof*: no state that a proof for all time leaves (its invariant, what it has shown of every position) has one;
//! 4. *by induction* on its own, with an invariant that is looked for as for any property.
//!
//! A run that a solver proposes counts if intervals around it confirm that it is one, over the reals, that its last position has the error, and
//! that the property is not decided there ([`crate::monitor`]). A state without an allowed witness choice may still have another allowed
//! choice, which then becomes a witness.

mod at_depth;
mod conditions;
mod everywhere;
mod for_all_time;
mod witness_choices;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use certus_graph::Interval;
use certus_lang::system::{AtomId, Formula as Ltl, System};
use certus_model::proof::Method;
use certus_model::{CheckError, NoErrors, nnf};

pub use self::at_depth::Met;
pub(crate) use self::witness_choices::allowed_choice;
use self::witness_choices::samples;
use crate::guarded::{Guarded, WitnessChoice, guarded};
use crate::interval_check::IntervalCheck;
use crate::ltl_encoding::Shape;
use crate::reach::reachable;
use crate::witness::witnesses;

/// The model errors of a system; what is found out about them serves all of its properties.
pub struct Errors<'a> {
    system: &'a System,
    assumed: bool,
    /// Atoms that are to be defined, too.
    atoms: Vec<AtomId>,
    /// What is made where it is needed: a violation needs none of it.
    guarded: RefCell<Option<Rc<Guarded>>>,
    witnesses: OnceCell<RefCell<Vec<WitnessChoice>>>,
    /// A box that no run leaves.
    reach: OnceCell<Vec<Interval>>,
    everywhere: Cell<Option<bool>>,
    by_intervals: Cell<Option<bool>>,
    intervals: RefCell<Option<Rc<Option<IntervalCheck>>>>,
    induction: RefCell<Option<Method>>,
    /// Work per query with which induction was tried in vain.
    tried: Cell<u64>,
}

const ONE: Shape = Shape { positions: 1, loop_to: None };

impl<'a> Errors<'a> {
    /// Prepares a system. If `assumed`, nothing is asked: whoever wants to know has said that there are none.
    pub fn new(system: &'a System, assumed: bool) -> Errors<'a> {
        Errors::with_atoms(system, assumed, Vec::new())
    }

    /// Whether what is found out here is about a property: its atoms have values everywhere.
    fn serves(&self, formula: &Ltl) -> bool {
        let defined = &self.system.roles.atoms_defined;
        asked_atoms(formula).iter().all(|id| defined[id.0].is_none() || self.atoms.contains(id))
    }

    /// The errors that matter for a property, where its atoms may be undefined; nothing if these are the same.
    pub fn of_property(&self, formula: &Ltl) -> Result<Option<Errors<'a>>, CheckError> {
        if self.serves(formula) {
            return Ok(None);
        }
        Ok(Some(Errors::with_atoms(self.system, self.assumed, asked_atoms(formula))))
    }

    fn with_atoms(system: &'a System, assumed: bool, atoms: Vec<AtomId>) -> Errors<'a> {
        Errors {
            system,
            assumed,
            atoms,
            guarded: RefCell::new(None),
            witnesses: OnceCell::new(),
            reach: OnceCell::new(),
            everywhere: Cell::new(None),
            by_intervals: Cell::new(None),
            intervals: RefCell::new(None),
            induction: RefCell::new(None),
            tried: Cell::new(0),
        }
    }

    /// The witness choices against deadlocks.
    pub fn witnesses(&self) -> Result<Vec<WitnessChoice>, CheckError> {
        Ok(self.known_witnesses()?.borrow().clone())
    }

    fn known_witnesses(&self) -> Result<&RefCell<Vec<WitnessChoice>>, CheckError> {
        if let Some(known) = self.witnesses.get() {
            return Ok(known);
        }
        let found = match self.system.roles.assume {
            Some(_) => witnesses(self.system, &samples(self.reach()?))?,
            None => Vec::new(),
        };
        Ok(self.witnesses.get_or_init(|| RefCell::new(found)))
    }

    /// A box that no run leaves.
    fn reach(&self) -> Result<&[Interval], CheckError> {
        if let Some(known) = self.reach.get() {
            return Ok(known);
        }
        let (lower, upper) = reachable(self.system)?;
        let found = lower.into_iter().zip(upper).map(|(lo, hi)| Interval { lo, hi }).collect();
        Ok(self.reach.get_or_init(|| found))
    }

    /// Whether absence of errors is taken for granted.
    pub fn are_assumed(&self) -> bool {
        self.assumed
    }

    fn guarded(&self) -> Result<Rc<Guarded>, CheckError> {
        if let Some(known) = &*self.guarded.borrow() {
            return Ok(Rc::clone(known));
        }
        let new = Rc::new(guarded(self.system, &self.known_witnesses()?.borrow(), &self.atoms)?);
        *self.guarded.borrow_mut() = Some(Rc::clone(&new));
        Ok(new)
    }

    /// The words for a system without errors anywhere.
    pub fn everywhere_words(&self) -> NoErrors {
        if self.assumed { NoErrors::Assumed } else { NoErrors::Everywhere }
    }

    /// Whether it is known already, or taken for granted, that there are none anywhere.
    pub fn are_known_to_be_none(&self) -> bool {
        self.assumed || self.everywhere.get() == Some(true)
    }
}

/// The atoms that a formula mentions, each once.
pub(crate) fn asked_atoms(formula: &Ltl) -> Vec<AtomId> {
    let mut atoms = nnf(formula, false).atoms();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}
