//! Taylor models as an abstract domain: the transfer functions of a forward pass over a lowered graph.
//!
//! Networks and plants are the same to it. Affine nodes are one matrix product over all columns, as in `certus-solver`'s zonotopes; curves and products are
//! composed ([`crate::curves`], [`crate::form`]). A comparison whose outcome the set leaves open is either given (the pass is about one *case*, and the set
//! was intersected with it) or noted, so that whoever runs the pass can tell the cases apart.
//!
//! *Soundness.* By the transfer functions' own; a given outcome restricts the statement to the values for which it is the true one.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use certus_graph::lower::lower;
use certus_graph::ops::{Arg, Flow, Op, Operator, Quantity, Throughout};
use certus_graph::{Graph, GraphError, Interval};
use certus_solver::domain::{
    AbstractDomain, Curve, Keeps, Layer, Program, Role, flat_outputs, last_readers_with, walk,
};
use certus_solver::rounding::{ROOM, gamma};

use crate::choice::{Branch, Choice, Place, choices};
use crate::curves;
use crate::flow::Pipe;
use crate::form::{Form, Space, magnitude};
use crate::relevance::{Certain, Dependence};

/// A comparison in the graph: its node and element.
pub(crate) type Guard = (usize, usize);

/// A graph that is prepared for passes, with the conditions that it asks for throughout a period.
pub(crate) struct Prepared {
    pub(crate) program: Program,
    pub(crate) last_reader: Vec<usize>,
    /// For each flattened output, its node and element.
    pub(crate) outputs: Vec<(usize, usize)>,
    /// For each node, whether the errors of its elements have no symbols: the one affine node that reads it gives them some.
    has_errors: Vec<bool>,
    /// By the node that asks.
    conditions: BTreeMap<usize, Prepared>,
    /// What rows of affine nodes choose between, by their node and row.
    choices: BTreeMap<(usize, usize), Choice>,
}

impl Prepared {
    pub(crate) fn new(graph: &Graph) -> Result<Prepared, GraphError> {
        let program = Program::new(lower(graph)?);
        let outputs = flat_outputs(&program);
        let mut last_reader = last_readers_with(&program, &outputs);
        let choices = choices(&program);
        for (&(node, _), choice) in &choices {
            choice.nodes().into_iter().for_each(|own| last_reader[own] = last_reader[own].max(node));
            // What is certain is asked for once more at the end.
            choice.conditions().into_iter().for_each(|(own, _)| last_reader[own] = usize::MAX);
        }
        let has_errors = curves_of_one_layer(&program, &outputs);
        let mut conditions = BTreeMap::new();
        for (place, node) in program.graph.nodes().iter().enumerate() {
            if let Op::Throughout(own) = &node.op {
                conditions.insert(place, Prepared::new(own.condition.graph())?);
            }
        }
        Ok(Prepared { program, last_reader, outputs, has_errors, conditions, choices })
    }
}

/// For each node, whether it is a curve that one large affine node reads, and nothing else.
fn curves_of_one_layer(program: &Program, outputs: &[(usize, usize)]) -> Vec<bool> {
    let mut readers = vec![Vec::new(); program.roles.len()];
    for (reader, node) in program.graph.nodes().iter().enumerate() {
        node.inputs.iter().for_each(|argument| readers[argument.index()].push(reader));
    }
    let is_large = |node: usize, argument: usize| match (&program.roles[node], &program.graph.nodes()[node].op) {
        (Role::Affine(layer), Op::Affine(_)) => layer
            .terms
            .iter()
            .any(|term| term.argument == argument && program.sizes[node] * term.weights.cols() > SMALL),
        _ => false,
    };
    let is_output = |node: usize| outputs.iter().any(|&(own, _)| own == node);
    (0..program.roles.len())
        .map(|node| match (&program.roles[node], readers[node].as_slice()) {
            (Role::Curve(..), [reader]) => is_large(*reader, node) && !is_output(node),
            _ => false,
        })
        .collect()
}

