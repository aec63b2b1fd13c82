//! The URL that clients use.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Scheme;

/// The URL of the server as clients write it, without a slash at the end.
///
/// ```
/// use groundstate_server::config::PublicUrl;
///
/// let url: PublicUrl = "https://states.example.com/groundstate/".parse()?;
/// assert_eq!(url.to_string(), "https://states.example.com/groundstate");
/// assert_eq!(url.host(), "states.example.com");
/// # Ok::<(), groundstate_server::config::InvalidPublicUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    text: String,
    host: String,
    is_https: bool,
}

/// The text is no URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPublicUrl(&'static str);

impl PublicUrl {
    /// The host, without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether it begins with `https`.
    pub fn is_https(&self) -> bool {
        self.is_https
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidPublicUrl;

    fn from_str(text: &str) -> Result<Self, InvalidPublicUrl> {
        const FORM: &str = "it is no URL of a server, such as https://states.example.com";
        let uri: Uri = text.parse().map_err(|_| InvalidPublicUrl(FORM))?;
        let scheme = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
            return Err(InvalidPublicUrl(FORM));
        };
        if authority.as_str().contains('@') {
            return Err(InvalidPublicUrl("it has a user name; each client has its own credentials"));
        }
        if uri.query().is_some() || text.contains('#') {
            return Err(InvalidPublicUrl("it has a query or a fragment, which states do not have"));
        }
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            host: authority.host().trim_matches(['[', ']']).to_ascii_lowercase(),
            is_https: *scheme == Scheme::HTTPS,
        })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::PublicUrl;

    #[test]
    fn only_urls_of_servers_are_taken() {
        let url: PublicUrl = "http://[::1]:4778".parse().unwrap();
        assert_eq!((url.host(), url.is_https()), ("::1", false));
        for text in [
            "",
            "states.example.com",
            "ftp://h",
            "https://",
            "https://u:hush@h",
            "https://h?q",
            "https://h/#f",
        ] {
            let error = text.parse::<PublicUrl>().unwrap_err();
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }
}
