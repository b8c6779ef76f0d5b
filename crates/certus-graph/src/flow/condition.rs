//! A condition at all instants of a part of a period: its truth, and the infimum of its margin.
//!
//! The period's solutions are enclosed once ([`FlowPipe`]); the condition is then enclosed over slices of time, the one with the
//! smallest margin halved first, until the sign is known or enough slices were tried.
//!
//! *Soundness.* The slices cover every instant that is asked about, so what is certain on all of them is certain; and each contains
//! one such instant, so what is certainly false on one of them, or bounded from above there, is so for the whole. The ends are
//! intervals, since an end that is written as a decimal is no double: slices reach out to their outer ends and are cut only between
//! their inner ones.

use std::sync::Arc;

use super::FlowPipe;
use super::along::with_differences;
use crate::eval::enclose;
use crate::{Graph, GraphError, Interval};

/// How often a condition is enclosed.
const MOST_SLICES: usize = 96;

/// A Boolean expression over the state and the held numbers (varying ones last), as a graph with the outputs truth and margin.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    graph: Arc<Graph>,
    /// The same with what simulation looks at beside them, see [`Condition::sampled`].
    pub(super) watched: Arc<Graph>,
}

/// What is known of a condition over a slice of time.
struct Slice {
    from: f64,
    to: f64,
    truth: Interval,
    margin: Interval,
}

impl Condition {
    /// The condition of a graph with the inputs state and held, and the outputs truth and margin, of one element each.
    pub fn new(graph: Graph) -> Result<Condition, GraphError> {
        let single = graph.outputs().iter().all(|port| graph.elements(port.node) == 1);
        if graph.inputs().len() != 2 || graph.outputs().len() != 2 || !single {
            let message = "a condition has the inputs state and held, and the outputs truth and margin";
            return Err(GraphError::Inputs(message.to_owned()));
        }
        let watched = Arc::new(with_differences(&graph)?);
        Ok(Condition { graph: Arc::new(graph), watched })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How many numbers it takes: state, and held with varying ones.
    pub fn lengths(&self) -> (usize, usize) {
        let len = |place: usize| self.graph.elements(self.graph.inputs()[place].node);
        (len(0), len(1))
    }

    /// Truth and margin where states and held numbers lie in boxes.
    pub fn enclose(&self, state: &[Interval], held: &[Interval]) -> (Interval, Interval) {
        match enclose(&self.graph, &[state, held]) {
            Ok(found) => (found[0][0], found[1][0]),
            Err(_) => (Interval::UNKNOWN_TRUTH, Interval::ENTIRE),
        }
    }

    /// Truth at all instants of a part of the period, and the infimum of the margin; `held` has the varying numbers' ranges last.
    pub fn throughout(&self, pipe: &FlowPipe, held: &[Interval], from: Interval, to: Interval) -> (Interval, Interval) {
        let slice = |from: f64, to: f64| {
            let (truth, margin) = self.enclose(&pipe.over(from, to), held);
            Slice { from, to, truth, margin }
        };
        let inside = |x: f64| x.clamp(0.0, pipe.duration());
        let mut slices = vec![slice(inside(from.lo), inside(to.hi))];
        while slices.len() < MOST_SLICES {
            let upper = slices.iter().fold(f64::INFINITY, |least, own| least.min(own.margin.hi));
            let refuted = slices.iter().any(|own| own.truth.certainty() == Some(false));
            let open = |own: &Slice| own.truth.certainty() != Some(true) || own.margin.lo <= 0.0;
            if refuted && upper < 0.0 || !slices.iter().any(open) {
                break;
            }
            let cut = |own: &Slice| {
                let middle = (own.from / 2.0 + own.to / 2.0).clamp(from.hi.min(to.lo), to.lo.max(from.hi));
                (from.hi <= to.lo && own.from < middle && middle < own.to).then_some(middle)
            };
            let candidates = slices.iter().enumerate().filter(|(_, own)| open(own) && cut(own).is_some());
            let worst = candidates.min_by(|a, b| a.1.margin.lo.total_cmp(&b.1.margin.lo).then(a.0.cmp(&b.0)));
            let Some((place, middle)) = worst.and_then(|(place, own)| Some((place, cut(own)?))) else { break };
            let (first, second) = (slice(slices[place].from, middle), slice(middle, slices[place].to));
            slices[place] = first;
            slices.push(second);
        }
        let margin = slices.iter().map(|own| own.margin).reduce(Interval::min).unwrap_or(Interval::ENTIRE);
        let certain = |wanted: bool| move |own: &Slice| own.truth.certainty() == Some(wanted);
        let truth = match slices.iter().any(certain(false)) {
            true => Some(false),
            false => slices.iter().all(certain(true)).then_some(true),
        };
        (Interval::from_certainty(truth), margin)
    }
}
