//! How requests are made, from the options that all stores have: limits of size and time, certificates, proxies.

use std::time::Duration;

use groundstate_blobs::{Result, Role};
use url::Url;

#[cfg(feature = "aws")]
use super::proxy::Proxies;
use super::{address, is_loopback};
use crate::settings::Values;

/// How long a service may be silent: states may be large and lines slow.
const SILENCE: Duration = Duration::from_secs(60);
/// How long a request may take from its beginning to the end of its answer.
const DEADLINE: Duration = Duration::from_secs(15 * 60);
/// The same for requests of which neither the body nor the answer is a state.
const SHORT_DEADLINE: Duration = Duration::from_secs(120);
/// The same for the metadata of a machine.
#[cfg(feature = "aws")]
const METADATA_DEADLINE: Duration = Duration::from_secs(5);
/// The longest lock document.
const LOCK_LIMIT: u64 = 64 << 10;
/// The longest answer that is neither a state nor the document of a lock: lists, errors, tokens.
pub(crate) const SMALL_LIMIT: u64 = 1 << 20;
/// The longest state unless the options say otherwise.
const STATE_LIMIT: u64 = 1 << 30;

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
    pub(super) silence: Duration,
    pub(super) deadline: Duration,
    state_limit: u64,
    pub(super) allows_plain_http: bool,
    pub(super) insecure: bool,
    pub(super) certificates: Vec<reqwest::Certificate>,
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
            size(text).ok_or_else(|| values.invalid("max_state_size", "write it as 500MiB, 2GiB or in bytes"))
        });
        Ok(Self {
            store: values.store(),
            silence: SILENCE,
            deadline,
            state_limit: state_limit.transpose()?.unwrap_or(STATE_LIMIT),
            allows_plain_http: values.flag("allow_plain_http")?,
            insecure: false,
            certificates: Vec::new(),
            #[cfg(feature = "aws")]
            proxies: None,
        })
    }

    /// Sets how long a service may be silent.
    #[cfg(feature = "azure")]
    pub(crate) fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Does without checks of certificates.
    #[cfg(feature = "aws")]
    pub(crate) fn insecure(mut self, yes: bool) -> Self {
        self.insecure = yes;
        self
    }

    /// Trusts these certificates, beside the system's.
    #[cfg(feature = "aws")]
    pub(crate) fn certificates(mut self, pem: &[u8]) -> Result<Self, reqwest::Error> {
        self.certificates = reqwest::Certificate::from_pem_bundle(pem)?;
        Ok(self)
    }

    /// Sends requests through these proxies and no others.
    #[cfg(feature = "aws")]
    pub(crate) fn proxies(mut self, proxies: Proxies) -> Self {
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
        let option = |name: &str| format!("the option `{name}` of the {} store", self.store);
        if self.insecure {
            let insecure = option("insecure");
            warnings.push(format!("{insecure} is set: certificates are not checked, so any host on the way can read and change the state"));
        }
        #[cfg(feature = "aws")]
        for (name, proxy) in self.proxies.iter().flat_map(Proxies::named) {
            warnings.push(format!("{} is set: requests go through {proxy}", option(name)));
        }
        let mut plain: Vec<String> = endpoints
            .iter()
            .filter_map(|text| address(text).ok())
            .filter(|url| url.scheme() == "http" && !is_loopback(url))
            .filter_map(|url| host_of(url.as_str()))
            .collect();
        plain.sort();
        plain.dedup();
        for host in plain {
            warnings.push(format!(
                "requests to {host} are not encrypted: any host on the way can read and change the state"
            ));
        }
        warnings
    }
}

/// Host and port of an address, without the rest of it.
pub(super) fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// A number of bytes, with or without a unit.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units_of_1024() {
        for (text, bytes) in [
            ("1024", Some(1024)),
            ("2GiB", Some(2 << 30)),
            ("500 mib", Some(500 << 20)),
            ("0", None),
            ("", None),
            ("1.5GiB", None),
            ("-1", None),
            ("99999999999999999999", None),
            ("18446744073709551615GiB", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
