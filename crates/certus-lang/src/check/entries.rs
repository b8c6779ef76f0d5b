//! The value of every named declaration.

use crate::diagnostics::{Diagnostic, nearest};
use crate::options::Open;
use crate::syntax::Span;
use crate::syntax::ast::{Expr, Ident, Range, Values, VariableDeclaration};
use crate::system::{ChoiceId, Integers};

use super::term::{self, Sort, Term, TermKind, Uses};
use super::{Checker, Context, Entry, EntryKind, Item, MAX_VECTOR, Opening, Value};

impl Checker<'_> {
    pub(super) fn evaluate_entry(&mut self, index: usize) {
        if matches!(self.entries[index].value, Value::Failed) {
            return;
        }
        let kind = self.entries[index].kind;
        let value = match kind {
            EntryKind::Builtin(value) => Some(Value::Term(term::number(value))),
            EntryKind::Const(e) => self.within(Context::CONSTANT, |c| c.term(e)).map(Value::Term),
            EntryKind::Dt(e) => self.time_step(e),
            EntryKind::Param { range, value } => self.parameter(index, range, value),
            EntryKind::State(v) => self.variable(index, v, true),
            EntryKind::Input(v) => self.variable(index, v, false),
            EntryKind::Chance(cases) => self.chance(index, cases),
            EntryKind::Policy(e) => self.policy(index, e),
            EntryKind::Action { value, labels, .. } => self.action(index, value, labels),
            EntryKind::Define(e) => self.define(index, e),
        };
        self.entries[index].value = value.unwrap_or(Value::Failed);
    }

    /// Reports `--set` and free parameters that the file does not declare.
    pub(super) fn check_overrides(&mut self) {
        let params: Vec<&str> =
            self.entries.iter().filter(|e| matches!(e.kind, EntryKind::Param { .. })).map(|e| e.name).collect();
        let options = self.options;
        let overrides = options.overrides.iter().map(|(name, _)| name);
        for name in overrides.chain(&options.free_params) {
            if params.contains(&name.as_str()) {
                continue;
            }
            let help = match nearest(name, params.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if params.is_empty() => "the file declares no parameters".to_owned(),
                None => format!("the parameters are {}", params.join(", ")),
            };
            let message = format!("the system has no parameter `{name}` that could be set");
            self.error(Diagnostic::error("unknown-parameter", message).help(help));
        }
        if let Open::Named(names) = &options.open {
            self.check_open(names);
        }
    }

    /// Reports names of open policies that the file does not declare.
    fn check_open(&mut self, names: &[String]) {
        let is_policy = |e: &&Entry<'_>| matches!(e.kind, EntryKind::Policy(_) | EntryKind::Action { .. });
        let policies: Vec<&str> = self.entries.iter().filter(is_policy).map(|e| e.name).collect();
        for name in names.iter().filter(|name| !policies.contains(&name.as_str())) {
            let help = match nearest(name, policies.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if policies.is_empty() => "the file declares no policy".to_owned(),
                None => format!("there are {}", policies.join(", ")),
            };
            let message = format!("the system has no policy and no action `{name}`");
            self.error(Diagnostic::error("unknown-policy", message).help(help));
        }
    }

    fn time_step(&mut self, e: &Expr) -> Option<Value> {
        let dt = self.strict_constants(e, "a time step")?;
        match dt.numbers() {
            Some([value]) if *value > 0.0 => {
                self.model.dt = Some(*value);
                Some(Value::Term(dt))
            }
            _ => {
                self.error(
                    Diagnostic::error("step", "the time step is a positive number").at(e.span, "not a positive number"),
                );
                None
            }
        }
    }

    fn parameter(&mut self, index: usize, range: &Range, value: &Expr) -> Option<Value> {
        let (lower, upper) = self.constant_range(range, "the range of a parameter", 1, true)?;
        let declared = self.strict_constants(value, "the value of a parameter")?;
        let Some(&[declared]) = declared.numbers() else {
            self.error(
                Diagnostic::error("length", "a parameter is a single number")
                    .at(value.span, format!("this has length {}", declared.len)),
            );
            return None;
        };
        let number = self.entries[index].ordinal;
        let name = self.entries[index].name;
        let (lower, upper) = (lower[0], upper[0]);
        let inside = |v: f64| v >= lower && v <= upper;
        if !inside(declared) {
            self.error(
                Diagnostic::error("range", format!("the value of `{name}` is outside its range"))
                    .at(value.span, format!("{declared} is not in [{lower}, {upper}]"))
                    .at(range.span, "its range"),
            );
        }
        let chosen = self.options.overrides.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| *v);
        if let Some(chosen) = chosen.filter(|v| !inside(*v)) {
            let message = format!("`{name}` cannot be set to {chosen}: it is outside its range");
            self.error(
                Diagnostic::error("range", message).at(range.span, format!("`{name}` lies in [{lower}, {upper}]")),
            );
        }
        let value = chosen.unwrap_or(declared);
        let free = self.options.free_params.iter().any(|n| n == name);
        let place = &mut self.model.params[number];
        (place.lower, place.upper, place.value, place.free) = (lower, upper, value, free);
        place.declared = declared;
        Some(Value::Term(if free {
            term::leaf(TermKind::FreeParam(number), Sort::Real, 1, Uses::NONE)
        } else {
            term::numbers(vec![value], true)
        }))
    }

    fn variable(&mut self, index: usize, v: &VariableDeclaration, is_state: bool) -> Option<Value> {
        let len = match &v.size {
            None => 1,
            Some(size) => self.vector_size(size)?,
        };
        let what = if is_state { "the range of a state variable" } else { "the range of an input" };
        let mut integers = None;
        let (lower, upper) = match &v.range {
            Some(Values::Range(range)) => self.constant_range(range, what, len, is_state)?,
            Some(Values::Set(set)) => {
                let found = self.integers(set)?;
                let (low, high) = found.hull();
                integers = Some(found);
                (vec![low as f64; len], vec![high as f64; len])
            }
            Some(Values::Labels(labels)) => {
                let last = labels.len() as i64 - 1;
                self.distinct(labels.iter(), v.name.span).then_some(())?;
                integers = Integers::of_runs([(0, last)]);
                (vec![0.0; len], vec![last as f64; len])
            }
            None if is_state => (vec![f64::NEG_INFINITY; len], vec![f64::INFINITY; len]),
            None => {
                self.error(
                    Diagnostic::error("range", format!("the input `{}` has no range", v.name.name))
                        .at(v.name.span, "the environment chooses from a bounded range")
                        .help(format!("write `input {} in [a, b]`", v.name.name)),
                );
                return None;
            }
        };
        let number = self.entries[index].ordinal;
        let enumeration = self.enumeration_of(v);
        let (list, kind, uses): (_, fn(usize) -> TermKind, _) = if is_state {
            (&mut self.model.states, TermKind::State, Uses::STATE)
        } else {
            (&mut self.model.inputs, TermKind::Input, Uses::INPUT)
        };
        (list[number].len, list[number].lower, list[number].upper) = (len, lower, upper);
        let leaf = if integers.is_some() { term::integral_leaf } else { term::leaf };
        list[number].integers = integers;
        let sort = match enumeration {
            Some(enumeration) => {
                list[number].labels.clone_from(&self.enumerations[enumeration]);
                Sort::Label(enumeration)
            }
            None => Sort::Real,
        };
        Some(Value::Term(leaf(kind(number), sort, len, uses)))
    }

    fn vector_size(&mut self, size: &Expr) -> Option<usize> {
        let value = self.integer(size, "the length of a vector")?;
        match usize::try_from(value) {
            Ok(len) if (1..=MAX_VECTOR).contains(&len) => Some(len),
            _ => {
                self.error(
                    Diagnostic::error("length", "a vector cannot have this length")
                        .at(size.span, format!("{value} is not between 1 and {MAX_VECTOR}")),
                );
                None
            }
        }
    }

    /// The constant ends of a range, repeated to a length.
    fn constant_range(&mut self, range: &Range, what: &str, len: usize, strict: bool) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut ends = Vec::new();
        for e in [&range.low, &range.high] {
            let value = if strict { self.strict_constants(e, what) } else { self.constants(e, what) }?;
            if value.len != 1 && value.len != len {
                self.error(
                    Diagnostic::error("length", "the ends of a range fit its variable")
                        .at(e.span, format!("length {} where 1 or {len} is needed", value.len)),
                );
                return None;
            }
            ends.push(term::broadcast(&value, len).numbers().unwrap_or_default().to_vec());
        }
        let (upper, lower) = (ends.pop()?, ends.pop()?);
        if let Some(i) = (0..len).find(|i| lower[*i] > upper[*i]) {
            self.error(
                Diagnostic::error("range", "this range is empty")
                    .at(range.span, format!("{} is greater than {}", lower[i], upper[i])),
            );
            return None;
        }
        Some((lower, upper))
    }

    fn distinct<'i>(&mut self, labels: impl Iterator<Item = &'i Ident>, span: Span) -> bool {
        let mut seen: Vec<&Ident> = Vec::new();
        let mut distinct = true;
        for label in labels {
            if let Some(first) = seen.iter().find(|l| l.name == label.name) {
                distinct = false;
                self.error(
                    Diagnostic::error("duplicate", format!("the label `{}` occurs twice", label.name))
                        .at(label.span, "second time")
                        .at(first.span, "first time"),
                );
            }
            seen.push(label);
        }
        if seen.is_empty() {
            self.error(Diagnostic::error("labels", "there is nothing to choose from").at(span, "no labels"));
            distinct = false;
        }
        distinct
    }

    fn chance(&mut self, index: usize, cases: &[(Ident, Expr)]) -> Option<Value> {
        let span = self.entries[index].span;
        let mut ok = self.distinct(cases.iter().map(|(l, _)| l), span);
        let mut probabilities = Vec::new();
        for (_, e) in cases {
            let value = self.strict_constants(e, "a probability");
            match value.as_ref().and_then(|v| v.numbers()) {
                Some([p]) if (0.0..=1.0).contains(p) => probabilities.push(*p),
                Some(_) => {
                    ok = false;
                    self.error(
                        Diagnostic::error("probability", "a probability lies between 0 and 1")
                            .at(e.span, "not a probability"),
                    );
                }
                None => ok = false,
            }
        }
        let sum: f64 = probabilities.iter().sum();
        if ok && (sum - 1.0).abs() > 1e-9 {
            ok = false;
            let all = cases[0].1.span.to(cases[cases.len() - 1].1.span);
            self.error(
                Diagnostic::error("probability", "the probabilities do not add up to 1")
                    .at(all, format!("they add up to {sum}")),
            );
        }
        if !ok {
            return None;
        }
        let number = self.entries[index].ordinal;
        self.model.chances[number].probabilities = probabilities;
        Some(Value::Choice(ChoiceId::Chance(number)))
    }

    fn is_open(&self, index: usize) -> bool {
        self.options.open.includes(self.entries[index].name)
    }

    fn policy(&mut self, index: usize, e: &Expr) -> Option<Value> {
        self.opening = self.is_open(index).then_some(Opening { value: e.span, labels: None });
        let value = self.within(Context::POLICY, |c| c.real(e));
        self.opening = None;
        let value = value?;
        let (name, number) = (self.entries[index].name, self.entries[index].ordinal);
        if self.model.policies[number].0.networks.is_empty() {
            let diagnostic = Diagnostic::error("policy", format!("the policy `{name}` applies no network"))
                .at(e.span, "no `net(…)` in here")
                .help(format!("a formula without a network is a `define {name} = …`"));
            self.error(diagnostic);
            return None;
        }
        let len = value.len;
        self.model.policies[number].0.len = len;
        self.model.policies[number].1 = value;
        self.model.order.push(Item::Policy(number));
        Some(Value::Term(term::leaf(TermKind::Policy(number), Sort::Real, len, Uses::POLICY)))
    }

    fn action(&mut self, index: usize, e: &Expr, labels: &[Ident]) -> Option<Value> {
        let distinct = self.distinct(labels.iter(), self.entries[index].span);
        self.opening = self.is_open(index).then_some(Opening { value: e.span, labels: Some(labels.len()) });
        let scores = self.within(Context::ACTION, |c| c.real(e));
        self.opening = None;
        let scores = scores?;
        if !distinct {
            return None;
        }
        if scores.len != labels.len() {
            let all = labels[0].span.to(labels[labels.len() - 1].span);
            let word = if labels.len() == 1 { "label" } else { "labels" };
            self.error(
                Diagnostic::error("labels", "an action has as many labels as it has scores")
                    .at(all, format!("{} {word}", labels.len()))
                    .at(e.span, format!("{} scores", scores.len)),
            );
            return None;
        }
        let number = self.entries[index].ordinal;
        self.model.actions[number].1 = scores;
        self.model.order.push(Item::Action(number));
        Some(Value::Choice(ChoiceId::Action(number)))
    }

    fn define(&mut self, index: usize, e: &Expr) -> Option<Value> {
        let number = self.entries[index].ordinal;
        if self.is_temporal(e) {
            self.model.formula_defines.push(number);
            return self.within(Context::PROPERTY, |c| c.formula(e)).map(Value::Formula);
        }
        let value = self.within(Context::DEFINE, |c| c.term(e))?;
        if value.len == 0 {
            self.error(Diagnostic::error("length", "this vector has no elements").at(e.span, "length 0"));
            return None;
        }
        let (sort, len, uses) = (value.sort, value.len, value.uses);
        let place = &mut self.model.defines[number];
        (place.0.is_bool, place.0.len) = (sort == Sort::Bool, len);
        place.1 = Term::clone(&value);
        self.model.order.push(Item::Define(number));
        let is_constant = value.numbers().is_some() || value.truths().is_some();
        let leaf = if value.is_integral() { term::integral_leaf } else { term::leaf };
        let named = if is_constant { value } else { leaf(TermKind::Define(number), sort, len, uses) };
        Some(Value::Term(named))
    }
}
