//! Google Cloud KMS, by its REST interface: the same keys and ciphertexts as by gRPC.

use std::fmt;

use async_trait::async_trait;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use crc::{CRC_32_ISCSI, Crc};
use groundstate_blobs_cloud::{GcpIdentity, GcpSettings, Reply};
use serde::{Deserialize, Deserializer};

use crate::cloud::{failed, refused};
use crate::context::KeyContext;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DataKey, WrappedKey};
use crate::message::{Body, SecretText, read, words};
use crate::op::Op;
use crate::retry::{ATTEMPTS, retried};
use crate::service::{KeyService, random_key};

/// The longest plaintext, and the longest associated data.
const LONGEST: usize = 64 << 10;
/// The parts of a key's name, each followed by a name.
const PARTS: [&str; 4] = ["projects", "locations", "keyRings", "cryptoKeys"];

/// A key of Google Cloud KMS, `projects/P/locations/L/keyRings/R/cryptoKeys/K`.
#[derive(Clone)]
pub struct GcpKms {
    identity: GcpIdentity,
    /// The name, with a version of the key where wrapping is to use that one.
    name: String,
    /// The name without a version, which the ciphertext names itself.
    key: String,
    associated_data: Vec<u8>,
    context: KeyContext,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wrapped {
    #[serde(default)]
    name: Option<String>,
    ciphertext: SecretText,
    ciphertext_crc32c: Option<Checksum>,
    #[serde(default)]
    verified_plaintext_crc32c: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unwrapped {
    plaintext: SecretText,
    plaintext_crc32c: Option<Checksum>,
}

/// A checksum, which JSON has as a decimal text.
struct Checksum(u32);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    error: Cause,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cause {
    message: String,
    status: String,
    details: Vec<serde_json::Value>,
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u32),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self(number)),
            Written::Text(text) => text.parse().map(Self).map_err(serde::de::Error::custom),
        }
    }
}