/// One pass over a graph.
pub(crate) struct Pass<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) program: &'a Program,
    pub(crate) space: Space,
    /// The inputs, flattened.
    pub(crate) inputs: &'a [Form],
    /// Outcomes of comparisons that are given: whether the argument is positive.
    pub(crate) cases: &'a BTreeMap<Guard, Side>,
    /// For each node, whether the successor depends on it.
    pub(crate) matters: &'a [bool],
    /// The comparisons that may matter, are open and are not given, with their arguments.
    open: Vec<(Guard, Form)>,
    /// Factors of products that do not count.
    idle: BTreeSet<(Place, bool)>,
    /// Margins that were not certain throughout a period, where they were smallest.
    pub(crate) hints: Vec<Form>,
    values: Vec<Vec<Form>>,
    scratch: Vec<f64>,
    /// The solutions from the state and held numbers of some nodes.
    pub(crate) pipes: BTreeMap<(usize, usize), Option<Rc<Pipe>>>,
}

/// Affine nodes with at most so many weights per matrix are enclosed by intervals, too.
const SMALL: usize = 256;

/// Errors of a layer that are this share of what the next one makes of the set remain errors; larger ones become symbols.
const SMALL_ERROR: f64 = 1e-4;

/// Into how many slices of time each step of a pipe is cut, one after the other, until a condition is decided.
const CUTS: [usize; 3] = [1, 4, 16];

