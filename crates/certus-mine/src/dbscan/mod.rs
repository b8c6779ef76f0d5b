//! DBSCAN: density-based clustering of bins.
//!
//! M. Ester, H.-P. Kriegel, J. Sander and X. Xu, 'A density-based algorithm for discovering clusters in large spatial databases with noise',
//! KDD 1996. Points have whole coordinates and the Chebyshev distance (the greatest difference of a coordinate); the clusters are those of
//! scikit-learn.
//!
//! *Idea.* Points are put into *blocks* as long as the radius, so that two points of a block are always neighbours, and the neighbours of a
//! point lie in its block and the adjacent ones (the grid technique of A. Gunawan, 'A faster algorithm for DBSCAN', 2013). Blocks are sorted by their
//! coordinates; the adjacent ones that exist are found by narrowing down coordinate after coordinate, never by enumerating the 3ᵈ that
//! could. Hence all core points of a block belong to one cluster, and clusters are the connected blocks (union-find).
//!
//! *Departure.* Mining clusters many subsets of the same points. A point's neighbours do not change between them, so they are counted
//! once, by class (`counting.rs`), and whether a point is a core of a subset is a sum of counts.

mod counting;

use std::num::NonZeroUsize;

/// Points in blocks.
pub struct Neighbourhoods {
    dimensions: usize,
    radius: u16,
    /// The points, block after block.
    points: Vec<u32>,
    /// Their coordinates in that order.
    coordinates: Vec<u16>,
    /// Where each block begins among the points; one more at the end.
    starts: Vec<usize>,
    /// The least and greatest coordinates of each block's points.
    corners: Vec<u16>,
    /// Adjacent blocks of each block, itself among them.
    adjacent: Vec<u32>,
    adjacent_starts: Vec<usize>,
}

impl Neighbourhoods {
    /// Sorts points (coordinates one after the other) into blocks.
    pub fn new(dimensions: NonZeroUsize, coordinates: &[u16], radius: u16) -> Self {
        let dimensions = dimensions.get();
        let side = radius.saturating_add(1);
        let point = |index: u32| &coordinates[index as usize * dimensions..][..dimensions];
        let block = |index: u32| point(index).iter().map(move |x| x / side);
        let mut points: Vec<u32> = (0..(coordinates.len() / dimensions) as u32).collect();
        points.sort_by(|&a, &b| block(a).cmp(block(b)).then(a.cmp(&b)));
        let mut starts = Vec::new();
        let mut blocks: Vec<u16> = Vec::new();
        let mut corners = Vec::new();
        let mut sorted = Vec::with_capacity(coordinates.len());
        for (place, &index) in points.iter().enumerate() {
            if place == 0 || !block(points[place - 1]).eq(block(index)) {
                starts.push(place);
                blocks.extend(block(index));
                corners.extend_from_slice(point(index));
                corners.extend_from_slice(point(index));
            }
            let last = corners.len() - 2 * dimensions;
            let (low, high) = corners[last..].split_at_mut(dimensions);
            for ((low, high), &x) in low.iter_mut().zip(high).zip(point(index)) {
                (*low, *high) = ((*low).min(x), (*high).max(x));
            }
            sorted.extend_from_slice(point(index));
        }
        let count = starts.len();
        starts.push(points.len());
        let mut adjacent = Vec::new();
        let mut adjacent_starts = vec![0];
        for own in 0..count {
            narrow(&blocks, dimensions, &blocks[own * dimensions..][..dimensions], 0, 0..count, &mut adjacent);
            adjacent_starts.push(adjacent.len());
        }
        Neighbourhoods { dimensions, radius, points, coordinates: sorted, starts, corners, adjacent, adjacent_starts }
    }

    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    fn coordinates(&self, place: usize) -> &[u16] {
        &self.coordinates[place * self.dimensions..][..self.dimensions]
    }

    fn adjacent(&self, block: usize) -> &[u32] {
        &self.adjacent[self.adjacent_starts[block]..self.adjacent_starts[block + 1]]
    }

    fn near(&self, a: &[u16], b: &[u16]) -> bool {
        a.iter().zip(b).all(|(x, y)| x.abs_diff(*y) <= self.radius)
    }

    /// Whether all points of a block are neighbours of a point, or some may be.
    fn reach(&self, point: &[u16], block: usize) -> (bool, bool) {
        let (low, high) = self.corners[block * 2 * self.dimensions..][..2 * self.dimensions].split_at(self.dimensions);
        let (mut all, mut some) = (true, true);
        for ((x, low), high) in point.iter().zip(low).zip(high) {
            all &= x.abs_diff(*low) <= self.radius && x.abs_diff(*high) <= self.radius;
            some &= u32::from(*x) + u32::from(self.radius) >= u32::from(*low)
                && u32::from(*x) <= u32::from(*high) + u32::from(self.radius);
        }
        (all, some)
    }

