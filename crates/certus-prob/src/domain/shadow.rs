//! What of a polyhedron is seen on two axes.

use super::Polyhedron;

impl Polyhedron {
    /// The corners of the shadow on two different axes, in order: its box, cut by the sides that speak of these axes alone.
    pub fn shadow(&self, (x, y): (usize, usize)) -> Vec<(f64, f64)> {
        let (lower, upper) = self.bounds();
        let mut shape = vec![(lower[x], lower[y]), (upper[x], lower[y]), (upper[x], upper[y]), (lower[x], upper[y])];
        for (direction, &offset) in self.template().directions().iter().zip(self.offsets()) {
            let others = direction.iter().enumerate().any(|(i, &value)| i != x && i != y && value != 0.0);
            if others {
                continue;
            }
            let excess = |point: (f64, f64)| direction[x] * point.0 + direction[y] * point.1 - offset;
            let mut cut: Vec<(f64, f64)> = Vec::with_capacity(shape.len() + 1);
            for (place, &point) in shape.iter().enumerate() {
                let next = shape[(place + 1) % shape.len()];
                let (here, there) = (excess(point), excess(next));
                if here <= 0.0 {
                    cut.push(point);
                }
                if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                    let t = here / (here - there);
                    cut.push((point.0 + t * (next.0 - point.0), point.1 + t * (next.1 - point.1)));
                }
            }
            shape = cut;
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
    use crate::domain::Template;

    #[test]
    fn a_cut_square_has_the_corners_of_its_parts() {
        let square = Polyhedron::of_box(&Arc::new(Template::octagons(2)), &[0.0, 0.0], &[1.0, 1.0]);
        let [Some(low), Some(high)] = square.cut(2, 0.5) else { panic!("both sides have points") };
        assert_eq!((low.shadow((0, 1)).len(), high.shadow((0, 1)).len()), (3, 5));
    }
}
