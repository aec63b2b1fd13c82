//! Where random ids come from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

/// A source of bytes that do not repeat, from which ids are made.
///
/// Implementers write [`fill`](Self::fill); the rest is built on it and is not meant to be overridden.
pub trait IdSource: fmt::Debug + Send + Sync {
    /// Fills `bytes`. Two calls give the same bytes only by a chance that can be neglected.
    ///
    /// # Errors
    ///
    /// When the generator behind it does not answer. Nothing can be made up in its place: give up.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError>;

    /// A fresh id in the form `8-4-4-4-12` of lower-case hexadecimal digits, the form of lineages and lock ids.
    ///
    /// # Errors
    ///
    /// Those of [`fill`](Self::fill).
    fn uuid(&self) -> Result<String, IdSourceError> {
        let mut bytes = [0; 16];
        self.fill(&mut bytes)?;
        Ok(uuid_text(bytes))
    }

    /// A fresh number, from which keys of deposed objects are made.
    ///
    /// # Errors
    ///
    /// Those of [`fill`](Self::fill).
    fn number(&self) -> Result<u32, IdSourceError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }
}

/// The generator behind an [`IdSource`] did not answer.
#[derive(Debug, Error)]
#[error("the generator of random ids does not answer, so no new id can be made")]
pub struct IdSourceError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl IdSourceError {
    /// An error that `source` caused.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl<T: IdSource + ?Sized> IdSource for &T {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        (**self).fill(bytes)
    }
}

impl<T: IdSource + ?Sized> IdSource for Arc<T> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        (**self).fill(bytes)
    }
}

impl<T: IdSource + ?Sized> IdSource for Box<T> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        (**self).fill(bytes)
    }
}

/// Writes 16 bytes as `8-4-4-4-12` lower-case hexadecimal digits, every bit as it stands.
///
/// This is the layout of a UUID without its version and variant bits, which is how Terraform writes lineages.
///
/// ```
/// let text = groundstate_common::uuid_text([0xab; 16]);
/// assert_eq!(text, "abababab-abab-abab-abab-abababababab");
/// ```
pub fn uuid_text(bytes: [u8; 16]) -> String {
    let mut digits = format!("{:032x}", u128::from_be_bytes(bytes));
    for at in [20, 16, 12, 8] {
        digits.insert(at, '-');
    }
    digits
}

/// An id source that counts: 1, 2, 3. For tests and reproducible output; its ids are not unique anywhere else.
///
/// ```
/// use groundstate_common::{IdSource, SequenceIds};
///
/// let ids = SequenceIds::new();
/// assert_eq!(ids.number()?, 1);
/// assert_eq!(ids.uuid()?, "00000000-0000-0000-0000-000000000002");
/// # Ok::<(), groundstate_common::IdSourceError>(())
/// ```
#[derive(Debug)]
pub struct SequenceIds(AtomicU64);

impl SequenceIds {
    /// A source whose first id is 1.
    pub fn new() -> Self {
        Self::starting_at(1)
    }

    /// A source whose first id is `first`; after the largest number it goes on with 0.
    pub fn starting_at(first: u64) -> Self {
        Self(AtomicU64::new(first))
    }
}

impl Default for SequenceIds {
    fn default() -> Self {
        Self::new()
    }
}

impl IdSource for SequenceIds {
    /// Writes the next number big-endian at the end of `bytes`, zeros before it.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.fill(0);
        for (to, from) in bytes.iter_mut().rev().zip(number.iter().rev()) {
            *to = *from;
        }
        Ok(())
    }
}
