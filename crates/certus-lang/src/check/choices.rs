//! Actions and chance variables: comparison with a label, and `match`.

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::{Arm, CompareOp, Expr, ExprKind, Ident};
use crate::system::ChoiceId;

use super::term::{self, Term, Uses};
use super::{Checker, EntryKind, Value};

impl Checker<'_> {
    /// The labels of the action or chance variable that an entry declares.
    pub(super) fn labels_of(&self, entry: usize) -> Vec<String> {
        match self.entries[entry].kind {
            EntryKind::Action { labels, .. } => labels.iter().map(|l| l.name.clone()).collect(),
            EntryKind::Chance(cases) => cases.iter().map(|(l, _)| l.name.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// The entry of an action or chance variable, if the expression is its name.
    pub(super) fn choice_name(&self, e: &Expr) -> Option<usize> {
        let ExprKind::Name(name) = &e.kind else { return None };
        if self.locals.iter().any(|(n, _)| n == name) {
            return None;
        }
        let entry = *self.by_name.get(name.as_str())?;
        matches!(self.entries[entry].kind, EntryKind::Action { .. } | EntryKind::Chance(_)).then_some(entry)
    }

    /// The choice that an entry declares, where the context may speak of it.
    fn choice(&mut self, entry: usize, span: Span) -> Option<ChoiceId> {
        self.entries[entry].is_used = true;
        let Value::Choice(choice) = self.entries[entry].value else { return None };
        let uses = term::choice_uses(choice);
        if self.context.allowed.includes(uses) {
            return Some(choice);
        }
        let (name, what) = (self.entries[entry].name, self.entries[entry].kind.describe());
        let message = if self.context.allowed == Uses::NONE {
            "this is not a constant".to_owned()
        } else {
            format!("{} speaks of the state only", self.context.place)
        };
        self.error(Diagnostic::error("context", message).at(span, format!("`{name}` is {what}")));
        None
    }

    fn label(&mut self, entry: usize, label: &str, span: Span) -> Option<usize> {
        let labels = self.labels_of(entry);
        self.label_in(self.entries[entry].name, &labels, label, span)
    }

    /// `act == hit`, `act != hit`.
    pub(super) fn label_comparison(
        &mut self,
        op: CompareOp,
        entry: usize,
        subject: &Expr,
        other: &Expr,
    ) -> Option<Term> {
        let choice = self.choice(entry, subject.span);
        let name = self.entries[entry].name;
        if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            self.error(
                Diagnostic::error("label", format!("the labels of `{name}` have no order"))
                    .at(subject.span.to(other.span), "only `==` and `!=` compare labels"),
            );
            return None;
        }
        let ExprKind::Name(label) = &other.kind else {
            let labels = self.labels_of(entry).join(", ");
            self.error(
                Diagnostic::error("label", format!("`{name}` is compared with one of its labels"))
                    .at(other.span, "not a label")
                    .help(format!("its labels are {labels}")),
            );
            return None;
        };
        let label = self.label(entry, label, other.span)?;
        let equal = term::is_label(choice?, label);
        Some(if op == CompareOp::Equal { equal } else { term::not(equal) })
    }

    pub(super) fn matching(&mut self, subject: &Expr, arms: &[Arm], span: Span) -> Option<Term> {
        let Some(entry) = self.choice_name(subject) else {
            return self.label_match(subject, arms, span);
        };
        let expected = self.expected.take();
        let choice = self.choice(entry, subject.span);
        let values = self.arm_values(arms, expected);
        let assignment = self.assign_arms(self.entries[entry].name, &self.labels_of(entry), arms, span);
        let values = values?;
        let sort = values.first()?.sort;
        let per_label = assignment?.into_iter().map(|arm| values[arm].clone()).collect();
        Some(term::matched(choice?, per_label, sort))
    }

    /// The values of the cases, which are of one sort and fit each other.
    pub(super) fn arm_values(&mut self, arms: &[Arm], expected: Option<usize>) -> Option<Vec<Term>> {
        let expected = expected.or_else(|| arms.iter().find_map(|arm| self.label_type(&arm.value)));
        let values: Vec<Option<Term>> = arms.iter().map(|arm| self.term_as(&arm.value, expected)).collect();
        let values: Vec<Term> = values.into_iter().collect::<Option<_>>()?;
        let pairs: Vec<(&Expr, &Term)> = arms.iter().map(|a| &a.value).zip(&values).collect();
        self.same_sort(&pairs, "the cases of `match`")?;
        self.fitting(&pairs, "the cases of `match`")?;
        Some(values)
    }

    /// For each label the arm that covers it.
    pub(super) fn assign_arms(
        &mut self,
        name: &str,
        labels: &[String],
        arms: &[Arm],
        span: Span,
    ) -> Option<Vec<usize>> {
        let mut covered: Vec<Option<(usize, Span)>> = vec![None; labels.len()];
        let mut rest: Option<(usize, Span)> = None;
        let mut ok = true;
        for (i, arm) in arms.iter().enumerate() {
            if arm.labels.is_empty() {
                ok &= self.cover_once(&mut rest, i, arm.pattern_span, "_");
            }
            for Ident { name: label, span } in &arm.labels {
                match self.label_in(name, labels, label, *span) {
                    Some(at) => ok &= self.cover_once(&mut covered[at], i, *span, label),
                    None => ok = false,
                }
            }
        }
        let missing: Vec<String> =
            (0..labels.len()).filter(|i| covered[*i].is_none()).map(|i| format!("`{}`", labels[i])).collect();
        if ok && rest.is_none() && !missing.is_empty() {
            self.error(
                Diagnostic::error("match", "this `match` does not cover every label")
                    .at(span, format!("{} of `{name}` not covered", missing.join(", ")))
                    .help("add the missing cases, or `_: …` for all others"),
            );
            return None;
        }
        if ok
            && missing.is_empty()
            && let Some((_, rest_span)) = rest
        {
            self.error(
                Diagnostic::warning("match", "this case is never used")
                    .at(rest_span, "every label has a case of its own"),
            );
        }
        ok.then(|| covered.into_iter().filter_map(|c| c.or(rest)).map(|(arm, _)| arm).collect())
    }

    fn cover_once(&mut self, place: &mut Option<(usize, Span)>, arm: usize, span: Span, label: &str) -> bool {
        match place {
            Some((_, first)) => {
                self.error(
                    Diagnostic::error("match", format!("`{label}` is covered twice"))
                        .at(span, "second case")
                        .at(*first, "first case"),
                );
                false
            }
            None => {
                *place = Some((arm, span));
                true
            }
        }
    }
}
