//! The tree of a `.certus` file.
//!
//! One expression type serves reals, Booleans and temporal formulas; the checker tells them apart.
//! Parentheses are not kept: the printer puts them where the grammar needs them. Operators that chain
//! to the left (`+ -`, `* /`, `&`, `|`) are one flat [`ExprKind::Chain`], so that a long sum or a long
//! conjunction is not a deep tree.

use super::{Comment, Span};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is written, without parentheses around it.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, with its spelling.
    Number(f64, String),
    /// `true` or `false`.
    Bool(bool),
    /// A text in quotes: the path of a network.
    Text(String),
    /// A name.
    Name(String),
    /// `[a, b, c]`.
    Vector(Vec<Expr>),
    /// `[for i in a..b: e]`.
    Comprehension(Box<Comprehension>),
    /// `f(a, b)`, also `next(x)` and `net("file", …)`.
    Call(Ident, Vec<Expr>),
    /// `v[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `v[a..b]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `-e`, `!e`, `G e`, …
    Prefix(PrefixOp, Box<Expr>),
    /// `a op b op c`, all operators of one precedence, associating to the left.
    Chain(Box<Expr>, Vec<(ChainOp, Expr)>),
    /// `a ^ b`, `a -> b`, `a U b`, …, associating to the right.
    Infix(InfixOp, Box<Expr>, Box<Expr>),
    /// `a < b`, not associative.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `x in [a, b]`.
    InRange(Box<Expr>, Box<Range>),
    /// `x in {a, b, 0..3}`.
    InSet(Box<Expr>, Box<Set>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match a { x: e, y | z: f, _: g }`.
    Match(Box<Expr>, Vec<Arm>),
}

/// `[for variable in from..to: body]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The variable, a constant inside the body.
    pub variable: Ident,
    /// First value.
    pub from: Expr,
    /// One past the last value.
    pub to: Expr,
    /// What each value gives.
    pub body: Expr,
}

/// `[low, high]` after `in`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub low: Expr,
    /// Upper end.
    pub high: Expr,
    /// Where it stands, brackets included.
    pub span: Span,
}

/// `{a, b, 0..3}` after `in`.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// What is in it.
    pub members: Vec<Member>,
    /// Where it stands, braces included.
    pub span: Span,
}

/// What is in a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// One value.
    One(Expr),
    /// `a..b`: the integers from a to b, both included.
    Run(Expr, Expr),
}

impl Member {
    /// The expressions that it is written with.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            Member::One(only) => (only, None),
            Member::Run(from, to) => (from, Some(to)),
        };
        std::iter::once(first).chain(second)
    }

    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            Member::One(only) => only.span,
            Member::Run(from, to) => from.span.to(to.span),
        }
    }
}

/// One arm of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The labels it covers; none for `_`.
    pub labels: Vec<Ident>,
    /// The value.
    pub value: Expr,
    /// The labels or the `_`.
    pub pattern_span: Span,
}

/// Operators before their operand.
#[derive(Clone, Debug, PartialEq)]
pub enum PrefixOp {
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `X`
    Next,
    /// `G`, possibly bounded.
    Globally(Option<Box<Bound>>),
    /// `F`, possibly bounded.
    Finally(Option<Box<Bound>>),
}

/// The bound of a temporal operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// First step, given in the form `[l, k]`.
    pub lower: Option<Expr>,
    /// Last step.
    pub upper: Expr,
    /// Whether the ends are seconds, `[0.5s, 1s]`, not steps.
    pub seconds: bool,
}

/// Operators that associate to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ChainOp {
    Or,
    And,
    Add,
    Sub,
    Mul,
    Div,
}