    /// How many neighbours of each class each point has, itself among them: `classes` numbers per point. `class` tells
    /// the class of each point.
    pub fn count(&self, class: &[u32], classes: usize, threads: usize) -> Vec<u32> {
        let sorted: Vec<u32> = self.points.iter().map(|&point| class[point as usize]).collect();
        let by_place = match self.dense(&sorted, classes) {
            Some(windows) => self.count_dense(&sorted, classes, &windows),
            None => self.count_sparse(&sorted, classes, threads),
        };
        let mut counts = vec![0; by_place.len()];
        for (place, &point) in self.points.iter().enumerate() {
            counts[point as usize * classes..][..classes].copy_from_slice(&by_place[place * classes..][..classes]);
        }
        counts
    }

    /// The clusters of some of the points: each member's number, or none for noise and for what is no member. Clusters
    /// are numbered by their first core point; a point that is no core belongs to the first cluster that reaches it.
    pub fn clusters(&self, member: &dyn Fn(usize) -> bool, core: &dyn Fn(usize) -> bool) -> Vec<Option<u32>> {
        let mut cores: Vec<usize> = Vec::new();
        let mut core_starts = vec![0];
        for block in 0..self.blocks() {
            let places = self.starts[block]..self.starts[block + 1];
            cores.extend(places.filter(|&place| {
                let point = self.points[place] as usize;
                member(point) && core(point)
            }));
            core_starts.push(cores.len());
        }
        let cores_of = |block: usize| &cores[core_starts[block]..core_starts[block + 1]];
        let mut parents: Vec<usize> = (0..self.blocks()).collect();
        for block in 0..self.blocks() {
            if cores_of(block).is_empty() {
                continue;
            }
            for &other in self.adjacent(block).iter().filter(|&&other| (other as usize) < block) {
                let (a, b) = (find(&mut parents, block), find(&mut parents, other as usize));
                if a == b || cores_of(other as usize).is_empty() {
                    continue;
                }
                let touches = |&place: &usize| {
                    let point = self.coordinates(place);
                    self.reach(point, other as usize).1
                        && cores_of(other as usize).iter().any(|&core| self.near(point, self.coordinates(core)))
                };
                if cores_of(block).iter().any(touches) {
                    parents[a.max(b)] = a.min(b);
                }
            }
        }
        // Clusters in the order of their first core point.
        let mut first = vec![u32::MAX; self.blocks()];
        for block in 0..self.blocks() {
            let root = find(&mut parents, block);
            let least = cores_of(block).iter().map(|&place| self.points[place]).min();
            first[root] = first[root].min(least.unwrap_or(u32::MAX));
        }
        let mut roots: Vec<usize> = (0..self.blocks()).filter(|&block| first[block] < u32::MAX).collect();
        roots.sort_by_key(|&root| first[root]);
        let mut number = vec![u32::MAX; self.blocks()];
        for (cluster, root) in roots.into_iter().enumerate() {
            number[root] = cluster as u32;
        }
        let of_block: Vec<u32> = (0..self.blocks()).map(|block| number[find(&mut parents, block)]).collect();

        let mut clusters = vec![None; self.points.len()];
        for block in 0..self.blocks() {
            for place in self.starts[block]..self.starts[block + 1] {
                let point = self.points[place] as usize;
                if !member(point) {
                    continue;
                }
                if core(point) {
                    clusters[point] = Some(of_block[block]);
                    continue;
                }
                let own = self.coordinates(place);
                let mut best = u32::MAX;
                for &other in self.adjacent(block) {
                    let other = other as usize;
                    if cores_of(other).is_empty() || of_block[other] >= best || !self.reach(own, other).1 {
                        continue;
                    }
                    if cores_of(other).iter().any(|&core| self.near(own, self.coordinates(core))) {
                        best = of_block[other];
                    }
                }
                clusters[point] = (best < u32::MAX).then_some(best);
            }
        }
        clusters
    }
}

/// Adds the blocks of a sorted range that are adjacent to one, given that they are in the dimensions before this one.
fn narrow(
    blocks: &[u16],
    dimensions: usize,
    own: &[u16],
    dimension: usize,
    range: std::ops::Range<usize>,
    found: &mut Vec<u32>,
) {
    if range.is_empty() {
        return;
    }
    if dimension == dimensions {
        found.extend(range.map(|block| block as u32));
        return;
    }
    let coordinate = |block: usize| blocks[block * dimensions + dimension];
    let below = |limit: u32| {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if u32::from(coordinate(middle)) < limit { low = middle + 1 } else { high = middle }
        }
        low
    };
    let own_coordinate = u32::from(own[dimension]);
    let mut start = below(own_coordinate.saturating_sub(1));
    for value in own_coordinate.saturating_sub(1)..=own_coordinate + 1 {
        let end = below(value + 1);
        narrow(blocks, dimensions, own, dimension + 1, start..end, found);
        start = end;
    }
}

