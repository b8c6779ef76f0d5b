//! Intermediate bounds of every node over a batch of subdomains.
//!
//! Nodes are bounded in order: interval propagation (`forward.rs`), what the subproblem's split constraints and the bounds
//! inherited from its parent say, zonotopes (`zonotope.rs`), and CROWN bounds of each unstable element that a curve or
//! product reads (`backward.rs`), which are the intermediate bounds that the next layers' relaxations are made of.
//!
//! *Soundness.* Each source encloses the value wherever the constraints hold, so their intersection does; an empty
//! intersection shows that the constraints cannot hold together.

use certus_graph::Interval;

use super::backward::{Objectives, minimise};
use super::forward::enclose_node;
use super::program::{Program, Role};
use super::table::{Bounds, Range};
use super::zonotope::{Zonotopes, can_help};

/// A subproblem as the bounds see it: a box, ranges of elements, and inherited bounds.
pub(crate) struct Subdomain<'a> {
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    /// Ranges that splits and the formula's bounds of single elements fix.
    pub(crate) ranges: Vec<Range>,
    /// Bounds of refinable nodes that a larger subproblem has.
    pub(crate) inherited: Option<&'a InheritedBounds>,
}

/// Bounds of the refinable nodes of one subproblem, for the subproblems inside it: per node, lower and upper ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct InheritedBounds {
    pub(crate) nodes: Vec<(usize, Vec<f64>, Vec<f64>)>,
}

impl InheritedBounds {
    /// What a table says of one box.
    pub(crate) fn of(program: &Program, bounds: &Bounds, index: usize) -> InheritedBounds {
        let column = |table: &[f64]| -> Vec<f64> { table.iter().skip(index).step_by(bounds.boxes).copied().collect() };
        let nodes = (0..program.roles.len())
            .filter(|&node| program.refinable[node])
            .map(|node| (node, column(&bounds.lower[node]), column(&bounds.upper[node])));
        InheritedBounds { nodes: nodes.collect() }
    }

    /// How many bytes this holds.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.iter().map(|(_, lower, _)| 16 * lower.len() + 64).sum()
    }
}

/// Values that one table of coefficients may hold: what a core's second-level cache takes, several times over.
const TABLE_VALUES: usize = 1 << 16;

/// Fewer columns than this at once waste the matrix kernels.
const FEWEST_COLUMNS: usize = 64;

/// How bounds are made better than interval propagation makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refinement {
    Nothing,
    /// Backward bounds of each element over which a reader unstable: what a certificate's checker repeats.
    Backward,
    /// Affine forms first, so that fewer elements are left that unstable. A checker of certificates does not repeat this.
    Forward,
}

/// `true` stands for the refinement that a certificate checker repeats.
impl From<bool> for Refinement {
    fn from(refine: bool) -> Self {
        if refine { Refinement::Backward } else { Refinement::Nothing }
    }
}

/// Symbols of affine forms beside the inputs'. Between 11 and 59 the time on ACAS Xu differs by less than a tenth.
const SYMBOLS: usize = 32;

/// Inputs with any width beyond which there are no affine forms: each is a column of every layer, and so many were not measured.
const MOST_INPUTS: usize = 64;

/// What a pass of intervals costs, in columns of a matrix product.
const COST_OF_INTERVALS: usize = 8;

