//! Products of one constant matrix with many vectors: `Y += W · X`.
//!
//! # The idea
//!
//! The weights of a policy never change while it is analysed, so they are rearranged once ([`PackedMatrix::pack`]) into
//! the order in which the kernels read them, on cache-line boundaries. After that a product is a walk through memory
//! from front to back, and its cost is either arithmetic (many points) or the bandwidth at which weights arrive (one
//! point).
//!
//! A vector register can lie in two directions, and each is right for one end of the range of batches:
//!
//! * **along rows** (`points`): a *panel* interleaves as many rows as a register has lanes, so that for column `i` the
//!   weights of all these rows are one load. Multiply it by the broadcast `x[i]`, add to the panel's accumulator. Every
//!   weight is read once, no lane idles, nothing of `x` needs to be rearranged: this serves one point, and with one
//!   accumulator per point up to half a register of points.
//! * **along the batch** (`tiles`): broadcast one weight, multiply it with a register of neighbouring points. A block of
//!   `M` rows by `N` registers of points keeps `M · N` accumulators; a column costs `M + N` loads for `M · N`
//!   multiply-adds, so the arithmetic units and not the load ports are the limit. With 32 registers `M × N` is 8 × 3, or
//!   8 × 2 and 16 × 1 where the batch ends; with 16 registers it is 4 × 2. The first block copies the points
//!   of the tile next to each other for the blocks after it: columns of a batch lie `batch` elements apart, and for a
//!   power of two that stride would put all of them into the same few cache sets. A copy made beforehand would wait for
//!   memory; inside the block it hides behind the arithmetic.
//!
//! Both read the same panels. Blocking over columns, as libraries for square matrices do, is left out: a tile of points
//! for a thousand columns still fits the second-level cache, which delivers its part of a column well before the
//! multiply-adds of the previous ones are done, and storing and reloading partial sums costs more than it saves.
//!
//! # The same sum everywhere
//!
//! Floating-point addition is not associative, so a result depends on the order in which terms are added. Engines
//! evaluate the same point alone, in batches, and split over threads, and have to see the same bits. Therefore the order
//! is a property of the *matrix*, never of the path, the register width or the batch:
//!
//! 1. column `i` belongs to chain `i mod C`, where `C` is a function of the matrix' shape ([`Shape::of`]);
//! 2. a chain starts at zero and takes its columns in ascending order, each by one multiply-add;
//! 3. the chains are added by halving (`c` with `c + C/2`, and so on), and the sum is added to `y`.
//!
//! `C` is 1 for matrices with many rows: there are enough independent outputs to hide the latency of a multiply-add
//! (four cycles, two units: eight sums must be under way). With few rows there are not, and one chain per output would
//! leave the units idle most of the time; then `C` grows until there is work for eight again. Up to four rows there is
//! nothing to interleave, and the rows are kept as they are (`rows`) with sixteen chains side by side in the lanes.
//! Edges follow the rule too: a missing column is skipped, not padded by zero, as adding `0 · 0` would turn a sum of
//! `-0` into `+0`. Idle lanes may compute anything; they are never stored.
//!
//! As the rule mentions no register, AVX2 and AVX-512 agree bit by bit. The portable level agrees with them where it has
//! a fused multiply-add, and elsewhere is only consistent with itself.

// Registers are handled in plain index loops throughout: iterator adaptors and closures are functions without the
// surrounding target features, and a register that passes through one of them takes the way through memory.
#[allow(clippy::needless_range_loop, reason = "see above")]
mod output;
#[allow(clippy::needless_range_loop, reason = "see above")]
mod points;
#[allow(clippy::needless_range_loop, reason = "see above")]
mod rows;
#[allow(clippy::needless_range_loop, reason = "see above")]
mod tiles;

use crate::float::{Arithmetic, Float};
use crate::level::Level;
use crate::vector::{MAX_LANES, Vector};
use output::Output;

/// A matrix, rearranged for fast products. It never changes after packing.
#[derive(Clone)]
pub struct PackedMatrix<T> {
    shape: Shape,
    level: Level,
    lines: Vec<Line<T>>,
}

/// A group of elements that starts on a cache line; a `Vec` of these is how the weights come to be aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line<T>([T; MAX_LANES]);

