//! C99: one header, one source.

use super::{Test, about, condition, in_box, polynomial};
use crate::runtime::Runtime;

/// The header.
pub fn c_header(runtime: &Runtime, name: &str) -> String {
    let guard = name.to_ascii_uppercase();
    let comment = about(runtime, name).replace('\n', "\n * ");
    let (n, m) = (runtime.states.len(), runtime.limits.len());
    format!(
        "/* {comment} */
#ifndef {guard}_H
#define {guard}_H

#define {guard}_STATES {n}
#define {guard}_ACTIONS {m}

/* The state of a monitor. Begin with {name}_start. */
typedef struct {{
    int branch;                       /* the branch in use, -1 for none */
    int holding;                      /* 1 while the program decides, until the policy leads well inside */
    int alarm;                        /* 1 after a state that is in no branch; stays until you clear it */
    unsigned long long steps;         /* steps decided */
    unsigned long long interventions; /* steps that were not left to the policy */
}} {name}_monitor;

/* The beginning of a run. */
void {name}_start({name}_monitor *monitor);

/* Decides a step. `actions` are the policy's, and become those to be applied. `fallback` (or NULL) is applied when no
 * branch covers the state. Returns 0 if the policy's actions pass, 1 if a program took over, 2 for the fallback. */
int {name}_decide({name}_monitor *monitor, const double *state, double *actions, const double *fallback);

#endif
"
    )
}

/// Between two conditions.
const AND: &str = "\n        && ";
const OR: &str = "\n        || ";

