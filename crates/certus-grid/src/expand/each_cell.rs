//! Cells bounded one by one: those that their blocks leave open.
//!
//! Every transition that may be taken in a cell is bounded over it; the results are joined. A cell may deadlock unless, for every action of the policy, some transition
//! is certainly allowed.

use certus_automata::system::Truths;
use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_solver::Symbols;

use super::tables::picked;
use super::transition_bounds::Scratch;
use super::{Boxes, Expander, Expansion, Prepared, Slices, columns, enclose_slices, truth};
use crate::blocks::Left;
use crate::possible_errors::PossibleErrors;

impl Expander<'_> {
    /// Bounds the cells that blocks have left.
    pub(super) fn one_by_one(
        &self,
        keys: &[u64],
        left: Left,
        whole: &mut Expansion,
        found: &mut Boxes,
    ) -> Result<(), GraphError> {
        let words = self.grid.words();
        let Left { cells: names, labels: mut possible } = left;
        let keys: Vec<u64> = names.iter().flat_map(|cell| &keys[cell * words..(cell + 1) * words]).copied().collect();
        let count = names.len();
        let (lower, upper) = self.boxes(&keys);
        let ended = self.ended(&lower, &upper, count)?;
        self.certain_labels(&keys, &mut possible);
        let largest = self.relation.argmax.len();
        let open: Vec<usize> =
            (0..count).filter(|cell| possible.get(cell * largest).is_none_or(|&labels| labels == 0)).collect();
        let (own_keys, low, high) = match open.len() == count {
            true => (keys.to_vec(), lower.clone(), upper.clone()),
            false => {
                let own_keys = open.iter().flat_map(|cell| &keys[cell * words..(cell + 1) * words]).copied().collect();
                (own_keys, columns(&lower, &open, count), columns(&upper, &open, count))
            }
        };
        let given = self.given(&own_keys)?;
        let labels = match &given {
            _ if open.is_empty() => Vec::new(),
            Some(given) => self.labels(&own_keys, given),
            None => self.possible(&low, &high, open.len(), 0.0),
        };
        if largest > 0 {
            for (cell, labels) in open.iter().zip(labels.chunks_exact(largest)) {
                possible[cell * largest..(cell + 1) * largest].copy_from_slice(labels);
            }
        }
        let actions = match (&given, &self.policy_bounds) {
            (Some(given), Some(bounds)) if self.is_coarsened => {
                let (lower, upper) = self.asked_boxes(&keys);
                Some(bounds.actions(self.grid, &keys, (&lower, &upper), given))
            }
            _ => None,
        };
        let all = self.all_atoms();
        let mut doubted = vec![Truths { yes: all, no: all }; count];
        // Whether transitions of a group can be made in a cell, and whether one of them is allowed in all of it.
        let mut allowed: Vec<Option<bool>> = vec![None; if self.has_condition { count * self.groups } else { 0 }];
        let mut scratch = Scratch::default();
        for own in &self.prepared {
            let chosen = |cell: &usize| {
                let labels = &possible[*cell * largest..(*cell + 1) * largest];
                own.can_be_taken(ended[*cell], &self.relation.argmax, labels)
            };
            let cells: Vec<usize> = (0..count).filter(chosen).collect();
            if cells.is_empty() {
                continue;
            }
            let (mut low, mut high) = (columns(&lower, &cells, count), columns(&upper, &cells, count));
            let result = if let Some(actions) = &actions {
                let actions = picked(actions, &cells, count);
                low.extend_from_slice(&actions.lower);
                high.extend_from_slice(&actions.upper);
                own.ranges.enclose_with(&low, &high, cells.len(), &actions)
            } else {
                for output in 0..if given.is_some() { self.relation.outputs } else { 0 } {
                    let given = given.iter().flatten();
                    let values: Vec<f64> =
                        given.map(|own| own.as_ref().map_or(0.0, |own| own.outputs[output])).collect();
                    low.extend(cells.iter().map(|&cell| values[cell]));
                    high.extend(cells.iter().map(|&cell| values[cell]));
                }
                own.ranges.enclose(&low, &high, cells.len(), Symbols::Inputs(self.symbols))
            };
            for (place, &cell) in cells.iter().enumerate() {
                let input = Slices { low: &low, high: &high, count: cells.len(), place };
                let result = Slices { low: &result.lower, high: &result.upper, count: cells.len(), place };
                let key = &keys[cell * words..(cell + 1) * words];
                scratch.bounds.clear();
                self.bound_transition(own, key, (input, result), &mut scratch, &mut found.corners)?;
                let is_sure = scratch.bounds.iter().any(|bounds| bounds.allowed == Some(true));
                if let Some(sure) = allowed.get_mut(cell * self.groups + own.group)
                    && *sure != Some(true)
                {
                    *sure = Some(is_sure || self.has_witness(own, input)?);
                }
                for bounds in &scratch.bounds {
                    let errors = bounds.errors.without(self.excluded);
                    if errors != PossibleErrors::default() {
                        let own = self.valued.at(bounds.truths, errors);
                        doubted[cell].yes &= own.yes;
                        doubted[cell].no &= own.no;
                    }
                    let cell = names[cell];
                    whole.truths[cell].yes &= bounds.truths.yes;
                    whole.truths[cell].no &= bounds.truths.no;
                    whole.errors[cell].add(errors);
                    whole.leaving[cell] |= bounds.leaving;
                    if bounds.goes_on {
                        found.owners.push((cell as u32, bounds.truths));
                    }
                }
            }
        }
        for own in &self.prepared {
            let kind = if own.ended { PossibleErrors::STUCK } else { PossibleErrors::DEADLOCK };
            for cell in (0..count).filter(|_| self.has_condition && !self.excluded.has(kind)) {
                if allowed[cell * self.groups + own.group] == Some(false) {
                    whole.errors[names[cell]].add(kind);
                    let own = self.valued.at(whole.truths[names[cell]], kind);
                    doubted[cell].yes &= own.yes;
                    doubted[cell].no &= own.no;
                }
            }
        }
        for (cell, &name) in
            names.iter().enumerate().filter(|(_, name)| whole.errors[**name] != PossibleErrors::default())
        {
            whole.truths[name] = doubted[cell];
        }
        Ok(())
    }

    /// Whether some choice of the environment is allowed, with a transition, in all states of a box.
    fn has_witness(&self, own: &Prepared, input: Slices<'_>) -> Result<bool, GraphError> {
        let axes = self.grid.axes.len();
        for witness in &self.witnesses {
            let mut row = 0;
            let mut arguments: Vec<Vec<Interval>> = Vec::new();
            for port in own.truths.inputs() {
                let elements = own.truths.elements(port.node);
                let range = |row: usize| match row.checked_sub(axes).and_then(|at| witness.get(at)) {
                    Some(&value) => Interval::point(value),
                    None => input.range(row),
                };
                arguments.push((row..row + elements).map(range).collect());
                row += elements;
            }
            let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
            let found = enclose(&own.truths, &slices)?;
            if found.get(self.atoms).and_then(|own| own.first()).is_some_and(|&range| truth(range) == Some(true)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether runs have ended in some cells, as far as that is known.
    pub(crate) fn ended(&self, lower: &[f64], upper: &[f64], count: usize) -> Result<Vec<Option<bool>>, GraphError> {
        let (Some(ranges), Some(graph)) = (&self.terminal, &self.relation.terminal) else {
            return Ok(vec![None; count]);
        };
        let padded = |ends: &[f64], fill: f64| {
            let mut table = ends.to_vec();
            table.resize(ranges.inputs() * count, fill);
            table
        };
        let (low, high) = (padded(lower, 0.0), padded(upper, 1.0));
        let found = ranges.enclose(&low, &high, count, Symbols::None);
        let known = (0..count).map(|place| {
            let sure = truth(Interval::new(found.lower[place], found.upper[place]));
            if sure.is_some() {
                return Ok(sure);
            }
            let exact = enclose_slices(graph, Slices { low: &low, high: &high, count, place })?;
            Ok(exact.first().and_then(|&range| truth(range)))
        });
        known.collect()
    }
}
