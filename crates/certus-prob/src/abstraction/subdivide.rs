//! Images of regions under plants that are not linear, by subdivision.
//!
//! Where a linearisation is much wider than what sampled points of the region do, the region is split into pieces, and the image is the hull of
//! theirs: the subdivision that interval analysis applies to range enclosures (R. E. Moore, 'Interval Analysis', 1966).
//!
//! *Idea.* The remainder of a linearisation shrinks with the square of the width, so halves lose a quarter as much. Which variable to split is
//! found by trial, because products have no curvature along any single one. A split is kept while it removes a fair share of the excess width.
//!
//! *Soundness.* The pieces cover the region and each image is a rigorous enclosure, so their hull is one too. Sampled widths only decide
//! where to spend the effort.

use super::Abstraction;
use crate::template_polyhedron::{Polyhedron, Rows};

/// An image may be wider than the hull of sampled images by this share of that hull before pieces are tried.
const LOOSE: f64 = 0.1;

/// A split is kept when it takes this share of the excess away.
const PAYS: f64 = 0.25;

/// Variables beyond this many have too many corners to be sampled.
const MOST_CORNERED: usize = 6;

/// A region on its way through splits.
struct Divided {
    /// Its place among the regions.
    place: usize,
    pieces: Vec<Rows>,
    /// For each move, the widths of the hull of sampled images.
    sampled: Vec<Vec<f64>>,
}

impl Abstraction {
    /// The next state of each move over some regions of one mode that is not linear.
    pub(super) fn curved_images(&self, mode: usize, regions: &[&Rows]) -> Vec<Vec<Polyhedron>> {
        let mut images = self.linearised(mode, regions);
        if self.pieces < 2 {
            return images;
        }
        let mut divided: Vec<Divided> = self
            .sampled_widths(regions)
            .into_iter()
            .enumerate()
            .map(|(place, sampled)| Divided { place, pieces: vec![regions[place].clone()], sampled })
            .collect();
        loop {
            divided.retain(|own| 2 * own.pieces.len() <= self.pieces && own.is_loose(&images[own.place]));
            if divided.is_empty() {
                return images;
            }
            // All halves of all pieces across all variables, bounded in one batch.
            let halves: Vec<Vec<Vec<Rows>>> = divided.iter().map(|own| self.halvings(&own.pieces)).collect();
            let flat: Vec<&Rows> = halves.iter().flatten().flatten().collect();
            let mut bounded = self.linearised(mode, &flat).into_iter();
            let mut going_on = Vec::new();
            for (mut own, tried) in divided.into_iter().zip(halves) {
                let whole = &images[own.place];
                let before = own.excess(whole);
                let best = tried
                    .into_iter()
                    .map(|pieces| {
                        let image = hull(whole, bounded.by_ref().take(pieces.len()));
                        (own.excess(&image), pieces, image)
                    })
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                if let Some((after, pieces, image)) = best {
                    images[own.place] = image;
                    if after <= (1.0 - PAYS) * before {
                        own.pieces = pieces;
                        going_on.push(own);
                    }
                }
            }
            divided = going_on;
        }
    }

    /// For each region and move, the widths of the hull of the images of its middle, the middles of its sides and its corners. They only say
    /// whether pieces are worth their price.
    fn sampled_widths(&self, regions: &[&Rows]) -> Vec<Vec<Vec<f64>>> {
        let points: Vec<Vec<Vec<f64>>> = regions.iter().map(|rows| self.probes(rows)).collect();
        let mut results = self.sampled_steps(&points.concat()).into_iter();
        let directions = self.template.directions();
        points
            .iter()
            .map(|own| {
                let mut ends = vec![vec![f64::NEG_INFINITY; directions.len()]; self.moves.len()];
                for (next, ..) in results.by_ref().take(own.len()) {
                    for (ends, state) in ends.iter_mut().zip(&next) {
                        for (end, direction) in ends.iter_mut().zip(directions) {
                            *end = end.max(direction.iter().zip(state).map(|(a, x)| a * x).sum());
                        }
                    }
                }
                ends.iter().map(|ends| ends.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect()).collect()
            })
            .collect()
    }

