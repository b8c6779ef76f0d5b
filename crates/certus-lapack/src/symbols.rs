//! The routines under their Fortran names: all arguments by pointer, matrices column-major.
//!
//! Every function expects what the BLAS and LAPACK documentation asks of its caller: pointers to initialised numbers, and
//! matrices of as many columns as the sizes say. Clarabel calls them through the `blas` and `lapack` crates, from slices of that size.

use core::ffi::{c_char, c_int};
use core::slice::{from_raw_parts, from_raw_parts_mut};

use crate::dense::{View, cholesky, cholesky_solve, multiply, singular_values, symmetric_eigen, symmetric_eigenvalues};

/// The number of elements from the first to the last of a matrix.
fn extent(stride: usize, rows: usize, columns: usize) -> usize {
    if columns == 0 || rows == 0 { 0 } else { stride * (columns - 1) + rows }
}

/// A size that a pointer names.
///
/// # Safety
/// The pointer is valid.
unsafe fn size(pointer: *const c_int) -> usize {
    // SAFETY: promised by the caller.
    usize::try_from(unsafe { *pointer }).unwrap_or(0)
}

/// Whether a pointer names this letter, in either case.
///
/// # Safety
/// The pointer is valid.
unsafe fn letter(pointer: *const c_char, expected: u8) -> bool {
    // SAFETY: promised by the caller.
    (unsafe { *pointer } as u8).eq_ignore_ascii_case(&expected)
}

/// c = alpha op(a) op(b) + beta c.
///
/// # Safety
/// As BLAS documents `dgemm`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dgemm_(
    transa: *const c_char,
    transb: *const c_char,
    m: *const c_int,
    n: *const c_int,
    k: *const c_int,
    alpha: *const f64,
    a: *const f64,
    lda: *const c_int,
    b: *const f64,
    ldb: *const c_int,
    beta: *const f64,
    c: *mut f64,
    ldc: *const c_int,
) {
    // SAFETY: sizes and pointers are those that BLAS asks of its callers.
    unsafe {
        let (m, n, k) = (size(m), size(n), size(k));
        let (lda, ldb, ldc) = (size(lda), size(ldb), size(ldc));
        let (ta, tb) = (!letter(transa, b'N'), !letter(transb, b'N'));
        let a = from_raw_parts(a, if ta { extent(lda, k, m) } else { extent(lda, m, k) });
        let b = from_raw_parts(b, if tb { extent(ldb, n, k) } else { extent(ldb, k, n) });
        let c = from_raw_parts_mut(c, extent(ldc, m, n));
        let a = View { data: a, stride: lda, transposed: ta };
        multiply((m, n, k), *alpha, a, View { data: b, stride: ldb, transposed: tb }, *beta, c, ldc);
    }
}

/// Copies one triangle of a square product into `c`.
fn keep_triangle(n: usize, product: &[f64], beta: f64, c: &mut [f64], stride: usize, upper: bool) {
    for j in 0..n {
        for i in if upper { 0..j + 1 } else { j..n } {
            let target = &mut c[i + j * stride];
            *target = product[i + j * n] + if beta == 0.0 { 0.0 } else { beta * *target };
        }
    }
}

/// One triangle of c = alpha op(a) op(a)ᵀ + beta c.
///
/// # Safety
/// As BLAS documents `dsyrk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dsyrk_(
    uplo: *const c_char,
    trans: *const c_char,
    n: *const c_int,
    k: *const c_int,
    alpha: *const f64,
    a: *const f64,
    lda: *const c_int,
    beta: *const f64,
    c: *mut f64,
    ldc: *const c_int,
) {
    // SAFETY: sizes and pointers are those that BLAS asks of its callers.
    unsafe {
        let (n, k, lda, ldc) = (size(n), size(k), size(lda), size(ldc));
        let transposed = !letter(trans, b'N');
        let a = from_raw_parts(a, if transposed { extent(lda, k, n) } else { extent(lda, n, k) });
        let view = View { data: a, stride: lda, transposed };
        let mut product = vec![0.0; n * n];
        multiply((n, n, k), *alpha, view, View { transposed: !transposed, ..view }, 0.0, &mut product, n);
        keep_triangle(n, &product, *beta, from_raw_parts_mut(c, extent(ldc, n, n)), ldc, letter(uplo, b'U'));
    }
}

