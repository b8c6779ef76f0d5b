//! Random questions about random graphs, and what can be said of their answers without the solver.

#![allow(dead_code, reason = "each test file uses its own part")]

use certus_audit::Problem;
use certus_graph::eval::enclose;
use certus_graph::ops::{Affine, Clip, Concat, Reshape, Slice, SliceRange};
use certus_graph::{Graph, Interval, NodeId};
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::vnnlib::Variable;
use certus_solver::{Query, Region, Witness};

/// Numbers from a seed.
pub struct Numbers(pub u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        // splitmix64: low bits are as good as high ones.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// A dense layer with random weights that are float32 values.
pub fn layer(graph: &mut Graph, x: NodeId, rows: usize, scale: f64, numbers: &mut Numbers) -> NodeId {
    let columns = graph.elements(x);
    let mut number = || f64::from((numbers.signed() * scale) as f32);
    let weights = (0..rows * columns).map(|_| number()).collect();
    let bias = (0..rows).map(|_| number()).collect();
    graph.apply(Affine::dense(weights, rows, columns, bias).unwrap(), &[x]).unwrap()
}

/// A dense layer.
pub fn dense(graph: &mut Graph, x: NodeId, weights: &[f64], bias: &[f64]) -> NodeId {
    let affine = Affine::dense(weights.to_vec(), bias.len(), graph.elements(x), bias.to_vec());
    graph.apply(affine.unwrap(), &[x]).unwrap()
}

/// All elements of some nodes in one vector.
pub fn flat(graph: &mut Graph, nodes: &[NodeId]) -> NodeId {
    let vectors: Vec<NodeId> = nodes
        .iter()
        .map(|&node| graph.apply(Reshape { shape: vec![graph.elements(node)] }, &[node]).unwrap())
        .collect();
    graph.apply(Concat { axis: 0 }, &vectors).unwrap()
}

fn first_elements(graph: &mut Graph, x: NodeId, count: usize) -> NodeId {
    let len = graph.elements(x).min(count);
    graph.apply(Slice::new(vec![SliceRange { axis: 0, start: 0, step: 1, len }]), &[x]).unwrap()
}

/// How copies of a graph are put together.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub inputs: usize,
    /// Inputs that nothing reads; with many of them the search cuts elements instead of inputs.
    pub unused: usize,
    pub copies: usize,
    /// Whether a copy reads the one before it, as steps of a loop do.
    pub looped: bool,
}

/// Copies of a graph that read random mixtures of a few shared inputs, each with up to two outputs.
pub fn assemble(inner: &Graph, plan: Plan, numbers: &mut Numbers) -> Graph {
    let mut graph = Graph::new();
    let x = graph.input("x", &[plan.inputs]);
    if plan.unused > 0 {
        graph.input("unused", &[plan.unused]);
    }
    let mut state = x;
    for copy in 0..plan.copies {
        let arguments: Vec<NodeId> = inner
            .inputs()
            .iter()
            .map(|port| layer(&mut graph, state, inner.elements(port.node), 1.0, numbers))
            .collect();
        let outputs = graph.inline(inner, &arguments).unwrap();
        let together = flat(&mut graph, &outputs);
        let y = first_elements(&mut graph, together, 2);
        graph.output(&format!("y{copy}"), y);
        if plan.looped {
            let next = layer(&mut graph, together, 2, 0.7, numbers);
            state = graph.apply(Clip { lower: -2.0, upper: 2.0 }, &[next]).unwrap();
        }
    }
    graph
}

/// A question.
#[derive(Clone, Debug)]
pub struct Asked {
    pub graph: Graph,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub formula: Formula<Variable>,
}

impl Asked {
    pub fn query(&self) -> Query {
        Query::new(&self.graph, Region::new(self.lower.clone(), self.upper.clone()), self.formula.clone()).unwrap()
    }

    /// A random point of the region; often at its border.
    pub fn point(&self, numbers: &mut Numbers) -> Vec<f64> {
        let border = numbers.chance(0.3);
        let ends = self.lower.iter().zip(&self.upper);
        ends.map(|(&low, &high)| {
            let t = if border && numbers.chance(0.7) { numbers.unit().round() } else { numbers.unit() };
            (low + t * (high - low)).clamp(low, high)
        })
        .collect()
    }

