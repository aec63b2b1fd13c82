//! Crypters without a key: for nested secrets, listings, tests, and places where no secret may come by.

use base64::Engine;
use zeroize::Zeroize;

use crate::base64::{ENGINE, decode};
use crate::crypter::{Decrypter, Encrypter, each};
use crate::error::{CryptError, Operation, Part};
use crate::sensitive::{Ciphertext, Plaintext, REDACTED};

/// Leaves values as they are. Secrets inside of secrets are written with it, since the outer one is encrypted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NopCrypter;

impl Encrypter for NopCrypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        Ok(Ciphertext::new(plaintext.expose()))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        each(plaintexts, |plaintext| self.encrypt(plaintext))
    }
}

impl Decrypter for NopCrypter {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        Ok(Plaintext::new(ciphertext.as_str()))
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        each(ciphertexts, |ciphertext| self.decrypt(ciphertext))
    }
}

/// Gives the same text for every value, in both directions.
///
/// ```
/// use groundstate_pulumi_secrets::{BlindingCrypter, Ciphertext, Decrypter};
///
/// let blind = BlindingCrypter::json();
/// assert_eq!(blind.decrypt(&Ciphertext::new("v1:…"))?.expose(), "\"[secret]\"");
/// # Ok::<(), groundstate_pulumi_secrets::CryptError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlindingCrypter(&'static str);

impl BlindingCrypter {
    /// Gives the text `[secret]`, for values of configuration.
    pub fn new() -> Self {
        Self(REDACTED)
    }

    /// Gives `[secret]` as a JSON string, for values of states, which are JSON in encrypted form.
    pub fn json() -> Self {
        Self("\"[secret]\"")
    }
}

impl Default for BlindingCrypter {
    fn default() -> Self {
        Self::new()
    }
}

impl Encrypter for BlindingCrypter {
    fn encrypt(&self, _: &Plaintext) -> Result<Ciphertext, CryptError> {
        Ok(Ciphertext::new(self.0))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        each(plaintexts, |plaintext| self.encrypt(plaintext))
    }
}

impl Decrypter for BlindingCrypter {
    fn decrypt(&self, _: &Ciphertext) -> Result<Plaintext, CryptError> {
        Ok(Plaintext::new(self.0))
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        each(ciphertexts, |ciphertext| self.decrypt(ciphertext))
    }
}

/// Stands where no secret is expected, and answers each use with [`CryptError::NotExpected`].
///
/// Pulumi's crashes the program. A state that is written without a secrets manager gets this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecretsCrypter;

impl Encrypter for NoSecretsCrypter {
    fn encrypt(&self, _: &Plaintext) -> Result<Ciphertext, CryptError> {
        Err(CryptError::NotExpected { operation: Operation::Encrypt })
    }

    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        Err(CryptError::NotExpected { operation: Operation::BatchEncrypt })
    }
}

impl Decrypter for NoSecretsCrypter {
    fn decrypt(&self, _: &Ciphertext) -> Result<Plaintext, CryptError> {
        Err(CryptError::NotExpected { operation: Operation::Decrypt })
    }

    fn decrypt_batch(&self, _: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        Err(CryptError::NotExpected { operation: Operation::BatchDecrypt })
    }
}

/// Refuses all work for one reason, with [`CryptError::Refused`].
///
/// ```
/// use groundstate_pulumi_secrets::{Ciphertext, Decrypter, ErrorCrypter};
///
/// let refusing = ErrorCrypter::new("the vault is shut");
/// let error = refusing.decrypt(&Ciphertext::new("v1:…")).unwrap_err();
/// assert_eq!(error.to_string(), "failed to decrypt: the vault is shut");
/// ```
#[derive(Clone, Debug)]
pub struct ErrorCrypter(String);

impl ErrorCrypter {
    /// The reason why Pulumi refuses when a state has secrets and no manager for them.
    pub const NO_MANAGER: &str = "snapshot contains encrypted secrets but no secrets manager could be found";

    /// A crypter that refuses for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn refuse<T>(&self, operation: Operation) -> Result<T, CryptError> {
        Err(CryptError::Refused { operation, reason: self.0.clone() })
    }
}

impl Encrypter for ErrorCrypter {
    fn encrypt(&self, _: &Plaintext) -> Result<Ciphertext, CryptError> {
        self.refuse(Operation::Encrypt)
    }

    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        self.refuse(Operation::BatchEncrypt)
    }
}

impl Decrypter for ErrorCrypter {
    fn decrypt(&self, _: &Ciphertext) -> Result<Plaintext, CryptError> {
        self.refuse(Operation::Decrypt)
    }

    fn decrypt_batch(&self, _: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        self.refuse(Operation::BatchDecrypt)
    }
}

/// Writes values in base64. It hides nothing, and is for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base64Crypter;

impl Encrypter for Base64Crypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        Ok(Ciphertext::new(ENGINE.encode(plaintext.expose())))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        each(plaintexts, |plaintext| self.encrypt(plaintext))
    }
}

impl Decrypter for Base64Crypter {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        let bytes = decode(ciphertext.as_str()).map_err(|at| CryptError::Base64 { part: Part::Whole, at })?;
        plaintext(bytes)
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        each(ciphertexts, |ciphertext| self.decrypt(ciphertext))
    }
}

/// Makes text of decrypted bytes without a second copy of them.
pub(crate) fn plaintext(bytes: Vec<u8>) -> Result<Plaintext, CryptError> {
    String::from_utf8(bytes).map(Plaintext::new).map_err(|error| {
        error.into_bytes().zeroize();
        CryptError::NotText
    })
}
