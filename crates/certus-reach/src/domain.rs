//! Taylor models as an abstract domain: the transfer functions of a forward pass over a lowered graph.
//!
//! Networks and plants are the same to it. Affine nodes are one matrix product over all columns, as in `certus-solver`'s zonotopes; curves and products are
//! composed ([`crate::curves`], [`crate::form`]). A comparison whose outcome the set leaves open is either given (the pass is about one *case*, and the set
//! was intersected with it) or noted, so that whoever runs the pass can tell the cases apart.
//!
//! *Soundness.* By the transfer functions' own; a given outcome restricts the statement to the values for which it is the true one.

use std::collections::BTreeMap;
use std::rc::Rc;

use certus_graph::lower::lower;
use certus_graph::ops::{Arg, Flow, Matrix, Op, Operator, Quantity, Throughout};
use certus_graph::{Graph, GraphError, Interval};
use certus_solver::domain::{
    AbstractDomain, Curve, Keeps, Layer, Program, Term, flat_outputs, last_readers_with, walk,
};
use certus_solver::rounding::{ROOM, gamma};

use crate::choice::{Branch, Choice, choices};
use crate::curves;
use crate::flow::Pipe;
use crate::form::{Form, Space};

/// A comparison in the graph: its node and element.
pub(crate) type Guard = (usize, usize);

/// A graph that is prepared for passes, with the conditions that it asks for throughout a period.
pub(crate) struct Prepared {
    pub(crate) program: Program,
    pub(crate) last_reader: Vec<usize>,
    /// For each flattened output, its node and element.
    pub(crate) outputs: Vec<(usize, usize)>,
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
        }
        let mut conditions = BTreeMap::new();
        for (place, node) in program.graph.nodes().iter().enumerate() {
            if let Op::Throughout(own) = &node.op {
                conditions.insert(place, Prepared::new(own.condition.graph())?);
            }
        }
        Ok(Prepared { program, last_reader, outputs, conditions, choices })
    }
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
    /// The first comparison that matters, is open and is not given, with its argument.
    pub(crate) open: Option<(Guard, Form)>,
    /// Margins that were not certain throughout a period, where they were smallest.
    pub(crate) hints: Vec<Form>,
    values: Vec<Vec<Form>>,
    scratch: Vec<f64>,
    /// The solutions from the state and held numbers of some nodes.
    pub(crate) pipes: BTreeMap<(usize, usize), Option<Rc<Pipe>>>,
}

