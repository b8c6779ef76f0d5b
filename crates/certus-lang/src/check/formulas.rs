//! Temporal formulas: what is temporal stays a formula, the maximal rest becomes atoms.

use crate::diagnostics::{Diagnostic, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{
    self, Bound, ChainOp, CompareOp, DeclarationKind, Expr, ExprKind, Ident, InfixOp, PrefixOp, PropertyBody,
};
use crate::syntax::printer::print_expression;
use crate::system::{
    Atom, AtomId, BoundOp, Bounds, Expect, Formula, PathProbability, ProbabilityQuery, Property, PropertyKind,
    Quantifier,
};

use super::names::for_each_child;
use super::term::{Term, Uses};
use super::{Checker, Context, Value};

/// Most operators of all formulas together, and deepest nesting, where names are replaced by formulas.
const MAX_FORMULA_SIZE: usize = 100_000;
const MAX_FORMULA_DEPTH: usize = 200;

impl Checker<'_> {
    pub(super) fn check_properties(&mut self) {
        let file = self.file;
        let mut seen: Vec<&Ident> = Vec::new();
        for declaration in &file.declarations {
            let DeclarationKind::Property(ast::Property { name, body, expect }) = &declaration.kind else { continue };
            if let Some(first) = seen.iter().find(|n| n.name == name.name) {
                self.error(
                    Diagnostic::error("duplicate", format!("the property `{}` is declared twice", name.name))
                        .at(name.span, "second declaration")
                        .at(first.span, "first declaration"),
                );
            }
            seen.push(name);
            let kind = self.within(Context::PROPERTY, |c| c.property_kind(body));
            let expect = expect.as_ref().map(|word| self.expectation(word));
            if let (Some(kind), Some(expect)) = (kind, expect.map_or(Some(None), |e| e.map(Some))) {
                if expect.is_some() && !kind.has_verdict() {
                    self.error(
                        Diagnostic::error("expect", "a question for a value has no verdict")
                            .at(name.span, "`=?` asks for a number, so `expect` says nothing"),
                    );
                    continue;
                }
                self.model.properties.push(Property {
                    name: name.name.clone(),
                    doc: declaration.doc.clone(),
                    kind,
                    expect,
                    source: print_body(body),
                });
            }
        }
    }

    fn expectation(&mut self, word: &Ident) -> Option<Expect> {
        match word.name.as_str() {
            "holds" => Some(Expect::Holds),
            "violated" => Some(Expect::Violated),
            other => {
                let help = nearest(other, ["holds", "violated"]).map(|n| format!("did you mean `{n}`?"));
                self.error(
                    Diagnostic::error("expect", "a verdict is `holds` or `violated`")
                        .at(word.span, "not a verdict")
                        .maybe_help(help),
                );
                None
            }
        }
    }

    fn property_kind(&mut self, body: &PropertyBody) -> Option<PropertyKind> {
        match body {
            PropertyBody::Formula(e) => {
                self.about_runs = true;
                let formula = self.formula(e);
                self.about_runs = false;
                formula.map(PropertyKind::Ltl)
            }
            PropertyBody::Probability(ast::PathProbability { quantifier, bound, path }) => {
                let path = self.formula(path);
                let query = match bound {
                    None => Some(ProbabilityQuery::Value),
                    Some((op, e)) => self.probability_bound(*op, e),
                };
                let quantifier = match quantifier {
                    ast::Quantifier::Every => Quantifier::None,
                    ast::Quantifier::Min => Quantifier::Min,
                    ast::Quantifier::Max => Quantifier::Max,
                };
                Some(PropertyKind::Probability(PathProbability { query: query?, quantifier, path: path? }))
            }
        }
    }

    fn probability_bound(&mut self, op: CompareOp, e: &Expr) -> Option<ProbabilityQuery> {
        let value = self.constants(e, "a probability")?;
        let op = match op {
            CompareOp::Less => BoundOp::Less,
            CompareOp::LessEqual => BoundOp::LessEqual,
            CompareOp::Greater => BoundOp::Greater,
            _ => BoundOp::GreaterEqual,
        };
        match value.numbers() {
            Some([p]) if (0.0..=1.0).contains(p) => Some(ProbabilityQuery::Bound(op, *p)),
            _ => {
                self.error(
                    Diagnostic::error("probability", "a probability lies between 0 and 1")
                        .at(e.span, "not a probability"),
                );
                None
            }
        }
    }

    /// Whether an expression contains a temporal operator, or a name that stands for one.
    pub(super) fn is_temporal(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Prefix(PrefixOp::Next | PrefixOp::Globally(_) | PrefixOp::Finally(_), _)
            | ExprKind::Infix(InfixOp::Until(_) | InfixOp::WeakUntil(_) | InfixOp::Release(_), ..) => true,
            ExprKind::Name(name) => {
                self.by_name.get(name.as_str()).is_some_and(|i| matches!(self.entries[*i].value, Value::Formula(_)))
            }
            _ => {
                let mut found = false;
                for_each_child(e, |child| found = found || self.is_temporal(child));
                found
            }
        }
    }

    /// Whether an expression is to be taken apart into atoms: it is temporal, or an implication, or a connective with an operand that
    /// speaks of the successor. A bad state is then bad by itself, whatever becomes of the successor.
    fn is_composite(&self, e: &Expr) -> bool {
        let connects = match &e.kind {
            ExprKind::Prefix(PrefixOp::Not, _) | ExprKind::Infix(InfixOp::Implies | InfixOp::Iff, ..) => true,
            ExprKind::Chain(_, rest) => matches!(rest.first(), Some((ChainOp::And | ChainOp::Or, _))),
            _ => false,
        };
        self.is_temporal(e) || (connects && self.is_apart(e))
    }

    /// Whether an expression is no single atom, temporal or not. Whether the left side of an implication ever becomes true is asked of
    /// every property that holds, so it is an atom of its own.
    fn is_apart(&self, e: &Expr) -> bool {
        self.is_temporal(e)
            || mentions(e, "next")
            || (self.is_exact() && mentions(e, "throughout"))
            || (self.about_runs && has_implication(e))
    }

    pub(super) fn formula(&mut self, e: &Expr) -> Option<Formula> {
        if !self.is_composite(e) {
            return self.atom(&[e]);
        }
        let boxed = |f: Option<Formula>| f.map(Box::new);
        match &e.kind {
            ExprKind::Prefix(PrefixOp::Globally(Some(bound)), operand) if bound.seconds => {
                self.always_between(bound, operand)
            }
            ExprKind::Prefix(op, operand) => {
                let bounds = match op {
                    PrefixOp::Globally(b) | PrefixOp::Finally(b) => self.bounds(b.as_deref()),
                    _ => Some(Bounds::default()),
                };
                let inner = boxed(self.formula(operand));
                let (bounds, inner) = (bounds?, inner?);
                match op {
                    PrefixOp::Not => Some(Formula::Not(inner)),
                    PrefixOp::Next => Some(Formula::Next(inner)),
                    PrefixOp::Globally(_) => Some(Formula::Globally(bounds, inner)),
                    PrefixOp::Finally(_) => Some(Formula::Finally(bounds, inner)),
                    PrefixOp::Negate => self.not_a_formula(e),
                }
            }
            ExprKind::Infix(op, a, b) => {
                let bounds = match op {
                    InfixOp::Until(b) | InfixOp::WeakUntil(b) | InfixOp::Release(b) => self.bounds(b.as_deref()),
                    InfixOp::Power => return self.not_a_formula(e),
                    _ => Some(Bounds::default()),
                };
                let (left, right) = (boxed(self.formula(a)), boxed(self.formula(b)));
                let (bounds, left, right) = (bounds?, left?, right?);
                Some(match op {
                    InfixOp::Iff => Formula::Iff(left, right),
                    InfixOp::Implies => Formula::Implies(left, right),
                    InfixOp::WeakUntil(_) => Formula::WeakUntil(bounds, left, right),
                    InfixOp::Release(_) => Formula::Release(bounds, left, right),
                    _ => Formula::Until(bounds, left, right),
                })
            }
            ExprKind::Chain(first, rest) => self.connective(e, first, rest),
            ExprKind::If(c, a, b) => {
                let condition = boxed(self.formula(c));
                let (then, otherwise) = (boxed(self.formula(a)), boxed(self.formula(b)));
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                let negated = Box::new(Formula::Not(condition.clone()));
                Some(Formula::And(vec![Formula::Implies(condition, then), Formula::Implies(negated, otherwise)]))
            }
            ExprKind::Name(name) => {
                let entry = *self.by_name.get(name.as_str())?;
                self.entries[entry].is_used = true;
                match &self.entries[entry].value {
                    Value::Formula(formula) => {
                        let formula = formula.clone();
                        self.within_limits(&formula, e.span)?;
                        Some(formula)
                    }
                    _ => None,
                }
            }
            _ => self.not_a_formula(e),
        }
    }

    /// Reports named formulas that have grown too large: each mention is a copy.
    fn within_limits(&mut self, formula: &Formula, span: Span) -> Option<()> {
        let (size, depth) = measure(formula);
        self.formula_size += size;
        if self.formula_size <= MAX_FORMULA_SIZE && depth <= MAX_FORMULA_DEPTH {
            return Some(());
        }
        self.error(Diagnostic::error("size", "this formula is too large").at(
            span,
            format!("{size} operators, {depth} levels; the limits are {MAX_FORMULA_SIZE} and {MAX_FORMULA_DEPTH}"),
        ));
        None
    }

    fn not_a_formula(&mut self, e: &Expr) -> Option<Formula> {
        // The checker of plain expressions says where the temporal operator is.
        self.term(e);
        None
    }

    fn connective(&mut self, e: &Expr, first: &Expr, rest: &[(ChainOp, Expr)]) -> Option<Formula> {
        let is_and = match rest.first() {
            Some((ChainOp::And, _)) => true,
            Some((ChainOp::Or, _)) => false,
            _ => return self.not_a_formula(e),
        };
        let operands: Vec<&Expr> = std::iter::once(first).chain(rest.iter().map(|(_, e)| e)).collect();
        // The operands before the first temporal one are one expression: the chain goes to the left.
        let plain = operands.iter().take_while(|e| !self.is_apart(e)).count();
        let mut parts = Vec::new();
        if plain > 0 {
            let text = if is_and { ChainOp::And } else { ChainOp::Or };
            let joined =
                operands[1..plain].iter().fold(operands[0].clone(), |acc, e| Expr::chain(acc, text, (*e).clone()));
            parts.push(self.atom(&[&joined]));
        }
        for operand in &operands[plain..] {
            parts.push(self.formula(operand));
        }
        let parts: Vec<Formula> = parts.into_iter().collect::<Option<_>>()?;
        Some(if is_and { Formula::And(parts) } else { Formula::Or(parts) })
    }

    fn atom(&mut self, parts: &[&Expr]) -> Option<Formula> {
        let e = parts.first()?;
        let t = self.scalar_bool(e, "a formula")?;
        if let Some([value]) = t.truths() {
            return Some(Formula::Constant(*value));
        }
        self.atom_of(t, print_expression(e))
    }

    /// The atom of a term, under the text that names it.
    pub(super) fn atom_of(&mut self, t: Term, text: String) -> Option<Formula> {
        if let Some(index) = self.atom_index.get(&text) {
            return Some(Formula::Atom(AtomId(*index)));
        }
        let atom = Atom {
            text: text.clone(),
            uses_next: t.uses.includes(Uses::NEXT),
            state_only: t.uses.without(Uses::STATE) == Uses::NONE,
            // Known once the step is lowered.
            uses_choice: false,
        };
        self.model.atoms.push((atom, t));
        let index = self.model.atoms.len() - 1;
        self.atom_index.insert(text, index);
        Some(Formula::Atom(AtomId(index)))
    }

    fn bounds(&mut self, bound: Option<&Bound>) -> Option<Bounds> {
        let Some(bound) = bound else { return Some(Bounds::default()) };
        if bound.seconds {
            let times = self.times(bound)?;
            return self.steps_between(times, bound.upper.span);
        }
        let mut step = |e: &Expr| {
            let value = self.integer(e, "the bound of a temporal operator")?;
            let step = u64::try_from(value).ok();
            if step.is_none() {
                self.error(
                    Diagnostic::error("bound", "the bound of a temporal operator is not negative")
                        .at(e.span, format!("this is {value}")),
                );
            }
            step
        };
        let lower = bound.lower.as_ref().map_or(Some(0), &mut step);
        let upper = step(&bound.upper);
        let (lower, upper) = (lower?, upper?);
        if lower > upper {
            self.error(
                Diagnostic::error("bound", "these bounds contain no step")
                    .at(bound.upper.span, format!("{upper} comes before {lower}")),
            );
            return None;
        }
        Some(Bounds { lower, upper: Some(upper) })
    }
}

