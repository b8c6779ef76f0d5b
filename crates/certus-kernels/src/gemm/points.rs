//! Products with registers along the rows: one point, or a few.

use super::Product;
use crate::vector::{Vector, halving_sum};

/// Computes all rows for the `Q` points from `first` on, and returns `Q`.
///
/// Panels are taken in groups so that at least eight sums are under way where the matrix has that many. The groups are
/// of even size: a lone last panel would run at the latency of its multiply-adds.
///
/// # Safety
/// As for [`super::run`]; the batch has `Q` points from `first` on, and the matrix is in panels with `C` chains.
#[inline(always)]
pub(super) unsafe fn panels<V: Vector, const Q: usize, const C: usize>(
    product: &mut Product<'_, V::Elem>,
    first: usize,
) -> usize {
    let panels = product.shape.rows.div_ceil(V::LANES);
    let accumulators = if V::MANY_REGISTERS { 16 } else { 8 };
    let largest = (accumulators / (Q * C)).clamp(1, 8);
    let groups = panels.div_ceil(largest);
    let mut panel = 0;
    for group in 0..groups {
        let size = (panels - panel).div_ceil(groups - group);
        // SAFETY: the group ends within the matrix; larger sizes than `largest` do not occur.
        unsafe {
            match size {
                8 if largest >= 8 => group_of::<V, 8, Q, C>(product, first, panel),
                7 if largest >= 7 => group_of::<V, 7, Q, C>(product, first, panel),
                6 if largest >= 6 => group_of::<V, 6, Q, C>(product, first, panel),
                5 if largest >= 5 => group_of::<V, 5, Q, C>(product, first, panel),
                4 if largest >= 4 => group_of::<V, 4, Q, C>(product, first, panel),
                3 if largest >= 3 => group_of::<V, 3, Q, C>(product, first, panel),
                2 if largest >= 2 => group_of::<V, 2, Q, C>(product, first, panel),
                _ => group_of::<V, 1, Q, C>(product, first, panel),
            }
        }
        panel += size;
    }
    Q
}

/// Computes `P` panels for `Q` points and adds them to the output.
///
/// # Safety
/// As for [`panels`]; the matrix has `P` panels from `panel` on.
#[inline(always)]
unsafe fn group_of<V: Vector, const P: usize, const Q: usize, const C: usize>(
    product: &mut Product<'_, V::Elem>,
    first: usize,
    panel: usize,
) {
    let (rows, cols, batch) = (product.shape.rows, product.shape.cols, product.output.batch);
    // SAFETY: a panel occupies `cols * LANES` elements, padded ones included; `x` has a row of `batch` per column.
    let sums = unsafe {
        let weights = product.weights.add(panel * cols * V::LANES);
        sums::<V, P, Q, C>(weights, cols, product.x.as_ptr().add(first), batch)
    };
    // SAFETY: passed on.
    unsafe { product.output.put_rows(panel * V::LANES, rows, first, sums) };
}

/// The sums of `P` panels for `Q` points.
///
/// # Safety
/// As for [`panels`]; `weights` points at `P` panels of `cols` columns, and `x[i * batch + q]` exists for each of them.
#[inline(always)]
unsafe fn sums<V: Vector, const P: usize, const Q: usize, const C: usize>(
    weights: *const V::Elem,
    cols: usize,
    x: *const V::Elem,
    batch: usize,
) -> [[V; Q]; P] {
    let panel = cols * V::LANES;
    // SAFETY: `i + c < cols` wherever column `i + c` is read.
    unsafe {
        let mut chains = [[[V::splat(V::Elem::default()); C]; Q]; P];
        let mut i = 0;
        while i + C <= cols {
            for c in 0..C {
                column(&mut chains, c, weights.add((i + c) * V::LANES), panel, x.add((i + c) * batch));
            }
            i += C;
        }
        for c in 0..C - 1 {
            if i + c < cols {
                column(&mut chains, c, weights.add((i + c) * V::LANES), panel, x.add((i + c) * batch));
            }
        }
        let mut sums = [[V::splat(V::Elem::default()); Q]; P];
        for p in 0..P {
            for q in 0..Q {
                sums[p][q] = halving_sum(chains[p][q]);
            }
        }
        sums
    }
}

/// Adds one column to chain `c` of every sum.
///
/// # Safety
/// As for [`sums`].
#[inline(always)]
unsafe fn column<V: Vector, const P: usize, const Q: usize, const C: usize>(
    chains: &mut [[[V; C]; Q]; P],
    c: usize,
    weights: *const V::Elem,
    panel: usize,
    x: *const V::Elem,
) {
    // SAFETY: the caller vouches for both pointers.
    unsafe {
        let mut x_of = [V::splat(V::Elem::default()); Q];
        for q in 0..Q {
            x_of[q] = V::splat(*x.add(q));
        }
        for p in 0..P {
            let weight = V::load(weights.add(p * panel));
            for q in 0..Q {
                chains[p][q][c] = weight.mul_add(x_of[q], chains[p][q][c]);
            }
        }
    }
}
