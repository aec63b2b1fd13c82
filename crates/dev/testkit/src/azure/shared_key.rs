//! Signatures by the key of an account.

use std::collections::BTreeMap;

use crate::digest::{base64, from_base64, hmac_sha256};
use crate::http::Request;

/// The headers that are signed by their place, after the method.
const HEADERS: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// The header `Authorization` that the request should have.
pub(super) fn authorization(account: &str, key: &str, request: &Request) -> String {
    let key = from_base64(key).unwrap_or_default();
    let signature = base64(&hmac_sha256(&key, canonical(account, request).as_bytes()));
    format!("SharedKey {account}:{signature}")
}

fn canonical(account: &str, request: &Request) -> String {
    let mut text = format!("{}\n", request.method);
    for name in HEADERS {
        let value = request.header(name).unwrap_or_default();
        // A body without bytes has no length here.
        let value = if name == "content-length" && value == "0" { "" } else { value };
        text += &format!("{value}\n");
    }
    let own: BTreeMap<&str, &str> = request.headers().filter(|(name, _)| name.starts_with("x-ms-")).collect();
    for (name, value) in own {
        text += &format!("{name}:{}\n", value.trim());
    }
    text += &format!("/{account}{}", request.raw_path());
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in request.query() {
        parameters.entry(name.to_lowercase()).or_default().push(value);
    }
    for (name, mut values) in parameters {
        values.sort_unstable();
        text += &format!("\n{name}:{}", values.join(","));
    }
    text
}
