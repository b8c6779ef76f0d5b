//! Products with a matrix of very few rows: dot products.
//!
//! The sixteen chains of an output lie side by side: column `i` belongs to lane `i mod 16`. For one point that makes
//! both the row and `x` contiguous loads; for many points the same chains become sixteen registers along the batch.

use super::{Product, aligned, tiles};
use crate::float::Arithmetic;
use crate::vector::{MAX_LANES, Vector};

/// Computes the whole product.
///
/// # Safety
/// As for [`super::run`]; the matrix is stored row after row.
#[inline(always)]
pub(super) unsafe fn product<V: Vector>(mut product: Product<'_, V::Elem>) {
    let mut done = 0;
    while done < product.output.batch {
        let left = product.output.batch - done;
        // SAFETY: each call covers points from `done` on, and no more than are left.
        done += unsafe {
            if left > V::LANES / 2 {
                register_of_points::<V>(&mut product, done, left.min(V::LANES))
            } else {
                single_point::<V>(&mut product, done)
            }
        };
    }
}

/// All rows for the `width` points from `first` on; returns `width`.
///
/// # Safety
/// As for [`product`]; the batch has `width` points from `first` on, at least one and at most a register of them.
#[inline(always)]
unsafe fn register_of_points<V: Vector>(product: &mut Product<'_, V::Elem>, first: usize, width: usize) -> usize {
    let (rows, cols, batch) = (product.shape.rows, product.shape.cols, product.output.batch);
    let (x, x_step) = if width < V::LANES {
        (tiles::copy_points::<V, 1>(product, first, width), V::LANES)
    } else {
        (product.x[first..].as_ptr(), batch)
    };
    for row in 0..rows {
        // SAFETY: the row has `cols` weights, and `x` a register of points for each of them.
        unsafe {
            let weights = product.weights.add(row * cols);
            let operands = tiles::Operands { weights, row_step: cols, column_step: 1, x, x_step };
            let [sums] = tiles::sums::<V, 1, 1, MAX_LANES, false>(operands, cols, std::ptr::null_mut());
            product.output.put_points(row, first, width, sums);
        }
    }
    width
}

/// All rows for the point `at`; returns 1.
///
/// # Safety
/// As for [`product`]; the batch has the point `at`.
#[inline(always)]
unsafe fn single_point<V: Vector>(product: &mut Product<'_, V::Elem>, at: usize) -> usize {
    let (rows, cols, batch) = (product.shape.rows, product.shape.cols, product.output.batch);
    let x = if batch == 1 {
        product.x.as_ptr()
    } else {
        let copy = aligned(product.scratch, cols);
        for (i, &value) in product.x[at..].iter().step_by(batch).enumerate() {
            // SAFETY: `x` has `cols` rows of `batch`, so `i < cols`.
            unsafe { copy.add(i).write(value) };
        }
        copy.cast_const()
    };
    for row in 0..rows {
        // SAFETY: the row and the point both have `cols` elements.
        let sum = unsafe { dot::<V>(product.weights.add(row * cols), x, cols) };
        product.output.put(row, at, sum);
    }
    1
}

/// One dot product in sixteen chains.
///
/// # Safety
/// Both pointers are readable for `cols` elements, and the processor has the instructions of `V`.
#[inline(always)]
unsafe fn dot<V: Vector>(weights: *const V::Elem, x: *const V::Elem, cols: usize) -> V::Elem {
    let mut chains = [V::Elem::default(); MAX_LANES];
    let whole = cols / MAX_LANES * MAX_LANES;
    // SAFETY: whole groups of sixteen end at `whole`, the rest at `cols`.
    unsafe {
        // `MAX_LANES / LANES` registers are in use: at most four.
        let mut registers = [V::splat(V::Elem::default()); 4];
        let mut i = 0;
        while i < whole {
            for k in 0..MAX_LANES / V::LANES {
                let at = i + k * V::LANES;
                registers[k] = V::load(weights.add(at)).mul_add(V::load(x.add(at)), registers[k]);
            }
            i += MAX_LANES;
        }
        for k in 0..MAX_LANES / V::LANES {
            registers[k].store(chains[k * V::LANES..].as_mut_ptr());
        }
        for (c, chain) in chains.iter_mut().enumerate().take(cols - whole) {
            *chain = V::scalar_mul_add(*weights.add(whole + c), *x.add(whole + c), *chain);
        }
    }
    let mut width = MAX_LANES / 2;
    while width > 0 {
        for c in 0..width {
            chains[c] = chains[c].plus(chains[c + width]);
        }
        width /= 2;
    }
    chains[0]
}