/// On which side of zero the argument of a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    Above,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        prepared: &'a Prepared,
        space: Space,
        inputs: &'a [Form],
        cases: &'a BTreeMap<Guard, Side>,
        matters: &'a [bool],
    ) -> Pass<'a> {
        Pass {
            prepared,
            program: &prepared.program,
            space,
            inputs,
            cases,
            matters,
            open: Vec::new(),
            idle: BTreeSet::new(),
            hints: Vec::new(),
            values: Vec::with_capacity(prepared.program.roles.len()),
            scratch: Vec::new(),
            pipes: BTreeMap::new(),
        }
    }

    /// Walks through the graph; nothing if some node has no value.
    pub(crate) fn run(&mut self) -> Option<()> {
        walk(self.program, self, &self.prepared.last_reader)
    }

    /// A flattened output, after the pass.
    pub(crate) fn output(&self, place: usize) -> &Form {
        let (node, element) = self.prepared.outputs[place];
        &self.values[node][element]
    }

    /// The open comparisons that some outputs depend on, with their arguments.
    pub(crate) fn open(&self, outputs: std::ops::Range<usize>) -> Vec<(Guard, Form)> {
        if self.open.is_empty() {
            return Vec::new();
        }
        let Prepared { program, choices, .. } = self.prepared;
        let conditions = choices.values().flat_map(Choice::conditions);
        let truth = |place: Place| Some((place, self.values[place.0][place.1].range.certainty()?));
        let conditions = conditions.filter_map(truth).collect();
        let certain = Certain { idle: &self.idle, conditions };
        let dependence = Dependence { program, choices, certain }.of(&self.prepared.outputs[outputs]);
        self.open.iter().filter(|((node, element), _)| dependence[*node][*element]).cloned().collect()
    }

    fn pipe(&mut self, flow: &Flow, state: usize, held: usize) -> Option<Rc<Pipe>> {
        if let Some(known) = self.pipes.get(&(state, held)) {
            return known.clone();
        }
        let own = &self.values[held][..flow.field.held()];
        let found = Pipe::new(&mut self.space, &flow.field, &self.values[state], own, flow.duration).map(Rc::new);
        self.pipes.insert((state, held), found.clone());
        found
    }

    /// A condition at all instants of a part of the period: its truth, and where its margin lies.
    fn throughout(&mut self, node: usize, own: &Throughout, state: usize, held: usize) -> Option<Interval> {
        let pipe = self.pipe(&own.flow, state, held)?;
        let prepared = self.prepared.conditions.get(&node)?;
        let field = &own.flow.field;
        let mut forms: Vec<Form> = self.values[held][..field.held()].to_vec();
        let varying: Vec<Form> = field.varying().iter().map(|range| self.space.noise(*range)).collect();
        forms.extend(varying);
        let inside = |x: f64| x.clamp(0.0, pipe.duration());
        let (from, to) = (inside(own.from.lo), inside(own.to.hi));
        let mut answer = (Interval::UNKNOWN_TRUTH, Interval::ENTIRE);
        let mut worst = None::<Form>;
        for cuts in CUTS {
            let mut space = self.space.clone();
            let mut all = Some(true);
            let mut least = None::<Interval>;
            worst = None;
            for (_, slice) in pipe.slices(&mut space, from, to, cuts) {
                let inputs: Vec<Form> = slice.into_iter().chain(forms.iter().cloned()).collect();
                let matters = vec![false; prepared.program.roles.len()];
                let none = BTreeMap::new();
                let mut pass = Pass::new(prepared, space.clone(), &inputs, &none, &matters);
                pass.run()?;
                let (truth, margin) = (pass.output(0).range.certainty(), pass.output(1));
                let certain = truth.or(if margin.range.lo > 0.0 { Some(true) } else { None });
                all = if certain == Some(true) { all } else { None };
                if worst.as_ref().is_none_or(|own| margin.range.lo < own.range.lo) {
                    worst = Some(margin.clone());
                }
                least = Some(least.map_or(margin.range, |least| least.min(margin.range)));
            }
            answer = (Interval::from_certainty(all), least.unwrap_or(Interval::ENTIRE));
            if all == Some(true) || answer.1.hi < 0.0 {
                break;
            }
        }
        if answer.0 == Interval::UNKNOWN_TRUTH {
            self.hints.extend(worst);
        }
        Some(match own.quantity {
            Quantity::Truth => answer.0,
            Quantity::Margin => answer.1,
        })
    }

    /// What the operator's own enclosure makes of the ranges of its arguments.
    fn enclosed(&self, node: usize) -> Vec<Interval> {
        let own = &self.program.graph.nodes()[node];
        let range = |form: &Form| form.range;
        let arguments: Vec<Vec<Interval>> =
            own.inputs.iter().map(|argument| self.values[argument.index()].iter().map(range).collect()).collect();
        let shapes = own.inputs.iter().map(|&argument| self.program.graph.shape(argument));
        let arguments: Vec<Arg<'_, Interval>> =
            shapes.zip(&arguments).map(|(shape, values)| Arg { shape, values }).collect();
        let mut ranges = vec![Interval::ENTIRE; self.program.sizes[node]];
        own.op.enclose(&arguments, &own.shape, &mut ranges);
        ranges
    }

    fn table(&self, argument: usize, width: usize) -> Vec<f64> {
        let forms = &self.values[argument];
        let mut table = vec![0.0; forms.len() * width];
        for (row, form) in table.chunks_exact_mut(width).zip(forms) {
            row[..form.coefficients.len()].copy_from_slice(&form.coefficients);
        }
        table
    }

    /// What a choice comes to, given what the affine map makes of it.
    fn chosen(&self, choice: &Choice, form: Form) -> Form {
        let (node, element) = choice.condition;
        match self.values[node][element].range {
            condition if condition == Interval::ZERO => self.branch(&choice.refused),
            condition if condition == Interval::ONE => self.branch(&choice.chosen),
            _ => match self.either(choice) {
                Some(range) => self.space.within(form, range),
                None => form,
            },
        }
    }

    fn branch(&self, branch: &Branch) -> Form {
        match branch {
            Branch::Row(row) => {
                let value = |(node, element): (usize, usize)| &self.values[node][element];
                let terms: Vec<(Interval, &Form)> =
                    row.terms.iter().map(|&(place, weight)| (Interval::point(weight), value(place))).collect();
                self.space.combine(&terms, Interval::point(row.bias))
            }
            Branch::Choice(own) => {
                let range = self.either(own).unwrap_or(Interval::ENTIRE);
                self.chosen(own, self.space.constant(range))
            }
        }
    }

    /// Where both branches of a choice are, together; nothing if its condition may be no truth.
    fn either(&self, choice: &Choice) -> Option<Interval> {
        let (node, element) = choice.condition;
        let is_truth = Interval::UNKNOWN_TRUTH.encloses(self.values[node][element].range);
        is_truth.then(|| self.branch(&choice.refused).range.hull(self.branch(&choice.chosen).range))
    }

    /// The range of a comparison's argument, as far as the case says.
    fn argument_of(&self, guard: Guard, form: &Form) -> Interval {
        let range = form.range;
        let wanted = match self.cases.get(&guard) {
            Some(Side::Below) => Interval { lo: f64::NEG_INFINITY, hi: 0.0 },
            Some(Side::Above) => Interval { lo: 0.0, hi: f64::INFINITY },
            None => return range,
        };
        range.intersection(wanted).unwrap_or(range)
    }
}

