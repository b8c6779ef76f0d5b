//! Zonotopes: forward bounds that remember where values come from, over a batch of boxes.
//!
//! Affine arithmetic (de Figueiredo and Stolfi, *Affine Arithmetic: Concepts and Applications*, Numerical Algorithms 2004) in
//! the form of DeepZ (Singh, Gehr, Mirman, Püschel, Vechev, *Fast and Effective Robustness Certification*, NeurIPS 2018). An
//! element's value is `centre + Σ coefficient · symbol + error`, where each noise symbol is some number in [−1, 1] that
//! all elements share and the error is a number of this element alone, known by its size. Inputs bring a symbol each; a
//! curve f over a range is `slope · x` plus a number in a narrow band, and the band brings a new symbol, as does the
//! remainder of a product x·y = m·y + n·x − m·n + (x − m)(y − n) about the middles of both ranges. Affine nodes are one
//! matrix product for all columns. One pass from front to back bounds every node, where backward substitution needs a pass
//! for each; the price is one slope per curve for both sides, so the bounds are looser.
//!
//! *Departures: a bounded number of symbols.* Each box keeps a fixed number. When a layer brings more, the ones with the
//! smallest coefficients there are dissolved: what they contribute to every form that is still to be read becomes error.
//!
//! *Soundness.* Coefficients are computed to nearest. In a row with n terms each column is off by at most γₙ Σ|w||x|, and
//! summed over the columns that is γₙ Σ|w| (|centre| + Σ|coefficient|); it goes through the matrix of magnitudes together
//! with the errors.

use certus_graph::Interval;

use super::domain::{AbstractDomain, last_readers, transfer};
use super::program::{Layer, Program, Role};
use super::table::Bounds;
use super::{ROOM, gamma};
use crate::relaxation::Curve;
use band::band;

pub(crate) mod band;
#[cfg(test)]
mod tests;

/// The affine forms of one node's elements.
struct Form {
    /// Columns per box: the centre, then one per symbol.
    width: usize,
    /// Element-major; the columns of a box stand together.
    table: Vec<f64>,
    /// The size of the error, element-major over the boxes. Only what is fixed or an input has none.
    error: Vec<f64>,
    /// |centre| + Σ|coefficient|, rounded up; element-major over the boxes.
    reach: Vec<f64>,
}

impl Form {
    fn new(elements: usize, boxes: usize, width: usize) -> Form {
        let cells = elements * boxes;
        Form { width, table: vec![0.0; cells * width], error: vec![0.0; cells], reach: vec![0.0; cells] }
    }

    /// The table with more columns per box.
    fn widened(&self, width: usize) -> Vec<f64> {
        let mut table = vec![0.0; self.error.len() * width];
        for (wide, own) in table.chunks_exact_mut(width).zip(self.table.chunks_exact(self.width)) {
            wide[..self.width].copy_from_slice(own);
        }
        table
    }

    /// Turns symbols of one box, in order, into error.
    fn dissolve(&mut self, boxes: usize, index: usize, symbols: &[usize]) {
        let known = symbols.partition_point(|&symbol| symbol < self.width);
        for at in (index..self.error.len()).step_by(boxes) {
            if self.error[at] == 0.0 {
                continue;
            }
            let columns = &mut self.table[at * self.width..][..self.width];
            for &symbol in &symbols[..known] {
                let coefficient = std::mem::take(&mut columns[symbol]);
                if coefficient != 0.0 {
                    self.error[at] = (self.error[at] + coefficient.abs()).next_up();
                }
            }
        }
    }
}

/// One node's turn: the forms so far, and the bounds that become tighter.
struct Step<'a> {
    zonotopes: &'a mut Zonotopes,
    program: &'a Program,
    bounds: &'a Bounds,
    scratch: &'a mut Vec<f64>,
}

