//! What is not wrong, but looks odd.

use crate::diagnostics::Diagnostic;

use super::{Checker, EntryKind};

impl Checker<'_> {
    pub(super) fn warn(&mut self) {
        let mut warnings = Vec::new();
        for entry in &self.entries {
            let name = entry.name;
            let can_be_unused = matches!(entry.kind, EntryKind::State(_) | EntryKind::Builtin(_));
            if !entry.is_used && !can_be_unused && !name.starts_with('_') {
                let what = entry.kind.describe().trim_start_matches("an ").trim_start_matches("a ");
                warnings.push(
                    Diagnostic::warning("unused", format!("the {what} `{name}` is never used"))
                        .at(entry.span, "declared here"),
                );
            }
            if let EntryKind::State(_) = entry.kind {
                let i = entry.ordinal;
                let variable = &self.model.states[i];
                let unbounded = |ends: &[f64]| ends.iter().any(|v| v.is_infinite());
                if unbounded(&variable.lower) || unbounded(&variable.upper) {
                    warnings.push(
                        Diagnostic::warning("unbounded", format!("the state variable `{name}` has no range"))
                            .at(entry.span, "can take any value")
                            .help(format!("many analyses need a range: `state {name} in [a, b]`")),
                    );
                }
            }
        }
        if self.model.properties.is_empty() && !self.report.has_errors() {
            warnings.push(Diagnostic::warning("no-property", "the file states no property to be checked"));
        }
        for warning in warnings {
            self.error(warning);
        }
    }
}