    /// The points of a region that are tried.
    fn probes(&self, rows: &Rows) -> Vec<Vec<f64>> {
        let (lower, upper) = self.bounds(rows);
        let middle: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| low / 2.0 + high / 2.0).collect();
        let mut points = vec![middle.clone()];
        for i in 0..middle.len() {
            for end in [lower[i], upper[i]] {
                let mut point = middle.clone();
                point[i] = end;
                points.push(point);
            }
        }
        if middle.len() <= MOST_CORNERED {
            let end = |corner: usize, i: usize| if corner >> i & 1 == 1 { upper[i] } else { lower[i] };
            let corners = 0..1usize << middle.len();
            points.extend(corners.map(|corner| (0..middle.len()).map(|i| end(corner, i)).collect::<Vec<f64>>()));
        }
        points.retain(|point| {
            (2 * rows.dimension()..rows.len()).all(|index| {
                let (normal, offset) = rows.row(index);
                normal.iter().zip(point).map(|(a, x)| a * x).sum::<f64>() <= offset
            })
        });
        points
    }

    /// The pieces with all of them halved, once for every variable that has a width.
    fn halvings(&self, pieces: &[Rows]) -> Vec<Vec<Rows>> {
        let boxes: Vec<(Vec<f64>, Vec<f64>)> = pieces.iter().map(|rows| self.bounds(rows)).collect();
        let halved = |variable: usize| -> Option<Vec<Rows>> {
            let mut halves = Vec::with_capacity(2 * pieces.len());
            for (rows, (lower, upper)) in pieces.iter().zip(&boxes) {
                let place = lower[variable] / 2.0 + upper[variable] / 2.0;
                if !(lower[variable] < place && place < upper[variable]) {
                    return None;
                }
                let (mut low, mut high) = (upper.clone(), lower.clone());
                (low[variable], high[variable]) = (place, place);
                for (lower, upper) in [(lower, &low), (&high, upper)] {
                    let mut half = Rows::of_box(lower, upper);
                    for index in 2 * rows.dimension()..rows.len() {
                        let (normal, offset) = rows.row(index);
                        half.push(normal, offset);
                    }
                    halves.push(half);
                }
            }
            Some(halves)
        };
        (0..self.range.0.len()).filter_map(halved).collect()
    }
}

impl Divided {
    /// How much wider images are than what was sampled, in shares of that, summed over moves and directions.
    fn excess(&self, images: &[Polyhedron]) -> f64 {
        self.shares(images).sum()
    }

    fn is_loose(&self, images: &[Polyhedron]) -> bool {
        self.shares(images).any(|share| share > LOOSE)
    }

    fn shares<'a>(&'a self, images: &'a [Polyhedron]) -> impl Iterator<Item = f64> + 'a {
        self.sampled.iter().zip(images).flat_map(|(widths, image)| {
            let share = |(pair, &width): (usize, &f64)| {
                // What is not moved by any sample is not measured by it.
                if width > 0.0 { ((image.width(pair) - width) / width).max(0.0) } else { 0.0 }
            };
            widths.iter().enumerate().map(share)
        })
    }
}

/// For each move the hull of the images of all pieces, no wider than the whole's in any direction.
fn hull(whole: &[Polyhedron], pieces: impl Iterator<Item = Vec<Polyhedron>>) -> Vec<Polyhedron> {
    let joined = pieces.reduce(|one, other| one.iter().zip(&other).map(|(a, b)| a.hull(b)).collect());
    let Some(joined) = joined else { return whole.to_vec() };
    let tightest = |(whole, joined): (&Polyhedron, &Polyhedron)| {
        let offsets = whole.offsets().iter().zip(joined.offsets()).map(|(a, b)| a.min(*b)).collect();
        Polyhedron::from_offsets(whole.template(), offsets)
    };
    whole.iter().zip(&joined).map(tightest).collect()
}