/// The size of a matrix, and what follows from it: how its outputs are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    rows: usize,
    cols: usize,
    /// How many partial sums each output has: 1, 2, 4, 8 in panels, [`MAX_LANES`] in plain rows.
    chains: usize,
}

impl Shape {
    /// Chooses the number of chains. This fixes the results bit by bit: it must depend on nothing but the size.
    fn of(rows: usize, cols: usize) -> Shape {
        const SHORTEST_CHAIN: usize = 8;
        let mut chains = match rows {
            0..=4 if cols >= 2 * MAX_LANES => return Shape { rows, cols, chains: MAX_LANES },
            0..=16 => 8,
            17..=32 => 4,
            33..=64 => 2,
            _ => 1,
        };
        while chains > 1 && cols / chains < SHORTEST_CHAIN {
            chains /= 2;
        }
        Shape { rows, cols, chains }
    }

    /// Whether weights are stored row after row instead of in panels.
    fn is_plain(self) -> bool {
        self.chains == MAX_LANES
    }
}

impl<T: Float> PackedMatrix<T> {
    /// Packs the matrix whose element in row `r`, column `c` is `row_major[r * cols + c]`.
    ///
    /// # Panics
    /// If `row_major` does not hold `rows * cols` elements.
    pub fn pack(rows: usize, cols: usize, row_major: &[T]) -> Self {
        Self::pack_for(Level::best(), rows, cols, row_major)
    }

    /// Packs for a given instruction set.
    pub(crate) fn pack_for(level: Level, rows: usize, cols: usize, row_major: &[T]) -> Self {
        assert!(
            rows.checked_mul(cols) == Some(row_major.len()),
            "a {rows} x {cols} matrix cannot be packed from {} elements",
            row_major.len()
        );
        let shape = Shape::of(rows, cols);
        let lanes = T::lanes(level);
        let panel = if shape.is_plain() { 1 } else { lanes };
        let stored = rows.next_multiple_of(panel) * cols;
        let mut lines = vec![Line([T::ZERO; MAX_LANES]); stored.div_ceil(MAX_LANES)];
        for (r, row) in row_major.chunks_exact(cols.max(1)).enumerate() {
            for (c, &weight) in row.iter().enumerate() {
                let at = (r / panel * cols + c) * panel + r % panel;
                lines[at / MAX_LANES].0[at % MAX_LANES] = weight;
            }
        }
        PackedMatrix { shape, level, lines }
    }

    /// The number of rows: elements of an output.
    pub fn rows(&self) -> usize {
        self.shape.rows
    }

    /// The number of columns: elements of an input.
    pub fn cols(&self) -> usize {
        self.shape.cols
    }

    /// Adds `W · x` to `y`, for `batch` points in element-major order.
    ///
    /// `scratch` is working memory: its content does not matter and it grows as needed, so keep it for the next call.
    /// What a point gives does not depend on the batch it is in.
    ///
    /// # Panics
    /// If `x` does not hold `cols * batch` elements or `y` does not hold `rows * batch`.
    pub fn mul_acc(&self, x: &[T], y: &mut [T], batch: usize, scratch: &mut Vec<T>) {
        self.run(x, Output { y, bias: None, relu: false, batch }, scratch);
    }

    /// Sets `y` to `W · x + bias`, for `batch` points in element-major order.
    ///
    /// The same bits as [`fill_rows`](crate::fill_rows) and [`PackedMatrix::mul_acc`], with one pass over `y` less.
    ///
    /// # Panics
    /// As [`PackedMatrix::mul_acc`], and if `bias` does not hold `rows` elements.
    pub fn affine(&self, bias: &[T], x: &[T], y: &mut [T], batch: usize, scratch: &mut Vec<T>) {
        self.run(x, Output { y, bias: Some(bias), relu: false, batch }, scratch);
    }

    /// Sets `y` to `max(W · x + bias, 0)`, for `batch` points in element-major order.
    ///
    /// The same bits as [`PackedMatrix::affine`] and [`relu`](crate::relu), with one pass over `y` less.
    ///
    /// # Panics
    /// As [`PackedMatrix::affine`].
    pub fn affine_relu(&self, bias: &[T], x: &[T], y: &mut [T], batch: usize, scratch: &mut Vec<T>) {
        self.run(x, Output { y, bias: Some(bias), relu: true, batch }, scratch);
    }

