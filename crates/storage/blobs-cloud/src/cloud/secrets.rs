//! Which requests show a secret to their receiver and to everything on the way.

use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use url::Url;

/// Headers whose values are secrets as they are.
const HEADERS: [&str; 8] = [
    "x-amz-sso_bearer_token",
    "x-amz-security-token",
    "x-amz-server-side-encryption-customer-key",
    "x-aws-ec2-metadata-token",
    "x-goog-encryption-key",
    "x-identity-header",
    "x-ms-encryption-key",
    "x-ms-copy-source-authorization",
];

/// Parameters of queries that are secrets: signatures that can be used again, and tokens.
const PARAMETERS: [&str; 4] = ["sig", "X-Amz-Security-Token", "WebIdentityToken", "access_token"];

/// Whether the value of a header is a secret: credentials, also those of one request, and keys of customers.
pub(crate) fn is_secret_header(name: &HeaderName) -> bool {
    *name == AUTHORIZATION || name.as_str().contains("key") || HEADERS.contains(&name.as_str())
}

/// Whether a request reveals what could be used again. A signature of one request does not.
pub(crate) fn carries_secret(url: &Url, headers: &HeaderMap) -> bool {
    let signed = |value: &[u8]| value.starts_with(b"AWS4-HMAC-SHA256 ") || value.starts_with(b"SharedKey ");
    let is_form = headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    // Forms ask for tokens: they have secrets, or their answers do.
    is_form
        || headers.get_all(AUTHORIZATION).iter().any(|value| !signed(value.as_bytes()))
        || HEADERS.iter().any(|name| headers.contains_key(*name))
        || url.query_pairs().any(|(name, _)| PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use url::Url;

    use super::carries_secret;

    #[test]
    fn what_can_be_used_again_is_a_secret() {
        for (url, header, expected) in [
            ("http://h/k", None, false),
            ("http://h/k", Some(("authorization", "AWS4-HMAC-SHA256 Credential=A/x")), false),
            ("http://h/k", Some(("authorization", "SharedKey acc:sig")), false),
            ("http://h/k", Some(("authorization", "Bearer t")), true),
            ("http://h/k", Some(("authorization", "t")), true),
            ("http://h/k", Some(("x-goog-encryption-key", "k")), true),
            ("http://h/k", Some(("x-amz-security-token", "k")), true),
            ("http://h/k", Some(("content-type", "application/x-www-form-urlencoded")), true),
            ("http://h/k?sv=1&sig=abc", None, true),
            ("http://h/k?Action=A&WebIdentityToken=abc", None, true),
        ] {
            let mut headers = HeaderMap::new();
            if let Some((name, value)) = header {
                headers.insert(name, HeaderValue::from_static(value));
            }
            assert_eq!(carries_secret(&Url::parse(url).unwrap(), &headers), expected, "{url} {header:?}");
        }
    }
}
