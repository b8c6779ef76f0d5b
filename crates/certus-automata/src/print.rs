//! Writing formulas.
//!
//! The text is what [`crate::parse`] reads back as the same formula, with as few parentheses as that allows except
//! between binary temporal operators, where associativity is easily forgotten. Pending pieces lie on an explicit stack,
//! so that depth costs no recursion. Names that other tools would read as operators are quoted.

use crate::formula::{Bounds, Formula, Formulas, Names, Node};

enum Piece {
    Text(&'static str),
    Owned(String),
    /// A formula where operators looser than the number need parentheses.
    Part(Formula, u8),
}

/// The formula as text.
pub fn print(store: &Formulas, formula: Formula, names: &Names) -> String {
    let (mut text, mut stack) = (String::new(), vec![Piece::Part(formula, 0)]);
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Owned(piece) => text.push_str(&piece),
            Piece::Part(part, tightness) => {
                let (own, mut pieces) = pieces(store, part, names);
                if own < tightness {
                    pieces.insert(0, Piece::Text("("));
                    pieces.push(Piece::Text(")"));
                }
                stack.extend(pieces.into_iter().rev());
            }
        }
    }
    text
}

fn bounds(bounds: Bounds) -> String {
    match (bounds.is_all(), bounds.upper) {
        (true, _) => String::new(),
        (false, Some(upper)) => format!("[{},{upper}]", bounds.lower),
        (false, None) => format!("[{},]", bounds.lower),
    }
}

fn pieces(store: &Formulas, part: Formula, names: &Names) -> (u8, Vec<Piece>) {
    use Piece::{Owned, Part, Text};
    let joined = |all: &[Formula], operator, tightness| {
        let mut pieces = Vec::with_capacity(2 * all.len());
        for (i, part) in all.iter().enumerate() {
            if i > 0 {
                pieces.push(Text(operator));
            }
            pieces.push(Part(*part, tightness));
        }
        pieces
    };
    let temporal = |a: Formula, operator: &str, b: Bounds, c| {
        vec![Part(a, 6), Owned(format!(" {operator}{} ", bounds(b))), Part(c, 6)]
    };
    match store.node(part) {
        Node::True => (7, vec![Text("true")]),
        Node::False => (7, vec![Text("false")]),
        Node::Atom(atom) => (7, vec![Owned(quoted(&names.name(*atom)))]),
        Node::Not(a) => (6, vec![Text("!"), Part(*a, 6)]),
        Node::Next(a) => (6, vec![Text("X "), Part(*a, 6)]),
        Node::Finally(b, a) => (6, vec![Owned(format!("F{} ", bounds(*b))), Part(*a, 6)]),
        Node::Globally(b, a) => (6, vec![Owned(format!("G{} ", bounds(*b))), Part(*a, 6)]),
        Node::And(all) => (4, joined(all, " & ", 5)),
        Node::Or(all) => (3, joined(all, " | ", 4)),
        Node::Implies(a, b) => (2, vec![Part(*a, 3), Text(" -> "), Part(*b, 2)]),
        Node::Iff(a, b) => (1, vec![Part(*a, 2), Text(" <-> "), Part(*b, 2)]),
        Node::Until(bounds, a, b) => (5, temporal(*a, "U", *bounds, *b)),
        Node::WeakUntil(bounds, a, b) => (5, temporal(*a, "W", *bounds, *b)),
        Node::Release(bounds, a, b) => (5, temporal(*a, "R", *bounds, *b)),
        Node::StrongRelease(bounds, a, b) => (5, temporal(*a, "M", *bounds, *b)),
    }
}

/// A name as [`crate::parse`] and other tools read it back: between quotation marks where it must be.
pub fn quoted(name: &str) -> String {
    let reserved = matches!(name, "U" | "W" | "R" | "V" | "M" | "xor" | "true" | "false" | "tt" | "ff");
    let plain = name.starts_with(|c: char| (c.is_ascii_alphabetic() && !"FGX".contains(c)) || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !reserved {
        return name.to_string();
    }
    let mut text = String::from("\"");
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::print;
    use crate::formula::{Formulas, Names};
    use crate::parse::parse;

    fn round(text: &str) -> String {
        let (mut store, mut names) = (Formulas::new(), Names::default());
        let formula = parse(text, &mut store, &mut names).unwrap();
        let printed = print(&store, formula, &names);
        assert_eq!(parse(&printed, &mut store, &mut names), Ok(formula), "{printed}");
        printed
    }

    fn wrong(text: &str) -> String {
        parse(text, &mut Formulas::new(), &mut Names::default()).unwrap_err().to_string()
    }

    #[test]
    fn precedence() {
        assert_eq!(round("a U b U c & d | e -> f -> g <-> h"), "a U (b U c) & d | e -> f -> g <-> h");
        assert_eq!(round("[]<>a && <>[]!b"), "G F a & F G !b");
        assert_eq!(round("GFX(a | b)"), "G F X (a | b)");
        assert_eq!(round("(a -> b) -> c"), "(a -> b) -> c");
        assert_eq!(round("G[0..3]F[2:]a R[1,2] Goal"), "G[0,3] F[2,] a R[1,2] \"Goal\"");
        assert_eq!(round("X[3] !\"x \\\" > 0\""), "X X X !\"x \\\" > 0\"");
        assert_eq!(round("(a W b) M (c xor d)"), "(a W b) M !(c <-> d)");
        assert_eq!(round("s.t' & 1"), "\"s.t'\"");
    }

    #[test]
    fn errors_have_places() {
        assert_eq!(wrong("a U"), "at 3: expected a formula, found the end");
        assert_eq!(wrong("a b"), "at 2: expected an operator or the end");
        assert_eq!(wrong("(a"), "at 2: expected ')'");
        assert_eq!(wrong("F[3,2] a"), "at 2: these bounds contain no step");
        assert_eq!(wrong("a & U b"), "at 4: 'U' needs a formula on its left");
        assert_eq!(wrong("a % b"), "at 2: unexpected '%'");
        assert_eq!(wrong("\"a"), "at 0: this quotation mark is never closed");
        assert!(wrong(&"(".repeat(100_000)).contains("nested more than"));
        assert!(wrong(&"a -> ".repeat(100_000)).contains("nested more than"));
    }
}
