//! A query: a region, a graph, and a formula over the graph's nodes.

use std::fmt;

use certus_graph::canonical::canonicalize;
use certus_graph::lower::lower;
use certus_graph::{Graph, GraphError, Interval, NodeId};

use crate::formula::Formula;
use crate::vnnlib::{Case, Specification, Variable};

/// An element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The element, flattened.
    pub element: usize,
}

/// A box of inputs. A bound that was written as a decimal lies between two doubles, so there are two boxes: proofs are
/// about the outer one, witnesses come from the inner one.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Lower ends, rounded outwards.
    pub lower: Vec<f64>,
    /// Upper ends, rounded outwards.
    pub upper: Vec<f64>,
    /// Lower ends, rounded inwards.
    pub inner_lower: Vec<f64>,
    /// Upper ends, rounded inwards; below the lower end where no double lies in between.
    pub inner_upper: Vec<f64>,
    /// For an input that is fixed to a decimal which is no double, the double that is shown as that decimal (one of the
    /// two around it). The input is the decimal, not the double.
    pub decimals: Vec<Option<f64>>,
}

impl Region {
    /// The box between two corners of doubles.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        Region {
            inner_lower: lower.clone(),
            inner_upper: upper.clone(),
            decimals: vec![None; lower.len()],
            lower,
            upper,
        }
    }

    /// The real number that a coordinate of a witness stands for: itself, or the decimal that it is shown as.
    pub(crate) fn meaning(&self, input: usize, value: f64) -> Interval {
        match self.decimals[input] {
            Some(_) => Interval { lo: self.lower[input], hi: self.upper[input] },
            None => Interval::point(value),
        }
    }
}

/// A question about a graph: does a point of the region exist at which the formula holds?
#[derive(Clone, Debug)]
pub struct Query {
    /// The graph in canonical form; what points are evaluated on.
    pub(crate) graph: Graph,
    /// The same in few kinds of nodes; what bounds are computed on.
    pub(crate) lowered: Graph,
    /// The graph as it was given; what witnesses are replayed on.
    pub(crate) original: Graph,
    /// The region of the flattened inputs.
    pub(crate) region: Region,
    /// The formula over elements of the outputs (by output number) and inputs of the graph.
    pub(crate) formula: Formula<Variable>,
}

/// Why a query could not be made.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryError {
    /// The sizes of the graph and of the question differ.
    Size(String),
    /// The graph cannot be brought into canonical form.
    Graph(GraphError),
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Size(message) => f.write_str(message),
            QueryError::Graph(error) => write!(f, "the graph has no canonical form: {error}"),
        }
    }
}

impl std::error::Error for QueryError {}

impl From<GraphError> for QueryError {
    fn from(error: GraphError) -> Self {
        QueryError::Graph(error)
    }
}

/// Where a flattened index lies among ports: the node and its element.
fn place_among(graph: &Graph, ports: &[certus_graph::Port], index: usize) -> Option<Place> {
    let mut rest = index;
    for port in ports {
        let elements = graph.elements(port.node);
        if rest < elements {
            return Some(Place { node: port.node, element: rest });
        }
        rest -= elements;
    }
    None
}

impl Query {
    /// A question about a graph's inputs and outputs, both flattened and numbered from zero.
    pub fn new(graph: &Graph, region: Region, formula: Formula<Variable>) -> Result<Self, QueryError> {
        let inputs: usize = graph.inputs().iter().map(|port| graph.elements(port.node)).sum();
        let sizes = [&region.lower, &region.upper, &region.inner_lower, &region.inner_upper];
        if sizes.iter().any(|bounds| bounds.len() != inputs) || region.decimals.len() != inputs {
            let message = format!("a region over {} inputs for a graph with {inputs}", region.lower.len());
            return Err(QueryError::Size(message));
        }
        let canonical = canonicalize(graph)?;
        let query = Query { lowered: lower(graph)?, graph: canonical, original: graph.clone(), region, formula };
        query.check()?;
        Ok(query)
    }