impl GcpKms {
    /// A key with these settings. Nothing is sent yet; files of credentials are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, and for a name that is not one of a key.
    pub fn open(settings: &GcpSettings, name: &str, context: &KeyContext) -> Result<Self> {
        let name = name.trim_matches('/');
        let key = key_of(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Invalid, Op::Use, "the key of Google Cloud KMS");
            let error = error.because(format!("{:?} is not the name of a key", words(name)));
            error.next_step("write it as projects/P/locations/L/keyRings/R/cryptoKeys/K")
        })?;
        let identity = GcpIdentity::open(settings).map_err(refused)?;
        let (name, key) = (name.to_owned(), key.to_owned());
        Ok(Self { identity, name, key, associated_data: Vec::new(), context: context.clone() })
    }

    /// The same key with this associated data, which has to be the same for wrapping and unwrapping.
    ///
    /// # Errors
    ///
    /// `Invalid` for more than 64 KiB.
    pub fn associated_data(&self, bytes: &[u8]) -> Result<Self> {
        if bytes.len() > LONGEST {
            let why =
                format!("the associated data has {} bytes, and at most {LONGEST} can be sent", bytes.len());
            return Err(Error::new(ErrorKind::Invalid, Op::Use, self).because(why));
        }
        Ok(Self { associated_data: bytes.to_vec(), ..self.clone() })
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        self.identity.warnings()
    }

    fn body(&self, name: &str, bytes: &[u8]) -> Bytes {
        let mut body = Body::new();
        if !self.associated_data.is_empty() {
            body = body.base64("additionalAuthenticatedData", &BASE64_STANDARD, &self.associated_data);
        }
        let body = body.base64(name, &BASE64_STANDARD, bytes);
        body.text(&format!("{name}Crc32c"), &crc32c(bytes).to_string()).finish()
    }

    async fn once(&self, op: Op, body: Bytes) -> Result<Bytes> {
        let place = self.to_string();
        let (name, verb) = match op {
            Op::Unwrap => (&self.key, "decrypt"),
            _ => (&self.name, "encrypt"),
        };
        let request = http::Request::post(format!("{}/v1/{name}:{verb}", self.identity.kms_endpoint()))
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(body)
            .map_err(|error| Error::new(ErrorKind::Invalid, op, &place).with_source(error))?;
        let reply = self.identity.send(&place, request).await.map_err(|error| failed(op, &place, error))?;
        if reply.is_success() { Ok(reply.body) } else { Err(self.refusal(op, &reply)) }
    }

    async fn encrypt(&self, op: Op, key: &DataKey) -> Result<WrappedKey> {
        if !(1..=LONGEST).contains(&key.len()) {
            let why = format!("1 to {LONGEST} bytes can be wrapped, not {}", key.len());
            return Err(Error::new(ErrorKind::Invalid, op, self).because(why));
        }
        let body = self.body("plaintext", key.expose());
        retried(&self.context, ATTEMPTS, || async {
            let answer: Wrapped =
                read(self.once(op, body.clone()).await?).ok_or_else(|| self.unexpected(op))?;
            let ciphertext = answer.ciphertext.decode(&BASE64_STANDARD).ok_or_else(|| self.unexpected(op))?;
            let is_whole = answer.ciphertext_crc32c.is_some_and(|sum| sum.0 == crc32c(&ciphertext));
            if !answer.verified_plaintext_crc32c || !is_whole {
                return Err(self.damaged(op));
            }
            Ok(WrappedKey::new(ciphertext.to_vec()).wrapped_by(answer.name))
        })
        .await
        .map_err(no_longer_transient)
    }

    fn unexpected(&self, op: Op) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, self);
        error
            .because("the answer is not that of Google Cloud KMS")
            .next_step("check the variable GOOGLE_KMS_CUSTOM_ENDPOINT, and the proxy")
    }

    /// A checksum that is missing or wrong; the next answer may be whole.
    fn damaged(&self, op: Op) -> Error {
        let error = Error::new(ErrorKind::Unavailable, op, self).with_source(Damaged);
        error
            .because("the checksum of the answer is missing or wrong")
            .next_step("look at what is on the way")
    }

    fn refusal(&self, op: Op, reply: &Reply) -> Error {
        let refusal: Refusal = serde_json::from_slice(&reply.body).unwrap_or_default();
        let Cause { message, status, details } = refusal.error;
        let is_off = details.iter().any(|detail| detail["reason"] == "SERVICE_DISABLED");
        let (kind, step) = classify((&status, reply.status), &message, op, is_off);
        let mut why = kind.summary().to_owned();
        match status.as_str() {
            "" => why.push_str(&format!(" (status {})", reply.status)),
            status => why.push_str(&format!(" ({})", words(status))),
        }
        if !message.is_empty() {
            why.push_str(&format!(": {}", words(&message)));
        }
        let error = Error::new(kind, op, self).because(why).with_retry_after(reply.retry_after());
        match step {
            Some(step) => error.next_step(step),
            None => error,
        }
    }
}

/// That an answer was damaged on its way.
#[derive(Debug)]
struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer was damaged on its way")
    }
}

impl std::error::Error for Damaged {}

/// What was damaged in every attempt is damaged.
fn no_longer_transient(error: Error) -> Error {
    let is_damaged = std::error::Error::source(&error).is_some_and(|source| source.is::<Damaged>());
    if !is_damaged {
        return error;
    }
    let corrupt = Error::new(ErrorKind::Corrupt, error.op(), error.target()).because(error.message());
    match error.step().map(str::to_owned) {
        Some(step) => corrupt.next_step(step),
        None => corrupt,
    }
}

/// The name of the key without a version, if it is the name of one.
fn key_of(name: &str) -> Option<&str> {
    let parts: Vec<&str> = name.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && !matches!(*part, "." | "..")
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    let fits = |pairs: &[&str], words: &[&str]| {
        pairs.len() == words.len() * 2
            && pairs.chunks(2).zip(words).all(|(pair, word)| pair.first() == Some(word))
            && pairs.iter().all(is_name)
    };
    if fits(&parts, &PARTS) {
        return Some(name);
    }
    let (key, version) = parts.split_at_checked(PARTS.len() * 2)?;
    let is_versioned = fits(key, &PARTS) && fits(version, &["cryptoKeyVersions"]);
    is_versioned.then(|| name.split_once("/cryptoKeyVersions/").map(|(key, _)| key)).flatten()
}

