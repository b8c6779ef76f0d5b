//! The reader as a user sees it: whole texts and files, random formulas printed and read back, hostile text.

use std::io::Write;
use std::path::{Path, PathBuf};

use certus_graph::Interval;
use certus_solver::formula::Formula;
use certus_solver::vnnlib::{Case, Specification, Variable, VnnLibError, parse, read};
use proptest::prelude::*;

const INPUTS: usize = 3;
const OUTPUTS: usize = 2;

/// A formula to print and to evaluate by itself. Its numbers are small multiples of 1/4: doubles never round there.
#[derive(Clone, Debug)]
enum Sentence {
    Truth(bool),
    Compare(&'static str, Vec<Term>),
    Not(Box<Sentence>),
    And(Vec<Sentence>),
    Or(Vec<Sentence>),
    Implies(Vec<Sentence>),
}

#[derive(Clone, Debug)]
enum Term {
    Number(f64),
    Variable(usize),
    Sum(Vec<Term>),
    Difference(Vec<Term>),
    Scaled(f64, Box<Term>),
    Halved(Box<Term>),
}

impl Term {
    fn print(&self) -> String {
        let join = |terms: &[Term]| terms.iter().map(Term::print).collect::<Vec<_>>().join(" ");
        match self {
            Term::Number(value) if *value < -1.0 => format!("(- {})", -value),
            Term::Number(value) => format!("{value:e}"),
            Term::Variable(index) if *index < INPUTS => format!("X_{index}"),
            Term::Variable(index) => format!("Y_{}", index - INPUTS),
            Term::Sum(terms) => format!("(+ {})", join(terms)),
            Term::Difference(terms) => format!("(- {})", join(terms)),
            Term::Scaled(factor, term) if *factor < 0.0 => format!("(* {} {factor:?})", term.print()),
            Term::Scaled(factor, term) => format!("(* {factor} {})", term.print()),
            Term::Halved(term) => format!("(/ {} 2.0)", term.print()),
        }
    }

    fn value(&self, point: &[f64]) -> f64 {
        match self {
            Term::Number(value) => *value,
            Term::Variable(index) => point[*index],
            Term::Sum(terms) => terms.iter().map(|term| term.value(point)).sum(),
            Term::Difference(terms) if terms.len() == 1 => -terms[0].value(point),
            Term::Difference(terms) => {
                terms[0].value(point) - terms[1..].iter().map(|term| term.value(point)).sum::<f64>()
            }
            Term::Scaled(factor, term) => factor * term.value(point),
            Term::Halved(term) => term.value(point) / 2.0,
        }
    }
}

impl Sentence {
    fn print(&self) -> String {
        let list = |head: &str, parts: &[Sentence]| {
            let parts: Vec<_> = parts.iter().map(Sentence::print).collect();
            format!("({head} {})", parts.join("\n ; comment ) (\n "))
        };
        match self {
            Sentence::Truth(value) => value.to_string(),
            Sentence::Compare(operator, terms) => {
                format!("({operator} {})", terms.iter().map(Term::print).collect::<Vec<_>>().join(" "))
            }
            Sentence::Not(inner) => format!("(not {})", inner.print()),
            Sentence::And(parts) => list("and", parts),
            Sentence::Or(parts) => list("or", parts),
            Sentence::Implies(parts) => list("=>", parts),
        }
    }

    fn holds(&self, point: &[f64]) -> bool {
        match self {
            Sentence::Truth(value) => *value,
            Sentence::Compare(operator, terms) => {
                let values: Vec<f64> = terms.iter().map(|term| term.value(point)).collect();
                values.windows(2).all(|pair| match *operator {
                    "<=" => pair[0] <= pair[1],
                    ">=" => pair[0] >= pair[1],
                    "<" => pair[0] < pair[1],
                    ">" => pair[0] > pair[1],
                    _ => pair[0] == pair[1],
                })
            }
            Sentence::Not(inner) => !inner.holds(point),
            Sentence::And(parts) => parts.iter().all(|part| part.holds(point)),
            Sentence::Or(parts) => parts.iter().any(|part| part.holds(point)),
            Sentence::Implies(parts) => {
                let (conclusion, premises) = parts.split_last().unwrap();
                conclusion.holds(point) || !premises.iter().all(|part| part.holds(point))
            }
        }
    }
}

fn quarter() -> impl Strategy<Value = f64> {
    (-8i32..=8).prop_map(|quarters| f64::from(quarters) / 4.0)
}

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![quarter().prop_map(Term::Number), (0..INPUTS + OUTPUTS).prop_map(Term::Variable)];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Term::Sum),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Term::Difference),
            (quarter(), inner.clone()).prop_map(|(factor, term)| Term::Scaled(factor, Box::new(term))),
            inner.prop_map(|term| Term::Halved(Box::new(term))),
        ]
    })
}

