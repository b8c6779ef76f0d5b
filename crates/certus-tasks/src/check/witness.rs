//! Choices that `assume` might allow in every state, as candidates against deadlocks.

use certus_lang::system::{ActionRole, System, Variable};
use certus_obligations::WitnessChoice;

/// Candidates at most: each is one more copy of the step.
const MOST: usize = 6;

/// Constant choices: every input at an end or in the middle of its range, with the first labels that can happen, then others.
pub(crate) fn candidates(system: &System) -> Vec<WitnessChoice> {
    if system.roles.assume.is_none() {
        return Vec::new();
    }
    let middle = |low: f64, high: f64| low + (high - low) / 2.0;
    let inputs = |at: &dyn Fn(f64, f64) -> f64| -> Vec<Vec<f64>> {
        let ends = |input: &Variable| {
            input.lower.iter().zip(&input.upper).map(|(&low, &high)| vec![at(low, high)]).collect::<Vec<_>>()
        };
        system.inputs.iter().flat_map(ends).collect()
    };
    let mut rows = vec![inputs(&middle), inputs(&|low, _| low), inputs(&|_, high| high), inputs(&|low, high| 0f64.clamp(low, high))];
    rows.dedup();
    let chances: Vec<Vec<usize>> = system
        .chances
        .iter()
        .map(|chance| (0..chance.labels.len()).filter(|&label| chance.probabilities[label] > 0.0).collect())
        .collect();
    let actions = system.actions.iter().zip(&system.roles.actions);
    let actions: Vec<Vec<usize>> = actions
        .filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }))
        .map(|(action, _)| (0..action.labels.len()).collect())
        .collect();
    let most = chances.iter().chain(&actions).map(Vec::len).max().unwrap_or(1);
    let pick = |lists: &[Vec<usize>], round: usize| -> Vec<usize> {
        lists.iter().map(|list| list.get(round % list.len().max(1)).copied().unwrap_or(0)).collect()
    };
    let choices = (0..most).flat_map(|round| {
        let (chances, actions) = (pick(&chances, round), pick(&actions, round));
        rows.iter().map(move |inputs| WitnessChoice { inputs: inputs.clone(), chances: chances.clone(), actions: actions.clone() })
    });
    choices.take(MOST).collect()
}