    /// Whether the formula holds at a point, over the reals; nothing where that cannot be told.
    pub fn truth(&self, point: &[f64]) -> Option<bool> {
        truth(&self.graph, &self.formula, point)
    }

    /// Why a witness is none, if so.
    pub fn fault(&self, witness: &Witness) -> Option<String> {
        let inside = witness.inputs.iter().zip(self.lower.iter().zip(&self.upper));
        if witness.inputs.len() != self.lower.len() || inside.clone().any(|(x, (low, high))| x < low || x > high) {
            return Some(format!("{:?} lies outside", witness.inputs));
        }
        let outputs = floats(&self.graph, &witness.inputs);
        let holds = self.formula.certainty(&|variable| match *variable {
            Variable::Input(index) => Interval::point(witness.inputs[index]),
            Variable::Output(index) => Interval::point(outputs[index]),
        });
        let printed = self.formula.certainty(&|variable| match *variable {
            Variable::Input(index) => Interval::point(witness.inputs[index]),
            Variable::Output(index) => Interval::point(f64::from(witness.outputs[index])),
        });
        ((holds, printed) != (Some(true), Some(true))).then(|| format!("{witness:?} gives {outputs:?}"))
    }

    /// Checks a tree of records with the independent checker.
    pub fn audit(&self, tree: &str) -> Result<u64, String> {
        let problem = Problem {
            graph: &self.graph,
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            formula: audited(&self.formula),
        };
        let digest = certus_audit::digest(b"");
        let text = format!("certus-certificate 1\nquery {digest} question\ncase 0\n{tree}end\n");
        let (_, certificate) = certus_audit::read_header(text.as_bytes()).map_err(|fault| fault.to_string())?;
        let summary = certus_audit::check(std::slice::from_ref(&problem), certificate, &mut |_| {});
        summary.map(|summary| summary.leaves).map_err(|fault| {
            let line = text.lines().nth(fault.line.saturating_sub(1) as usize).unwrap_or("");
            format!("{fault}: {}", &line[..line.len().min(200)])
        })
    }
}

fn audited(formula: &Formula<Variable>) -> certus_audit::Formula {
    let all = |parts: &[Formula<Variable>]| parts.iter().map(audited).collect();
    match formula {
        Formula::Atom(atom) => {
            let variable = |variable: &Variable| match *variable {
                Variable::Input(index) => certus_audit::Variable::Input(index),
                Variable::Output(index) => certus_audit::Variable::Output(index),
            };
            let terms = atom.linear.terms.iter().map(|(own, coefficient)| (variable(own), *coefficient)).collect();
            certus_audit::Formula::Atom(certus_audit::Atom {
                terms,
                constant: atom.linear.constant,
                strict: atom.strict,
            })
        }
        Formula::And(parts) => certus_audit::Formula::And(all(parts)),
        Formula::Or(parts) => certus_audit::Formula::Or(all(parts)),
    }
}

fn split<'a, T>(graph: &Graph, values: &'a [T]) -> Vec<&'a [T]> {
    let mut rest = values;
    let parts = graph.inputs().iter().map(|port| {
        let (own, after) = rest.split_at(graph.elements(port.node));
        rest = after;
        own
    });
    parts.collect()
}

/// The flattened outputs in floats.
pub fn floats(graph: &Graph, point: &[f64]) -> Vec<f64> {
    certus_graph::eval::evaluate(graph, &split(graph, point)).unwrap().into_iter().flatten().collect()
}

/// Enclosures of the flattened outputs at a point.
pub fn outputs_at(graph: &Graph, point: &[f64]) -> Vec<Interval> {
    let point: Vec<Interval> = point.iter().map(|&value| Interval::point(value)).collect();
    enclose(graph, &split(graph, &point)).unwrap().into_iter().flatten().collect()
}

pub fn truth(graph: &Graph, formula: &Formula<Variable>, point: &[f64]) -> Option<bool> {
    let outputs = outputs_at(graph, point);
    formula.certainty(&|variable| match *variable {
        Variable::Input(index) => Interval::point(point[index]),
        Variable::Output(index) => outputs[index],
    })
}

/// Σ coefficient · variable + constant.
pub fn linear(terms: &[(Variable, f64)], constant: f64) -> Linear<Variable> {
    let terms = terms.iter().map(|&(variable, coefficient)| (variable, Interval::point(coefficient))).collect();
    Linear { terms, constant: Interval::point(constant) }
}

