//! A graph to text.

use std::collections::HashMap;
use std::io::Write;

use super::StoreError;
use super::budget::Budget;
use super::constant::ends;
use super::literal::{write_interval, write_name, write_number};
use crate::ops::{Affine, Compare, Constant, Conv, Matrix, Op, ReduceKind, SliceRange, Window};
use crate::{Graph, Interval, NodeId};

/// Writes a graph, from its first node to `end`. Refused is what could not be read back equal: NaN, and tensors
/// that are out of all proportion to the graph's numbers.
pub fn write_graph(out: &mut dyn Write, graph: &Graph) -> Result<(), StoreError> {
    let names: HashMap<NodeId, &str> = graph.inputs().iter().map(|port| (port.node, port.name.as_str())).collect();
    let mut budget = Budget::new();
    for id in graph.ids() {
        let node = graph.node(id);
        budget.store(numbers(&node.op));
        budget.claim(&node.op, &node.shape).map_err(StoreError::Unwritable)?;
        let args: Vec<String> = node.inputs.iter().map(|input| input.index().to_string()).collect();
        write!(out, "{} {}", id.index(), node.op.variant())?;
        if !args.is_empty() {
            write!(out, "({})", args.join(","))?;
        }
        match &node.op {
            Op::Input(_) => {
                let name = names.get(&id).ok_or_else(|| StoreError::unwritable("an input has no name"))?;
                write!(out, " ")?;
                write_name(out, name)?;
                write!(out, " {}", list(&node.shape))?;
            }
            op => write_attributes(out, op)?,
        }
        writeln!(out)?;
        write_data(out, &node.op)?;
    }
    for port in graph.outputs() {
        write!(out, "output ")?;
        write_name(out, &port.name)?;
        writeln!(out, " {}", port.node.index())?;
    }
    writeln!(out, "end")?;
    Ok(())
}

/// How many numbers the data of an operator has.
pub(super) fn numbers(op: &Op) -> usize {
    match op {
        Op::Constant(constant) => constant.value().len(),
        Op::Affine(affine) => affine.matrices().iter().map(Matrix::stored).sum::<usize>() + affine.bias().len(),
        Op::Conv(conv) => conv.weight().len() + conv.bias().len(),
        Op::Gather(gather) => gather.indices.len(),
        _ => 0,
    }
}

/// The words for comparisons.
pub(super) const COMPARISONS: [(&str, Compare); 6] = [
    ("less", Compare::Less),
    ("less-equal", Compare::LessEqual),
    ("greater", Compare::Greater),
    ("greater-equal", Compare::GreaterEqual),
    ("equal", Compare::Equal),
    ("not-equal", Compare::NotEqual),
];

/// The words for reductions.
pub(super) const REDUCTIONS: [(&str, ReduceKind); 5] = [
    ("sum", ReduceKind::Sum),
    ("mean", ReduceKind::Mean),
    ("max", ReduceKind::Max),
    ("min", ReduceKind::Min),
    ("product", ReduceKind::Product),
];

/// The words for truth values.
pub(super) const FLAGS: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// The word for one of a table's values.
fn word<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, other)| other == value).map_or("", |&(word, _)| word)
}

fn write_attributes(out: &mut dyn Write, op: &Op) -> Result<(), StoreError> {
    let number = |out: &mut dyn Write, key: &str, value: f64| {
        write!(out, " {key}=")?;
        write_number(out, value)
    };
    match op {
        Op::Constant(constant) => write!(out, " {}", list(constant.value().shape()))?,
        Op::Affine(affine) => {
            let rounded = if affine.error().is_some() { " rounded" } else { "" };
            write!(out, " {}{rounded}", list(affine.shape()))?;
        }
        Op::Conv(conv) => {
            write!(out, " weight={} group={}", list(conv.weight().shape()), conv.group())?;
            write_window(out, conv.window())?;
        }
        Op::Softmax(op) => write!(out, " axis={}", op.axis)?,
        Op::Concat(op) => write!(out, " axis={}", op.axis)?,
        Op::MaxPool(pool) => {
            write!(out, " kernel={}", list(&pool.window.kernel))?;
            write_window(out, &pool.window)?;
        }
        Op::AveragePool(pool) => {
            write!(out, " kernel={}", list(&pool.window.kernel))?;
            write_window(out, &pool.window)?;
            write!(out, " count_include_pad={}", word(&FLAGS, &pool.count_include_pad))?;
        }
        Op::Compare(compare) => write!(out, " kind={}", word(&COMPARISONS, compare))?,
        Op::Slice(slice) => {
            let range = |r: &SliceRange| format!("{}:{}:{}:{}", r.axis, r.start, r.step, r.len);
            let ranges: Vec<String> = slice.ranges.iter().map(range).collect();
            write!(out, " ranges=[{}]", ranges.join(","))?;
        }
        Op::Gather(gather) => write!(out, " axis={} shape={}", gather.axis, list(&gather.index_shape))?,
        Op::Reshape(reshape) => write!(out, " shape={}", list(&reshape.shape))?,
        Op::Transpose(transpose) => write!(out, " perm={}", list(&transpose.perm))?,
        Op::Reduce(reduce) => {
            let keep = word(&FLAGS, &reduce.keep_dims);
            write!(out, " kind={} axes={} keep={keep}", word(&REDUCTIONS, &reduce.kind), list(&reduce.axes))?;
        }
        Op::Flow(_) | Op::Throughout(_) => {
            return Err(StoreError::unwritable("a differential equation that is solved exactly has no stored form"));
        }
        op => {
            for (name, value) in op.activation().map(|activation| activation.parameters()).unwrap_or_default() {
                number(out, name, value)?;
            }
        }
    }
    Ok(())
}

