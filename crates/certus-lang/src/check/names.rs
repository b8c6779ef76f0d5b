//! Which names there are, and in which order they can be given their values.

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{ActionRule, DeclarationKind, Expr, ExprKind, File, Ident, InfixOp, Member, PrefixOp, Values};
use crate::system::{Action, ActionKind, Chance, Define, Parameter, Policy, Variable};

use super::{Checker, Entry, EntryKind, Value, term};

impl<'a> Checker<'a> {
    /// Makes an entry of every named declaration; reports names that are taken.
    pub(super) fn collect_entries(&mut self) {
        self.entries.push(Entry {
            name: "pi",
            span: Span::default(),
            kind: EntryKind::Builtin(std::f64::consts::PI),
            value: Value::Pending,
            ordinal: 0,
            is_used: true,
        });
        self.by_name.insert("pi", 0);
        let file = self.file;
        for declaration in &file.declarations {
            let doc = declaration.doc.as_str();
            match &declaration.kind {
                DeclarationKind::Const(list) => {
                    for (name, value) in list {
                        self.add_entry(name, doc, EntryKind::Const(value));
                    }
                }
                DeclarationKind::Param { name, range, value } => {
                    self.add_entry(name, doc, EntryKind::Param { range, value });
                }
                DeclarationKind::State(v) => self.add_entry(&v.name, doc, EntryKind::State(v)),
                DeclarationKind::Input(v) => self.add_entry(&v.name, doc, EntryKind::Input(v)),
                DeclarationKind::Chance { name, cases } => {
                    self.add_entry(name, doc, EntryKind::Chance(cases));
                }
                DeclarationKind::Policy { name, value } => {
                    self.add_entry(name, doc, EntryKind::Policy(value));
                }
                DeclarationKind::Action { name, rule, value, labels } => {
                    let kind = EntryKind::Action { rule: *rule, value, labels };
                    self.add_entry(name, doc, kind);
                }
                DeclarationKind::Define { name, value } => {
                    self.add_entry(name, doc, EntryKind::Define(value));
                }
                DeclarationKind::Step { dt, .. } if !self.by_name.contains_key("dt") => {
                    self.by_name.insert("dt", self.entries.len());
                    self.entries.push(Entry {
                        name: "dt",
                        span: dt.span,
                        kind: EntryKind::Dt(dt),
                        value: Value::Pending,
                        ordinal: 0,
                        is_used: true,
                    });
                }
                _ => {}
            }
        }
    }

    fn add_entry(&mut self, name: &'a Ident, doc: &'a str, kind: EntryKind<'a>) {
        if let Some(&taken) = self.by_name.get(name.name.as_str()) {
            let first = &self.entries[taken];
            let diagnostic = match first.kind {
                EntryKind::Builtin(_) => Diagnostic::error("duplicate", format!("`{}` is predefined", name.name))
                    .at(name.span, "cannot be declared again"),
                EntryKind::Dt(_) => Diagnostic::error("duplicate", "`dt` is predefined by `step`")
                    .at(name.span, "cannot be declared again")
                    .at(first.span, "its value"),
                _ => Diagnostic::error("duplicate", format!("`{}` is declared twice", name.name))
                    .at(name.span, "second declaration")
                    .at(first.span, format!("first declared here, as {}", first.kind.describe())),
            };
            if taken > 0 {
                // Which of the two is meant is unclear: what mentions the name is not checked.
                self.entries[taken].value = Value::Failed;
            }
            self.error(diagnostic);
            return;
        }
        self.by_name.insert(&name.name, self.entries.len());
        let ordinal = self.reserve(name, doc, &kind);
        self.entries.push(Entry {
            name: &name.name,
            span: name.span,
            kind,
            value: Value::Pending,
            ordinal,
            is_used: false,
        });
    }

