//! The few vector operations that matrix products need, over every register width.
//!
//! Kernels are written once, generic over [`Vector`] and `#[inline(always)]`, and are instantiated inside functions
//! that carry the matching `#[target_feature]`; there every operation becomes one instruction. Intrinsics are used
//! rather than auto-vectorised arrays because a kernel only runs at full speed when all accumulators stay in
//! registers, and that is not left to chance.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::float::Arithmetic;

/// The widest vector of any level, in elements; also the number of chains of a dot product.
pub(crate) const MAX_LANES: usize = 16;

/// Whether the portable level uses fused multiply-add: only where the compilation target has the instruction, since a
/// software emulation costs a function call per element.
pub(crate) const PORTABLE_FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// A register of `LANES` numbers.
pub(crate) trait Vector: Copy {
    /// The number type in each lane.
    type Elem: Arithmetic + Default;
    /// How many numbers a register holds; at most [`MAX_LANES`].
    const LANES: usize;
    /// Whether there are 32 registers, so that kernels may keep 16 accumulators; else 8.
    const MANY_REGISTERS: bool;
    /// Whether `mul_add` rounds once.
    const FUSED: bool;

    /// # Safety
    /// The processor has this vector's instructions. So for every function of this trait.
    unsafe fn splat(x: Self::Elem) -> Self;
    /// # Safety
    /// `from` is valid for reading `LANES` elements.
    unsafe fn load(from: *const Self::Elem) -> Self;
    /// # Safety
    /// `to` is valid for writing `LANES` elements.
    unsafe fn store(self, to: *mut Self::Elem);
    /// Lane by lane `self + other`.
    /// # Safety
    /// As for [`Vector::splat`].
    unsafe fn add(self, other: Self) -> Self;
    /// Lane by lane `self * factor + addend`.
    /// # Safety
    /// As for [`Vector::splat`].
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Lane by lane [`Arithmetic::relu`].
    /// # Safety
    /// As for [`Vector::splat`].
    unsafe fn relu(self) -> Self;

    /// What [`Vector::mul_add`] does in each lane.
    #[inline(always)]
    fn scalar_mul_add(x: Self::Elem, factor: Self::Elem, addend: Self::Elem) -> Self::Elem {
        if Self::FUSED { x.times_plus::<true>(factor, addend) } else { x.times_plus::<false>(factor, addend) }
    }
}

impl<T: Arithmetic + Default, const N: usize> Vector for [T; N] {
    type Elem = T;
    const LANES: usize = N;
    const MANY_REGISTERS: bool = false;
    const FUSED: bool = PORTABLE_FUSES;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        [x; N]
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller vouches for `N` readable elements; arrays have the alignment of their elements.
        unsafe { from.cast::<[T; N]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller vouches for `N` writable elements.
        unsafe { to.cast::<[T; N]>().write(self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane].plus(other[lane]))
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        std::array::from_fn(|lane| self[lane].times_plus::<PORTABLE_FUSES>(factor[lane], addend[lane]))
    }

    #[inline(always)]
    unsafe fn relu(self) -> Self {
        std::array::from_fn(|lane| self[lane].relu())
    }
}

/// Adds up the chains of one output by halving: first `c` with `c + C/2`, then with `C/4`, down to one.
///
/// Every kernel ends in this tree, whichever way its vectors lie, so the order of additions is the same on all paths.
///
/// # Safety
/// As for [`Vector::splat`].
#[inline(always)]
pub(crate) unsafe fn halving_sum<V: Vector, const C: usize>(mut chains: [V; C]) -> V {
    let mut width = C / 2;
    while width > 0 {
        for c in 0..width {
            // SAFETY: the caller vouches for the processor.
            chains[c] = unsafe { chains[c].add(chains[c + width]) };
        }
        width /= 2;
    }
    chains[0]
}