/// One triangle of c = alpha (op(a) op(b)ᵀ + op(b) op(a)ᵀ) + beta c.
///
/// # Safety
/// As BLAS documents `dsyr2k`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dsyr2k_(
    uplo: *const c_char,
    trans: *const c_char,
    n: *const c_int,
    k: *const c_int,
    alpha: *const f64,
    a: *const f64,
    lda: *const c_int,
    b: *const f64,
    ldb: *const c_int,
    beta: *const f64,
    c: *mut f64,
    ldc: *const c_int,
) {
    // SAFETY: sizes and pointers are those that BLAS asks of its callers.
    unsafe {
        let (n, k, lda, ldb, ldc) = (size(n), size(k), size(lda), size(ldb), size(ldc));
        let transposed = !letter(trans, b'N');
        let reach = |stride| if transposed { extent(stride, k, n) } else { extent(stride, n, k) };
        let first = View { data: from_raw_parts(a, reach(lda)), stride: lda, transposed };
        let second = View { data: from_raw_parts(b, reach(ldb)), stride: ldb, transposed };
        let turned = |view: View<'static>| View { transposed: !transposed, ..view };
        let mut product = vec![0.0; n * n];
        multiply((n, n, k), *alpha, first, turned(second), 0.0, &mut product, n);
        multiply((n, n, k), *alpha, second, turned(first), 1.0, &mut product, n);
        keep_triangle(n, &product, *beta, from_raw_parts_mut(c, extent(ldc, n, n)), ldc, letter(uplo, b'U'));
    }
}

/// The Cholesky factor, in place.
///
/// # Safety
/// As LAPACK documents `dpotrf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpotrf_(
    uplo: *const c_char,
    n: *const c_int,
    a: *mut f64,
    lda: *const c_int,
    info: *mut c_int,
) {
    // SAFETY: sizes and pointers are those that LAPACK asks of its callers.
    unsafe {
        let (n, lda) = (size(n), size(lda));
        let a = from_raw_parts_mut(a, extent(lda, n, n));
        *info = cholesky(n, a, lda, letter(uplo, b'U')).err().map_or(0, |minor| minor as c_int);
    }
}

/// Solves with a Cholesky factor.
///
/// # Safety
/// As LAPACK documents `dpotrs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dpotrs_(
    uplo: *const c_char,
    n: *const c_int,
    nrhs: *const c_int,
    a: *const f64,
    lda: *const c_int,
    b: *mut f64,
    ldb: *const c_int,
    info: *mut c_int,
) {
    // SAFETY: sizes and pointers are those that LAPACK asks of its callers.
    unsafe {
        let (n, nrhs, lda, ldb) = (size(n), size(nrhs), size(lda), size(ldb));
        let a = from_raw_parts(a, extent(lda, n, n));
        let b = from_raw_parts_mut(b, extent(ldb, n, nrhs));
        for column in 0..nrhs {
            cholesky_solve(n, a, lda, letter(uplo, b'U'), &mut b[column * ldb..][..n]);
        }
        *info = 0;
    }
}