    /// Reserves a place in the model, so that the model keeps the order of the text.
    fn reserve(&mut self, name: &Ident, doc: &str, kind: &EntryKind<'_>) -> usize {
        let (name, doc) = (name.name.clone(), doc.to_owned());
        let model = &mut self.model;
        let zero = || term::number(0.0);
        match kind {
            EntryKind::Builtin(_) | EntryKind::Const(_) | EntryKind::Dt(_) => 0,
            EntryKind::Param { .. } => {
                let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
                model.params.push(Parameter { name, lower, upper, value: 0.0, declared: 0.0, free: false, doc });
                model.params.len() - 1
            }
            EntryKind::State(v) | EntryKind::Input(v) => {
                let is_state = matches!(kind, EntryKind::State(_));
                let list = if is_state { &mut model.states } else { &mut model.inputs };
                let (lower, upper) = (vec![f64::NEG_INFINITY], vec![f64::INFINITY]);
                let is_vector = v.size.is_some();
                let varying = v.varying.is_some();
                let (integers, labels, before) = (None, Vec::new(), Vec::new());
                list.push(Variable { name, len: 1, is_vector, lower, upper, integers, labels, varying, before, doc });
                list.len() - 1
            }
            EntryKind::Chance(cases) => {
                let labels = cases.iter().map(|(l, _)| l.name.clone()).collect();
                model.chances.push(Chance { name, labels, probabilities: Vec::new(), doc });
                model.chances.len() - 1
            }
            EntryKind::Policy(e) => {
                let networks = networks_in(e);
                model.policies.push((Policy { name, len: 1, networks, doc }, zero()));
                model.policies.len() - 1
            }
            EntryKind::Action { rule, value, labels } => {
                let kind = match rule {
                    ActionRule::Argmax => ActionKind::Argmax,
                    ActionRule::Softmax => ActionKind::Softmax,
                };
                let labels = labels.iter().map(|l| l.name.clone()).collect();
                let networks = networks_in(value);
                model.actions.push((Action { name, labels, kind, networks, doc }, zero()));
                model.actions.len() - 1
            }
            EntryKind::Define(_) => {
                model.defines.push((Define { name, is_bool: false, len: 1, doc }, zero()));
                model.defines.len() - 1
            }
        }
    }

    /// All entries, each after those it mentions. Entries that mention themselves are reported.
    pub(super) fn dependency_order(&mut self) -> Vec<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let count = self.entries.len();
        let mentions: Vec<Vec<usize>> = (0..count).map(|i| self.mentions(i)).collect();
        let mut marks = vec![Mark::New; count];
        let mut order = Vec::with_capacity(count);
        for root in 0..count {
            if marks[root] != Mark::New {
                continue;
            }
            marks[root] = Mark::Open;
            // A path of open entries, each with how many of its mentions were followed.
            let mut path = vec![(root, 0)];
            while let Some((entry, followed)) = path.last_mut() {
                let entry = *entry;
                let Some(&target) = mentions[entry].get(*followed) else {
                    marks[entry] = Mark::Done;
                    order.push(entry);
                    path.pop();
                    continue;
                };
                *followed += 1;
                match marks[target] {
                    Mark::New => {
                        marks[target] = Mark::Open;
                        path.push((target, 0));
                    }
                    Mark::Open => {
                        let start = path.iter().position(|(e, _)| *e == target).unwrap_or(0);
                        let cycle: Vec<usize> = path[start..].iter().map(|(e, _)| *e).collect();
                        self.report_cycle(&cycle);
                    }
                    Mark::Done => {}
                }
            }
        }
        order
    }

    fn report_cycle(&mut self, cycle: &[usize]) {
        let name = |i: usize| self.entries[cycle[i % cycle.len()]].name;
        let first = &self.entries[cycle[0]];
        let message = format!("`{}` is defined in terms of itself", first.name);
        let mut diagnostic = Diagnostic::error("cycle", message);
        for (i, entry) in cycle.iter().enumerate().take(6) {
            let span = self.entries[*entry].span;
            diagnostic = diagnostic.at(span, format!("mentions `{}`", name(i + 1)));
        }
        let diagnostic = diagnostic.help("a value of the previous step has to be kept in a state variable");
        for entry in cycle {
            self.entries[*entry].value = Value::Failed;
        }
        self.error(diagnostic);
    }

    fn mentions(&self, entry: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut visit = |e: &Expr| self.names_in(e, &mut Vec::new(), &mut found);
        match &self.entries[entry].kind {
            EntryKind::Builtin(_) => {}
            EntryKind::Const(e) | EntryKind::Dt(e) | EntryKind::Policy(e) | EntryKind::Define(e) => visit(e),
            EntryKind::Param { range, value } => {
                visit(&range.low);
                visit(&range.high);
                visit(value);
            }
            EntryKind::State(v) | EntryKind::Input(v) => {
                v.size.iter().for_each(&mut visit);
                v.range.iter().flat_map(Values::expressions).for_each(&mut visit);
            }
            EntryKind::Chance(cases) => cases.iter().for_each(|(_, e)| visit(e)),
            EntryKind::Action { value, .. } => visit(value),
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn names_in<'e>(&self, expr: &'e Expr, bound: &mut Vec<&'e str>, found: &mut Vec<usize>) {
        if speaks_of_time(expr) {
            found.extend(self.by_name.get("dt"));
        }
        match &expr.kind {
            ExprKind::Name(name) if !bound.contains(&name.as_str()) => {
                found.extend(self.by_name.get(name.as_str()));
            }
            ExprKind::Comprehension(c) => {
                self.names_in(&c.from, bound, found);
                self.names_in(&c.to, bound, found);
                bound.push(&c.variable.name);
                self.names_in(&c.body, bound, found);
                bound.pop();
            }
            // `act == hit`: the label is not a mention, whatever else has that name.
            ExprKind::Compare(_, a, b) if self.is_choice_name(a) => self.names_in(a, bound, found),
            ExprKind::Compare(_, a, b) if self.is_choice_name(b) => self.names_in(b, bound, found),
            _ => for_each_child(expr, |child| self.names_in(child, bound, found)),
        }
    }

    fn is_choice_name(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        self.by_name
            .get(name.as_str())
            .is_some_and(|i| matches!(self.entries[*i].kind, EntryKind::Chance(_) | EntryKind::Action { .. }))
    }

    /// Reports a name that nothing has, once.
    pub(super) fn unknown_name(&mut self, name: &str, span: Span) {
        if !self.unknown.insert(name.to_owned()) {
            return;
        }
        let known = self.entries.iter().map(|e| e.name);
        let known = known.chain(self.locals.iter().map(|(n, _)| n.as_str()));
        let known = known.chain(self.enumerations.iter().flatten().map(String::as_str));
        let mut help = nearest(name, known).map(|n| format!("did you mean `{n}`?"));
        let labelled = self.entries.iter().find(|e| match e.kind {
            EntryKind::Action { labels, .. } => labels.iter().any(|l| l.name == name),
            EntryKind::Chance(cases) => cases.iter().any(|(l, _)| l.name == name),
            _ => false,
        });
        if let Some(entry) = labelled {
            let owner = entry.name;
            help = Some(format!("`{name}` is a label of `{owner}`: compare with `{owner} == {name}`"));
        } else if name == "dt" {
            help = Some("`dt` is defined by a `step` declaration, such as `step 0.1 euler`".into());
        } else if help.is_none() && super::functions::is_function(name) {
            help = Some(format!("`{name}` is a function: write `{name}(…)`"));
        }
        self.error(
            Diagnostic::error("unknown-name", format!("nothing is called `{name}`"))
                .at(span, "unknown name")
                .maybe_help(help),
        );
    }
}

