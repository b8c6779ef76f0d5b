//! Reading formulas.
//!
//! The syntax is the common one of Spot and SPIN. From loosest to tightest: `<->`, `->` (both to the right), `|`, `&`,
//! the binary temporal operators `U W R M` (`V` is `R`; to the right), and the unary ones `! X F G`. Also read are `&&`,
//! `||`, `/\`, `\/`, `~`, `=>`, `<=>`, `^` (as tight as `<->`), `[]`, `<>`, `true`, `false`, `1`, `0`. Bounds follow their
//! operator: `F[2,5]`, `G[0..9]`, `a U[1:4] b`, `F[3,]`; `X[4]` is four times `X`.
//!
//! A name is a word of letters, digits, `_`, `.` and `'`, or anything between double quotes. A word made of the letters
//! `F`, `G`, `X` alone is a row of operators (`GF a`); any longer word is a name (`GFa` is an atom, as `Goal` is).
//!
//! The parser descends recursively, so nesting is limited ([`DEPTH`]): a file cannot exhaust the stack.

use crate::formula::{Bounds, Formula, Formulas, Names};
use std::fmt;

/// How deep a formula may be nested as text.
pub const DEPTH: usize = 400;
/// The greatest `n` of `X[n]`.
const LONGEST_NEXT: u64 = 10_000;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte at which it was noticed.
    pub offset: usize,
    /// What was expected or is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ParseError {}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Symbol(&'static str),
    Word(String),
    Quoted(String),
    End,
}

const SYMBOLS: [(&str, &str); 27] = [
    ("<->", "<->"),
    ("<=>", "<->"),
    ("->", "->"),
    ("=>", "->"),
    ("..", ","),
    ("&&", "&"),
    ("||", "|"),
    ("/\\", "&"),
    ("\\/", "|"),
    ("[]", "G"),
    ("<>", "F"),
    ("!=", "^"),
    ("&", "&"),
    ("|", "|"),
    ("!", "!"),
    ("~", "!"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
    (":", ","),
    ("$", "$"),
    ("∧", "&"),
    ("∨", "|"),
    ("¬", "!"),
];

struct Parser<'a> {
    text: &'a str,
    at: usize,
    token: Token,
    start: usize,
    depth: usize,
    store: &'a mut Formulas,
    names: &'a mut Names,
}

/// Reads a formula. Names that are new are added to `names`.
pub fn parse(text: &str, store: &mut Formulas, names: &mut Names) -> Result<Formula, ParseError> {
    let mut parser = Parser { text, at: 0, token: Token::End, start: 0, depth: 0, store, names };
    parser.advance()?;
    let formula = parser.formula(0)?;
    match parser.token {
        Token::End => Ok(formula),
        _ => Err(parser.error("expected an operator or the end")),
    }
}