/// Operators that associate to the right.
#[derive(Clone, Debug, PartialEq)]
pub enum InfixOp {
    /// `<->`
    Iff,
    /// `->`
    Implies,
    /// `U`, possibly bounded.
    Until(Option<Box<Bound>>),
    /// `W`, possibly bounded.
    WeakUntil(Option<Box<Bound>>),
    /// `R`, possibly bounded.
    Release(Option<Box<Bound>>),
    /// `^`
    Power,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// How tightly an expression holds together; larger is tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Level {
    Iff,
    Implies,
    Until,
    Or,
    And,
    Prefix,
    Comparison,
    Sum,
    Product,
    Negation,
    Power,
    Postfix,
}

impl ChainOp {
    /// How tightly it binds.
    pub fn level(self) -> Level {
        match self {
            ChainOp::Or => Level::Or,
            ChainOp::And => Level::And,
            ChainOp::Add | ChainOp::Sub => Level::Sum,
            ChainOp::Mul | ChainOp::Div => Level::Product,
        }
    }

    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            ChainOp::Or => "|",
            ChainOp::And => "&",
            ChainOp::Add => "+",
            ChainOp::Sub => "-",
            ChainOp::Mul => "*",
            ChainOp::Div => "/",
        }
    }
}

impl InfixOp {
    /// How tightly it binds.
    pub fn level(&self) -> Level {
        match self {
            InfixOp::Iff => Level::Iff,
            InfixOp::Implies => Level::Implies,
            InfixOp::Until(_) | InfixOp::WeakUntil(_) | InfixOp::Release(_) => Level::Until,
            InfixOp::Power => Level::Power,
        }
    }

    /// How it is written, without its bound.
    pub fn text(&self) -> &'static str {
        match self {
            InfixOp::Iff => "<->",
            InfixOp::Implies => "->",
            InfixOp::Until(_) => "U",
            InfixOp::WeakUntil(_) => "W",
            InfixOp::Release(_) => "R",
            InfixOp::Power => "^",
        }
    }
}

impl CompareOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
            CompareOp::Equal => "==",
            CompareOp::NotEqual => "!=",
        }
    }
}

impl Expr {
    /// How tightly the expression holds together at its outside.
    pub fn level(&self) -> Level {
        match &self.kind {
            ExprKind::Prefix(PrefixOp::Negate, _) => Level::Negation,
            ExprKind::Prefix(..) => Level::Prefix,
            ExprKind::Chain(_, rest) => rest.first().map_or(Level::Postfix, |(op, _)| op.level()),
            ExprKind::Infix(op, ..) => op.level(),
            ExprKind::Compare(..) | ExprKind::InRange(..) | ExprKind::InSet(..) => Level::Comparison,
            // It reaches as far to the right as it can: as an operand it needs parentheses.
            ExprKind::If(..) => Level::Iff,
            _ => Level::Postfix,
        }
    }

    /// `left op right`, joining a chain that `left` already is.
    pub fn chain(left: Expr, op: ChainOp, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let kind = match left.kind {
            ExprKind::Chain(first, mut rest) if rest.first().is_some_and(|(o, _)| o.level() == op.level()) => {
                rest.push((op, right));
                ExprKind::Chain(first, rest)
            }
            kind => {
                let left = Expr { kind, span: left.span };
                ExprKind::Chain(Box::new(left), vec![(op, right)])
            }
        };
        Expr { kind, span }
    }
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct File {
    /// The declarations in the order of the text.
    pub declarations: Vec<Declaration>,
    /// All comments, documentation included.
    pub comments: Vec<Comment>,
}

/// One declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// What it declares.
    pub kind: DeclarationKind,
    /// From its keyword to its last token.
    pub span: Span,
    /// The text of the `///` comments right before it, slashes removed.
    pub doc: String,
}

