//! What each element lies in, over a subproblem.
//!
//! A node's range is what its operator makes of its arguments' ranges (interval arithmetic), intersected with what the
//! subproblem's place in the tree says of it; refining intersects it with backward linear bounds. A range that holds for a
//! subproblem holds for everything inside it. Where the two ends of a range have crossed, the subproblem has no points.

use certus_graph::Interval;
use certus_graph::ops::{Arg, Operator};

use crate::backward::Substitution;
use crate::network::{Kind, Network};
use crate::relaxation::{Alpha, PRODUCT_ALPHA, Sides, product_sides};

/// The subproblem has no points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossed;

/// Room that is used again for every subproblem.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    enclosed: Vec<Interval>,
    pub(crate) sides: Vec<Sides>,
    pub(crate) substitution: Substitution,
}

/// Cuts a range.
pub(crate) fn intersect(range: &mut Interval, other: Interval) -> Result<(), Crossed> {
    *range = range.intersection(other).ok_or(Crossed)?;
    Ok(())
}

impl Workspace {
    /// The ranges of all elements where everything in `restrictions` holds: node by node what the operator makes of the
    /// arguments' ranges, intersected with what is inherited and with `restrictions`, and, when refining, with backward linear bounds
    /// wherever a reader bends.
    pub(crate) fn ranges(
        &mut self,
        network: &Network,
        restrictions: &[(usize, Interval)],
        inherited: Option<&[Interval]>,
        refine: bool,
    ) -> Result<Vec<Interval>, Crossed> {
        let mut ranges = match inherited {
            Some(inherited) => inherited.to_vec(),
            None => vec![Interval::ENTIRE; network.elements()],
        };
        for &(element, range) in restrictions {
            intersect(&mut ranges[element], range)?;
        }
        self.forget_sides(network);
        for (node, layer) in network.layers.iter().enumerate() {
            self.enclose(network, node, &mut ranges)?;
            if !refine {
                continue;
            }
            // A curve's own ranges may be refined, if another curve reads them: its lines come first.
            self.relax(network, node, &ranges);
            for element in layer.elements.clone() {
                if layer.wants_refinement(ranges[element]) {
                    let lo = self.bound(network, &ranges, element, Interval::ONE);
                    let hi = -self.bound(network, &ranges, element, -Interval::ONE);
                    if lo > hi {
                        return Err(Crossed);
                    }
                    intersect(&mut ranges[element], Interval { lo, hi })?;
                }
            }
        }
        Ok(ranges)
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
            intersect(range, enclosed)?;
        }
        Ok(())
    }

    /// Lines of another subproblem must not be met in this one.
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

    /// Finds the lines and planes of all nodes; `alphas`, by element, replace the default ones.
    pub(crate) fn relax_all(&mut self, network: &Network, ranges: &[Interval], alphas: &[(usize, Alpha)]) {
        self.forget_sides(network);
        (0..network.layers.len()).for_each(|node| self.relax(network, node, ranges));
        for &(element, alpha) in alphas {
            let node = network.layers.partition_point(|layer| layer.elements.end <= element);
            let index = element - network.layers[node].elements.start;
            if let Some(sides) = sides(&network.layers[node].kind, index, element, ranges, Some(alpha)) {
                self.sides[element] = sides;
            }
        }
    }

    /// Finds the lines or planes of a node for the default alphas.
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
fn sides(kind: &Kind, index: usize, element: usize, ranges: &[Interval], alpha: Option<Alpha>) -> Option<Sides> {
    match *kind {
        Kind::Curve { curve, argument } => {
            let x = ranges[argument + index];
            Some(curve.sides(x, ranges[element], alpha.unwrap_or_else(|| curve.default_alpha(x))))
        }
        Kind::Product { left, right } => {
            let (x, y) = (ranges[left + index], ranges[right + index]);
            Some(product_sides(x, y, ranges[element], alpha.unwrap_or(PRODUCT_ALPHA)))
        }
        _ => None,
    }
}
