//! Who moves first: which of the step's random choices an input is chosen before.
//!
//! An input comes after all draws of its step, but those that its declaration names come after it. That has to be an order: of two inputs
//! the one must be blind of all that the other is blind of. Otherwise each would come after a draw that comes after the other.

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::ast::{ActionRule, Ident, VariableDeclaration};
use crate::system::ChoiceId;

use super::{Checker, EntryKind};

impl Checker<'_> {
    /// Gives every input the draws that it comes before.
    pub(super) fn check_order(&mut self) {
        let declared: Vec<(usize, &VariableDeclaration)> = self
            .entries
            .iter()
            .filter_map(|entry| match entry.kind {
                EntryKind::Input(declared) => Some((entry.ordinal, declared)),
                _ => None,
            })
            .collect();
        let mut is_known = true;
        let mut ordered: Vec<(&Ident, Vec<(ChoiceId, &Ident)>)> = Vec::new();
        for (place, declared) in declared {
            let mut before: Vec<(ChoiceId, &Ident)> = Vec::new();
            for name in &declared.before {
                let Some(choice) = self.random_choice(name) else {
                    // What it should have been is not known, so nothing can be said of the order.
                    is_known = false;
                    continue;
                };
                if before.iter().all(|(known, _)| *known != choice) {
                    before.push((choice, name));
                }
            }
            self.model.inputs[place].before = before.iter().map(|(choice, _)| *choice).collect();
            ordered.push((&declared.name, before));
        }
        for (index, one) in ordered.iter().enumerate().filter(|_| is_known) {
            ordered[index + 1..].iter().for_each(|other| self.check_nested(one, other));
        }
    }

    /// The chance variable or random action of a name.
    fn random_choice(&mut self, name: &Ident) -> Option<ChoiceId> {
        let Some(&entry) = self.by_name.get(name.name.as_str()) else {
            let is_random = |kind: &EntryKind<'_>| {
                matches!(kind, EntryKind::Chance(_) | EntryKind::Action { rule: ActionRule::Softmax, .. })
            };
            let random: Vec<&str> = self.entries.iter().filter(|e| is_random(&e.kind)).map(|e| e.name).collect();
            let help = match nearest(&name.name, random.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if random.is_empty() => "nothing is random in this file".to_owned(),
                None => format!("there are {}", random.join(", ")),
            };
            let message = format!("nothing is called `{}`", name.name);
            self.error(Diagnostic::error("unknown-name", message).at(name.span, "unknown name").help(help));
            return None;
        };
        let ordinal = self.entries[entry].ordinal;
        let what = match self.entries[entry].kind {
            EntryKind::Chance(_) => return Some(ChoiceId::Chance(ordinal)),
            EntryKind::Action { rule: ActionRule::Softmax, .. } => return Some(ChoiceId::Action(ordinal)),
            EntryKind::Action { .. } => "an action that is not random",
            ref kind => kind.describe(),
        };
        self.error(
            Diagnostic::error("order", "an input is chosen before a draw")
                .at(name.span, format!("`{}` is {what}", name.name))
                .help("name a chance variable, or an action `~ softmax(…)`"),
        );
        None
    }

    /// Reports two inputs of which neither is blind of all that the other is blind of.
    fn check_nested(&mut self, one: &(&Ident, Vec<(ChoiceId, &Ident)>), other: &(&Ident, Vec<(ChoiceId, &Ident)>)) {
        let alone = |of: &[(ChoiceId, &Ident)], without: &[(ChoiceId, &Ident)]| -> Option<Ident> {
            let own = of.iter().find(|(choice, _)| without.iter().all(|(known, _)| known != choice));
            own.map(|(_, name)| (*name).clone())
        };
        let (Some(first), Some(second)) = (alone(&one.1, &other.1), alone(&other.1, &one.1)) else { return };
        let (u, v) = (&one.0.name, &other.0.name);
        let (c, d) = (&first.name, &second.name);
        self.error(
            Diagnostic::error("order", format!("the order of `{u}` and `{v}` goes round in a circle"))
                .at(first.span, format!("`{u}` comes before `{c}`, which `{v}` comes after"))
                .at(second.span, format!("`{v}` comes before `{d}`, which `{u}` comes after"))
                .help(format!("write `before {c}, {d}` for the one that is chosen first")),
        );
    }
}
