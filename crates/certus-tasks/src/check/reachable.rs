//! Certificates of reachability proofs: the engine's pieces of the initial set, split further until the audit's own checker accepts each of them.
//!
//! The checker has arithmetic of its own, which may be less sharp than the engine's. So nothing is written that it was not asked about before, and what it does not accept is split
//! along the variable that matters most where it failed, within a budget of work.

use std::path::Path;
use std::time::Instant;

use certus_audit_reach::{Attempt, Branch, Checker, Lasting, Reachable};
use certus_engine::{Budget, Progress, spent};
use certus_graph::Interval;
use certus_numerics::parallel;
use certus_reach::Pieces;

use super::certificate::{header, property_of, sealed, unfinished};
use crate::Loading;
use crate::failure::Failure;
use crate::output::write_atomically;

/// Boxes that are tried together.
const BATCH: usize = 16;

/// How many boxes may be tried for each piece of the engine's, and beside those.
const TRIES_PER_PIECE: usize = 16;
const MORE_TRIES: usize = 2048;

/// A box narrower than this share of the initial set is not split.
const NARROWEST: f64 = 1e-7;

/// The share of the time that is left which may go into a certificate.
const SHARE_OF_TIME: f64 = 0.8;

/// The order of Taylor series in time.
const ORDER: usize = 7;

/// A node of the tree while it grows.
enum Node {
    Split { element: usize, at: f64, parts: [usize; 2] },
    Open(Vec<Interval>),
    Leaf,
}

/// The degree of polynomials in so many variables.
fn degree(variables: usize) -> usize {
    match variables {
        0..=2 => 4,
        3..=4 => 3,
        5..=12 => 2,
        _ => 1,
    }
}

/// Writes the certificate of a property that holds by reachable sets from these pieces.
pub(super) fn write(
    path: &Path,
    loading: &Loading,
    property: &str,
    pieces: &Pieces,
    assumed: bool,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let sealed = sealed(loading)?;
    let about = property_of(&sealed.system, property)?;
    let wide = |(lower, upper): &(Vec<f64>, Vec<f64>)| lower.iter().zip(upper).filter(|(lo, hi)| lo < hi).count();
    let degree = degree(sealed.system.init_boxes.iter().map(wide).max().unwrap_or(0));
    let checker = Checker::new(&sealed.system, about, degree, ORDER, !assumed)
        .map_err(|refused| unfinished(&refused.to_string()))?;
    // Whoever waits for the verdict is told that it has no certificate before the time is over.
    let now = Instant::now();
    let deadline = budget.deadline.map(|end| now + end.saturating_duration_since(now).mul_f64(SHARE_OF_TIME));
    let budget = Budget { deadline, ..*budget };
    let mut nodes = arranged(checker.initial(), &pieces.0);
    let roots = checker.initial().len();
    let found = grow(&checker, &mut nodes, pieces.0.len(), &budget, watch)?;
    let invariants = found.into_iter().map(|own| own.invariant).collect();
    let claim =
        Reachable { degree, order: ORDER, shows_no_errors: !assumed, invariants, tree: in_preorder(&nodes, roots) };
    let header = header(loading, &sealed, property, certus_reach::NAME, claim.to_json());
    write_atomically(path, &format!("certus-certificate 1\nproof {header}\nend\n"))
}

/// Writes the certificate of a property that the audit's own checker shows by itself, model errors excluded; nobody suggests pieces.
pub fn certify_reachable(path: &Path, loading: &Loading, property: &str, budget: &Budget<'_>) -> Result<(), Failure> {
    write(path, loading, property, &Pieces::default(), false, budget, &mut |_| {})
}

