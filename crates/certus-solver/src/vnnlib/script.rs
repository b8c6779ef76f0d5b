//! The commands of a script: declarations and assertions; everything else is ignored by name or refused.

use std::collections::HashMap;

use super::error::{Fault, quoted};
use super::lexer::{Kind, Lexer, Token};
use super::networks::Tensors;
use super::written::Written;
use super::{Specification, Variable, logic};

/// A reader that is part of the way through a script.
pub(super) struct Script<'t> {
    pub lexer: Lexer<'t>,
    /// The declared variables of version 1 and where their names stand.
    declared: HashMap<Variable, usize>,
    /// The declared tensors of version 2; none in a text of version 1.
    pub tensors: Option<Tensors<'t>>,
    /// The decimals so far that are no doubles.
    pub written: Written,
}

/// Reads a whole text.
pub(super) fn specification(text: &str) -> Result<Specification, Fault> {
    let mut script =
        Script { lexer: Lexer::new(text), declared: HashMap::new(), tensors: None, written: Written::default() };
    let mut assertions = Vec::new();
    while let Some(open) = script.lexer.next()? {
        if open.kind != Kind::Open {
            return Err(open.fault(format!("expected a command in parentheses, found {}", quoted(open.text))));
        }
        let command = script.head(&open)?;
        match command.text {
            "declare-const" | "declare-fun" => script.declaration(&open, &command)?,
            "assert" => {
                let body = script.required(&open, "`assert` needs a formula")?;
                assertions.push(script.formula(&body, 1)?);
                script.close(&open)?;
            }
            // These neither add a constraint nor change what a name means.
            "set-logic" | "set-info" | "set-option" | "check-sat" | "get-model" | "exit" => script.skip(&open)?,
            "vnnlib-version" => return Err(command.fault("the text is of a later version, which declares networks")),
            _ => return Err(command.fault(format!("unknown command {}", quoted(command.text)))),
        }
    }
    let inputs = script.count(Variable::Input)?;
    let outputs = script.count(Variable::Output)?;
    Ok(Specification { inputs, outputs, assertion: logic::conjunction(assertions), written: script.written })
}

impl<'t> Script<'t> {
    /// A reader of version 2 at the start of a text.
    pub fn of_networks(text: &'t str) -> Self {
        let tensors = Some(Tensors::default());
        Script { lexer: Lexer::with_marks(text), declared: HashMap::new(), tensors, written: Written::default() }
    }

    /// The next token of a list that began with `open`, or `None` when the list ends.
    pub fn argument(&mut self, open: &Token<'t>) -> Result<Option<Token<'t>>, Fault> {
        match self.lexer.next()? {
            None => Err(open.fault("this parenthesis is not closed")),
            Some(token) => Ok((token.kind != Kind::Close).then_some(token)),
        }
    }

    /// The next token of a list, which must not end here.
    pub fn required(&mut self, open: &Token<'t>, otherwise: &str) -> Result<Token<'t>, Fault> {
        self.argument(open)?.ok_or_else(|| open.fault(otherwise))
    }

    /// The symbol that a list begins with.
    pub fn head(&mut self, open: &Token<'t>) -> Result<Token<'t>, Fault> {
        let head = self.required(open, "empty parentheses")?;
        if head.kind != Kind::Symbol {
            return Err(head.fault(format!("expected a name after the parenthesis, found {}", quoted(head.text))));
        }
        Ok(head)
    }

    /// The end of a list.
    pub fn close(&mut self, open: &Token<'t>) -> Result<(), Fault> {
        match self.argument(open)? {
            None => Ok(()),
            Some(extra) => Err(extra.fault(format!("expected `)`, found {}", quoted(extra.text)))),
        }
    }

    /// Passes over the rest of a list.
    fn skip(&mut self, open: &Token<'t>) -> Result<(), Fault> {
        let mut depth = 1usize;
        while depth > 0 {
            match self.lexer.next()?.map(|token| token.kind) {
                None => return Err(open.fault("this parenthesis is not closed")),
                Some(Kind::Open) => depth += 1,
                Some(Kind::Close) => depth -= 1,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// `declare-const NAME Real` or `declare-fun NAME () Real`.
    fn declaration(&mut self, open: &Token<'t>, command: &Token<'t>) -> Result<(), Fault> {
        let incomplete = format!("{} needs a name and the sort `Real`", quoted(command.text));
        let name = self.required(open, &incomplete)?;
        let variable = variable(&name)
            .ok_or_else(|| name.fault(format!("{} is no name of the form X_0 or Y_0", quoted(name.text))))?;
        if command.text == "declare-fun" {
            let parameters = self.required(open, &incomplete)?;
            if parameters.kind != Kind::Open || self.argument(&parameters)?.is_some() {
                return Err(parameters.fault("a declared function must have no parameters, `()`"));
            }
        }
        let sort = self.required(open, &incomplete)?;
        if sort.text != "Real" {
            return Err(sort.fault(format!("the sort must be `Real`, found {}", quoted(sort.text))));
        }
        self.close(open)?;
        match self.declared.insert(variable, name.offset) {
            None => Ok(()),
            Some(_) => Err(name.fault(format!("`{variable}` is declared twice"))),
        }
    }

    /// Whether a symbol names something that is declared.
    pub fn declared(&self, name: &Token<'t>) -> bool {
        match &self.tensors {
            Some(tensors) => tensors.get(name.text).is_some(),
            None => variable(name).is_some_and(|variable| self.declared.contains_key(&variable)),
        }
    }

    /// The variable that a declared name stands for, with the indices that follow it in version 2.
    pub fn reference(&mut self, name: &Token<'t>) -> Result<Option<Variable>, Fault> {
        if !self.declared(name) {
            return Ok(None);
        }
        if self.tensors.is_some() { self.element(name).map(Some) } else { Ok(variable(name)) }
    }

    /// How many variables of a kind there are; their numbers must have no gap.
    fn count(&self, kind: fn(usize) -> Variable) -> Result<usize, Fault> {
        let same_kind = |variable: &Variable| kind(index(*variable)) == *variable;
        let count = self.declared.keys().filter(|variable| same_kind(variable)).count();
        let Some(missing) = (0..count).find(|&index| !self.declared.contains_key(&kind(index))) else {
            return Ok(count);
        };
        let beyond = self.declared.iter().filter(|(variable, _)| same_kind(variable) && index(**variable) > missing);
        let (first, &offset) = beyond.min().unwrap_or((&Variable::Input(0), &0));
        Err(Fault::new(offset, format!("`{first}` is declared but `{}` is not", kind(missing))))
    }
}

fn index(variable: Variable) -> usize {
    match variable {
        Variable::Input(index) | Variable::Output(index) => index,
    }
}

/// The variable that a token names. `X_01` is not another spelling of `X_1`.
fn variable(name: &Token) -> Option<Variable> {
    let (kind, digits): (fn(usize) -> Variable, _) = match name.text.split_at_checked(2)? {
        ("X_", digits) => (Variable::Input, digits),
        ("Y_", digits) => (Variable::Output, digits),
        _ => return None,
    };
    let canonical = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|_| canonical).map(kind)
}
