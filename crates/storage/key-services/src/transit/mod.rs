//! The transit engines of OpenBao and Vault.

mod answer;
mod settings;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use groundstate_http_client::url::Url;
use groundstate_http_client::{Client, Request, SMALL_LIMIT, SendError, address, read_whole};
use http::header::{HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Method, StatusCode};

use crate::context::KeyContext;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DataKey, WrappedKey};
use crate::message::{Body, words};
use crate::op::Op;
use crate::retry::retried;
use crate::service::KeyService;
use answer::{Data, data, refusal};
pub use settings::{TransitNames, TransitSettings};

/// The mount unless another is named.
const MOUNT: &str = "transit";

/// A key of a transit engine.
///
/// Ciphertexts are text: `vault:v1:` and base64. `Display` and errors name the path of the key.
#[derive(Clone)]
pub struct Transit {
    settings: Arc<TransitSettings>,
    client: Client,
    mount: String,
    key: String,
    /// As documents store it, which is in base64 already.
    associated_data: Option<String>,
    may_create: bool,
    /// Whether the key was seen: an engine makes a missing one when it is asked to encrypt.
    is_there: Arc<AtomicBool>,
    context: KeyContext,
}

impl Transit {
    /// A key of the engine that is mounted as `transit`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is not one of a key, and for settings that no client can be made with.
    pub fn open(settings: TransitSettings, key: &str, context: &KeyContext) -> Result<Self> {
        let wrong = |why: String| {
            Error::new(ErrorKind::Invalid, Op::Use, "the key of the transit engine").because(why)
        };
        let is_name = !key.is_empty()
            && !matches!(key, "." | "..")
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_name {
            let error = wrong(format!("{:?} is not the name of a key", words(key)));
            return Err(
                error.next_step("a name has letters, digits, hyphens, dots and underscores, and no slash")
            );
        }
        let client = Client::new(settings.client.clone()).map_err(|error| {
            wrong("no client can be made with its settings".to_owned()).with_source(error)
        })?;
        Ok(Self {
            settings: Arc::new(settings),
            client,
            mount: MOUNT.to_owned(),
            key: key.to_owned(),
            associated_data: None,
            may_create: false,
            is_there: Arc::default(),
            context: context.clone(),
        })
    }