impl AbstractDomain for Step<'_> {
    type Value = Form;

    fn input(&mut self, node: usize, offset: usize) -> Option<Form> {
        Some(self.zonotopes.input(self.bounds, node, offset, self.program.sizes[node]))
    }

    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Form> {
        self.zonotopes.affine(layer, self.program.sizes[node], self.scratch)
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Form> {
        self.zonotopes.movement(sources)
    }

    fn curve(&mut self, node: usize, curve: &Curve, argument: usize) -> Option<Form> {
        self.zonotopes.curve(curve, self.bounds, node, argument)
    }

    fn product(&mut self, node: usize, left: usize, right: usize) -> Option<Form> {
        self.zonotopes.product(self.bounds, node, left, right)
    }

    fn opaque(&mut self, _: usize) -> Option<Form> {
        None
    }
}

/// Affine forms of the nodes that are still to be read, over a batch of boxes.
pub(crate) struct Zonotopes {
    boxes: usize,
    /// How many symbols a box may have.
    limit: usize,
    /// The symbol of each input, counted from one; nothing for inputs that are fixed in every box.
    of_inputs: Vec<Option<usize>>,
    /// How many symbols belong to inputs. They are never dissolved.
    inputs: usize,
    /// How many symbols each box has.
    used: Vec<usize>,
    forms: Vec<Option<Form>>,
    last_reader: Vec<usize>,
}

impl Zonotopes {
    /// Symbols for a graph and a batch of boxes in which some inputs are `free` (have any width), with so many symbols beside the inputs'.
    pub(crate) fn new(program: &Program, free: &[bool], boxes: usize, symbols: usize) -> Zonotopes {
        let mut inputs = 0;
        let of_inputs = free
            .iter()
            .map(|&free| {
                inputs += usize::from(free);
                free.then_some(inputs)
            })
            .collect();
        let last_reader = last_readers(program);
        let forms = program.roles.iter().map(|_| None).collect();
        let limit = inputs + symbols;
        Zonotopes { boxes, limit, of_inputs, inputs, used: vec![inputs; boxes], forms, last_reader }
    }

    /// How many symbols each form may have.
    pub(crate) fn symbols(&self) -> usize {
        self.limit
    }

    /// The form of one node, after its arguments' and given its enclosure, which becomes tighter by it.
    pub(crate) fn advance(&mut self, program: &Program, bounds: &mut Bounds, node: usize, scratch: &mut Vec<f64>) {
        let elements = program.sizes[node];
        let form = transfer(program, &mut Step { zonotopes: self, program, bounds, scratch }, node);
        let mut form = form.unwrap_or_else(|| {
            let mut form = Form::new(elements, self.boxes, 1);
            form.error.fill(f64::INFINITY);
            form
        });
        self.settle(&mut form, bounds, node);
        debug_assert!(form.error.iter().all(|error| *error >= 0.0), "the error of an affine form is negative");
        self.forms[node] = (self.last_reader[node] > node).then_some(form);
        for argument in &program.graph.nodes()[node].inputs {
            if self.last_reader[argument.index()] == node {
                self.forms[argument.index()] = None;
            }
        }
    }

    /// Tightens the enclosure by the form, and replaces what is no better than the enclosure.
    fn settle(&self, form: &mut Form, bounds: &mut Bounds, node: usize) {
        // Sums of magnitudes are off by a share of themselves.
        let above = 1.0 + gamma(form.width);
        for (at, columns) in form.table.chunks_exact_mut(form.width).enumerate() {
            let (element, index) = (at / self.boxes, at % self.boxes);
            let radius = columns[1..].iter().map(|value| value.abs()).sum::<f64>() * above;
            let size = (radius + form.error[at]).next_up();
            form.reach[at] = (columns[0].abs() + radius).next_up();
            if size.is_finite() && columns[0].is_finite() {
                let range = Interval { lo: (columns[0] - size).next_down(), hi: (columns[0] + size).next_up() };
                bounds.tighten(node, element, index, range);
            }
            let range = bounds.interval(node, element, index);
            let (middle, half) = middle(range);
            debug_assert!(
                range.contains(middle) || !half.is_finite() || range.lo > range.hi,
                "{middle} is outside of {range}"
            );
            if half.is_finite() && !(form.error[at] <= half && size.is_finite() && columns[0].is_finite()) {
                columns.fill(0.0);
                columns[0] = middle;
                form.error[at] = half;
                form.reach[at] = middle.abs();
            } else if !(size.is_finite() && columns[0].is_finite()) {
                columns.fill(0.0);
                form.error[at] = f64::INFINITY;
                form.reach[at] = 0.0;
            }
        }
    }

