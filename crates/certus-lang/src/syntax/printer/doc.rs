//! A small pretty-printing algebra: documents that fit on a line are set on one, the others break.

/// A document.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    /// Text without line breaks.
    Text(String),
    /// A space, or a line break in a broken group.
    Line,
    /// Nothing, or a line break in a broken group.
    SoftLine,
    /// Always a line break.
    HardLine,
    /// A comment: it is never set flat, whatever follows it is on a new line.
    Comment(String),
    /// Text that only a broken group shows.
    IfBroken(&'static str),
    /// One after the other.
    Concat(Vec<Doc>),
    /// Deeper indentation for the line breaks inside.
    Nest(Box<Doc>),
    /// Set flat if it fits.
    Group(Box<Doc>),
    /// Words of a paragraph: each one goes on the current line if it fits there.
    Fill(Vec<Doc>),
}

impl Doc {
    /// The first character that is not part of a comment.
    pub(super) fn first_char(&self) -> Option<char> {
        match self {
            Doc::Text(t) => t.chars().next(),
            Doc::Concat(docs) | Doc::Fill(docs) => docs.iter().find_map(Doc::first_char),
            Doc::Nest(inner) | Doc::Group(inner) => inner.first_char(),
            _ => None,
        }
    }
}

pub(super) fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

pub(super) fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Concat(docs.into_iter().collect())
}

pub(super) fn nest(doc: Doc) -> Doc {
    Doc::Nest(Box::new(doc))
}

pub(super) fn group(doc: Doc) -> Doc {
    Doc::Group(Box::new(doc))
}

const WIDTH: usize = 120;
const INDENT: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Flat,
    Broken,
}

type Command<'a> = (usize, Mode, &'a Doc);

/// Lays a document out, starting at column 0.
pub(super) fn render(doc: &Doc) -> String {
    let mut out = String::new();
    let mut column = 0;
    let mut stack: Vec<Command<'_>> = vec![(0, Mode::Broken, doc)];
    while let Some((indent, mode, doc)) = stack.pop() {
        match doc {
            Doc::Text(t) | Doc::Comment(t) => {
                out.push_str(t);
                column += t.chars().count();
            }
            Doc::IfBroken(t) => {
                if mode == Mode::Broken {
                    out.push_str(t);
                    column += t.len();
                }
            }
            Doc::Line if mode == Mode::Flat => {
                out.push(' ');
                column += 1;
            }
            Doc::SoftLine if mode == Mode::Flat => {}
            Doc::Line | Doc::SoftLine | Doc::HardLine => {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            }
            Doc::Concat(docs) => stack.extend(docs.iter().rev().map(|d| (indent, mode, d))),
            Doc::Nest(inner) => stack.push((indent + INDENT, mode, inner)),
            Doc::Group(inner) => {
                let flat = (indent, Mode::Flat, &**inner);
                let mode = if fits(WIDTH.saturating_sub(column), flat, &stack) { Mode::Flat } else { Mode::Broken };
                stack.push((indent, mode, inner));
            }
            Doc::Fill(words) => {
                // Each word but the first begins with a `Line`, set flat if the word then fits.
                if mode == Mode::Flat {
                    stack.extend(words.iter().rev().map(|d| (indent, Mode::Flat, d)));
                } else if let Some((first, rest)) = words.split_first() {
                    let mode = if fits(WIDTH.saturating_sub(column), (indent, Mode::Flat, first), &[]) {
                        Mode::Flat
                    } else {
                        Mode::Broken
                    };
                    // The remaining words are pushed one by one so that each sees its own column.
                    stack.extend(rest.iter().rev().map(|d| (indent, Mode::Broken, d)));
                    stack.push((indent, mode, first));
                }
            }
        }
    }
    out
}

/// Whether `first`, and what follows it up to the next possible line break, fits in `width` columns.
fn fits<'a>(width: usize, first: Command<'a>, rest: &[Command<'a>]) -> bool {
    let mut left = width as isize;
    let mut rest_at = rest.len();
    let mut stack = vec![first];
    loop {
        let (indent, mode, doc) = match stack.pop() {
            Some(command) => command,
            None if rest_at == 0 => return true,
            None => {
                rest_at -= 1;
                rest[rest_at]
            }
        };
        match doc {
            Doc::Text(t) => left -= t.chars().count() as isize,
            Doc::IfBroken(t) if mode == Mode::Broken => left -= t.len() as isize,
            Doc::IfBroken(_) => {}
            Doc::Comment(_) | Doc::HardLine => return mode == Mode::Broken,
            Doc::Line | Doc::SoftLine if mode == Mode::Broken => return true,
            Doc::Line => left -= 1,
            Doc::SoftLine => {}
            Doc::Concat(docs) => stack.extend(docs.iter().rev().map(|d| (indent, mode, d))),
            Doc::Fill(docs) => stack.extend(docs.iter().rev().map(|d| (indent, mode, d))),
            Doc::Nest(inner) => stack.push((indent, mode, inner)),
            Doc::Group(inner) => {
                // A group further on may break, but what was chosen to be flat stays flat.
                let inner_mode = if mode == Mode::Flat { Mode::Flat } else { Mode::Broken };
                stack.push((indent, inner_mode, inner));
            }
        }
        if left < 0 {
            return false;
        }
    }
}
