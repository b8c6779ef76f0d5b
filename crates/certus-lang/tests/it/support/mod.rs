//! Random trees, and trees without positions.
#![allow(dead_code)]

use certus_lang::syntax::Span;
use certus_lang::syntax::ast::*;
use proptest::prelude::*;

/// The debug form of a tree with all positions removed: equal for equal trees.
pub fn without_spans(tree: &impl std::fmt::Debug) -> String {
    let full = format!("{tree:?}");
    let mut out = String::new();
    let mut rest = full.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('}').map_or(rest.len(), |e| at + e + 1);
        rest = &rest[end..];
    }
    out + rest
}

pub fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

pub fn ident(name: &str) -> Ident {
    Ident { name: name.to_owned(), span: Span::default() }
}

fn any_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "y", "omega", "act", "lat_grad", "Gx", "for", "holds", "net", "v2"])
        .prop_map(str::to_owned)
}

fn any_number() -> impl Strategy<Value = Expr> {
    prop::sample::select(vec!["0", "1", "0.50", "12.25", "1e-3", "2.5E+10", "007"])
        .prop_map(|text| expr_of(ExprKind::Number(text.parse().expect("a number"), text.to_owned())))
}

fn any_bound(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Option<Box<Bound>>> {
    prop::option::of(
        (prop::option::of(inner.clone()), inner, any::<bool>())
            .prop_map(|(lower, upper, seconds)| Box::new(Bound { lower, upper, seconds })),
    )
}

fn any_range(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Range> {
    (inner.clone(), inner).prop_map(|(low, high)| Range { low, high, span: Span::default() })
}

fn any_set(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Set> {
    let member = prop_oneof![
        inner.clone().prop_map(Member::One),
        (inner.clone(), inner).prop_map(|(from, to)| Member::Run(from, to)),
    ];
    prop::collection::vec(member, 0..4).prop_map(|members| Set { members, span: Span::default() })
}

fn any_values(inner: BoxedStrategy<Expr>) -> impl Strategy<Value = Values> {
    prop_oneof![
        any_range(inner.clone()).prop_map(Values::Range),
        any_set(inner).prop_map(Values::Set),
        prop::collection::vec(any_name().prop_map(|n| ident(&n)), 0..4).prop_map(Values::Labels),
    ]
}

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

/// Random expressions, most of them nonsense: the syntax does not care.
pub fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any_number(),
        any_name().prop_map(|n| expr_of(ExprKind::Name(n))),
        any::<bool>().prop_map(|b| expr_of(ExprKind::Bool(b))),
        Just(expr_of(ExprKind::Text("a \"b\" \\.onnx".into()))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let inner = inner.boxed();
        let e = || inner.clone();
        prop_oneof![
            prop::collection::vec(e(), 0..4).prop_map(|v| expr_of(ExprKind::Vector(v))),
            (any_name(), e(), e(), e()).prop_map(|(v, from, to, body)| {
                let comprehension = Comprehension { variable: ident(&v), from, to, body };
                expr_of(ExprKind::Comprehension(Box::new(comprehension)))
            }),
            (any_name(), prop::collection::vec(e(), 0..4))
                .prop_map(|(f, args)| expr_of(ExprKind::Call(ident(&f), args))),
            (e(), e()).prop_map(|(a, b)| expr_of(ExprKind::Index(boxed(a), boxed(b)))),
            (e(), prop::option::of(e()), prop::option::of(e()))
                .prop_map(|(a, b, c)| { expr_of(ExprKind::Slice(boxed(a), b.map(boxed), c.map(boxed))) }),
            (any_prefix(e()), e()).prop_map(|(op, a)| expr_of(ExprKind::Prefix(op, boxed(a)))),
            (any_chain_op(), e(), e()).prop_map(|(op, a, b)| Expr::chain(a, op, b)),
            (any_chain_op(), e(), any_chain_op(), e(), e()).prop_map(|(p, a, q, b, c)| Expr::chain(
                Expr::chain(a, p, b),
                q,
                c
            )),
            (any_infix(e()), e(), e()).prop_map(|(op, a, b)| expr_of(ExprKind::Infix(op, boxed(a), boxed(b)))),
            (any_compare(), e(), e()).prop_map(|(op, a, b)| expr_of(ExprKind::Compare(op, boxed(a), boxed(b)))),
            (e(), any_range(e())).prop_map(|(a, r)| expr_of(ExprKind::InRange(boxed(a), Box::new(r)))),
            (e(), any_set(e())).prop_map(|(a, s)| expr_of(ExprKind::InSet(boxed(a), Box::new(s)))),
            (e(), e(), e()).prop_map(|(a, b, c)| expr_of(ExprKind::If(boxed(a), boxed(b), boxed(c)))),
            (e(), prop::collection::vec((prop::collection::vec(any_name(), 0..3), e()), 0..3)).prop_map(|(a, arms)| {
                let arms = arms
                    .into_iter()
                    .map(|(labels, value)| Arm {
                        labels: labels.iter().map(|l| ident(l)).collect(),
                        value,
                        pattern_span: Span::default(),
                    })
                    .collect();
                expr_of(ExprKind::Match(boxed(a), arms))
            }),
        ]
    })
}

fn any_prefix(e: BoxedStrategy<Expr>) -> impl Strategy<Value = PrefixOp> {
    prop_oneof![
        Just(PrefixOp::Negate),
        Just(PrefixOp::Not),
        Just(PrefixOp::Next),
        any_bound(e.clone()).prop_map(PrefixOp::Globally),
        any_bound(e).prop_map(PrefixOp::Finally),
    ]
}

fn any_infix(e: BoxedStrategy<Expr>) -> impl Strategy<Value = InfixOp> {
    prop_oneof![
        Just(InfixOp::Iff),
        Just(InfixOp::Implies),
        Just(InfixOp::Power),
        any_bound(e.clone()).prop_map(InfixOp::Until),
        any_bound(e.clone()).prop_map(InfixOp::WeakUntil),
        any_bound(e).prop_map(InfixOp::Release),
    ]
}

fn any_chain_op() -> impl Strategy<Value = ChainOp> {
    use ChainOp::{Add, And, Div, Mul, Or, Sub};
    prop::sample::select(vec![Or, And, Add, Sub, Mul, Div])
}

pub fn any_compare() -> impl Strategy<Value = CompareOp> {
    use CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    prop::sample::select(vec![Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual])
}

/// Random declarations.
pub fn any_declaration() -> impl Strategy<Value = Declaration> {
    let e = || any_expr().boxed();
    let id = || any_name().prop_map(|n| ident(&n));
    let variable = || {
        (id(), prop::option::of(e()), prop::option::of(any_values(e())), any::<bool>()).prop_map(
            |(name, size, range, varying)| VariableDeclaration {
                name,
                size,
                range,
                varying: varying.then(Span::default),
                before: Vec::new(),
            },
        )
    };
    let input = || {
        (variable(), prop::collection::vec(id(), 0..3))
            .prop_map(|(variable, before)| VariableDeclaration { before, ..variable })
    };
    let update = || (id(), prop::option::of(e()), e()).prop_map(|(name, index, value)| Update { name, index, value });
    let kind = prop_oneof![
        id().prop_map(DeclarationKind::System),
        prop::collection::vec((id(), e()), 1..4).prop_map(DeclarationKind::Const),
        (id(), any_range(e()), e()).prop_map(|(name, range, value)| DeclarationKind::Param { name, range, value }),
        variable().prop_map(DeclarationKind::State),
        input().prop_map(DeclarationKind::Input),
        (id(), prop::collection::vec((id(), e()), 0..4))
            .prop_map(|(name, cases)| DeclarationKind::Chance { name, cases }),
        (id(), e()).prop_map(|(name, value)| DeclarationKind::Policy { name, value }),
        (id(), any::<bool>(), e(), prop::collection::vec(id(), 0..5)).prop_map(|(name, random, value, labels)| {
            DeclarationKind::Action {
                name,
                rule: if random { ActionRule::Softmax } else { ActionRule::Argmax },
                value,
                labels,
            }
        }),
        (id(), e()).prop_map(|(name, value)| DeclarationKind::Define { name, value }),
        e().prop_map(DeclarationKind::Init),
        e().prop_map(DeclarationKind::Assume),
        update().prop_map(DeclarationKind::Next),
        update().prop_map(DeclarationKind::Der),
        update().prop_map(DeclarationKind::After),
        (e(), prop::option::of(id())).prop_map(|(dt, method)| DeclarationKind::Step { dt, method }),
        e().prop_map(DeclarationKind::Reward),
        e().prop_map(DeclarationKind::Terminal),
        (id(), any_body(e()), prop::option::of(id()))
            .prop_map(|(name, body, expect)| DeclarationKind::Property(Property { name, body, expect })),
    ];
    kind.prop_map(|kind| Declaration { kind, span: Span::default(), doc: String::new() })
}

fn any_body(e: BoxedStrategy<Expr>) -> impl Strategy<Value = PropertyBody> {
    use CompareOp::{Greater, GreaterEqual, Less, LessEqual};
    let bound = (prop::sample::select(vec![Less, LessEqual, Greater, GreaterEqual]), e.clone());
    let quantifier = prop::sample::select(vec![Quantifier::Every, Quantifier::Min, Quantifier::Max]);
    prop_oneof![
        e.clone().prop_map(PropertyBody::Formula),
        (quantifier, prop::option::of(bound), e).prop_map(|(quantifier, bound, path)| {
            PropertyBody::Probability(PathProbability { quantifier, bound, path })
        }),
    ]
}

/// Networks by description: `linear_2x1` maps (a, b) to a + 2b; row i is shifted by i. Others do not exist.
pub struct Linear;

impl certus_lang::Networks for Linear {
    fn load(&mut self, path: &str) -> Result<std::sync::Arc<certus_graph::Graph>, String> {
        let missing = || "no such file".to_owned();
        let size = path.strip_prefix("linear_").ok_or_else(missing)?;
        let (columns, rows) = size.split_once('x').ok_or_else(missing)?;
        let columns: usize = columns.parse().map_err(|_| missing())?;
        let rows: usize = rows.parse().map_err(|_| missing())?;
        let weights = (0..rows * columns).map(|i| (i / columns + i % columns + 1) as f64).collect();
        let mut graph = certus_graph::Graph::new();
        let x = graph.input("x", &[1, columns]);
        let affine = certus_graph::ops::Affine::dense(weights, rows, columns, vec![0.0; rows])
            .and_then(|a| a.reshaped(vec![1, rows]))
            .map_err(|e| e.to_string())?;
        let y = graph.apply(affine, &[x]).map_err(|e| e.to_string())?;
        graph.output("y", y);
        Ok(std::sync::Arc::new(graph))
    }
}