/// The source.
pub fn c_source(runtime: &Runtime, name: &str) -> String {
    let (n, m) = (runtime.states.len(), runtime.limits.len());
    let choices = runtime.corners.first().map_or(0, Vec::len);
    let mut text = format!(
        "/* {} */\n#include \"{name}.h\"\n\n#include <stddef.h>\n\n",
        about(runtime, name).replace('\n', "\n * ")
    );
    text += "/* Products and sums must not be fused: the proof's rounding is that of single operations. */\n";
    text += "#if defined(__clang__) || !defined(__GNUC__)\n#pragma STDC FP_CONTRACT OFF\n#elif !defined(__STRICT_ANSI__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n";
    let limits = |end: fn(&(f64, f64)) -> f64| number_list(runtime.limits.iter().map(end));
    text += &format!("static const double lower[{m}] = {{ {} }};\n", limits(|r| r.0));
    text += &format!("static const double upper[{m}] = {{ {} }};\n", limits(|r| r.1));
    let corners: Vec<String> =
        runtime.corners.iter().map(|c| format!("    {{ {} }}", number_list(c.iter().copied()))).collect();
    if choices > 0 {
        text +=
            &format!("static const double corners[{}][{choices}] = {{\n{}\n}};\n", corners.len(), corners.join(",\n"));
    }
    text += "\nstatic void limit(double *a)\n{\n    int i;\n";
    text += &format!(
        "    for (i = 0; i < {m}; i++) {{\n        double above = a[i] >= lower[i] ? a[i] : lower[i];\n        a[i] = above <= upper[i] ? above : upper[i];\n    }}\n}}\n\n"
    );
    let d = if choices > 0 { ", const double *d" } else { "" };
    text += &format!("static void predict(const double *x, const double *a{d}, double *y)\n{{\n    (void)a;\n");
    for (i, form) in runtime.next.iter().enumerate() {
        text += &format!("    y[{i}] = {};\n", polynomial(form, n, m));
    }
    text += "}\n\n";
    text += "static int in_domain(const double *x)\n{\n    return ";
    text += &format!("{};\n}}\n\n", in_box(&runtime.domain, AND));
    for (b, branch) in runtime.branches.iter().enumerate() {
        for kind in Test::ALL {
            text += &format!("static int {}_{b}(const double *x)\n{{\n    return ", kind.name());
            text += &format!("{};\n}}\n\n", condition(branch, kind, n, m, AND, OR));
        }
        text += &format!("static void program_{b}(const double *x, double *a)\n{{\n    (void)x;\n");
        for (i, form) in branch.program.iter().enumerate() {
            text += &format!("    a[{i}] = {};\n", polynomial(form, n, m));
        }
        text += "}\n\n";
    }
    let dispatch = |kind: &str, otherwise: &str| {
        let cases: String =
            (0..runtime.branches.len()).map(|b| format!("    case {b}: return {kind}_{b}(x);\n")).collect();
        format!(
            "static int {kind}(int branch, const double *x)\n{{\n    switch (branch) {{\n{cases}    default: return {otherwise};\n    }}\n}}\n\n"
        )
    };
    for kind in Test::ALL {
        text += &dispatch(kind.name(), "0");
    }
    let cases: String =
        (0..runtime.branches.len()).map(|b| format!("    case {b}: program_{b}(x, a); break;\n")).collect();
    text += &format!(
        "static void program(int branch, const double *x, double *a)\n{{\n    switch (branch) {{\n{cases}    default: break;\n    }}\n}}\n\n"
    );
    let (loop_head, call) = match choices {
        0 => ("    {\n", "predict(x, a, y);"),
        _ => ("", ""),
    };
    let count = runtime.corners.len();
    text += &format!(
        "static int kept(int branch, int holding, const double *x, const double *a)\n{{\n    double y[{n}];\n"
    );
    if choices == 0 {
        text += &format!(
            "{loop_head}        {call}\n        if (!in_domain(y) || !(holding ? well_inside(branch, y) : surely_inside(branch, y))) return 0;\n    }}\n    return 1;\n}}\n\n"
        );
    } else {
        text += &format!(
            "    int corner;\n    for (corner = 0; corner < {count}; corner++) {{\n        predict(x, a, corners[corner], y);\n        if (!in_domain(y) || !(holding ? well_inside(branch, y) : surely_inside(branch, y))) return 0;\n    }}\n    return 1;\n}}\n\n"
        );
    }
    let branches = runtime.branches.len();
    text += &format!(
        "void {name}_start({name}_monitor *monitor)
{{
    monitor->branch = -1;
    monitor->holding = 0;
    monitor->alarm = 0;
    monitor->steps = 0;
    monitor->interventions = 0;
}}

int {name}_decide({name}_monitor *monitor, const double *state, double *actions, const double *fallback)
{{
    int branch, i, decision;
    monitor->steps++;
    limit(actions);
    if (monitor->branch >= 0 && kept(monitor->branch, monitor->holding, state, actions)) {{
        monitor->holding = 0;
        return 0;
    }}
    for (branch = 0; branch < {branches}; branch++) {{
        if (branch != monitor->branch && kept(branch, monitor->holding, state, actions)) {{
            monitor->branch = branch;
            monitor->holding = 0;
            return 0;
        }}
    }}
    monitor->holding = 1;
    branch = monitor->branch >= 0 && inside(monitor->branch, state) ? monitor->branch : -1;
    for (i = 0; branch < 0 && i < {branches}; i++) {{
        if (inside(i, state)) branch = i;
    }}
    if (branch >= 0) {{
        monitor->branch = branch;
        program(branch, state, actions);
        decision = 1;
    }} else {{
        monitor->alarm = 1;
        if (fallback == NULL) {{
            program(monitor->branch >= 0 ? monitor->branch : 0, state, actions);
        }} else {{
            for (i = 0; i < {m}; i++) actions[i] = fallback[i];
        }}
        decision = 2;
    }}
    limit(actions);
    monitor->interventions++;
    return decision;
}}
"
    );
    text
}

/// Numbers of an initialiser; infinities as expressions.
fn number_list(values: impl Iterator<Item = f64>) -> String {
    let shown = |x: f64| match x {
        x if x == f64::INFINITY => "1e308 * 10.0".to_owned(),
        x if x == f64::NEG_INFINITY => "-1e308 * 10.0".to_owned(),
        x => format!("{x:?}"),
    };
    values.map(shown).collect::<Vec<_>>().join(", ")
}
