//! Python: one module without imports.

use super::{Test, about, condition, polynomial};
use crate::horner::{Horner, literal};
use crate::runtime::Runtime;

fn number(x: f64) -> String {
    match x {
        x if x == f64::INFINITY => "float(\"inf\")".to_owned(),
        x if x == f64::NEG_INFINITY => "float(\"-inf\")".to_owned(),
        x => literal(x),
    }
}

/// The module.
pub fn python_module(runtime: &Runtime, name: &str) -> String {
    let (n, m) = (runtime.states.len(), runtime.limits.len());
    let mut text = format!("\"\"\"{}\"\"\"\n\n", about(runtime, name));
    let pairs = |ranges: &[(f64, f64)]| {
        ranges.iter().map(|(a, b)| format!("({}, {})", number(*a), number(*b))).collect::<Vec<_>>().join(", ")
    };
    text += &format!("STATES = {n}\nACTIONS = {m}\nLIMITS = [{}]\n", pairs(&runtime.limits));
    text += &format!("DOMAIN = [{}]\n", pairs(&runtime.domain));
    let corner = |c: &Vec<f64>| format!("[{}]", c.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "));
    text += &format!("CORNERS = [{}]\n", runtime.corners.iter().map(corner).collect::<Vec<_>>().join(", "));
    text += &format!("BRANCHES = {}\n\n\n", runtime.branches.len());
    let list = |forms: &[Horner]| {
        forms.iter().map(|form| format!("        {},\n", polynomial(form, n, m))).collect::<String>()
    };
    text += &format!("def predict(x, a, d):\n    return [\n{}    ]\n\n\n", list(&runtime.next));
    for kind in Test::ALL {
        text += &format!("def {}(branch, x):\n", kind.name());
        for (b, branch) in runtime.branches.iter().enumerate() {
            let test = condition(branch, kind, n, m, "\n            and ", "\n            or ");
            text += &format!("    if branch == {b}:\n        return (\n            {test}\n        )\n");
        }
        text += "    return False\n\n\n";
    }
    text += "def program(branch, x):\n";
    for (b, branch) in runtime.branches.iter().enumerate() {
        let forms: Vec<String> = branch.program.iter().map(|form| polynomial(form, n, m)).collect();
        text += &format!("    if branch == {b}:\n        return [{}]\n", forms.join(", "));
    }
    text += "    return [0.0] * ACTIONS\n\n\n";
    text += r#"def limit(a):
    limited = []
    for value, (lower, upper) in zip(a, LIMITS):
        above = value if value >= lower else lower
        limited.append(above if above <= upper else upper)
    return limited


class Monitor:
    """The monitor of one run: `decide` at every step, with the state and the policy's actions."""

    def __init__(self):
        self.branch = -1
        self.holding = False
        self.alarm = False
        self.steps = 0
        self.interventions = 0

    def _kept(self, branch, x, a):
        for corner in CORNERS:
            y = predict(x, a, corner)
            if not all(lower <= value <= upper for value, (lower, upper) in zip(y, DOMAIN)):
                return False
            if not (well_inside if self.holding else surely_inside)(branch, y):
                return False
        return True

    def decide(self, state, actions, fallback=None):
        """What happened (0 the policy's actions pass, 1 a program took over, 2 the fallback), and the actions to apply."""
        x = [float(value) for value in state]
        a = limit([float(value) for value in actions])
        self.steps += 1
        if self.branch >= 0 and self._kept(self.branch, x, a):
            self.holding = False
            return 0, a
        for branch in range(BRANCHES):
            if branch != self.branch and self._kept(branch, x, a):
                self.branch = branch
                self.holding = False
                return 0, a
        self.holding = True
        branch = self.branch if self.branch >= 0 and inside(self.branch, x) else -1
        if branch < 0:
            branch = next((i for i in range(BRANCHES) if inside(i, x)), -1)
        self.interventions += 1
        if branch >= 0:
            self.branch = branch
            return 1, limit(program(branch, x))
        self.alarm = True
        if fallback is not None:
            return 2, limit([float(value) for value in fallback])
        return 2, limit(program(max(self.branch, 0), x))
"#;
    text
}
