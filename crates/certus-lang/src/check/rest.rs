//! Declarations without a name, apart from updates and properties.

use std::rc::Rc;

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{Declaration, DeclarationKind, Expr, Ident};
use crate::system::{Assumption, Integrator};

use super::term::{self, Term, Uses};
use super::{Checker, Context};

impl Checker<'_> {
    pub(super) fn check_rest(&mut self) {
        self.check_system();
        let file = self.file;
        let mut init = Vec::new();
        let mut assume = Vec::new();
        let (mut step, mut reward, mut terminal) = (None, None, None);
        for declaration in &file.declarations {
            match &declaration.kind {
                DeclarationKind::Init(e) => {
                    init.extend(self.within(Context::INIT, |c| c.scalar_bool(e, "an initial condition")));
                }
                DeclarationKind::Assume(e) => {
                    let own = self.within(Context::ASSUME, |c| c.scalar_bool(e, "an assumption"));
                    if own.is_some() {
                        let (text, line) = self.place(e.span);
                        self.model.assumptions.push(Assumption { text, line, drawn: false });
                    }
                    assume.extend(own);
                }
                DeclarationKind::Step { method, .. } if self.first_time(&mut step, declaration, "step") => {
                    self.check_method(method.as_ref());
                }
                DeclarationKind::Reward(e) if self.first_time(&mut reward, declaration, "reward") => {
                    self.model.reward = self.within(Context::REWARD, |c| c.reward(e));
                }
                DeclarationKind::Terminal(e) if self.first_time(&mut terminal, declaration, "terminal") => {
                    self.model.terminal = self.within(Context::TERMINAL, |c| c.scalar_bool(e, "a terminal condition"));
                }
                _ => {}
            }
        }
        self.model.init = conjunction(init);
        let terminal = &self.model.terminal;
        let applied = assume.iter().map(|own| match terminal {
            Some(terminal) if own.uses.includes(Uses::NEXT) => term::or(vec![Rc::clone(terminal), Rc::clone(own)]),
            _ => Rc::clone(own),
        });
        self.model.assumption = conjunction(applied.collect());
        self.model.assume = assume;
    }

    /// The text of a span, and the line that it begins in.
    fn place(&self, span: Span) -> (String, usize) {
        let text = self.text.get(span.start..span.end).unwrap_or_default().to_owned();
        let before = self.text.get(..span.start).unwrap_or_default();
        (text, 1 + before.matches('\n').count())
    }

    fn check_system(&mut self) {
        let file = self.file;
        let mut systems = file.declarations.iter().filter_map(|d| match &d.kind {
            DeclarationKind::System(name) => Some((d, name)),
            _ => None,
        });
        let Some((declaration, name)) = systems.next() else {
            let start = file.declarations.first().map_or(Span::default(), |d| Span::new(d.span.start, d.span.start));
            self.error(
                Diagnostic::error("system", "the file does not say which system it describes")
                    .at(start, "expected `system` and a name")
                    .help("begin the file with `system my_system`"),
            );
            return;
        };
        self.model.name = name.name.clone();
        self.model.doc = declaration.doc.clone();
        if let Some((second, _)) = systems.next() {
            self.error(
                Diagnostic::error("system", "a file describes one system")
                    .at(second.span, "second `system`")
                    .at(declaration.span, "first `system`"),
            );
        }
    }

    /// Reports a declaration that may occur only once.
    fn first_time(&mut self, seen: &mut Option<Span>, declaration: &Declaration, word: &str) -> bool {
        if let Some(first) = seen {
            self.error(
                Diagnostic::error("duplicate", format!("`{word}` occurs twice"))
                    .at(declaration.span, "second time")
                    .at(*first, "first time"),
            );
            return false;
        }
        *seen = Some(declaration.span);
        true
    }

    fn check_method(&mut self, method: Option<&Ident>) {
        let integrator = match method {
            None => Integrator::Euler,
            Some(word) => match word.name.as_str() {
                "euler" => Integrator::Euler,
                "rk4" => Integrator::Rk4,
                "exact" => Integrator::Exact,
                other => {
                    let help = nearest(other, ["exact", "euler", "rk4"]).map(|n| format!("did you mean `{n}`?"));
                    self.error(
                        Diagnostic::error("step", "a method of integration is `exact`, `euler` or `rk4`")
                            .at(word.span, "unknown method")
                            .maybe_help(help),
                    );
                    return;
                }
            },
        };
        self.model.integrator = Some(integrator);
    }

    fn reward(&mut self, e: &Expr) -> Option<Term> {
        let t = self.real(e)?;
        if t.len == 1 {
            return Some(t);
        }
        self.error(
            Diagnostic::error("length", "a reward is a single number")
                .at(e.span, super::operands::describe(&t))
                .help("reduce it with `sum(…)`"),
        );
        None
    }
}

fn conjunction(parts: Vec<Term>) -> Option<Term> {
    if parts.is_empty() { None } else { Some(term::and(parts)) }
}
