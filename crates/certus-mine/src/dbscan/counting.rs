//! Neighbours of every point, counted by class.
//!
//! Two ways with the same result. *Sparse*: block by block, where a block that lies within a point's radius adds its totals at once. *Dense*:
//! sums over sliding windows of a whole array, dimension after dimension, by prefix sums (summed-area tables; F. C. Crow, SIGGRAPH 1984), at a cost
//! that does not depend on the radius. The cheaper one is taken.

use certus_numerics::parallel;

use super::Neighbourhoods;

/// Windows are summed over arrays of at most so many places.
const MOST_PLACES: usize = 1 << 26;

/// What a place of a window costs, compared with looking at one neighbour of one point.
const WINDOW_COST: f64 = 0.25;

/// A box of whole coordinates.
#[derive(Clone, Debug)]
pub(super) struct Window {
    low: Vec<u16>,
    high: Vec<u16>,
}

impl Window {
    fn empty(dimensions: usize) -> Self {
        Window { low: vec![u16::MAX; dimensions], high: vec![0; dimensions] }
    }

    fn add(&mut self, point: &[u16]) {
        for ((low, high), &x) in self.low.iter_mut().zip(&mut self.high).zip(point) {
            (*low, *high) = ((*low).min(x), (*high).max(x));
        }
    }

    /// Makes the box larger on all sides.
    fn widen(&mut self, by: u16) {
        self.low.iter_mut().for_each(|low| *low = low.saturating_sub(by));
        self.high.iter_mut().for_each(|high| *high = high.saturating_add(by));
    }

    fn extent(&self, dimension: usize) -> usize {
        (usize::from(self.high[dimension]) + 1).saturating_sub(self.low[dimension].into())
    }

    /// Places that agree in the first coordinate; none where there are too many to count.
    fn slice(&self) -> Option<usize> {
        (1..self.low.len()).try_fold(1usize, |size, dimension| size.checked_mul(self.extent(dimension)))
    }

    /// The slice of a point, and its place there; none outside.
    fn place(&self, point: &[u16]) -> Option<(usize, usize)> {
        if point.iter().zip(self.low.iter().zip(&self.high)).any(|(x, (low, high))| x < low || x > high) {
            return None;
        }
        let offset = |dimension: usize| usize::from(point[dimension] - self.low[dimension]);
        let place = (1..point.len()).fold(0, |place, dimension| place * self.extent(dimension) + offset(dimension));
        Some((offset(0), place))
    }
}

impl Neighbourhoods {
    /// The box around the points of each class; none where windows over these boxes would cost more than looking at each
    /// point's blocks, or too much memory.
    pub(super) fn dense(&self, class: &[u32], classes: usize) -> Option<Vec<Window>> {
        let mut windows: Vec<Window> = vec![Window::empty(self.dimensions); classes];
        for (point, &class) in class.iter().enumerate() {
            windows[class as usize].add(self.coordinates(point));
        }
        windows.iter_mut().for_each(|window| window.widen(self.radius));
        let mut work = 0.0;
        for window in &windows {
            let slice = window.slice()?;
            if slice.checked_mul(2 * usize::from(self.radius) + 3)? > MOST_PLACES {
                return None;
            }
            work += slice as f64 * window.extent(0) as f64 * self.dimensions as f64;
        }
        let ball = (2.0 * f64::from(self.radius) + 1.0).powi(self.dimensions as i32);
        let points = self.points.len() as f64;
        (work * WINDOW_COST < points * ball.min(points)).then_some(windows)
    }

    /// Counts by sums over windows, class by class: slice by slice along the first dimension, of which as many as the
    /// radius reaches are kept.
    pub(super) fn count_dense(&self, class: &[u32], classes: usize, windows: &[Window]) -> Vec<u32> {
        let mut counts = vec![0; self.points.len() * classes];
        for (own, window) in windows.iter().enumerate() {
            let Some(size) = window.slice() else { continue };
            let radius = usize::from(self.radius);
            // The points in the box by their slice, and which of them are of this class.
            let mut slices: Vec<Vec<(usize, usize, bool)>> = vec![Vec::new(); window.extent(0)];
            for (point, &class) in class.iter().enumerate() {
                if let Some((slice, place)) = window.place(self.coordinates(point)) {
                    slices[slice].push((point, place, class as usize == own));
                }
            }
            let mut ring: Vec<Option<Vec<u32>>> = vec![None; 2 * radius + 1];
            let (mut total, mut scratch) = (vec![0u32; size], vec![0u32; size]);
            for front in 0..slices.len() + radius {
                let kept = front % ring.len();
                if let Some(old) = ring[kept].take() {
                    total.iter_mut().zip(&old).for_each(|(sum, old)| *sum -= old);
                }
                if slices.get(front).is_some_and(|slice| slice.iter().any(|(_, _, own)| *own)) {
                    let mut sums = vec![0u32; size];
                    slices[front].iter().filter(|(_, _, own)| *own).for_each(|(_, place, _)| sums[*place] += 1);
                    let mut stride = size;
                    for dimension in 1..self.dimensions {
                        stride /= window.extent(dimension);
                        sum_windows(&mut sums, &mut scratch, window.extent(dimension), stride, radius);
                        std::mem::swap(&mut sums, &mut scratch);
                    }
                    total.iter_mut().zip(&sums).for_each(|(sum, new)| *sum += new);
                    ring[kept] = Some(sums);
                }
                let Some(centre) = front.checked_sub(radius) else { continue };
                for &(point, place, _) in &slices[centre] {
                    counts[point * classes + own] = total[place];
                }
            }
        }
        counts
    }

