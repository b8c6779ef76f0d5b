//! One query about runs of a system: is there a run of some shape on which a temporal formula holds?
//!
//! The query is about the unrolled loop, and everything that can be settled is settled before the solver sees it. Its
//! witness is what drives a run.

use std::collections::HashMap;

use certus_lang::system::AtomId;
use certus_model::{CheckError, Nnf};
use certus_solver::formula::Formula;
use certus_solver::{Place, Query, QueryError, Witness};

use crate::condition::{always, and, condition, label_cases, or};
use crate::ltl_encoding::{Beyond, Shape, encode};
use crate::replay::Drive;
use crate::simplify::{at_best_ends, labels, required, settle, with_labels};
use crate::unroll::{Start, Unrolled, Unroller};

/// What a run has to do.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Where it begins.
    pub start: Start,
    /// Its positions.
    pub shape: Shape,
    /// Formulas, each with the position at which it holds.
    pub formulas: &'a [(&'a Nnf, usize)],
    /// What is supposed of what follows the last position.
    pub beyond: Beyond,
    /// Whether the last position may have a model error: atoms that may have no value there are taken as it suits.
    pub ends_in_error: bool,
}

/// A query that is ready to be asked.
pub struct RunQuery {
    unrolled: Unrolled,
    formula: Formula<Place>,
    shape: Shape,
    with_last: bool,
}

impl RunQuery {
    /// Asks for a run. `more` says what else must hold of it.
    pub fn new(
        unroller: &Unroller<'_>,
        wanted: Wanted<'_>,
        more: &dyn Fn(&Unrolled) -> Vec<Formula<Place>>,
    ) -> Result<RunQuery, CheckError> {
        // A run may end where no transition is allowed, and do what is wanted there.
        RunQuery::build(unroller, wanted, false, more)
    }

    /// Asks for a run whose last position has a successor.
    pub fn with_successor(
        unroller: &Unroller<'_>,
        wanted: Wanted<'_>,
        more: &dyn Fn(&Unrolled) -> Vec<Formula<Place>>,
    ) -> Result<RunQuery, CheckError> {
        RunQuery::build(unroller, wanted, true, more)
    }

    fn build(
        unroller: &Unroller<'_>,
        wanted: Wanted<'_>,
        with_last: bool,
        more: &dyn Fn(&Unrolled) -> Vec<Formula<Place>>,
    ) -> Result<RunQuery, CheckError> {
        let (system, shape) = (unroller.system(), wanted.shape);
        let mut unrolled = unroller.unrolled(shape, wanted.start, with_last)?;
        let mut known: HashMap<(usize, usize, bool), Formula<Place>> = HashMap::new();
        let (last, ends_in_error) = (shape.positions - 1, wanted.ends_in_error);
        let mut atom = |id: AtomId, position: usize, wanted: bool| {
            let place = Place { node: unrolled.positions[position].atoms[id.0], element: 0 };
            let followed = position < last || shape.loop_to.is_some() || with_last;
            let own = known.entry((id.0, position, wanted));
            let new = || {
                let truth = condition(&unrolled.graph, place, wanted);
                if ends_in_error && position == last {
                    return if system.atoms[id.0].state_only {
                        or(vec![truth, unrolled.is_undefined(position, id)])
                    } else {
                        always()
                    };
                }
                and(vec![truth, unrolled.has_value(system, position, id, followed)])
            };
            own.or_insert_with(new).clone()
        };
        let mut parts = vec![unrolled.is_run.clone()];
        for &(formula, position) in wanted.formulas {
            parts.push(encode(formula, position, shape, wanted.beyond, &mut atom));
        }
        if ends_in_error {
            // Whoever follows one label knows what depends on it.
            let labels = &unrolled.positions[last].labels;
            parts.extend(labels.iter().map(|&one_hot| label_cases(&unrolled.graph, one_hot)));
        }
        parts.extend(more(&unrolled));
        let mut fixed = HashMap::new();
        for &(formula, position) in wanted.formulas {
            for (id, at, truth) in required(formula, position, shape) {
                // Where something is undefined, an atom that reads an action may be anything, and so may its label.
                if ends_in_error && at == last && !system.atoms[id.0].state_only {
                    continue;
                }
                let place = Place { node: unrolled.positions[at].atoms[id.0], element: 0 };
                labels(&unrolled.graph, place, truth, &mut fixed);
            }
        }
        let formula = with_labels(&mut unrolled, and(parts), &fixed)?;
        let formula = settle(&mut unrolled, formula)?;
        Ok(RunQuery { unrolled, formula, shape, with_last })
    }

    /// The same query where numbers that matter in one direction only have their best value. There is an answer if there
    /// was one, but not every answer is left.
    pub fn at_best_ends(mut self) -> Result<RunQuery, CheckError> {
        self.unrolled.region = at_best_ends(&self.unrolled.graph, &self.unrolled.region, &self.formula);
        self.formula = settle(&mut self.unrolled, self.formula)?;
        Ok(self)
    }

    /// The query that it is.
    pub fn query(&self) -> Result<Query, QueryError> {
        Query::over_nodes(&self.unrolled.graph, self.unrolled.region.clone(), &self.formula)
    }

    /// What is left to hold of the unrolled loop.
    pub fn formula(&self) -> &Formula<Place> {
        &self.formula
    }

    /// Whether the last position has a successor.
    pub fn has_successor(&self) -> bool {
        self.with_last
    }

    /// The unrolled loop.
    pub fn unrolled(&self) -> &Unrolled {
        &self.unrolled
    }

    /// What drives the run that a witness stands for.
    pub fn drive(&self, witness: &Witness) -> Drive {
        let unrolled = &self.unrolled;
        let flat = |nodes: &[certus_graph::NodeId]| -> Vec<f64> {
            nodes.iter().flat_map(|&node| unrolled.values(node, &witness.inputs)).collect()
        };
        let label = |node: &certus_graph::NodeId| -> usize {
            let values = unrolled.values(*node, &witness.inputs);
            values.iter().position(|&value| value > 0.5).unwrap_or(0)
        };
        Drive {
            state: flat(&unrolled.positions[0].states),
            inputs: unrolled.positions.iter().map(|position| flat(&position.inputs)).collect(),
            chances: unrolled.positions.iter().map(|position| position.chances.iter().map(label).collect()).collect(),
            choices: unrolled.positions.iter().map(|position| position.choices.iter().map(label).collect()).collect(),
            loop_to: self.shape.loop_to,
        }
    }
}
