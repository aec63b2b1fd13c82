//! AWS KMS.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use groundstate_blobs_cloud::{AwsIdentity, AwsSettings, Reply};
use serde::Deserialize;
use tracing::warn;

use crate::cloud::{failed, refused};
use crate::context::KeyContext;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DataKey, WrappedKey};
use crate::message::{Body, SecretText, read, words};
use crate::op::Op;
use crate::retry::{ATTEMPTS, retried};
use crate::service::KeyService;

/// A key of AWS KMS: by its id, ARN, alias (`alias/NAME`) or the ARN of an alias.
///
/// Unwrapping names no key, since the ciphertext does: a state stays open when an alias moves to another key. [`pinned`](Self::pinned)
/// names it nevertheless.
#[derive(Clone)]
pub struct AwsKms {
    identity: AwsIdentity,
    key: String,
    encryption_context: BTreeMap<String, String>,
    is_pinned: bool,
    attempts: u32,
    context: KeyContext,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Encrypt,
    Decrypt,
    GenerateDataKey,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    plaintext: Option<SecretText>,
    ciphertext_blob: Option<SecretText>,
    key_id: Option<String>,
}

#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(rename = "__type", default)]
    code: String,
    #[serde(alias = "Message", default)]
    message: String,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "Encrypt",
            Self::Decrypt => "Decrypt",
            Self::GenerateDataKey => "GenerateDataKey",
        }
    }

    fn op(self) -> Op {
        match self {
            Self::Encrypt => Op::Wrap,
            Self::Decrypt => Op::Unwrap,
            Self::GenerateDataKey => Op::Generate,
        }
    }
}

impl AwsKms {
    /// A key with these settings. Nothing is sent yet; files of profiles and certificates are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, and for a key without a name.
    pub fn open(settings: &AwsSettings, key: &str, context: &KeyContext) -> Result<Self> {
        let identity = AwsIdentity::open(settings, &context.of_blobs()).map_err(refused)?;
        let wrong = |why: &str| Error::new(ErrorKind::Invalid, Op::Use, "the key of AWS KMS").because(why);
        if key.is_empty() {
            return Err(wrong("it has no name").next_step("name its id, its ARN or its alias"));
        }
        if !key.chars().all(|c| c.is_ascii_graphic()) {
            return Err(wrong("its name has characters that no id, ARN or alias has"));
        }
        let attempts = match settings.get("max_retries").map(str::parse) {
            None | Some(Ok(0)) => ATTEMPTS,
            Some(Ok(attempts)) => attempts,
            Some(Err(_)) => {
                return Err(
                    Error::new(ErrorKind::Invalid, Op::Use, "`max_retries`").because("it is not a number")
                );
            }
        };
        let (encryption_context, is_pinned) = (BTreeMap::new(), false);
        Ok(Self {
            identity,
            key: key.to_owned(),
            encryption_context,
            is_pinned,
            attempts,
            context: context.clone(),
        })
    }

    /// The same key with this encryption context, which has to be the same for wrapping and unwrapping.
    #[must_use]
    pub fn encryption_context(&self, context: BTreeMap<String, String>) -> Self {
        Self { encryption_context: context, ..self.clone() }
    }

    /// Sets whether unwrapping names the key, so that what another key wrapped is refused.
    #[must_use]
    pub fn pinned(mut self, yes: bool) -> Self {
        self.is_pinned = yes;
        self
    }

    /// The region of the key.
    pub fn region(&self) -> &str {
        self.identity.region()
    }

    /// What a user should know of the settings, one line each.
    pub fn warnings(&self) -> &[String] {
        self.identity.warnings()
    }

    fn context_of(&self, body: Body) -> Body {
        match self.encryption_context.is_empty() {
            true => body,
            false => {
                let members = self.encryption_context.iter();
                let members = members.map(|(name, value)| (name.clone(), value.as_str().into()));
                body.json("EncryptionContext", &serde_json::Value::Object(members.collect()))
            }
        }
    }

