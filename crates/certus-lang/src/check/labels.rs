//! Variables of named values: what a label stands for, and where it may stand.
//!
//! `state mode of { idle, boot }` has a type that is its list of labels, and variables with equal lists have one type. A label has a value wherever an
//! expression does. Several types may share a label; then what it is compared with, assigned to or an alternative of says which one is meant.

use std::rc::Rc;

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{Arm, CompareOp, Expr, ExprKind, Ident, Values, VariableDeclaration};

use super::term::{self, Sort, Term};
use super::{Checker, EntryKind, Value};

impl<'a> Checker<'a> {
    /// Collects the types of all variables of named values; reports labels that are names of something else.
    pub(super) fn collect_enumerations(&mut self) {
        let mut found: Vec<&'a [Ident]> = Vec::new();
        for entry in &self.entries {
            if let EntryKind::State(v) | EntryKind::Input(v) = entry.kind
                && let Some(Values::Labels(labels)) = &v.range
            {
                found.push(labels);
            }
        }
        for labels in found {
            let names: Vec<String> = labels.iter().map(|label| label.name.clone()).collect();
            if !self.enumerations.contains(&names) {
                self.enumerations.push(names);
            }
            for label in labels {
                let Some(&taken) = self.by_name.get(label.name.as_str()) else { continue };
                let other = &self.entries[taken];
                let what = other.kind.describe();
                let mut diagnostic = Diagnostic::error("duplicate", format!("`{}` is {what} already", label.name))
                    .at(label.span, "a label needs a name of its own");
                if other.span != Span::default() {
                    diagnostic = diagnostic.at(other.span, "declared here");
                }
                self.error(diagnostic);
            }
        }
    }

    /// The type of a declared variable, if its values have names.
    pub(super) fn enumeration_of(&self, v: &VariableDeclaration) -> Option<usize> {
        let Some(Values::Labels(labels)) = &v.range else { return None };
        let is_own = |own: &Vec<String>| own.iter().eq(labels.iter().map(|label| &label.name));
        self.enumerations.iter().position(is_own)
    }

    /// The type of named values that an expression obviously has, from a variable in it.
    pub(super) fn label_type(&self, e: &Expr) -> Option<usize> {
        match &e.kind {
            ExprKind::Name(name) => {
                let value = match self.locals.iter().rev().find(|(n, _)| n == name) {
                    Some((_, value)) => return type_of(value),
                    None => *self.by_name.get(name.as_str())?,
                };
                match (&self.entries[value].value, self.entries[value].kind) {
                    (Value::Term(t), _) => type_of(t),
                    (_, EntryKind::State(v) | EntryKind::Input(v)) => self.enumeration_of(v),
                    _ => None,
                }
            }
            ExprKind::Call(function, arguments) if function.name == "next" => self.label_type(arguments.first()?),
            ExprKind::Index(base, _) | ExprKind::Slice(base, ..) => self.label_type(base),
            ExprKind::If(_, then, otherwise) => self.label_type(then).or_else(|| self.label_type(otherwise)),
            ExprKind::Match(_, arms) => arms.iter().find_map(|arm| self.label_type(&arm.value)),
            ExprKind::Vector(items) => items.iter().find_map(|item| self.label_type(item)),
            _ => None,
        }
    }

    /// Checks an expression where a label of a type is expected, if a type is given.
    pub(super) fn term_as(&mut self, e: &Expr, expected: Option<usize>) -> Option<Term> {
        self.expected = expected;
        self.term(e)
    }

