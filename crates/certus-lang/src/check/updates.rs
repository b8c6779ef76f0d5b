//! `next` and `der`: every state variable moves on in exactly one way.

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{self, DeclarationKind};

use super::term::{self, Sort, Term, TermKind, Uses};
use super::{Checker, Context, EntryKind, Update, Value};

/// What is known of the successor of one state variable.
#[derive(Default)]
struct Plan {
    elements: Vec<Option<(Span, Term)>>,
    /// What `after` says of each element.
    after: Vec<Option<(Span, Term)>>,
    is_derivative: Option<(bool, Span)>,
    failed: bool,
}

impl Plan {
    fn new(len: usize) -> Plan {
        Plan { elements: vec![None; len], after: vec![None; len], ..Plan::default() }
    }
}

impl Checker<'_> {
    pub(super) fn check_updates(&mut self) {
        let mut plans: Vec<Plan> = self.model.states.iter().map(|v| Plan::new(v.len)).collect();
        let file = self.file;
        for declaration in &file.declarations {
            match &declaration.kind {
                DeclarationKind::Next(update) => self.plan_update(update, false, &mut plans),
                DeclarationKind::Der(update) => self.plan_update(update, true, &mut plans),
                _ => {}
            }
        }
        for declaration in &file.declarations {
            if let DeclarationKind::After(update) = &declaration.kind {
                self.plan_after(update, &mut plans);
            }
        }
        let mut updates = Vec::new();
        for (state, plan) in plans.into_iter().enumerate() {
            updates.extend(self.finish_plan(state, plan));
        }
        let has_derivatives = updates.iter().any(|u| u.is_derivative);
        if has_derivatives && self.model.integrator.is_none() && !self.has_step() {
            let der = file.declarations.iter().find(|d| matches!(d.kind, DeclarationKind::Der(_)));
            self.error(
                Diagnostic::error("step", "derivatives need a time step")
                    .at(der.map_or(Span::default(), |d| d.span), "how is this integrated?")
                    .help("add a declaration such as `step 0.01 exact` or `step 0.01 rk4`"),
            );
        }
        if !has_derivatives {
            self.model.integrator = None;
        }
        self.model.updates = updates;
    }

    fn has_step(&self) -> bool {
        self.file.declarations.iter().any(|d| matches!(d.kind, DeclarationKind::Step { .. }))
    }

    fn plan_update(&mut self, update: &ast::Update, is_derivative: bool, plans: &mut [Plan]) {
        let context = if is_derivative { Context::DERIVATIVE } else { Context::UPDATE };
        let value = self.within(context, |c| c.successor_value(update));
        let Some(state) = self.updated_state(update) else { return };
        if is_derivative && self.model.states[state].integers.is_some() {
            let name = &update.name.name;
            plans[state].failed = true;
            self.error(
                Diagnostic::error("update", "only real numbers have a derivative")
                    .at(update.name.span, format!("`{name}` has integers or labels for values"))
                    .help(format!("say what follows a step: `next {name} = …`")),
            );
            return;
        }
        let plan = &mut plans[state];
        let word = |d: bool| if d { "der" } else { "next" };
        match plan.is_derivative {
            Some((other, first)) if other != is_derivative => {
                let name = &update.name.name;
                plan.failed = true;
                self.error(
                    Diagnostic::error("update", format!("`{name}` has both `next` and `der`"))
                        .at(update.name.span, format!("`{}` here", word(is_derivative)))
                        .at(first, format!("`{}` here", word(other)))
                        .help("a state variable moves on in one way"),
                );
                return;
            }
            _ => plan.is_derivative = Some((is_derivative, update.name.span)),
        }
        plan.failed |= self.fill(update, value, &mut plan.elements).is_none();
    }

    /// The right side of an update: a label where the variable has labels, numbers otherwise.
    fn successor_value(&mut self, update: &ast::Update) -> Option<Term> {
        let declared = self.by_name.get(update.name.name.as_str()).map(|entry| self.entries[*entry].kind);
        let enumeration = match declared {
            Some(EntryKind::State(v)) => self.enumeration_of(v),
            _ => None,
        };
        let Some(enumeration) = enumeration else { return self.real(&update.value) };
        let value = self.term_as(&update.value, Some(enumeration))?;
        if value.sort == Sort::Label(enumeration) {
            return Some(value);
        }
        let labels = self.labels_in_words(enumeration);
        self.error(
            Diagnostic::error("label", format!("the successor of `{}` is one of its labels", update.name.name))
                .at(update.value.span, super::operands::describe(&value))
                .help(format!("its labels are {labels}")),
        );
        None
    }

    /// `after x = e`: what an integrated variable becomes at the end of the step.
    fn plan_after(&mut self, update: &ast::Update, plans: &mut [Plan]) {
        let value = self.within(Context::AFTER, |c| c.real(&update.value));
        let Some(state) = self.updated_state(update) else { return };
        let plan = &mut plans[state];
        if plan.is_derivative.is_none_or(|(is_derivative, _)| !is_derivative) {
            let name = &update.name.name;
            plan.failed = true;
            self.error(
                Diagnostic::error("update", "only what is integrated has something that comes after")
                    .at(update.name.span, format!("`{name}` has no `der`"))
                    .help(format!("write it into `next {name} = …`")),
            );
            return;
        }
        plan.failed |= self.fill(update, value, &mut plan.after).is_none();
    }

    /// Puts a value into the elements that a declaration speaks of.
    fn fill(&mut self, update: &ast::Update, value: Option<Term>, elements: &mut [Option<(Span, Term)>]) -> Option<()> {
        let len = elements.len();
        let (start, count) = self.updated_elements(update, len)?;
        if let Some((first, _)) = elements[start..start + count].iter().flatten().next() {
            let first = *first;
            let what = match &update.index {
                Some(_) if count == 1 => format!("`{}[{start}]`", update.name.name),
                _ => format!("`{}`", update.name.name),
            };
            self.error(
                Diagnostic::error("update", format!("{what} is given twice"))
                    .at(update.name.span, "second time")
                    .at(first, "first time"),
            );
            return None;
        }
        let value = value?;
        if value.len != 1 && value.len != count {
            let target = if count == 1 { "a single number".to_owned() } else { format!("{count} numbers") };
            self.error(
                Diagnostic::error("length", format!("`{}` needs {target}", update.name.name))
                    .at(update.value.span, super::operands::describe(&value))
                    .at(update.name.span, format!("length {count}")),
            );
            return None;
        }
        let value = term::broadcast(&value, count);
        for i in 0..count {
            elements[start + i] = Some((update.name.span, term::slice(&value, i, 1)));
        }
        if count == len {
            // The whole at once: keep it in one piece.
            elements[0] = Some((update.name.span, value));
        }
        Some(())
    }

    fn updated_state(&mut self, update: &ast::Update) -> Option<usize> {
        let name = &update.name;
        match self.by_name.get(name.name.as_str()).map(|i| (*i, self.entries[*i].value.clone())) {
            Some((_, Value::Term(t))) if matches!(t.kind, TermKind::State(_)) => match t.kind {
                TermKind::State(i) => Some(i),
                _ => None,
            },
            Some((_, Value::Failed | Value::Pending)) => None,
            Some((entry, _)) => {
                let what = self.entries[entry].kind.describe();
                self.error(
                    Diagnostic::error("update", "only state variables move on")
                        .at(name.span, format!("`{}` is {what}", name.name)),
                );
                None
            }
            None => {
                let states = self.model.states.iter().map(|v| v.name.as_str());
                let help = match nearest(&name.name, states) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("declare it with `state {}`", name.name),
                };
                self.error(
                    Diagnostic::error("unknown-name", format!("there is no state variable `{}`", name.name))
                        .at(name.span, "unknown name")
                        .help(help),
                );
                None
            }
        }
    }

    /// Which elements an update speaks of: where they begin and how many they are.
    fn updated_elements(&mut self, update: &ast::Update, len: usize) -> Option<(usize, usize)> {
        let Some(index) = &update.index else { return Some((0, len)) };
        let value = self.integer(index, "an index")?;
        // `next x[n] = …` with the length of x repeats its declaration.
        if value == len as i64 {
            return Some((0, len));
        }
        let from_start = if value < 0 { value + len as i64 } else { value };
        match usize::try_from(from_start) {
            Ok(i) if i < len => Some((i, 1)),
            _ => {
                self.error(
                    Diagnostic::error("index", "this index is outside the vector")
                        .at(index.span, format!("`{}` has length {len}", update.name.name)),
                );
                None
            }
        }
    }

    fn finish_plan(&mut self, state: usize, plan: Plan) -> Option<Update> {
        if plan.failed {
            return None;
        }
        let variable = &self.model.states[state];
        let entry = self.by_name.get(variable.name.as_str()).map(|i| &self.entries[*i]);
        let span = entry.map_or(Span::default(), |e| e.span);
        if entry.is_some_and(|e| matches!(e.value, Value::Failed)) {
            return None;
        }
        let name = variable.name.clone();
        let missing: Vec<String> =
            (0..plan.elements.len()).filter(|i| plan.elements[*i].is_none()).map(|i| format!("{name}[{i}]")).collect();
        if missing.len() == plan.elements.len() {
            self.error(
                Diagnostic::error("update", format!("nothing says how `{name}` moves on"))
                    .at(span, "no `next` and no `der`")
                    .help(format!("add `next {name} = …`; `next {name} = {name}` keeps it as it is")),
            );
            return None;
        }
        if !missing.is_empty() {
            let shown = missing.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let more = if missing.len() > 5 { ", …" } else { "" };
            self.error(
                Diagnostic::error("update", format!("not every element of `{name}` is given"))
                    .at(span, format!("missing: {shown}{more}")),
            );
            return None;
        }
        let len = plan.elements.len();
        let joined = |elements: Vec<Term>| {
            let mut elements = elements;
            match elements.first() {
                Some(whole) if whole.len == len => elements.swap_remove(0),
                first => {
                    let sort = first.map_or(Sort::Real, |t| t.sort);
                    term::concat(elements, sort)
                }
            }
        };
        let value = joined(plan.elements.into_iter().flatten().map(|(_, t)| t).collect());
        // Elements of which `after` says nothing stay as they were integrated.
        let own = term::leaf(TermKind::State(state), Sort::Real, len, Uses::STATE);
        let after = plan.after.iter().any(Option::is_some).then(|| {
            let whole = |(i, given): (usize, &Option<(Span, Term)>)| match given {
                Some((_, t)) => Term::clone(t),
                None => term::slice(&own, i, 1),
            };
            joined(plan.after.iter().enumerate().map(whole).collect())
        });
        Some(Update { is_derivative: plan.is_derivative.is_some_and(|(d, _)| d), value, after })
    }
}
