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
    // Copying pays once several blocks read the points; a narrow tile must be padded.
    let (x, x_step) = if rows > 2 * M || width < N * V::LANES {
        (copy_points::<V, N>(product, first, width), N * V::LANES)
    } else {
        (product.x[first..].as_ptr(), batch)
    };
    for row in (0..rows).step_by(M) {
        let panel = row / V::LANES;
        // SAFETY: the block lies within its panel, which is padded to its full height; `x` holds `N` registers of
        // points for each column.
        unsafe {
            let operands = Operands {
                weights: product.weights.add(panel * cols * V::LANES + row % V::LANES),
                row_step: 1,
                column_step: V::LANES,
                x,
                x_step,
            };
            let sums = sums::<V, M, N, C>(operands, cols);
            for m in 0..M {
                if row + m < rows {
                    product.output.put_points(row + m, first, width, sums[m]);
                }
            }
        }
    }
}

/// Copies points to where the columns of a tile are neighbours, with zeros beside them to fill the registers.
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
            let to = copy.add(i * tile);
            if width == tile {
                for n in 0..N {
                    V::load(points.as_ptr().add(n * V::LANES)).store(to.add(n * V::LANES));
                }
            } else {
                let to = std::slice::from_raw_parts_mut(to, tile);
                to[..width].copy_from_slice(points);
                to[width..].fill(V::Elem::default());
            }
        }
    }
    copy
}

/// The sums of `M` rows for `N` registers of points.
///
/// # Safety
/// As for [`panels`]; the operands are readable for `M` rows, `cols` columns and `N` registers.
#[inline(always)]
pub(super) unsafe fn sums<V: Vector, const M: usize, const N: usize, const C: usize>(
    operands: Operands<V::Elem>,
    cols: usize,
) -> [[V; N]; M] {
    // SAFETY: `i + c < cols` wherever column `i + c` is read.
    unsafe {
        let mut chains = [[[V::splat(V::Elem::default()); C]; N]; M];
        let mut i = 0;
        while i + C <= cols {
            for c in 0..C {
                column(&mut chains, c, operands, i + c);
            }
            i += C;
        }
        for c in 0..C - 1 {
            if i + c < cols {
                column(&mut chains, c, operands, i + c);
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
unsafe fn column<V: Vector, const M: usize, const N: usize, const C: usize>(
    chains: &mut [[[V; C]; N]; M],
    c: usize,
    operands: Operands<V::Elem>,
    i: usize,
) {
    // SAFETY: the caller vouches for the operands.
    unsafe {
        let x = operands.x.add(i * operands.x_step);
        let mut points = [V::splat(V::Elem::default()); N];
        for n in 0..N {
            points[n] = V::load(x.add(n * V::LANES));
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