/// Affine nodes with at most so many weights per matrix are enclosed by intervals, too.
const SMALL: usize = 256;

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
            open: None,
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

    /// The symbols that only one element of a node has, with that element: most of those that a layer of activations brought up.
    fn private_symbols(&self, node: usize, width: usize) -> Vec<(usize, usize)> {
        let mut owner = vec![None; width];
        let mut is_private = vec![true; width];
        for (element, form) in self.values[node].iter().enumerate() {
            for (column, c) in form.coefficients.iter().enumerate() {
                if *c != 0.0 {
                    is_private[column] &= owner[column].is_none();
                    owner[column] = Some(element);
                }
            }
        }
        let symbols = self.space.monomials.len()..width;
        symbols.filter(|&column| is_private[column]).filter_map(|column| Some((column, owner[column]?))).collect()
    }

    /// Adds a matrix times the forms of its argument to a table: a product of matrices for what elements share, scaled columns of the
    /// matrix for what only one of them has.
    fn by_columns(
        &mut self,
        (term, matrix): (&Term, &Matrix),
        private: &[(usize, usize)],
        table: &mut [f64],
        width: usize,
    ) {
        let mut is_shared = vec![true; width];
        let mut of_element = vec![Vec::new(); term.weights.cols()];
        let forms = &self.values[term.argument];
        for &(column, element) in private {
            is_shared[column] = false;
            of_element[element].push((column, forms[element].coefficients[column]));
        }
        let shared: Vec<usize> = (0..width).filter(|&column| is_shared[column]).collect();
        let mut argument = vec![0.0; forms.len() * shared.len()];
        for (row, form) in argument.chunks_exact_mut(shared.len()).zip(forms) {
            for (to, &column) in row.iter_mut().zip(&shared) {
                *to = form.coefficients.get(column).copied().unwrap_or(0.0);
            }
        }
        let mut found = vec![0.0; term.weights.rows() * shared.len()];
        term.weights.mul_acc(&argument, &mut found, shared.len(), &mut self.scratch);
        for (to, from) in table.chunks_exact_mut(width).zip(found.chunks_exact(shared.len())) {
            for (value, &column) in from.iter().zip(&shared) {
                to[column] += value;
            }
        }
        for (row, to) in table.chunks_exact_mut(width).enumerate() {
            for (element, weight) in matrix.row(row) {
                of_element[element].iter().for_each(|&(column, c)| to[column] += weight * c);
            }
        }
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
        let mut errors = vec![0.0; rows];
        let mut slack = 0.0;
        let mut longest = 0;
        for (place, term) in layer.terms.iter().enumerate() {
            let columns = term.weights.cols();
            let matrix = match &program.graph.nodes()[node].op {
                Op::Affine(own) if rows * columns > SMALL => own.matrices().get(place),
                _ => None,
            };
            let private = matrix.map_or_else(Vec::new, |_| self.private_symbols(term.argument, width));
            match matrix.filter(|_| 2 * private.len() > width) {
                Some(matrix) => self.by_columns((term, matrix), &private, &mut table, width),
                None => {
                    let argument = self.table(term.argument, width);
                    term.weights.mul_acc(&argument, &mut table, width, &mut self.scratch);
                }
            }
            longest = longest.max(columns);
            let factor = gamma(columns + layer.terms.len());
            let own: Vec<f64> = self.values[term.argument]
                .iter()
                .map(|form| {
                    let size = form.coefficients.iter().map(|c| c.abs()).sum::<f64>() * ROOM;
                    slack += term.weight_error * (size + form.error) * ROOM;
                    form.error + factor * size
                })
                .collect();
            term.magnitudes.mul_acc(&own, &mut errors, 1, &mut self.scratch);
        }
        // Intervals keep what is exact: counters, clocks and whatever else is one number for the whole set.
        let ranges = if rows * longest <= SMALL { self.enclosed(node) } else { Vec::new() };
        let own = 1.0 + gamma(longest + layer.terms.len());
        let sums = gamma(layer.terms.len() + 2);
        let forms = table.chunks_exact(width).zip(errors).enumerate().map(|(row, (coefficients, error))| {
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
                if value.lo != value.hi && two_cases && self.open.is_none() && self.matters[node] {
                    self.open = Some(((node, element), form.clone()));
                }
                found.push(self.space.noise(value));
                continue;
            }
            found.push(curves::apply(&mut self.space, curve, form));
        }
        self.values[argument] = forms;
        Some(found)
    }

    fn product(&mut self, _: usize, left: usize, right: usize) -> Option<Vec<Form>> {
        let mut found = Vec::with_capacity(self.values[left].len());
        for (x, y) in self.values[left].iter().zip(&self.values[right]) {
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
    use certus_graph::ops::Affine;
    use certus_numerics::Random;

    use super::*;

    #[test]
    fn columns_of_private_symbols_are_those_of_the_product() {
        const ELEMENTS: usize = 40;
        let mut random = Random::new(7, 0);
        let weights: Vec<f64> = (0..8 * ELEMENTS).map(|_| random.between(-1.0, 1.0)).collect();
        let mut graph = Graph::new();
        let input = graph.input("x", &[ELEMENTS]);
        let dense = Affine::dense(weights.clone(), 8, ELEMENTS, vec![0.5; 8]).unwrap();
        let output = graph.apply(dense, &[input]).unwrap();
        graph.output("y", output);
        let prepared = Prepared::new(&graph).unwrap();
        // Two variables, two symbols that all elements have, and one or two of each element alone.
        let mut space = Space::new(2, 1);
        let shared = [space.fresh(), space.fresh()];
        let forms: Vec<Form> = (0..ELEMENTS)
            .map(|element| {
                let own: Vec<usize> = (0..=element % 2).map(|_| space.fresh()).collect();
                let mut form = space.constant(Interval::point(random.between(-1.0, 1.0)));
                form.coefficients.resize(space.columns, 0.0);
                let all = [1, 2].into_iter().chain(shared).chain(own);
                all.for_each(|column| form.coefficients[column] = random.between(0.5, 1.0));
                form.range = space.enclose(&form);
                form
            })
            .collect();
        let columns = space.columns;
        let (cases, matters) = (BTreeMap::new(), vec![false; prepared.program.roles.len()]);
        let mut pass = Pass::new(&prepared, space, &forms, &cases, &matters);
        pass.values.push(forms.clone());
        assert_eq!(pass.private_symbols(input.index(), columns).len(), ELEMENTS * 3 / 2);
        pass.values.clear();
        pass.run().unwrap();
        for (row, weights) in weights.chunks(ELEMENTS).enumerate() {
            for column in 0..columns {
                let of = |form: &Form| form.coefficients.get(column).copied().unwrap_or(0.0);
                let bias = if column == 0 { 0.5 } else { 0.0 };
                let exact = bias + weights.iter().zip(&forms).map(|(weight, form)| weight * of(form)).sum::<f64>();
                let found = of(pass.output(row));
                assert!((found - exact).abs() <= 1e-13, "row {row}, column {column}: {found}, not {exact}");
            }
        }
    }
}
