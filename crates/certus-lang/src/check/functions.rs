//! The functions of the language.

use std::sync::Arc;

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{Expr, ExprKind, Ident};

use super::names::for_each_child;
use super::term::{self, Function, Sort, Term, TermKind, Uses};
use super::{Checker, Opening, Value};

/// Every function with the number of its arguments; none for any number.
const FUNCTIONS: &[(&str, Option<usize>)] = &[
    ("abs", Some(1)),
    ("all", Some(1)),
    ("any", Some(1)),
    ("clamp", Some(3)),
    ("concat", None),
    ("cos", Some(1)),
    ("deg", Some(1)),
    ("exp", Some(1)),
    ("floor", Some(1)),
    ("interleave", None),
    ("len", Some(1)),
    ("log", Some(1)),
    ("max", None),
    ("min", None),
    ("net", None),
    ("next", Some(1)),
    ("relu", Some(1)),
    ("repeat", Some(2)),
    ("shift", Some(2)),
    ("sigmoid", Some(1)),
    ("sign", Some(1)),
    ("sin", Some(1)),
    ("sqrt", Some(1)),
    ("sum", Some(1)),
    ("tan", Some(1)),
    ("tanh", Some(1)),
    ("throughout", Some(1)),
    ("wrap", Some(1)),
];

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(f, _)| *f == name)
}

fn elementwise(name: &str) -> Option<Function> {
    Some(match name {
        "abs" => Function::Abs,
        "cos" => Function::Cos,
        "exp" => Function::Exp,
        "floor" => Function::Floor,
        "log" => Function::Log,
        "relu" => Function::Relu,
        "sigmoid" => Function::Sigmoid,
        "sign" => Function::Sign,
        "sin" => Function::Sin,
        "sqrt" => Function::Sqrt,
        "tan" => Function::Tan,
        "tanh" => Function::Tanh,
        _ => return None,
    })
}

