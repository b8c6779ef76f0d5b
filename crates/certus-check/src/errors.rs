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

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_lang::system::{AtomId, Formula as Ltl, Property, PropertyKind, System};
use certus_model::proof::{Invariant, Method};
use certus_model::{CheckError, ModelError, Nnf, NoErrors, Proof, nnf};
use certus_solver::{Answer, Budget, UnknownReason, solve};

use crate::confirm::{Confirmed, confirm};
use crate::guarded::{Guarded, WitnessChoice, guarded};
use crate::induction::invariant::{self, observed};
use crate::induction::{Prover, Round};
use crate::interval_check::IntervalCheck;
use crate::ltl_encoding::{Beyond, Shape};
use crate::monitor::Monitor;
use crate::proof::conjuncts;
use crate::query::{RunQuery, Wanted};
use crate::reach::reachable;
use crate::replay::split;
use crate::unroll::Start;
use crate::witness::witnesses;
use certus_engine::Depth;
use certus_engine::FIRST_WORK;

/// What a look for an error came to.
pub enum Met {
    /// There is none.
    None,
    /// This one.
    Found(Box<ModelError>),
    /// Neither is known.
    Open(UnknownReason),
}

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
    /// Parts per question with which induction was tried in vain.
    tried: Cell<u64>,
}

/// States in which witness choices are tried.
const SAMPLES: usize = 96;

/// Witness choices that are added where a state turned out to have none of those there are.
const MORE_WITNESSES: usize = 8;

