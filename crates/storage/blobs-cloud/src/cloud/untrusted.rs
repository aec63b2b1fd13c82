//! Options, variables, contents of files and answers of services, checked before they become a header or an address.
//!
//! The HTTP client and the signers below panic on texts that no header or address can have, so nothing reaches them unchecked.

use groundstate_http_client::address;
use url::Url;

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

/// An address that an option names, without a query.
pub(crate) fn endpoint(values: &Values, option: &'static str, text: &str) -> groundstate_blobs::Result<Url> {
    let url = address(text).map_err(|why| values.invalid(option, why))?;
    match url.query() {
        None => Ok(url),
        Some(_) => Err(values.invalid(option, "an endpoint has no query")),
    }
}

#[cfg(all(test, feature = "aws"))]
mod tests {
    use proptest::prelude::*;

    use super::{header_text, token};

    #[test]
    fn line_breaks_around_a_token_are_left_out_and_inside_refused() {
        assert_eq!(token("t0ken\r\n"), Ok("t0ken"));
        assert_eq!(header_text("Basic dTpw \n"), Ok("Basic dTpw"));
        assert!(header_text("a\r\nx-evil: 1").is_err());
        for text in ["", "\n", "a\nb", "a b", "ä", "a\0"] {
            assert!(token(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_can_be_sent(text in "\\PC*") {
            if let Ok(text) = header_text(&text) {
                prop_assert!(http::HeaderValue::from_str(text).is_ok());
            }
            if let Ok(text) = token(&text) {
                prop_assert!(http::HeaderValue::from_str(text).is_ok());
            }
        }
    }
}
