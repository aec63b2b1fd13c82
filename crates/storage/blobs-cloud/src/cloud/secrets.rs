//! Which requests show a secret to their receiver and to everything on the way.

use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use url::{Host, Url};

use super::is_loopback;

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

/// Whether an address is of this machine, or of what a cloud gives to its machines by plain http: their metadata, and the
/// credentials of containers.
pub(crate) fn is_near(url: &Url) -> bool {
    is_loopback(url)
        || match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_link_local(),
            // fd00:ec2::254 and fd00:ec2::23 are Amazon's.
            Some(Host::Ipv6(ip)) => ip.segments()[..2] == [0xfd00, 0xec2],
            Some(Host::Domain(name)) => name == "metadata.google.internal",
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use url::Url;

    use super::{carries_secret, is_near};

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

    #[test]
    fn services_of_the_machine_are_near() {
        for (url, expected) in [
            ("http://169.254.169.254/latest", true),
            ("http://169.254.170.2/v2", true),
            ("http://[fd00:ec2::254]/", true),
            ("http://metadata.google.internal/", true),
            ("http://[::1]:80/", true),
            ("http://10.0.0.1/", false),
            ("http://metadata.google.internal.evil.test/", false),
            ("http://[fd00:ec3::254]/", false),
        ] {
            assert_eq!(is_near(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
