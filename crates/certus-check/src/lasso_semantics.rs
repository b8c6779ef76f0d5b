//! The semantics of LTL on a lasso, by fixed points.
//!
//! Every subformula has a value at every position of a lasso, and unbounded operators are fixed points along the
//! successor relation: the least one for *until*, the greatest one for *release* (Clarke, Emerson, Sistla: "Automatic verification of
//! finite-state concurrent systems using temporal logic specifications", TOPLAS 8(2), 1986; a lasso is a structure with one path). Bounded
//! operators are evaluated by their definition, step by step.
//!
//! It shares nothing with [`crate::ltl_encoding`], so a run that a query found is judged independently of the encoding.

use certus_lang::system::{AtomId, Bounds, Formula};

/// Whether a formula holds at each of some positions, after the last of which the run returns to `loop_to`.
pub fn holds(formula: &Formula, positions: usize, loop_to: usize, atom: &dyn Fn(AtomId, usize) -> bool) -> Vec<bool> {
    debug_assert!(loop_to < positions, "a lasso of {positions} positions returns to {loop_to}");
    let word = Word { positions, loop_to, atom };
    word.values(formula)
}

struct Word<'a> {
    positions: usize,
    loop_to: usize,
    atom: &'a dyn Fn(AtomId, usize) -> bool,
}

impl Word<'_> {
    fn next(&self, position: usize) -> usize {
        if position + 1 < self.positions { position + 1 } else { self.loop_to }
    }

    fn values(&self, formula: &Formula) -> Vec<bool> {
        let every = |value: &dyn Fn(usize) -> bool| (0..self.positions).map(value).collect::<Vec<bool>>();
        match formula {
            Formula::Constant(value) => vec![*value; self.positions],
            Formula::Atom(id) => every(&|position| (self.atom)(*id, position)),
            Formula::Not(inner) => negated(self.values(inner)),
            Formula::And(parts) => {
                let parts: Vec<Vec<bool>> = parts.iter().map(|part| self.values(part)).collect();
                every(&|position| parts.iter().all(|part| part[position]))
            }
            Formula::Or(parts) => {
                let parts: Vec<Vec<bool>> = parts.iter().map(|part| self.values(part)).collect();
                every(&|position| parts.iter().any(|part| part[position]))
            }
            Formula::Implies(premise, conclusion) => {
                let (premise, conclusion) = (self.values(premise), self.values(conclusion));
                every(&|position| !premise[position] || conclusion[position])
            }
            Formula::Iff(left, right) => {
                let (left, right) = (self.values(left), self.values(right));
                every(&|position| left[position] == right[position])
            }
            Formula::Next(inner) => {
                let inner = self.values(inner);
                every(&|position| inner[self.next(position)])
            }
            Formula::Finally(bounds, inner) => self.until(*bounds, &vec![true; self.positions], &self.values(inner)),
            Formula::Globally(bounds, inner) => {
                let never = negated(self.values(inner));
                negated(self.until(*bounds, &vec![true; self.positions], &never))
            }
            Formula::Until(bounds, left, right) => self.until(*bounds, &self.values(left), &self.values(right)),
            Formula::Release(bounds, left, right) => {
                let (left, right) = (negated(self.values(left)), negated(self.values(right)));
                negated(self.until(*bounds, &left, &right))
            }
            Formula::WeakUntil(bounds, left, right) => {
                let left = self.values(left);
                let until = self.until(*bounds, &left, &self.values(right));
                let whole = Bounds { lower: 0, upper: bounds.upper };
                let broken = self.until(whole, &vec![true; self.positions], &negated(left));
                every(&|position| until[position] || !broken[position])
            }
        }
    }

    fn until(&self, bounds: Bounds, left: &[bool], right: &[bool]) -> Vec<bool> {
        // Without bounds: the least fixed point.
        let mut value = match bounds.upper {
            None => {
                let mut value = right.to_vec();
                for _ in 0..self.positions {
                    value = (0..self.positions).map(|at| right[at] || (left[at] && value[self.next(at)])).collect();
                }
                value
            }
            Some(upper) => {
                // With `upper − lower` steps to go after the lower bound; more than all positions change nothing.
                let mut value = right.to_vec();
                for _ in 0..upper.saturating_sub(bounds.lower).min(self.positions as u64) {
                    value = (0..self.positions).map(|at| right[at] || (left[at] && value[self.next(at)])).collect();
                }
                if upper < bounds.lower { vec![false; self.positions] } else { value }
            }
        };
        // Each step before the lower bound; the values repeat themselves long before a bound that is very large.
        let mut seen = vec![value.clone()];
        for step in 0..bounds.lower {
            value = (0..self.positions).map(|at| left[at] && value[self.next(at)]).collect();
            if let Some(first) = seen.iter().position(|earlier| *earlier == value) {
                let period = seen.len() - first;
                let left_over = ((bounds.lower - step - 1) as usize) % period;
                return seen[first + left_over].clone();
            }
            seen.push(value.clone());
        }
        value
    }
}

fn negated(mut values: Vec<bool>) -> Vec<bool> {
    values.iter_mut().for_each(|value| *value = !*value);
    values
}
