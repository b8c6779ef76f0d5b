//! Keeps the extension module's symbols to itself.
//!
//! `certus-lapack` defines BLAS and LAPACK routines (`dgemm_`, `dsyevr_`, …) under their Fortran names, because Clarabel's semidefinite cones
//! call them. The linker resolves these calls within the module; exported, the names would also capture the calls of other modules
//! loaded into the same process, such as NumPy's or SciPy's linear algebra. Symbols that come from libraries are therefore made local; the
//! module's entry point is defined by this crate and stays visible. `tests/test_symbols.py` checks the result.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Names in a Mach-O module are bound to the library that they were found in when it was linked, and a DLL's to that of its import
    // table: nothing is captured there.
    if let Ok("linux" | "android" | "freebsd" | "netbsd" | "openbsd") = std::env::var("CARGO_CFG_TARGET_OS").as_deref()
    {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    }
}
