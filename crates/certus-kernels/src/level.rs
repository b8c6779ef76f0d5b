//! Which instruction set the kernels use, decided once at run time.

use std::sync::OnceLock;

/// An instruction set that this machine has.
///
/// Values are only handed out by [`Level::best`] and [`Level::available`], after the processor was asked. Holding a
/// `Level` is therefore a proof that its instructions may be executed, and the `unsafe` dispatch rests on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(pub(crate) Isa);

/// The instruction sets there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// Whatever the compilation target guarantees.
    Portable,
    /// AVX2 with FMA: 256-bit vectors, 16 registers.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL: 512-bit vectors, 32 registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The fastest level of this machine.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::available().pop().unwrap_or(Level(Isa::Portable)))
    }

    /// Every level of this machine, slowest first.
    pub fn available() -> Vec<Level> {
        #[allow(unused_mut, reason = "only x86-64 has more than one level")]
        let mut levels = vec![Level(Isa::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            if has_avx2() {
                levels.push(Level(Isa::Avx2));
            }
            if has_avx512() {
                levels.push(Level(Isa::Avx512));
            }
        }
        levels
    }

    /// A short name for logs and benchmark tables.
    pub fn name(self) -> &'static str {
        match self.0 {
            Isa::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_level_is_the_last_available_one() {
        assert_eq!(Level::available().last(), Some(&Level::best()));
        assert_eq!(Level::available()[0].name(), "portable");
    }
}
