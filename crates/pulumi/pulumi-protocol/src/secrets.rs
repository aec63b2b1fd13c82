//! The secrets service: values in base64, plaintexts zeroed when they are dropped.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_pulumi_secrets::{REDACTED, decode_base64};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::lenient::or_default;

/// Bytes to encrypt, or that were decrypted: base64 in documents, redacted in `Debug`, zeroed when they are dropped.
///
/// ```
/// use groundstate_pulumi_protocol::{EncryptValue, PlainBytes, decode};
///
/// let request: EncryptValue = decode(br#"{"plaintext":"aHVudGVyMg=="}"#)?;
/// assert_eq!(request.plaintext.expose(), b"hunter2");
/// assert_eq!(format!("{:?}", request.plaintext), "PlainBytes([secret])");
/// # Ok::<(), groundstate_pulumi_protocol::DocumentError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PlainBytes(Zeroizing<Vec<u8>>);

impl PlainBytes {
    /// A secret of these bytes. A `Vec` is moved in, not copied.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The bytes. A caller who copies them has to zero the copy.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PlainBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainBytes({REDACTED})")
    }
}

/// Bytes that were encrypted: base64 in documents, and not shown in `Debug`.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CipherBytes(Vec<u8>);

impl CipherBytes {
    /// A ciphertext of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for CipherBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CipherBytes({} bytes)", self.0.len())
    }
}

/// Reads base64 as Go does, from a text that need not be copied. No error quotes it.
struct Base64Visitor;

impl Visitor<'_> for Base64Visitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard base64 with padding")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        decode_base64(text).map_err(|at| E::custom(format_args!("illegal base64 data at byte {at}")))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Vec<u8>, E> {
        self.visit_str(&Zeroizing::new(text))
    }
}

impl<'de> Deserialize<'de> for PlainBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64Visitor).map(Self::new)
    }
}

impl<'de> Deserialize<'de> for CipherBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64Visitor).map(Self)
    }
}

impl Serialize for PlainBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(BASE64_STANDARD.encode(&*self.0)))
    }
}

impl Serialize for CipherBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

/// The body of `POST …/encrypt`, and the answer of `POST …/decrypt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptValue {
    /// The bytes.
    #[serde(default, deserialize_with = "or_default")]
    pub plaintext: PlainBytes,
}

/// The answer of `POST …/decrypt`.
pub type DecryptedValue = EncryptValue;

/// The body of `POST …/decrypt`, and the answer of `POST …/encrypt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecryptValue {
    /// The bytes.
    #[serde(default, deserialize_with = "or_default")]
    pub ciphertext: CipherBytes,
}

/// The answer of `POST …/encrypt`.
pub type EncryptedValue = DecryptValue;

/// The body of `POST …/batch-encrypt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchEncrypt {
    /// The values.
    #[serde(default, deserialize_with = "or_default")]
    pub plaintexts: Vec<PlainBytes>,
}

/// The answer of `POST …/batch-encrypt`, and the body of `POST …/batch-decrypt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchDecrypt {
    /// The ciphertexts. An answer has as many as the request has values, in the same order.
    #[serde(default, deserialize_with = "or_default")]
    pub ciphertexts: Vec<CipherBytes>,
}

/// The answer of `POST …/batch-encrypt`.
pub type BatchEncrypted = BatchDecrypt;

/// The answer of `POST …/batch-decrypt`. The CLI panics if a ciphertext of its request is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchDecrypted {
    /// The values by their ciphertexts; equal ciphertexts of the request have one value.
    #[serde(default, deserialize_with = "or_default")]
    pub plaintexts: BTreeMap<CipherBytes, PlainBytes>,
}

/// The body of `POST …/decrypt/log-decryption`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogDecryption {
    /// Which value of the configuration was shown.
    #[serde(default, deserialize_with = "or_default")]
    pub secret_name: String,
}

/// The body of `POST …/decrypt/log-batch-decryption`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatchDecryption {
    /// Which command showed values.
    #[serde(default, deserialize_with = "or_default")]
    pub command_name: String,
}