/// Splits open boxes until all are leaves; the invariants that they share.
fn grow(
    checker: &Checker,
    nodes: &mut Vec<Node>,
    pieces: usize,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Vec<Lasting>, Failure> {
    let mut known: Vec<Lasting> = Vec::new();
    let widths = widths(checker.initial());
    let mut tries = TRIES_PER_PIECE * pieces + MORE_TRIES;
    let mut leaves = 0;
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&place| matches!(nodes[place], Node::Open(_))).rev().collect();
    while !open.is_empty() {
        if spent(budget).is_some() {
            return Err(unfinished("no time is left"));
        }
        let batch = open.split_off(open.len().saturating_sub(BATCH));
        let boxes: Vec<(usize, Vec<Interval>)> = batch
            .into_iter()
            .filter_map(|place| match &nodes[place] {
                Node::Open(bounds) => Some((place, bounds.clone())),
                _ => None,
            })
            .collect();
        let found = parallel::map(&boxes, budget.threads, |(_, bounds)| {
            checker.attempt(bounds, &known, &|| spent(budget).is_some())
        });
        for ((place, bounds), attempt) in boxes.into_iter().zip(found).rev() {
            match attempt {
                Attempt::Shown(found) => {
                    known.extend(found);
                    nodes[place] = Node::Leaf;
                    leaves += 1;
                }
                Attempt::Open { .. } if spent(budget).is_some() => return Err(unfinished("no time is left")),
                Attempt::Open { step, reason, scores } => {
                    let halves = split(&widths, &bounds, &scores).filter(|_| tries > 0);
                    let Some((element, at, halves)) = halves else {
                        return Err(unfinished(&format!(
                            "the audit's own arithmetic does not show it of a part of the initial states: {reason} at step {step}"
                        )));
                    };
                    tries -= 1;
                    let parts = [nodes.len(), nodes.len() + 1];
                    nodes.extend(halves.map(Node::Open));
                    nodes[place] = Node::Split { element, at, parts };
                    open.extend([parts[1], parts[0]]);
                }
            }
        }
        watch(Progress::Exploration { refinements: open.len(), steps: 0, cells: leaves });
    }
    Ok(known)
}

/// The largest width of each element in a box.
fn widths(boxes: &[Vec<Interval>]) -> Vec<f64> {
    let elements = 0..boxes.first().map_or(0, Vec::len);
    elements.map(|element| boxes.iter().map(|own| own[element].width()).fold(0.0, f64::max)).collect()
}

/// The halves of a box along the element that matters most, or the widest one where nothing is known of that.
fn split(widths: &[f64], bounds: &[Interval], scores: &[f64]) -> Option<(usize, f64, [Vec<Interval>; 2])> {
    let share = |place: usize| bounds[place].width() / widths[place];
    let wide = (0..bounds.len()).filter(|&place| bounds[place].lo < bounds[place].hi && share(place) > NARROWEST);
    let score = |place: usize| scores.get(place).copied().filter(|own| own.is_finite()).unwrap_or(0.0);
    let element =
        wide.max_by(|&a, &b| score(a).total_cmp(&score(b)).then(share(a).total_cmp(&share(b))).then(b.cmp(&a)))?;
    let range = bounds[element];
    let at = range.lo / 2.0 + range.hi / 2.0;
    (range.lo < at && at < range.hi).then(|| {
        let mut halves = [bounds.to_vec(), bounds.to_vec()];
        halves[0][element].hi = at;
        halves[1][element].lo = at;
        (element, at, halves)
    })
}

/// The trees of splits that lead to some pieces of boxes. Where they are not the leaves of one, the box is left whole.
fn arranged(boxes: &[Vec<Interval>], pieces: &[Vec<Interval>]) -> Vec<Node> {
    let mut nodes: Vec<Node> = boxes.iter().cloned().map(Node::Open).collect();
    let inside = |whole: &Vec<Interval>, piece: &Vec<Interval>| {
        whole.len() == piece.len() && whole.iter().zip(piece).all(|(whole, own)| whole.encloses(*own))
    };
    let of = |whole: &Vec<Interval>| pieces.iter().filter(|piece| inside(whole, piece)).collect();
    let mut waiting: Vec<(usize, Vec<&Vec<Interval>>)> =
        boxes.iter().enumerate().map(|(place, whole)| (place, of(whole))).collect();
    while let Some((place, inside)) = waiting.pop() {
        let Node::Open(bounds) = &nodes[place] else { continue };
        let Some((element, at)) =
            inside.first().filter(|_| inside.len() > 1).and_then(|_| cut_between(bounds, &inside))
        else {
            continue;
        };
        let (below, above): (Vec<_>, Vec<_>) = inside.into_iter().partition(|piece| piece[element].hi <= at);
        let mut halves = [bounds.clone(), bounds.clone()];
        halves[0][element].hi = at;
        halves[1][element].lo = at;
        let parts = [nodes.len(), nodes.len() + 1];
        nodes.extend(halves.map(Node::Open));
        nodes[place] = Node::Split { element, at, parts };
        waiting.extend([(parts[0], below), (parts[1], above)]);
    }
    nodes
}

