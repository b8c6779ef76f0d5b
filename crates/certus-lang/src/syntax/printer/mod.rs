//! Tree to canonical text.
//!
//! Reading the printed text gives the same tree again, and printing that gives the same text. Comments
//! are found by their position: each is written before the expression that follows it, or behind the
//! list element or the declaration it shares a line with. Blank lines between declarations are kept,
//! at most one at a time.

mod declarations;
mod doc;
mod expressions;

use doc::{Doc, concat, render, text};

use super::Comment;
use super::ast::{Declaration, Expr, File};

/// The canonical text of a file. `source` is the text the file was read from, if it was read from one.
pub fn print_file(file: &File, source: Option<&str>) -> String {
    let mut printer = Printer { comments: &file.comments, source };
    let mut out = String::new();
    let mut previous_end = None;
    for (i, declaration) in file.declarations.iter().enumerate() {
        let limit = file.declarations.get(i + 1).map_or(usize::MAX, |d| d.span.start);
        printer.leading(declaration, source, &mut previous_end, &mut out);
        blank_line(source, previous_end, declaration.span.start, &mut out);
        printer.with_trailing(declaration, limit, source, &mut previous_end, &mut out);
    }
    for comment in printer.comments {
        blank_line(source, previous_end, comment.span.start, &mut out);
        out.push_str(&comment.text);
        out.push('\n');
        previous_end = Some(comment.span.end);
    }
    out
}

/// The canonical text of an expression on one line.
pub fn print_expression(expr: &Expr) -> String {
    let mut printer = Printer { comments: &[], source: None };
    let document = printer.expr(expr);
    flatten(&document)
}

/// Sets a document without comments on one line, however long it gets.
fn flatten(doc: &Doc) -> String {
    match doc {
        Doc::Text(t) => t.clone(),
        Doc::Line => " ".into(),
        Doc::SoftLine | Doc::HardLine | Doc::IfBroken(_) | Doc::Comment(_) => String::new(),
        Doc::Concat(docs) | Doc::Fill(docs) => docs.iter().map(flatten).collect(),
        Doc::Nest(inner) | Doc::Group(inner) => flatten(inner),
    }
}

/// Writes a blank line if the source has one in the gap.
fn blank_line(source: Option<&str>, from: Option<usize>, to: usize, out: &mut String) {
    let (Some(source), Some(from)) = (source, from) else { return };
    let gap = source.get(from..to).unwrap_or_default();
    if gap.bytes().filter(|b| *b == b'\n').count() >= 2 && !out.is_empty() {
        out.push('\n');
    }
}

struct Printer<'a> {
    /// Comments not yet written.
    comments: &'a [Comment],
    /// The text that was read, for the line breaks in it.
    source: Option<&'a str>,
}

impl<'a> Printer<'a> {
    /// Takes the comments that begin before a position.
    fn take_before(&mut self, position: usize) -> &'a [Comment] {
        let count = self.comments.partition_point(|c| c.span.start < position);
        let (taken, rest) = self.comments.split_at(count);
        self.comments = rest;
        taken
    }

    /// Takes the comments before a position that share a line with what stands before them.
    fn take_same_line(&mut self, position: usize) -> &'a [Comment] {
        let count = self.comments.iter().take_while(|c| c.span.start < position && !c.own_line).take(1).count();
        let (taken, rest) = self.comments.split_at(count);
        self.comments = rest;
        taken
    }

    /// Whether the source begins a new line between two positions.
    fn is_line_break(&self, from: usize, to: usize) -> bool {
        self.source.and_then(|s| s.get(from..to)).is_some_and(|gap| gap.contains('\n'))
    }

    fn leading(
        &mut self,
        declaration: &Declaration,
        source: Option<&str>,
        previous_end: &mut Option<usize>,
        out: &mut String,
    ) {
        for comment in self.take_before(declaration.span.start) {
            blank_line(source, *previous_end, comment.span.start, out);
            out.push_str(&comment.text);
            out.push('\n');
            *previous_end = Some(comment.span.end);
        }
    }

    fn with_trailing(
        &mut self,
        declaration: &Declaration,
        limit: usize,
        source: Option<&str>,
        previous_end: &mut Option<usize>,
        out: &mut String,
    ) {
        let mut document = vec![self.declaration(declaration)];
        *previous_end = Some(declaration.span.end);
        let mut leftover = self.take_before(declaration.span.end).to_vec();
        if let (Some(source), Some(next)) = (source, self.comments.first()) {
            let gap = source.get(declaration.span.end..next.span.start).unwrap_or("\n");
            if next.span.start < limit && !gap.contains('\n') {
                *previous_end = Some(next.span.end);
                leftover.extend_from_slice(self.take_before(next.span.start + 1));
            }
        }
        if !leftover.is_empty() {
            // All on one line: on lines of their own they would belong to the next declaration.
            let joined: Vec<&str> = leftover.iter().map(|c| c.text.as_str()).collect();
            document.extend([text("  "), Doc::Comment(joined.join(" "))]);
        }
        out.push_str(&render(&concat(document)));
        out.push('\n');
    }
}
