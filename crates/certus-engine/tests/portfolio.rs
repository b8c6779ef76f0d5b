//! Engines that take turns: the order, the work, and what is said where none decides.

use std::cell::RefCell;

use certus_engine::portfolio::NO_PROOF;
use certus_engine::{
    Budget, Engine, FIRST_WORK, Next, OPENING_WORK, Session, Shared, Support, Task, Turn, WORK_FACTOR, Watch,
    run_alone, run_portfolio,
};
use certus_lang::{FileNetworks, LowerOptions, System, load_str};
use certus_model::{CheckError, Outcome, Property, Scope, Unknown, UnknownReason, Verdict};

type Log = RefCell<Vec<(&'static str, u64)>>;

/// An engine that decides once it has so much work.
struct Fake<'l> {
    name: &'static str,
    decides_with: u64,
    refuses: bool,
    bounds_violations: bool,
    log: &'l Log,
}

impl Engine for Fake<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn supports(&self, _: &System, _: &Property) -> Support {
        if self.refuses { Support::No(format!("not for {}", self.name)) } else { Support::Yes }
    }

    fn bounds_violations(&self) -> bool {
        self.bounds_violations
    }

    fn start<'t>(&'t self, _: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Working(self)))
    }
}

struct Working<'f>(&'f Fake<'f>);

impl Session for Working<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, _: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let Fake { name, decides_with, log, .. } = *self.0;
        log.borrow_mut().push((name, budget.subproblems));
        if budget.subproblems >= decides_with {
            return Ok(Turn::Decided(Box::new(Outcome::new(name, Verdict::Holds(Scope::Unbounded)))));
        }
        let (verdict, next) = match self.0.bounds_violations {
            true => (Verdict::Holds(Scope::Bounded(10)), Next::Never),
            false => {
                let unknown = Unknown::at(Some(UnknownReason::Subproblems), "a query");
                let holds_if = vec!["the moon is full".to_owned()];
                (Verdict::Unknown(Unknown { holds_if, ..unknown }), Next::MoreWork)
            }
        };
        Ok(Turn::Open { so_far: Box::new(Outcome::new(name, verdict)), next })
    }
}

fn system() -> System {
    let text = "system s\nstate x in [0, 1]\nnext x = x\nproperty p = G x >= 0\n";
    load_str(text, &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
}

fn run(engines: Vec<Fake<'_>>, budget: &Budget<'_>) -> Result<Outcome, CheckError> {
    let system = system();
    let task = Task { system: &system, property: &system.properties[0], steps: None, assume_no_model_errors: false };
    let engines: Vec<Box<dyn Engine + '_>> =
        engines.into_iter().map(|engine| Box::new(engine) as Box<dyn Engine + '_>).collect();
    let finished = run_portfolio(&engines, &task, budget, &mut |_| {}, &mut |outcome, _| Ok(outcome))?;
    Ok(finished.outcome)
}

fn fake<'l>(name: &'static str, decides_with: u64, log: &'l Log) -> Fake<'l> {
    Fake { name, decides_with, refuses: false, bounds_violations: false, log }
}

#[test]
fn peers_take_turns_in_their_order_with_growing_work() {
    let log = Log::default();
    let second = FIRST_WORK * WORK_FACTOR;
    let engines = vec![fake("never", u64::MAX, &log), fake("later", second, &log), fake("idle", second, &log)];
    let outcome = run(engines, &Budget::default()).unwrap();
    assert_eq!((outcome.engine, outcome.verdict), ("later", Verdict::Holds(Scope::Unbounded)));
    let turns = |work| ["never", "later", "idle"].map(|name| (name, work));
    let mut all: Vec<_> = OPENING_WORK.into_iter().chain([FIRST_WORK]).flat_map(turns).collect();
    all.extend([("never", second), ("later", second)]);
    assert_eq!(log.into_inner(), all);
}

#[test]
fn what_cannot_take_the_property_is_left_out() {
    let log = Log::default();
    let refusing = |name| Fake { refuses: true, ..fake(name, 0, &log) };
    let outcome = run(vec![refusing("probabilities"), fake("able", 0, &log)], &Budget::default()).unwrap();
    assert_eq!((outcome.engine, log.borrow().len()), ("able", 1));
    let none = run(vec![refusing("first"), refusing("last")], &Budget::default());
    assert_eq!(none.unwrap_err(), CheckError::Unsupported("not for last".to_owned()));
}

#[test]
fn what_is_known_is_said_where_nobody_decides() {
    let log = Log::default();
    let bounded = Fake { bounds_violations: true, ..fake("bounded", u64::MAX, &log) };
    let budget = Budget { subproblems: FIRST_WORK * WORK_FACTOR, ..Budget::default() };
    let outcome = run(vec![fake("hopeful", u64::MAX, &log), bounded], &budget).unwrap();
    // Ten steps are not all time.
    let Verdict::Unknown(unknown) = &outcome.verdict else { panic!("{outcome:?}") };
    assert_eq!((unknown.settled, unknown.holds_if.len()), (Some(10), 1));
    assert_eq!(outcome.notes, [NO_PROOF]);
    assert_eq!(log.borrow().len(), 5, "the bounded engine has nothing more to say");
}

#[test]
fn an_engine_that_is_alone_has_the_whole_budget_at_once() {
    let log = Log::default();
    let system = system();
    let task = Task { system: &system, property: &system.properties[0], steps: None, assume_no_model_errors: false };
    let engine = fake("alone", 7, &log);
    let finished = run_alone(&engine, &task, &Budget { subproblems: 7, ..Budget::default() }, &mut |_| {}).unwrap();
    assert_eq!(finished.outcome.engine, "alone");
    assert_eq!(log.borrow()[..], [("alone", 7)]);
}
