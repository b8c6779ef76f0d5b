//! The successor state: `next` as written, `der` by Euler's method, by the classical Runge-Kutta
//! method, or exactly (`exact.rs`); then `after`. Policies, inputs, chances and actions are those of the start of the step throughout.

use certus_graph::NodeId;

use crate::system::Integrator;

use super::builder::Binary;
use super::environment::Environment;
use super::{Lowered, Lowering};

impl Lowering<'_> {
    /// The successors of all state variables, and where they are defined; a terminal state is its own successor.
    pub(super) fn successors(
        &mut self,
        env: &mut Environment,
        terminal: Option<NodeId>,
    ) -> Lowered<(Vec<NodeId>, Option<NodeId>)> {
        let model = self.model;
        let mut defined = Vec::new();
        let has_derivatives = model.updates.iter().any(|u| u.is_derivative);
        let integrated = match (has_derivatives, model.dt) {
            (true, Some(dt)) => match model.integrator {
                Some(Integrator::Rk4) => self.runge_kutta(env, dt, &mut defined)?,
                Some(Integrator::Exact) => {
                    let (end, exists) = self.exact_flow(env, dt)?;
                    defined.push(exists);
                    self.spread(env, end)?
                }
                _ => {
                    let slopes = self.slopes(env, &mut defined)?;
                    self.moved(&env.states.clone(), &slopes, dt)?
                }
            },
            _ => env.states.clone(),
        };
        let integrated = self.mapped(env, integrated, &mut defined)?;
        let mut next = Vec::with_capacity(model.updates.len());
        for (i, update) in model.updates.iter().enumerate() {
            let moved = match update.is_derivative {
                true => integrated[i],
                false => {
                    defined.push(self.all_defined(&update.value, env)?);
                    self.term(&update.value, env)?
                }
            };
            next.push(match terminal {
                Some(terminal) => self.builder.select(terminal, env.states[i], moved)?,
                None => moved,
            });
        }
        Ok((next, self.every(defined)?))
    }

    /// The integrated variables from one vector, beside the others.
    fn spread(&mut self, env: &Environment, end: NodeId) -> Lowered<Vec<NodeId>> {
        let mut states = env.states.clone();
        let mut start = 0;
        for (i, update) in self.model.updates.iter().enumerate().filter(|(_, update)| update.is_derivative) {
            let len = update.value.len;
            states[i] = self.builder.slice(end, start, len)?;
            start += len;
        }
        Ok(states)
    }

    /// What `after` makes of the integrated variables: it reads them by their names, and all else as it was at the start.
    fn mapped(
        &mut self,
        env: &Environment,
        integrated: Vec<NodeId>,
        defined: &mut Vec<Option<NodeId>>,
    ) -> Lowered<Vec<NodeId>> {
        if self.model.updates.iter().all(|update| update.after.is_none()) {
            return Ok(integrated);
        }
        let mut stage = env.at_states(integrated.clone());
        self.stage_defines(&mut stage)?;
        let mut mapped = integrated;
        for (i, update) in self.model.updates.iter().enumerate() {
            if let Some(after) = &update.after {
                defined.push(self.all_defined(after, &mut stage)?);
                mapped[i] = self.term(after, &mut stage)?;
            }
        }
        Ok(mapped)
    }

    /// The derivative of each integrated variable at the state of an environment; where they are defined is added.
    fn slopes(&mut self, env: &mut Environment, defined: &mut Vec<Option<NodeId>>) -> Lowered<Vec<Option<NodeId>>> {
        let updates = &self.model.updates;
        for update in updates.iter().filter(|update| update.is_derivative) {
            defined.push(self.all_defined(&update.value, env)?);
        }
        updates.iter().map(|u| u.is_derivative.then(|| self.term(&u.value, env)).transpose()).collect()
    }

    /// `states + h * slopes`.
    fn moved(&mut self, states: &[NodeId], slopes: &[Option<NodeId>], h: f64) -> Lowered<Vec<NodeId>> {
        let h = self.builder.constant(&[h]);
        let mut moved = Vec::with_capacity(states.len());
        for (state, slope) in states.iter().zip(slopes) {
            moved.push(match slope {
                Some(slope) => {
                    let change = self.builder.binary(Binary::Mul, h, *slope)?;
                    self.builder.binary(Binary::Add, *state, change)?
                }
                None => *state,
            });
        }
        Ok(moved)
    }

    fn slopes_at(
        &mut self,
        env: &Environment,
        states: Vec<NodeId>,
        defined: &mut Vec<Option<NodeId>>,
    ) -> Lowered<Vec<Option<NodeId>>> {
        let mut stage = env.at_states(states);
        self.stage_defines(&mut stage)?;
        self.slopes(&mut stage, defined)
    }

    fn runge_kutta(
        &mut self,
        env: &mut Environment,
        dt: f64,
        defined: &mut Vec<Option<NodeId>>,
    ) -> Lowered<Vec<NodeId>> {
        let start = env.states.clone();
        let k1 = self.slopes(env, defined)?;
        let half = self.moved(&start, &k1, dt / 2.0)?;
        let k2 = self.slopes_at(env, half, defined)?;
        let half = self.moved(&start, &k2, dt / 2.0)?;
        let k3 = self.slopes_at(env, half, defined)?;
        let full = self.moved(&start, &k3, dt)?;
        let k4 = self.slopes_at(env, full, defined)?;
        let two = self.builder.constant(&[2.0]);
        let mut combined = Vec::with_capacity(start.len());
        for i in 0..start.len() {
            let (Some(a), Some(b), Some(c), Some(d)) = (k1[i], k2[i], k3[i], k4[i]) else {
                combined.push(None);
                continue;
            };
            let middle = self.builder.binary(Binary::Add, b, c)?;
            let middle = self.builder.binary(Binary::Mul, two, middle)?;
            let sum = self.builder.join(Binary::Add, &[a, middle, d])?;
            combined.push(Some(sum));
        }
        self.moved(&start, &combined, dt / 6.0)
    }
}
