//! Declarations to documents.

use crate::syntax::ast::{
    ActionRule, Declaration, DeclarationKind, Expr, Ident, PathProbability, Property, PropertyBody, Update, Values,
    VariableDeclaration,
};

use super::Printer;
use super::doc::{Doc, concat, group, nest, text};

impl Printer<'_> {
    pub(super) fn declaration(&mut self, declaration: &Declaration) -> Doc {
        let end = declaration.span.end;
        match &declaration.kind {
            DeclarationKind::System(name) => text(format!("system {}", name.name)),
            DeclarationKind::Const(list) => {
                let mut docs = vec![text("const ")];
                for (i, (name, value)) in list.iter().enumerate() {
                    let entry = [text(format!("{} = ", name.name)), self.expr(value)];
                    if i == 0 {
                        docs.extend(entry);
                    } else {
                        docs.push(text(","));
                        docs.push(nest(concat([Doc::Line].into_iter().chain(entry))));
                    }
                }
                group(concat(docs))
            }
            DeclarationKind::Param { name, range, value } => {
                let range = self.range(range);
                let value = self.expr(value);
                concat([text(format!("param {} in ", name.name)), range, text(" = "), value])
            }
            DeclarationKind::State(variable) => self.variable("state", variable, end),
            DeclarationKind::Input(variable) => self.variable("input", variable, end),
            DeclarationKind::Chance { name, cases } => {
                let print = |printer: &mut Self, case: &(Ident, Expr)| {
                    concat([text(format!("{}: ", case.0.name)), printer.expr(&case.1)])
                };
                let body = self.braces(cases, end, print, |case| case.0.span.start);
                concat([text(format!("chance {} of ", name.name)), body])
            }
            DeclarationKind::Policy { name, value } => self.assignment("policy", name, value),
            DeclarationKind::Action { name, rule, value, labels } => {
                let rule = match rule {
                    ActionRule::Argmax => "= argmax",
                    ActionRule::Softmax => "~ softmax",
                };
                let head = text(format!("action {} {rule}(", name.name));
                let value = self.expr(value);
                concat([head, value, text(") of "), self.labels(labels, end)])
            }
            DeclarationKind::Define { name, value } => self.assignment("define", name, value),
            DeclarationKind::Init(value) => concat([text("init "), self.expr(value)]),
            DeclarationKind::Assume(value) => concat([text("assume "), self.expr(value)]),
            DeclarationKind::Next(update) => self.update("next", update),
            DeclarationKind::Der(update) => self.update("der", update),
            DeclarationKind::After(update) => self.update("after", update),
            DeclarationKind::Step { dt, method } => {
                let method = method.as_ref().map_or(String::new(), |m| format!(" {}", m.name));
                concat([text("step "), self.expr(dt), text(method)])
            }
            DeclarationKind::Reward(value) => concat([text("reward "), self.expr(value)]),
            DeclarationKind::Terminal(value) => concat([text("terminal "), self.expr(value)]),
            DeclarationKind::Property(Property { name, body, expect }) => {
                let head = text(format!("property {} = ", name.name));
                let body = self.property_body(body);
                let expect = expect.as_ref().map_or(String::new(), |e| format!(" expect {}", e.name));
                concat([head, body, text(expect)])
            }
        }
    }

    fn assignment(&mut self, keyword: &str, name: &Ident, value: &Expr) -> Doc {
        concat([text(format!("{keyword} {} = ", name.name)), self.expr(value)])
    }

    fn labels(&mut self, labels: &[Ident], end: usize) -> Doc {
        let print = |_: &mut Self, label: &Ident| text(label.name.clone());
        self.braces(labels, end, print, |label| label.span.start)
    }

    fn variable(&mut self, keyword: &str, variable: &VariableDeclaration, end: usize) -> Doc {
        let mut docs = vec![text(format!("{keyword} {}", variable.name.name))];
        if let Some(size) = &variable.size {
            docs.extend([text("["), self.expr(size), text("]")]);
        }
        if variable.varying.is_some() {
            docs.push(text(" varying"));
        }
        match &variable.range {
            None => {}
            Some(Values::Range(range)) => docs.extend([text(" in "), self.range(range)]),
            Some(Values::Set(set)) => docs.extend([text(" in "), self.set(set)]),
            Some(Values::Labels(labels)) => docs.extend([text(" of "), self.labels(labels, end)]),
        }
        if !variable.before.is_empty() {
            let names: Vec<&str> = variable.before.iter().map(|own| own.name.as_str()).collect();
            docs.push(text(format!(" before {}", names.join(", "))));
        }
        concat(docs)
    }

    fn update(&mut self, keyword: &str, update: &Update) -> Doc {
        let mut docs = vec![text(format!("{keyword} {}", update.name.name))];
        if let Some(index) = &update.index {
            docs.extend([text("["), self.expr(index), text("]")]);
        }
        docs.extend([text(" = "), self.expr(&update.value)]);
        concat(docs)
    }

    fn property_body(&mut self, body: &PropertyBody) -> Doc {
        match body {
            PropertyBody::Formula(formula) => self.expr(formula),
            PropertyBody::Probability(PathProbability { quantifier, bound, path }) => {
                let bound = match bound {
                    None => text("=?"),
                    Some((op, value)) => concat([text(op.text()), self.bound_value(value)]),
                };
                let path = self.expr(path);
                concat([text(quantifier.text()), bound, text(" [ "), path, text(" ]")])
            }
        }
    }
}