fn sentence() -> impl Strategy<Value = Sentence> {
    let operator = prop::sample::select(vec!["<=", ">=", "<", ">", "="]);
    let bound = (operator.clone(), 0..INPUTS, quarter()).prop_map(|(operator, input, value)| {
        Sentence::Compare(operator, vec![Term::Variable(input), Term::Number(value)])
    });
    let leaf = prop_oneof![
        4 => bound,
        4 => (operator, prop::collection::vec(term(), 2..4)).prop_map(|(o, terms)| Sentence::Compare(o, terms)),
        1 => any::<bool>().prop_map(Sentence::Truth),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let parts = |least| prop::collection::vec(inner.clone(), least..4);
        prop_oneof![
            2 => parts(1).prop_map(Sentence::And),
            2 => parts(1).prop_map(Sentence::Or),
            1 => parts(2).prop_map(Sentence::Implies),
            1 => inner.clone().prop_map(|inner| Sentence::Not(Box::new(inner))),
        ]
    })
}

fn points() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(quarter(), INPUTS + OUTPUTS), 1..60)
}

fn declarations() -> String {
    let names = (0..INPUTS).map(|i| format!("X_{i}")).chain((0..OUTPUTS).map(|i| format!("Y_{i}")));
    names.map(|name| format!("(declare-const {name} Real)\n")).collect()
}

fn value_at(point: &[f64]) -> impl Fn(&Variable) -> Interval + '_ {
    |variable| match variable {
        Variable::Input(index) => Interval::point(point[*index]),
        Variable::Output(index) => Interval::point(point[INPUTS + index]),
    }
}

fn within(point: &[f64], lower: &[f64], upper: &[f64]) -> bool {
    (0..lower.len()).all(|input| lower[input] <= point[input] && point[input] <= upper[input])
}

proptest! {
    #[test]
    fn printed_formulas_are_read_back(sentences in prop::collection::vec(sentence(), 0..3), points in points()) {
        let assertions: String = sentences.iter().map(|part| format!("(assert {})\n", part.print())).collect();
        let specification = parse(&(declarations() + &assertions)).unwrap();
        prop_assert_eq!((specification.inputs, specification.outputs), (INPUTS, OUTPUTS));
        for point in &points {
            let expected = sentences.iter().all(|part| part.holds(point));
            let actual = specification.assertion.certainty(&value_at(point));
            prop_assert_eq!(actual, Some(expected), "{:?} {}", point, assertions);
        }
    }

    /// At doubles, and with bounds that are doubles, cases say exactly what the assertion says.
    #[test]
    fn cases_agree_with_the_assertion(sentences in prop::collection::vec(sentence(), 1..4), points in points()) {
        let assertions: String = sentences.iter().map(|part| format!("(assert {})\n", part.print())).collect();
        let cases = match parse(&(declarations() + &assertions)).unwrap().cases(3000) {
            Ok(cases) => cases,
            Err(error) => return Err(TestCaseError::reject(error.to_string())),
        };
        for (index, case) in cases.iter().enumerate() {
            let same_box = |other: &Case| Case { formula: case.formula.clone(), ..other.clone() } == *case;
            prop_assert!(!cases[..index].iter().any(same_box), "two cases with the same box: {}", assertions);
        }
        for point in &points {
            let expected = sentences.iter().all(|part| part.holds(point));
            let outer = |case: &&Case| within(point, &case.lower, &case.upper);
            let inner = |case: &&Case| within(point, &case.inner_lower, &case.inner_upper);
            let formula = |case: &Case| case.formula.certainty(&value_at(point)) == Some(true);
            prop_assert_eq!(cases.iter().filter(outer).any(formula), expected, "{:?} {}", point, assertions);
            prop_assert_eq!(cases.iter().filter(inner).any(formula), expected, "{:?} {}", point, assertions);
        }
    }

    /// The decimals as written decide, not their roundings.
    #[test]
    fn boxes_enclose_decimals(digits in "-?[0-9]{1,3}\\.[0-9]{1,25}(e-?[0-9]{1,2})?") {
        let text = format!("{}(assert (<= X_0 {digits}))(assert (>= X_1 {digits}))", declarations());
        let case = parse(&text).unwrap().cases(1).unwrap().remove(0);
        let nearest: f64 = digits.parse().unwrap();
        prop_assert_eq!((case.upper[0], case.inner_upper[0]), (case.inner_lower[1], case.lower[1]));
        prop_assert!(case.upper[0] == nearest || case.inner_upper[0] == nearest);
        prop_assert!(case.upper[0] == case.inner_upper[0] || case.upper[0] == case.inner_upper[0].next_up());
    }

    #[test]
    fn no_text_panics(text in "[()XY_0-9 ;|\"\\-+*/<>=aendort.\n]{0,200}", any: String) {
        let _ = parse(&text);
        let _ = parse(&any);
        let _ = parse(&format!("{}(assert {text})", declarations()));
    }

    #[test]
    fn no_damage_panics(sentence in sentence(), cut in 0usize..4000, insert in prop::sample::select(vec!["(", ")", "nan", " "])) {
        let text = declarations() + &format!("(assert {})\n", sentence.print());
        let cut = cut % text.len();
        let _ = parse(&text[..cut]);
        let _ = parse(&format!("{}{insert}{}", &text[..cut], &text[cut..]));
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vnnlib").join(name)
}

#[track_caller]
fn check_two_boxes(specification: &Specification) {
    assert_eq!((specification.inputs, specification.outputs), (3, 3));
    let cases = specification.cases(10).unwrap();
    assert_eq!(cases.len(), 2);
    assert_eq!((cases[0].lower[0], cases[0].upper[1]), (-0.125, 0.5));
    assert!(cases[1].upper[1] < 0.0);
    for case in &cases {
        assert!(matches!(&case.formula, Formula::Or(parts) if parts.len() == 2));
    }
}

#[test]
fn a_file_with_two_boxes() {
    check_two_boxes(&read(&data("two_boxes.vnnlib")).unwrap());
}

#[test]
fn a_compressed_file() {
    let plain = std::fs::read(data("two_boxes.vnnlib")).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two_boxes.vnnlib.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&plain).unwrap();
    let compressed = encoder.finish().unwrap();
    std::fs::write(&path, &compressed).unwrap();
    check_two_boxes(&read(&path).unwrap());
    let damaged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damaged.vnnlib.gz");
    std::fs::write(&damaged, &compressed[..compressed.len() / 2]).unwrap();
    assert!(matches!(read(&damaged), Err(VnnLibError::Read { .. })));
}