/// The kinds of declaration.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum DeclarationKind {
    /// `system name`
    System(Ident),
    /// `const a = e, b = f`
    Const(Vec<(Ident, Expr)>),
    /// `param p in [a, b] = e`
    Param { name: Ident, range: Range, value: Expr },
    /// `state x[n] in [a, b]`, `state n in {0..9}`, `state m of { idle, up }`
    State(VariableDeclaration),
    /// `input u[n] in [a, b] before c, d`
    Input(VariableDeclaration),
    /// `chance c of { ok: 0.9, slip: 0.1 }`
    Chance { name: Ident, cases: Vec<(Ident, Expr)> },
    /// `policy y = e`
    Policy { name: Ident, value: Expr },
    /// `action a = argmax(e) of { … }`, `action a ~ softmax(e) of { … }`
    Action { name: Ident, rule: ActionRule, value: Expr, labels: Vec<Ident> },
    /// `define d = e`
    Define { name: Ident, value: Expr },
    /// `init φ`
    Init(Expr),
    /// `assume φ`
    Assume(Expr),
    /// `next x = e`, `next x[i] = e`
    Next(Update),
    /// `der x = e`, `der x[i] = e`
    Der(Update),
    /// `after x = e`, `after x[i] = e`
    After(Update),
    /// `step dt method`
    Step { dt: Expr, method: Option<Ident> },
    /// `reward e`
    Reward(Expr),
    /// `terminal φ`
    Terminal(Expr),
    /// `property p = φ expect holds`
    Property(Property),
}

/// A state variable or an input.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDeclaration {
    /// Its name.
    pub name: Ident,
    /// Its length if it is a vector.
    pub size: Option<Expr>,
    /// Its range.
    pub range: Option<Values>,
    /// Of an input: the word `varying`, if it may change within a step.
    pub varying: Option<Span>,
    /// Of an input: the random choices that it is chosen before, and so without knowing them.
    pub before: Vec<Ident>,
}

/// The values that a variable can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `in [a, b]`: real numbers.
    Range(Range),
    /// `in {0..9}`: integers.
    Set(Set),
    /// `of { idle, boot, up }`: one of some names.
    Labels(Vec<Ident>),
}

impl Values {
    /// The expressions that they are written with.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Values::Range(range) => vec![&range.low, &range.high],
            Values::Set(set) => set.members.iter().flat_map(Member::expressions).collect(),
            Values::Labels(_) => Vec::new(),
        }
    }
}

/// The right side of `next`, `der` or `after`.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The state variable.
    pub name: Ident,
    /// The element, if only one is given.
    pub index: Option<Expr>,
    /// The expression.
    pub value: Expr,
}

/// How an action is chosen from a vector of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionRule {
    /// The label with the largest score, the first one on ties.
    Argmax,
    /// At random, with the probabilities of the softmax of the scores.
    Softmax,
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: Ident,
    /// What it asks.
    pub body: PropertyBody,
    /// The verdict that is expected of it.
    pub expect: Option<Ident>,
}

/// What a property asks.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyBody {
    /// A temporal formula that every run satisfies.
    Formula(Expr),
    /// The probability of a path formula.
    Probability(PathProbability),
}

impl PropertyBody {
    /// The formula that every run satisfies, if the property is one about every run.
    pub fn over_runs(&self) -> Option<&Expr> {
        match self {
            PropertyBody::Formula(formula) => Some(formula),
            PropertyBody::Probability(_) => None,
        }
    }

    /// The probability that the property asks for, if it asks for one.
    pub fn probability(&self) -> Option<&PathProbability> {
        match self {
            PropertyBody::Probability(asked) => Some(asked),
            PropertyBody::Formula(_) => None,
        }
    }
}

/// The probability of a path formula: `P<=0.01 [ φ ]`, `Pmax=? [ φ ]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PathProbability {
    /// Over the environment's choices: `P`, `Pmin` or `Pmax`.
    pub quantifier: Quantifier,
    /// `<= p`, …, or none for `=?`.
    pub bound: Option<(CompareOp, Expr)>,
    /// The path formula.
    pub path: Expr,
}

/// Which of the environment's choices a probability speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `P`: every choice.
    Every,
    /// `Pmin`: the choice that makes the probability smallest.
    Min,
    /// `Pmax`: the choice that makes the probability largest.
    Max,
}

impl Quantifier {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Quantifier::Every => "P",
            Quantifier::Min => "Pmin",
            Quantifier::Max => "Pmax",
        }
    }
}
