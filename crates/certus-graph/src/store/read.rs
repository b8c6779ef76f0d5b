//! Text to a graph.

use super::budget::{Budget, count};
use super::constant::constant;
use super::words::parse_index;
use super::write::{COMPARISONS, FLAGS, REDUCTIONS, numbers};
use super::{Lines, StoreError, Words};
use crate::ops::*;
use crate::{Graph, NodeId, Shape, Tensor};

/// Reads a graph, from its first node to `end`.
pub fn read_graph(lines: &mut Lines<'_>) -> Result<Graph, StoreError> {
    let mut reader = Reader { lines, graph: Graph::new(), ids: Vec::new(), budget: Budget::new() };
    loop {
        // Data rows follow the line that announces them, so that line is kept aside.
        let words = reader.lines.line("the graph's `end`")?;
        let (text, line) = (words.rest().to_owned(), words.line());
        let mut words = Words::new(&text, line);
        match words.word("a node")? {
            "end" => {
                words.end()?;
                return Ok(reader.graph);
            }
            "output" => {
                let name = words.name()?;
                let node = words.index()?;
                words.end()?;
                let node = reader.node(node, &words)?;
                reader.graph.output(&name, node);
            }
            number => {
                let expected = reader.graph.len();
                if parse_index(number) != Some(expected) {
                    return Err(words.error(format!("expected node {expected}, `output` or `end`")));
                }
                reader.read_node(words)?;
            }
        }
    }
}

struct Reader<'l, 'r> {
    lines: &'l mut Lines<'r>,
    graph: Graph,
    ids: Vec<NodeId>,
    budget: Budget,
}

impl Reader<'_, '_> {
    fn node(&self, index: usize, words: &Words<'_>) -> Result<NodeId, StoreError> {
        self.ids.get(index).copied().ok_or_else(|| words.error(format!("there is no node {index} before this line")))
    }

    fn read_node(&mut self, mut words: Words<'_>) -> Result<(), StoreError> {
        let call = words.word("an operator")?;
        let (name, args) = match call.split_once('(') {
            None => (call, Vec::new()),
            Some((name, args)) => {
                let args = args.strip_suffix(')').map(|args| args.split(',').map(parse_index));
                let args: Option<Vec<usize>> = args.and_then(Iterator::collect);
                (name, args.ok_or_else(|| words.error("expected node numbers in parentheses"))?)
            }
        };
        let args = args.into_iter().map(|arg| self.node(arg, &words)).collect::<Result<Vec<_>, _>>()?;
        if name == "Input" {
            if !args.is_empty() {
                return Err(words.error("an input has no arguments"));
            }
            let input = words.name()?;
            let shape = words.list()?;
            words.end()?;
            self.ids.push(self.graph.input(&input, &shape));
        } else {
            let op = self.operator(name, &args, &mut words)?;
            self.budget.store(numbers(&op));
            let id = self.graph.apply(op, &args).map_err(|error| words.error(error.to_string()))?;
            self.ids.push(id);
        }
        let added = self.graph.node(self.ids[self.ids.len() - 1]);
        self.budget.claim(&added.op, &added.shape).map_err(|message| words.error(message))
    }

    /// The operator of a line with its attributes, and with the data of the lines that follow.
    fn operator(&mut self, name: &str, args: &[NodeId], words: &mut Words<'_>) -> Result<Op, StoreError> {
        let op: Op = match name {
            "Constant" => return self.constant(words),
            "Affine" => return self.affine(args, words),
            "Conv" => return self.conv(words),
            "Gather" => return self.gather(words),
            "Softmax" => Softmax { axis: words.index_of("axis")? }.into(),
            "MaxPool" => {
                let kernel = words.list_of("kernel")?;
                MaxPool { window: window(kernel, words)? }.into()
            }
            "AveragePool" => {
                let kernel = words.list_of("kernel")?;
                let window = window(kernel, words)?;
                AveragePool { window, count_include_pad: words.choice_of("count_include_pad", &FLAGS)? }.into()
            }
            "Add" => Add.into(),
            "Sub" => Sub.into(),
            "Mul" => Mul.into(),
            "Div" => Div.into(),
            "Pow" => Pow.into(),
            "Neg" => Neg.into(),
            "Min" => Min.into(),
            "Max" => Max.into(),
            "Compare" => words.choice_of("kind", &COMPARISONS)?.into(),
            "Not" => Not.into(),
            "And" => And.into(),
            "Or" => Or.into(),
            "Select" => Select.into(),
            "ArgMax" => ArgMax.into(),
            "Concat" => Concat { axis: words.index_of("axis")? }.into(),
            "Slice" => Slice::new(words.items_of("ranges", "a list of axis:start:step:length", range)?).into(),
            "Reshape" => Reshape { shape: words.list_of("shape")? }.into(),
            "Transpose" => Transpose { perm: words.list_of("perm")? }.into(),
            "Reduce" => {
                let kind = words.choice_of("kind", &REDUCTIONS)?;
                let axes = words.list_of("axes")?;
                let mut distinct = axes.clone();
                distinct.sort_unstable();
                distinct.dedup();
                if distinct.len() != axes.len() {
                    return Err(words.error("an axis is reduced twice"));
                }
                Reduce { kind, axes, keep_dims: words.choice_of("keep", &FLAGS)? }.into()
            }
            _ => match Activation::signature(name) {
                Some(signature) => {
                    let values = signature.parameters.iter().map(|parameter| words.number_of(parameter));
                    (signature.make)(&values.collect::<Result<Vec<f64>, _>>()?).into()
                }
                None => return Err(words.error(format!("there is no operator {name:.40?}"))),
            },
        };
        words.end()?;
        Ok(op)
    }

