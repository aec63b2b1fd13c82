//! The options of Terraform's backend `http`, under its names.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use groundstate_http_client::{DEADLINE, STATE_LIMIT};

/// Where a state is, how it is locked, and how requests are made.
///
/// Values are checked when the backend is opened ([`HttpBackend::open`](crate::HttpBackend::open)). `Debug` shows none of the secrets.
///
/// ```
/// use groundstate_statemgr_http::HttpConfig;
///
/// let mut config = HttpConfig::locked("https://state.example.com/prod");
/// config.password = Some("hunter2".to_owned());
/// assert_eq!(config.lock_address.as_deref(), Some("https://state.example.com/prod"));
/// assert!(!format!("{config:?}").contains("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The address of the state.
    pub address: String,
    /// The verb of an upload; `POST` without.
    pub update_method: Option<String>,
    /// Where the lock is taken. Without, nothing is locked.
    pub lock_address: Option<String>,
    /// The verb that takes it; `LOCK` without.
    pub lock_method: Option<String>,
    /// Where the lock is released.
    pub unlock_address: Option<String>,
    /// The verb that releases it; `UNLOCK` without.
    pub unlock_method: Option<String>,
    /// The user of Basic authentication, sent with the first request.
    pub username: Option<String>,
    /// The password of that user.
    pub password: Option<String>,
    /// More headers for each request, as OpenTofu has them.
    pub headers: BTreeMap<String, String>,
    /// Accepts any certificate.
    pub skip_cert_verification: bool,
    /// The authorities that count instead of the system's, as PEM.
    pub client_ca_certificate_pem: Option<String>,
    /// The certificate that is shown to the server, as PEM.
    pub client_certificate_pem: Option<String>,
    /// Its key, as PEM.
    pub client_private_key_pem: Option<String>,
    /// How often a request is repeated that the server did not answer; 2 unless set.
    pub retry_max: u32,
    /// The wait before the first repetition, 1 second unless set; it doubles each time.
    pub retry_wait_min: Duration,
    /// The longest wait, 30 seconds unless set.
    pub retry_wait_max: Duration,
    /// Whether the server honours `If-Match` and `If-None-Match` on writes, and sends an `ETag` with each state. The protocol has no
    /// word for it, so that the user says it. Not one of Terraform's options, nor are those that follow.
    pub conditional_write: bool,
    /// Whether credentials may leave by plain http.
    pub allow_plain_http: bool,
    /// How long a request may take from its beginning to the end of its answer.
    pub request_timeout: Duration,
    /// The largest state that is read, in bytes.
    pub max_state_size: u64,
}

impl HttpConfig {
    /// A state that is not locked, as Terraform has it where nothing else is said.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            update_method: None,
            lock_address: None,
            lock_method: None,
            unlock_address: None,
            unlock_method: None,
            username: None,
            password: None,
            headers: BTreeMap::new(),
            skip_cert_verification: false,
            client_ca_certificate_pem: None,
            client_certificate_pem: None,
            client_private_key_pem: None,
            retry_max: 2,
            retry_wait_min: Duration::from_secs(1),
            retry_wait_max: Duration::from_secs(30),
            conditional_write: false,
            allow_plain_http: false,
            request_timeout: DEADLINE,
            max_state_size: STATE_LIMIT,
        }
    }

    /// A state that is locked by `LOCK` and `UNLOCK` at its own address.
    pub fn locked(address: impl Into<String>) -> Self {
        let address = address.into();
        Self {
            lock_address: Some(address.clone()),
            unlock_address: Some(address.clone()),
            ..Self::new(address)
        }
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses may have a password, or a token in their query.
        let shown = |address: &str| crate::address::shown_text(address);
        f.debug_struct("HttpConfig")
            .field("address", &shown(&self.address))
            .field("lock_address", &self.lock_address.as_deref().map(shown))
            .field("unlock_address", &self.unlock_address.as_deref().map(shown))
            .field("headers", &self.headers.keys())
            .field("retry_max", &self.retry_max)
            .finish_non_exhaustive()
    }
}

/// An option that cannot be used. The text has no value of an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the option {option:?} cannot be used: {why}")]
pub struct OptionError {
    /// The name of the option.
    pub option: &'static str,
    /// What is wrong, and what it should be.
    pub why: String,
}

impl OptionError {
    pub(crate) fn new(option: &'static str, why: impl Into<String>) -> Self {
        Self { option, why: why.into() }
    }
}