/// Parts that the question for an error at a depth may take: next to a pole some can be cut for ever.
const DEPTH_PARTS: u64 = 16_000;

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

    /// Whether no state of a box that no run leaves has an error.
    pub fn none_anywhere(&self, budget: &Budget<'_>, watch: &mut dyn FnMut(Depth)) -> Result<bool, CheckError> {
        if self.assumed {
            return Ok(true);
        }
        if let Some(known) = self.everywhere.get() {
            return Ok(known);
        }
        let own = Budget { boxes: FIRST_WORK.min(budget.boxes), ..*budget };
        let none = self.none_by_intervals()? || self.none_within(&[], &|_| Vec::new(), &own, watch)?;
        let cut_short = certus_engine::spent(budget).is_some();
        if none || !cut_short {
            self.everywhere.set(Some(none));
        }
        Ok(none)
    }

    /// Whether intervals show that no state of a box has an error.
    fn none_in_box(&self, state: &[Interval]) -> Result<bool, CheckError> {
        let intervals = self.intervals()?;
        Ok(intervals.as_ref().as_ref().map_or(Ok(None), |intervals| intervals.successors(state))?.is_some())
    }

    fn intervals(&self) -> Result<Rc<Option<IntervalCheck>>, CheckError> {
        if let Some(known) = &*self.intervals.borrow() {
            return Ok(Rc::clone(known));
        }
        let new = Rc::new(IntervalCheck::new(&*self.guarded()?)?);
        *self.intervals.borrow_mut() = Some(Rc::clone(&new));
        Ok(new)
    }

    /// Whether boxes that are carried along from the initial states show that no run of so many steps has an error.
    pub fn none_along(&self, steps: usize) -> Result<bool, CheckError> {
        if self.assumed || self.initial_is_defined()? != Some(true) {
            return Ok(self.assumed);
        }
        let intervals = self.intervals()?;
        let Some(intervals) = intervals.as_ref() else { return Ok(false) };
        let mut state = Vec::new();
        let ranges = self.system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        for ((low, high), (&lo, &hi)) in self.system.init_box.0.iter().zip(&self.system.init_box.1).zip(ranges) {
            let initial = Interval { lo: low.max(lo), hi: high.min(hi) };
            if !initial.is_well_formed() {
                return Ok(false);
            }
            state.push(initial);
        }
        for _ in 0..=steps {
            match intervals.successors(&state)? {
                Some(next) => state = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether intervals alone show that. Asked once, and before any solver is.
    fn none_by_intervals(&self) -> Result<bool, CheckError> {
        if self.assumed || self.everywhere.get() == Some(true) {
            return Ok(true);
        }
        if let Some(known) = self.by_intervals.get() {
            return Ok(known);
        }
        let none = self.initial_is_defined()? == Some(true) && self.none_in_box(self.reach()?)?;
        self.by_intervals.set(Some(none));
        if none {
            self.everywhere.set(Some(true));
        }
        Ok(none)
    }

    /// Whether no state of that box in which some formulas hold, and some more, has an error.
    fn none_within(
        &self,
        formulas: &[Nnf],
        more: &dyn Fn(&crate::unroll::Unrolled) -> Vec<certus_solver::formula::Formula<certus_solver::Place>>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<bool, CheckError> {
        if let Some(false) = self.initial_is_defined()? {
            return Ok(false);
        }
        for _ in 0..=MORE_WITNESSES {
            let guarded = self.guarded()?;
            let bad = Nnf::Literal(guarded.ok, false);
            let mut wanted: Vec<(&Nnf, usize)> = formulas.iter().map(|formula| (formula, 0)).collect();
            wanted.push((&bad, 0));
            let wanted = Wanted {
                start: Start::Anywhere,
                shape: ONE,
                formulas: &wanted,
                beyond: Beyond::Anything,
                ends_in_error: true,
            };
            let question = RunQuery::new(&guarded.system, wanted, more)?;
            let query = question.query()?;
            let answer = solve(&query, budget, &mut |progress| {
                watch(Depth { steps: 0, loop_to: None, settled: None, progress });
            })?;
            match answer {
                Answer::Unsat(_) => return Ok(true),
                Answer::Unknown(..) => return Ok(false),
                Answer::Sat(witness) => {
                    if !self.learns(&question.drive(&witness).state, budget)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Whether the initial conditions have a value in every state of the declared ranges; nothing if intervals cannot tell.
    fn initial_is_defined(&self) -> Result<Option<bool>, GraphError> {
        let Some(defined) = self.system.roles.init_defined else { return Ok(Some(true)) };
        let graph = self.system.step.keep_outputs(&[defined.truth.port]);
        let whole: Vec<Vec<Interval>> = graph
            .inputs()
            .iter()
            .enumerate()
            .map(|(place, port)| match self.system.states.get(place) {
                Some(state) => state.lower.iter().zip(&state.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect(),
                None => vec![Interval::ENTIRE; graph.elements(port.node)],
            })
            .collect();
        let slices: Vec<&[Interval]> = whole.iter().map(Vec::as_slice).collect();
        let found = enclose(&graph, &slices)?;
        Ok(found[0].first().and_then(|value| value.certainty()).or(Some(false)))
    }

    /// Looks for an allowed choice in a state that has no witness among those there are; whether there is a new one now.
    fn learns(&self, state: &[f64], budget: &Budget<'_>) -> Result<bool, CheckError> {
        let witnesses = self.known_witnesses()?;
        let known = witnesses.borrow().len();
        if self.system.roles.assume.is_none() || known >= MORE_WITNESSES {
            return Ok(false);
        }
        let point: Vec<Interval> = state.iter().map(|&value| Interval::point(value)).collect();
        let (question, Answer::Sat(witness)) = allowed_choice(self.system, &point, budget)? else { return Ok(false) };
        let drive = question.drive(&witness);
        let constant = |&value: &f64| (value, vec![0.0; self.system.state_len()]);
        let choice = WitnessChoice {
            inputs: drive.inputs[0].iter().map(constant).collect(),
            chances: drive.chances[0].clone(),
            actions: drive.choices[0].clone(),
        };
        if witnesses.borrow().contains(&choice) {
            return Ok(false);
        }
        witnesses.borrow_mut().push(choice);
        *self.guarded.borrow_mut() = None;
        *self.intervals.borrow_mut() = None;
        Ok(true)
    }

    /// Whether some run of so many steps on which a property is open ends in an error.
    pub fn at_depth(
        &self,
        formula: &Ltl,
        violation: &Nnf,
        steps: usize,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Met, CheckError> {
        // Where `init` has no value, nobody knows which runs there are.
        if self.initial_is_defined()? != Some(true) {
            return Ok(Met::Open(UnknownReason::Numerics));
        }
        let monitor = Monitor::new(formula);
        for _ in 0..=MORE_WITNESSES {
            let guarded = self.guarded()?;
            let bad = Nnf::Literal(guarded.ok, false);
            let shape = Shape { positions: steps + 1, loop_to: None };
            let formulas = [(violation, 0), (&bad, steps)];
            let wanted = Wanted {
                start: Start::Initial,
                shape,
                formulas: &formulas,
                beyond: Beyond::TheBest,
                ends_in_error: true,
            };
            let question = RunQuery::new(&guarded.system, wanted, &|_| Vec::new())?;
            let query = question.query()?;
            let own = Budget { boxes: DEPTH_PARTS.min(budget.boxes), ..*budget };
            let answer = solve(&query, &own, &mut |progress| {
                watch(Depth { steps, loop_to: None, settled: None, progress });
            })?;
            let drive = match answer {
                Answer::Unsat(_) => return Ok(Met::None),
                Answer::Unknown(reason, _) => return Ok(Met::Open(reason)),
                Answer::Sat(witness) => question.drive(&witness),
            };
            match confirm(self.system, formula, &monitor, &drive, budget)? {
                Confirmed::Error(error) => return Ok(Met::Found(Box::new(error))),
                Confirmed::NoDeadlock(state) if self.learns(&state, budget)? => {}
                _ => return Ok(Met::Open(UnknownReason::Precision)),
            }
        }
        Ok(Met::Open(UnknownReason::Boxes))
    }

    /// Why nothing goes wrong for all time where a property has a proof; nothing if that was not shown.
    pub fn for_all_time(
        &self,
        formula: &Ltl,
        proof: &Proof,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<NoErrors>, CheckError> {
        if self.none_by_intervals()? {
            return Ok(Some(self.everywhere_words()));
        }
        let within = match proof {
            Proof::ForAllTime(methods) => self.none_within_proof(formula, methods, budget, watch)?,
            Proof::Bounded { .. } | Proof::OutOfReach { .. } => None,
        };
        match within {
            Some(true) => return Ok(Some(NoErrors::Within)),
            // There are fewer states within the proof than anywhere, so that was the easier question.
            Some(false) => {}
            None if self.none_anywhere(budget, watch)? => return Ok(Some(self.everywhere_words())),
            None => {}
        }
        if let Some(method) = &*self.induction.borrow() {
            return Ok(Some(NoErrors::Induction(method.clone())));
        }
        if self.initial_is_defined()? != Some(true) || self.tried.get() >= budget.boxes {
            return Ok(None);
        }
        let guarded = self.guarded()?;
        let always = Ltl::Globally(Default::default(), Box::new(Ltl::Atom(guarded.ok)));
        let property = Property {
            name: "no model errors".to_owned(),
            doc: String::new(),
            kind: PropertyKind::Ltl(always),
            expect: None,
            source: String::new(),
        };
        let mut prover = Prover::new(&guarded.system, &property)?;
        let round = prover.round(budget, watch)?;
        self.tried.set(budget.boxes);
        if let Round::Proved(Proof::ForAllTime(mut methods)) = round
            && let Some(method) = methods.pop()
        {
            *self.induction.borrow_mut() = Some(method.clone());
            return Ok(Some(NoErrors::Induction(method)));
        }
        Ok(None)
    }

    /// Whether no state that a proof for all time leaves has an error: what it has shown of every position holds there, and the
    /// property is still open. Nothing if it leaves all states.
    fn none_within_proof(
        &self,
        formula: &Ltl,
        methods: &[Method],
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Option<bool>, CheckError> {
        let violations: Vec<Nnf> = conjuncts(formula).into_iter().map(|part| nnf(part, false)).collect();
        let mut known = Vec::new();
        let mut invariants = Vec::new();
        // A part that only infinite runs satisfy is open for ever; otherwise some part is, as long as the whole is.
        let mut open: Option<Vec<Nnf>> = Some(Vec::new());
        for (violation, method) in violations.iter().zip(methods) {
            if let Method::Induction { invariant, .. } = method {
                known.extend(violation.reached().map(Nnf::negated));
                invariants.push(invariant);
                open = None;
            } else if let Some(parts) = &mut open {
                parts.push(violation.throughout());
            }
        }
        known.extend(open.filter(|parts| !parts.iter().any(Nnf::is_true)).map(Nnf::Or));
        if known.is_empty() && invariants.iter().all(|invariant| invariant.faces.is_empty()) {
            return Ok(None);
        }
        if self.initial_is_defined()? == Some(true) {
            let narrow = |state: Vec<Interval>, invariant: &&Invariant| invariant.narrowed(&state);
            let state = invariants.iter().try_fold(self.reach()?.to_vec(), narrow);
            if let Some(state) = state.filter(|_| !invariants.is_empty())
                && self.none_in_box(&state)?
            {
                return Ok(Some(true));
            }
        }
        let within = |unrolled: &crate::unroll::Unrolled| {
            invariants.iter().flat_map(|invariant| invariant::holds(invariant, &observed(unrolled, 0))).collect()
        };
        self.none_within(&known, &within, budget, watch).map(Some)
    }

    /// What could not be excluded, in words.
    pub fn conditions(&self) -> Result<Vec<String>, CheckError> {
        let roles = &self.system.roles;
        let mut arguments: Vec<Vec<Interval>> =
            split(&self.system.states, self.reach()?).map(<[Interval]>::to_vec).collect();
        for input in &self.system.inputs {
            arguments.push(input.lower.iter().zip(&input.upper).map(|(&lo, &hi)| Interval { lo, hi }).collect());
        }
        let others = self.system.step.inputs()[arguments.len()..].iter();
        let labels: Vec<Vec<Interval>> =
            others.map(|port| vec![Interval::new(0.0, 1.0); self.system.step.elements(port.node)]).collect();
        arguments.extend(labels);
        let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
        let outputs = enclose(&self.system.step, &slices)?;
        let mut found = Vec::new();
        for (variable, next) in self.system.states.iter().zip(&roles.next) {
            let ranges = variable.lower.iter().zip(&variable.upper);
            let inside =
                outputs[next.port].iter().zip(ranges).all(|(own, (low, high))| own.lo >= *low && own.hi <= *high);
            if !inside {
                found.push(format!("{} stays in its declared range", variable.name));
            }
        }
        let certain = |port: usize| outputs[port].first().and_then(|value| value.certainty()) == Some(true);
        if roles.defined.is_some_and(|own| !certain(own.truth.port)) {
            found.push("every operation of a step is defined".to_owned());
        }
        if self.initial_is_defined()? != Some(true) {
            found.push("`init` is defined in every state of the declared ranges".to_owned());
        }
        if roles.assume.is_some() {
            found.push("some choice of the environment is always allowed (no deadlock)".to_owned());
        }
        for (atom, own) in self.system.atoms.iter().zip(&roles.atoms_defined) {
            if own.is_some_and(|own| !certain(own.truth.port)) {
                found.push(format!("`{}` is always defined", atom.text));
            }
        }
        Ok(found)
    }
}

/// States of a box, spread evenly.
fn samples(reach: &[Interval]) -> Vec<Vec<f64>> {
    let share = |sample: usize, element: usize| match sample {
        0 => 0.0,
        1 => 1.0,
        2 => 0.5,
        _ => (0.5 + 0.618_033_988_749_895 * sample as f64 + 0.754_877_666_246_693 * (element * sample) as f64).fract(),
    };
    let value = |sample: usize, (element, range): (usize, &Interval)| {
        let (low, high) = (range.lo.max(-1e6), range.hi.min(1e6));
        low + (high - low) * share(sample, element)
    };
    (0..SAMPLES).map(|sample| reach.iter().enumerate().map(|own| value(sample, own)).collect()).collect()
}

/// The question for an allowed choice in a box of states.
fn allowed_choice_question(system: &System, state: &[Interval]) -> Result<RunQuery, CheckError> {
    let mut own = system.clone();
    own.init_box = (state.iter().map(|value| value.lo).collect(), state.iter().map(|value| value.hi).collect());
    own.roles.init = None;
    let wanted =
        Wanted { start: Start::Initial, shape: ONE, formulas: &[], beyond: Beyond::Anything, ends_in_error: false };
    RunQuery::new(&own, wanted, &|unrolled| vec![unrolled.is_allowed(0)])
}

/// Parts that the question for an allowed choice may take.
const CHOICE_PARTS: u64 = 2_000;

/// An allowed choice in a box of states, with its question.
pub(crate) fn allowed_choice(
    system: &System,
    state: &[Interval],
    budget: &Budget<'_>,
) -> Result<(RunQuery, Answer), CheckError> {
    let question = allowed_choice_question(system, state)?;
    let own = Budget { boxes: CHOICE_PARTS.min(budget.boxes), ..*budget };
    let answer = solve(&question.query()?, &own, &mut |_| {})?;
    Ok((question, answer))
}

/// The atoms that a formula mentions, each once.
pub(crate) fn asked_atoms(formula: &Ltl) -> Vec<AtomId> {
    let mut atoms = nnf(formula, false).atoms();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}
