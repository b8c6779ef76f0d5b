//! Bounds on what a file can make the importer build.
//!
//! What a file stores outright is bounded by the file's size. What it merely asks for (a tensor repeated a
//! million times, a weight used by a thousand nodes, a convolution of astronomic extent) is bounded here, so a
//! hostile file costs a bounded amount of memory and time, and an honest mistake gets a message.

use super::error::ImportError;

/// A tensor of the network may have this many elements.
pub(super) const MAX_TENSOR: usize = 1 << 26;
/// All weights and constants of a file together may have this many elements.
pub(super) const MAX_WEIGHTS: usize = 1 << 28;
/// All tensors of the network together may have this many elements.
const MAX_NETWORK: usize = 1 << 28;
/// Constants worked out at import may have this many elements, and four times what the file itself stores.
const PRODUCED: usize = 1 << 24;
/// One convolution or pooling may take this many multiplications or comparisons.
const MAX_WORK: u64 = 1 << 36;
/// A tensor may have this many axes.
pub(super) const MAX_RANK: usize = 16;

/// What is left of the bounds.
#[derive(Debug)]
pub(super) struct Budget {
    produced: usize,
    network: usize,
}

impl Budget {
    /// The budget of a model that stores nothing yet.
    pub fn new() -> Self {
        Budget { produced: PRODUCED, network: MAX_NETWORK }
    }

    /// Accounts for weights that stand in the file.
    pub fn store(&mut self, elements: usize) {
        self.produced = self.produced.saturating_add(elements.saturating_mul(4));
    }

    /// Accounts for `elements` of weights, constants or indices made at import.
    pub fn produce(&mut self, elements: usize) -> Result<(), String> {
        self.produced = self
            .produced
            .checked_sub(elements)
            .ok_or_else(|| "the constants worked out during import outgrow the file by far".to_owned())?;
        Ok(())
    }

    /// Accounts for a tensor of the network.
    pub fn tensor(&mut self, shape: &[usize]) -> Result<(), String> {
        let elements = checked_count(shape)?;
        self.network = self
            .network
            .checked_sub(elements)
            .ok_or_else(|| format!("the network's tensors have more than {MAX_NETWORK} elements together"))?;
        Ok(())
    }

    /// Accounts for the multiplications of a convolution or pooling whose every output takes `per_output`; with
    /// `now`, they are done at import.
    pub fn work(&mut self, outputs: usize, per_output: usize, now: bool) -> Result<(), String> {
        let work = (outputs as u64).saturating_mul(per_output as u64);
        if work > MAX_WORK {
            return Err(format!("it takes {work} operations, more than {MAX_WORK}"));
        }
        if now {
            self.produce(usize::try_from(work / 16).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }
}

/// The number of elements of a shape, if it is within bounds.
pub(super) fn checked_count(shape: &[usize]) -> Result<usize, String> {
    if shape.len() > MAX_RANK {
        return Err(format!("a tensor has {} axes, more than {MAX_RANK}", shape.len()));
    }
    let count = shape.iter().try_fold(1usize, |count, &extent| {
        if extent > MAX_TENSOR { None } else { count.checked_mul(extent).filter(|&c| c <= MAX_TENSOR) }
    });
    count.ok_or_else(|| format!("a tensor of shape {shape:?} has more than {MAX_TENSOR} elements"))
}

impl From<String> for ImportError {
    fn from(message: String) -> Self {
        ImportError::Limit(message)
    }
}