    /// A question about any nodes of a graph, each by its number in the graph and its element.
    pub fn over_nodes(graph: &Graph, region: Region, formula: &Formula<Place>) -> Result<Self, QueryError> {
        let mut extended = graph.clone();
        let mut exposed: Vec<(NodeId, usize)> = Vec::new();
        let mut elements: usize = graph.outputs().iter().map(|port| graph.elements(port.node)).sum();
        let mut expose = |place: &Place| -> Variable {
            let known = exposed.iter().find(|(node, _)| *node == place.node).map(|&(_, start)| start);
            let start = known.unwrap_or_else(|| {
                extended.output(&format!("node {}", place.node.index()), place.node);
                exposed.push((place.node, elements));
                elements += graph.elements(place.node);
                elements - graph.elements(place.node)
            });
            Variable::Output(start + place.element)
        };
        let formula = formula.map(&mut |place| match graph.ids().nth(place.node.index()) {
            Some(_) if place.element < graph.elements(place.node) => Ok(expose(place)),
            _ => Err(QueryError::Size(format!("the formula speaks of {place:?}, which does not exist"))),
        })?;
        Query::new(&extended, region, formula)
    }

    /// Whether all that the formula speaks of exists.
    fn check(&self) -> Result<(), QueryError> {
        let mut missing = None;
        visit(&self.formula, &mut |variable| {
            if place(&self.lowered, variable).is_none() {
                missing = Some(*variable);
            }
        });
        match missing {
            Some(variable) => {
                Err(QueryError::Size(format!("the formula speaks of {variable:?}, which does not exist")))
            }
            None => Ok(()),
        }
    }

    /// The same question with another formula.
    pub fn with_formula(&self, formula: Formula<Variable>) -> Result<Self, QueryError> {
        let query = Query { formula, ..self.clone() };
        query.check()?;
        Ok(query)
    }

    /// The questions that a VNN-LIB specification asks about a network, one per box of inputs.
    pub fn from_specification(
        graph: &Graph,
        specification: &Specification,
        cases: Vec<Case>,
    ) -> Result<Vec<Self>, QueryError> {
        let count =
            |ports: &[certus_graph::Port]| -> usize { ports.iter().map(|port| graph.elements(port.node)).sum() };
        let (inputs, outputs) = (count(graph.inputs()), count(graph.outputs()));
        if (inputs, outputs) != (specification.inputs, specification.outputs) {
            return Err(QueryError::Size(format!(
                "the specification declares {} inputs and {} outputs, the network has {inputs} and {outputs}",
                specification.inputs, specification.outputs
            )));
        }
        let query = |case: Case| {
            let region = Region {
                lower: case.lower,
                upper: case.upper,
                inner_lower: case.inner_lower,
                inner_upper: case.inner_upper,
                decimals: case.decimals,
            };
            Query::new(graph, region, case.formula)
        };
        cases.into_iter().map(query).collect()
    }
}

/// The element of a graph that a variable is.
pub(crate) fn place(graph: &Graph, variable: &Variable) -> Option<Place> {
    match *variable {
        Variable::Input(index) => place_among(graph, graph.inputs(), index),
        Variable::Output(index) => place_among(graph, graph.outputs(), index),
    }
}

/// Calls `visit` with every variable of a formula.
pub(crate) fn visit(formula: &Formula<Variable>, action: &mut dyn FnMut(&Variable)) {
    match formula {
        Formula::Atom(atom) => atom.linear.terms.iter().for_each(|(variable, _)| action(variable)),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| visit(part, action)),
    }
}

impl Query {
    /// The graph as it was given.
    pub fn original(&self) -> &Graph {
        &self.original
    }

    /// The region of the flattened inputs.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The formula over the flattened inputs and outputs.
    pub fn formula(&self) -> &Formula<Variable> {
        &self.formula
    }
}
