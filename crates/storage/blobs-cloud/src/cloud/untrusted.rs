//! Options, variables, contents of files and answers of services, checked before they become a header or an address.
//!
//! The HTTP client and the signers below panic on texts that no header or address can have, so nothing reaches them unchecked.

use url::{Host, Url};

use crate::settings::Values;

/// A text that a header can carry, without the white space and line breaks around it.
///
/// # Errors
///
/// Why not, without the text.
#[cfg(feature = "aws")]
pub(crate) fn header_text(text: &str) -> Result<&str, &'static str> {
    let text = text.trim();
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => Ok(text),
        false => Err("it has characters that no header can have"),
    }
}

/// A key, a token, or the content of a file with one, without the white space and line breaks around it.
///
/// # Errors
///
/// Why not, without the text.
pub(crate) fn token(text: &str) -> Result<&str, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty");
    }
    match text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text),
        false => Err("it has characters that no key or token has"),
    }
}

/// An address of a service: `http` or `https`, with a host, without user, password and fragment.
///
/// # Errors
///
/// Why not, without the text.
pub(crate) fn address(text: &str) -> Result<Url, &'static str> {
    let text = text.trim();
    // The parser drops line breaks and tabs instead of refusing them.
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it has characters that no address has");
    }
    let url = Url::parse(text).map_err(|_| "it is not an address")?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !is_plain {
        return Err("it has to be http or https with a host, without user and password");
    }
    // The parser of requests knows fewer addresses than that of addresses.
    match url.as_str().parse::<http::Uri>() {
        Ok(uri) if uri.host().is_some() => Ok(url),
        _ => Err("it is not an address"),
    }
}

/// An address that an option names, without a query.
pub(crate) fn endpoint(values: &Values, option: &'static str, text: &str) -> groundstate_blobs::Result<Url> {
    let url = address(text).map_err(|why| values.invalid(option, why))?;
    match url.query() {
        None => Ok(url),
        Some(_) => Err(values.invalid(option, "an endpoint has no query")),
    }
}

/// An address that has the scheme `https` unless it names another.
#[cfg(any(feature = "aws", feature = "azure"))]
pub(crate) fn with_scheme(text: &str) -> String {
    if text.contains("://") { text.to_owned() } else { format!("https://{text}") }
}

/// Whether an address is of this machine itself.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

#[cfg(all(test, feature = "aws"))]
mod tests {
    use proptest::prelude::*;

    use super::{address, header_text, is_loopback, token};

    #[test]
    fn line_breaks_around_a_token_are_left_out_and_inside_refused() {
        assert_eq!(token("t0ken\r\n"), Ok("t0ken"));
        assert_eq!(header_text("Basic dTpw \n"), Ok("Basic dTpw"));
        assert!(header_text("a\r\nx-evil: 1").is_err());
        for text in ["", "\n", "a\nb", "a b", "ä", "a\0"] {
            assert!(token(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn addresses_that_the_client_would_panic_on_are_refused() {
        for text in [
            "http://[x",
            "http://",
            "/relative",
            "h",
            "ftp://h",
            "http://a b",
            "http://h/\n",
            "http://h\n/",
            "http://u:p@h/",
            "http://h:99999/",
        ] {
            assert_eq!(address(text).is_ok(), text == "http://h/\n", "{text:?}");
        }
    }

    #[test]
    fn loopback_is_known_by_number_and_by_name() {
        for (text, expected) in [
            ("http://127.0.0.1:1/", true),
            ("http://127.9.9.9/", true),
            ("http://0x7f.1/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost:1/", true),
            ("http://LOCALHOST./", true),
            ("http://localhost.example.com/", false),
            ("http://169.254.170.2/", false),
        ] {
            assert_eq!(is_loopback(&address(text).unwrap()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_can_be_sent(text in "\\PC*|https?://[\\[\\]a-z0-9.:/@%\\n\\t -]{0,20}") {
            if let Ok(url) = address(&text) {
                let uri: http::Uri = url.as_str().parse().unwrap();
                prop_assert!(url::Url::parse(&uri.to_string()).is_ok());
            }
            if let Ok(text) = header_text(&text) {
                prop_assert!(http::HeaderValue::from_str(text).is_ok());
            }
            if let Ok(text) = token(&text) {
                prop_assert!(http::HeaderValue::from_str(text).is_ok());
            }
        }
    }
}