/// All eigenvalues of a symmetric matrix, and its eigenvectors if they are asked for.
///
/// # Safety
/// As LAPACK documents `dsyevr`; only the range `A` is supported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dsyevr_(
    jobz: *const c_char,
    _range: *const c_char,
    uplo: *const c_char,
    n: *const c_int,
    a: *mut f64,
    lda: *const c_int,
    _vl: *const f64,
    _vu: *const f64,
    _il: *const c_int,
    _iu: *const c_int,
    _abstol: *const f64,
    m: *mut c_int,
    w: *mut f64,
    z: *mut f64,
    ldz: *const c_int,
    _isuppz: *mut c_int,
    work: *mut f64,
    lwork: *const c_int,
    iwork: *mut c_int,
    liwork: *const c_int,
    info: *mut c_int,
) {
    // SAFETY: sizes and pointers are those that LAPACK asks of its callers.
    unsafe {
        *info = 0;
        if *lwork == -1 || *liwork == -1 {
            (*work, *iwork) = (1.0, 1);
            return;
        }
        let (order, lda) = (size(n), size(lda));
        let given = from_raw_parts(a, extent(lda, order, order));
        let upper = letter(uplo, b'U');
        let mut whole = vec![0.0; order * order];
        for j in 0..order {
            for i in 0..order {
                let (row, column) = if (i <= j) == upper { (i, j) } else { (j, i) };
                whole[i + j * order] = given[row + column * lda];
            }
        }
        let values = if letter(jobz, b'V') {
            let values = symmetric_eigen(order, &mut whole);
            let ldz = size(ldz);
            let z = from_raw_parts_mut(z, extent(ldz, order, order));
            for j in 0..order {
                z[j * ldz..][..order].copy_from_slice(&whole[j * order..][..order]);
            }
            values
        } else {
            // Numbers that are not finite give results that are not: callers are not prepared for an error here.
            let copy = whole.clone();
            symmetric_eigenvalues(order, &mut whole).unwrap_or_else(|| symmetric_eigen(order, &mut copy.clone()))
        };
        from_raw_parts_mut(w, order).copy_from_slice(&values);
        *m = *n;
    }
}

/// The singular value decomposition of a square matrix.
///
/// # Safety
/// As LAPACK documents `dgesdd`; only square matrices with all singular vectors are supported, others give an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dgesdd_(
    _jobz: *const c_char,
    m: *const c_int,
    n: *const c_int,
    a: *mut f64,
    lda: *const c_int,
    s: *mut f64,
    u: *mut f64,
    ldu: *const c_int,
    vt: *mut f64,
    ldvt: *const c_int,
    work: *mut f64,
    lwork: *const c_int,
    _iwork: *mut c_int,
    info: *mut c_int,
) {
    // SAFETY: sizes and pointers are those that LAPACK asks of its callers.
    unsafe { decompose((m, n), (a, lda), s, (u, ldu), (vt, ldvt), work, lwork, info) }
}

/// The same under the name of LAPACK's other method, which differs in how it works and not in what it gives.
///
/// # Safety
/// As LAPACK documents `dgesvd`; only square matrices with all singular vectors are supported, others give an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dgesvd_(
    _jobu: *const c_char,
    _jobvt: *const c_char,
    m: *const c_int,
    n: *const c_int,
    a: *mut f64,
    lda: *const c_int,
    s: *mut f64,
    u: *mut f64,
    ldu: *const c_int,
    vt: *mut f64,
    ldvt: *const c_int,
    work: *mut f64,
    lwork: *const c_int,
    info: *mut c_int,
) {
    // SAFETY: sizes and pointers are those that LAPACK asks of its callers.
    unsafe { decompose((m, n), (a, lda), s, (u, ldu), (vt, ldvt), work, lwork, info) }
}

/// What both names do.
///
/// # Safety
/// Pointers and sizes are those that LAPACK asks of its callers.
#[allow(clippy::too_many_arguments)]
unsafe fn decompose(
    (m, n): (*const c_int, *const c_int),
    (a, lda): (*mut f64, *const c_int),
    s: *mut f64,
    (u, ldu): (*mut f64, *const c_int),
    (vt, ldvt): (*mut f64, *const c_int),
    work: *mut f64,
    lwork: *const c_int,
    info: *mut c_int,
) {
    // SAFETY: promised by the caller.
    unsafe {
        *info = 0;
        if *lwork == -1 {
            *work = 1.0;
            return;
        }
        let (order, lda, ldu, ldvt) = (size(n), size(lda), size(ldu), size(ldvt));
        if size(m) != order {
            *info = -2;
            return;
        }
        let given = from_raw_parts(a, extent(lda, order, order));
        let mut left: Vec<f64> = (0..order * order).map(|k| given[k % order + k / order * lda]).collect();
        let (values, right) = singular_values(order, &mut left);
        from_raw_parts_mut(s, order).copy_from_slice(&values);
        let u = from_raw_parts_mut(u, extent(ldu, order, order));
        let vt = from_raw_parts_mut(vt, extent(ldvt, order, order));
        for j in 0..order {
            for i in 0..order {
                u[i + j * ldu] = left[i + j * order];
                vt[i + j * ldvt] = right[j + i * order];
            }
        }
    }
}
