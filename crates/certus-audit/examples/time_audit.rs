//! Times the check of a regular certificate on a network of six layers of fifty neurons, as large as those of ACAS Xu.
//!
//! `cargo run --release -p certus-audit --example time_audit -- [depth] [refine]`

use std::time::Instant;

use certus_audit::{Atom, Formula, Problem, Variable, check, read_header};
use certus_graph::ops::{Affine, Relu};
use certus_graph::{Graph, GraphError, Interval};

/// Numbers that look random, between −1 and 1.
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn network() -> Result<Graph, GraphError> {
    let mut graph = Graph::new();
    let mut node = graph.input("x", &[5]);
    let mut state = 1;
    for (layer, width) in [50, 50, 50, 50, 50, 50, 5].into_iter().enumerate() {
        let columns = graph.elements(node);
        let scale = (6.0 / columns as f64).sqrt();
        let weights = (0..width * columns).map(|_| noise(&mut state) * scale).collect();
        let bias = (0..width).map(|_| noise(&mut state) * 0.1).collect();
        node = graph.apply(Affine::dense(weights, width, columns, bias)?, &[node])?;
        if layer < 6 {
            node = graph.apply(Relu, &[node])?;
        }
    }
    graph.output("y", node);
    Ok(graph)
}

fn main() -> Result<(), GraphError> {
    let mut arguments = std::env::args().skip(1);
    let depth: u32 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(10);
    let refine = arguments.next().is_some();
    let graph = network()?;
    let (lower, upper) = (vec![-0.05; 5], vec![0.05; 5]);
    // Two terms, so that interval bounds alone do not decide it; the constant makes every leaf hold.
    let terms = vec![(Variable::Output(0), Interval::ONE), (Variable::Output(1), -Interval::ONE)];
    let formula = Formula::Atom(Atom { terms, constant: Interval::point(1e3), strict: false });
    let problem = Problem { graph: &graph, lower: lower.clone(), upper: upper.clone(), formula };
    let digest = certus_audit::digest(b"");
    let mut text = format!("certus-certificate 1\nquery {digest} none\ncase 0\n");
    let mut waiting = vec![(lower, upper, 0u32)];
    while let Some((lower, upper, level)) = waiting.pop() {
        if refine && level == depth {
            text.push_str("refine\n");
        }
        if level == depth {
            text.push_str("close a0:1.0\n");
            continue;
        }
        let input = level as usize % 5;
        let at = lower[input] / 2.0 + upper[input] / 2.0;
        text.push_str(&format!("split input {input} {at:?}\n"));
        let (mut left, mut right) = (upper.clone(), lower.clone());
        (left[input], right[input]) = (at, at);
        waiting.push((right, upper, level + 1));
        waiting.push((lower, left, level + 1));
    }
    text.push_str("end\n");
    let start = Instant::now();
    let verdict = read_header(text.as_bytes())
        .and_then(|(_, certificate)| check(std::slice::from_ref(&problem), certificate, &mut |_| {}));
    let seconds = start.elapsed().as_secs_f64();
    match verdict {
        Ok(summary) => {
            println!("{summary:?}: {seconds:.3} s, {:.1} µs per leaf", 1e6 * seconds / summary.leaves as f64)
        }
        Err(rejection) => println!("refused: {rejection}"),
    }
    Ok(())
}