fn write_window(out: &mut dyn Write, window: &Window) -> Result<(), StoreError> {
    let Window { strides, pads, dilations, .. } = window;
    write!(out, " strides={} pads={} dilations={}", list(strides), list(pads), list(dilations))?;
    Ok(())
}

fn write_data(out: &mut dyn Write, op: &Op) -> Result<(), StoreError> {
    match op {
        Op::Constant(constant) => write_constant(out, constant),
        Op::Affine(affine) => write_affine(out, affine),
        Op::Conv(conv) => write_conv(out, conv),
        Op::Gather(gather) => {
            write!(out, ":")?;
            for index in &gather.indices {
                write!(out, " {index}")?;
            }
            writeln!(out)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn write_constant(out: &mut dyn Write, constant: &Constant) -> Result<(), StoreError> {
    let interval = |(index, &value): (usize, &f64)| {
        if constant.is_exact() {
            return Ok(Interval { lo: value, hi: value });
        }
        let found = ends(value, constant.radius(index));
        found.ok_or_else(|| StoreError::unwritable("a constant lies in an interval that has no finite ends"))
    };
    let intervals = constant.value().data().iter().enumerate().map(interval).collect::<Result<Vec<_>, _>>()?;
    write_rows(out, constant.value().shape(), &intervals, write_interval)
}

fn write_conv(out: &mut dyn Write, conv: &Conv) -> Result<(), StoreError> {
    write_rows(out, conv.weight().shape(), conv.weight().data(), write_number)?;
    writeln!(out, "bias")?;
    write_row(out, conv.bias(), write_number)
}

fn write_affine(out: &mut dyn Write, affine: &Affine) -> Result<(), StoreError> {
    for matrix in affine.matrices() {
        match matrix {
            Matrix::Dense { .. } => {
                writeln!(out, "dense")?;
                for row in 0..matrix.rows() {
                    write!(out, ":")?;
                    for (_, value) in matrix.row(row) {
                        write!(out, " ")?;
                        write_number(out, value)?;
                    }
                    writeln!(out)?;
                }
            }
            Matrix::Sparse(_) => {
                writeln!(out, "sparse")?;
                for row in 0..matrix.rows() {
                    write!(out, ":")?;
                    for (column, value) in matrix.row(row) {
                        write!(out, " {column} ")?;
                        write_number(out, value)?;
                    }
                    writeln!(out)?;
                }
            }
        }
    }
    writeln!(out, "bias")?;
    write_row(out, affine.bias(), write_number)?;
    if let Some(error) = affine.error() {
        writeln!(out, "error")?;
        write_row(out, &error.weights, write_number)?;
        write_row(out, &error.bias, write_number)?;
    }
    Ok(())
}

/// How one value is written.
type WriteValue<T> = fn(&mut dyn Write, T) -> Result<(), StoreError>;

/// The values of a tensor, one row per line of its last axis.
fn write_rows<T: Copy>(
    out: &mut dyn Write,
    shape: &[usize],
    values: &[T],
    write: WriteValue<T>,
) -> Result<(), StoreError> {
    let length = shape.last().copied().unwrap_or(1).max(1);
    values.chunks(length).try_for_each(|row| write_row(out, row, write))
}

fn write_row<T: Copy>(out: &mut dyn Write, values: &[T], write: WriteValue<T>) -> Result<(), StoreError> {
    write!(out, ":")?;
    for &value in values {
        write!(out, " ")?;
        write(out, value)?;
    }
    writeln!(out)?;
    Ok(())
}

fn list(items: &[usize]) -> String {
    let items: Vec<String> = items.iter().map(usize::to_string).collect();
    format!("[{}]", items.join(","))
}
