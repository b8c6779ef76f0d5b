//! Products with registers along the batch: many points.

use super::{Product, aligned};
use crate::vector::{Vector, halving_sum};

/// Where the kernel finds its operands.
#[derive(Clone, Copy)]
pub(super) struct Operands<T> {
    /// The weight of the tile's first row in column 0.
    pub weights: *const T,
    /// Distance between the weights of neighbouring rows.
    pub row_step: usize,
    /// Distance between the weights of neighbouring columns.
    pub column_step: usize,
    /// The tile's first point in column 0; its neighbours follow it.
    pub x: *const T,
    /// Distance between the columns of `x`.
    pub x_step: usize,
}

/// Computes all rows for the `width` points from `first` on, and returns `width`.
///
/// # Safety
/// As for [`super::run`]; the batch has `width` points from `first` on, `width` is positive and at most `N` registers,
/// and the matrix is in panels with `C` chains.
#[inline(always)]
pub(super) unsafe fn panels<V: Vector, const N: usize, const C: usize>(
    product: &mut Product<'_, V::Elem>,
    first: usize,
    width: usize,
) -> usize {
    // SAFETY: passed on; a block's height divides the height of a panel at every level, so it never straddles two.
    unsafe {
        match (V::MANY_REGISTERS, C) {
            (true, 1) if N == 1 && V::LANES == 16 => blocks::<V, 16, N, C>(product, first, width),
            (true, 1) => blocks::<V, 8, N, C>(product, first, width),
            (true, 2) => blocks::<V, 4, N, C>(product, first, width),
            (true, 4) => blocks::<V, 2, N, C>(product, first, width),
            (false, 1) => blocks::<V, 4, N, C>(product, first, width),
            (false, 2) => blocks::<V, 2, N, C>(product, first, width),
            _ => blocks::<V, 1, N, C>(product, first, width),
        }
    }
    width
}

/// Walks over the rows in blocks of `M`.
///
/// # Safety
/// As for [`panels`].
#[inline(always)]
unsafe fn blocks<V: Vector, const M: usize, const N: usize, const C: usize>(
    product: &mut Product<'_, V::Elem>,
    first: usize,
    width: usize,
) {
    let (rows, cols, batch) = (product.shape.rows, product.shape.cols, product.output.batch);
    let tile = N * V::LANES;
    // Where the points are read from, and where the first block copies them to. Copying pays once several blocks read
    // them; a narrow tile must be padded as well, which the kernel cannot do on the way.
    let (mut x, mut x_step, mut copy) = (product.x[first..].as_ptr(), batch, None);
    if width < tile {
        (x, x_step) = (copy_points::<V, N>(product, first, width), tile);
    } else if rows > 2 * M {
        copy = Some(aligned(product.scratch, cols * tile));
    }
    for row in (0..rows).step_by(M) {
        let panel = row / V::LANES;
        // SAFETY: the block lies within its panel, which is padded to its full height; `x` holds `N` registers of
        // points for each column, and `copy` has room for them.
        unsafe {
            let operands = Operands {
                weights: product.weights.add(panel * cols * V::LANES + row % V::LANES),
                row_step: 1,
                column_step: V::LANES,
                x,
                x_step,
            };
            let sums = match copy.take() {
                Some(copy) => {
                    (x, x_step) = (copy.cast_const(), tile);
                    sums::<V, M, N, C, true>(operands, cols, copy)
                }
                None => sums::<V, M, N, C, false>(operands, cols, std::ptr::null_mut()),
            };
            for m in 0..M {
                if row + m < rows {
                    product.output.put_points(row + m, first, width, sums[m]);
                }
            }
        }
    }
}

/// Copies the points of a narrow tile to where its columns are neighbours, with zeros beside them to fill the registers.
#[inline(always)]
pub(super) fn copy_points<V: Vector, const N: usize>(
    product: &mut Product<'_, V::Elem>,
    first: usize,
    width: usize,
) -> *const V::Elem {
    let tile = N * V::LANES;
    let copy = aligned(product.scratch, product.shape.cols * tile);
    for (i, column) in product.x.chunks_exact(product.output.batch).enumerate() {
        let points = &column[first..first + width];
        // SAFETY: `copy` has room for `cols` times `tile` elements, and `width` is at most `tile`.
        unsafe {
            let to = std::slice::from_raw_parts_mut(copy.add(i * tile), tile);
            to[..width].copy_from_slice(points);
            to[width..].fill(V::Elem::default());
        }
    }
    copy
}

/// The sums of `M` rows for `N` registers of points; with `COPY` the points are also written to `copy`, column by column
/// next to each other.
///
/// # Safety
/// As for [`panels`]; the operands are readable for `M` rows, `cols` columns and `N` registers, and with `COPY` there is
/// room for `cols` times `N` registers at `copy`.
#[inline(always)]
pub(super) unsafe fn sums<V: Vector, const M: usize, const N: usize, const C: usize, const COPY: bool>(
    operands: Operands<V::Elem>,
    cols: usize,
    copy: *mut V::Elem,
) -> [[V; N]; M] {
    // Several columns per turn: counting and jumping are executed by the units that multiply, and delay them.
    let group = C.max(4);
    // SAFETY: `i + k < cols` wherever column `i + k` is read.
    unsafe {
        let mut chains = [[[V::splat(V::Elem::default()); C]; N]; M];
        let mut i = 0;
        while i + group <= cols {
            for k in 0..group {
                column::<V, M, N, C, COPY>(&mut chains, k % C, operands, i + k, copy);
            }
            i += group;
        }
        for k in 0..group - 1 {
            if i + k < cols {
                column::<V, M, N, C, COPY>(&mut chains, k % C, operands, i + k, copy);
            }
        }
        let mut sums = [[V::splat(V::Elem::default()); N]; M];
        for m in 0..M {
            for n in 0..N {
                sums[m][n] = halving_sum(chains[m][n]);
            }
        }
        sums
    }
}

/// Adds column `i` to chain `c` of every sum.
///
/// # Safety
/// As for [`sums`].
#[inline(always)]
unsafe fn column<V: Vector, const M: usize, const N: usize, const C: usize, const COPY: bool>(
    chains: &mut [[[V; C]; N]; M],
    c: usize,
    operands: Operands<V::Elem>,
    i: usize,
    copy: *mut V::Elem,
) {
    // SAFETY: the caller vouches for the operands.
    unsafe {
        let x = operands.x.add(i * operands.x_step);
        let mut points = [V::splat(V::Elem::default()); N];
        for n in 0..N {
            points[n] = V::load(x.add(n * V::LANES));
            if COPY {
                points[n].store(copy.add((i * N + n) * V::LANES));
            }
        }
        let weights = operands.weights.add(i * operands.column_step);
        for m in 0..M {
            let weight = V::splat(*weights.add(m * operands.row_step));
            for n in 0..N {
                chains[m][n][c] = weight.mul_add(points[n], chains[m][n][c]);
            }
        }
    }
}
