//! Methods: what encrypts and decrypts with a key.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::Aes192;
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, KeyInit, Nonce, Tag};
use groundstate_common::Entropy;

use crate::error::MethodError;
use crate::provider::{BlockId, KeyProvider};
use crate::sensitive::{Key, Plaintext};

const NONCE: usize = 12;
const TAG: usize = 16;

/// A method of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub(crate) id: BlockId,
    pub(crate) cipher: Cipher,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Cipher {
    Unencrypted,
    AesGcm { keys: Arc<KeyProvider>, aad: Vec<u8> },
    External { encrypt: Vec<String>, decrypt: Vec<String>, keys: Option<Arc<KeyProvider>> },
}

impl fmt::Debug for Cipher {
    /// Without commands, whose arguments may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unencrypted => f.write_str("Unencrypted"),
            Self::AesGcm { keys, .. } => write!(f, "AesGcm({})", keys.id),
            Self::External { .. } => f.write_str("External"),
        }
    }
}

impl Method {
    /// Type and name, such as `method.aes_gcm.main`.
    pub fn id(&self) -> &BlockId {
        &self.id
    }

    /// Whether it leaves states in the clear.
    pub fn is_unencrypted(&self) -> bool {
        self.cipher == Cipher::Unencrypted
    }

    /// The provider of its key.
    pub fn key_provider(&self) -> Option<&KeyProvider> {
        self.keys().map(|keys| &**keys)
    }

    pub(crate) fn keys(&self) -> Option<&Arc<KeyProvider>> {
        match &self.cipher {
            Cipher::Unencrypted => None,
            Cipher::AesGcm { keys, .. } => Some(keys),
            Cipher::External { keys, .. } => keys.as_ref(),
        }
    }
}

/// Work for the program of a method of type `external`.
#[derive(Clone, PartialEq, Eq)]
pub struct ProgramRequest {
    pub(crate) method: BlockId,
    pub(crate) command: Vec<String>,
    pub(crate) key: Option<Key>,
    pub(crate) payload: Plaintext,
}

impl ProgramRequest {
    /// The method whose program it is.
    pub fn method(&self) -> &BlockId {
        &self.method
    }

    /// The program and its arguments; never empty.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// What the program reads from standard input; zero it after use.
    pub fn input(&self) -> Plaintext {
        crate::external::method_input(self.key.as_ref(), self.payload.expose())
    }
}

impl fmt::Debug for ProgramRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramRequest").field("method", &self.method).finish_non_exhaustive()
    }
}

enum AesGcmCipher {
    Aes128(Box<Aes128Gcm>),
    Aes192(Box<AesGcm<Aes192, U12>>),
    Aes256(Box<Aes256Gcm>),
}

impl AesGcmCipher {
    fn new(key: &Key) -> Result<Self, MethodError> {
        let bytes = key.expose();
        let wrong = |_| MethodError::KeyLength { found: bytes.len() };
        Ok(match bytes.len() {
            16 => Self::Aes128(Box::new(Aes128Gcm::new_from_slice(bytes).map_err(wrong)?)),
            24 => Self::Aes192(Box::new(AesGcm::new_from_slice(bytes).map_err(wrong)?)),
            32 => Self::Aes256(Box::new(Aes256Gcm::new_from_slice(bytes).map_err(wrong)?)),
            found => return Err(MethodError::KeyLength { found }),
        })
    }
}

/// Encrypts: a random nonce, the ciphertext, the tag.
pub(crate) fn seal(
    key: &Key,
    aad: &[u8],
    plaintext: &[u8],
    entropy: &dyn Entropy,
) -> Result<Vec<u8>, MethodError> {
    let cipher = AesGcmCipher::new(key)?;
    let mut nonce = [0; NONCE];
    entropy.fill(&mut nonce)?;
    // The exact size: a buffer that grew would leave a copy of the plaintext behind.
    let mut out = Vec::with_capacity(NONCE + plaintext.len() + TAG);
    out.extend_from_slice(&nonce);
    out.extend_from_slice(plaintext);
    let nonce = Nonce::from(nonce);
    let buffer = InOutBuf::from(&mut out[NONCE..]);
    let tag = match cipher {
        AesGcmCipher::Aes128(cipher) => cipher.encrypt_inout_detached(&nonce, aad, buffer),
        AesGcmCipher::Aes192(cipher) => cipher.encrypt_inout_detached(&nonce, aad, buffer),
        AesGcmCipher::Aes256(cipher) => cipher.encrypt_inout_detached(&nonce, aad, buffer),
    };
    out.extend_from_slice(&tag.map_err(|_| MethodError::TooLong)?);
    Ok(out)
}

/// Decrypts what [`seal`] or OpenTofu wrote.
pub(crate) fn open(key: &Key, aad: &[u8], data: &[u8]) -> Result<Plaintext, MethodError> {
    let cipher = AesGcmCipher::new(key)?;
    let Some((nonce, sealed)) = data.split_first_chunk::<NONCE>() else {
        return Err(MethodError::TooShort { found: data.len() });
    };
    let Some((sealed, tag)) = sealed.split_last_chunk::<TAG>() else {
        return Err(MethodError::TooShort { found: data.len() });
    };
    let (nonce, tag) = (Nonce::from(*nonce), Tag::from(*tag));
    let mut out = zeroize::Zeroizing::new(sealed.to_vec());
    let buffer = InOutBuf::from(out.as_mut_slice());
    let opened = match cipher {
        AesGcmCipher::Aes128(cipher) => cipher.decrypt_inout_detached(&nonce, aad, buffer, &tag),
        AesGcmCipher::Aes192(cipher) => cipher.decrypt_inout_detached(&nonce, aad, buffer, &tag),
        AesGcmCipher::Aes256(cipher) => cipher.decrypt_inout_detached(&nonce, aad, buffer, &tag),
    };
    opened.map_err(|_| MethodError::Authentication)?;
    Ok(Plaintext::new(std::mem::take(&mut *out)))
}
