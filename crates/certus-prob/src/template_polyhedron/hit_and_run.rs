//! Hit-and-run sampling: random points of a polyhedron.
//!
//! R. L. Smith, 'Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions', Operations Research 32
//! (1984). From the present point a random line is drawn, and the next point is uniform on the part of the line that is inside. Lines are
//! drawn in coordinates in which the bounding box is a cube. Samples guide splits and searches; nothing that is claimed rests on them.

use certus_numerics::Random;

use super::Polyhedron;

/// A walk through a polyhedron whose points become uniform with time.
pub struct HitAndRun<'a> {
    polyhedron: &'a Polyhedron,
    point: Vec<f64>,
    random: Random,
}

/// Steps between two points that are given out.
const THINNING: usize = 3;

impl<'a> HitAndRun<'a> {
    /// Begins at the middle of the polyhedron's own extremes.
    pub fn new(polyhedron: &'a Polyhedron, random: Random) -> Self {
        let (lower, upper) = polyhedron.bounds();
        let mut point: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| (low + high) / 2.0).collect();
        if !polyhedron.contains_point(&point) {
            // Projections on the sides that are violated, a few times around, lead inside of anything that has an inside.
            for _ in 0..200 {
                for (direction, &offset) in polyhedron.template().directions().iter().zip(polyhedron.offsets()) {
                    let value: f64 = direction.iter().zip(&point).map(|(a, x)| a * x).sum();
                    let length: f64 = direction.iter().map(|a| a * a).sum();
                    if value > offset {
                        point.iter_mut().zip(direction).for_each(|(x, a)| *x -= 1.01 * (value - offset) / length * a);
                    }
                }
            }
        }
        HitAndRun { polyhedron, point, random }
    }

    /// The next point.
    pub fn point(&mut self) -> Vec<f64> {
        if self.polyhedron.template().is_box() {
            let (lower, upper) = self.polyhedron.bounds();
            return lower.iter().zip(&upper).map(|(&low, &high)| self.random.between(low, high)).collect();
        }
        for _ in 0..THINNING {
            let (lower, upper) = self.polyhedron.bounds();
            // Lines are drawn in the coordinates in which the box around is a cube.
            let line: Vec<f64> =
                lower.iter().zip(&upper).map(|(low, high)| (self.random.unit() - 0.5) * (high - low)).collect();
            let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
            let sides = self.polyhedron.template().directions().iter().zip(self.polyhedron.offsets());
            for (direction, &offset) in sides {
                let speed: f64 = direction.iter().zip(&line).map(|(a, d)| a * d).sum();
                let room: f64 = offset - direction.iter().zip(&self.point).map(|(a, x)| a * x).sum::<f64>();
                if speed > 0.0 {
                    to = to.min(room / speed);
                } else if speed < 0.0 {
                    from = from.max(room / speed);
                }
            }
            if from < to && from.is_finite() && to.is_finite() {
                let step = self.random.between(from, to);
                self.point.iter_mut().zip(&line).for_each(|(x, d)| *x += step * d);
            }
        }
        self.point.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::template_polyhedron::Template;

    #[test]
    fn points_are_inside_and_everywhere() {
        let square = Polyhedron::of_box(&Arc::new(Template::octagons(2)), &[0.0, 0.0], &[1.0, 1.0]);
        let triangle = square.split(2, 1.0)[0].clone().unwrap();
        let mut walk = HitAndRun::new(&triangle, Random::new(1, 2));
        let points: Vec<Vec<f64>> = (0..3000).map(|_| walk.point()).collect();
        assert!(points.iter().all(|point| triangle.contains_point(point)));
        // A quarter of the triangle lies below x + y = 1/2.
        let low = points.iter().filter(|point| point[0] + point[1] < 0.5).count() as f64 / 3000.0;
        assert!((0.2..0.3).contains(&low), "{low}");
    }
}
