//! The random generator of the operating system.

use crate::entropy::{Entropy, EntropyError};

/// The operating system's random generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        getrandom::fill(bytes).map_err(|error| EntropyError::new(error.to_string()))
    }
}
