//! Azure Key Vault, and managed HSM.

mod challenge;
mod error;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use groundstate_blobs_cloud::{AzureIdentity, AzureIdentitySettings, Reply};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::cloud::{failed, refused};
use crate::context::KeyContext;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DataKey, WrappedKey};
use crate::message::{Body, SecretText, read, words};
use crate::op::Op;
use crate::retry::{ATTEMPTS, retried};
use crate::service::{KeyService, random_key};
use challenge::{Audience, audience_of_host, challenged};

/// The version of the interface.
const VERSION: &str = "7.6";
/// The algorithm unless another is named.
const ALGORITHM: &str = "RSA-OAEP-256";
/// More versions of a key are not tried.
const MOST_VERSIONS: usize = 100;

/// A key of Azure Key Vault or of a managed HSM.
///
/// Without a version, wrapping uses the current one. Unwrapping uses the version of the wrapped key, then that of this key; without
/// either, it tries the current version and then every other enabled one, the newest first, since a ciphertext does not name its
/// version.
pub struct AzureKeyVault {
    identity: AzureIdentity,
    /// The address of the vault, without a slash at its end.
    vault: String,
    host: String,
    name: String,
    version: Option<String>,
    algorithm: String,
    context: KeyContext,
    /// Whom tokens are for, once that is known.
    audience: Mutex<Option<Audience>>,
}

#[derive(Deserialize)]
struct Answer {
    kid: Option<String>,
    value: SecretText,
    iv: Option<SecretText>,
    tag: Option<SecretText>,
    aad: Option<SecretText>,
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    value: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    kid: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attributes {
    enabled: bool,
    created: i64,
}

impl AzureKeyVault {
    /// A key of the vault at this address, such as `https://NAME.vault.azure.net`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, for an address that is not one of a vault,
    /// and for a name that is not one of a key.
    pub fn open(
        settings: &AzureIdentitySettings,
        vault: &str,
        name: &str,
        context: &KeyContext,
    ) -> Result<Self> {
        let wrong =
            |why: String| Error::new(ErrorKind::Invalid, Op::Use, "the key of Azure Key Vault").because(why);
        let address = || wrong(format!("{:?} is not the address of a vault", words(vault)));
        let uri: http::Uri = vault.trim_end_matches('/').parse().map_err(|_| address())?;
        let host = uri.host().ok_or_else(address)?.to_owned();
        let is_fine = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => challenge::is_loopback(&host),
            _ => false,
        };
        if !is_fine
            || uri.query().is_some()
            || uri.authority().is_some_and(|part| part.as_str().contains('@'))
        {
            return Err(address().next_step("write it as https://NAME.vault.azure.net"));
        }
        let is_name = |text: &str, most: usize| {
            (1..=most).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if !is_name(name, 127) {
            let error = wrong(format!("{:?} is not the name of a key", words(name)));
            return Err(error.next_step("a name has 1 to 127 letters, digits and hyphens"));
        }
        Ok(Self {
            identity: AzureIdentity::open(settings).map_err(refused)?,
            vault: vault.trim_end_matches('/').to_owned(),
            audience: Mutex::new(audience_of_host(&host)),
            host,
            name: name.to_owned(),
            version: None,
            algorithm: ALGORITHM.to_owned(),
            context: context.clone(),
        })
    }

    /// Sets the version of the key, which wrapping uses too.
    #[must_use]
    pub fn version(mut self, version: Option<String>) -> Self {
        self.version = version;
        self
    }

    /// Sets the algorithm: `RSA-OAEP-256` (the default), `RSA-OAEP`, `RSA1_5`, `A128GCM`, `A192GCM` or `A256GCM`.
    ///
    /// # Errors
    ///
    /// `Invalid` for any other.
    pub fn algorithm(mut self, algorithm: &str) -> Result<Self> {
        const KNOWN: [&str; 6] = [ALGORITHM, "RSA-OAEP", "RSA1_5", "A128GCM", "A192GCM", "A256GCM"];
        if !KNOWN.contains(&algorithm) {
            let why = format!("{:?} is no algorithm that wraps keys", words(algorithm));
            let error = Error::new(ErrorKind::Invalid, Op::Use, &self).because(why);
            return Err(error.next_step(format!("use one of {}", KNOWN.join(", "))));
        }
        algorithm.clone_into(&mut self.algorithm);
        Ok(self)
    }

