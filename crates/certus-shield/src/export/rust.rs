//! Rust: a module that implements `certus_shield_rt::Guard` with straight-line code.

use super::{Test, about, condition, polynomial};
use crate::horner::literal;
use crate::runtime::Runtime;

fn number(x: f64) -> String {
    match x {
        x if x == f64::INFINITY => "f64::INFINITY".to_owned(),
        x if x == f64::NEG_INFINITY => "f64::NEG_INFINITY".to_owned(),
        x => literal(x),
    }
}

/// The module: `Shield` implements `certus_shield_rt::Guard`.
pub fn rust_module(runtime: &Runtime, name: &str) -> String {
    let (n, m) = (runtime.states.len(), runtime.limits.len());
    let choices = runtime.corners.first().map_or(0, Vec::len);
    let mut text: String = about(runtime, name).lines().map(|line| format!("//! {line}\n")).collect();
    text += "\n#![allow(unused_parens, unused_variables, clippy::all)]\n\nuse certus_shield_rt::Guard;\n\n";
    text += &format!(
        "/// How many states there are.\npub const STATES: usize = {n};\n/// How many actions there are.\npub const ACTIONS: usize = {m};\n\n"
    );
    let pairs = |ranges: &[(f64, f64)]| {
        ranges.iter().map(|(a, b)| format!("({}, {})", number(*a), number(*b))).collect::<Vec<_>>().join(", ")
    };
    text += &format!("const LIMITS: [(f64, f64); {m}] = [{}];\n", pairs(&runtime.limits));
    text += &format!("const DOMAIN: [(f64, f64); {n}] = [{}];\n", pairs(&runtime.domain));
    let corner = |c: &Vec<f64>| format!("[{}]", c.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "));
    text += &format!(
        "const CORNERS: [[f64; {choices}]; {}] = [{}];\n\n",
        runtime.corners.len(),
        runtime.corners.iter().map(corner).collect::<Vec<_>>().join(", ")
    );
    text += "/// The shield; slices of other lengths than `STATES` and `ACTIONS` are inside of nothing.\npub struct Shield;\n\nimpl Guard for Shield {\n";
    text += &format!("    fn branches(&self) -> usize {{\n        {}\n    }}\n\n", runtime.branches.len());
    text += "    fn corners(&self) -> usize {\n        CORNERS.len()\n    }\n\n";
    text += "    fn limit(&self, actions: &mut [f64]) {\n        for (action, &(lower, upper)) in actions.iter_mut().zip(&LIMITS) {\n            let above = if *action >= lower { *action } else { lower };\n            *action = if above <= upper { above } else { upper };\n        }\n    }\n\n";
    text += "    fn predict(&self, state: &[f64], actions: &[f64], corner: usize, next: &mut [f64]) {\n";
    text += "        let (Ok(x), Ok(a)) = (<&[f64; STATES]>::try_from(state), <&[f64; ACTIONS]>::try_from(actions)) else { return };\n";
    text +=
        "        let (Some(d), Ok(y)) = (CORNERS.get(corner), <&mut [f64; STATES]>::try_from(next)) else { return };\n";
    for (i, form) in runtime.next.iter().enumerate() {
        text += &format!("        y[{i}] = {};\n", polynomial(form, n, m));
    }
    text += "    }\n\n";
    for kind in Test::ALL {
        let predicted = kind != Test::Inside;
        let argument = if predicted { "next" } else { "state" };
        text += &format!("    fn {}(&self, branch: usize, {argument}: &[f64]) -> bool {{\n", kind.name());
        text += &format!("        let Ok(x) = <&[f64; STATES]>::try_from({argument}) else {{ return false }};\n");
        if predicted {
            text += "        if !x.iter().zip(&DOMAIN).all(|(x, &(lower, upper))| lower <= *x && *x <= upper) {\n            return false;\n        }\n";
        }
        text += "        match branch {\n";
        for (b, branch) in runtime.branches.iter().enumerate() {
            let line = "\n                    ";
            let test = condition(branch, kind, n, m, &format!("{line}&& "), &format!("{line}|| "));
            text += &format!("            {b} => {{\n                {test}\n            }}\n");
        }
        text += "            _ => false,\n        }\n    }\n\n";
    }
    text += "    fn program(&self, branch: usize, state: &[f64], actions: &mut [f64]) {\n";
    text += "        let Ok(x) = <&[f64; STATES]>::try_from(state) else { return };\n        let Ok(a) = <&mut [f64; ACTIONS]>::try_from(actions) else { return };\n        match branch {\n";
    for (b, branch) in runtime.branches.iter().enumerate() {
        text += &format!("            {b} => {{\n");
        for (i, form) in branch.program.iter().enumerate() {
            text += &format!("                a[{i}] = {};\n", polynomial(form, n, m));
        }
        text += "            }\n";
    }
    text += "            _ => {}\n        }\n    }\n}\n";
    text
}
