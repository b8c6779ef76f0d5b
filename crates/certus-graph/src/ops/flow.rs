//! The flow of an ordinary differential equation over one period.
//!
//! Arguments are the state at the start and the held numbers, the varying inputs' own values last. In floats these are held, too: one
//! signal of many. The enclosure takes no notice of them and holds for every measurable signal in the inputs' ranges.
//!
//! *Enclosure.* A validated Taylor series method, [`FlowPipe`]; all reals where validation fails.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use super::{Arg, Arity, Operator};
use crate::flow::{Field, FlowPipe, integrate};
use crate::{GraphError, Interval, Real, Shape, element_count};

/// The state after a period of x' = f(x, held, varying). The duration is this double exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The right-hand side.
    pub field: Arc<Field>,
    /// How long the period is.
    pub duration: f64,
}

/// A pipe that was computed before.
struct Recent {
    field: Arc<Field>,
    duration: f64,
    /// The ends of the state and of what is held.
    key: Vec<u64>,
    pipe: Option<Rc<FlowPipe>>,
}

/// How many pipes a thread remembers: some batches of subproblems.
const MOST_RECENT: usize = 64;

thread_local! {
    static RECENT: RefCell<VecDeque<Recent>> = const { RefCell::new(VecDeque::new()) };
}

impl Flow {
    /// The solutions over the period from boxes of states and held numbers, varying inputs' values among them or not.
    ///
    /// What was asked for a moment ago is remembered, since the conditions along a flow all need the same pipe.
    pub fn pipe(&self, state: &[Interval], held: &[Interval]) -> Option<Rc<FlowPipe>> {
        let own = held.get(..self.field.held())?;
        let key: Vec<u64> = state.iter().chain(own).flat_map(|own| [own.lo.to_bits(), own.hi.to_bits()]).collect();
        let known = RECENT.with_borrow(|recent| {
            let same = |other: &&Recent| {
                other.key == key && other.duration == self.duration && Arc::ptr_eq(&other.field, &self.field)
            };
            recent.iter().find(same).map(|other| other.pipe.clone())
        });
        known.unwrap_or_else(|| {
            let pipe = FlowPipe::new(&self.field, state, own, self.duration).map(Rc::new);
            RECENT.with_borrow_mut(|recent| {
                if recent.len() == MOST_RECENT {
                    recent.pop_front();
                }
                let field = Arc::clone(&self.field);
                recent.push_back(Recent { field, duration: self.duration, key, pipe: pipe.clone() });
            });
            pipe
        })
    }

    /// The held numbers as a condition sees them: varying ones are anywhere in their ranges.
    pub(super) fn loosened(&self, held: &[Interval]) -> Vec<Interval> {
        let own = &held[..self.field.held().min(held.len())];
        own.iter().chain(self.field.varying()).copied().collect()
    }

    pub(super) fn check(&self, name: &'static str, shapes: &[&[usize]]) -> Result<(), GraphError> {
        let expected = [self.field.states(), self.field.held() + self.field.varying().len()];
        let found: Vec<Option<usize>> = shapes.iter().map(|shape| element_count(shape)).collect();
        if found != expected.map(Some) {
            let message = format!("states and held numbers are {expected:?}, the arguments have shapes {shapes:?}");
            return Err(GraphError::shape(name, message));
        }
        Ok(())
    }
}

/// One point of a batch.
pub(super) fn point<T: Real>(arg: &Arg<'_, T>, batch: usize, point: usize) -> Vec<f64> {
    arg.values.iter().skip(point).step_by(batch).map(|value| value.to_f64()).collect()
}

impl Operator for Flow {
    fn name(&self) -> &'static str {
        "Flow"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(2)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        self.check("Flow", shapes)?;
        Ok(vec![self.field.states()])
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], _shape: &[usize], batch: usize, out: &mut [T]) {
        for index in 0..batch {
            let (state, held) = (point(&args[0], batch, index), point(&args[1], batch, index));
            let (own, varying) = held.split_at(self.field.held());
            let reached = integrate(&self.field, &state, own, varying, self.duration);
            for (row, value) in out.chunks_exact_mut(batch).zip(reached) {
                row[index] = T::from_f64(value);
            }
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], _shape: &[usize], out: &mut [Interval]) {
        match self.pipe(args[0].values, args[1].values) {
            Some(pipe) => out.copy_from_slice(pipe.end()),
            None => out.fill(Interval::ENTIRE),
        }
    }
}
