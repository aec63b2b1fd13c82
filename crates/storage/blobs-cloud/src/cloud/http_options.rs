//! How requests are made, from the options that all stores have: limits of size and time, certificates, proxies.

use std::time::Duration;

use groundstate_blobs::{Result, Role};
#[cfg(feature = "aws")]
use groundstate_http_client::InvalidOption;
pub(crate) use groundstate_http_client::SMALL_LIMIT;
use groundstate_http_client::{
    ClientOptions, DEADLINE, LOCK_LIMIT, SHORT_DEADLINE, STATE_LIMIT, parse_size, unencrypted,
};
use url::Url;

use super::address;
#[cfg(feature = "aws")]
use super::proxy::Proxies;
use crate::settings::Values;

/// How long a request to the metadata of a machine may take.
#[cfg(feature = "aws")]
const METADATA_DEADLINE: Duration = Duration::from_secs(5);

/// What a request asks for, which decides how long its answer may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A list, an error, a token, or the word that a change was made.
    #[default]
    Small,
    /// The document of a lock.
    Lock,
    /// A state, or something else as large.
    State,
    /// The metadata of a machine, which most machines do not have.
    #[cfg(feature = "aws")]
    Metadata,
}

impl From<Role> for Expected {
    /// What a blob of this role holds.
    fn from(role: Role) -> Self {
        match role {
            Role::State => Self::State,
            Role::Lock => Self::Lock,
        }
    }
}

/// How requests are made.
#[derive(Clone, Debug)]
pub(crate) struct HttpOptions {
    store: &'static str,
    pub(super) client: ClientOptions,
    pub(super) deadline: Duration,
    state_limit: u64,
    insecure: bool,
    /// Without, the environment of the process decides.
    #[cfg(feature = "aws")]
    pub(super) proxies: Option<Proxies>,
}

impl HttpOptions {
    /// The options that all stores have: `allow_plain_http`, `request_timeout` and `max_state_size`.
    pub(crate) fn of(values: &Values) -> Result<Self> {
        let deadline = match values.number("request_timeout")? {
            Some(0) => {
                return Err(values.invalid("request_timeout", "it has to be a number of seconds above 0"));
            }
            Some(seconds) => Duration::from_secs(seconds.into()),
            None => DEADLINE,
        };
        let state_limit = values.text("max_state_size").map(|text| {
            parse_size(text)
                .ok_or_else(|| values.invalid("max_state_size", "write it as 500MiB, 2GiB or in bytes"))
        });
        Ok(Self {
            store: values.store(),
            client: ClientOptions::new().allow_plain_http(values.flag("allow_plain_http")?),
            deadline,
            state_limit: state_limit.transpose()?.unwrap_or(STATE_LIMIT),
            insecure: false,
            #[cfg(feature = "aws")]
            proxies: None,
        })
    }

    /// Sets how long a service may be silent.
    #[cfg(feature = "azure")]
    pub(crate) fn silence(mut self, silence: Duration) -> Self {
        self.client = self.client.silence(silence);
        self
    }

    /// Does without checks of certificates.
    #[cfg(feature = "aws")]
    pub(crate) fn insecure(mut self, yes: bool) -> Self {
        self.insecure = yes;
        self.client = self.client.insecure(yes);
        self
    }

    /// Trusts these certificates, beside the system's.
    #[cfg(feature = "aws")]
    pub(crate) fn certificates(mut self, pem: &[u8]) -> Result<Self, InvalidOption> {
        self.client = self.client.trust(pem)?;
        Ok(self)
    }

    /// Sends requests through these proxies and no others.
    #[cfg(feature = "aws")]
    pub(crate) fn proxies(mut self, proxies: Proxies) -> Self {
        self.client = self.client.proxies(proxies.for_client());
        self.proxies = Some(proxies);
        self
    }

    /// How many bytes an answer may have, and how long it may take.
    pub(super) fn limit(&self, expected: Expected) -> (u64, Duration) {
        match expected {
            Expected::Small => (SMALL_LIMIT, self.deadline.min(SHORT_DEADLINE)),
            Expected::Lock => (LOCK_LIMIT, self.deadline.min(SHORT_DEADLINE)),
            Expected::State => (self.state_limit, self.deadline),
            #[cfg(feature = "aws")]
            Expected::Metadata => (SMALL_LIMIT, self.deadline.min(METADATA_DEADLINE)),
        }
    }

    /// What a user should know of these options, one line each; `endpoints` are the addresses of the services.
    pub(crate) fn warnings(&self, endpoints: &[&str]) -> Vec<String> {
        let mut warnings = Vec::new();
        let option = |name: &str| format!("the option `{name}` of the {}", self.store);
        if self.insecure {
            let insecure = option("insecure");
            warnings.push(format!("{insecure} is set: certificates are not checked, so any host on the way can read and change the state"));
        }
        #[cfg(feature = "aws")]
        for (name, proxy) in self.proxies.iter().flat_map(Proxies::named) {
            warnings.push(format!("{} is set: requests go through {proxy}", option(name)));
        }
        let endpoints: Vec<Url> = endpoints.iter().filter_map(|text| address(text).ok()).collect();
        warnings.extend(unencrypted(&endpoints));
        warnings
    }
}
