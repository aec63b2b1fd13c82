//! A client of services of Azure that keep no blobs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groundstate_blobs::{Op, Result};

use super::config::AzureIdentitySettings;
use super::identity::Identity;
use super::location::CloudFinder;
use crate::cloud::{
    Effect, HttpOptions, Reply, Request, TokenCache, Transport, Wire, no_client, unauthenticated,
};

/// What to do without credentials.
const NO_CREDENTIALS: &str = "name an application and its secret, certificate or token, or run `az login`";

/// Who a client is to Azure. It sends requests to services that keep no blobs, such as Key Vault.
///
/// Each call is one attempt, and changes nothing that could not be asked for again.
#[derive(Clone)]
pub struct AzureIdentity(Arc<Inner>);

/// The tokens so far, by resource and tenant.
type Tokens = BTreeMap<(String, Option<String>), Arc<TokenCache>>;

struct Inner {
    identity: Identity,
    finder: CloudFinder,
    wire: Wire,
    tokens: Mutex<Tokens>,
}

impl AzureIdentity {
    /// An identity with these settings. Nothing is sent yet; files of certificates and tokens are read.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for settings that are invalid or cannot be honoured, naming the option and the variable.
    pub fn open(settings: &AzureIdentitySettings) -> Result<Self> {
        let values = &settings.0;
        let transport = Transport::new(HttpOptions::of(values)?)
            .map_err(|error| no_client(values, "authority_host", error))?;
        let wire = Wire::new(transport, "check the network, and the name of the vault".to_owned());
        let (identity, finder) = (Identity::new(values)?, CloudFinder::new(values)?);
        Ok(Self(Arc::new(Inner { identity, finder, wire, tokens: Mutex::default() })))
    }

    /// Sends a request once; by TLS only, or to this machine. It has a token for a resource, a service's name for itself such as
    /// `https://vault.azure.net`, issued by a tenant where the service asks for one; without an audience it has none. `place`
    /// names what the request is about in errors. The reply may have any status.
    ///
    /// # Errors
    ///
    /// `Unauthenticated` and those of the services of tokens, `Unavailable` when no whole reply came, and `Invalid` for a
    /// request that cannot be sent.
    pub async fn send(
        &self,
        audience: Option<(&str, Option<&str>)>,
        place: &str,
        request: http::Request<Bytes>,
    ) -> Result<Reply> {
        let mut request = Request::confidential(request);
        if let Some((resource, tenant)) = audience {
            let token = self.token(resource, tenant).await;
            let token = token.map_err(|error| unauthenticated(Op::Call, place, error, NO_CREDENTIALS))?;
            request = request.header("authorization", &format!("Bearer {token}"))?;
        }
        self.0.wire.send(Op::Call, place, request.build()?, Effect::Read).await
    }

    async fn token(&self, resource: &str, tenant: Option<&str>) -> Result<String> {
        let Inner { identity, finder, wire, tokens } = &*self.0;
        let cache = {
            let mut tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tokens.entry((resource.to_owned(), tenant.map(str::to_owned))).or_default())
        };
        if let Some(token) = cache.get() {
            return Ok(token);
        }
        let cloud = finder.cloud(wire).await?;
        let token = identity.token_of(wire, cloud, resource, tenant).await?;
        cache.put(&token);
        Ok(token.text)
    }
}

impl fmt::Debug for AzureIdentity {
    /// Shows the kind only: the rest has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AzureIdentity").field(&self.0.identity).finish()
    }
}
