//! Maxima, minima and products of groups of elements.
//!
//! max(x, y) = y + relu(x − y) and min(x, y) = y − relu(y − x). A group of more elements is halved level by level, so
//! that a value passes through as few curves as possible; all groups of a node share the nodes of a level.

use std::collections::HashMap;

use super::Lowering;
use super::layout::Row;
use crate::ops::{Concat, MaxPool, Mul, Reduce, ReduceKind, Relu, Sub};
use crate::{GraphError, NodeId};

/// Which extreme is wanted.
#[derive(Clone, Copy, PartialEq)]
enum Extreme {
    Largest,
    Smallest,
}

impl Extreme {
    /// The sign s with extreme(x, y) = y + s · relu(s · (x − y)).
    fn sign(self) -> f64 {
        if self == Extreme::Largest { 1.0 } else { -1.0 }
    }
}

/// An element of the next level of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Kept(usize),
    Joined(usize, usize),
}

/// One level of a tree: the distinct elements of the next level, and the groups in terms of them.
fn halve(groups: &[Vec<usize>]) -> (Vec<Step>, Vec<Vec<usize>>) {
    let mut steps = Vec::new();
    let mut places: HashMap<Step, usize> = HashMap::new();
    let mut place = |step: Step| {
        *places.entry(step).or_insert_with(|| {
            steps.push(step);
            steps.len() - 1
        })
    };
    let halved = groups.iter().map(|group| {
        let pairs = group.chunks(2).map(|pair| match *pair {
            [first, second] => place(Step::Joined(first, second)),
            _ => place(Step::Kept(pair[0])),
        });
        pairs.collect()
    });
    let halved = halved.collect();
    (steps, halved)
}

/// The elements that each group is left with when it has one.
fn heads(groups: &[Vec<usize>]) -> Vec<usize> {
    groups.iter().filter_map(|group| group.first().copied()).collect()
}

fn any_to_join(groups: &[Vec<usize>]) -> bool {
    groups.iter().any(|group| group.len() > 1)
}

impl Lowering {
    /// max(a, b).
    pub(super) fn larger(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, GraphError> {
        let (x, base) = self.constant_last(a, b);
        let excess = self.difference(x, base)?;
        let excess = self.target.apply(Relu, &[excess])?;
        self.sum(excess, base)
    }

    /// min(a, b).
    pub(super) fn smaller(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, GraphError> {
        let (x, base) = self.constant_last(a, b);
        let shortfall = self.difference(base, x)?;
        let shortfall = self.target.apply(Relu, &[shortfall])?;
        self.target.apply(Sub, &[base, shortfall])
    }

    fn constant_last(&self, a: NodeId, b: NodeId) -> (NodeId, NodeId) {
        if self.constant(a).is_some() { (b, a) } else { (a, b) }
    }

    /// The maxima of windows; `None` where a window has no elements.
    pub(super) fn max_pool(
        &mut self,
        pool: &MaxPool,
        x: NodeId,
        shape: &[usize],
    ) -> Result<Option<NodeId>, GraphError> {
        let source = self.target.shape(x);
        let (spatial, positions): (usize, usize) = (source[2..].iter().product(), shape[2..].iter().product());
        let mut groups = vec![Vec::new(); shape.iter().product()];
        for channel in 0..shape[0] * shape[1] {
            pool.window.for_each_tap(&source[2..], &shape[2..], |position, _, offset| {
                groups[channel * positions + position].push(channel * spatial + offset);
            });
        }
        if groups.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        self.extremes(Extreme::Largest, x, groups, shape).map(Some)
    }

    /// A maximum, minimum or product along axes.
    pub(super) fn reduce(&mut self, reduce: &Reduce, x: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        let mut groups = vec![Vec::new(); shape.iter().product()];
        for (element, target) in reduce.targets(self.target.shape(x)).into_iter().enumerate() {
            groups[target].push(element);
        }
        match reduce.kind {
            ReduceKind::Max => self.extremes(Extreme::Largest, x, groups, shape),
            ReduceKind::Min => self.extremes(Extreme::Smallest, x, groups, shape),
            _ => self.products(x, groups, shape),
        }
    }

    /// The extreme of each group of elements; no group is empty.
    fn extremes(
        &mut self,
        extreme: Extreme,
        mut x: NodeId,
        mut groups: Vec<Vec<usize>>,
        shape: &[usize],
    ) -> Result<NodeId, GraphError> {
        let sign = extreme.sign();
        while any_to_join(&groups) {
            let (steps, halved) = halve(&groups);
            let (mut differences, mut bases, mut excesses) = (Vec::new(), Vec::<Row>::new(), Vec::<Row>::new());
            for step in &steps {
                match *step {
                    Step::Kept(element) => {
                        bases.push(vec![(element, 1.0)]);
                        excesses.push(Row::new());
                    }
                    Step::Joined(first, second) => {
                        bases.push(vec![(second, 1.0)]);
                        excesses.push(vec![(differences.len(), sign)]);
                        differences.push(vec![(first, sign), (second, -sign)]);
                    }
                }
            }
            let (joined, count) = (differences.len(), steps.len());
            let excess = self.affine(vec![(x, differences)], vec![0.0; joined], &[joined])?;
            let excess = self.target.apply(Relu, &[excess])?;
            x = self.affine(vec![(x, bases), (excess, excesses)], vec![0.0; count], &[count])?;
            groups = halved;
        }
        self.pick(x, heads(&groups), shape)
    }

    /// The product of each group of elements; groups that are empty, as all of them then are, give 1.
    pub(super) fn products(
        &mut self,
        mut x: NodeId,
        mut groups: Vec<Vec<usize>>,
        shape: &[usize],
    ) -> Result<NodeId, GraphError> {
        if groups.iter().any(Vec::is_empty) {
            return self.filled(1.0, shape);
        }
        while any_to_join(&groups) {
            let (steps, halved) = halve(&groups);
            let (mut firsts, mut seconds, mut kept, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for step in &steps {
                match *step {
                    Step::Kept(element) => {
                        places.push((1, kept.len()));
                        kept.push(element);
                    }
                    Step::Joined(first, second) => {
                        places.push((0, firsts.len()));
                        firsts.push(first);
                        seconds.push(second);
                    }
                }
            }
            let (joined, rest) = (firsts.len(), kept.len());
            let (first, second) = (self.pick(x, firsts, &[joined])?, self.pick(x, seconds, &[joined])?);
            let kept = self.pick(x, kept, &[rest])?;
            x = self.target.apply(Mul, &[first, second])?;
            if rest > 0 {
                x = self.target.apply(Concat { axis: 0 }, &[x, kept])?;
            }
            let place = |step: usize| places[step].0 * joined + places[step].1;
            groups = halved.iter().map(|group| group.iter().map(|&step| place(step)).collect()).collect();
        }
        self.pick(x, heads(&groups), shape)
    }
}
