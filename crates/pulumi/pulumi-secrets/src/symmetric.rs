//! AES-256-GCM in the text form `v1:nonce:value`.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::Aead;
use aes_gcm::{Aes256Gcm, KeyInit};
use base64::Engine;

use crate::base64::{ENGINE, decode};
use crate::crypter::{Decrypter, Encrypter, each};
use crate::error::{CryptError, Part};
use crate::sensitive::{Ciphertext, Key, Plaintext};
use crate::simple::plaintext;
use groundstate_common::Entropy;

const VERSION: &str = "v1";
const NONCE_LENGTH: usize = 12;

/// Encrypts with a key that is at hand: AES-256-GCM, a random nonce of 12 bytes for each value, no associated data.
///
/// The text is `v1:`, the nonce, `:`, and the encrypted value with its tag of 16 bytes, both in standard base64. Decrypting
/// needs no randomness. Random nonces of this length are safe for some 2³² values under one key, more than a state holds.
pub struct SymmetricCrypter {
    cipher: Aes256Gcm,
    entropy: Arc<dyn Entropy>,
}

impl SymmetricCrypter {
    /// A crypter with this key. Nonces come from `entropy`.
    pub fn new(key: &Key, entropy: Arc<dyn Entropy>) -> Self {
        Self { cipher: Aes256Gcm::new(key.expose().into()), entropy }
    }
}

impl fmt::Debug for SymmetricCrypter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymmetricCrypter").finish_non_exhaustive()
    }
}

impl Encrypter for SymmetricCrypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        let mut nonce = [0; NONCE_LENGTH];
        self.entropy.fill(&mut nonce)?;
        let sealed = self.cipher.encrypt(&nonce.into(), plaintext.expose().as_bytes());
        let sealed = sealed.map_err(|_| CryptError::TooLong)?;
        Ok(Ciphertext::new(format!("{VERSION}:{}:{}", ENGINE.encode(nonce), ENGINE.encode(sealed))))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        each(plaintexts, |plaintext| self.encrypt(plaintext))
    }
}

impl Decrypter for SymmetricCrypter {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        let sealed = Sealed::parse(ciphertext.as_str())?;
        let opened = self.cipher.decrypt(&sealed.nonce.into(), sealed.value.as_slice());
        plaintext(opened.map_err(|_| CryptError::Authentication)?)
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        each(ciphertexts, |ciphertext| self.decrypt(ciphertext))
    }
}

/// The parts of a ciphertext.
pub(crate) struct Sealed {
    nonce: [u8; NONCE_LENGTH],
    value: Vec<u8>,
}

impl Sealed {
    /// Takes a ciphertext apart. What is wrong is found in the order in which the original finds it.
    pub(crate) fn parse(text: &str) -> Result<Self, CryptError> {
        let mut parts = text.split(':');
        let (Some(version), Some(nonce), Some(value), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(CryptError::Parts { found: text.split(':').count() });
        };
        if version != VERSION {
            return Err(CryptError::Version);
        }
        let base64 = |part, text| decode(text).map_err(|at| CryptError::Base64 { part, at });
        let nonce = base64(Part::Nonce, nonce)?;
        let value = base64(Part::Value, value)?;
        let nonce =
            nonce.try_into().map_err(|nonce: Vec<u8>| CryptError::NonceSize { found: nonce.len() })?;
        Ok(Self { nonce, value })
    }
}