    async fn call(&self, action: Action, body: Bytes) -> Result<Answer> {
        retried(&self.context, self.attempts, || self.once(action, body.clone())).await
    }

    async fn once(&self, action: Action, body: Bytes) -> Result<Answer> {
        let (op, place) = (action.op(), self.to_string());
        let request = http::Request::post(format!("{}/", self.identity.kms_endpoint()))
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("TrentService.{}", action.name()))
            .body(body)
            .map_err(|error| Error::new(ErrorKind::Invalid, op, &place).with_source(error))?;
        let reply =
            self.identity.send("kms", &place, request).await.map_err(|error| failed(op, &place, error))?;
        if !reply.is_success() {
            return Err(self.refusal(action, &reply));
        }
        read(reply.body).ok_or_else(|| self.unexpected(op))
    }

    fn unexpected(&self, op: Op) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, self);
        error
            .because("the answer is not that of AWS KMS")
            .next_step("check the variables AWS_ENDPOINT_URL_KMS and AWS_ENDPOINT_URL, and the proxy")
    }

    fn refusal(&self, action: Action, reply: &Reply) -> Error {
        let refusal: Refusal = serde_json::from_slice(&reply.body).unwrap_or_default();
        let code = refusal.code.rsplit('#').next().unwrap_or_default();
        let (kind, step) = classify(code, reply.status, &refusal.message, action);
        let mut why = kind.summary().to_owned();
        match (code, reply.status) {
            ("", status) => why.push_str(&format!(" (status {status})")),
            (code, _) => why.push_str(&format!(" ({})", words(code))),
        }
        if !refusal.message.is_empty() {
            why.push_str(&format!(": {}", words(&refusal.message)));
        }
        let error = Error::new(kind, action.op(), self).because(why).with_retry_after(reply.retry_after());
        match step {
            Some(step) => error.next_step(step),
            None => error,
        }
    }

    fn wrapped(&self, op: Op, answer: &Answer) -> Result<WrappedKey> {
        let blob = answer.ciphertext_blob.as_ref().and_then(|text| text.decode(&BASE64_STANDARD));
        let blob = blob.filter(|blob| !blob.is_empty()).ok_or_else(|| self.unexpected(op))?;
        Ok(WrappedKey::new(blob.to_vec()).wrapped_by(answer.key_id.clone()))
    }

    fn plain(&self, op: Op, answer: &Answer) -> Result<DataKey> {
        let bytes = answer.plaintext.as_ref().and_then(|text| text.decode(&BASE64_STANDARD));
        bytes.map(DataKey::new).ok_or_else(|| self.unexpected(op))
    }
}