#[test]
fn a_file_with_other_spellings() {
    let specification = read(&data("local_robustness.vnnlib")).unwrap();
    assert_eq!((specification.inputs, specification.outputs), (2, 2));
    let case = specification.cases(1).unwrap().remove(0);
    let third = 1.0f64 / 3.0; // below the real third
    assert_eq!((case.lower[0], case.inner_lower[0]), (third, third.next_up()));
    assert_eq!((case.inner_upper[0], case.upper[0]), (2.0 / 3.0, (2.0f64 / 3.0).next_up()));
    // The decimal 0.3 lies above the double nearest to it.
    assert_eq!((case.lower[1], case.upper[1]), ((-0.3f64).next_down(), -0.3));
    assert!(case.inner_lower[1] > case.inner_upper[1]);
    let Formula::Atom(atom) = &case.formula else { panic!("one comparison is left") };
    assert!(!atom.strict);
}

#[test]
fn files_that_cannot_be_read() {
    let error = read(Path::new("no such file.vnnlib")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read no such file.vnnlib: "), "{error}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latin1.vnnlib");
    std::fs::write(&path, b"; a\n; caf\xe9\n").unwrap();
    assert_eq!(read(&path).unwrap_err().to_string(), "line 2, column 6: the text is not UTF-8");
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(parse(text).unwrap_err().to_string(), expected);
}

#[test]
fn scripts_that_are_refused() {
    refused("assert", "line 1, column 1: expected a command in parentheses, found `assert`");
    refused(")", "line 1, column 1: expected a command in parentheses, found `)`");
    refused("(check-sat", "line 1, column 1: this parenthesis is not closed");
    refused("\n é (assert (<= 0 1)", "line 2, column 2: expected a command in parentheses, found `é`");
    refused("; ü\n(assert (<= 0 1)", "line 2, column 1: this parenthesis is not closed");
    refused("(push 1)", "line 1, column 2: unknown command `push`");
    refused("(assert)", "line 1, column 1: `assert` needs a formula");
    refused("(declare-const x Real)", "line 1, column 16: `x` is no name of the form X_0 or Y_0");
    refused("(declare-const X_00 Real)", "line 1, column 16: `X_00` is no name of the form X_0 or Y_0");
    refused("(declare-const X_+1 Real)", "line 1, column 16: `X_+1` is no name of the form X_0 or Y_0");
    refused("(declare-const X_0 Int)", "line 1, column 20: the sort must be `Real`, found `Int`");
    refused("(declare-const X_0)", "line 1, column 1: `declare-const` needs a name and the sort `Real`");
    refused("(declare-const X_0 Real Real)", "line 1, column 25: expected `)`, found `Real`");
    refused("(declare-fun X_0 (Real) Real)", "line 1, column 18: a declared function must have no parameters, `()`");
    refused("(declare-const X_0 Real)\n(declare-const X_0 Real)", "line 2, column 16: `X_0` is declared twice");
    refused(
        "(declare-const X_0 Real)\n(declare-const X_3 Real)\n(declare-const X_2 Real)",
        "line 3, column 16: `X_2` is declared but `X_1` is not",
    );
    refused("(declare-const Y_7 Real)", "line 1, column 16: `Y_7` is declared but `Y_0` is not");
    refused("(set-info :a \"b)", "line 1, column 14: the `\"` is not closed");
}

#[test]
fn long_names_are_shortened_in_messages() {
    let error = parse(&format!("({})", "a\u{7}".repeat(1000))).unwrap_err().to_string();
    assert!(error.len() < 200 && error.contains("a\\u{7}a") && error.ends_with("…`"), "{error}");
}

#[test]
fn order_of_declarations_does_not_matter() {
    let text = "(declare-const X_1 Real)(declare-const Y_0 Real)(declare-const X_0 Real)";
    let specification = parse(text).unwrap();
    assert_eq!((specification.inputs, specification.outputs), (2, 1));
}
