//! Addresses of services, as `pulumi login` takes them.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Op, Result};

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 8 << 10;

/// The address of a Pulumi service: `https://HOST` or `http://HOST`, with a path if the service is below one.
///
/// It has no user, no password and no parameters, so it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUrl {
    text: String,
}

impl ServiceUrl {
    /// Pulumi Cloud.
    pub const DEFAULT: &str = "https://api.pulumi.com";

    /// Whether a text has the scheme of a service.
    pub fn is_service(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| ["https", "http"].iter().any(|known| known.eq_ignore_ascii_case(scheme)))
    }

    /// Reads the address of a service. A slash at its end is dropped, as the `pulumi` command does.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is none. No error shows users, passwords and parameters.
    pub fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let rest = rest.trim_end_matches('/');
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) =
            authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let fits = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        let shown: String = host.chars().filter(|c| fits(*c)).take(100).collect();
        let place = format!("the address {}://{shown} of a service", scheme.to_ascii_lowercase());
        let wrong = |why: &str| Err(Error::new(ErrorKind::Invalid, Op::Use, &place).because(why));
        if !Self::is_service(text) {
            return wrong("it has to begin with https:// or http://");
        }
        if text.len() > LONGEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("it has characters that no address has, or too many");
        }
        if user.is_some() {
            return wrong("it has a user or a password; log in with `pulumi login` instead");
        }
        if rest.contains(['?', '#']) {
            return wrong("it has parameters, and services have none");
        }
        if host.is_empty() || !host.chars().all(fits) {
            return wrong("it names no host");
        }
        Ok(Self { text: format!("{scheme}://{rest}") })
    }

    /// The address, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a text is this very address, but for a slash at its end.
    pub fn is(&self, text: &str) -> bool {
        text.trim_end_matches('/') == self.text
    }

    /// That this is a service, where only stacks in a bucket have what is asked for.
    pub(crate) fn no_bucket(&self) -> Error {
        Error::unsupported(Op::Use, format_args!("the backend {self}"))
            .because("it is a Pulumi service, and this is for stacks in directories, buckets and databases")
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::ServiceUrl;

    #[test]
    fn an_address_has_a_host_and_nothing_that_is_secret() {
        for (text, shown) in [
            ("https://api.pulumi.com", "https://api.pulumi.com"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("HTTPS://pulumi.example/below/", "HTTPS://pulumi.example/below"),
            ("http://[::1]:1", "http://[::1]:1"),
        ] {
            assert_eq!(ServiceUrl::parse(text).unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "https://",
            "https://?hush",
            "https://ana:hush@app.example/x",
            "https://app.example/x?hush",
            "https://app.example/#hush",
            "https://app.example/\nhush",
            "s3://app.example/hush",
            "https://ho st/hush",
        ] {
            let error = ServiceUrl::parse(text).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
        }
    }
}