/// What a refusal means, and what to do about it.
fn classify(code: &str, status: u16, message: &str, action: Action) -> (ErrorKind, Option<String>) {
    let step = |text: &str| Some(text.to_owned());
    match code {
        "ThrottlingException" | "LimitExceededException" | "TooManyRequestsException" | "Throttling" => {
            (ErrorKind::Throttled, None)
        }
        "KMSInternalException" | "KeyUnavailableException" | "DependencyTimeoutException" => {
            (ErrorKind::Unavailable, None)
        }
        "DisabledException" => (ErrorKind::KeyDisabled, step("enable it with `aws kms enable-key`")),
        "KMSInvalidStateException" if message.to_ascii_lowercase().contains("pending") => {
            (ErrorKind::KeyPendingDeletion, step("keep it with `aws kms cancel-key-deletion`"))
        }
        "KMSInvalidStateException" => {
            (ErrorKind::KeyDisabled, step("look at its state with `aws kms describe-key`"))
        }
        "NotFoundException" if action == Action::Decrypt => {
            (ErrorKind::KeyGone, step("check the region, and whether the key was deleted"))
        }
        "NotFoundException" => {
            (ErrorKind::NotFound, step("check the region and the name of the key, or create it"))
        }
        "AccessDeniedException" => {
            let right = action.name();
            (ErrorKind::Denied, Some(format!("allow these credentials kms:{right} on the key")))
        }
        "IncorrectKeyException" => (ErrorKind::WrongKey, step("name the key that wrapped it")),
        "InvalidCiphertextException" => (
            ErrorKind::BadCiphertext,
            step("check the region and the encryption context, or bring back a backup"),
        ),
        // KMS has one code for both, and `object_store` signs by a clock of its own, with which no `Date` of an answer can be compared.
        "InvalidSignatureException" if message.contains("expired") || message.contains("not yet current") => {
            (ErrorKind::ClockSkew, step("set the clock of this machine"))
        }
        "ExpiredTokenException" | "ExpiredToken" => {
            (ErrorKind::Unauthenticated, step("get new credentials, these have expired"))
        }
        "UnrecognizedClientException"
        | "MissingAuthenticationTokenException"
        | "IncompleteSignatureException"
        | "InvalidSignatureException"
        | "SignatureDoesNotMatch" => {
            (ErrorKind::Unauthenticated, step("correct the access key and the secret key"))
        }
        "InvalidKeyUsageException" => {
            (ErrorKind::Invalid, step("use a symmetric key for encryption and decryption"))
        }
        "ValidationException" | "InvalidArnException" | "InvalidGrantTokenException" => {
            (ErrorKind::Invalid, step("correct the name of the key and its region"))
        }
        _ if status == 429 => (ErrorKind::Throttled, None),
        _ if status == 501 => (ErrorKind::Unsupported, None),
        _ if status >= 500 => (ErrorKind::Unavailable, None),
        _ if status == 403 => (ErrorKind::Denied, None),
        _ => (ErrorKind::Invalid, None),
    }
}

#[async_trait]
impl KeyService for AwsKms {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        let body = self.context_of(Body::new()).text("KeyId", &self.key);
        let body = body.base64("Plaintext", &BASE64_STANDARD, key.expose()).finish();
        let answer = self.call(Action::Encrypt, body).await?;
        self.wrapped(Op::Wrap, &answer)
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        let body = Body::new().base64("CiphertextBlob", &BASE64_STANDARD, &wrapped.ciphertext);
        let mut body = self.context_of(body);
        if self.is_pinned {
            body = body.text("KeyId", &self.key);
        }
        let answer = self.call(Action::Decrypt, body.finish()).await?;
        let found = answer.key_id.as_deref().unwrap_or_default();
        if self.key.starts_with("arn:") && self.key.contains(":key/") && found != self.key {
            warn!(configured = self.key, found, "another key than the configured one wrapped this");
        }
        self.plain(Op::Unwrap, &answer)
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        let body = self.context_of(Body::new()).text("KeyId", &self.key);
        let body = match length {
            32 => body.text("KeySpec", "AES_256"),
            16 => body.text("KeySpec", "AES_128"),
            1..=1024 => body.json("NumberOfBytes", &length.into()),
            _ => {
                let error = Error::new(ErrorKind::Invalid, Op::Generate, self);
                return Err(error.because(format!("a key has 1 to 1024 bytes, not {length}")));
            }
        };
        let answer = self.call(Action::GenerateDataKey, body.finish()).await?;
        let (key, wrapped) = (self.plain(Op::Generate, &answer)?, self.wrapped(Op::Generate, &answer)?);
        if key.len() != length {
            let why = format!("the service made a key of {} bytes in place of {length}", key.len());
            return Err(Error::new(ErrorKind::Corrupt, Op::Generate, self).because(why));
        }
        Ok((key, wrapped))
    }
}

impl fmt::Display for AwsKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {} of AWS KMS in {}", self.key, self.region())
    }
}

impl fmt::Debug for AwsKms {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsKms")
            .field("key", &self.key)
            .field("region", &self.region())
            .finish_non_exhaustive()
    }
}