    /// Sets where the engine is mounted, such as `teams/a/transit`.
    ///
    /// # Errors
    ///
    /// `Invalid` for a text that is not a path.
    pub fn mount(mut self, path: &str) -> Result<Self> {
        let path = path.trim_matches('/');
        let is_part = |part: &str| {
            !matches!(part, "" | "." | "..")
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        if !path.split('/').all(is_part) {
            let why = format!("{:?} is not the path of a mount", words(path));
            return Err(Error::new(ErrorKind::Invalid, Op::Use, &self).because(why));
        }
        path.clone_into(&mut self.mount);
        Ok(self)
    }

    /// The same key with this associated data, which is base64 and has to be the same for wrapping and unwrapping.
    #[must_use]
    pub fn associated_data(&self, text: Option<String>) -> Self {
        Self { associated_data: text.filter(|text| !text.is_empty()), ..self.clone() }
    }

    /// Sets whether wrapping may make a key that is not there, as engines do. Without, that is `NotFound`, if the token may look.
    #[must_use]
    pub fn creates_keys(mut self, yes: bool) -> Self {
        self.may_create = yes;
        self
    }

    /// Moves a wrapped key to the newest version of the key, without showing it.
    ///
    /// # Errors
    ///
    /// Those of [`unwrap`](KeyService::unwrap).
    pub async fn rewrap(&self, wrapped: &WrappedKey) -> Result<WrappedKey> {
        let body =
            self.with_data(Body::new()).text("ciphertext", &self.text_of(Op::Rewrap, wrapped)?).finish();
        let data = self.call(Op::Rewrap, Method::PUT, "rewrap", body).await?;
        self.wrapped(Op::Rewrap, &data)
    }

    fn with_data(&self, body: Body) -> Body {
        match &self.associated_data {
            Some(text) => body.text("associated_data", text),
            None => body,
        }
    }

    fn text_of(&self, op: Op, wrapped: &WrappedKey) -> Result<String> {
        String::from_utf8(wrapped.ciphertext.clone()).map_err(|_| {
            let error = Error::new(ErrorKind::BadCiphertext, op, self);
            error.because("the wrapped key is not text, as those of transit engines are")
        })
    }

    fn wrapped(&self, op: Op, data: &Data) -> Result<WrappedKey> {
        let text =
            data.ciphertext.clone().filter(|text| !text.is_empty()).ok_or_else(|| self.unexpected(op))?;
        let version = data.key_version.map(|version| version.to_string());
        let by = version.as_ref().map(|version| format!("{}/{} version {version}", self.mount, self.key));
        Ok(WrappedKey::new(text).wrapped_by(by))
    }

    fn plain(&self, op: Op, data: &Data) -> Result<DataKey> {
        let bytes = data.plaintext.as_ref().and_then(|text| text.decode(&BASE64_STANDARD));
        bytes.map(DataKey::new).ok_or_else(|| self.unexpected(op))
    }

    fn unexpected(&self, op: Op) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, self);
        error
            .because("the answer is not that of a transit engine")
            .next_step("check the address and the mount")
    }

    /// Makes sure that the key is there before an engine is asked for what would make it.
    async fn look(&self, op: Op) -> Result<()> {
        if self.may_create || self.is_there.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.call(Op::Look, Method::GET, "keys", Bytes::new()).await {
            Ok(_) => {}
            // A token that may only wrap need not be allowed to look, and what else is wrong shows when it wraps.
            Err(error) if error.kind() != ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                let missing = Error::new(ErrorKind::NotFound, op, self).because(error.message().to_owned());
                let (mount, key) = (&self.mount, &self.key);
                let step = format!("create it with `bao write -f {mount}/keys/{key}`, or correct its name");
                return Err(missing.next_step(step));
            }
        }
        self.is_there.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn call(&self, op: Op, method: Method, action: &str, body: Bytes) -> Result<Data> {
        retried(&self.context, self.settings.attempts, || self.once(op, method.clone(), action, body.clone()))
            .await
    }

    async fn once(&self, op: Op, method: Method, action: &str, body: Bytes) -> Result<Data> {
        let url = format!("{}/v1/{}/{action}/{}", self.settings.address, self.mount, self.key);
        let url = address(&url).map_err(|why| Error::new(ErrorKind::Invalid, op, self).because(why))?;
        let (mut status, mut headers, mut answer) =
            self.send(op, method.clone(), url.clone(), body.clone()).await?;
        // A standby may send its clients to the active node.
        if status.is_redirection() && self.settings.follows_redirects {
            let next = self.redirected(op, &url, &headers)?;
            (status, headers, answer) = self.send(op, method, next, body).await?;
        }
        if !status.is_success() {
            return Err(refusal(self, op, status, &headers, &answer));
        }
        data(self, op, status, answer)
    }

    fn redirected(&self, op: Op, from: &Url, headers: &HeaderMap) -> Result<Url> {
        let wrong = |why: &str| {
            let error = Error::new(ErrorKind::Unavailable, op, self).because(why);
            error.next_step("name the address of the active node")
        };
        let text = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let url = from.join(text).map_err(|_| wrong("it redirects to what is no address"))?;
        let url = address(url.as_str()).map_err(|_| wrong("it redirects to what is no address"))?;
        match from.scheme() == "https" && url.scheme() != "https" {
            true => Err(wrong("it redirects from https to http, which would show the token")),
            false => Ok(url),
        }
    }

    async fn send(
        &self,
        op: Op,
        method: Method,
        url: Url,
        body: Bytes,
    ) -> Result<(StatusCode, HeaderMap, Bytes)> {
        let request = Request::new(method, url).headers(self.headers(op)?).body(body);
        let request = request.limit(SMALL_LIMIT, self.settings.timeout).reveals(true);
        let answer = self.client.send(request).await.map_err(|error| self.failed(op, error))?;
        let (parts, body) = answer.into_parts();
        let body = read_whole(body).await.map_err(|error| self.failed(op, error))?;
        Ok((parts.status, parts.headers, body))
    }

    fn headers(&self, op: Op) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("x-vault-request"), HeaderValue::from_static("true"));
        let mut add = |name: &str, text: &str| {
            let wrong = || {
                let error = Error::new(ErrorKind::Invalid, op, self);
                error.because(format!("the header {} has characters that no header can have", words(name)))
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(text).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        for (name, value) in &self.settings.headers {
            add(name, value)?;
        }
        if let Some(token) = &self.settings.token {
            add("x-vault-token", token)?;
        }
        if let Some(namespace) = &self.settings.namespace {
            add("x-vault-namespace", namespace)?;
        }
        Ok(headers)
    }

    fn failed(&self, op: Op, error: SendError) -> Error {
        let kind = match &error {
            SendError::NotSent(_) | SendError::Options(_) => ErrorKind::Invalid,
            SendError::TooLarge(_) => ErrorKind::Corrupt,
            _ => ErrorKind::Unavailable,
        };
        let outer = Error::new(kind, op, self).because(error.to_string());
        let outer = match kind {
            ErrorKind::Unavailable => outer.next_step("check the network and the address of the server"),
            _ => outer,
        };
        outer.with_source(error)
    }

    async fn encrypt(&self, op: Op, key: &DataKey) -> Result<WrappedKey> {
        self.look(op).await?;
        let body = self.with_data(Body::new()).base64("plaintext", &BASE64_STANDARD, key.expose()).finish();
        let data = self.call(op, Method::PUT, "encrypt", body).await?;
        self.wrapped(op, &data)
    }
}

#[async_trait]
impl KeyService for Transit {
    async fn wrap(&self, key: &DataKey) -> Result<WrappedKey> {
        self.encrypt(Op::Wrap, key).await
    }

    async fn unwrap(&self, wrapped: &WrappedKey) -> Result<DataKey> {
        let body =
            self.with_data(Body::new()).text("ciphertext", &self.text_of(Op::Unwrap, wrapped)?).finish();
        let data = self.call(Op::Unwrap, Method::PUT, "decrypt", body).await?;
        self.plain(Op::Unwrap, &data)
    }

    async fn generate(&self, length: usize) -> Result<(DataKey, WrappedKey)> {
        const OP: Op = Op::Generate;
        if !matches!(length, 16 | 32 | 64) {
            let why = format!("an engine makes keys of 16, 32 and 64 bytes, not of {length}");
            return Err(Error::new(ErrorKind::Invalid, OP, self).because(why));
        }
        let body = self.with_data(Body::new()).json("bits", &(length * 8).into()).finish();
        let data = self.call(OP, Method::PUT, "datakey/plaintext", body).await?;
        let (key, wrapped) = (self.plain(OP, &data)?, self.wrapped(OP, &data)?);
        if key.len() != length {
            let why = format!("the engine made a key of {} bytes in place of {length}", key.len());
            return Err(Error::new(ErrorKind::Corrupt, OP, self).because(why));
        }
        Ok((key, wrapped))
    }
}

impl fmt::Display for Transit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {} of the transit engine {}/{}", self.key, self.settings.address, self.mount)
    }
}

impl fmt::Debug for Transit {
    /// Shows the place only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transit")
            .field("address", &self.settings.address)
            .field("mount", &self.mount)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
