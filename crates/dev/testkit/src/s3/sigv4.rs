//! Signatures of version 4, as the server computes them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::digest::{hex, hmac_sha256, sha256};
use crate::http::Request;

/// All that names and values of a query escape.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same for paths, whose slashes stay.
const ESCAPED_IN_PATHS: &AsciiSet = &ESCAPED.remove(b'/');

/// What the header `Authorization` says.
#[derive(Debug)]
pub(super) struct Authorization<'a> {
    pub(super) access_key: &'a str,
    date: &'a str,
    pub(super) region: &'a str,
    service: &'a str,
    signed_headers: &'a str,
    pub(super) signature: &'a str,
}

impl<'a> Authorization<'a> {
    pub(super) fn parse(header: &'a str) -> Option<Self> {
        let parts = header.strip_prefix("AWS4-HMAC-SHA256")?;
        let part =
            |name: &str| parts.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        let mut scope = part("Credential")?.split('/');
        Some(Self {
            access_key: scope.next()?,
            date: scope.next()?,
            region: scope.next()?,
            service: scope.next()?,
            signed_headers: part("SignedHeaders")?,
            signature: part("Signature")?,
        })
    }

    fn scope(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.date, self.region, self.service)
    }
}

/// The signature that the request should have.
pub(super) fn signature(secret: &str, authorization: &Authorization<'_>, request: &Request) -> String {
    let time = request.header("x-amz-date").unwrap_or_default();
    let digest = hex(&sha256(canonical(authorization, request).as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{}\n{digest}", authorization.scope());
    let start = format!("AWS4{secret}").into_bytes();
    let parts = [authorization.date, authorization.region, authorization.service, "aws4_request", &text];
    hex(&parts.iter().fold(start, |key, part| hmac_sha256(&key, part.as_bytes())))
}

fn canonical(authorization: &Authorization<'_>, request: &Request) -> String {
    let path = utf8_percent_encode(&request.path(), ESCAPED_IN_PATHS).to_string();
    let escape = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    let mut query: Vec<String> =
        request.query().map(|(name, value)| format!("{}={}", escape(&name), escape(&value))).collect();
    query.sort_unstable();
    let headers: String = authorization
        .signed_headers
        .split(';')
        .map(|name| {
            let values: Vec<String> = request
                .headers()
                .filter(|(found, _)| *found == name)
                .map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect();
            format!("{name}:{}\n", values.join(","))
        })
        .collect();
    let payload =
        request.header("x-amz-content-sha256").map_or_else(|| hex(&sha256(&request.body)), str::to_owned);
    let (method, query, signed) = (&request.method, query.join("&"), authorization.signed_headers);
    format!("{method}\n{path}\n{query}\n{headers}\n{signed}\n{payload}")
}