    /// Checks all lengths, which the kernels rely on, and runs the product.
    fn run(&self, x: &[T], mut output: Output<'_, T>, scratch: &mut Vec<T>) {
        let (Shape { rows, cols, .. }, batch) = (self.shape, output.batch);
        assert!(
            cols.checked_mul(batch) == Some(x.len()),
            "input of {} elements for {cols} columns and a batch of {batch}",
            x.len()
        );
        assert!(
            rows.checked_mul(batch) == Some(output.y.len()),
            "output of {} elements for {rows} rows and a batch of {batch}",
            output.y.len()
        );
        let biases = output.bias.map_or(rows, <[T]>::len);
        assert!(biases == rows, "bias of {biases} elements for {rows} rows");
        if x.is_empty() {
            // No column: every sum is empty, and only the finish is left to do.
            if output.bias.is_some() {
                (0..rows * batch).for_each(|at| output.put(at / batch, at % batch, T::ZERO));
            }
            return;
        }
        if output.y.is_empty() {
            return;
        }
        let weights = self.lines.as_ptr().cast::<T>();
        T::product(self.level, Product { shape: self.shape, weights, x, output, scratch });
    }
}

impl<T> std::fmt::Debug for PackedMatrix<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackedMatrix").field("shape", &self.shape).field("level", &self.level).finish_non_exhaustive()
    }
}

/// One product to compute. Made by `PackedMatrix::run` alone, which has checked that the lengths fit the shape,
/// that nothing is empty, and that `weights` points at a matrix packed for the level it is run at.
pub struct Product<'a, T> {
    shape: Shape,
    weights: *const T,
    x: &'a [T],
    output: Output<'a, T>,
    scratch: &'a mut Vec<T>,
}

/// Computes a product with the registers `V`.
///
/// # Safety
/// The processor has the instructions of `V`, and the product was packed for the level of `V`.
#[inline(always)]
pub(crate) unsafe fn run<V: Vector>(product: Product<'_, V::Elem>) {
    // SAFETY: passed on from the caller.
    unsafe {
        match product.shape.chains {
            1 => panels::<V, 1>(product),
            2 => panels::<V, 2>(product),
            4 => panels::<V, 4>(product),
            8 => panels::<V, 8>(product),
            _ => rows::product::<V>(product),
        }
    }
}

/// Cuts the batch of a matrix in panels into tiles, and what is left into single points.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn panels<V: Vector, const C: usize>(mut product: Product<'_, V::Elem>) {
    let accumulators = if V::MANY_REGISTERS { 16 } else { 8 };
    let mut done = 0;
    while done < product.output.batch {
        let left = product.output.batch - done;
        // SAFETY: each call covers points from `done` on, and no more than are left.
        done += unsafe {
            // Four registers are better cut into two and two than into three and one.
            if V::MANY_REGISTERS && C == 1 && left >= 3 * V::LANES && left != 4 * V::LANES {
                tiles::panels::<V, 3, C>(&mut product, done, left.min(3 * V::LANES))
            } else if left > V::LANES + V::LANES / 2 {
                tiles::panels::<V, 2, C>(&mut product, done, left.min(2 * V::LANES))
            } else if left > V::LANES / 2 {
                tiles::panels::<V, 1, C>(&mut product, done, left.min(V::LANES))
            } else if left >= 4 && 4 * C <= accumulators {
                points::panels::<V, 4, C>(&mut product, done)
            } else if left >= 2 && 2 * C <= accumulators {
                points::panels::<V, 2, C>(&mut product, done)
            } else {
                points::panels::<V, 1, C>(&mut product, done)
            }
        };
    }
}

/// Makes room for `len` elements in `scratch` and returns where they start, on a cache line.
#[inline(always)]
fn aligned<T: Arithmetic + Default>(scratch: &mut Vec<T>, len: usize) -> *mut T {
    let needed = len + MAX_LANES;
    if scratch.len() < needed {
        scratch.resize(needed, T::default());
    }
    let start = scratch.as_ptr().align_offset(64).min(MAX_LANES);
    scratch[start..start + len].as_mut_ptr()
}

#[cfg(test)]
mod tests;
