//! Printing and reading are inverse to each other, and comments survive.

use crate::support::{any_declaration, any_expr, without_spans};
use certus_lang::diagnostics::{Report, Source};
use certus_lang::syntax::ast::File;
use certus_lang::syntax::parser::{parse_expression, parse_file};
use certus_lang::syntax::printer::{print_expression, print_file};
use certus_lang::syntax::{Keyword, TokenKind, lex};
use proptest::prelude::*;

fn parsed(text: &str) -> File {
    let mut report = Report::new();
    let file = parse_file(text, &mut report);
    assert!(!report.has_errors(), "{}\n{text}", report.finish(&Source::new("t", text)));
    file
}

fn formatted(text: &str) -> String {
    certus_lang::format(&Source::new("t", text)).unwrap_or_else(|d| panic!("{d}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_are_read_back(expr in any_expr()) {
        let text = print_expression(&expr);
        let mut report = Report::new();
        let again = parse_expression(&text, &mut report);
        prop_assert!(again.is_some(), "{}\n{}", text, report.finish(&Source::new("t", text.as_str())));
        prop_assert_eq!(without_spans(&again.unwrap()), without_spans(&expr), "{}", text);
    }

    #[test]
    fn files_are_read_back(declarations in prop::collection::vec(any_declaration(), 0..4)) {
        let file = File { declarations, comments: Vec::new() };
        let text = print_file(&file, None);
        prop_assert!(text.lines().all(|l| l.trim_end() == l), "trailing blanks:\n{}", text);
        let again = parsed(&text);
        prop_assert_eq!(without_spans(&again), without_spans(&file), "{}", text);
        prop_assert_eq!(formatted(&text), text);
    }

    /// A comment at any place where a line may break survives, and changes nothing else.
    #[test]
    fn comments_survive(
        declarations in prop::collection::vec(any_declaration(), 1..3),
        places in prop::collection::vec(0..1000usize, 1..6),
    ) {
        let file = File { declarations, comments: Vec::new() };
        let plain = print_file(&file, None);
        let commented = insert_comments(&plain, &places);
        let once = formatted(&commented);
        let strip = |f: &File| without_spans(&f.declarations);
        prop_assert_eq!(strip(&parsed(&once)), strip(&parsed(&plain)), "{}\n-->\n{}", commented, once);
        for i in 0..places.len() {
            let mark = format!("// c{i}!");
            prop_assert_eq!(once.matches(&mark).count(), commented.matches(&mark).count(), "{}\n-->\n{}", commented, once);
        }
        prop_assert_eq!(formatted(&once), once.clone(), "not stable");
    }
}

/// Puts comments behind tokens after which a line break cannot end a declaration.
fn insert_comments(text: &str, places: &[usize]) -> String {
    let mut report = Report::new();
    let tokens = lex(text, &mut report).tokens;
    let mut gaps: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Symbol(s) if "([{".contains(s.text()) => depth += 1,
            TokenKind::Symbol(s) if ")]}".contains(s.text()) => depth -= 1,
            _ => {}
        }
        let ends_line = tokens.get(i + 1).is_none_or(|t| t.starts_line);
        // A unit stands right behind its number.
        if tokens.get(i + 1).is_some_and(|t| t.span.start == token.span.end && t.kind == TokenKind::Name("s".into())) {
            continue;
        }
        let open = match &token.kind {
            TokenKind::Symbol(s) => !")]}".contains(s.text()),
            TokenKind::Keyword(k) => matches!(k, Keyword::If | Keyword::Then | Keyword::Else),
            _ => false,
        };
        if depth > 0 || open || ends_line {
            gaps.push(token.span.end);
        }
    }
    let mut chosen: Vec<(usize, usize)> = places.iter().enumerate().map(|(i, p)| (gaps[p % gaps.len()], i)).collect();
    chosen.sort_unstable();
    let mut out = String::new();
    let mut from = 0;
    for (at, i) in chosen {
        out.push_str(&text[from..at]);
        out.push_str(&format!(" // c{i}!\n"));
        from = at;
    }
    out + &text[from..]
}

#[test]
fn canonical_layout() {
    let source = "\
// A file.


system   toy ;const a=1,b =2
/// The first.
state v1 in [ -1 ,1 ]   // here



define long = ((v1 + 1) * (v1 - 1)) ^ 2 > 0 & (v1 >= 3 | !(v1 < 1)) & v1*v1 <= 1000 & v1 in [0,1] & v1 != 0.123456789 | true & false
next v1 = match act { wait : v1, // stays
  hit|kick: v1 + 1 }
property p = G (v1 < 10) & ((F<=3 (v1 > 0)) U (v1 == 1)) expect   holds
property q = P>=(1-0.5) [F[0,3] (v1<0)]
// The end.
";
    let expected = "\
// A file.

system toy
const a = 1, b = 2
/// The first.
state v1 in [-1, 1]  // here

define long = ((v1 + 1) * (v1 - 1))^2 > 0 & (v1 >= 3 | !(v1 < 1)) & v1 * v1 <= 1000 & v1 in [0, 1] & v1 != 0.123456789
    | true & false
next v1 = match act {
    wait: v1,  // stays
    hit | kick: v1 + 1,
}
property p = G v1 < 10 & (F<=3 v1 > 0 U v1 == 1) expect holds
property q = P>=(1 - 0.5) [ F[0, 3] v1 < 0 ]
// The end.
";
    assert_eq!(formatted(source), expected);
}

#[test]
fn documentation_is_attached() {
    let file = parsed("system a\n// not this\n/// First.\n///   Second.\nstate x\n/// Apart.\n\nstate y\n");
    let docs: Vec<&str> = file.declarations.iter().map(|d| d.doc.as_str()).collect();
    assert_eq!(docs, ["", "First.\nSecond.", ""]);
}

#[test]
fn hostile_nesting_is_an_error() {
    let deep = 100_000;
    let cases = [
        "(".repeat(deep),
        "[".repeat(deep),
        "!".repeat(deep),
        "-".repeat(deep),
        "f(".repeat(deep),
        "G ".repeat(deep),
        "if ".repeat(deep),
        "match ".repeat(deep),
        "a^".repeat(deep),
        "a -> ".repeat(deep),
        format!("a{}", "[0]".repeat(deep)),
        "[for i in ".repeat(deep),
    ];
    for case in cases {
        let mut report = Report::new();
        parse_file(&format!("define x = {case}"), &mut report);
        assert!(report.has_errors(), "{}", &case[..20]);
    }
    // A long sum is not a deep tree.
    let file = parsed(&format!("define x = {}1", "a + ".repeat(deep)));
    assert_eq!(file.declarations.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-zGFUX0-9 ()\\[\\]{}<>=&|!.,:;/\"\n^*+~?_é-]{0,80}") {
        let mut report = Report::new();
        parse_file(&text, &mut report);
        let _ = report.finish(&Source::new("t", text.as_str())).render(false);
    }

    #[test]
    fn no_word_salad_makes_the_parser_panic(words in prop::collection::vec(prop::sample::select(vec![
        "system", "state", "next", "init", "property", "x", "[", "]", "(", ")", "{", "}", "if", "then",
        "else", "match", "in", "of", "..", ":", ",", "G", "F<=", "U", "P", "=?", "=", "1.5", "\n", "//\n", "for",
    ]), 0..40)) {
        let mut report = Report::new();
        parse_file(&words.join(" "), &mut report);
    }
}
