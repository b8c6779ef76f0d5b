//! Text to tree and back.
//!
//! The lexer keeps comments, the parser never gives up at the first mistake, and the printer writes
//! the canonical form from which the same tree is read again. Nothing in here knows what a name means.

pub mod ast;
mod lexer;
pub mod parser;
pub mod printer;
mod span;
mod token;

pub use lexer::{Comment, Lexed, lex};
pub use span::Span;
pub use token::{Keyword, Symbol, Token, TokenKind};
