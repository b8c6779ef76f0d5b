//! Template polyhedra, the abstract domain of regions.
//!
//! S. Sankaranarayanan, H. B. Sipma and Z. Manna, 'Scalable analysis of linear systems using mathematical programming', VMCAI 2005. A
//! *template* is a fixed list of directions; a [`Polyhedron`] is bounded by one half-space per direction, so it is known by the values of
//! its support function h(d) = max {d·x} there. Boxes and octagons (A. Miné, 'The octagon abstract domain', 2006) are templates too.
//!
//! *Soundness.* Every support value is rounded upwards (`support.rs`), so a polyhedron contains the set that it stands for. What a box knows in
//! closed form is not asked of a linear program.

mod hit_and_run;
mod projection;
mod support;

use std::sync::Arc;

pub use hit_and_run::HitAndRun;
pub use support::{Rows, Support};

/// Directions of sides, in opposite pairs; the first ones are the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    dimension: usize,
    directions: Vec<Vec<f64>>,
    name: String,
}

impl Template {
    /// Boxes.
    pub fn boxes(dimension: usize) -> Template {
        Template::with(dimension, "box", &[])
    }

    /// Octagons: xᵢ ± xⱼ too.
    pub fn octagons(dimension: usize) -> Template {
        let mut more = Vec::new();
        for i in 0..dimension {
            for j in i + 1..dimension {
                for sign in [1.0, -1.0] {
                    let mut direction = vec![0.0; dimension];
                    direction[i] = 1.0;
                    direction[j] = sign;
                    more.push(direction);
                }
            }
        }
        Template::with(dimension, "octagon", &more)
    }

    /// The axes, and further directions with their opposites. Directions without a finite length are left out, and so are repeated ones.
    pub fn with(dimension: usize, name: &str, more: &[Vec<f64>]) -> Template {
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for i in 0..dimension {
            for sign in [1.0, -1.0] {
                let mut direction = vec![0.0; dimension];
                direction[i] = sign;
                directions.push(direction);
            }
        }
        for direction in more {
            let length: f64 = direction.iter().map(|value| value * value).sum::<f64>().sqrt();
            let alike = |other: &Vec<f64>| {
                let other_length: f64 = other.iter().map(|value| value * value).sum::<f64>().sqrt();
                let dot: f64 = direction.iter().zip(other).map(|(a, b)| a * b).sum();
                dot.abs() >= (1.0 - 1e-9) * length * other_length
            };
            if direction.len() == dimension && length.is_finite() && length > 0.0 && !directions.iter().any(alike) {
                directions.push(direction.clone());
                directions.push(direction.iter().map(|value| -value).collect());
            }
        }
        Template { dimension, directions, name: name.to_owned() }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many dimensions.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// All directions; number 2i + 1 is the opposite of number 2i, and the first 2n are the axes.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    /// Whether the axes are all there is.
    pub fn is_box(&self) -> bool {
        self.directions.len() == 2 * self.dimension
    }
}

/// A bounded polyhedron: `d·x ≤ offset` for every direction d of its template.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    template: Arc<Template>,
    offsets: Vec<f64>,
}

impl Polyhedron {
    /// The tightest polyhedron of a template around a box.
    pub fn of_box(template: &Arc<Template>, lower: &[f64], upper: &[f64]) -> Polyhedron {
        let rows = Rows::of_box(lower, upper);
        let offsets = template.directions.iter().map(|direction| match rows.maximum(direction) {
            Support::AtMost(value) => value,
            Support::Empty => f64::NEG_INFINITY,
        });
        Polyhedron { template: Arc::clone(template), offsets: offsets.collect() }
    }

    /// From the values of its support function.
    pub fn from_offsets(template: &Arc<Template>, offsets: Vec<f64>) -> Polyhedron {
        debug_assert!(offsets.len() == template.directions.len(), "a side for each direction");
        Polyhedron { template: Arc::clone(template), offsets }
    }

    /// The tightest polyhedron of a template around the points that satisfy some rows; nothing when there are certainly none.
    pub fn enclosing(template: &Arc<Template>, rows: &Rows) -> Option<Polyhedron> {
        let mut offsets = Vec::with_capacity(template.directions.len());
        for direction in &template.directions {
            match rows.maximum(direction) {
                Support::AtMost(value) => offsets.push(value),
                Support::Empty => return None,
            }
        }
        let found = Polyhedron { template: Arc::clone(template), offsets };
        // An interval that is turned around has nothing in it.
        (0..template.dimension).all(|i| found.upper(i) >= found.lower(i)).then_some(found)
    }

    /// Its template.
    pub fn template(&self) -> &Arc<Template> {
        &self.template
    }

    /// The values of the support function in the template's directions.
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// Lower end in one dimension.
    pub fn lower(&self, dimension: usize) -> f64 {
        -self.offsets[2 * dimension + 1]
    }

    /// Upper end in one dimension.
    pub fn upper(&self, dimension: usize) -> f64 {
        self.offsets[2 * dimension]
    }

