//! Strongly connected components by a path-based depth-first search.
//!
//! H. N. Gabow, 'Path-based depth-first search for strong and biconnected components', Information Processing Letters 74 (2000). Labels of
//! edges are joined on the stack of roots, as J.-M. Couvreur does with acceptance sets in 'On-the-fly verification of linear temporal
//! logic' (FM 1999): when a component is complete, so is the union of the labels of its inner edges.
//!
//! *Idea.* The search keeps a stack of the roots of components that it may still merge. An edge to a node of an unfinished component closes
//! a cycle, so all roots above that node's are merged into one. A node that is still a root when its edges are exhausted completes a
//! component: the nodes above it on the stack of live nodes.
//!
//! *Departures.* Nothing recurses. Besides its stacks the search needs four bytes per node, and successors are computed when a node is entered,
//! so the graph may be generated on demand. Components are reported in reverse topological order.
//!
//! `certus-automata` and `certus-reference` have their own routines: the former depends on nothing, the latter must share no code with
//! what it judges.

use std::ops::BitOr;

/// A directed graph with labelled edges.
pub trait Digraph {
    /// A node.
    type Node: Copy + Eq;
    /// The label of an edge; labels of a component's inner edges are joined by `|`.
    type Label: Copy + Default + BitOr<Output = Self::Label>;
    /// Why a search was given up.
    type Error;

    /// An upper bound, exclusive, of the nodes' indices.
    fn len(&self) -> usize;

    /// Whether the graph has no node.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of a node.
    fn index(&self, node: Self::Node) -> usize;

    /// Appends the edges of a node.
    fn successors(&mut self, node: Self::Node, found: &mut Vec<(Self::Node, Self::Label)>);

