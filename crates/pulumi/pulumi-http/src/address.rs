//! The address of a service, and the token of its user.

use std::fmt;

use groundstate_common::one_line;
use groundstate_http_client::http::HeaderValue;
use groundstate_http_client::url::Url;
use groundstate_http_client::{address, host_of};

use crate::{Error, ErrorKind, Op, Result};

/// The address of a service, as `pulumi login` takes it: `https://HOST` or `http://HOST`, with a path if the service is below one.
///
/// ```
/// use groundstate_pulumi_http::ServiceAddress;
///
/// assert_eq!(ServiceAddress::parse("https://pulumi.example.com/")?.to_string(), "https://pulumi.example.com");
/// assert!(ServiceAddress::parse("https://ana:secret@pulumi.example.com").is_err());
/// # Ok::<(), groundstate_pulumi_http::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress {
    /// Without a slash at its end.
    text: String,
    url: Url,
}

impl ServiceAddress {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is none, and for one with a user, a password, a query or a fragment: those may be secrets, and no error
    /// shows them.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong =
            |why: &str| Error::new(ErrorKind::Invalid, Op::Use, "the address of a service").because(why);
        let url = address(text).map_err(wrong)?;
        if url.query().is_some() {
            return Err(wrong("it has a query").next_step("leave out what begins with `?`"));
        }
        let text = one_line(text.trim().trim_end_matches('/')).into_owned();
        Ok(Self { text, url })
    }

    /// The address as the user wrote it, without a slash at its end. Logins are stored under it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, with its port.
    pub fn host(&self) -> String {
        host_of(&self.url).unwrap_or_default()
    }

    /// The address of a call.
    pub(crate) fn join(&self, path: &str) -> std::result::Result<Url, &'static str> {
        address(&format!("{}{path}", self.text))
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An access token of a user. Its `Debug` is redacted, and no error shows it.
#[derive(Clone)]
pub struct AccessToken {
    header: HeaderValue,
    text: String,
}

impl AccessToken {
    /// A token of this text.
    ///
    /// # Errors
    ///
    /// `Invalid` for an empty one, and for one that no header can have.
    pub fn new(text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::new(ErrorKind::Invalid, Op::Use, "the access token").because(why);
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        let mut header = HeaderValue::try_from(format!("token {text}"))
            .map_err(|_| wrong("it has characters that no token has"))?;
        header.set_sensitive(true);
        Ok(Self { header, text: text.to_owned() })
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The text without the token, should a service have sent it back.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.text, "…")
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken([secret])")
    }
}