    fn input(&self, bounds: &Bounds, node: usize, offset: usize, elements: usize) -> Form {
        let mut form = Form::new(elements, self.boxes, 1 + self.inputs);
        for (at, columns) in form.table.chunks_exact_mut(form.width).enumerate() {
            let (element, index) = (at / self.boxes, at % self.boxes);
            let (middle, half) = middle(bounds.interval(node, element, index));
            match self.of_inputs[offset + element] {
                Some(symbol) if half.is_finite() => (columns[0], columns[symbol]) = (middle, half),
                _ => (columns[0], form.error[at]) = (middle, half),
            }
        }
        form
    }

    fn affine(&self, layer: &Layer, elements: usize, scratch: &mut Vec<f64>) -> Option<Form> {
        let boxes = self.boxes;
        let mut arguments = Vec::with_capacity(layer.terms.len());
        for term in &layer.terms {
            arguments.push(self.forms[term.argument].as_ref()?);
        }
        let width = arguments.iter().map(|form| form.width).max().unwrap_or(1);
        let mut form = Form::new(elements, boxes, width);
        for (row, &bias) in layer.bias.iter().enumerate() {
            for index in 0..boxes {
                form.table[(row * boxes + index) * width] = bias;
            }
        }
        let mut weight_slack = vec![0.0; boxes];
        let mut longest = 0;
        for (term, argument) in layer.terms.iter().zip(arguments) {
            let widened = (argument.width != width).then(|| argument.widened(width));
            let table = widened.as_ref().unwrap_or(&argument.table);
            term.weights.mul_acc(table, &mut form.table, boxes * width, scratch);
            let columns = term.weights.cols();
            longest = longest.max(columns);
            // Sums of products, and their sum with the other terms.
            let factor = gamma(columns + layer.terms.len());
            let errors: Vec<f64> =
                argument.error.iter().zip(&argument.reach).map(|(error, reach)| error + factor * reach).collect();
            term.magnitudes.mul_acc(&errors, &mut form.error, boxes, scratch);
            if term.weight_error != 0.0 {
                for (at, (error, reach)) in argument.error.iter().zip(&argument.reach).enumerate() {
                    weight_slack[at % boxes] += term.weight_error * (error + reach) * ROOM;
                }
            }
        }
        let own = 1.0 + gamma(longest + layer.terms.len());
        let sums = gamma(layer.terms.len() + 2);
        for (at, error) in form.error.iter_mut().enumerate() {
            let row = at / boxes;
            let rest = weight_slack[at % boxes] + sums * layer.bias[row].abs() + layer.bias_error[row];
            *error = (*error * own + rest) * ROOM + f64::MIN_POSITIVE;
        }
        Some(form)
    }

    fn movement(&self, sources: &[(usize, usize)]) -> Option<Form> {
        let boxes = self.boxes;
        let mut width = 1;
        for &(argument, _) in sources {
            width = width.max(self.forms[argument].as_ref()?.width);
        }
        let mut form = Form::new(sources.len(), boxes, width);
        for (element, &(argument, source)) in sources.iter().enumerate() {
            let own = self.forms[argument].as_ref()?;
            for index in 0..boxes {
                let (to, from) = (element * boxes + index, source * boxes + index);
                form.table[to * width..][..own.width].copy_from_slice(&own.table[from * own.width..][..own.width]);
                form.error[to] = own.error[from];
            }
        }
        Some(form)
    }

