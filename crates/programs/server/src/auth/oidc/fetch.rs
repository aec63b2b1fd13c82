//! Getting the keys of an issuer: its discovery document, and the keys that it names.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_http_client::{
    Client, ClientOptions, InvalidOption, Request, SendError, address, host_of, is_loopback, read_whole,
};
use http::Method;
use serde::Deserialize;
use url::Url;

use super::jwk::{PublicKey, parse_keys};

/// How long each of the two requests may take, to the end of its answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// The longest answer, in bytes.
const LONGEST: u64 = 512 << 10;

/// Where the keys of an issuer come from.
#[async_trait]
pub(crate) trait KeySource: fmt::Debug + Send + Sync {
    /// The keys of the issuer at this URL.
    async fn keys(&self, issuer: &Url) -> Result<Vec<PublicKey>, FetchError>;
}

/// Why keys cannot be had; of an address only the host is shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("the issuer names keys at {0}, which is not an https URL")]
    Plain(String),
    #[error("{host} does not answer")]
    Failed { host: String, source: SendError },
    #[error("{host} answers with status {status}")]
    Status { host: String, status: u16 },
    #[error("the answer of {0} is not what it should be")]
    Form(String),
    #[error("the discovery document at {0} is that of another issuer")]
    OtherIssuer(String),
    #[error("it was tried a moment ago, and is not tried again yet")]
    TooSoon,
}

/// Gets keys over HTTPS, and over plain HTTP from this machine alone. No redirect is followed: keys come from where the issuer says, or
/// not at all.
#[derive(Debug)]
pub(crate) struct HttpFetch(Client);

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl HttpFetch {
    pub(crate) fn new() -> Result<Self, InvalidOption> {
        Client::new(ClientOptions::new().silence(DEADLINE)).map(Self)
    }

    async fn get(&self, url: &Url) -> Result<Bytes, FetchError> {
        let host = shown(url);
        if !is_allowed(url) {
            return Err(FetchError::Plain(host));
        }
        let failed = |source| FetchError::Failed { host: host.clone(), source };
        let request = Request::new(Method::GET, url.clone()).limit(LONGEST, DEADLINE);
        let answer = self.0.send(request).await.map_err(failed)?;
        if !answer.status().is_success() {
            let status = answer.status().as_u16();
            return Err(FetchError::Status { host, status });
        }
        read_whole(answer.into_body()).await.map_err(failed)
    }
}

#[async_trait]
impl KeySource for HttpFetch {
    async fn keys(&self, issuer: &Url) -> Result<Vec<PublicKey>, FetchError> {
        let mut discovery = issuer.clone();
        let path = issuer.path().trim_end_matches('/');
        discovery.set_path(&format!("{path}/.well-known/openid-configuration"));
        let form = |url: &Url| FetchError::Form(shown(url));
        let document: Discovery =
            serde_json::from_slice(&self.get(&discovery).await?).map_err(|_| form(&discovery))?;
        if document.issuer.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
            return Err(FetchError::OtherIssuer(shown(&discovery)));
        }
        let keys = address(&document.jwks_uri).map_err(|_| form(&discovery))?;
        parse_keys(&self.get(&keys).await?).ok_or_else(|| form(&keys))
    }
}

/// Whether an address may be asked: by TLS, or on this machine.
pub(crate) fn is_allowed(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

fn shown(url: &Url) -> String {
    host_of(url).unwrap_or_default()
}
