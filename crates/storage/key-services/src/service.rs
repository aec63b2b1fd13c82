//! What every key service does.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::key::{DataKey, WrappedKey};

/// Wraps and unwraps data keys with one key that the service keeps.
///
/// The contract:
///
/// - `unwrap` gives what `wrap` was given, also after the service has rotated the key, as long as it keeps old versions.
/// - Two calls of `wrap` with the same key may give different ciphertexts.
/// - Nothing is changed in the service, so every call may be repeated.
/// - `Display` names the key and its place, without secrets.
#[async_trait]
pub trait KeyService: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// Wraps a key.
    ///
    /// # Errors
    ///
    /// Those of the service, by kind.
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey>;

    /// Unwraps a key.
    ///
    /// # Errors
    ///
    /// Those of the service, by kind; `BadCiphertext` and `WrongKey` for what this key has not wrapped.
    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey>;

    /// Makes a key of so many bytes, unpredictable, and wraps it. Services that make keys themselves are asked for it.
    ///
    /// # Errors
    ///
    /// Those of [`wrap`](Self::wrap), and `Invalid` for a length that the service cannot make.
    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)>;
}

#[async_trait]
impl<T: KeyService + ?Sized> KeyService for Arc<T> {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        (**self).wrap(key).await
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        (**self).unwrap(wrapped).await
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        (**self).generate(length).await
    }
}

#[async_trait]
impl<T: KeyService + ?Sized> KeyService for Box<T> {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        (**self).wrap(key).await
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        (**self).unwrap(wrapped).await
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        (**self).generate(length).await
    }
}

/// A key of the source of entropy.
#[cfg(any(feature = "gcp", feature = "azure"))]
pub(crate) fn random_key(
    context: &crate::KeyContext,
    length: usize,
    place: &dyn fmt::Display,
) -> Result<DataKey> {
    use crate::error::{Error, ErrorKind};
    use crate::op::Op;
    /// No cipher has longer keys.
    const LONGEST: usize = 1024;
    if !(1..=LONGEST).contains(&length) {
        let error = Error::new(ErrorKind::Invalid, Op::Generate, place);
        return Err(error.because(format!("a key has 1 to {LONGEST} bytes, not {length}")));
    }
    let mut bytes = zeroize::Zeroizing::new(vec![0; length]);
    context.entropy.fill(&mut bytes).map_err(|error| {
        let why = "the random generator does not answer";
        Error::new(ErrorKind::Internal, Op::Generate, place).because(why).with_source(error)
    })?;
    Ok(DataKey::new(bytes))
}