    fn curve(&mut self, curve: &Curve, bounds: &Bounds, node: usize, argument: usize) -> Option<Form> {
        let boxes = self.boxes;
        let own = self.forms[argument].as_ref()?;
        let mut form = Form::new(own.error.len() / boxes.max(1), boxes, own.width);
        let mut fresh: Vec<Vec<(usize, f64)>> = vec![Vec::new(); boxes];
        for at in 0..own.error.len() {
            let (element, index) = (at / boxes, at % boxes);
            let (slope, rest) = band(curve, bounds.interval(argument, element, index));
            let (middle, half) = middle(rest);
            let columns = &mut form.table[at * own.width..][..own.width];
            form.error[at] = f64::MIN_POSITIVE;
            if slope != 0.0 {
                let values = &own.table[at * own.width..][..own.width];
                columns.iter_mut().zip(values).for_each(|(new, value)| *new = slope * value);
                let rounding = 2.0 * f64::EPSILON * (slope.abs() * own.reach[at] + middle.abs());
                form.error[at] = (slope.abs() * own.error[at] + rounding) * ROOM + f64::MIN_POSITIVE;
            }
            columns[0] += middle;
            note(&mut form.error[at], &mut fresh[index], element, half, middle.abs());
        }
        self.add_symbols(&mut form, node, fresh);
        Some(form)
    }

    fn product(&mut self, bounds: &Bounds, node: usize, left: usize, right: usize) -> Option<Form> {
        let boxes = self.boxes;
        let (x, y) = (self.forms[left].as_ref()?, self.forms[right].as_ref()?);
        let width = x.width.max(y.width);
        let mut form = Form::new(x.error.len() / boxes.max(1), boxes, width);
        let mut fresh: Vec<Vec<(usize, f64)>> = vec![Vec::new(); boxes];
        for at in 0..x.error.len() {
            let (element, index) = (at / boxes, at % boxes);
            let (m, x_half) = middle(bounds.interval(left, element, index));
            let (n, y_half) = middle(bounds.interval(right, element, index));
            let columns = &mut form.table[at * width..][..width];
            let of_x = &x.table[at * x.width..][..x.width];
            let of_y = &y.table[at * y.width..][..y.width];
            columns.iter_mut().zip(of_x).for_each(|(new, value)| *new = n * value);
            columns.iter_mut().zip(of_y).for_each(|(new, value)| *new += m * value);
            let remainder = if x_half == 0.0 || y_half == 0.0 { 0.0 } else { (x_half * y_half).next_up() };
            // A square's remainder is never negative.
            let (shift, half) =
                if left == right { (remainder / 2.0, (remainder / 2.0).next_up()) } else { (0.0, remainder) };
            columns[0] += shift - m * n;
            let size = n.abs() * x.reach[at] + m.abs() * y.reach[at] + (m * n).abs() + shift;
            let errors = n.abs() * x.error[at] + m.abs() * y.error[at];
            form.error[at] = (errors + gamma(4) * size) * ROOM + f64::MIN_POSITIVE;
            note(&mut form.error[at], &mut fresh[index], element, half, size);
        }
        self.add_symbols(&mut form, node, fresh);
        Some(form)
    }

