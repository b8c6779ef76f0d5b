//! What the interpreter says of a case.

use certus_reference::{Decision, Depths, Model, Replayed, Specification, Trace, Visited, replay};

use crate::systems::Case;
use certus_model::Run;

/// Loops are looked for up to so many steps.
pub const MOST_STEPS: usize = 4;

/// What is true of one property of a case.
pub struct Truth {
    /// The system.
    pub model: Model,
    /// The property.
    pub specification: Specification,
    /// What holds and what does not.
    pub decision: Decision,
    /// How soon that shows.
    pub depths: Depths,
}

impl Truth {
    /// Decides a property.
    pub fn of(case: &Case, property: &str) -> Result<Truth, String> {
        let model = Model::read_with(&case.text, &case.settings, &case.networks)?;
        let declared = model.property(property).ok_or("no such property")?;
        let formula = declared.body.over_runs().ok_or("a probability")?;
        let specification = Specification::new(&model, formula)?;
        let visited = Visited::new(&model, specification.clone(), &case.lattice)?;
        let decision = visited.decide();
        let depths = visited.depths(&decision, MOST_STEPS);
        Ok(Truth { model, specification, decision, depths })
    }

    /// In a few words.
    pub fn in_words(&self) -> String {
        let mut words = Vec::new();
        if self.decision.violated() {
            words.push("violated");
        }
        if self.decision.error.is_some() {
            words.push("model error");
        }
        if words.is_empty() {
            words.push("holds");
        }
        format!("{} (depths {:?})", words.join(" and "), self.depths)
    }

    /// What a run of an engine's is. At the end of a violation, choices may not matter; they are then missing or anything.
    pub fn replayed(&self, run: &Run, errs: bool) -> Replayed {
        let last = run.states.len().saturating_sub(1);
        let matters = !run.open_end && (errs || self.specification.reads_choices() || run.loop_to.is_some());
        let inputs = run.inputs.iter().enumerate().map(|(place, own)| {
            let shown = own.iter().all(|value| value.is_finite());
            Some(own.clone()).filter(|_| shown && (matters || place < last))
        });
        let trace = Trace {
            states: run.states.clone(),
            inputs: inputs.collect(),
            chances: run.chances.clone(),
            actions: run.actions.clone(),
            back: run.loop_to,
        };
        replay(&self.model, &self.specification, &trace).unwrap_or_else(Replayed::NotKnown)
    }
}
