//! What so many steps show: the depth of the shortest violation, loop and model error.

use crate::decide::{Decision, Visited};
use crate::look::Then;
use crate::word::Word;

/// Paths that are followed when loops are looked for.
const MOST_PATHS: usize = 20_000;

/// How many steps it takes to see what is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// The last position of the shortest finite run that violates the property.
    pub violation: Option<usize>,
    /// The steps of the shortest violating run that returns to a state: the return is its last step.
    pub loops: Option<usize>,
    /// The position of the first model error before the property is decided.
    pub error: Option<usize>,
    /// Loops with more steps than this were not looked for.
    pub searched: usize,
}

impl Depths {
    /// Whether `-k steps` must not say that the property holds: a bad position is among those of the run, a loop closes,
    /// or a step that is asked about meets a model error.
    pub fn refutes(&self, steps: usize) -> bool {
        self.violation.is_some_and(|depth| depth <= steps)
            || self.loops.is_some_and(|depth| depth <= steps)
            || self.error.is_some_and(|depth| depth < steps)
    }
}

impl Visited {
    /// The depths of a decision; loops are looked for up to so many steps.
    pub fn depths(&self, decision: &Decision, steps: usize) -> Depths {
        let last = |positions: usize| positions.saturating_sub(1);
        let mut depths = Depths {
            violation: decision.prefix.as_ref().map(|witness| last(witness.positions.len())),
            error: decision.error.as_ref().map(|(witness, _)| last(witness.positions.len())),
            ..Depths::default()
        };
        // Longer and longer, so that the first one found is the shortest.
        let mut paths = 0;
        for length in 1..=steps {
            let mut path = Path { states: Vec::new(), letters: Vec::new() };
            for &state in &self.initial {
                if self.loops_within(state, length, &mut path, &mut paths) {
                    depths.loops = Some(length);
                    depths.searched = steps;
                    return depths;
                }
            }
            if paths > MOST_PATHS {
                return depths;
            }
            depths.searched = length;
        }
        depths
    }

    /// Whether a path that goes on from here returns, after exactly so many steps in all, so that it violates the property.
    fn loops_within(&self, state: usize, length: usize, path: &mut Path, paths: &mut usize) -> bool {
        if path.states.len() == length {
            *paths += 1;
            return (0..length).filter(|&back| path.states[back] == state).any(|back| {
                let word = Word { letters: &path.letters, back };
                !word.satisfies(&self.specification.formula)
            });
        }
        for position in &self.positions[state] {
            let Then::State(next) = &position.then else { continue };
            let Some(&next) = self.index.get(next).filter(|&&next| next < self.positions.len()) else { continue };
            if *paths > MOST_PATHS {
                return false;
            }
            path.states.push(state);
            path.letters.push(position.letter.iter().map(|truth| *truth == Some(true)).collect());
            let found = self.loops_within(next, length, path, paths);
            path.states.pop();
            path.letters.pop();
            if found {
                return true;
            }
        }
        false
    }
}

struct Path {
    states: Vec<usize>,
    letters: Vec<Vec<bool>>,
}