/// Whether an implication stands in an expression, below nothing but connectives.
fn has_implication(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Infix(InfixOp::Implies, ..) => true,
        ExprKind::Infix(InfixOp::Iff, a, b) => has_implication(a) || has_implication(b),
        ExprKind::Prefix(PrefixOp::Not, a) => has_implication(a),
        ExprKind::Chain(first, rest) if matches!(rest.first(), Some((ChainOp::And | ChainOp::Or, _))) => {
            has_implication(first) || rest.iter().any(|(_, e)| has_implication(e))
        }
        _ => false,
    }
}

/// Whether an expression mentions the successor of a state variable, or the way there, by the function that says so.
fn mentions(e: &Expr, function: &str) -> bool {
    if let ExprKind::Call(name, _) = &e.kind
        && name.name == function
    {
        return true;
    }
    let mut found = false;
    for_each_child(e, |child| found = found || mentions(child, function));
    found
}

/// Number of operators, and deepest nesting.
fn measure(formula: &Formula) -> (usize, usize) {
    let parts: Vec<&Formula> = match formula {
        Formula::Constant(_) | Formula::Atom(_) => Vec::new(),
        Formula::Not(a) | Formula::Next(a) | Formula::Finally(_, a) | Formula::Globally(_, a) => vec![a],
        Formula::And(parts) | Formula::Or(parts) => parts.iter().collect(),
        Formula::Implies(a, b)
        | Formula::Iff(a, b)
        | Formula::Until(_, a, b)
        | Formula::WeakUntil(_, a, b)
        | Formula::Release(_, a, b) => vec![a, b],
    };
    parts.into_iter().map(measure).fold((1, 1), |(size, depth), (s, d)| (size + s, depth.max(d + 1)))
}

fn print_body(body: &PropertyBody) -> String {
    match body {
        PropertyBody::Formula(e) => print_expression(e),
        PropertyBody::Probability(ast::PathProbability { quantifier, bound, path }) => {
            let bound = match bound {
                None => "=?".to_owned(),
                Some((op, e)) => match e.kind {
                    ExprKind::Number(..) | ExprKind::Name(_) => format!("{}{}", op.text(), print_expression(e)),
                    _ => format!("{}({})", op.text(), print_expression(e)),
                },
            };
            format!("{}{bound} [ {} ]", quantifier.text(), print_expression(path))
        }
    }
}
