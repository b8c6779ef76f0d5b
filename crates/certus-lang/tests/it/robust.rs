//! No text, however odd, makes loading panic: it is a system or it is explained.

use crate::support::{Linear, any_declaration};
use certus_lang::diagnostics::Report;
use certus_lang::syntax::ast::File;
use certus_lang::syntax::lex;
use certus_lang::syntax::printer::print_file;
use certus_lang::{LowerOptions, load_str};
use proptest::prelude::*;

/// A system that uses most of the language, cut into tokens below.
const SAMPLE: &str = "
system sample
const T = 3, half = 0.5, row = [1, 2, T]
param gain in [0, 2] = 1
state x[T] in [-9, 9]
state y in [[-1], [1]]
state z
input u[2] in [-gain, gain]
chance luck of { ok: 0.9, slip: 1 - 0.9 }
policy rate = clamp(net(\"linear_4x1\", x, y), -15, 15)
action act = argmax(net(\"linear_1x2\", rate)) of { left, right }
action dice ~ softmax(net(\"linear_1x3\", y)) of { a, b, c }
define image = concat([for i in 0..T: if i < y then x[i] else 0], repeat(y, 2), interleave(x, row))
define push = match act { left: -1, right: match dice { a | b: 1, _: gain^2 } }
define calm = all(x in [-half, half]) & !any(x > row) <-> y == 0
define fair = G F calm
step 0.1 rk4
der y = sin(y) + push + sum(image[2..-1]) / len(image) - wrap(y)
next x = shift(x, u[0] * max(x) + min(y, 1, u[1]))
next z = if luck == ok then z else deg(90) * z
init x[0] >= 0 & abs(y) <= half & all(x[1..] == 0)
assume next(y) < 1 | act != left
reward -sum(x^2) + next(z)
terminal abs(y) > half
property p = fair -> (calm U<=3 x[0] > 0) & X calm expect holds
property q = P>=0.5 [ F[1, T] !calm ]
property r = Pmax=? [ G<=(T + 1) dice == c ]
";

#[test]
fn the_sample_is_a_system() {
    let system = load_str(SAMPLE, &mut Linear, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"));
    assert_eq!(system.properties.len(), 3);
}

/// The tokens of the sample, with the line breaks between declarations.
fn tokens() -> Vec<String> {
    let lexed = lex(SAMPLE, &mut Report::new());
    let piece = |t: &certus_lang::syntax::Token| {
        let text = &SAMPLE[t.span.start..t.span.end];
        if t.starts_line { format!("\n{text}") } else { text.to_owned() }
    };
    lexed.tokens.iter().map(piece).collect()
}

fn load_and_render(text: &str) {
    match load_str(text, &mut Linear, &LowerOptions::default()) {
        Ok(system) => drop(system.warnings.render(true)),
        Err(diagnostics) => drop(diagnostics.render(true)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_systems_are_explained(edits in prop::collection::vec((0..3_u8, 0..1000_usize, 0..1000_usize), 1..6)) {
        let mut list = tokens();
        for (kind, a, b) in edits {
            let (a, b) = (a % list.len(), b % list.len());
            match kind {
                0 => drop(list.remove(a)),
                1 => list[a] = list[b].clone(),
                _ => list.swap(a, b),
            }
        }
        load_and_render(&list.join(" "));
    }

    #[test]
    fn nonsense_is_explained(declarations in prop::collection::vec(any_declaration(), 1..8)) {
        let text = print_file(&File { declarations, comments: Vec::new() }, None);
        load_and_render(&format!("system s\nstate x[2] in [0, 1]\nstate y\n{text}"));
    }
}
