//! Reading: headers, then states with their transitions.

use super::HoaError;
use super::labels::Labels;
use super::tokens::{Token, Tokens};
use crate::automaton::{Automaton, Edge, Marks};
use crate::label::{Cube, Label};
use std::collections::HashMap;

/// Reads one automaton.
pub fn read_hoa(text: &str) -> Result<Automaton, HoaError> {
    let mut tokens = Tokens::new(text)?;
    if tokens.token != Token::Header("HOA".into()) {
        return tokens.error("expected 'HOA: v1'");
    }
    tokens.advance()?;
    if tokens.token != Token::Identifier("v1".into()) {
        return tokens.error("only version v1 is known");
    }
    tokens.advance()?;
    let mut reader = Reader {
        tokens,
        automaton: Automaton::default(),
        declared: None,
        labels: Labels { atoms: 0, aliases: HashMap::new() },
        acceptance: false,
    };
    reader.headers()?;
    reader.body()?;
    Ok(reader.automaton)
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    automaton: Automaton,
    declared: Option<u64>,
    labels: Labels,
    acceptance: bool,
}

impl Reader<'_> {
    fn headers(&mut self) -> Result<(), HoaError> {
        let mut atoms_seen = false;
        loop {
            let header = match &self.tokens.token {
                Token::Header(name) => name.clone(),
                Token::Body => break,
                _ => return self.tokens.error("expected a header or --BODY--"),
            };
            match header.as_str() {
                "HOA" => return self.tokens.error("a second automaton begins here"),
                "States" => {
                    self.tokens.advance()?;
                    let count = self.count()?;
                    self.declared = Some(count.into());
                    self.grow(count.saturating_sub(1), count == 0)?;
                }
                "Start" => {
                    self.tokens.advance()?;
                    let start = self.count()?;
                    if self.tokens.token == Token::Symbol('&') {
                        return self.tokens.error("alternating automata are not supported");
                    }
                    self.automaton.initial.push(start);
                }
                "AP" if atoms_seen => return self.tokens.error("atoms were declared before"),
                "AP" => {
                    atoms_seen = true;
                    self.tokens.advance()?;
                    let count = self.tokens.number()?;
                    if count > 64 {
                        return self.tokens.error("more than 64 atoms are not supported");
                    }
                    for _ in 0..count {
                        match self.tokens.take()? {
                            Token::Text(name) => self.automaton.atoms.push(name),
                            _ => return self.tokens.error(format!("expected {count} names of atoms before this")),
                        }
                    }
                    self.labels.atoms = count as u32;
                }
                "Alias" => {
                    self.tokens.advance()?;
                    let Token::Alias(name) = self.tokens.take()? else {
                        return self.tokens.error("expected an alias before this");
                    };
                    let label = self.labels.expression(&mut self.tokens, 0)?;
                    self.labels.aliases.insert(name, label);
                }
                "Acceptance" => {
                    self.tokens.advance()?;
                    self.condition()?;
                }
                "name" => {
                    self.tokens.advance()?;
                    match self.tokens.take()? {
                        Token::Text(name) => self.automaton.name = name,
                        _ => return self.tokens.error("expected a name before this"),
                    }
                }
                _ if header.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    return self.tokens.error(format!("'{header}:' matters, says the format, and is not known"));
                }
                _ => {
                    // Remarks: everything up to the next header.
                    self.tokens.advance()?;
                    while !matches!(self.tokens.token, Token::Header(_) | Token::Body | Token::Finished) {
                        self.tokens.advance()?;
                    }
                }
            }
        }
        if !self.acceptance {
            return self.tokens.error("expected 'Acceptance:' before this");
        }
        self.tokens.advance()
    }

    /// A number that is a place: a state or a count of them, no greater than a file of this size can define.
    fn count(&mut self) -> Result<u32, HoaError> {
        match self.tokens.token {
            Token::Number(number) if number <= self.tokens.length() as u64 && number < u64::from(u32::MAX) => {
                self.tokens.advance()?;
                Ok(number as u32)
            }
            Token::Number(_) => self.tokens.error("this file is too short to define so many states"),
            _ => self.tokens.error("expected the number of a state"),
        }
    }

    fn grow(&mut self, state: u32, none: bool) -> Result<(), HoaError> {
        if self.declared.is_some_and(|declared| u64::from(state) >= declared && !none) {
            return self.tokens.error("a state beyond those that 'States:' declares");
        }
        let len = if none { 0 } else { state as usize + 1 };
        if self.automaton.edges.len() < len {
            self.automaton.edges.resize(len, Vec::new());
        }
        Ok(())
    }

    /// `n t`, or `n Inf(i) & Inf(j) & …` over all of the n sets.
    fn condition(&mut self) -> Result<(), HoaError> {
        if self.acceptance {
            return self.tokens.error("acceptance was declared before");
        }
        self.acceptance = true;
        let sets = self.tokens.number()?;
        if sets > 64 {
            return self.tokens.error("more than 64 acceptance sets are not supported");
        }
        let refused = "only (generalised) Büchi acceptance is supported: 't', or Inf of every set, joined by '&'";
        if self.tokens.token == Token::Identifier("t".into()) {
            self.tokens.advance()?;
            if sets > 0 {
                return self.tokens.error(refused);
            }
            return Ok(());
        }
        let mut seen: Marks = 0;
        loop {
            let nested = self.tokens.eat('(')?;
            if self.tokens.token != Token::Identifier("Inf".into()) {
                return self.tokens.error(refused);
            }
            self.tokens.advance()?;
            if !self.tokens.eat('(')? || self.tokens.token == Token::Symbol('!') {
                return self.tokens.error(refused);
            }
            let set = self.tokens.number()?;
            if set >= sets {
                return self.tokens.error("there is no such set");
            }
            seen |= 1 << set;
            if !self.tokens.eat(')')? || (nested && !self.tokens.eat(')')?) {
                return self.tokens.error("expected ')'");
            }
            if !self.tokens.eat('&')? {
                break;
            }
        }
        if self.tokens.token == Token::Symbol('|') || seen != crate::automaton::all_marks(sets as u32) {
            return self.tokens.error(refused);
        }
        self.automaton.sets = sets as u32;
        Ok(())
    }

    fn label(&mut self) -> Result<Option<Label>, HoaError> {
        if !self.tokens.eat('[')? {
            return Ok(None);
        }
        let label = self.labels.expression(&mut self.tokens, 0)?;
        if self.tokens.eat(']')? { Ok(Some(label.yes)) } else { self.tokens.error("expected ']'") }
    }

    fn marks(&mut self) -> Result<Marks, HoaError> {
        let mut marks = 0;
        if self.tokens.eat('{')? {
            while !self.tokens.eat('}')? {
                let set = self.tokens.number()?;
                if set >= u64::from(self.automaton.sets) {
                    return self.tokens.error("there is no such set");
                }
                marks |= 1 << set;
            }
        }
        Ok(marks)
    }

    fn body(&mut self) -> Result<(), HoaError> {
        let mut defined = std::collections::HashSet::new();
        while self.tokens.token == Token::Header("State".into()) {
            self.tokens.advance()?;
            let state_label = self.label()?;
            let state = self.count()?;
            self.grow(state, false)?;
            if !defined.insert(state) {
                return self.tokens.error(format!("state {state} was defined before"));
            }
            if let Token::Text(_) = self.tokens.token {
                self.tokens.advance()?;
            }
            let state_marks = self.marks()?;
            let mut implicit = 0u64;
            while matches!(self.tokens.token, Token::Number(_) | Token::Symbol('[')) {
                let label = match (&state_label, self.label()?) {
                    (Some(_), Some(_)) => return self.tokens.error("a label on the state and on its transition"),
                    (Some(label), None) => label.clone(),
                    (None, Some(_)) if implicit > 0 => {
                        return self.tokens.error("some transitions of this state have labels and some do not");
                    }
                    (None, Some(label)) => label,
                    (None, None) => {
                        let every = crate::automaton::all_marks(self.labels.atoms);
                        if implicit > every {
                            return self.tokens.error("more transitions than letters");
                        }
                        implicit += 1;
                        let letter = implicit - 1;
                        Label(vec![Cube { yes: letter, no: every & !letter }])
                    }
                };
                let target = self.count()?;
                self.grow(target, false)?;
                if self.tokens.token == Token::Symbol('&') {
                    return self.tokens.error("alternating automata are not supported");
                }
                let marks = self.marks()? | state_marks;
                self.automaton.edges[state as usize].push(Edge { target, marks, label });
            }
            if implicit > 0 && implicit - 1 != crate::automaton::all_marks(self.labels.atoms) {
                return self.tokens.error(format!("state {state} has {implicit} transitions, not one for each letter"));
            }
        }
        if self.tokens.token != Token::End {
            return self.tokens.error("expected 'State:', a transition or --END--");
        }
        self.tokens.advance()?;
        if self.tokens.token != Token::Finished {
            return self.tokens.error("one automaton at a time: this follows the end");
        }
        if self.automaton.initial.iter().any(|start| *start as usize >= self.automaton.edges.len()) {
            return self.tokens.error("an initial state that is nowhere else");
        }
        self.automaton.gather();
        Ok(())
    }
}
