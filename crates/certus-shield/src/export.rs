//! Shields as source code: C, Rust, Python. One order of operations in all of them, so that they agree to the last bit.

mod c;
mod python;
mod rust;

pub use c::{c_header, c_source};
pub use python::python_module;
pub use rust::rust_module;

use crate::horner::{Horner, literal};
use crate::runtime::{Guarded, Runtime, Wall};

/// The tests of a state against a branch that a monitor makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    /// Is a predicted state inside, whatever prediction and rounding are off?
    Surely,
    /// Is it so far inside that the policy gets control back?
    Well,
    /// Is a state inside, up to rounding?
    Inside,
}

impl Test {
    const ALL: [Test; 3] = [Test::Surely, Test::Well, Test::Inside];

    fn name(self) -> &'static str {
        match self {
            Test::Surely => "surely_inside",
            Test::Well => "well_inside",
            Test::Inside => "inside",
        }
    }

    /// What a wall may be at most.
    fn bound(self, wall: &Wall) -> f64 {
        match self {
            Test::Surely => -wall.reserve,
            Test::Well => -wall.release,
            Test::Inside => wall.rounding,
        }
    }
}

/// A polynomial in brackets and operators, which are the same in these languages: states x, actions a, choices d.
fn polynomial(form: &Horner, states: usize, actions: usize) -> String {
    form.expression(&|v| match v {
        v if v < states => format!("x[{v}]"),
        v if v < states + actions => format!("a[{}]", v - states),
        v => format!("d[{}]", v - states - actions),
    })
}

/// A test of a state x against a branch, with the words of a language for 'and' and 'or'.
fn condition(branch: &Guarded, kind: Test, states: usize, actions: usize, and: &str, or: &str) -> String {
    let wall = |wall: &Wall| format!("{} <= {}", polynomial(&wall.form, states, actions), literal(kind.bound(wall)));
    let walls = branch.walls.iter().map(wall).collect::<Vec<_>>().join(and);
    match &branch.inner_box {
        // The inner box is no answer to how well inside a state is.
        Some(inner_box) if kind != Test::Well => format!("({}){or}({walls})", in_box(inner_box, and)),
        _ => walls,
    }
}

/// That a state x is in a box.
fn in_box(ranges: &[(f64, f64)], and: &str) -> String {
    let side = |(i, (a, b)): (usize, &(f64, f64))| format!("{} <= x[{i}]{and}x[{i}] <= {}", literal(*a), literal(*b));
    ranges.iter().enumerate().map(side).collect::<Vec<_>>().join(and)
}

/// The name of an exported shield, as every language allows it: letters, digits and underscores.
pub fn identifier(name: &str) -> String {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if safe.starts_with(|c: char| c.is_ascii_alphabetic()) { safe } else { format!("shield_{safe}") }
}

/// What the top of every exported file says.
fn about(runtime: &Runtime, name: &str) -> String {
    format!(
        "Shield '{name}': {} states ({}), {} actions, {} branches.\nWritten by `certus shield export`; the proof is in the shield's file.",
        runtime.states.len(),
        runtime.states.join(", "),
        runtime.limits.len(),
        runtime.branches.len()
    )
}
