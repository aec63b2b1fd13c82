//! Which proxies lead to the services.

use std::fmt;

use groundstate_blobs::{Error, Result};
use url::Url;

use crate::settings::Values;

/// The proxies for each scheme, and the hosts that none leads to.
///
/// As with Terraform, the option `http_proxy` is for https too unless something else is said for that, and its variable is
/// not. The loopback is reached without a proxy.
#[derive(Clone, Debug)]
pub(crate) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    excludes: Option<String>,
}

/// A proxy, and the option that names it.
#[derive(Clone)]
struct Proxy {
    option: &'static str,
    url: Url,
    /// An option names it, and not a variable.
    is_option: bool,
}

impl Proxies {
    /// Those of the options and variables; what the environment of the process has besides does not count.
    pub(crate) fn of(values: &Values) -> Result<Self> {
        let http = Proxy::of(values, "http_proxy")?;
        let https = match Proxy::of(values, "https_proxy")? {
            None if !values.is_emptied("https_proxy") => http.clone().filter(|proxy| proxy.is_option),
            https => https,
        };
        Ok(Self { http, https, excludes: values.text("no_proxy").map(str::to_owned) })
    }

    /// The client's own form of them.
    pub(super) fn for_client(&self) -> groundstate_http_client::Proxies {
        let url = |proxy: &Option<Proxy>| proxy.as_ref().map(|proxy| proxy.url.clone());
        groundstate_http_client::Proxies {
            http: url(&self.http),
            https: url(&self.https),
            excludes: self.excludes.clone(),
        }
    }

    /// What to say of the proxy for addresses of a scheme, if one may lead there.
    pub(super) fn hint(&self, scheme: &str) -> Option<String> {
        let proxy = if scheme == "https" { &self.https } else { &self.http };
        proxy.as_ref().map(|proxy| {
            let excludes = self.excludes.as_ref().map(|_| ", but to the hosts of `no_proxy`");
            format!("requests go through the proxy {proxy}{}", excludes.unwrap_or_default())
        })
    }

    /// The options that name proxies, and the proxies.
    pub(super) fn named(&self) -> Vec<(&'static str, String)> {
        let all = [&self.http, &self.https].into_iter().flatten().filter(|proxy| proxy.is_option);
        let mut named: Vec<_> = all.map(|proxy| (proxy.option, proxy.to_string())).collect();
        named.dedup();
        named
    }
}

impl Proxy {
    fn of(values: &Values, option: &'static str) -> Result<Option<Self>> {
        let Some(text) = values.text(option).filter(|_| !values.is_emptied(option)) else { return Ok(None) };
        let text = text.trim();
        let wrong = |why: &str| -> Error { values.invalid(option, why) };
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("it has characters that no address has"));
        }
        // Without a scheme it is host and port.
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&text).map_err(|_| wrong("it is not an address"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("it has to be http or https with a host"));
        }
        Ok(Some(Self { option, url, is_option: values.is_option(option) }))
    }
}

impl fmt::Display for Proxy {
    /// Host and port, without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.host_str().unwrap_or_default())?;
        match self.url.port() {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.to_string()).finish()
    }
}