impl AbstractDomain for Pass<'_> {
    type Value = Vec<Form>;

    fn input(&mut self, node: usize, offset: usize) -> Option<Vec<Form>> {
        Some(self.inputs[offset..offset + self.program.sizes[node]].to_vec())
    }

    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Vec<Form>> {
        let program = self.program;
        let rows = program.sizes[node];
        let widths =
            layer.terms.iter().flat_map(|term| &self.values[term.argument]).map(|form| form.coefficients.len());
        let width = widths.max().unwrap_or(1).max(self.space.monomials.len());
        let mut table = vec![0.0; rows * width];
        for (row, bias) in table.chunks_exact_mut(width).zip(&layer.bias) {
            row[0] = *bias;
        }
        for term in &layer.terms {
            let argument = self.table(term.argument, width);
            term.weights.mul_acc(&argument, &mut table, width, &mut self.scratch);
        }
        let sizes: Vec<f64> = table.chunks_exact(width).map(|row| magnitude(&row[1..])).collect();
        let mut errors = vec![0.0; rows];
        let mut symbols = Vec::new();
        let mut slack = 0.0;
        let mut longest = 0;
        for (place, term) in layer.terms.iter().enumerate() {
            let columns = term.weights.cols();
            longest = longest.max(columns);
            let factor = gamma(columns + layer.terms.len());
            let mut own: Vec<f64> = self.values[term.argument].iter().map(|form| form.error).collect();
            let forms = &self.values[term.argument];
            let rounded: Vec<f64> =
                forms.iter().map(|form| (magnitude(&form.coefficients) + form.error) * ROOM).collect();
            slack += term.weight_error * rounded.iter().sum::<f64>() * ROOM;
            if self.prepared.has_errors[term.argument] {
                let mut added = vec![0.0; rows];
                term.magnitudes.mul_acc(&own, &mut added, 1, &mut self.scratch);
                if added.iter().zip(&sizes).any(|(error, size)| *error > SMALL_ERROR * size) {
                    let sized = own.iter_mut().enumerate().filter(|(_, error)| **error > 0.0);
                    symbols.extend(sized.map(|(element, error)| (place, element, std::mem::take(error))));
                }
            }
            own.iter_mut().zip(&rounded).for_each(|(error, size)| *error += factor * size);
            term.magnitudes.mul_acc(&own, &mut errors, 1, &mut self.scratch);
        }
        let (first, wider) = match symbols.is_empty() {
            true => (width, width),
            false => (self.space.columns, self.space.columns + symbols.len()),
        };
        self.space.columns = self.space.columns.max(wider);
        let mut wide = vec![0.0; rows * wider];
        for (to, from) in wide.chunks_exact_mut(wider).zip(table.chunks_exact(width)) {
            to[..width].copy_from_slice(from);
        }
        if let (false, Op::Affine(op)) = (symbols.is_empty(), &program.graph.nodes()[node].op) {
            let mut columns: Vec<Vec<Option<(usize, f64)>>> =
                layer.terms.iter().map(|term| vec![None; term.weights.cols()]).collect();
            for (column, &(place, element, size)) in symbols.iter().enumerate() {
                columns[place][element] = Some((first + column, size));
            }
            for (row, to) in wide.chunks_exact_mut(wider).enumerate() {
                for (matrix, columns) in op.matrices().iter().zip(&columns) {
                    for (element, weight) in matrix.row(row) {
                        if let Some((column, size)) = columns[element] {
                            to[column] += weight * size;
                        }
                    }
                }
            }
        }
        // Intervals keep what is exact: counters, clocks and whatever else is one number for the whole set.
        let ranges = if rows * longest <= SMALL { self.enclosed(node) } else { Vec::new() };
        let own = 1.0 + gamma(longest + layer.terms.len());
        let sums = gamma(layer.terms.len() + 2);
        let forms = wide.chunks_exact(wider).zip(errors).enumerate().map(|(row, (coefficients, error))| {
            let rest = slack + sums * layer.bias[row].abs() + layer.bias_error[row];
            let error = (error * own + rest) * ROOM + f64::MIN_POSITIVE;
            let form = Form { coefficients: coefficients.to_vec(), error, range: Interval::ENTIRE };
            let form = self.space.within(form, ranges.get(row).copied().unwrap_or(Interval::ENTIRE));
            match self.prepared.choices.get(&(node, row)) {
                Some(choice) => self.chosen(choice, form),
                None => form,
            }
        });
        Some(forms.collect())
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Vec<Form>> {
        Some(sources.iter().map(|&(argument, element)| self.values[argument][element].clone()).collect())
    }

    fn curve(&mut self, node: usize, curve: &Curve, argument: usize) -> Option<Vec<Form>> {
        let forms = std::mem::take(&mut self.values[argument]);
        let mut found = Vec::with_capacity(forms.len());
        for (element, form) in forms.iter().enumerate() {
            if let Curve::Step { below, at, above } = *curve {
                let range = self.argument_of((node, element), form);
                // The border belongs to the case whose value it has; where it has neither, the cases are not told apart.
                let two_cases = at == below || at == above;
                let value = match self.cases.get(&(node, element)) {
                    Some(Side::Below) if two_cases && range.hi <= 0.0 => Interval::point(below),
                    Some(Side::Above) if two_cases && range.lo >= 0.0 => Interval::point(above),
                    _ => curve.enclose(range),
                };
                if value.lo != value.hi && two_cases && self.matters[node] {
                    self.open.push(((node, element), form.clone()));
                }
                found.push(self.space.noise(value));
                continue;
            }
            let mut own = curves::apply(&self.space, curve, form);
            if !self.prepared.has_errors[node] {
                self.space.name_error(&mut own);
            }
            found.push(own);
        }
        self.values[argument] = forms;
        Some(found)
    }

    fn product(&mut self, node: usize, left: usize, right: usize) -> Option<Vec<Form>> {
        let mut found = Vec::with_capacity(self.values[left].len());
        for (element, (x, y)) in self.values[left].iter().zip(&self.values[right]).enumerate() {
            if self.matters[node] {
                let is_zero = |form: &Form| form.range == Interval::ZERO;
                match (is_zero(x), is_zero(y)) {
                    (true, false) => self.idle.insert(((node, element), true)),
                    (false, true) => self.idle.insert(((node, element), false)),
                    _ => false,
                };
            }
            let fixed = |form: &Form| form.range.lo == form.range.hi;
            let mut form = match (fixed(x), fixed(y)) {
                (true, _) => self.space.affine(y, x.range.lo, 0.0),
                (_, true) => self.space.affine(x, y.range.lo, 0.0),
                _ => self.space.product(x, y, left == right),
            };
            self.space.name_error(&mut form);
            found.push(form);
        }
        Some(found)
    }

    fn opaque(&mut self, node: usize) -> Option<Vec<Form>> {
        let program = self.program;
        let own = &program.graph.nodes()[node];
        let argument = |place: usize| own.inputs.get(place).map_or(0, |id| id.index());
        match &own.op {
            Op::Flow(flow) => {
                if let Some(pipe) = self.pipe(flow, argument(0), argument(1)) {
                    return Some(pipe.end.clone());
                }
            }
            Op::Throughout(throughout) => {
                if let Some(range) = self.throughout(node, throughout, argument(0), argument(1)) {
                    return Some(vec![self.space.noise(range)]);
                }
            }
            _ => {}
        }
        let ranges = self.enclosed(node);
        Some(ranges.into_iter().map(|range| self.space.noise(range)).collect())
    }
}