/// Affine forms for some subproblems, where they are wanted and may help.
fn forms(program: &Program, subproblems: &[Subdomain<'_>], refinement: Refinement) -> Option<Zonotopes> {
    if refinement != Refinement::Forward || !can_help(program) {
        return None;
    }
    let free: Vec<bool> = (0..program.inputs)
        .map(|input| subproblems.iter().any(|subproblem| subproblem.lower[input] < subproblem.upper[input]))
        .collect();
    let count = free.iter().filter(|&&free| free).count();
    (count <= MOST_INPUTS).then(|| Zonotopes::new(program, &free, subproblems.len(), SYMBOLS))
}

/// Bounds of every node over some subproblems, or nothing when `stop` said so on the way.
#[tracing::instrument(level = "debug", name = "intermediate bounds", skip_all)]
pub(crate) fn bound_subdomains(
    program: &Program,
    subproblems: &[Subdomain<'_>],
    refinement: impl Into<Refinement>,
    stop: &dyn Fn() -> bool,
) -> Option<Bounds> {
    let refinement = refinement.into();
    let nodes = program.roles.len();
    let mut bounds = Bounds::new(nodes, subproblems.len());
    let mut scratch = Vec::new();
    let mut ranges: Vec<Vec<(usize, Range)>> = vec![Vec::new(); nodes];
    for (index, subproblem) in subproblems.iter().enumerate() {
        for range in &subproblem.ranges {
            ranges[range.node].push((index, *range));
        }
    }
    let mut forms = forms(program, subproblems, refinement);
    let columns = COST_OF_INTERVALS + forms.as_ref().map_or(0, Zonotopes::symbols);
    bounds.forward_effort =
        (subproblems.len() * columns * program.sweep() + program.overhead(subproblems.len())) as u64;
    for (node, ranges) in ranges.iter().enumerate() {
        if let Role::Input(offset) = program.roles[node] {
            let elements = offset..offset + program.sizes[node];
            let rows = elements
                .clone()
                .flat_map(|element| subproblems.iter().map(move |subproblem| subproblem.lower[element]));
            bounds.lower[node] = rows.collect();
            let rows = elements.flat_map(|element| subproblems.iter().map(move |subproblem| subproblem.upper[element]));
            bounds.upper[node] = rows.collect();
        } else {
            enclose_node(program, &mut bounds, node, &mut scratch);
        }
        if program.refinable[node] {
            inherit(&mut bounds, subproblems, node);
        }
        for &(index, range) in ranges {
            bounds.tighten(node, range.element, index, Interval { lo: range.lo, hi: range.hi });
        }
        if let Some(forms) = &mut forms {
            forms.advance(program, &mut bounds, node, &mut scratch);
        }
        bounds.prepare(program, node);
        let wanted = refinement != Refinement::Nothing && program.refinable[node];
        if wanted && !refine_node(program, &mut bounds, node, stop, &mut scratch) {
            return None;
        }
    }
    let ordered = |own: &Subdomain<'_>| own.lower.iter().zip(own.upper).all(|(low, high)| low <= high);
    debug_assert!(
        !subproblems.iter().all(ordered) || bounds.are_ordered(),
        "a lower bound is above the upper bound in a box that is not empty"
    );
    Some(bounds)
}

fn inherit(bounds: &mut Bounds, subproblems: &[Subdomain<'_>], node: usize) {
    for (index, subproblem) in subproblems.iter().enumerate() {
        let Some((_, lower, upper)) =
            subproblem.inherited.and_then(|known| known.nodes.iter().find(|(own, ..)| *own == node))
        else {
            continue;
        };
        for (element, (&lo, &hi)) in lower.iter().zip(upper).enumerate() {
            bounds.tighten(node, element, index, Interval { lo, hi });
        }
    }
}

/// Whether some curve or product unstable over the range of an element that it reads.
fn unstable(program: &Program, bounds: &Bounds, node: usize, element: usize, index: usize) -> bool {
    let range = bounds.interval(node, element, index);
    program.readers[node].iter().any(|&reader| match &program.roles[reader] {
        Role::Curve(curve, _) => !curve.is_linear(range),
        // A product's other factor may come later; a fixed factor makes it linear.
        _ => range.lo < range.hi,
    })
}

/// Tightens the elements of a node over which a reader unstable. False when stopped.
fn refine_node(
    program: &Program,
    bounds: &mut Bounds,
    node: usize,
    stop: &dyn Fn() -> bool,
    scratch: &mut Vec<f64>,
) -> bool {
    let elements = program.sizes[node];
    let mut wanted: Vec<(usize, usize)> = Vec::new();
    for index in (0..bounds.boxes).filter(|&index| !bounds.empty[index]) {
        wanted.extend(
            (0..elements).filter(|&element| unstable(program, bounds, node, element, index)).map(|e| (index, e)),
        );
    }
    let largest = program.sizes[..=node].iter().max().copied().unwrap_or(1);
    let chunk = (TABLE_VALUES / largest.max(1)).max(FEWEST_COLUMNS) / 2;
    for wanted in wanted.chunks(chunk) {
        if stop() {
            return false;
        }
        let objectives = Objectives::of_elements(program, bounds, node, wanted);
        let lower = minimise(program, bounds, objectives, node, scratch);
        bounds.effort += lower.effort;
        for (place, &(index, element)) in wanted.iter().enumerate() {
            let range = Interval { lo: lower.bounds[2 * place], hi: -lower.bounds[2 * place + 1] };
            bounds.tighten(node, element, index, range);
        }
    }
    true
}
