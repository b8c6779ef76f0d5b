//! Which states of a Büchi automaton accept every word, as far as that is easily seen.
//!
//! Universality is PSPACE-complete for nondeterministic automata, so the answer may be *perhaps*. A state with accepting loops for all letters is universal. In a deterministic
//! automaton a word has at most one run, so a state is universal exactly if every state that it reaches can read every letter, and no cycle avoids an acceptance set. In the automaton of a
//! property's violations, a universal state is one at which a bad prefix has been read (Kupferman and Vardi, "Model checking of safety properties", Formal Methods in System Design 19, 2001).

use certus_automata::automaton::{Automaton, Marks};
use certus_automata::label::Label;

/// Whether a state of the automaton accepts every word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Universal {
    /// It does: whatever follows, the property is violated.
    Yes,
    /// It does not.
    No,
    /// Perhaps.
    Perhaps,
}

/// For each state, whether it accepts everything, as far as that is easily seen.
pub(crate) fn universality(automaton: &Automaton) -> Vec<Universal> {
    let full = automaton.full();
    let deterministic = automaton.is_deterministic();
    let everything = |labels: &mut dyn Iterator<Item = &Label>| {
        let joined = labels.fold(Label::default(), |all, label| all.or(label));
        Label::all().implies(&joined)
    };
    let complete = |state: usize| everything(&mut automaton.edges[state].iter().map(|edge| &edge.label));
    let judged = |state: usize| {
        let own = automaton.edges[state].iter();
        let loops = own.filter(|edge| edge.target as usize == state && edge.marks == full);
        if everything(&mut loops.map(|edge| &edge.label)) {
            return Universal::Yes;
        }
        if !deterministic {
            return Universal::Perhaps;
        }
        // The only run on a word ends where some letter cannot be read, and is rejected where it can avoid a mark for ever.
        let mut seen = vec![false; automaton.states()];
        let mut pending = vec![state];
        while let Some(next) = pending.pop() {
            if std::mem::replace(&mut seen[next], true) {
                continue;
            }
            if !complete(next) {
                return Universal::No;
            }
            pending.extend(automaton.edges[next].iter().map(|edge| edge.target as usize));
        }
        let avoidable = (0..automaton.sets).any(|set| has_cycle(automaton, &seen, 1 << set));
        if avoidable { Universal::No } else { Universal::Yes }
    };
    (0..automaton.states()).map(judged).collect()
}

/// Whether some of the states form a cycle of transitions without a mark.
fn has_cycle(automaton: &Automaton, states: &[bool], mark: Marks) -> bool {
    // States without such a transition to another that is left go, until none does.
    let mut left = states.to_vec();
    loop {
        let before = left.iter().filter(|&&own| own).count();
        for state in 0..left.len() {
            let mut edges = automaton.edges[state].iter();
            left[state] = left[state] && edges.any(|edge| edge.marks & mark == 0 && left[edge.target as usize]);
        }
        if left.iter().filter(|&&own| own).count() == before {
            return before > 0;
        }
    }
}