    /// Gives a form new symbols, one for each of the listed elements with its coefficient.
    fn add_symbols(&mut self, form: &mut Form, node: usize, fresh: Vec<Vec<(usize, f64)>>) {
        let boxes = self.boxes;
        let mut entries: Vec<(usize, usize, f64)> = Vec::new();
        for (index, fresh) in fresh.into_iter().enumerate() {
            if self.used[index] + fresh.len() <= self.limit {
                for (element, half) in fresh {
                    self.used[index] += 1;
                    entries.push((element * boxes + index, self.used[index], half));
                }
                continue;
            }
            let (kept, mut vacant) = self.make_room(form, node, index, &fresh);
            for ((element, half), kept) in fresh.into_iter().zip(kept) {
                let at = element * boxes + index;
                let symbol = vacant.pop().or_else(|| {
                    let more = self.used[index] < self.limit;
                    self.used[index] += usize::from(more);
                    more.then_some(self.used[index])
                });
                match symbol.filter(|_| kept) {
                    Some(symbol) => entries.push((at, symbol, half)),
                    None => {
                        form.error[at] = (form.error[at] + half).next_up();
                        vacant.extend(symbol);
                    }
                }
            }
        }
        let width = 1 + self.used.iter().max().copied().unwrap_or(0);
        if width > form.width {
            form.table = form.widened(width);
            form.width = width;
        }
        for (at, symbol, half) in entries {
            form.table[at * form.width + symbol] = half;
        }
    }

    /// Dissolves the smallest symbols of a box; says which of the new ones are worth keeping, and which symbols are vacant.
    fn make_room(
        &mut self,
        form: &mut Form,
        node: usize,
        index: usize,
        fresh: &[(usize, f64)],
    ) -> (Vec<bool>, Vec<usize>) {
        let own = self.inputs + 1..self.used[index] + 1;
        let mut sizes: Vec<(f64, usize)> = own.clone().map(|symbol| (0.0, symbol)).collect();
        for at in (index..form.error.len()).step_by(self.boxes) {
            let columns = &form.table[at * form.width..][..form.width];
            if let Some(columns) = columns.get(own.start..own.end.min(form.width)) {
                sizes.iter_mut().zip(columns).for_each(|((size, _), value)| *size += value.abs());
            }
        }
        // New ones are counted from the limit on.
        sizes.extend(fresh.iter().enumerate().map(|(place, &(_, half))| (half, self.limit + 1 + place)));
        let room = self.limit - self.inputs;
        sizes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept = vec![true; fresh.len()];
        let mut vacant = Vec::new();
        for &(_, symbol) in &sizes[room.min(sizes.len())..] {
            if symbol > self.limit {
                kept[symbol - self.limit - 1] = false;
                continue;
            }
            vacant.push(symbol);
        }
        vacant.sort_unstable();
        form.dissolve(self.boxes, index, &vacant);
        for (other, reader) in self.forms.iter_mut().zip(&self.last_reader) {
            if let Some(other) = other.as_mut().filter(|_| *reader > node) {
                other.dissolve(self.boxes, index, &vacant);
            }
        }
        (kept, vacant)
    }
}

/// Whether forms may show that elements need no backward bounds: only curves with straight pieces become straight over a range.
pub(crate) fn can_help(program: &Program) -> bool {
    let straightens = |reader: &usize| match &program.roles[*reader] {
        Role::Curve(curve, _) => curve.has_linear_piece(),
        _ => false,
    };
    program.readers.iter().zip(&program.refinable).any(|(readers, &wanted)| wanted && readers.iter().any(straightens))
}

/// A number near the middle of a range, and how far from it the range reaches.
fn middle(range: Interval) -> (f64, f64) {
    if range.lo == range.hi {
        return (range.lo, 0.0);
    }
    let middle = range.lo / 2.0 + range.hi / 2.0;
    if !middle.is_finite() {
        return (0.0, f64::INFINITY);
    }
    (middle, (range.hi - middle).max(middle - range.lo).next_up())
}

/// A band that is next to nothing is error, any other a new symbol.
fn note(error: &mut f64, fresh: &mut Vec<(usize, f64)>, element: usize, half: f64, size: f64) {
    if half <= 1e-14 * size || !half.is_finite() {
        *error = (*error + half).next_up();
    } else {
        fresh.push((element, half));
    }
}
