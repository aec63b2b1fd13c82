//! How requests are made: limits of size and time, certificates, proxies.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::address::{host_of, is_loopback};
use crate::error::InvalidOption;

/// How long a service may be silent: states may be large and lines slow.
pub const SILENCE: Duration = Duration::from_secs(60);
/// How long a request may take from its beginning to the end of its answer.
pub const DEADLINE: Duration = Duration::from_secs(15 * 60);
/// The same for requests of which neither the body nor the answer is a state.
pub const SHORT_DEADLINE: Duration = Duration::from_secs(120);
/// The longest lock document.
pub const LOCK_LIMIT: u64 = 64 << 10;
/// The longest answer that is neither a state nor the document of a lock: lists, errors, tokens.
pub const SMALL_LIMIT: u64 = 1 << 20;
/// The longest state unless the options say otherwise.
pub const STATE_LIMIT: u64 = 1 << 30;

/// How a client reaches servers, and which it trusts.
#[derive(Clone)]
pub struct ClientOptions {
    pub(crate) silence: Duration,
    pub(crate) allows_plain_http: bool,
    pub(crate) insecure: bool,
    pub(crate) certificates: Vec<reqwest::Certificate>,
    pub(crate) only_these: bool,
    pub(crate) identity: Option<reqwest::Identity>,
    /// Without, the environment of the process decides.
    pub(crate) proxies: Option<Proxies>,
}

impl ClientOptions {
    /// The system's authorities, the proxies of the process's environment, and no secret by plain http.
    pub fn new() -> Self {
        Self {
            silence: SILENCE,
            allows_plain_http: false,
            insecure: false,
            certificates: Vec::new(),
            only_these: false,
            identity: None,
            proxies: None,
        }
    }

    /// Sets how long a server may be silent.
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets whether requests that show a secret may leave by plain http.
    #[must_use]
    pub fn allow_plain_http(mut self, yes: bool) -> Self {
        self.allows_plain_http = yes;
        self
    }

    /// Sets whether certificates are accepted unchecked.
    #[must_use]
    pub fn insecure(mut self, yes: bool) -> Self {
        self.insecure = yes;
        self
    }

    /// Trusts the authorities in a text of PEM, beside the system's.
    ///
    /// # Errors
    ///
    /// When there is no certificate in it, or one that cannot be read.
    pub fn trust(mut self, pem: &[u8]) -> Result<Self, InvalidOption> {
        self.certificates = reqwest::Certificate::from_pem_bundle(pem).map_err(InvalidOption::new)?;
        if self.certificates.is_empty() {
            return Err(InvalidOption::no_certificate());
        }
        Ok(self)
    }

    /// Trusts the authorities in a text of PEM, and no others.
    ///
    /// # Errors
    ///
    /// Those of [`trust`](Self::trust).
    pub fn trust_only(self, pem: &[u8]) -> Result<Self, InvalidOption> {
        Ok(Self { only_these: true, ..self.trust(pem)? })
    }

    /// Shows this certificate to servers that ask for one; its key is in the same text of PEM.
    ///
    /// # Errors
    ///
    /// When certificate or key are missing or cannot be read.
    pub fn identity(mut self, pem: &[u8]) -> Result<Self, InvalidOption> {
        self.identity = Some(reqwest::Identity::from_pem(pem).map_err(InvalidOption::new)?);
        Ok(self)
    }

    /// Whether a certificate is shown.
    pub fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// Sends requests through these proxies and no others.
    #[must_use]
    pub fn proxies(mut self, proxies: Proxies) -> Self {
        self.proxies = Some(proxies);
        self
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ClientOptions {
    /// Leaves out the certificate and the proxies, which may have passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("silence", &self.silence)
            .field("allows_plain_http", &self.allows_plain_http)
            .field("insecure", &self.insecure)
            .field("certificates", &self.certificates.len())
            .finish_non_exhaustive()
    }
}

/// The proxies for each scheme, and the hosts that none leads to.
#[derive(Clone, Default)]
pub struct Proxies {
    /// For plain http.
    pub http: Option<Url>,
    /// For https.
    pub https: Option<Url>,
    /// Hosts and domains that are reached without, separated by commas.
    pub excludes: Option<String>,
}

impl Proxies {
    pub(crate) fn for_client(&self) -> Result<Vec<reqwest::Proxy>, InvalidOption> {
        let excludes = self.excludes.as_deref().and_then(reqwest::NoProxy::from_string);
        let http = self.http.as_ref().map(|proxy| reqwest::Proxy::http(proxy.as_str()));
        let https = self.https.as_ref().map(|proxy| reqwest::Proxy::https(proxy.as_str()));
        let all = [http, https].into_iter().flatten();
        all.map(|proxy| Ok(proxy.map_err(InvalidOption::new)?.no_proxy(excludes.clone()))).collect()
    }
}

impl fmt::Debug for Proxies {
    /// Shows none of the addresses, which may have passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxies").finish_non_exhaustive()
    }
}

/// What a user should know of addresses by plain http that are not of this machine, one line each.
pub fn unencrypted<'u>(addresses: impl IntoIterator<Item = &'u Url>) -> Vec<String> {
    let plain = addresses.into_iter().filter(|url| url.scheme() == "http" && !is_loopback(url));
    let mut hosts: Vec<String> = plain.filter_map(host_of).collect();
    hosts.sort();
    hosts.dedup();
    let line = |host| {
        format!("requests to {host} are not encrypted: any host on the way can read and change the state")
    };
    hosts.into_iter().map(line).collect()
}

/// A number of bytes, with or without a unit: `1048576`, `500MiB`, `2 GiB`.
pub fn parse_size(text: &str) -> Option<u64> {
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
    use url::Url;

    use super::{parse_size, unencrypted};

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
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn each_host_by_plain_http_is_named_once_and_without_the_rest() {
        let urls = ["http://b.test:80/x?secret", "https://a.test/", "http://127.0.0.1:1/", "http://b.test/"];
        let urls = urls.map(|text| Url::parse(text).unwrap());
        let warnings = unencrypted(&urls);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("requests to b.test are not encrypted"), "{warnings:?}");
    }
}