impl Keeps for Pass<'_> {
    fn values(&mut self) -> &mut Vec<Vec<Form>> {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::eval::evaluate;
    use certus_graph::ops::{Affine, Relu, Tanh};
    use certus_numerics::Random;

    use super::*;

    const ELEMENTS: usize = 40;
    const ROWS: usize = 8;

    /// Two inputs, two layers of activations, and rows of which the first two are the same.
    fn network(random: &mut Random) -> Graph {
        let mut graph = Graph::new();
        let input = graph.input("x", &[2]);
        let mut dense = |rows: usize, columns: usize, size: f64| {
            let mut weights: Vec<f64> = (0..rows * columns).map(|_| random.between(-size, size)).collect();
            weights.copy_within(..columns, columns);
            Affine::dense(weights, rows, columns, vec![0.1; rows]).unwrap()
        };
        let first = graph.apply(dense(ELEMENTS, 2, 1.5), &[input]).unwrap();
        let hidden = graph.apply(Tanh, &[first]).unwrap();
        let second = graph.apply(dense(ELEMENTS, ELEMENTS, 0.3), &[hidden]).unwrap();
        let hidden = graph.apply(Relu, &[second]).unwrap();
        let output = graph.apply(dense(ROWS, ELEMENTS, 0.3), &[hidden]).unwrap();
        graph.output("y", output);
        graph
    }

    /// The errors of a layer are the same for all elements of the next one, whether they become symbols or, being small, remain errors.
    #[test]
    fn layers_enclose_what_runs_through_them_and_share_its_errors() {
        let mut random = Random::new(7, 0);
        for (width, degree) in [(1e-3, 2), (0.1, 3), (1.0, 2), (2.0, 1)] {
            let graph = network(&mut random);
            let prepared = Prepared::new(&graph).unwrap();
            assert_eq!(prepared.has_errors.iter().filter(|own| **own).count(), 2);
            let space = Space::new(2, degree);
            let corner = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
            let side = |place: usize| Interval::new(corner[place], corner[place] + width);
            let forms = [space.variable(0, side(0)), space.variable(1, side(1))];
            let (cases, matters) = (BTreeMap::new(), vec![false; prepared.program.roles.len()]);
            let mut pass = Pass::new(&prepared, space, &forms, &cases, &matters);
            pass.run().unwrap();
            let space = &pass.space;
            for _ in 0..50 {
                let at = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
                let x: Vec<f64> = (0..2).map(|i| corner[i] + width * (at[i] + 1.0) / 2.0).collect();
                let y = &evaluate(&graph, &[&x]).unwrap()[0];
                for (row, exact) in y.iter().enumerate() {
                    let own = pass.output(row);
                    let powers = |exponents: &[u8]| at[0].powi(exponents[0].into()) * at[1].powi(exponents[1].into());
                    let monomials = space.monomials.exponents.iter().zip(&own.coefficients);
                    let value: f64 = monomials.map(|(exponents, c)| c * powers(exponents)).sum();
                    let rest = space.remainder(own) + 1e-12;
                    assert!((value - exact).abs() <= rest, "row {row}: {exact} is not in {value} ± {rest}");
                    assert!(own.range.lo - 1e-12 <= *exact && *exact <= own.range.hi + 1e-12);
                }
            }
            let terms = [(Interval::ONE, pass.output(0)), (Interval::point(-1.0), pass.output(1))];
            let difference = space.combine(&terms, Interval::ZERO).range.width();
            let own = pass.output(0).range.width();
            assert!(difference <= 4e-3 * own, "degree {degree}: {difference} of {own}");
        }
    }
}