    /// The value of a label; nothing if it is none, or if it is not clear of which type.
    pub(super) fn label_value(&mut self, name: &str, expected: Option<usize>, span: Span) -> Option<Term> {
        let place = |own: &Vec<String>| own.iter().position(|label| label == name);
        let all: Vec<(usize, usize)> =
            self.enumerations.iter().enumerate().filter_map(|(at, own)| Some((at, place(own)?))).collect();
        let chosen = match all.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|(own, _)| Some(*own) == expected),
        };
        if let Some(&(enumeration, label)) = chosen {
            return Some(term::constants(vec![label as f64], false, Sort::Label(enumeration)));
        }
        match all.first() {
            None => self.unknown_name(name, span),
            Some(_) => {
                let owners: Vec<String> =
                    all.iter().filter_map(|(own, _)| self.owner_of(*own)).map(|own| format!("`{own}`")).collect();
                let owners = owners.join(" and of ");
                self.error(
                    Diagnostic::error("label", format!("which `{name}` is meant is not clear"))
                        .at(span, format!("a label of {owners}"))
                        .help("compare it with a variable directly, or assign it to one"),
                );
            }
        }
        None
    }

    /// A variable of a type.
    fn owner_of(&self, enumeration: usize) -> Option<&'a str> {
        let declared = self.entries.iter().find(|entry| match entry.kind {
            EntryKind::State(v) | EntryKind::Input(v) => self.enumeration_of(v) == Some(enumeration),
            _ => false,
        });
        declared.map(|entry| entry.name)
    }

    /// The labels of a type, for a message.
    pub(super) fn labels_in_words(&self, enumeration: usize) -> String {
        self.enumerations[enumeration].join(", ")
    }

    /// Reports that two operands are not both labels of one type; says whether they are, if one is a label.
    pub(super) fn same_labels(
        &mut self,
        op: CompareOp,
        (a, left): (&Expr, &Term),
        (b, right): (&Expr, &Term),
    ) -> Option<()> {
        let enumeration = type_of(left).or(type_of(right))?;
        if left.sort != right.sort {
            let (wrong, t) = if left.sort == Sort::Label(enumeration) { (b, right) } else { (a, left) };
            let what = match type_of(t) {
                Some(other) => format!("one of {}", self.labels_in_words(other)),
                None => super::operands::describe(t),
            };
            self.error(
                Diagnostic::error("label", "a label is compared with a label of the same kind")
                    .at(wrong.span, what)
                    .help(format!("the labels are {}", self.labels_in_words(enumeration))),
            );
            return None;
        }
        if matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return Some(());
        }
        self.error(
            Diagnostic::error("label", "labels have no order")
                .at(a.span.to(b.span), "only `==` and `!=` compare labels"),
        );
        None
    }

    /// `match mode { idle: e, _: f }` for a variable of named values.
    pub(super) fn label_match(&mut self, subject: &Expr, arms: &[Arm], span: Span) -> Option<Term> {
        let expected = self.expected.take();
        let value = self.term(subject)?;
        let Some(enumeration) = type_of(&value).filter(|_| value.len == 1) else {
            self.error(
                Diagnostic::error("match", "`match` takes an action, a chance variable or a variable of labels")
                    .at(subject.span, super::operands::describe(&value))
                    .help("for a condition on numbers write `if … then … else …`"),
            );
            return None;
        };
        let values = self.arm_values(arms, expected);
        let labels = self.enumerations[enumeration].clone();
        let name = self.source(subject.span);
        let assignment = self.assign_arms(&name, &labels, arms, span);
        let (values, assignment) = (values?, assignment?);
        // Labels of one arm are one case; what the last of them all says needs no condition.
        let mut result = values[*assignment.last()?].clone();
        for (label, &arm) in assignment.iter().enumerate().rev().skip(1) {
            if Rc::ptr_eq(&values[arm], &result) {
                continue;
            }
            let own = term::constants(vec![label as f64], false, value.sort);
            result =
                term::conditional(term::compare(CompareOp::Equal, value.clone(), own), values[arm].clone(), result);
        }
        Some(result)
    }

    /// The label of a list with a name; reports that there is none.
    pub(super) fn label_in(&mut self, owner: &str, labels: &[String], label: &str, span: Span) -> Option<usize> {
        let found = labels.iter().position(|l| l == label);
        if found.is_none() {
            let help = match nearest(label, labels.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its labels are {}", labels.join(", ")),
            };
            self.error(
                Diagnostic::error("label", format!("`{owner}` has no label `{label}`"))
                    .at(span, "unknown label")
                    .help(help),
            );
        }
        found
    }
}

/// The type of a term of labels.
pub(super) fn type_of(t: &Term) -> Option<usize> {
    match t.sort {
        Sort::Label(enumeration) => Some(enumeration),
        _ => None,
    }
}
