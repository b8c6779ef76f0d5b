//! Dense numerical kernels: products with a constant matrix, and elementary functions over slices.
//!
//! This is the bottom of the workspace. It depends on the standard library alone, it is the only crate that contains
//! `unsafe` and instruction-set specific code, and it knows nothing of networks, graphs or solvers.
//!
//! # Data layout
//!
//! Batches are **element-major**: a tensor of `n` elements evaluated at `batch` points is a slice of `n * batch`
//! values in which element `i` of point `b` sits at `i * batch + b`. A batch of one is a plain vector.
//!
//! # What a caller may rely on
//!
//! * **Reproducible.** On one machine a point gives the same bits whatever the batch it is evaluated in, wherever in
//!   that batch it stands, and wherever in a slice a value stands.
//! * **Not sound.** Results are rounded to nearest and carry no error bound; use them to search, not to conclude.
//! * **Total.** NaN and infinities propagate as IEEE 754 says. Slices of the wrong length are programming errors and
//!   panic with a message that names the lengths.
//!
//! ```
//! use certus_kernels::{PackedMatrix, fill_rows, relu};
//!
//! let layer = PackedMatrix::pack(2, 3, &[1.0f32, 2.0, 3.0, -1.0, 0.0, -1.0]);
//! let mut y = vec![0.0; 2];
//! fill_rows(&[0.5, 0.5], &mut y, 1);
//! layer.mul_acc(&[1.0, 1.0, 1.0], &mut y, 1, &mut Vec::new());
//! relu(&mut y);
//! assert_eq!(y, [6.5, 0.0]);
//! ```

mod elementwise;
mod float;
mod gemm;
mod level;
mod vector;

pub use elementwise::{exp, fill_rows, relu, sigmoid, softplus, tanh};
pub use float::Float;
pub use gemm::PackedMatrix;
pub use level::Level;