fn find(parents: &mut [usize], mut block: usize) -> usize {
    while parents[block] != block {
        parents[block] = parents[parents[block]];
        block = parents[block];
    }
    block
}

/// DBSCAN: a point with at least `least` points within the radius, itself among them, is a core; cores within the
/// radius of each other are in one cluster, with all that is within the radius of a core.
pub fn dbscan(
    dimensions: NonZeroUsize,
    coordinates: &[u16],
    radius: u16,
    least: u32,
    threads: usize,
) -> Vec<Option<u32>> {
    let neighbourhoods = Neighbourhoods::new(dimensions, coordinates, radius);
    let points = coordinates.len() / dimensions.get();
    let counts = neighbourhoods.count(&vec![0; points], 1, threads);
    neighbourhoods.clusters(&|_| true, &|point| counts[point] >= least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dimensions(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// The textbook: visit points in order, grow a cluster from each new core.
    fn plain(dimensions: usize, coordinates: &[u16], radius: u16, least: usize) -> Vec<Option<u32>> {
        let points: Vec<&[u16]> = coordinates.chunks(dimensions).collect();
        let neighbours = |a: usize| -> Vec<usize> {
            let near = |b: &usize| points[a].iter().zip(points[*b]).all(|(x, y)| x.abs_diff(*y) <= radius);
            (0..points.len()).filter(near).collect()
        };
        let mut labels = vec![None; points.len()];
        let mut cluster = 0;
        for start in 0..points.len() {
            if labels[start].is_some() || neighbours(start).len() < least {
                continue;
            }
            let mut stack = vec![start];
            while let Some(point) = stack.pop() {
                if labels[point].is_some() {
                    continue;
                }
                labels[point] = Some(cluster);
                let around = neighbours(point);
                if around.len() >= least {
                    stack.extend(around);
                }
            }
            cluster += 1;
        }
        labels
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_textbook(
            wide in 1usize..4, radius in 0u16..4, least in 1u32..9, threads in 1usize..4,
            raw in prop::collection::btree_set(prop::collection::vec(0u16..14, 3), 0..120)
        ) {
            let mut points: Vec<Vec<u16>> = raw.into_iter().map(|point| point[..wide].to_vec()).collect();
            points.sort();
            points.dedup();
            // Not in the order of their coordinates.
            let half = points.len() / 2;
            points.rotate_left(half);
            let flat: Vec<u16> = points.concat();
            prop_assert_eq!(
                dbscan(dimensions(wide), &flat, radius, least, threads),
                plain(wide, &flat, radius, least as usize)
            );
        }

        #[test]
        fn clusters_of_a_subset_are_those_of_its_points_alone(
            radius in 1u16..3, least in 1u32..6,
            raw in prop::collection::btree_set(prop::collection::vec(0u16..10, 2), 0..60), subset in any::<u64>()
        ) {
            let flat: Vec<u16> = raw.iter().flatten().copied().collect();
            let chosen = |point: usize| subset >> (point % 64) & 1 == 1;
            let class: Vec<u32> = (0..raw.len()).map(|point| u32::from(chosen(point))).collect();
            let neighbourhoods = Neighbourhoods::new(dimensions(2), &flat, radius);
            let counts = neighbourhoods.count(&class, 2, 2);
            let found = neighbourhoods.clusters(&chosen, &|point| counts[2 * point + 1] >= least);
            let alone: Vec<u16> = (0..raw.len()).filter(|&p| chosen(p)).flat_map(|p| flat[2 * p..2 * p + 2].to_vec()).collect();
            let expected = plain(2, &alone, radius, least as usize);
            let members: Vec<Option<u32>> = (0..raw.len()).filter(|&p| chosen(p)).map(|p| found[p]).collect();
            prop_assert_eq!(members, expected);
            prop_assert!((0..raw.len()).all(|p| chosen(p) || found[p].is_none()));
        }
    }

    #[test]
    fn coordinates_at_the_end_of_their_type_are_points_like_others() {
        let flat = [0, 1, 65_534, 65_535];
        assert_eq!(dbscan(dimensions(1), &flat, 1, 2, 1), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(dbscan(dimensions(1), &flat, u16::MAX, 4, 1), [Some(0); 4]);
        assert!(dbscan(dimensions(3), &[], 1, 1, 1).is_empty());
    }
}