    /// The box around it.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let dimensions = 0..self.template.dimension;
        (dimensions.clone().map(|i| self.lower(i)).collect(), dimensions.map(|i| self.upper(i)).collect())
    }

    /// Its width in direction number 2i of the template, which is that of its opposite too.
    pub fn width(&self, pair: usize) -> f64 {
        self.offsets[2 * pair] + self.offsets[2 * pair + 1]
    }

    /// Its sides as rows of a linear program.
    pub fn rows(&self) -> Rows {
        let (lower, upper) = self.bounds();
        let mut rows = Rows::of_box(&lower, &upper);
        let n = self.template.dimension;
        for (direction, &offset) in self.template.directions.iter().zip(&self.offsets).skip(2 * n) {
            rows.push(direction, offset);
        }
        rows
    }

    /// Whether a point is in it, as far as doubles can tell.
    pub fn contains_point(&self, point: &[f64]) -> bool {
        self.template.directions.iter().zip(&self.offsets).all(|(direction, &offset)| {
            let value: f64 = direction.iter().zip(point).map(|(a, x)| a * x).sum();
            value <= offset + 1e-12 * offset.abs().max(1.0)
        })
    }

    /// Whether every point of another polyhedron of the template is in this one.
    pub fn contains(&self, other: &Polyhedron) -> bool {
        self.offsets.iter().zip(&other.offsets).all(|(own, other)| other <= own)
    }

    /// Whether no direction of the template separates the two; false is a proof that they have no common point.
    pub fn may_meet(&self, other: &Polyhedron) -> bool {
        // Between −other(−d) and own(d) there must be room. Rounding keeps the sign of a sum.
        (0..self.offsets.len()).all(|j| self.offsets[j] + other.offsets[j ^ 1] >= 0.0)
    }

    /// Both halves of a split across direction number 2i at a place between its ends, tightened in all directions.
    pub fn split(&self, pair: usize, place: f64) -> [Option<Polyhedron>; 2] {
        [(2 * pair, place), (2 * pair + 1, -place)].map(|(direction, offset)| {
            let mut part = self.clone();
            part.offsets[direction] = part.offsets[direction].min(offset);
            if self.template.is_box() {
                return (part.width(pair) >= 0.0).then_some(part);
            }
            Polyhedron::enclosing(&self.template, &part.rows())
        })
    }

    /// The smallest polyhedron of the template around both.
    pub fn hull(&self, other: &Polyhedron) -> Polyhedron {
        debug_assert_eq!(self.offsets.len(), other.offsets.len(), "polyhedra of two templates");
        let offsets = self.offsets.iter().zip(&other.offsets).map(|(a, b)| a.max(*b)).collect();
        Polyhedron { template: Arc::clone(&self.template), offsets }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn octagon(lower: [f64; 2], upper: [f64; 2]) -> Polyhedron {
        Polyhedron::of_box(&Arc::new(Template::octagons(2)), &lower, &upper)
    }

    #[test]
    fn octagons_of_boxes_are_tight() {
        let own = octagon([0.0, 0.0], [1.0, 2.0]);
        assert_eq!(own.template().directions().len(), 8);
        assert!((own.width(2) - 3.0).abs() < 1e-12 && (own.width(3) - 3.0).abs() < 1e-12);
        let [low, high] = own.split(2, 1.0);
        let (low, high) = (low.unwrap(), high.unwrap());
        // Below x + y = 1 the second dimension reaches 1 only.
        assert!((low.upper(1) - 1.0).abs() < 1e-9 && high.upper(1) == 2.0, "{low:?}");
        assert!(own.contains(&low) && own.contains(&high) && low.may_meet(&high));
    }

    #[test]
    fn a_template_has_no_direction_twice() {
        let own = Template::with(2, "own", &[vec![2.0, 0.0], vec![1.0, 3.0], vec![-2.0, -6.0], vec![0.0, 0.0]]);
        assert_eq!(own.directions().len(), 6);
    }

    proptest! {
        #[test]
        fn a_split_loses_no_point(x in 0.0f64..1.0, y in 0.0f64..2.0, pair in 0usize..4, share in 0.1f64..0.9) {
            let own = octagon([0.0, 0.0], [1.0, 2.0]);
            let place = own.offsets()[2 * pair] - share * own.width(pair);
            let parts = own.split(pair, place);
            prop_assert!(parts.iter().flatten().any(|part| part.contains_point(&[x, y])));
        }

        #[test]
        fn polyhedra_with_a_common_point_are_not_separated(
            (a, b, c, d) in (0.0f64..1.0, 0.0f64..1.0, 0.0f64..1.0, 0.0f64..1.0),
            splits in (0.0f64..2.0, 0.0f64..2.0),
        ) {
            let one = octagon([0.0, 0.0], [1.0, 1.0]).split(2, splits.0)[0].clone();
            let other = octagon([a.min(b), c.min(d)], [a.max(b), c.max(d)]).split(3, splits.1 - 1.0)[1].clone();
            if let (Some(one), Some(other)) = (one, other) {
                let common = [(a + b) / 2.0, (c + d) / 2.0];
                if one.contains_point(&common) && other.contains_point(&common) {
                    prop_assert!(one.may_meet(&other));
                }
            }
        }
    }
}
