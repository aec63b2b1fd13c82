//! Why a value could not be encrypted or decrypted.

use std::fmt;

use thiserror::Error;

use groundstate_common::EntropyError;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a crypter was asked to do, in the words of its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Encrypt one value.
    Encrypt,
    /// Encrypt several values.
    BatchEncrypt,
    /// Decrypt one value.
    Decrypt,
    /// Decrypt several values.
    BatchDecrypt,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encrypt",
            Self::BatchEncrypt => "batch encrypt",
            Self::Decrypt => "decrypt",
            Self::BatchDecrypt => "batch decrypt",
        })
    }
}

/// The parts of a symmetric ciphertext that are written in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The second part, the nonce.
    Nonce,
    /// The third part, the encrypted value with its tag.
    Value,
    /// The whole text, of crypters that know no parts.
    Whole,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nonce => "the nonce, its second part",
            Self::Value => "the encrypted value, its third part",
            Self::Whole => "the ciphertext",
        })
    }
}

/// Why a value could not be encrypted or decrypted.
///
/// The texts begin with those of Pulumi, which users search for, and go on with what is wrong and what to do. None holds
/// a value, or any part of a ciphertext: what stands in the place of a ciphertext may be a secret in the clear.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CryptError {
    /// The ciphertext has not three parts.
    #[error(
        "bad value: there {} instead of the three of `v1:nonce:value`; \
         it is cut, or no ciphertext of this secrets manager: take it from a backup",
        parts(*.found)
    )]
    Parts {
        /// How many parts it has, between colons.
        found: usize,
    },
    /// The first part is not `v1`.
    #[error(
        "unknown value version: it does not begin with `v1:`; \
         a newer release or another secrets manager wrote it: open it with that"
    )]
    Version,
    /// A part is not base64.
    #[error(
        "bad value: illegal base64 data at input byte {at} of {part}; the ciphertext is damaged: take it from a backup"
    )]
    Base64 {
        /// Which part of the ciphertext.
        part: Part,
        /// The byte in that part.
        at: usize,
    },
    /// The nonce has another length than 12 bytes.
    #[error(
        "bad value: nonce size is incorrect: it has {found} bytes instead of 12; \
         the ciphertext is damaged: take it from a backup"
    )]
    NonceSize {
        /// How many bytes it has.
        found: usize,
    },
    /// The value does not belong to the key, or was changed.
    #[error(
        "cipher: message authentication failed: the value was encrypted for another stack or passphrase, or was changed; \
         open it with the secrets manager that wrote it, or take it from a backup"
    )]
    Authentication,
    /// What was decrypted is not text.
    #[error("bad value: what was decrypted is not UTF-8; it was not written as a secret of a state")]
    NotText,
    /// The value is longer than the cipher can take.
    #[error("the value is too long for AES-GCM, which takes 64 GiB; keep it outside of the state")]
    TooLong,
    /// The crypter refuses all work, and says why.
    #[error("failed to {operation}: {reason}")]
    Refused {
        /// What it was asked to do.
        operation: Operation,
        /// Why it refuses, and what to do about it.
        reason: String,
    },
    /// A crypter was used that stands where no secret is expected.
    #[error(
        "attempt to {operation} a value where no secrets manager is set; set one, or write in plaintext knowingly"
    )]
    NotExpected {
        /// What it was asked to do.
        operation: Operation,
    },
    /// One value of a batch failed, and with it the batch.
    #[error("value {} of the batch cannot be processed", .index + 1)]
    Item {
        /// Its place in the batch; the first is 0.
        index: usize,
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// A crypter gave back another number of values than it was given.
    #[error(
        "the secrets manager answered with {found} values instead of {expected}; this is a defect of it, report it"
    )]
    Count {
        /// How many were asked for.
        expected: usize,
        /// How many came back.
        found: usize,
    },
    /// The source of randomness does not answer.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// Something outside of this crate, such as a key service.
    #[error("the key service failed")]
    Other(#[source] BoxError),
}

impl CryptError {
    /// An error that something outside of this crate caused.
    pub fn other(source: impl Into<BoxError>) -> Self {
        Self::Other(source.into())
    }

    /// The place in the batch, if one value of a batch is to blame.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Item { index, .. } => Some(*index),
            _ => None,
        }
    }
}

fn parts(found: usize) -> String {
    match found {
        1 => "is 1 part".to_owned(),
        found => format!("are {found} parts"),
    }
}
