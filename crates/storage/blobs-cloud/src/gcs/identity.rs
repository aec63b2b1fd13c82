//! Who the store is to Google: tokens of users, of workloads and machines, and of accounts that these stand in for.
//!
//! Keys of service accounts sign their tokens themselves, which `object_store` does. Its other tokens read the
//! environment by themselves and know neither workloads of other clouds nor impersonation, so those requests are our own.

use std::fmt;
use std::time::Duration;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use http::Method;
use object_store::gcp::GcpCredentialProvider;
use serde::Deserialize;

use super::workload::Workload;
use crate::cloud::{OAuthAnswer, Request, Token, TokenCache, Wire, address, ask, form, token_of};
use crate::settings::Values;

/// Where users get tokens, unless their credentials say otherwise.
const TOKEN_SERVICE: &str = "https://oauth2.googleapis.com/token";
/// What tokens are for that get other tokens.
pub(super) const CLOUD_SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// What the original asks for when it stands in for an account.
pub(super) const STORAGE_SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
/// How long a token lives that stands in for an account.
const LIFETIME: Duration = Duration::from_secs(3600);

/// Where tokens come from, and the one that was got last.
pub(super) struct Identity {
    source: Source,
    impersonation: Option<Impersonation>,
    cache: TokenCache,
}

/// What the credentials are.
pub(super) enum Source {
    /// None at all, for servers that ask for none.
    Anonymous,
    /// A token, as it is.
    Fixed(String),
    /// The key of a service account.
    Account(GcpCredentialProvider),
    User(User),
    Workload(Box<Workload>),
    /// The account that Google gives to a machine.
    Machine {
        host: String,
    },
}

/// What `gcloud auth application-default login` leaves.
#[derive(Deserialize)]
pub(super) struct User {
    client_id: String,
    client_secret: String,
    refresh_token: String,
    token_uri: Option<String>,
}

/// An account that others stand in for.
pub(super) struct Impersonation {
    url: String,
    delegates: Vec<String>,
    scope: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    access_token: String,
}

impl Identity {
    pub(super) fn new(source: Source, values: &Values, scope: &'static str) -> Result<Self> {
        let account = values.text("impersonate_service_account");
        let impersonation = account.map(|account| Impersonation::new(values, account, scope)).transpose()?;
        Ok(Self { source, impersonation, cache: TokenCache::default() })
    }

    /// The token for the storage service, if there is to be one.
    pub(super) async fn bearer(&self, wire: &Wire) -> Result<Option<String>> {
        match (&self.source, &self.impersonation) {
            (Source::Anonymous, _) => return Ok(None),
            (Source::Fixed(token), None) => return Ok(Some(token.clone())),
            _ => {}
        }
        if let Some(token) = self.cache.get() {
            return Ok(Some(token).filter(|text| !text.is_empty()));
        }
        let mut token = self.source.token(wire).await?;
        if let Some(account) = &self.impersonation {
            token = account.token(wire, &token.text).await?;
        }
        self.cache.put(&token);
        // Keys that were written for servers of tests may ask for none.
        Ok(Some(token.text).filter(|text| !text.is_empty()))
    }

    /// Whether requests have a token that others could use.
    pub(super) fn has_token(&self) -> bool {
        !matches!(self.source, Source::Anonymous)
    }
}

impl Source {
    async fn token(&self, wire: &Wire) -> Result<Token> {
        match self {
            Self::Anonymous => Ok(Token { text: String::new(), lives: LIFETIME }),
            Self::Fixed(token) => Ok(Token { text: token.clone(), lives: LIFETIME }),
            Self::Account(provider) => {
                let failed = |error| {
                    let error =
                        Error::new(ErrorKind::Unauthenticated, Op::Sign, "a token of the service account")
                            .with_source(error);
                    error.because("the key of the account cannot sign")
                };
                let credential = provider.get_credential().await.map_err(failed)?;
                // The provider renews it.
                Ok(Token { text: credential.bearer.clone(), lives: Duration::from_secs(600) })
            }
            Self::User(user) => user.token(wire).await,
            Self::Workload(workload) => workload.token(wire).await,
            Self::Machine { host } => {
                let place = "the metadata service of the machine";
                let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
                let request = Request::new(Method::GET, url).header("metadata-flavor", "Google")?;
                ask::<OAuthAnswer>(wire, place, request).await?.token(place)
            }
        }
    }
}

impl User {
    async fn token(&self, wire: &Wire) -> Result<Token> {
        let place = "Google for the user of the credentials";
        let url = self.token_uri.as_deref().unwrap_or(TOKEN_SERVICE);
        let pairs = [
            ("client_id", self.client_id.as_str()),
            ("client_secret", &self.client_secret),
            ("grant_type", "refresh_token"),
            ("refresh_token", &self.refresh_token),
        ];
        ask::<OAuthAnswer>(wire, place, form(url, &pairs)?).await?.token(place)
    }
}

impl Impersonation {
    /// The account that the settings name, and those that stand between.
    fn new(values: &Values, account: &str, scope: &'static str) -> Result<Self> {
        const NAME: &str = "impersonate_service_account";
        let name = |option, text: &str| {
            let text = text.trim();
            let fits = text.contains('@')
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@.-_:".contains(&byte));
            fits.then(|| text.to_owned())
                .ok_or_else(|| values.invalid(option, "it is not the address of an account"))
        };
        let account = name(NAME, account)?;
        let delegates = values.text("impersonate_service_account_delegates").unwrap_or_default();
        let delegates = delegates.split(',').filter(|text| !text.trim().is_empty());
        let delegates = delegates
            .map(|text| {
                let delegate = name("impersonate_service_account_delegates", text)?;
                Ok(format!("projects/-/serviceAccounts/{delegate}"))
            })
            .collect::<Result<Vec<_>>>()?;
        let domain = values.text("universe_domain").unwrap_or("googleapis.com");
        let service = match values.text("iam_credentials_custom_endpoint") {
            None => format!("https://iamcredentials.{domain}/v1"),
            Some(text) => {
                let url =
                    address(text).map_err(|why| values.invalid("iam_credentials_custom_endpoint", why))?;
                url.as_str().trim_end_matches('/').to_owned()
            }
        };
        let url = format!("{service}/projects/-/serviceAccounts/{account}:generateAccessToken");
        Ok(Self { url, delegates, scope })
    }

    /// The account whose address the credentials of a workload name.
    pub(super) fn at(url: String) -> Self {
        Self { url, delegates: Vec::new(), scope: CLOUD_SCOPE }
    }

    pub(super) async fn token(&self, wire: &Wire, bearer: &str) -> Result<Token> {
        let place = "Google for the account to stand in for (`impersonate_service_account`)";
        let body = serde_json::json!({
            "delegates": self.delegates,
            "lifetime": format!("{}s", LIFETIME.as_secs()),
            "scope": [self.scope],
        });
        let request = Request::new(Method::POST, self.url.clone())
            .header("authorization", &format!("Bearer {bearer}"))?
            .header("content-type", "application/json")?
            .body(body.to_string().into());
        let generated: Generated = ask(wire, place, request).await?;
        token_of(place, &generated.access_token, LIFETIME)
    }
}

impl fmt::Debug for Identity {
    /// Shows no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("impersonates", &self.impersonation.is_some())
            .finish_non_exhaustive()
    }
}