    /// Counts block by block.
    pub(super) fn count_sparse(&self, sorted: &[u32], classes: usize, threads: usize) -> Vec<u32> {
        let mut by_place = vec![0u32; self.points.len() * classes];
        let mut sums = vec![0u32; self.blocks() * classes];
        for block in 0..self.blocks() {
            for place in self.starts[block]..self.starts[block + 1] {
                sums[block * classes + sorted[place] as usize] += 1;
            }
        }
        // Each thread has a range of blocks with about as many points as the others.
        let share = self.points.len().div_ceil(threads.max(1)).max(1);
        let mut shares = Vec::new();
        let mut rest = by_place.as_mut_slice();
        let mut first = 0;
        while first < self.blocks() {
            let mut last = first;
            while last < self.blocks() && self.starts[last] - self.starts[first] < share {
                last += 1;
            }
            let (own, after) = rest.split_at_mut((self.starts[last] - self.starts[first]) * classes);
            rest = after;
            shares.push((first..last, own));
            first = last;
        }
        parallel::map_owned(shares, threads, |(blocks, own)| self.count_blocks(blocks, sorted, &sums, classes, own));
        by_place
    }

    fn count_blocks(
        &self,
        blocks: std::ops::Range<usize>,
        class: &[u32],
        sums: &[u32],
        classes: usize,
        counts: &mut [u32],
    ) {
        let first = self.starts[blocks.start];
        for block in blocks {
            for place in self.starts[block]..self.starts[block + 1] {
                let point = self.coordinates(place);
                let counts = &mut counts[(place - first) * classes..][..classes];
                for &other in self.adjacent(block) {
                    let other = other as usize;
                    match self.reach(point, other) {
                        (true, _) => counts.iter_mut().zip(&sums[other * classes..]).for_each(|(n, sum)| *n += sum),
                        (false, false) => {}
                        (false, true) => {
                            for neighbour in self.starts[other]..self.starts[other + 1] {
                                if self.near(point, self.coordinates(neighbour)) {
                                    counts[class[neighbour] as usize] += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Along one dimension of an array, the sum over all places within a radius of each place.
fn sum_windows(values: &mut [u32], into: &mut [u32], extent: usize, stride: usize, radius: usize) {
    for (values, into) in values.chunks_exact_mut(extent * stride).zip(into.chunks_exact_mut(extent * stride)) {
        // First the sums from the beginning, then their differences.
        for place in 1..extent {
            let (before, rest) = values.split_at_mut(place * stride);
            for (sum, before) in rest[..stride].iter_mut().zip(&before[(place - 1) * stride..]) {
                *sum += before;
            }
        }
        for (place, into) in into.chunks_exact_mut(stride).enumerate() {
            let last = (place + radius).min(extent - 1);
            into.copy_from_slice(&values[last * stride..][..stride]);
            if let Some(before) = place.checked_sub(radius + 1) {
                for (sum, before) in into.iter_mut().zip(&values[before * stride..]) {
                    *sum -= before;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn windows_count_what_blocks_count(
            wide in 1usize..4, radius in 0u16..5,
            raw in prop::collection::btree_set(prop::collection::vec(3u16..12, 3), 1..150)
        ) {
            let mut points: Vec<Vec<u16>> = raw.into_iter().map(|point| point[..wide].to_vec()).collect();
            points.sort();
            points.dedup();
            let flat: Vec<u16> = points.concat();
            let class: Vec<u32> = (0..points.len() as u32).map(|point| point % 3).collect();
            let neighbourhoods = Neighbourhoods::new(NonZeroUsize::new(wide).unwrap(), &flat, radius);
            let sorted: Vec<u32> = neighbourhoods.points.iter().map(|&point| class[point as usize]).collect();
            let mut windows = vec![Window::empty(wide); 3];
            sorted.iter().enumerate().for_each(|(place, &c)| windows[c as usize].add(neighbourhoods.coordinates(place)));
            windows.iter_mut().for_each(|window| window.widen(radius));
            let dense = neighbourhoods.count_dense(&sorted, 3, &windows);
            prop_assert_eq!(dense, neighbourhoods.count_sparse(&sorted, 3, 2));
        }
    }
}
