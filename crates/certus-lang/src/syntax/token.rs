//! The words of the language.

use super::Span;

/// One token and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// Whether it is the first token of its line.
    pub starts_line: bool,
}

/// The kinds of token.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A number; its spelling is the source text of its span.
    Number(f64),
    /// A quoted text, unescaped.
    Text(String),
    /// A name.
    Name(String),
    /// A reserved word.
    Keyword(Keyword),
    /// An operator or a bracket.
    Symbol(Symbol),
    /// The end of the file.
    End,
}

macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $type { $($variant),* }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($type::$variant => $text),* }
            }
        }
    };
}

words! {
    /// Reserved words.
    Keyword {
        System = "system", Const = "const", Param = "param", State = "state", Input = "input",
        Chance = "chance", Policy = "policy", Action = "action", Define = "define", Init = "init",
        Assume = "assume", Next = "next", Der = "der", Step = "step", Reward = "reward",
        Terminal = "terminal", Property = "property",
        If = "if", Then = "then", Else = "else", Match = "match", Of = "of", In = "in",
        True = "true", False = "false",
        Globally = "G", Finally = "F", NextTime = "X", Until = "U", WeakUntil = "W", Release = "R",
        Probability = "P", ProbabilityMin = "Pmin", ProbabilityMax = "Pmax",
    }
}

words! {
    /// Operators, brackets and separators.
    Symbol {
        Iff = "<->", Implies = "->", LessEqual = "<=", GreaterEqual = ">=", Equal = "==",
        NotEqual = "!=", Range = "..", Or = "|", And = "&", Not = "!", Less = "<", Greater = ">",
        Assign = "=", Plus = "+", Minus = "-", Star = "*", Slash = "/", Caret = "^", Tilde = "~",
        Question = "?", Comma = ",", Colon = ":", Semicolon = ";", LeftParen = "(",
        RightParen = ")", LeftBracket = "[", RightBracket = "]", LeftBrace = "{",
        RightBrace = "}",
    }
}

impl Keyword {
    /// The reserved word with this spelling.
    pub fn from_text(text: &str) -> Option<Keyword> {
        Keyword::ALL.iter().copied().find(|k| k.text() == text)
    }

    /// Whether a declaration begins with it.
    pub fn starts_declaration(self) -> bool {
        (self as usize) <= (Keyword::Property as usize)
    }
}

impl TokenKind {
    /// How an error message names the token.
    pub fn describe(&self) -> String {
        match self {
            TokenKind::Number(_) => "a number".into(),
            TokenKind::Text(_) => "a text in quotes".into(),
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Keyword(k) => format!("`{}`", k.text()),
            TokenKind::Symbol(s) => format!("`{}`", s.text()),
            TokenKind::End => "the end of the file".into(),
        }
    }
}
