//! Who moves first: a step as a sequence of draws and choices.
//!
//! An input is chosen after all draws of its step but those that its declaration names (`input u before c`). The sequence alternates: what the
//! blindest inputs know is drawn, these are chosen, what the next ones know besides is drawn, and so on; last come the draws that nobody waits for.

use crate::eval::Choice;
use crate::model::{Meaning, Model};

/// A moment of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Drawn(Vec<usize>),
    /// Places in the flattened inputs.
    Chosen(Vec<usize>),
}

/// The moments of a step, in their order. Dice are numbered: the chance variables, then the actions.
pub(crate) fn stages(model: &Model) -> Result<Vec<Stage>, String> {
    let dice = model.chances.len() + model.actions.len();
    let mut blind: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for input in &model.inputs {
        let mut hidden = Vec::new();
        for name in &input.before {
            hidden.push(match model.names.get(name) {
                Some(Meaning::Chance(place)) => *place,
                Some(Meaning::Action(place)) => model.chances.len() + place,
                _ => return Err(format!("`{name}` is not random")),
            });
        }
        hidden.sort_unstable();
        hidden.dedup();
        blind.push((hidden, (input.start..input.start + input.len).collect()));
    }
    blind.sort_by_key(|(hidden, _)| std::cmp::Reverse(hidden.len()));
    let mut stages = Vec::new();
    let mut waiting: Vec<usize> = (0..dice).collect();
    for (hidden, elements) in blind {
        if hidden.iter().any(|die| !waiting.contains(die)) {
            return Err("the order of inputs and draws goes round in a circle".to_owned());
        }
        let (left, drawn): (Vec<usize>, Vec<usize>) = waiting.iter().partition(|die| hidden.contains(die));
        stages.push(Stage::Drawn(drawn));
        stages.push(Stage::Chosen(elements));
        waiting = left;
    }
    stages.push(Stage::Drawn(waiting));
    Ok(stages)
}

impl Stage {
    /// Whether two choices are the same at this moment.
    pub fn alike(&self, model: &Model, one: &Choice, other: &Choice) -> bool {
        match self {
            Stage::Chosen(elements) => elements.iter().all(|&place| one.inputs[place] == other.inputs[place]),
            Stage::Drawn(dice) => dice.iter().all(|&die| match die.checked_sub(model.chances.len()) {
                None => one.chances[die] == other.chances[die],
                Some(action) => one.actions[action] == other.actions[action],
            }),
        }
    }
}