    /// The longest key that the algorithm can wrap, with the longest key of a vault.
    fn longest(&self) -> usize {
        match self.algorithm.as_str() {
            "RSA-OAEP-256" => 446,
            "RSA-OAEP" => 470,
            "RSA1_5" => 501,
            _ => 1024,
        }
    }

    async fn encrypt(&self, op: Op, key: &DataKey) -> Result<WrappedKey> {
        if key.len() > self.longest() {
            let (algorithm, longest) = (&self.algorithm, self.longest());
            let why = format!("{algorithm} wraps at most {longest} bytes, not {}", key.len());
            return Err(Error::new(ErrorKind::Invalid, op, self).because(why));
        }
        let body = Body::new().text("alg", &self.algorithm);
        let body = body.base64("value", &BASE64_URL_SAFE_NO_PAD, key.expose()).finish();
        let answer = self.call(op, self.version.as_deref(), "encrypt", body).await?;
        let bytes = |text: &SecretText| text.decode(&BASE64_URL_SAFE_NO_PAD).map(|bytes| bytes.to_vec());
        let ciphertext = bytes(&answer.value).ok_or_else(|| self.unexpected(op))?;
        let optional = |text: &Option<SecretText>| match text {
            None => Ok(None),
            Some(text) => bytes(text).map(Some).ok_or_else(|| self.unexpected(op)),
        };
        let version = answer.kid.as_deref().and_then(version_of).map(str::to_owned);
        Ok(WrappedKey::new(ciphertext)
            .wrapped_by(answer.kid.clone())
            .key_version(version)
            .algorithm(Some(self.algorithm.clone()))
            .symmetric(optional(&answer.iv)?, optional(&answer.tag)?, optional(&answer.aad)?))
    }

    async fn decrypt(&self, version: Option<&str>, wrapped: &WrappedKey) -> Result<DataKey> {
        let mut body = Body::new();
        let optional = |body: Body, name, bytes: &Option<Vec<u8>>| match bytes.as_deref() {
            None | Some([]) => body,
            Some(bytes) => body.base64(name, &BASE64_URL_SAFE_NO_PAD, bytes),
        };
        let algorithm = wrapped.algorithm.as_deref().filter(|text| !text.is_empty());
        body = optional(body, "aad", &wrapped.associated_data);
        body = body.text("alg", algorithm.unwrap_or(&self.algorithm));
        body = optional(body, "iv", &wrapped.iv);
        body = optional(body, "tag", &wrapped.tag);
        let body = body.base64("value", &BASE64_URL_SAFE_NO_PAD, &wrapped.ciphertext).finish();
        let answer = self.call(Op::Unwrap, version, "decrypt", body).await?;
        let bytes = answer.value.decode(&BASE64_URL_SAFE_NO_PAD);
        bytes.map(DataKey::new).ok_or_else(|| self.unexpected(Op::Unwrap))
    }

    /// The enabled versions, the newest first.
    async fn versions(&self) -> Result<Vec<String>> {
        let path = format!("/keys/{}/versions?api-version={VERSION}", self.name);
        let body =
            retried(&self.context, ATTEMPTS, || self.once(Op::Look, "GET", &path, Bytes::new())).await?;
        let listed: Versions = read(body).ok_or_else(|| self.unexpected(Op::Look))?;
        let mut versions = listed.value;
        versions.retain(|version| version.attributes.enabled);
        versions.sort_by_key(|version| std::cmp::Reverse(version.attributes.created));
        let names = versions.iter().filter_map(|version| version_of(&version.kid)).take(MOST_VERSIONS);
        Ok(names.map(str::to_owned).collect())
    }

