//! Bytes that must not be seen: redacted in every text, zeroed when they are dropped.

use std::fmt;

use groundstate_common::{Entropy, EntropyError};
use zeroize::Zeroizing;

/// A key of any length: what a key provider gives and a method uses.
///
/// `Debug` shows the length only, and the memory is zeroed when it is dropped.
///
/// ```
/// let key = groundstate_encryption::Key::new(vec![7; 32]);
/// assert_eq!(format!("{key:?}"), "Key(32 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// The key of these bytes, which are moved in.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new random key of `length` bytes.
    ///
    /// # Errors
    ///
    /// When the source of randomness does not answer.
    pub fn generate(length: usize, entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        Self::filled(length, |bytes| entropy.fill(bytes))
    }

    /// A key whose bytes are written where they stay.
    pub(crate) fn filled<E>(length: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut key = Self(Zeroizing::new(vec![0; length]));
        fill(&mut key.0)?;
        Ok(key)
    }

    /// The bytes themselves. A caller who copies them has to zero the copy.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bytes)", self.0.len())
    }
}

/// A state or a plan in the clear.
///
/// `Debug` shows the length only, and the memory is zeroed when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext(Zeroizing<Vec<u8>>);

impl Plaintext {
    /// These bytes, which are moved in.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes themselves.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, which the caller zeroes from here on if they have to be.
    pub fn into_bytes(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.0)
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintext({} bytes)", self.0.len())
    }
}
