//! What encrypts and decrypts values.

use std::fmt;
use std::sync::Arc;

use crate::error::CryptError;
use crate::sensitive::{Ciphertext, Plaintext};

/// Turns values into what may stand in a state.
///
/// The contract: a batch gives as many ciphertexts as it was given plaintexts, in their order, and equal plaintexts get
/// different ciphertexts wherever the method of encryption is worth its name. A batch succeeds or fails as a whole.
pub trait Encrypter: fmt::Debug + Send + Sync {
    /// Encrypts one value.
    ///
    /// # Errors
    ///
    /// When the crypter refuses, its key service or the source of randomness fails.
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError>;

    /// Encrypts several values, in order.
    ///
    /// # Errors
    ///
    /// Those of [`encrypt`](Self::encrypt), with the place of the value if it is to blame.
    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError>;
}

/// Turns what stands in a state back into values.
///
/// The contract: a batch gives as many plaintexts as it was given ciphertexts, in their order, and succeeds or fails as a
/// whole.
pub trait Decrypter: fmt::Debug + Send + Sync {
    /// Decrypts one value.
    ///
    /// # Errors
    ///
    /// When the ciphertext is damaged or belongs to another key, the crypter refuses, or its key service fails.
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError>;

    /// Decrypts several values, in order.
    ///
    /// # Errors
    ///
    /// Those of [`decrypt`](Self::decrypt), with the place of the value if it is to blame.
    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError>;
}

/// Both directions.
pub trait Crypter: Encrypter + Decrypter {}

impl<T: Encrypter + Decrypter + ?Sized> Crypter for T {}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Encrypter + ?Sized> Encrypter for $pointer {
            fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
                (**self).encrypt(plaintext)
            }

            fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
                (**self).encrypt_batch(plaintexts)
            }
        }

        impl<T: Decrypter + ?Sized> Decrypter for $pointer {
            fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
                (**self).decrypt(ciphertext)
            }

            fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
                (**self).decrypt_batch(ciphertexts)
            }
        }
    )*};
}

forward!(&T, Arc<T>, Box<T>);

/// Does a batch value by value, for crypters that gain nothing from a batch.
///
/// # Errors
///
/// The first error, as [`CryptError::Item`] with the place of its value.
pub fn each<In, Out>(
    values: &[&In],
    mut process: impl FnMut(&In) -> Result<Out, CryptError>,
) -> Result<Vec<Out>, CryptError> {
    let values = values.iter().enumerate();
    values
        .map(|(index, value)| {
            process(value).map_err(|source| CryptError::Item { index, source: Box::new(source) })
        })
        .collect()
}
