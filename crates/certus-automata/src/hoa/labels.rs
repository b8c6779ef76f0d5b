//! Label expressions, read into a label and its complement at once, so that negation is a swap.

use super::HoaError;
use super::tokens::{Token, Tokens};
use crate::label::{Cube, Label};
use std::collections::HashMap;

const DEPTH: usize = 200;
const MOST_CUBES: usize = 4096;

/// A label and its complement.
#[derive(Clone)]
pub(super) struct Both {
    pub yes: Label,
    pub no: Label,
}

pub(super) struct Labels {
    pub atoms: u32,
    pub aliases: HashMap<String, Both>,
}

impl Labels {
    pub fn expression(&self, tokens: &mut Tokens, depth: usize) -> Result<Both, HoaError> {
        let mut left = self.conjunction(tokens, depth)?;
        while tokens.eat('|')? {
            let right = self.conjunction(tokens, depth)?;
            left = both(tokens, left.yes.or(&right.yes), left.no.and(&right.no))?;
        }
        Ok(left)
    }

    fn conjunction(&self, tokens: &mut Tokens, depth: usize) -> Result<Both, HoaError> {
        let mut left = self.literal(tokens, depth)?;
        while tokens.eat('&')? {
            let right = self.literal(tokens, depth)?;
            left = both(tokens, left.yes.and(&right.yes), left.no.or(&right.no))?;
        }
        Ok(left)
    }

    fn literal(&self, tokens: &mut Tokens, depth: usize) -> Result<Both, HoaError> {
        if depth > DEPTH {
            return tokens.error("nested too deep");
        }
        if tokens.eat('!')? {
            let inner = self.literal(tokens, depth + 1)?;
            return Ok(Both { yes: inner.no, no: inner.yes });
        }
        if tokens.eat('(')? {
            let inner = self.expression(tokens, depth + 1)?;
            return if tokens.eat(')')? { Ok(inner) } else { tokens.error("expected ')'") };
        }
        let result = match &tokens.token {
            Token::Identifier(name) if name == "t" => Both { yes: Label::all(), no: Label::default() },
            Token::Identifier(name) if name == "f" => Both { yes: Label::default(), no: Label::all() },
            Token::Number(atom) if *atom < self.atoms.into() => {
                let literal = |holds| Label(vec![Cube::literal(*atom as u32, holds)]);
                Both { yes: literal(true), no: literal(false) }
            }
            Token::Number(atom) => return tokens.error(format!("there are {} atoms, none is {atom}", self.atoms)),
            Token::Alias(name) => match self.aliases.get(name) {
                Some(known) => known.clone(),
                None => return tokens.error(format!("no alias @{name} before this")),
            },
            _ => return tokens.error("expected a label"),
        };
        tokens.advance()?;
        Ok(result)
    }
}

fn both(tokens: &Tokens, yes: Label, no: Label) -> Result<Both, HoaError> {
    let (yes, no) = (yes.simplified(), no.simplified());
    match yes.0.len().max(no.0.len()) > MOST_CUBES {
        true => tokens.error(format!("this label needs more than {MOST_CUBES} conjunctions")),
        false => Ok(Both { yes, no }),
    }
}
