//! The backend: the one state that an address has.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::{Clock, IdSource, Sleeper};
use groundstate_http_client::http::{HeaderMap, HeaderName, HeaderValue};
use groundstate_http_client::{Client, ClientOptions, unencrypted};
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, History, Op, Result, StateStore,
    WorkspaceName,
};

use crate::address::{Endpoints, shown};
use crate::config::{HttpConfig, OptionError};
use crate::exchange::{Exchange, Retries};
use crate::history::HttpHistory;
use crate::store::{HttpStore, Shared};

/// Headers that are the client's own business.
const RESERVED: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-md5",
    "content-type",
    "host",
    "if-match",
    "if-none-match",
    "transfer-encoding",
];

/// A state at a server of Terraform's HTTP protocol, which has no workspaces but `default`.
#[derive(Clone)]
pub struct HttpBackend {
    shared: Arc<Shared>,
    warnings: Vec<String>,
}

impl HttpBackend {
    /// A client with these options. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When an option cannot be used.
    pub fn open(
        config: &HttpConfig,
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
        ids: Arc<dyn IdSource>,
    ) -> std::result::Result<Self, OptionError> {
        let endpoints = Endpoints::of(config)?;
        let exchange = Exchange {
            client: client(config)?,
            headers: headers(config)?,
            sleeper,
            retries: Retries {
                most: config.retry_max,
                first: config.retry_wait_min,
                longest: config.retry_wait_max.max(config.retry_wait_min),
            },
            state_limit: config.max_state_size,
            deadline: config.request_timeout,
        };
        let mut warnings = unencrypted(endpoints.urls());
        if config.skip_cert_verification {
            warnings.push(
                "the option `skip_cert_verification` is set: certificates are not checked, so any host on the way can read and change \
                 the state"
                    .to_owned(),
            );
        }
        let target = shown(&endpoints.read.url);
        let conditional = config.conditional_write;
        let secrets = secrets(config, &endpoints);
        let shared = Arc::new(Shared { exchange, endpoints, conditional, secrets, target, clock, ids });
        Ok(Self { shared, warnings })
    }

    /// A client of the state, as its own type.
    pub fn state(&self) -> HttpStore {
        HttpStore::new(Arc::clone(&self.shared))
    }

    /// Whether the options name a lock.
    pub fn has_lock(&self) -> bool {
        self.shared.endpoints.locks.is_some()
    }

    /// What a user should know of the options, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn only_default<T>(&self, op: Op, name: &WorkspaceName) -> Result<T> {
        let why = format!(
            "it is a single state, and has no workspace {name}; give each state an address of its own"
        );
        Err(Error::unsupported(op, self).because(why))
    }
}

/// What a server may send back, and no error shows.
fn secrets(config: &HttpConfig, endpoints: &Endpoints) -> Vec<String> {
    let mut secrets: Vec<String> = config.password.iter().chain(config.headers.values()).cloned().collect();
    let authorization = endpoints.read.authorization.as_ref().and_then(|value| value.to_str().ok());
    secrets.extend(authorization.and_then(|text| text.strip_prefix("Basic ")).map(str::to_owned));
    secrets.extend(endpoints.read.url.query_pairs().map(|(_, value)| value.into_owned()));
    // Short ones would hide words of messages.
    secrets.retain(|secret| secret.len() >= 4);
    secrets
}

fn client(config: &HttpConfig) -> std::result::Result<Client, OptionError> {
    let mut options = ClientOptions::new()
        .allow_plain_http(config.allow_plain_http)
        .insecure(config.skip_cert_verification);
    if let Some(pem) = &config.client_ca_certificate_pem {
        options = options
            .trust_only(pem.as_bytes())
            .map_err(|_| OptionError::new("client_ca_certificate_pem", "it has no certificate in PEM"))?;
    }
    options = match (&config.client_certificate_pem, &config.client_private_key_pem) {
        (None, None) => options,
        (Some(certificate), Some(key)) => {
            let pem = format!("{certificate}\n{key}\n");
            options.identity(pem.as_bytes()).map_err(|_| {
                OptionError::new(
                    "client_certificate_pem",
                    "it is not a certificate with its key, both in PEM",
                )
            })?
        }
        (Some(_), None) => {
            return Err(OptionError::new(
                "client_private_key_pem",
                "the certificate has no key; set both or none",
            ));
        }
        (None, Some(_)) => {
            return Err(OptionError::new(
                "client_certificate_pem",
                "the key has no certificate; set both or none",
            ));
        }
    };
    Client::new(options)
        .map_err(|_| OptionError::new("client_private_key_pem", "it is not the key of the certificate"))
}

/// The headers of the options, by OpenTofu's rules.
fn headers(config: &HttpConfig) -> std::result::Result<HeaderMap, OptionError> {
    let wrong = |why: String| OptionError::new("headers", why);
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        {
            return Err(wrong("a name has characters other than letters, digits, - and _".to_owned()));
        }
        let lower = name.to_ascii_lowercase();
        if RESERVED.contains(&lower.as_str()) {
            return Err(wrong(format!("{name} is set by the client itself")));
        }
        if lower == "authorization" && config.username.is_some() {
            return Err(wrong("authorization and the option `username` exclude each other".to_owned()));
        }
        if value.trim().is_empty() || !value.is_ascii() {
            return Err(wrong(format!("the value of {name} is blank, or not ASCII")));
        }
        let name =
            HeaderName::from_bytes(lower.as_bytes()).map_err(|_| wrong(format!("{name} is not a name")))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| wrong(format!("the value of {name} has characters that no header can have")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

impl fmt::Display for HttpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shared.target)
    }
}

impl fmt::Debug for HttpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBackend").field("state", &self.shared.target).finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Backend for HttpBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        Ok(vec![WorkspaceName::default_name()])
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        match name.is_default() {
            true => Ok(Arc::new(self.state())),
            false => self.only_default(Op::Other("open"), name),
        }
    }

    async fn create(&self, name: &WorkspaceName, _: &CreateWorkspace) -> Result<()> {
        if name.is_default() {
            return Err(
                Error::new(ErrorKind::Conflict, Op::CreateWorkspace, name).because("it exists already")
            );
        }
        self.only_default(Op::CreateWorkspace, name)
    }

    async fn delete(&self, name: &WorkspaceName, _: &DeleteWorkspace) -> Result<()> {
        if name.is_default() {
            let why = "the default workspace cannot be deleted";
            return Err(Error::new(ErrorKind::Invalid, Op::DeleteWorkspace, name).because(why));
        }
        let why = "there is no such workspace; the backend has only the default one";
        Err(Error::new(ErrorKind::NotFound, Op::DeleteWorkspace, name).because(why))
    }

    fn history(&self, name: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        match name.is_default() {
            true => Ok(Some(Arc::new(HttpHistory::new(Arc::clone(&self.shared))))),
            false => self.only_default(Op::Other("open"), name),
        }
    }
}
