//! The order in which nodes are lowered: those that the outputs need, each after what it reads.
//!
//! ONNX asks for nodes in order already, but files are not always so kind. A depth-first search from the outputs, on
//! an explicit stack, gives the order, leaves out what no output needs, and finds cycles and undefined names.

use std::collections::HashMap;

use super::error::ImportError;
use super::proto::NodeProto;

/// Messages name this many nodes of a cycle.
const NAMED: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Fresh,
    Open,
    Done,
}

/// The indices of the needed nodes in an order that respects what they read. `is_given` tells the names that stand
/// for inputs and weights.
pub(super) fn schedule<'a>(
    nodes: &[NodeProto<'a>],
    outputs: &[&'a str],
    is_given: impl Fn(&str) -> bool,
) -> Result<Vec<usize>, ImportError> {
    let mut producers = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for &name in node.outputs.iter().filter(|name| !name.is_empty()) {
            if is_given(name) || producers.insert(name, index).is_some() {
                return Err(ImportError::Model(format!("the name `{name}` is defined twice")));
            }
        }
    }
    let mut marks = vec![Mark::Fresh; nodes.len()];
    let mut order = Vec::new();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for &output in outputs {
        match producers.get(output) {
            Some(&index) if marks[index] == Mark::Fresh => {
                marks[index] = Mark::Open;
                stack.push((index, 0));
            }
            None if !is_given(output) => {
                return Err(ImportError::Model(format!("nothing computes the output `{output}`")));
            }
            _ => {}
        }
        while let Some((index, next)) = stack.pop() {
            let Some(&name) = nodes[index].inputs.get(next) else {
                marks[index] = Mark::Done;
                order.push(index);
                continue;
            };
            stack.push((index, next + 1));
            if name.is_empty() || is_given(name) {
                continue;
            }
            let Some(&producer) = producers.get(name) else {
                let label = label(&nodes[index]);
                return Err(ImportError::Model(format!("node {label} reads `{name}`, which nothing defines")));
            };
            match marks[producer] {
                Mark::Done => {}
                Mark::Fresh => {
                    marks[producer] = Mark::Open;
                    stack.push((producer, 0));
                }
                Mark::Open => return Err(cycle(nodes, &stack, producer)),
            }
        }
    }
    Ok(order)
}

fn cycle(nodes: &[NodeProto<'_>], stack: &[(usize, usize)], start: usize) -> ImportError {
    let round: Vec<usize> = stack.iter().map(|&(index, _)| index).skip_while(|&index| index != start).collect();
    let mut names: Vec<String> = round.iter().take(NAMED).map(|&index| label(&nodes[index]).to_string()).collect();
    if round.len() > NAMED {
        names.push(format!("and {} more", round.len() - NAMED));
    }
    ImportError::Model(format!("nodes read each other in a cycle: {}", names.join(", ")))
}

/// What messages call a node.
pub(super) fn label(node: &NodeProto<'_>) -> super::error::NodeLabel {
    let name = if node.name.is_empty() { node.outputs.first().copied().unwrap_or("") } else { node.name };
    let operator = match node.domain {
        "" | "ai.onnx" => node.op_type.to_owned(),
        domain => format!("{domain}.{}", node.op_type),
    };
    super::error::NodeLabel { name: name.to_owned(), operator }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node<'a>(inputs: &[&'a str], output: &'a str) -> NodeProto<'a> {
        NodeProto { inputs: inputs.to_vec(), outputs: vec![output], op_type: "Add", ..Default::default() }
    }

    fn run(nodes: &[NodeProto<'_>]) -> Result<Vec<usize>, ImportError> {
        schedule(nodes, &["y"], |name| name == "x")
    }

    #[test]
    fn unsorted_nodes_are_sorted_and_unneeded_ones_dropped() {
        let nodes = [node(&["b", "a"], "y"), node(&["a"], "b"), node(&["x"], "a"), node(&["x"], "unused")];
        assert_eq!(run(&nodes).unwrap(), [2, 1, 0]);
    }

    #[test]
    fn cycles_are_named() {
        let nodes = [node(&["x", "b"], "a"), node(&["a"], "b"), node(&["b"], "y")];
        let message = run(&nodes).unwrap_err().to_string();
        assert!(message.contains("`b` (Add), `a` (Add)"), "{message}");
    }

    #[test]
    fn undefined_and_duplicate_names_are_refused() {
        assert!(run(&[node(&["nowhere"], "y")]).unwrap_err().to_string().contains("`nowhere`"));
        assert!(run(&[node(&["x"], "y"), node(&["x"], "y")]).unwrap_err().to_string().contains("twice"));
        assert!(run(&[node(&["x"], "x")]).unwrap_err().to_string().contains("twice"));
        assert!(run(&[]).unwrap_err().to_string().contains("output `y`"));
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let names: Vec<String> = (0..200_000).map(|index| format!("t{index}")).collect();
        let mut nodes = vec![node(&["x"], &names[0])];
        nodes.extend(names.windows(2).map(|pair| node(&[pair[0].as_str()], &pair[1])));
        nodes.push(node(&[names[names.len() - 1].as_str()], "y"));
        assert_eq!(run(&nodes).unwrap().len(), nodes.len());
    }
}
