//! What would have to be shown for the absence of model errors, in words.

use certus_graph::Interval;
use certus_graph::eval::enclose;
use certus_model::CheckError;

use super::Errors;
use crate::replay::split;

impl Errors<'_> {
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