/// Whether an expression needs to know how long a step is, without naming `dt`.
fn speaks_of_time(expr: &Expr) -> bool {
    let bound = match &expr.kind {
        ExprKind::Call(name, _) => return name.name == "throughout",
        ExprKind::Prefix(PrefixOp::Globally(bound) | PrefixOp::Finally(bound), _) => bound,
        ExprKind::Infix(InfixOp::Until(bound) | InfixOp::WeakUntil(bound) | InfixOp::Release(bound), ..) => bound,
        _ => return false,
    };
    bound.as_ref().is_some_and(|own| own.seconds)
}

/// Calls `f` with every direct part of an expression.
pub(super) fn for_each_child<'e>(expr: &'e Expr, mut f: impl FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::Number(..) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => {}
        ExprKind::Vector(items) | ExprKind::Call(_, items) => items.iter().for_each(f),
        ExprKind::Comprehension(c) => [&c.from, &c.to, &c.body].into_iter().for_each(f),
        ExprKind::Index(a, b) | ExprKind::Infix(_, a, b) | ExprKind::Compare(_, a, b) => {
            f(a);
            f(b);
        }
        ExprKind::Slice(a, b, c) => {
            f(a);
            b.iter().chain(c).for_each(|e| f(e));
        }
        ExprKind::Prefix(_, a) => f(a),
        ExprKind::Chain(first, rest) => {
            f(first);
            rest.iter().for_each(|(_, e)| f(e));
        }
        ExprKind::InRange(a, range) => {
            f(a);
            f(&range.low);
            f(&range.high);
        }
        ExprKind::InSet(a, set) => {
            f(a);
            set.members.iter().flat_map(Member::expressions).for_each(f);
        }
        ExprKind::If(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        ExprKind::Match(a, arms) => {
            f(a);
            arms.iter().for_each(|arm| f(&arm.value));
        }
    }
}

/// The policies and actions of a file, each with the paths of the networks that it applies.
pub(crate) fn applied_networks(file: &File) -> Vec<(String, Vec<String>)> {
    let applied = file.declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Policy { name, value } | DeclarationKind::Action { name, value, .. } => {
            Some((name.name.clone(), networks_in(value)))
        }
        _ => None,
    });
    applied.collect()
}

/// The paths of the networks that an expression applies.
fn networks_in(e: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    collect_networks(e, &mut found);
    found
}

fn collect_networks(e: &Expr, found: &mut Vec<String>) {
    if let ExprKind::Call(function, arguments) = &e.kind
        && function.name == "net"
        && let Some(Expr { kind: ExprKind::Text(path), .. }) = arguments.first()
        && !found.contains(path)
    {
        found.push(path.clone());
    }
    for_each_child(e, |child| collect_networks(child, found));
}