/// What a refusal means, and what to do about it.
fn classify((status, code): (&str, u16), message: &str, op: Op, is_off: bool) -> (ErrorKind, Option<String>) {
    let step = |text: &str| Some(text.to_owned());
    let (is_unwrap, state) = (op == Op::Unwrap, message.to_ascii_uppercase());
    match (status, code) {
        ("PERMISSION_DENIED", _) if is_off => {
            (ErrorKind::Invalid, step("enable it with `gcloud services enable cloudkms.googleapis.com`"))
        }
        ("PERMISSION_DENIED", _) | ("", 403) => {
            let right = if is_unwrap { "useToDecrypt" } else { "useToEncrypt" };
            let text = format!(
                "allow these credentials cloudkms.cryptoKeyVersions.{right} on the key, which may also not exist"
            );
            (ErrorKind::Denied, Some(text))
        }
        ("UNAUTHENTICATED", _) | ("", 401) => {
            (ErrorKind::Unauthenticated, step("get new credentials: `gcloud auth application-default login`"))
        }
        ("NOT_FOUND", _) | ("", 404) if is_unwrap => (ErrorKind::KeyGone, step("check the name of the key")),
        ("NOT_FOUND", _) | ("", 404) => {
            (ErrorKind::NotFound, step("check the name of the key, or create it"))
        }
        ("FAILED_PRECONDITION", _) if state.contains("DESTROY_SCHEDULED") => {
            (ErrorKind::KeyPendingDeletion, step("keep its version with `gcloud kms keys versions restore`"))
        }
        ("FAILED_PRECONDITION", _) if state.contains("DESTROYED") => (ErrorKind::KeyGone, None),
        ("FAILED_PRECONDITION", _) => {
            (ErrorKind::KeyDisabled, step("enable its version with `gcloud kms keys versions enable`"))
        }
        ("INVALID_ARGUMENT", _) if is_unwrap => (
            ErrorKind::BadCiphertext,
            step(
                "check the name of the key and `additional_authenticated_data`, which has to be that of the time of wrapping",
            ),
        ),
        ("RESOURCE_EXHAUSTED", _) | ("", 429) => (ErrorKind::Throttled, None),
        ("UNAVAILABLE" | "DEADLINE_EXCEEDED" | "INTERNAL" | "ABORTED", _) => (ErrorKind::Unavailable, None),
        (_, 501) => (ErrorKind::Unsupported, None),
        (_, 500..) => (ErrorKind::Unavailable, None),
        _ => (ErrorKind::Invalid, step("check the name of the key")),
    }
}

/// The checksum of Castagnoli.
fn crc32c(bytes: &[u8]) -> u32 {
    const CASTAGNOLI: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
    CASTAGNOLI.checksum(bytes)
}

#[async_trait]
impl KeyService for GcpKms {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        self.encrypt(Op::Wrap, key).await
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        const OP: Op = Op::Unwrap;
        let body = self.body("ciphertext", &wrapped.ciphertext);
        retried(&self.context, ATTEMPTS, || async {
            let answer: Unwrapped =
                read(self.once(OP, body.clone()).await?).ok_or_else(|| self.unexpected(OP))?;
            let plaintext = answer.plaintext.decode(&BASE64_STANDARD).ok_or_else(|| self.unexpected(OP))?;
            match answer.plaintext_crc32c {
                Some(sum) if sum.0 == crc32c(&plaintext) => Ok(DataKey::new(plaintext)),
                _ => Err(self.damaged(OP)),
            }
        })
        .await
        .map_err(no_longer_transient)
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        let key = random_key(&self.context, length, self)?;
        let wrapped = self.encrypt(Op::Generate, &key).await?;
        Ok((key, wrapped))
    }
}

impl fmt::Display for GcpKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {} of Google Cloud KMS", self.name)
    }
}

impl fmt::Debug for GcpKms {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcpKms").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{crc32c, key_of};

    #[test]
    fn the_checksum_is_that_of_castagnoli() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn names_of_keys_have_four_parts_and_may_have_a_version() {
        const KEY: &str = "projects/p/locations/global/keyRings/r/cryptoKeys/k";
        let versioned = format!("{KEY}/cryptoKeyVersions/3");
        for (name, key) in [
            (KEY, Some(KEY)),
            (versioned.as_str(), Some(KEY)),
            ("projects/p/locations/global/keyRings/r/cryptoKeys/", None),
            ("projects/p/locations/global/keyRings/r/cryptoKeys/..", None),
            ("projects/p/locations/global/keyRings/r/cryptoKeys/k?x", None),
            ("projects/p/locations/global/keyRings/r", None),
            ("p/k", None),
            ("", None),
        ] {
            assert_eq!(key_of(name), key, "{name}");
        }
    }
}
