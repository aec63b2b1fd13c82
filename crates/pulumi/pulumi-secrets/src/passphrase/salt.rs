//! The salt text of a stack, `v1:salt:value`: how to get from a passphrase to the key, and how to tell the right one.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;
use thiserror::Error;

use crate::base64::{ENGINE, decode};
use crate::crypter::{Decrypter, Encrypter};
use crate::error::CryptError;
use crate::sensitive::{Ciphertext, Key, Passphrase, Plaintext};
use crate::symmetric::{Sealed, SymmetricCrypter};
use groundstate_common::Entropy;

/// How often PBKDF2 hashes, so that trying passphrases takes its time.
pub const ITERATIONS: u32 = 1_000_000;

const VERSION: &str = "v1";
const LENGTH: usize = 8;
/// The word that is encrypted to tell later whether a passphrase is the right one.
const CHECK: &str = "pulumi";

/// The salt text of a stack: `v1:`, the salt in base64, `:`, and the word `pulumi` in encrypted form.
///
/// It stands in `secrets_providers.state.salt` of a deployment, and as `encryptionsalt` in the configuration of a stack.
#[derive(Clone, PartialEq, Eq)]
pub struct Salt {
    text: Box<str>,
    salt: Vec<u8>,
    check: Ciphertext,
}

impl Salt {
    /// Reads a salt text.
    ///
    /// # Errors
    ///
    /// When it has not three parts, another version, or its salt is not base64. A damaged value that passphrases are
    /// checked with is an error of [`unlock`](Self::unlock), since a locked manager still carries it.
    pub fn parse(text: &str) -> Result<Self, SaltError> {
        let mut parts = text.splitn(3, ':');
        let (Some(version), Some(salt), Some(check)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(SaltError::Parts { found: text.split(':').count() });
        };
        if version != VERSION {
            return Err(SaltError::Version);
        }
        let salt = decode(salt).map_err(|at| SaltError::Base64 { at })?;
        Ok(Self { text: text.into(), salt, check: Ciphertext::new(check) })
    }

    /// Makes a new salt for a passphrase, and the crypter that goes with it.
    ///
    /// # Errors
    ///
    /// When the source of randomness does not answer.
    pub fn generate(
        passphrase: &Passphrase,
        entropy: Arc<dyn Entropy>,
    ) -> Result<(Self, SymmetricCrypter), CryptError> {
        let mut salt = vec![0; LENGTH];
        entropy.fill(&mut salt)?;
        let crypter = SymmetricCrypter::new(&derive(passphrase, &salt, ITERATIONS), entropy);
        let check = crypter.encrypt(&Plaintext::new(CHECK))?;
        let text = format!("{VERSION}:{}:{}", ENGINE.encode(&salt), check.as_str()).into();
        Ok((Self { text, salt, check }, crypter))
    }

    /// Derives the key, and checks that it is the right one. It takes a noticeable part of a second.
    ///
    /// # Errors
    ///
    /// When the passphrase is not the one that the salt was made for, or the salt text is damaged so that none fits.
    pub fn unlock(
        &self,
        passphrase: &Passphrase,
        entropy: Arc<dyn Entropy>,
    ) -> Result<SymmetricCrypter, SaltError> {
        if let Err(source) = Sealed::parse(self.check.as_str()) {
            return Err(SaltError::Damaged(source));
        }
        let crypter = SymmetricCrypter::new(&derive(passphrase, &self.salt, ITERATIONS), entropy);
        match crypter.decrypt(&self.check) {
            Ok(word) if word.expose() == CHECK => Ok(crypter),
            _ => Err(SaltError::Incorrect),
        }
    }

    /// The text, byte for byte.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The text is what an attacker needs to try passphrases.
impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salt").finish_non_exhaustive()
    }
}

/// Why a salt text does not lead to a key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SaltError {
    /// It has not three parts.
    #[error(
        "malformed state value: the salt has {found} of the three parts of `v1:salt:value`; \
         take it from a backup, or from `encryptionsalt` in the configuration of the stack"
    )]
    Parts {
        /// How many parts it has, between colons.
        found: usize,
    },
    /// The first part is not `v1`.
    #[error(
        "unknown state version: the salt does not begin with `v1:`; a newer release wrote it: open it with that"
    )]
    Version,
    /// The salt is not base64.
    #[error(
        "illegal base64 data at input byte {at} of the salt, the second part of its text; \
         take it from a backup, or from `encryptionsalt` in the configuration of the stack"
    )]
    Base64 {
        /// The byte in that part.
        at: usize,
    },
    /// The passphrase is another than the one that the salt was made for.
    #[error("incorrect passphrase")]
    Incorrect,
    /// The value that passphrases are checked with is damaged, so that no passphrase fits.
    #[error(
        "incorrect passphrase: none can be right, since the value that it is checked with is damaged; take the salt from \
         a backup, or from `encryptionsalt` in the configuration of the stack"
    )]
    Damaged(#[source] CryptError),
}

impl SaltError {
    /// Tells whether the salt can be read but not unlocked, which leaves a deployment readable but for its secrets.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Incorrect | Self::Damaged(_))
    }
}

/// PBKDF2-HMAC-SHA256.
fn derive(passphrase: &Passphrase, salt: &[u8], iterations: u32) -> Key {
    let Ok(key) = Key::filled(|bytes| {
        pbkdf2_hmac::<Sha256>(passphrase.expose(), salt, iterations, bytes);
        Ok::<(), Infallible>(())
    });
    key
}

#[cfg(test)]
mod tests {
    use super::{ITERATIONS, derive};
    use crate::sensitive::Passphrase;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn keys_are_those_of_known_vectors() {
        let salt = [0x7e, 0x8c, 0xc8, 0xe6, 0xee, 0x81, 0xd3, 0x7d];
        for (passphrase, salt, iterations, key) in [
            // The published vectors of PBKDF2-HMAC-SHA256.
            ("password", &b"salt"[..], 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
            ("password", b"salt", 4096, "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"),
            (
                "password",
                &salt,
                ITERATIONS,
                "7e700703e28b164e816cb939612c938b8dcf8f8a5237d02824cea3fb656b3a8b",
            ),
        ] {
            assert_eq!(hex(derive(&Passphrase::new(passphrase), salt, iterations).expose()), key);
        }
    }
}