/// A place inside of a box where one of its elements can be cut without cutting any of the pieces in it: the one nearest to the middle.
fn cut_between(bounds: &[Interval], pieces: &[&Vec<Interval>]) -> Option<(usize, f64)> {
    let mut best: Option<(f64, usize, f64)> = None;
    for (element, range) in bounds.iter().enumerate() {
        let mut ends: Vec<f64> = pieces.iter().filter_map(|piece| Some(piece.get(element)?.hi)).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        for at in ends.into_iter().filter(|at| range.lo < *at && *at < range.hi) {
            let crossed = pieces.iter().any(|piece| piece.get(element).is_none_or(|own| own.lo < at && at < own.hi));
            let distance = (at - (range.lo / 2.0 + range.hi / 2.0)).abs() / range.width();
            if !crossed && best.is_none_or(|(least, ..)| distance < least) {
                best = Some((distance, element, at));
            }
        }
    }
    best.map(|(_, element, at)| (element, at))
}

/// The nodes as a certificate lists them.
fn in_preorder(nodes: &[Node], roots: usize) -> Vec<Branch> {
    let mut found = Vec::with_capacity(nodes.len());
    let mut waiting: Vec<usize> = (0..roots).rev().collect();
    while let Some(place) = waiting.pop() {
        match &nodes[place] {
            Node::Split { element, at, parts } => {
                found.push(Branch::Split { element: *element, at: *at });
                waiting.extend([parts[1], parts[0]]);
            }
            Node::Leaf | Node::Open(_) => found.push(Branch::Leaf),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi }
    }

    #[test]
    fn pieces_are_arranged_as_the_tree_that_they_come_from() {
        let whole = [range(0.0, 1.0), range(0.0, 1.0), range(2.0, 2.0)];
        let pieces = vec![
            vec![range(0.5, 1.0), range(0.0, 0.5), range(2.0, 2.0)],
            vec![range(0.0, 0.5), range(0.0, 1.0), range(2.0, 2.0)],
            vec![range(0.5, 1.0), range(0.5, 1.0), range(2.0, 2.0)],
        ];
        let whole = [whole.to_vec()];
        let tree = in_preorder(&arranged(&whole, &pieces), 1);
        let leaf = Branch::Leaf;
        let split = |element, at| Branch::Split { element, at };
        assert_eq!(tree, [split(0, 0.5), leaf.clone(), split(1, 0.5), leaf.clone(), leaf.clone()]);
        for too_few in [&pieces[..1], &[]] {
            assert_eq!(in_preorder(&arranged(&whole, too_few), 1), std::slice::from_ref(&leaf));
        }
    }

    #[test]
    fn boxes_are_halved_where_it_matters() {
        let whole = [range(0.0, 1.0), range(0.0, 4.0), range(1.0, 1.0)];
        let (element, at, halves) = split(&[1.0, 4.0, 0.0], &whole, &[0.1, 0.3, 9.0]).unwrap();
        assert_eq!((element, at), (1, 2.0));
        assert_eq!((halves[0][1], halves[1][1]), (range(0.0, 2.0), range(2.0, 4.0)));
        let narrow = [range(0.0, 1e-9), range(0.0, 1e-9), range(1.0, 1.0)];
        assert_eq!(split(&[1.0, 4.0, 0.0], &narrow, &[]), None);
    }
}
