//! Products, quotients, powers and normalised exponentials.

use super::layout::{Row, broadcast_sources};
use super::{LARGEST_PAIRING, Lowering};
use crate::ops::{Concat, Constant, Div, Exp, Log, Mul, Pow, Sigmoid, Sqrt};
use crate::{GraphError, Interval, NodeId};

/// The elements of a power that share an exponent; `None` where the exponent is known only up to rounding.
struct SameExponent {
    exponent: Option<f64>,
    elements: Vec<usize>,
}

fn by_exponent(exponents: &Constant, sources: &[usize]) -> Vec<SameExponent> {
    let mut groups: Vec<SameExponent> = Vec::new();
    for (element, &source) in sources.iter().enumerate() {
        let exponent = (exponents.radius(source) == 0.0).then(|| exponents.value().data()[source]);
        match groups.iter_mut().find(|group| group.exponent == exponent) {
            Some(group) => group.elements.push(element),
            None => groups.push(SameExponent { exponent, elements: vec![element] }),
        }
    }
    groups
}

impl Lowering {
    /// a · b in this shape; a constant factor is left to fusion, which broadcasts it into an affine map.
    pub(super) fn product(&mut self, a: NodeId, b: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        if self.constant(a).is_some() || self.constant(b).is_some() {
            let product = self.target.apply(Mul, &[a, b])?;
            return self.broadcast(product, shape);
        }
        let (a, b) = (self.broadcast(a, shape)?, self.broadcast(b, shape)?);
        self.target.apply(Mul, &[a, b])
    }

    /// a · (1/b); `None` for a known divisor, which is a scaling, or undefined.
    pub(super) fn quotient(&mut self, a: NodeId, b: NodeId, shape: &[usize]) -> Result<Option<NodeId>, GraphError> {
        if self.constant(b).is_some() {
            return Ok(None);
        }
        let reciprocal = self.reciprocal(b)?;
        match self.is_filled(a, 1.0) {
            true => self.broadcast(reciprocal, shape).map(Some),
            false => self.product(a, reciprocal, shape).map(Some),
        }
    }

    fn reciprocal(&mut self, x: NodeId) -> Result<NodeId, GraphError> {
        let one = self.filled(1.0, &[])?;
        self.target.apply(Div, &[one, x])
    }

    /// aᵇ.
    pub(super) fn power(&mut self, a: NodeId, b: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        let Some(exponents) = self.constant(b).cloned() else {
            return self.exponential_of_logarithm(a, b, shape);
        };
        let first = exponents.value().data()[0];
        if self.is_filled(b, first) {
            let power = self.known_power(a, first)?;
            return self.broadcast(power, shape);
        }
        let base = self.broadcast(a, shape)?;
        let sources = broadcast_sources(exponents.value().shape(), shape);
        let (mut parts, mut places) = (Vec::new(), vec![0; sources.len()]);
        let mut placed = 0;
        for SameExponent { exponent, elements } in by_exponent(&exponents, &sources) {
            for &element in &elements {
                places[element] = placed;
                placed += 1;
            }
            let count = elements.len();
            let intervals: Vec<Interval> = elements.iter().map(|&e| exponents.interval(sources[e])).collect();
            let part = self.pick(base, elements, &[count])?;
            parts.push(match exponent {
                Some(exponent) => self.known_power(part, exponent)?,
                None => {
                    let exponents = self.target.apply(Constant::enclosed(&[count], &intervals)?, &[])?;
                    self.exponential_of_logarithm(part, exponents, &[count])?
                }
            });
        }
        let joined = self.target.apply(Concat { axis: 0 }, &parts)?;
        self.pick(joined, places, shape)
    }

    /// xᵉ for one known exponent.
    fn known_power(&mut self, x: NodeId, exponent: f64) -> Result<NodeId, GraphError> {
        if exponent == 0.0 {
            let shape = self.target.shape(x).to_vec();
            return self.filled(1.0, &shape);
        } else if exponent == 1.0 {
            return Ok(x);
        } else if exponent == -1.0 {
            return self.reciprocal(x);
        } else if exponent == 0.5 {
            return self.target.apply(Sqrt, &[x]);
        }
        let exponent = self.filled(exponent, &[])?;
        self.target.apply(Pow, &[x, exponent])
    }

    /// exp(b · ln a): aᵇ for positive a.
    fn exponential_of_logarithm(&mut self, a: NodeId, b: NodeId, shape: &[usize]) -> Result<NodeId, GraphError> {
        let logarithm = self.target.apply(Log, &[a])?;
        let product = self.product(b, logarithm, shape)?;
        self.target.apply(Exp, &[product])
    }

    /// 1 / (1 + Σ exp(xⱼ − xᵢ)) over the other entries j along the axis. `None` if there are too many pairs.
    pub(super) fn softmax(&mut self, axis: usize, x: NodeId, shape: &[usize]) -> Result<Option<NodeId>, GraphError> {
        let count: usize = shape.iter().product();
        let (length, stride) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        if length == 1 {
            return self.filled(1.0, shape).map(Some);
        }
        if count.saturating_mul(length - 1) > LARGEST_PAIRING {
            return Ok(None);
        }
        let others = |element: usize| {
            let own = element / stride % length;
            let start = element - own * stride;
            (0..length).filter(move |&j| j != own).map(move |j| start + j * stride)
        };
        if length == 2 {
            let rows = (0..count).flat_map(|i| others(i).map(move |j| vec![(i, 1.0), (j, -1.0)])).collect();
            let difference = self.affine(vec![(x, rows)], vec![0.0; count], shape)?;
            return self.target.apply(Sigmoid, &[difference]).map(Some);
        }
        let rows: Vec<Row> = (0..count).flat_map(|i| others(i).map(move |j| vec![(j, 1.0), (i, -1.0)])).collect();
        let pairs = rows.len();
        let differences = self.affine(vec![(x, rows)], vec![0.0; pairs], &[pairs])?;
        let exponentials = self.target.apply(Exp, &[differences])?;
        let own_pairs = |i: usize| (i * (length - 1)..(i + 1) * (length - 1)).map(|pair| (pair, 1.0)).collect();
        let totals = self.affine(vec![(exponentials, (0..count).map(own_pairs).collect())], vec![1.0; count], shape)?;
        self.reciprocal(totals).map(Some)
    }
}
