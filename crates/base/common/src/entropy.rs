//! Where keys, salts and nonces come from.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// A source of unpredictable bytes.
///
/// This is more than a source of ids has to promise: ids must not repeat, and counting is enough for that. A counter that
/// starts again in the next process would use a nonce twice under one key, which gives away both values and the key that
/// authenticates them. So the two are different types, and a source of ids cannot be passed here by mistake.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Fills `bytes` from a generator fit for cryptography.
    ///
    /// # Errors
    ///
    /// When the generator does not answer. Nothing can be made up in its place: give up.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

impl<T: Entropy + ?Sized> Entropy for &T {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        (**self).fill(bytes)
    }
}

impl<T: Entropy + ?Sized> Entropy for Arc<T> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        (**self).fill(bytes)
    }
}

impl<T: Entropy + ?Sized> Entropy for Box<T> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        (**self).fill(bytes)
    }
}

/// The generator behind an [`Entropy`] did not answer.
#[derive(Debug, Error)]
#[error("the random generator does not answer, so nothing can be encrypted")]
pub struct EntropyError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl EntropyError {
    /// An error that `source` caused.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
