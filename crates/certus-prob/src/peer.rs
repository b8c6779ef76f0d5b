//! Bounds on probabilities as an engine among others.

use std::any::Any;
use std::time::Instant;

use certus_engine::{Budget, Engine, Progress, Session, Shared, Support, Task, Turn, Watch};
use certus_lang::system::{Property, System};
use certus_model::{CheckError, Probability, Verdict};

use crate::{NAME, Options, Outcome, Standing, can_check, check};

/// Interval MDPs that abstract a system. Its details are [`Narrowed`].
#[derive(Default)]
pub struct ImdpAbstraction {
    /// How.
    pub options: Options,
}

/// What is known of a probability, and how it came to be known.
pub struct Narrowed {
    /// The interval, and what belongs to it.
    pub outcome: Outcome,
    /// How the interval narrowed.
    pub convergence: Convergence,
}

/// How an interval narrowed: seconds since the work began, lower end, upper end.
pub type Convergence = Vec<(f64, f64, f64)>;

/// Points that are kept of how an interval narrowed.
const MOST_POINTS: usize = 500;

/// Adds where the interval stands, if it is another one; every other point is dropped when there are too many.
fn note(course: &mut Convergence, seconds: f64, standing: Standing) {
    if course.last().is_some_and(|&(_, lower, upper)| (lower, upper) == (standing.lower, standing.upper)) {
        return;
    }
    course.push((seconds, standing.lower, standing.upper));
    if course.len() > MOST_POINTS {
        let mut place = 0;
        course.retain(|_| {
            place += 1;
            place % 2 == 1
        });
    }
}

/// Bounds one probability, and keeps how the interval narrowed.
pub fn check_with_convergence(
    system: &System,
    property: &Property,
    options: &Options,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> (Result<Outcome, String>, Convergence) {
    let started = Instant::now();
    let mut course = Convergence::new();
    let outcome = check(system, property, options, budget, &mut |standing| {
        note(&mut course, started.elapsed().as_secs_f64(), standing);
        watch(standing);
    });
    (outcome, course)
}

impl Engine for ImdpAbstraction {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        can_check(system, property, self.options.steps).map_or_else(Support::No, |()| Support::Yes)
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Narrowing { options: &self.options, task: *task, narrowed: None }))
    }
}

struct Narrowing<'t> {
    options: &'t Options,
    task: Task<'t>,
    narrowed: Option<Narrowed>,
}

impl Session for Narrowing<'_> {
    /// One turn is all that is needed: the interval narrows until it is as narrow as was asked for, or the budget is spent.
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let mut watch = |own: Standing| {
            let Standing { lower, upper, cells, regions } = own;
            watch(Progress::Interval { lower, upper, cells, regions });
        };
        let (system, property) = (self.task.system, self.task.property);
        let (outcome, convergence) = check_with_convergence(system, property, self.options, budget, &mut watch);
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(reason) => return Ok(Turn::Refused(reason)),
        };
        debug_assert!(outcome.lower <= outcome.upper, "{} > {}", outcome.lower, outcome.upper);
        let (lower, upper, meets_bound) = (outcome.lower, outcome.upper, outcome.holds);
        let verdict = Verdict::Probability(Probability { lower, upper, meets_bound });
        self.narrowed = Some(Narrowed { outcome, convergence });
        Ok(Turn::Decided(Box::new(certus_model::Outcome::new(NAME, verdict))))
    }

    fn details(&mut self) -> Option<Box<dyn Any>> {
        self.narrowed.take().map(|own| Box::new(own) as Box<dyn Any>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_keeps_its_beginning_and_stays_short() {
        let mut course = Convergence::new();
        for step in 0..10_000 {
            let lower = f64::from(step / 2) * 1e-5;
            note(&mut course, f64::from(step), Standing { lower, upper: 1.0, cells: 0, regions: 0 });
        }
        assert!(course.len() <= MOST_POINTS && course.len() > MOST_POINTS / 4, "{}", course.len());
        assert_eq!(course[0], (0.0, 0.0, 1.0));
        assert!(course.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }
}