impl Checker<'_> {
    pub(super) fn call(&mut self, function: &Ident, arguments: &[Expr], span: Span) -> Option<Term> {
        let name = function.name.as_str();
        let Some((_, arity)) = FUNCTIONS.iter().find(|(f, _)| *f == name) else {
            self.unknown_function(function);
            return None;
        };
        if arity.is_some_and(|n| n != arguments.len()) || arguments.is_empty() && name != "concat" {
            let expected = match arity {
                Some(1) => "1 argument".to_owned(),
                Some(n) => format!("{n} arguments"),
                None => "at least 1 argument".to_owned(),
            };
            self.error(
                Diagnostic::error("arguments", format!("`{name}` takes {expected}"))
                    .at(span, format!("{} given", arguments.len())),
            );
            return None;
        }
        if let Some(f) = elementwise(name) {
            self.warn_about_degrees(name, &arguments[0]);
            return Some(term::apply(f, self.real(&arguments[0])?));
        }
        match name {
            "all" | "any" => {
                let t = self.boolean(&arguments[0])?;
                Some(term::quantified(name == "all", t))
            }
            "sum" => Some(term::sum(self.real(&arguments[0])?)),
            "max" | "min" => self.extremum(name == "max", arguments, span),
            "clamp" => self.clamp(arguments, span),
            "concat" => self.joined(arguments, None, span),
            "interleave" => self.interleave(arguments, span),
            "repeat" => self.repeat(arguments, span),
            "shift" => self.shift(arguments),
            "len" => Some(term::number(self.length(&arguments[0])? as f64)),
            "deg" => {
                self.warn_about_radians(&arguments[0]);
                let t = self.real(&arguments[0])?;
                Some(term::mul(vec![
                    (false, t),
                    (false, term::number(std::f64::consts::PI)),
                    (true, term::number(180.0)),
                ]))
            }
            "wrap" => Some(wrap(self.real(&arguments[0])?)),
            "next" => self.successor(&arguments[0]),
            "throughout" => self.throughout(&arguments[0], span, None),
            _ => self.network(arguments, span),
        }
    }

    fn unknown_function(&mut self, function: &Ident) {
        let name = function.name.as_str();
        let help = match name {
            "ln" => Some("the natural logarithm is `log`".to_owned()),
            "mod" => Some("write `x - n * floor(x / n)`, or `wrap(x)` for an angle".to_owned()),
            "round" => Some("write `floor(x + 0.5)`".to_owned()),
            "ceil" => Some("write `-floor(-x)`".to_owned()),
            "argmax" | "softmax" => {
                Some("labels are chosen by a declaration: `action a = argmax(…) of { left, right }`".to_owned())
            }
            _ if self.by_name.contains_key(name) => {
                Some(format!("an element of `{name}` is written `{name}[i]`, a product with `*`"))
            }
            _ => nearest(name, FUNCTIONS.iter().map(|(f, _)| *f)).map(|f| format!("did you mean `{f}`?")),
        };
        self.error(
            Diagnostic::error("unknown-function", format!("there is no function `{name}`"))
                .at(function.span, "unknown function")
                .maybe_help(help),
        );
    }

    fn reals(&mut self, arguments: &[Expr]) -> Option<Vec<Term>> {
        let terms: Vec<Option<Term>> = arguments.iter().map(|e| self.real(e)).collect();
        terms.into_iter().collect()
    }

    fn extremum(&mut self, largest: bool, arguments: &[Expr], span: Span) -> Option<Term> {
        let terms = self.reals(arguments)?;
        let name = if largest { "max" } else { "min" };
        if let [only] = terms.as_slice() {
            if only.len == 0 {
                self.error(
                    Diagnostic::error("length", format!("`{name}` of no elements")).at(span, "the vector is empty"),
                );
                return None;
            }
            return Some(term::extremum_of(largest, only.clone()));
        }
        let pairs: Vec<(&Expr, &Term)> = arguments.iter().zip(&terms).collect();
        self.fitting(&pairs, &format!("the arguments of `{name}`"))?;
        Some(term::extremum(largest, terms))
    }

    fn clamp(&mut self, arguments: &[Expr], span: Span) -> Option<Term> {
        let terms = self.reals(arguments)?;
        let pairs: Vec<(&Expr, &Term)> = arguments.iter().zip(&terms).collect();
        self.fitting(&pairs, "the arguments of `clamp`")?;
        let [x, low, high] = <[Term; 3]>::try_from(terms).ok()?;
        if let (Some([a]), Some([b])) = (low.numbers(), high.numbers()) {
            if a > b {
                self.error(
                    Diagnostic::error("range", "the bounds of `clamp` are in the wrong order")
                        .at(span, format!("{a} is greater than {b}"))
                        .help("write `clamp(x, lower, upper)`"),
                );
                return None;
            }
            let from_param = low.is_from_param() || high.is_from_param();
            let clipped = term::apply(Function::Clip(*a, *b), x);
            return Some(match &clipped.kind {
                TermKind::Number(v, p) => term::numbers(v.clone(), *p || from_param),
                _ => clipped,
            });
        }
        Some(term::extremum(false, vec![term::extremum(true, vec![x, low]), high]))
    }

    fn interleave(&mut self, arguments: &[Expr], span: Span) -> Option<Term> {
        let terms = self.reals(arguments)?;
        let len = terms[0].len;
        if let Some(i) = terms.iter().position(|t| t.len != len) {
            self.error(
                Diagnostic::error("length", "`interleave` takes vectors of one length")
                    .at(arguments[i].span, format!("length {}", terms[i].len))
                    .at(arguments[0].span, format!("length {len}")),
            );
            return None;
        }
        let count = terms.len();
        self.vector_limit(len * count, span)?;
        let joined = term::concat(terms, Sort::Real);
        Some(term::pick(&joined, (0..len * count).map(|i| (i % count) * len + i / count).collect()))
    }

    fn repeat(&mut self, arguments: &[Expr], span: Span) -> Option<Term> {
        let t = self.term(&arguments[0]);
        let count = self.integer(&arguments[1], "the number of repetitions");
        let (t, count) = (t?, count?);
        let Ok(count) = usize::try_from(count) else {
            self.error(
                Diagnostic::error("arguments", "the number of repetitions is not negative")
                    .at(arguments[1].span, format!("this is {count}")),
            );
            return None;
        };
        let len = t.len;
        self.vector_limit(len.saturating_mul(count), span)?;
        Some(term::pick(&t, (0..len * count).map(|i| i % len).collect()))
    }

    fn shift(&mut self, arguments: &[Expr]) -> Option<Term> {
        let terms = self.reals(arguments)?;
        let (window, newest) = (&terms[0], &terms[1]);
        if newest.len > window.len {
            self.error(
                Diagnostic::error("length", "`shift` appends no more than the window holds")
                    .at(arguments[1].span, format!("length {}", newest.len))
                    .at(arguments[0].span, format!("length {}", window.len)),
            );
            return None;
        }
        let kept = term::slice(window, newest.len, window.len - newest.len);
        Some(term::concat(vec![kept, newest.clone()], Sort::Real))
    }

    /// The length of a vector is a constant wherever the vector itself may not be mentioned.
    fn length(&mut self, e: &Expr) -> Option<usize> {
        let context = super::Context { allowed: Uses::ALL, ..self.context };
        self.within(context, |c| c.term(e)).map(|t| t.len)
    }

    fn successor(&mut self, e: &Expr) -> Option<Term> {
        if !self.context.allowed.includes(Uses::NEXT) {
            let place = self.context.place;
            self.error(
                Diagnostic::error("context", format!("{place} cannot speak of the next state"))
                    .at(e.span, "`next` of this")
                    .help("`next(x)` can be used in `assume`, `reward` and properties"),
            );
            return None;
        }
        let name = match &e.kind {
            ExprKind::Name(name) => name,
            _ => {
                self.error(
                    Diagnostic::error("next", "`next` takes the name of a state variable")
                        .at(e.span, "not a name")
                        .help("an element is written `next(x)[i]`"),
                );
                return None;
            }
        };
        let Some(&index) = self.by_name.get(name.as_str()) else {
            self.unknown_name(name, e.span);
            return None;
        };
        self.entries[index].is_used = true;
        match &self.entries[index].value {
            Value::Term(t) => {
                if let TermKind::State(i) = t.kind {
                    let leaf = if t.is_integral() { term::integral_leaf } else { term::leaf };
                    return Some(leaf(TermKind::Next(i), t.sort, t.len, Uses::NEXT));
                }
            }
            Value::Failed | Value::Pending => return None,
            _ => {}
        }
        let what = self.entries[index].kind.describe();
        self.error(
            Diagnostic::error("next", "only state variables have a next value")
                .at(e.span, format!("`{name}` is {what}")),
        );
        None
    }

    fn network(&mut self, arguments: &[Expr], span: Span) -> Option<Term> {
        if !self.context.networks {
            let place = self.context.place;
            self.error(
                Diagnostic::error("network", format!("{place} cannot apply a network"))
                    .at(span, "`net` belongs into `policy` and `action`")
                    .help("give it a name, `policy y = net(…)`, and use `y` here"),
            );
            return None;
        }
        let Expr { kind: ExprKind::Text(path), span: path_span } = &arguments[0] else {
            self.error(
                Diagnostic::error("network", "the first argument of `net` is the path of a network")
                    .at(arguments[0].span, "expected a text in quotes")
                    .help("write `net(\"policy.onnx\", x)`"),
            );
            return None;
        };
        if let Some(opening) = self.opening {
            let outputs = self.open_outputs(path, *path_span, span, opening);
            let terms = self.reals(&arguments[1..]);
            let (outputs, terms) = (outputs?, terms?);
            let known = self.model.open_networks.iter().position(|own| own == path);
            let place = known.unwrap_or_else(|| {
                self.model.open_networks.push(path.clone());
                self.model.open_networks.len() - 1
            });
            return Some(term::open_net(place, terms, outputs));
        }
        let network = self.load_network(path, *path_span);
        let terms = self.reals(&arguments[1..]);
        let (network, terms) = (network?, terms?);
        let graph = Arc::clone(&self.model.networks[network]);
        let wanted: usize = graph.inputs().iter().map(|p| graph.elements(p.node)).sum();
        let given: usize = terms.iter().map(|t| t.len).sum();
        if wanted != given {
            let label = match arguments.get(1) {
                Some(first) => first.span.to(arguments[arguments.len() - 1].span),
                None => span,
            };
            let mut parts: Vec<String> = arguments[1..]
                .iter()
                .zip(&terms)
                .map(|(e, t)| format!("{} has {}", self.source(e.span), t.len))
                .collect();
            parts.truncate(8);
            self.error(
                Diagnostic::error("network", format!("the network takes {wanted} numbers, {given} are given"))
                    .at(label, format!("{given} numbers"))
                    .at(*path_span, format!("takes {wanted}"))
                    .help(parts.join(", ")),
            );
            return None;
        }
        let outputs = graph.outputs().iter().map(|p| graph.elements(p.node)).sum();
        Some(term::net(network, terms, outputs))
    }

    /// How many results a network has that is left outside: as told, as in its file, or as its action has labels.
    fn open_outputs(&mut self, path: &str, path_span: Span, call: Span, opening: Opening) -> Option<usize> {
        if let Some((_, outputs)) = self.options.outputs.iter().find(|(own, _)| own == path) {
            return Some(*outputs);
        }
        let reason = match self.networks.load(path) {
            Ok(graph) => return Some(graph.outputs().iter().map(|p| graph.elements(p.node)).sum()),
            Err(reason) => reason,
        };
        if let (Some(labels), true) = (opening.labels, opening.value == call) {
            return Some(labels);
        }
        let first = reason.lines().next().unwrap_or_default();
        self.error(
            Diagnostic::error("network", format!("how many results `{path}` has is not known"))
                .at(path_span, first)
                .help(format!(
                    "say it when the system is opened (`outputs={{\"{path}\": 1}}`), or put a network there"
                )),
        );
        None
    }

    fn load_network(&mut self, path: &str, span: Span) -> Option<usize> {
        if let Some(known) = self.network_index.get(path) {
            return *known;
        }
        let loaded = match self.networks.load(path) {
            Ok(graph) => {
                self.model.networks.push(graph);
                Some(self.model.networks.len() - 1)
            }
            Err(reason) => {
                // A label is one line; whatever else the reason says goes below.
                let (first, rest) = reason.split_once('\n').unwrap_or((&reason, ""));
                let help = match rest.trim_end() {
                    "" => "a path is relative to the file that names it",
                    rest => rest,
                };
                self.error(
                    Diagnostic::error("network", format!("cannot load the network `{path}`"))
                        .at(span, first)
                        .help(help),
                );
                None
            }
        };
        self.network_index.insert(path.to_owned(), loaded);
        loaded
    }

    /// `sin(90)` is hardly ever meant in radians.
    fn warn_about_degrees(&mut self, function: &str, e: &Expr) {
        let ExprKind::Number(value, text) = &e.kind else { return };
        if matches!(function, "sin" | "cos" | "tan") && *value >= 15.0 && value % 15.0 == 0.0 {
            self.error(
                Diagnostic::warning("units", format!("`{function}` takes radians"))
                    .at(e.span, format!("{text} looks like degrees"))
                    .help(format!("write `{function}(deg({text}))`")),
            );
        }
    }

    /// `deg(pi / 2)` converts an angle that is already in radians.
    fn warn_about_radians(&mut self, e: &Expr) {
        if mentions_pi(e) {
            self.error(
                Diagnostic::warning("units", "`deg` converts degrees to radians")
                    .at(e.span, "this looks like radians already"),
            );
        }
    }
}

fn mentions_pi(e: &Expr) -> bool {
    let mut found = matches!(&e.kind, ExprKind::Name(name) if name == "pi");
    for_each_child(e, |child| found |= mentions_pi(child));
    found
}

/// x - 2 pi floor((x + pi) / (2 pi))
fn wrap(x: Term) -> Term {
    let pi = std::f64::consts::PI;
    let shifted = term::add(vec![(false, x.clone()), (false, term::number(pi))]);
    let turns = term::mul(vec![(false, shifted), (true, term::number(2.0 * pi))]);
    let turns = term::apply(Function::Floor, turns);
    let back = term::mul(vec![(false, term::number(2.0 * pi)), (false, turns)]);
    term::add(vec![(false, x), (true, back)])
}
