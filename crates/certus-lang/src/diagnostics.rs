//! What a reader of a wrong file sees.
//!
//! Every stage reports through [`Report`], which collects diagnostics so that one run shows several
//! mistakes. [`Diagnostics`] carries its source, so it can be rendered anywhere without further context.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::syntax::Span;

/// More errors than this are counted, not shown: the first ones explain the rest.
pub const MAX_SHOWN: usize = 20;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file has no meaning until this is corrected.
    Error,
    /// The file means something, though perhaps not what was intended.
    Warning,
}

/// One message about a place in a source file.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable short name of the kind of mistake, such as `unknown-name`.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Marked places; the first one is where the mistake is, the others explain it.
    pub labels: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with no marked place yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, code, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning with no marked place yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Marks a place.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.labels.push((span, label.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a help if there is one to give.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Diagnostic {
        if help.is_some() {
            self.help = help;
        }
        self
    }
}

/// A source text and the name it is reported under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Usually the path as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A source with a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }
}

/// Diagnostics of one source, ready to be rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostics {
    source: Arc<Source>,
    items: Vec<Diagnostic>,
    hidden: usize,
}

impl Diagnostics {
    /// The diagnostics in the order of the source text.
    pub fn items(&self) -> &[Diagnostic] {
        &self.items
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The text the diagnostics speak of.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Renders all diagnostics, with terminal colours if asked for.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let mut out = String::new();
        for item in &self.items {
            out.push_str(&self.render_one(item, &renderer));
            out.push_str("\n\n");
        }
        if self.hidden > 0 {
            out.push_str(&format!("{} more errors are not shown\n", self.hidden));
        } else if out.ends_with("\n\n") {
            out.pop();
        }
        out
    }

    fn render_one(&self, item: &Diagnostic, renderer: &Renderer) -> String {
        let level = match item.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(item.message.as_str()).id(item.code));
        if item.labels.is_empty() {
            group = group.element(annotate_snippets::Origin::path(self.source.name.as_str()));
        } else {
            let mut snippet = Snippet::source(self.source.text.as_str()).path(self.source.name.as_str()).line_start(1);
            for (i, (span, text)) in item.labels.iter().enumerate() {
                let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let mut annotation = kind.span(self.printable(*span));
                if !text.is_empty() {
                    annotation = annotation.label(text.as_str());
                }
                snippet = snippet.annotation(annotation);
            }
            group = group.element(snippet);
        }
        if let Some(help) = &item.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }

    /// Clips a span to the text and to character boundaries, which the renderer insists on.
    fn printable(&self, span: Span) -> std::ops::Range<usize> {
        let text = &self.source.text;
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = span.end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// Collects diagnostics while a stage runs.
#[derive(Debug, Default)]
pub struct Report {
    items: Vec<Diagnostic>,
    errors: usize,
}

impl Report {
    /// An empty report.
    pub fn new() -> Report {
        Report::default()
    }

    /// Adds a diagnostic, unless the same one was already made at the same place.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        if self.items.len() >= 10 * MAX_SHOWN {
            self.errors += usize::from(is_error);
            return;
        }
        let duplicate = self.items.iter().any(|d| {
            d.severity == diagnostic.severity
                && d.message == diagnostic.message
                && d.labels.first().map(|l| l.0) == diagnostic.labels.first().map(|l| l.0)
        });
        if duplicate {
            return;
        }
        self.errors += usize::from(is_error);
        self.items.push(diagnostic);
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors were reported.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Turns the report into diagnostics of `source`: the errors if there are any, else the warnings.
    pub fn finish(self, source: &Arc<Source>) -> Diagnostics {
        let wanted = if self.has_errors() { Severity::Error } else { Severity::Warning };
        let mut items: Vec<Diagnostic> = self.items.into_iter().filter(|d| d.severity == wanted).collect();
        items.sort_by_key(|d| d.labels.first().map_or(usize::MAX, |l| l.0.start));
        let total = if wanted == Severity::Error { self.errors } else { items.len() };
        items.truncate(MAX_SHOWN);
        Diagnostics { source: Arc::clone(source), hidden: total - items.len(), items }
    }
}

/// The candidate nearest to a misspelt name, if one is near enough to be worth naming.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|c| *c != name)
        .map(|c| (edit_distance(&name.to_lowercase(), &c.to_lowercase()), c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)))
        .map(|(_, c)| c)
}

/// Number of insertions, deletions, substitutions and swaps of neighbours between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    // A name that is longer by more than the limit is never near; this also bounds the table.
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        rows[i][0] = i;
        for j in 1..=b.len() {
            let substitution = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitution.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        assert_eq!(nearest("omgea", ["omega", "eta"]), Some("omega"));
        assert_eq!(nearest("lat_grd", ["lat_grad", "lat_ratio"]), Some("lat_grad"));
        assert_eq!(nearest("velocity", ["position", "angle"]), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn errors_hide_warnings_and_are_capped() {
        let source = Source::new("a", "abc");
        let mut report = Report::new();
        report.push(Diagnostic::warning("w", "careful").at(Span::new(0, 1), ""));
        for i in 0..30 {
            report.push(Diagnostic::error("e", format!("wrong {i}")).at(Span::new(1, 2), ""));
        }
        report.push(Diagnostic::error("e", "wrong 0").at(Span::new(1, 2), ""));
        let done = report.finish(&source);
        assert_eq!(done.items().len(), MAX_SHOWN);
        assert!(done.render(false).ends_with("10 more errors are not shown\n"));
    }
}