impl Parser<'_> {
    fn error(&self, message: &str) -> ParseError {
        ParseError { offset: self.start, message: message.to_string() }
    }

    fn advance(&mut self) -> Result<(), ParseError> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.start = self.at;
        let rest = &self.text[self.at..];
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
        let Some(first) = rest.chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        if first == '"' {
            let (mut name, mut escaped) = (String::new(), false);
            for (i, c) in rest.char_indices().skip(1) {
                match c {
                    '\\' if !escaped => escaped = true,
                    '"' if !escaped => {
                        self.at += i + 1;
                        self.token = Token::Quoted(name);
                        return Ok(());
                    }
                    _ => {
                        name.push(c);
                        escaped = false;
                    }
                }
            }
            return Err(self.error("this quotation mark is never closed"));
        }
        if word(first) {
            // A dot belongs to a name only between two characters of it, and not where a bound says `0..3`.
            let mut end = 0;
            let mut chars = rest.char_indices().peekable();
            while let Some((i, c)) = chars.next() {
                let dotted = c == '.' && !first.is_ascii_digit() && chars.peek().is_some_and(|(_, next)| word(*next));
                if !(word(c) || dotted) {
                    break;
                }
                end = i + c.len_utf8();
            }
            self.at += end;
            self.token = Token::Word(rest[..end].to_string());
            return Ok(());
        }
        match SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
            Some((text, symbol)) => {
                self.at += text.len();
                self.token = Token::Symbol(symbol);
                Ok(())
            }
            None => Err(self.error(&format!("unexpected '{first}'"))),
        }
    }

    /// The operator at hand where an operand has ended, with how tight it binds.
    fn operator(&self) -> Option<(&'static str, u8)> {
        match &self.token {
            Token::Symbol("<->") => Some(("<->", 1)),
            Token::Symbol("^") => Some(("^", 1)),
            Token::Symbol("->") => Some(("->", 2)),
            Token::Symbol("|") => Some(("|", 3)),
            Token::Symbol("&") => Some(("&", 4)),
            Token::Word(word) => match word.as_str() {
                "U" => Some(("U", 5)),
                "W" => Some(("W", 5)),
                "R" | "V" => Some(("R", 5)),
                "M" => Some(("M", 5)),
                "xor" => Some(("^", 1)),
                _ => None,
            },
            _ => None,
        }
    }

    fn formula(&mut self, tightness: u8) -> Result<Formula, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(&format!("nested more than {DEPTH} deep; give a part a name of its own")));
        }
        let mut left = self.unary()?;
        while let Some((operator, tight)) = self.operator().filter(|(_, tight)| *tight >= tightness) {
            self.advance()?;
            if operator == "&" || operator == "|" {
                let mut parts = vec![left, self.formula(tight + 1)?];
                while self.token == Token::Symbol(operator) {
                    self.advance()?;
                    parts.push(self.formula(tight + 1)?);
                }
                left = if operator == "&" { self.store.and(&parts) } else { self.store.or(&parts) };
                continue;
            }
            let bounds = if tight == 5 { self.bounds()? } else { Bounds::ALL };
            let right = self.formula(tight)?;
            left = match operator {
                "U" => self.store.until(bounds, left, right),
                "W" => self.store.weak_until(bounds, left, right),
                "R" => self.store.release(bounds, left, right),
                "M" => self.store.strong_release(bounds, left, right),
                "->" => self.store.implies(left, right),
                "<->" => self.store.iff(left, right),
                _ => {
                    let same = self.store.iff(left, right);
                    self.store.not(same)
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Formula, ParseError> {
        let mut operators: Vec<(char, Bounds, u64)> = Vec::new();
        let operand = loop {
            match &self.token {
                Token::Symbol("!") => {
                    self.advance()?;
                    operators.push(('!', Bounds::ALL, 1));
                }
                Token::Symbol(operator @ ("G" | "F")) => {
                    let operator = if *operator == "G" { 'G' } else { 'F' };
                    self.advance()?;
                    let bounds = self.bounds()?;
                    operators.push((operator, bounds, 1));
                }
                Token::Word(word) if word.chars().all(|c| matches!(c, 'F' | 'G' | 'X')) => {
                    let word = word.clone();
                    self.advance()?;
                    let row: Vec<char> = word.chars().collect();
                    for operator in &row[..row.len() - 1] {
                        operators.push((*operator, Bounds::ALL, 1));
                    }
                    match row[row.len() - 1] {
                        'X' => {
                            let times = self.times()?;
                            operators.push(('X', Bounds::ALL, times));
                        }
                        operator => {
                            let bounds = self.bounds()?;
                            operators.push((operator, bounds, 1));
                        }
                    }
                }
                Token::Symbol("(") => {
                    self.advance()?;
                    let inner = self.formula(0)?;
                    self.expect(")")?;
                    break inner;
                }
                Token::Quoted(name) => {
                    let atom = self.names.number(name);
                    self.advance()?;
                    break self.store.atom(atom);
                }
                Token::Word(word) => {
                    let formula = match word.as_str() {
                        "true" | "tt" | "1" => Formulas::TRUE,
                        "false" | "ff" | "0" => Formulas::FALSE,
                        "U" | "W" | "R" | "V" | "M" | "xor" => {
                            return Err(self.error(&format!("'{word}' needs a formula on its left")));
                        }
                        number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                            return Err(
                                self.error("a name does not begin with a digit; put it between quotation marks")
                            );
                        }
                        name => {
                            let atom = self.names.number(name);
                            self.store.atom(atom)
                        }
                    };
                    self.advance()?;
                    break formula;
                }
                Token::Symbol(symbol) => return Err(self.error(&format!("expected a formula, found '{symbol}'"))),
                Token::End => return Err(self.error("expected a formula, found the end")),
            }
        };
        let mut formula = operand;
        for (operator, bounds, times) in operators.into_iter().rev() {
            formula = match operator {
                '!' => self.store.not(formula),
                'F' => self.store.finally(bounds, formula),
                'G' => self.store.globally(bounds, formula),
                _ => (0..times).fold(formula, |inner, _| self.store.next(inner)),
            };
        }
        Ok(formula)
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), ParseError> {
        match self.token == Token::Symbol(symbol) {
            true => self.advance(),
            false => Err(self.error(&format!("expected '{symbol}'"))),
        }
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        let Token::Word(word) = &self.token else { return Err(self.error("expected a number of steps")) };
        let number = word.parse().map_err(|_| self.error("expected a number of steps"))?;
        self.advance()?;
        Ok(number)
    }

    fn times(&mut self) -> Result<u64, ParseError> {
        if self.token != Token::Symbol("[") {
            return Ok(1);
        }
        self.advance()?;
        let at = self.start;
        let times = self.number()?;
        self.expect("]")?;
        if times > LONGEST_NEXT {
            return Err(ParseError { offset: at, message: format!("more than {LONGEST_NEXT} steps") });
        }
        Ok(times)
    }

    fn bounds(&mut self) -> Result<Bounds, ParseError> {
        if self.token != Token::Symbol("[") {
            return Ok(Bounds::ALL);
        }
        self.advance()?;
        let at = self.start;
        let lower = self.number()?;
        self.expect(",")?;
        let upper = match self.token {
            Token::Symbol("]") => None,
            Token::Symbol("$") => {
                self.advance()?;
                None
            }
            _ => Some(self.number()?),
        };
        self.expect("]")?;
        if upper.is_some_and(|upper| upper < lower) {
            return Err(ParseError { offset: at, message: "these bounds contain no step".to_string() });
        }
        Ok(Bounds { lower, upper })
    }
}