    /// Called before the given number of nodes have been entered, with the bytes that edges waiting to be followed take.
    fn poll(&mut self, _entered: u32, _waiting: usize) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A strongly connected component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component<N, L> {
    /// Its nodes, in the order in which the search entered them.
    pub nodes: Vec<N>,
    /// The union of the labels of its inner edges.
    pub label: L,
    /// Whether it has an inner edge: a single node without a loop has none.
    pub cyclic: bool,
}

const UNSEEN: u32 = 0;
const DEAD: u32 = u32::MAX;

/// Graphs of more nodes cannot be searched: numbers of nodes are 32 bits wide, and two of them have a meaning of their own.
pub const MOST_NODES: usize = (u32::MAX - 1) as usize;

struct Root<L> {
    /// When its first node was entered.
    order: u32,
    /// The labels of inner edges found so far.
    inner: L,
    /// The label of the edge that led to the first node.
    entry: L,
    cyclic: bool,
}

/// Reports the strongly connected components that can be reached from the roots.
pub fn strongly_connected<G: Digraph>(
    graph: &mut G,
    roots: impl IntoIterator<Item = G::Node>,
    mut report: impl FnMut(Component<G::Node, G::Label>),
) -> Result<(), G::Error> {
    debug_assert!(graph.len() < MOST_NODES, "nodes have numbers of 32 bits");
    let mut order = vec![UNSEEN; graph.len()];
    let mut live: Vec<G::Node> = Vec::new();
    let mut stack: Vec<Root<G::Label>> = Vec::new();
    // The nodes of the path, and where the edges of each begin among all that wait.
    let mut path: Vec<(G::Node, usize)> = Vec::new();
    let mut waiting: Vec<(G::Node, G::Label)> = roots.into_iter().map(|node| (node, G::Label::default())).collect();
    let mut time = 1u32;
    loop {
        let begin = path.last().map_or(0, |frame| frame.1);
        if waiting.len() > begin {
            let Some((next, label)) = waiting.pop() else { break };
            let at = graph.index(next);
            match order[at] {
                DEAD => {}
                UNSEEN => {
                    graph.poll(time, waiting.capacity() * size_of::<(G::Node, G::Label)>())?;
                    order[at] = time;
                    stack.push(Root { order: time, inner: G::Label::default(), entry: label, cyclic: false });
                    time += 1;
                    live.push(next);
                    path.push((next, waiting.len()));
                    graph.successors(next, &mut waiting);
                }
                reached => {
                    // The roots above the one of the node that was reached are on a cycle with it.
                    let mut inner = label;
                    while let Some(root) = stack.pop() {
                        inner = inner | root.inner;
                        if root.order <= reached {
                            stack.push(Root { inner, cyclic: true, ..root });
                            break;
                        }
                        inner = inner | root.entry;
                    }
                    debug_assert!(!stack.is_empty(), "a live node belongs to a root");
                }
            }
        } else {
            let Some((node, _)) = path.pop() else { break };
            let own = order[graph.index(node)];
            if stack.last().is_some_and(|root| root.order == own) {
                let Some(root) = stack.pop() else { break };
                let first = live.iter().rposition(|&other| other == node).unwrap_or(0);
                let nodes = live.split_off(first);
                for &member in &nodes {
                    order[graph.index(member)] = DEAD;
                }
                report(Component { nodes, label: root.inner, cyclic: root.cyclic });
            }
        }
    }
    debug_assert!(live.is_empty() && stack.is_empty(), "every component is complete");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Edges by source, with labels.
    struct Lists(Vec<Vec<(usize, u8)>>);

    impl Digraph for Lists {
        type Node = usize;
        type Label = u8;
        type Error = ();

        fn len(&self) -> usize {
            self.0.len()
        }

        fn index(&self, node: usize) -> usize {
            node
        }

        fn successors(&mut self, node: usize, found: &mut Vec<(usize, u8)>) {
            found.extend(&self.0[node]);
        }
    }

    fn components(graph: &mut Lists) -> Vec<Component<usize, u8>> {
        let mut all = Vec::new();
        strongly_connected(graph, 0..graph.0.len(), |component| all.push(component)).unwrap();
        all
    }

    #[test]
    fn cycles_are_components_and_their_labels_are_joined() {
        let mut graph = Lists(vec![vec![(1, 1)], vec![(0, 2), (2, 4)], vec![], vec![(3, 8)]]);
        let mut all = components(&mut graph);
        all.iter_mut().for_each(|component| component.nodes.sort_unstable());
        all.sort_by_key(|component| component.nodes[0]);
        let found: Vec<(Vec<usize>, u8, bool)> =
            all.into_iter().map(|own| (own.nodes, own.label, own.cyclic)).collect();
        assert_eq!(found, [(vec![0, 1], 3, true), (vec![2], 0, false), (vec![3], 8, true)]);
    }

    #[test]
    fn components_are_the_classes_of_mutual_reachability() {
        for seed in 0..200 {
            let mut random = Random::new(seed, 0);
            let n = 1 + random.below(9);
            let edges = (0..n).map(|_| (0..random.below(4)).map(|_| (random.below(n), 0)).collect()).collect();
            let mut graph = Lists(edges);
            let mut reaches = vec![vec![false; n]; n];
            for (start, reached) in reaches.iter_mut().enumerate() {
                let mut pending = vec![start];
                while let Some(node) = pending.pop() {
                    for &(next, _) in &graph.0[node] {
                        if !std::mem::replace(&mut reached[next], true) {
                            pending.push(next);
                        }
                    }
                }
            }
            let mut class = vec![usize::MAX; n];
            for (number, component) in components(&mut graph).into_iter().enumerate() {
                for &node in &component.nodes {
                    class[node] = number;
                    assert_eq!(component.cyclic, reaches[node][node]);
                }
            }
            for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
                assert_eq!(class[a] == class[b], a == b || (reaches[a][b] && reaches[b][a]));
                // Reverse topological order.
                assert!(!reaches[a][b] || class[b] <= class[a]);
            }
        }
    }
}