    async fn call(&self, op: Op, version: Option<&str>, verb: &str, body: Bytes) -> Result<Answer> {
        let part = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let version = version.map(|text| format!("/{}", part(text))).unwrap_or_default();
        let path = format!("/keys/{}{version}/{verb}?api-version={VERSION}", self.name);
        let body = retried(&self.context, ATTEMPTS, || self.once(op, "POST", &path, body.clone())).await?;
        read(body).ok_or_else(|| self.unexpected(op))
    }

    async fn once(&self, op: Op, method: &str, path: &str, body: Bytes) -> Result<Bytes> {
        let known = self.audience.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let audience = match known {
            Some(audience) => audience,
            // A host of which nothing is known says whom tokens are for before it gets one.
            None => {
                let reply = self.send(op, None, method, path, Bytes::new()).await?;
                self.learn(op, &reply)?
            }
        };
        let reply = self.send(op, Some(&audience), method, path, body.clone()).await?;
        if reply.is_success() {
            return Ok(reply.body);
        }
        if reply.status != 401 || reply.header("www-authenticate").is_none() {
            return Err(error::refusal(self, op, &reply));
        }
        let asked = self.learn(op, &reply)?;
        if asked == audience {
            return Err(error::refusal(self, op, &reply));
        }
        let reply = self.send(op, Some(&asked), method, path, body).await?;
        if reply.is_success() { Ok(reply.body) } else { Err(error::refusal(self, op, &reply)) }
    }

    /// Takes from a challenge whom tokens are for.
    fn learn(&self, op: Op, reply: &Reply) -> Result<Audience> {
        let header = reply.header("www-authenticate").filter(|_| reply.status == 401);
        let header = header.ok_or_else(|| self.unexpected(op))?;
        let audience = challenged(header, &self.host).map_err(|why| {
            Error::new(ErrorKind::Unauthenticated, op, self)
                .because(why)
                .next_step("check the address of the vault")
        })?;
        *self.audience.lock().unwrap_or_else(PoisonError::into_inner) = Some(audience.clone());
        Ok(audience)
    }

    async fn send(
        &self,
        op: Op,
        audience: Option<&Audience>,
        method: &str,
        path: &str,
        body: Bytes,
    ) -> Result<Reply> {
        let place = self.to_string();
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.vault))
            .header("accept", "application/json");
        let request =
            if method == "POST" { request.header("content-type", "application/json") } else { request };
        let request = request
            .body(body)
            .map_err(|error| Error::new(ErrorKind::Invalid, op, &place).with_source(error))?;
        let audience = audience.map(|audience| (audience.resource.as_str(), audience.tenant.as_deref()));
        self.identity.send(audience, &place, request).await.map_err(|error| failed(op, &place, error))
    }

    fn unexpected(&self, op: Op) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, self);
        error.because("the answer is not that of Azure Key Vault").next_step("check the address of the vault")
    }
}

/// The last part of the address of a version, if it has one.
fn version_of(kid: &str) -> Option<&str> {
    let (_, path) = kid.split_once("/keys/")?;
    path.split_once('/').map(|(_, version)| version).filter(|version| !version.is_empty())
}

#[async_trait]
impl KeyService for AzureKeyVault {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        self.encrypt(Op::Wrap, key).await
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        let named = wrapped.key_version.as_deref().filter(|text| !text.is_empty());
        let named = named.or(self.version.as_deref());
        let refused = match self.decrypt(named, wrapped).await {
            Err(error) if named.is_none() && error.kind() == ErrorKind::BadCiphertext => error,
            outcome => return outcome,
        };
        // After a rotation the current version is not the one that wrapped this.
        let Ok(versions) = self.versions().await else { return Err(refused) };
        for version in versions {
            match self.decrypt(Some(&version), wrapped).await {
                Err(error) if matches!(error.kind(), ErrorKind::BadCiphertext | ErrorKind::KeyDisabled) => {}
                outcome => return outcome,
            }
        }
        Err(refused)
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        let key = random_key(&self.context, length, self)?;
        let wrapped = self.encrypt(Op::Generate, &key).await?;
        Ok((key, wrapped))
    }
}

impl fmt::Display for AzureKeyVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {} of {}", self.name, self.vault)
    }
}

impl fmt::Debug for AzureKeyVault {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureKeyVault")
            .field("vault", &self.vault)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
