//! Which elements of the inputs a graph reads at all.
//!
//! Networks often leave parts of their input aside: a slice here, one entry of a history there. Over such elements nothing
//! has to be searched. The answer follows the movements of values back from whatever computes with them, so it errs on
//! one side only: an element that is said not to be read has no influence on any output.

use crate::ops::{Movement, Op};
use crate::{Graph, Node};

/// For each element of the inputs, one after the other: whether some operator may compute with it, or it is an output.
pub fn elements_read(graph: &Graph) -> Vec<bool> {
    let mut read: Vec<Vec<bool>> = graph.nodes().iter().map(|node| vec![false; node.shape.iter().product()]).collect();
    for port in graph.outputs() {
        read[port.node.index()].fill(true);
    }
    for (index, node) in graph.nodes().iter().enumerate().rev() {
        if !read[index].contains(&true) {
            continue;
        }
        let wanted = std::mem::take(&mut read[index]);
        let mut wanted_elements = wanted.iter();
        let mut mark = |argument: usize, element: usize| {
            if wanted_elements.next() == Some(&true) {
                read[node.inputs[argument].index()][element] = true;
            }
        };
        match &node.op {
            Op::Reshape(op) => sources(op, graph, node, &mut mark),
            Op::Slice(op) => sources(op, graph, node, &mut mark),
            Op::Gather(op) => sources(op, graph, node, &mut mark),
            Op::Transpose(op) => sources(op, graph, node, &mut mark),
            Op::Concat(op) => sources(op, graph, node, &mut mark),
            _ => node.inputs.iter().for_each(|input| read[input.index()].fill(true)),
        }
        read[index] = wanted;
    }
    graph.inputs().iter().flat_map(|port| read[port.node.index()].iter().copied()).collect()
}

fn sources(op: &impl Movement, graph: &Graph, node: &Node, visit: &mut dyn FnMut(usize, usize)) {
    let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
    op.sources(&shapes, &node.shape, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Concat, Relu, Reshape, Slice};

    #[test]
    fn what_is_sliced_away_is_not_read() {
        let mut graph = Graph::new();
        let x = graph.input("x", &[2, 3]);
        let y = graph.input("y", &[2]);
        let flat = graph.apply(Reshape { shape: vec![6] }, &[x]).unwrap();
        let first = graph.apply(Slice::of_vector(0, 2), &[flat]).unwrap();
        let last = graph.apply(Slice::of_vector(5, 1), &[flat]).unwrap();
        // Joined and cut again: of the first two only the second is left.
        let both = graph.apply(Concat { axis: 0 }, &[first, last]).unwrap();
        let cut = graph.apply(Slice::of_vector(1, 2), &[both]).unwrap();
        let out = graph.apply(Relu, &[cut]).unwrap();
        graph.output("out", out);
        assert_eq!(elements_read(&graph), [false, true, false, false, false, true, false, false]);
        graph.output("y", y);
        assert_eq!(elements_read(&graph)[6..], [true, true]);
    }
}