/// Σ coefficient · variable + constant ≤ 0.
pub fn at_most(terms: &[(Variable, f64)], constant: f64) -> Formula<Variable> {
    Formula::Atom(Atom { linear: linear(terms, constant), strict: false })
}

/// Σ coefficient · variable + constant < 0.
pub fn below(terms: &[(Variable, f64)], constant: f64) -> Formula<Variable> {
    Formula::Atom(Atom { linear: linear(terms, constant), strict: true })
}

/// Values of a linear function at sampled points, least first; those that are no numbers are left out.
fn sampled(left: &Linear<Variable>, samples: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let value = |(x, y): &(Vec<f64>, Vec<f64>)| {
        let term = |(variable, c): &(Variable, Interval)| match *variable {
            Variable::Input(index) => c.lo * x[index],
            Variable::Output(index) => c.lo * y[index],
        };
        left.terms.iter().map(term).sum::<f64>()
    };
    let mut values: Vec<f64> = samples.iter().map(value).filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// An atom over some inputs and outputs, whose threshold lies near the least value that samples give, on either side, or
/// among the values.
fn random_atom(samples: &[(Vec<f64>, Vec<f64>)], inputs: usize, numbers: &mut Numbers) -> Formula<Variable> {
    let outputs = samples[0].1.len();
    let mut terms: Vec<(Variable, f64)> = Vec::new();
    for _ in 0..1 + numbers.below(3) {
        let variable = match numbers.below(3) {
            0 => Variable::Input(numbers.below(inputs)),
            _ => Variable::Output(numbers.below(outputs)),
        };
        let coefficient = if numbers.chance(0.5) { numbers.signed() } else { [1.0, -1.0, 2.0][numbers.below(3)] };
        if terms.iter().all(|(own, _)| *own != variable) {
            terms.push((variable, coefficient));
        }
    }
    let mut left = linear(&terms, 0.0);
    let values = sampled(&left, samples);
    let threshold = match (values.first(), values.last()) {
        (Some(&least), Some(&most)) => match numbers.below(4) {
            0 => values[numbers.below(values.len())],
            // Touched, if the least sample is the least value.
            1 => least,
            _ => least - (most - least) * [-0.2, -0.02, 1e-3, 0.01, 0.05, 0.3, 1.0][numbers.below(7)],
        },
        _ => numbers.signed(),
    };
    left.constant = Interval::point(-threshold);
    // c·v = t as two atoms.
    if numbers.chance(0.1) {
        let negated: Vec<(Variable, f64)> = terms.iter().map(|&(variable, c)| (variable, -c)).collect();
        let pair = [Formula::Atom(Atom { linear: left, strict: false }), at_most(&negated, threshold)];
        return Formula::And(pair.to_vec());
    }
    Formula::Atom(Atom { linear: left, strict: numbers.chance(0.5) })
}

/// A formula whose conjunctions and disjunctions are nested up to `depth` times.
pub fn random_formula(
    samples: &[(Vec<f64>, Vec<f64>)],
    inputs: usize,
    depth: usize,
    numbers: &mut Numbers,
) -> Formula<Variable> {
    if depth == 0 || numbers.chance(0.3) {
        return random_atom(samples, inputs, numbers);
    }
    let count = if numbers.chance(0.04) { 0 } else { 1 + numbers.below(3) };
    let parts = (0..count).map(|_| random_formula(samples, inputs, depth - 1, numbers)).collect();
    if numbers.chance(0.5) { Formula::And(parts) } else { Formula::Or(parts) }
}

/// A question about copies of a graph, near the border between yes and no.
pub fn ask(inner: &Graph, plan: Plan, numbers: &mut Numbers) -> Asked {
    let graph = assemble(inner, plan, numbers);
    let mut asked = Asked { graph, lower: Vec::new(), upper: Vec::new(), formula: Formula::And(Vec::new()) };
    for input in 0..plan.inputs + plan.unused {
        let low = numbers.signed();
        let width = if input < plan.inputs && numbers.chance(0.1) { 0.0 } else { numbers.unit() };
        asked.lower.push(low);
        asked.upper.push(low + width);
    }
    let samples: Vec<(Vec<f64>, Vec<f64>)> = (0..60)
        .map(|_| {
            let x = asked.point(numbers);
            let y = floats(&asked.graph, &x);
            (x, y)
        })
        .collect();
    asked.formula = random_formula(&samples, plan.inputs, 3, numbers);
    asked
}