    fn constant(&mut self, words: &mut Words<'_>) -> Result<Op, StoreError> {
        let shape = words.list()?;
        words.end()?;
        let intervals = self.tensor(&shape, words, |row| row.interval())?;
        constant(shape, intervals).map(Op::from).map_err(|error| words.error(error.to_string()))
    }

    fn gather(&mut self, words: &mut Words<'_>) -> Result<Op, StoreError> {
        let axis = words.index_of("axis")?;
        let index_shape = words.list_of("shape")?;
        words.end()?;
        let mut row = self.lines.row()?;
        let mut indices = Vec::new();
        while !row.rest().is_empty() {
            indices.push(row.index()?);
        }
        Ok(Gather { axis, indices, index_shape }.into())
    }

    fn conv(&mut self, words: &mut Words<'_>) -> Result<Op, StoreError> {
        let shape = words.list_of("weight")?;
        let group = words.index_of("group")?;
        let window = window(shape.get(2..).unwrap_or(&[]).to_vec(), words)?;
        words.end()?;
        let data = self.tensor(&shape, words, |row| row.number())?;
        self.lines.heading("bias")?;
        let channels = shape.first().copied().unwrap_or(0);
        let bias = self.row(channels)?;
        let weight = Tensor::new(shape, data).map_err(|error| words.error(error.to_string()))?;
        Conv::new(weight, Some(bias), window, group).map(Op::from).map_err(|error| words.error(error.to_string()))
    }

    fn affine(&mut self, args: &[NodeId], words: &mut Words<'_>) -> Result<Op, StoreError> {
        let shape: Shape = words.list()?;
        let rounded = !words.rest().is_empty();
        if rounded {
            words.keyword("rounded")?;
        }
        words.end()?;
        let rows = count(&shape).map_err(|message| words.error(message))?;
        let mut matrices = Vec::new();
        for &arg in args {
            let columns = self.graph.elements(arg);
            let mut kind = self.lines.line("a matrix")?;
            let dense = match kind.word("`dense` or `sparse`")? {
                "dense" => true,
                "sparse" => false,
                _ => return Err(kind.error("expected `dense` or `sparse`")),
            };
            kind.end()?;
            matrices.push(if dense { self.dense(rows, columns)? } else { self.sparse(rows, columns)? });
        }
        self.lines.heading("bias")?;
        let bias = self.row(rows)?;
        let affine = Affine::new(matrices, bias, shape).map_err(|error| words.error(error.to_string()))?;
        if !rounded {
            return Ok(affine.into());
        }
        self.lines.heading("error")?;
        let error = RowError { weights: self.row(rows)?, bias: self.row(rows)? };
        if error.weights.iter().chain(&error.bias).any(|&bound| bound < 0.0) {
            return Err(self.lines.error("an error bound is negative"));
        }
        Ok(affine.with_error(error).into())
    }

    fn dense(&mut self, rows: usize, columns: usize) -> Result<Matrix, StoreError> {
        let mut data = Vec::new();
        for _ in 0..rows {
            read_row(&mut self.lines.row()?, columns, &mut data, |row| row.number())?;
        }
        Ok(Matrix::dense(rows, columns, data))
    }

    fn sparse(&mut self, rows: usize, columns: usize) -> Result<Matrix, StoreError> {
        let mut entries = Vec::new();
        for _ in 0..rows {
            let mut words = self.lines.row()?;
            let mut row: Vec<(usize, f64)> = Vec::new();
            while !words.rest().is_empty() {
                row.push((words.index()?, words.number()?));
            }
            let mut seen: Vec<usize> = row.iter().map(|&(column, _)| column).collect();
            seen.sort_unstable();
            if seen.last().is_some_and(|&column| column >= columns) || seen.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(words.error(format!("a row names a column twice, or one beyond {columns}")));
            }
            entries.push(row);
        }
        Ok(Matrix::sparse(columns, entries))
    }

    /// A row of numbers.
    fn row(&mut self, count: usize) -> Result<Vec<f64>, StoreError> {
        let mut values = Vec::new();
        read_row(&mut self.lines.row()?, count, &mut values, |row| row.number())?;
        Ok(values)
    }

    /// The values of a tensor, one row per line of its last axis.
    fn tensor<T>(
        &mut self,
        shape: &[usize],
        words: &Words<'_>,
        value: impl Fn(&mut Words<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let count = count(shape).map_err(|message| words.error(message))?;
        let length = shape.last().copied().unwrap_or(1).max(1);
        let mut values = Vec::new();
        for _ in 0..count / length {
            read_row(&mut self.lines.row()?, length, &mut values, &value)?;
        }
        Ok(values)
    }
}

/// Takes exactly `count` values from a row.
fn read_row<T>(
    row: &mut Words<'_>,
    count: usize,
    values: &mut Vec<T>,
    value: impl Fn(&mut Words<'_>) -> Result<T, StoreError>,
) -> Result<(), StoreError> {
    for found in 0..count {
        if row.rest().is_empty() {
            return Err(row.error(format!("the row has {found} values, {count} are needed")));
        }
        values.push(value(row)?);
    }
    row.end()
}

fn window(kernel: Vec<usize>, words: &mut Words<'_>) -> Result<Window, StoreError> {
    let strides = words.list_of("strides")?;
    let pads = words.list_of("pads")?;
    Ok(Window { kernel, strides, pads, dilations: words.list_of("dilations")? })
}

fn range(item: &str) -> Option<SliceRange> {
    let mut parts = item.split(':');
    let mut next = || parts.next();
    let (axis, start) = (parse_index(next()?)?, parse_index(next()?)?);
    let (step, len) = (next()?.parse().ok()?, parse_index(next()?)?);
    next().is_none().then_some(SliceRange { axis, start, step, len })
}
