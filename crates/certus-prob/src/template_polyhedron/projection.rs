//! The projection of a polyhedron to two axes, for pictures.
//!
//! The box is clipped by the sides that speak of the two axes alone (I. E. Sutherland and G. W. Hodgman, 'Reentrant polygon clipping', 1974).
//! The result contains the exact projection; sides that mix in other axes are ignored.

use super::Polyhedron;

impl Polyhedron {
    /// The corners, in order, of a polygon around the projection to two different axes.
    pub fn projection(&self, (x, y): (usize, usize)) -> Vec<(f64, f64)> {
        let (lower, upper) = self.bounds();
        let mut shape = vec![(lower[x], lower[y]), (upper[x], lower[y]), (upper[x], upper[y]), (lower[x], upper[y])];
        for (direction, &offset) in self.template().directions().iter().zip(self.offsets()) {
            let others = direction.iter().enumerate().any(|(i, &value)| i != x && i != y && value != 0.0);
            if others {
                continue;
            }
            let excess = |point: (f64, f64)| direction[x] * point.0 + direction[y] * point.1 - offset;
            let mut clipped: Vec<(f64, f64)> = Vec::with_capacity(shape.len() + 1);
            for (place, &point) in shape.iter().enumerate() {
                let next = shape[(place + 1) % shape.len()];
                let (here, there) = (excess(point), excess(next));
                if here <= 0.0 {
                    clipped.push(point);
                }
                if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                    let t = here / (here - there);
                    clipped.push((point.0 + t * (next.0 - point.0), point.1 + t * (next.1 - point.1)));
                }
            }
            shape = clipped;
            if shape.is_empty() {
                break;
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::template_polyhedron::Template;

    #[test]
    fn halves_of_a_square_have_their_corners() {
        let square = Polyhedron::of_box(&Arc::new(Template::octagons(2)), &[0.0, 0.0], &[1.0, 1.0]);
        let [Some(low), Some(high)] = square.split(2, 0.5) else { panic!("both sides have points") };
        assert_eq!((low.projection((0, 1)).len(), high.projection((0, 1)).len()), (3, 5));
    }
}
