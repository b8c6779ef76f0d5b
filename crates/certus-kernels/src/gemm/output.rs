//! What becomes of the sums: every kernel hands them over here, and the three ways to finish stand in one place.

use crate::float::Arithmetic;
use crate::vector::{MAX_LANES, Vector};
use std::ops::Range;

/// Where sums go, and what is done with them on the way.
pub struct Output<'a, T> {
    /// `rows * batch` elements.
    pub(super) y: &'a mut [T],
    /// One value per row, which the sums are added to; without it they are added to what `y` holds.
    pub(super) bias: Option<&'a [T]>,
    /// Whether negative results are replaced by zero.
    pub(super) relu: bool,
    /// Number of points.
    pub(super) batch: usize,
}

impl<T: Arithmetic + Default> Output<'_, T> {
    /// Finishes one element.
    #[inline(always)]
    pub(super) fn put(&mut self, row: usize, point: usize, sum: T) {
        let at = row * self.batch + point;
        let start = self.bias.map_or(self.y[at], |bias| bias[row]);
        let value = start.plus(sum);
        self.y[at] = if self.relu { value.relu() } else { value };
    }

    /// Finishes a register.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn finish<V: Vector<Elem = T>>(&self, start: V, sum: V) -> V {
        // SAFETY: the caller vouches for the processor.
        unsafe {
            let value = start.add(sum);
            if self.relu { value.relu() } else { value }
        }
    }

    /// Finishes the sums of up to `N` registers of points of one row, from point `first` on: `width` of them.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn put_points<V: Vector<Elem = T>, const N: usize>(
        &mut self,
        row: usize,
        first: usize,
        width: usize,
        sums: [V; N],
    ) {
        if width == N * V::LANES {
            let at = row * self.batch + first;
            let y = self.y[at..at + width].as_mut_ptr();
            // SAFETY: `y` has `N` registers of elements.
            unsafe {
                for n in 0..N {
                    let y = y.add(n * V::LANES);
                    let start = match self.bias {
                        Some(bias) => V::splat(bias[row]),
                        None => V::load(y),
                    };
                    self.finish(start, sums[n]).store(y);
                }
            }
        } else {
            let mut lanes = [[T::default(); MAX_LANES]; N];
            for n in 0..N {
                // SAFETY: no register has more than `MAX_LANES` lanes.
                unsafe { sums[n].store(lanes[n].as_mut_ptr()) };
            }
            self.put_narrow_row(row, first, width, V::LANES, &lanes);
        }
    }

    /// Finishes `width` points of one row; each register of `used` lanes was stored to an array.
    #[inline(never)]
    fn put_narrow_row(&mut self, row: usize, first: usize, width: usize, used: usize, registers: &[[T; MAX_LANES]]) {
        let sums = registers.iter().flat_map(|lanes| &lanes[..used]);
        for (point, &sum) in sums.take(width).enumerate() {
            self.put(row, first + point, sum);
        }
    }

    /// Finishes the sums of `P` registers of rows, from `row` on, at the `Q` points from `first` on. Rows beyond the
    /// last one are padding and are dropped.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn put_rows<V: Vector<Elem = T>, const P: usize, const Q: usize>(
        &mut self,
        row: usize,
        rows: usize,
        first: usize,
        sums: [[V; Q]; P],
    ) {
        if Q == 1 && self.batch == 1 && row + P * V::LANES <= rows {
            let y = self.y[row..row + P * V::LANES].as_mut_ptr();
            // SAFETY: `y`, and `bias` if there is one, have `P` registers of elements.
            unsafe {
                for p in 0..P {
                    let y = y.add(p * V::LANES);
                    let start = match self.bias {
                        Some(bias) => V::load(bias[row + p * V::LANES..][..V::LANES].as_ptr()),
                        None => V::load(y),
                    };
                    self.finish(start, sums[p][0]).store(y);
                }
            }
        } else {
            let mut lanes = [[[T::default(); MAX_LANES]; Q]; P];
            for p in 0..P {
                for q in 0..Q {
                    // SAFETY: no register has more than `MAX_LANES` lanes.
                    unsafe { sums[p][q].store(lanes[p][q].as_mut_ptr()) };
                }
            }
            self.put_scattered_rows(row..rows, first, V::LANES, &lanes);
        }
    }

    /// Finishes rows at `Q` points each; each register of `used` lanes was stored to an array.
    ///
    /// Out of line, like its sibling, because it would otherwise be repeated for every size of kernel.
    #[inline(never)]
    fn put_scattered_rows<const Q: usize>(
        &mut self,
        rows: Range<usize>,
        first: usize,
        used: usize,
        registers: &[[[T; MAX_LANES]; Q]],
    ) {
        for (p, lanes) in registers.iter().enumerate() {
            let start = rows.start + p * used;
            for row in start..rows.end.min(start + used) {
                for (q, lanes) in lanes.iter().enumerate() {
                    self.put(row, first + q, lanes[row - start]);
                }
            }
        }
    }
}
