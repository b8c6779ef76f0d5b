//! What each element lies in, over a part of the region.
//!
//! Ranges only ever shrink on the way down the tree: a range that held for a part holds for every part of it. A node's
//! range is what its operator makes of its arguments' ranges, cut with what was known before; refining cuts it further with
//! backward linear bounds. Where the two ends of a range have crossed, the part has no points.

use certus_graph::Interval;
use certus_graph::ops::{Arg, Operator};

use crate::backward::Substitution;
use crate::network::{Kind, Network};
use crate::relaxation::{Lean, PRODUCT_LEAN, Sides, product_sides};

/// The part has no points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossed;

/// Room that is used again for every part.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    changed: Vec<bool>,
    enclosed: Vec<Interval>,
    pub(crate) sides: Vec<Sides>,
    pub(crate) substitution: Substitution,
}

/// Cuts a range; says whether it became smaller.
pub(crate) fn cut(range: &mut Interval, other: Interval) -> Result<bool, Crossed> {
    let common = range.intersection(other).ok_or(Crossed)?;
    let smaller = common != *range;
    *range = common;
    Ok(smaller)
}

impl Workspace {
    /// Marks the nodes whose elements the caller has cut, before [`Workspace::propagate`].
    pub(crate) fn start(&mut self, network: &Network) {
        self.changed.clear();
        self.changed.resize(network.layers.len(), false);
    }

    /// Cuts the range of an element and remembers that its readers have to be looked at.
    pub(crate) fn cut(
        &mut self,
        network: &Network,
        ranges: &mut [Interval],
        element: usize,
        range: Interval,
    ) -> Result<(), Crossed> {
        if cut(&mut ranges[element], range)? {
            let node = network.layers.partition_point(|layer| layer.elements.end <= element);
            self.changed[node] = true;
        }
        Ok(())
    }

    /// Encloses every node, whatever is known of it, as at the root.
    pub(crate) fn enclose_all(&mut self, network: &Network, ranges: &mut [Interval]) -> Result<(), Crossed> {
        self.start(network);
        (0..network.layers.len()).try_for_each(|node| self.enclose(network, node, ranges))
    }

    /// Encloses the nodes whose arguments have changed, in order.
    pub(crate) fn propagate(&mut self, network: &Network, ranges: &mut [Interval]) -> Result<(), Crossed> {
        (0..network.layers.len()).try_for_each(|node| self.enclose_if_changed(network, node, ranges))
    }

    fn enclose_if_changed(&mut self, network: &Network, node: usize, ranges: &mut [Interval]) -> Result<(), Crossed> {
        if network.layers[node].arguments.iter().any(|&argument| self.changed[argument]) {
            self.enclose(network, node, ranges)?;
        }
        Ok(())
    }

    fn enclose(&mut self, network: &Network, node: usize, ranges: &mut [Interval]) -> Result<(), Crossed> {
        let layer = &network.layers[node];
        if matches!(layer.kind, Kind::Input) {
            return Ok(());
        }
        let graph_node = &network.graph.nodes()[node];
        let argument = |&index: &usize| {
            let shape = network.graph.nodes()[index].shape.as_slice();
            Arg { shape, values: &ranges[network.layers[index].elements.clone()] }
        };
        let arguments: Vec<Arg<'_, Interval>> = layer.arguments.iter().map(argument).collect();
        self.enclosed.clear();
        self.enclosed.resize(layer.elements.len(), Interval::ENTIRE);
        graph_node.op.enclose(&arguments, &graph_node.shape, &mut self.enclosed);
        for (range, &enclosed) in ranges[layer.elements.clone()].iter_mut().zip(&self.enclosed) {
            if cut(range, enclosed)? {
                self.changed[node] = true;
            }
        }
        Ok(())
    }

    /// Tightens, in node order, every range that a curve or product bends over.
    pub(crate) fn refine(&mut self, network: &Network, ranges: &mut [Interval]) -> Result<(), Crossed> {
        self.start(network);
        self.forget_sides(network);
        for (node, layer) in network.layers.iter().enumerate() {
            self.enclose_if_changed(network, node, ranges)?;
            // A curve's own ranges may be refined, if another curve reads them: its lines come first.
            self.relax(network, node, ranges);
            for element in layer.elements.clone() {
                if layer.wants_refinement(ranges[element]) {
                    let lo = self.bound(network, ranges, element, Interval::ONE);
                    let hi = -self.bound(network, ranges, element, -Interval::ONE);
                    if lo > hi {
                        return Err(Crossed);
                    }
                    if cut(&mut ranges[element], Interval { lo, hi })? {
                        self.changed[node] = true;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lines of another part must not be met in this one.
    fn forget_sides(&mut self, network: &Network) {
        self.sides.clear();
        self.sides.resize(network.elements(), Sides::UNKNOWN);
    }

    /// A lower bound of a multiple of an element, by substitution with the lines as they are.
    fn bound(&mut self, network: &Network, ranges: &[Interval], element: usize, factor: Interval) -> f64 {
        self.substitution.clear(network);
        self.substitution.add(network, element, factor);
        self.substitution.run(network, ranges, &self.sides);
        self.substitution.minimum_without(network, ranges, None)
    }

    /// Finds the lines and planes of all nodes; `leans`, by element, replace the default ones.
    pub(crate) fn relax_all(&mut self, network: &Network, ranges: &[Interval], leans: &[(usize, Lean)]) {
        self.forget_sides(network);
        (0..network.layers.len()).for_each(|node| self.relax(network, node, ranges));
        for &(element, lean) in leans {
            let node = network.layers.partition_point(|layer| layer.elements.end <= element);
            let index = element - network.layers[node].elements.start;
            if let Some(sides) = sides(&network.layers[node].kind, index, element, ranges, Some(lean)) {
                self.sides[element] = sides;
            }
        }
    }

    /// Finds the lines or planes of a node for the default leans.
    fn relax(&mut self, network: &Network, node: usize, ranges: &[Interval]) {
        let layer = &network.layers[node];
        if matches!(layer.kind, Kind::Curve { .. } | Kind::Product { .. }) {
            for (index, element) in layer.elements.clone().enumerate() {
                if let Some(sides) = sides(&layer.kind, index, element, ranges, None) {
                    self.sides[element] = sides;
                }
            }
        }
    }
}

/// The lines or planes of an element, if it is of a curve or a product.
fn sides(kind: &Kind, index: usize, element: usize, ranges: &[Interval], lean: Option<Lean>) -> Option<Sides> {
    match *kind {
        Kind::Curve { curve, argument } => {
            let x = ranges[argument + index];
            Some(curve.sides(x, ranges[element], lean.unwrap_or_else(|| curve.default_lean(x))))
        }
        Kind::Product { left, right } => {
            let (x, y) = (ranges[left + index], ranges[right + index]);
            Some(product_sides(x, y, ranges[element], lean.unwrap_or(PRODUCT_LEAN)))
        }
        _ => None,
    }
}
