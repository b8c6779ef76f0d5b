//! From text to a program.

use std::collections::HashMap;

use super::expression::{Expression, Value};

/// A constant: its type as written, and its value if it has one.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) value: Option<Expression>,
}

/// A variable: its range (none for Booleans), and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) range: Option<(Expression, Expression)>,
    pub(super) init: Option<Expression>,
}

/// What happens with some probability: assignments.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub(super) lower: Expression,
    pub(super) upper: Expression,
    pub(super) assignments: Vec<(String, Expression)>,
}

/// A guarded command.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) action: String,
    pub(super) guard: Expression,
    pub(super) updates: Vec<Update>,
    pub(super) line: usize,
}

/// A module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    pub(super) commands: Vec<Command>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// Whether it is a Markov chain, in which the commands that are enabled are equally likely.
    pub(super) uniform: bool,
    pub(super) constants: Vec<Constant>,
    pub(super) formulas: HashMap<String, Expression>,
    pub(super) labels: Vec<(String, Expression)>,
    pub(super) variables: Vec<Variable>,
    pub(super) modules: Vec<Module>,
    pub(super) init: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Number(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 27] = [
    "<=>", "->", "..", "<=", ">=", "!=", "=>", "(", ")", "[", "]", "{", "}", ";", ":", ",", "+", "-", "*", "/", "=",
    "<", ">", "!", "&", "|", "?",
];

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, String> {
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let mut found = Vec::new();
    while at < bytes.len() {
        let c = bytes[at];
        if c == b'\n' {
            line += 1;
            at += 1;
        } else if c.is_ascii_whitespace() {
            at += 1;
        } else if bytes[at..].starts_with(b"//") {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
        } else if c.is_ascii_alphabetic() || c == b'_' {
            let start = at;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            let mut name = text[start..at].to_owned();
            if at < bytes.len() && bytes[at] == b'\'' {
                name.push('\'');
                at += 1;
            }
            found.push((Token::Name(name), line));
        } else if c.is_ascii_digit() || (c == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
            let start = at;
            while at < bytes.len() {
                let here = bytes[at];
                let sign = (here == b'+' || here == b'-') && matches!(bytes[at - 1], b'e' | b'E');
                // Two points are a range, not a number.
                let point = here == b'.' && bytes.get(at + 1) != Some(&b'.');
                if !(here.is_ascii_digit() || point || sign && at > start || matches!(here, b'e' | b'E')) {
                    break;
                }
                at += 1;
            }
            found.push((Token::Number(text[start..at].to_owned()), line));
        } else if c == b'"' {
            let end =
                bytes[at + 1..].iter().position(|&c| c == b'"').ok_or(format!("line {line}: a text without end"))?;
            found.push((Token::Text(text[at + 1..at + 1 + end].to_owned()), line));
            at += end + 2;
        } else {
            let sign = SIGNS.iter().find(|sign| bytes[at..].starts_with(sign.as_bytes()));
            let sign = sign.ok_or_else(|| format!("line {line}: unexpected character '{}'", char::from(c)))?;
            found.push((Token::Sign(sign), line));
            at += sign.len();
        }
    }
    Ok(found)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

/// Expressions nest no deeper than this.
const DEEPEST: usize = 200;

/// Operators from the loosest to the tightest.
const LEVELS: [&[&str]; 6] = [&["<=>"], &["=>"], &["|"], &["&"], &["=", "!=", "<", "<=", ">", ">="], &["+", "-"]];

impl Parser {
    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn wrong<T>(&self, message: impl AsRef<str>) -> Result<T, String> {
        Err(format!("line {}: {}", self.line(), message.as_ref()))
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(own)) if *own == sign);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(own)) if own == word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { self.wrong(format!("expected '{sign}'")) }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.wrong("expected a name"),
        }
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, String> {
        let condition = self.level(0, depth)?;
        if self.take("?") {
            let yes = self.expression(depth + 1)?;
            self.expect(":")?;
            let no = self.expression(depth + 1)?;
            return Ok(Expression::Choose(Box::new(condition), Box::new(yes), Box::new(no)));
        }
        Ok(condition)
    }

    fn level(&mut self, level: usize, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return self.wrong("an expression is nested too deeply");
        }
        let operators: &[&'static str] = LEVELS.get(level).copied().unwrap_or(&["*", "/"]);
        // A negation binds tighter than & and looser than comparisons.
        if level == 4 && self.take("!") {
            return Ok(Expression::Not(Box::new(self.level(4, depth + 1)?)));
        }
        let next = |parser: &mut Parser| match level {
            6 => parser.unary(depth),
            _ => parser.level(level + 1, depth),
        };
        let mut left = next(self)?;
        'more: loop {
            for &operator in operators {
                if self.take(operator) {
                    left = Expression::Binary(operator, Box::new(left), Box::new(next(self)?));
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return self.wrong("an expression is nested too deeply");
        }
        if self.take("-") {
            return Ok(Expression::Minus(Box::new(self.unary(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.expression(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek().cloned() {
            Some(Token::Number(text)) => {
                self.at += 1;
                let value = match text.parse::<i64>() {
                    Ok(value) => Value::Int(value),
                    Err(_) => Value::Real(text.parse().or_else(|_| self.wrong(format!("'{text}' is no number")))?),
                };
                Ok(Expression::Literal(value))
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                match name.as_str() {
                    "true" => Ok(Expression::Literal(Value::Bool(true))),
                    "false" => Ok(Expression::Literal(Value::Bool(false))),
                    _ if self.take("(") => {
                        let mut arguments = vec![self.expression(depth + 1)?];
                        while self.take(",") {
                            arguments.push(self.expression(depth + 1)?);
                        }
                        self.expect(")")?;
                        Ok(Expression::Call(name, arguments))
                    }
                    _ => Ok(Expression::Name(name)),
                }
            }
            _ => self.wrong("expected an expression"),
        }
    }

    fn variable(&mut self, name: String) -> Result<Variable, String> {
        self.expect(":")?;
        let range = if self.word("bool") {
            None
        } else {
            self.expect("[")?;
            let low = self.expression(0)?;
            self.expect("..")?;
            let high = self.expression(0)?;
            self.expect("]")?;
            Some((low, high))
        };
        let init = if self.word("init") { Some(self.expression(0)?) } else { None };
        self.expect(";")?;
        Ok(Variable { name, range, init })
    }

    fn update(&mut self) -> Result<Update, String> {
        let one = Expression::Literal(Value::Int(1));
        // An update without a probability begins with a primed name, or is `true`.
        let start = self.at;
        let bare = match (self.peek(), self.tokens.get(self.at + 1).map(|(token, _)| token)) {
            (Some(Token::Sign("(")), Some(Token::Name(name))) => name.ends_with('\''),
            (Some(Token::Name(name)), next) => name == "true" && next != Some(&Token::Sign(":")),
            _ => false,
        };
        let (lower, upper) = if bare {
            self.at = start;
            (one.clone(), one)
        } else if self.take("[") {
            let low = self.expression(0)?;
            self.expect(",")?;
            let high = self.expression(0)?;
            self.expect("]")?;
            self.expect(":")?;
            (low, high)
        } else {
            let own = self.expression(0)?;
            self.expect(":")?;
            (own.clone(), own)
        };
        let mut assignments = Vec::new();
        if !self.word("true") {
            loop {
                self.expect("(")?;
                let name = self.name()?;
                let Some(name) = name.strip_suffix('\'') else {
                    return self.wrong("expected a primed variable, as s'");
                };
                let name = name.to_owned();
                self.expect("=")?;
                assignments.push((name, self.expression(0)?));
                self.expect(")")?;
                if !self.take("&") {
                    break;
                }
            }
        }
        Ok(Update { lower, upper, assignments })
    }

    fn command(&mut self) -> Result<Command, String> {
        let line = self.line();
        let action = if self.take("]") {
            String::new()
        } else {
            let name = self.name()?;
            self.expect("]")?;
            name
        };
        let guard = self.expression(0)?;
        self.expect("->")?;
        let mut updates = vec![self.update()?];
        while self.take("+") {
            updates.push(self.update()?);
        }
        self.expect(";")?;
        Ok(Command { action, guard, updates, line })
    }

    fn program(&mut self) -> Result<Program, String> {
        let mut program = Program::default();
        while self.peek().is_some() {
            if self.word("mdp") || self.word("imdp") {
                program.uniform = false;
            } else if self.word("dtmc") || self.word("idtmc") {
                program.uniform = true;
            } else if self.word("const") {
                let kinds = ["int", "double", "bool"];
                let kind = kinds.into_iter().find(|kind| self.word(kind)).unwrap_or("int").to_owned();
                let name = self.name()?;
                let value = if self.take("=") { Some(self.expression(0)?) } else { None };
                self.expect(";")?;
                program.constants.push(Constant { name, kind, value });
            } else if self.word("formula") {
                let name = self.name()?;
                self.expect("=")?;
                let own = self.expression(0)?;
                self.expect(";")?;
                program.formulas.insert(name, own);
            } else if self.word("label") {
                let Some(Token::Text(name)) = self.peek().cloned() else {
                    return self.wrong("expected a label in quotes");
                };
                self.at += 1;
                self.expect("=")?;
                let own = self.expression(0)?;
                self.expect(";")?;
                program.labels.push((name, own));
            } else if self.word("global") {
                let name = self.name()?;
                let own = self.variable(name)?;
                program.variables.push(own);
            } else if self.word("init") {
                program.init = Some(self.expression(0)?);
                if !self.word("endinit") {
                    return self.wrong("expected 'endinit'");
                }
            } else if self.word("module") {
                self.name()?;
                let mut module = Module::default();
                if self.take("=") {
                    return self.wrong("renamed modules are not supported: write the module out");
                }
                while !self.word("endmodule") {
                    if self.take("[") {
                        module.commands.push(self.command()?);
                    } else if self.peek().is_some() {
                        let name = self.name()?;
                        let own = self.variable(name)?;
                        program.variables.push(own);
                    } else {
                        return self.wrong("a module without 'endmodule'");
                    }
                }
                program.modules.push(module);
            } else if self.word("rewards") {
                // Rewards do not change probabilities.
                while self.peek().is_some() && !self.word("endrewards") {
                    self.at += 1;
                }
            } else {
                return self.wrong("expected a constant, formula, label, module, rewards or init");
            }
        }
        Ok(program)
    }
}

/// Reads a program.
pub(super) fn parse(text: &str) -> Result<Program, String> {
    let tokens = tokens(text)?;
    Parser { tokens, at: 0 }.program()
}
