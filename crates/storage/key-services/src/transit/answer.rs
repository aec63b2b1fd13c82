//! What an engine answers, and what its refusals mean.

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::Transit;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{SecretText, read, words};
use crate::op::Op;

/// What an answer has that counts here.
#[derive(Deserialize)]
pub(super) struct Data {
    pub(super) ciphertext: Option<String>,
    pub(super) plaintext: Option<SecretText>,
    pub(super) key_version: Option<u64>,
}

#[derive(Deserialize)]
struct Document {
    data: Option<Data>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    errors: Vec<String>,
    warnings: Option<Vec<String>>,
}

pub(super) fn data(key: &Transit, op: Op, status: StatusCode, body: Bytes) -> Result<Data> {
    if status == StatusCode::NO_CONTENT || body.is_empty() {
        let error = Error::new(ErrorKind::Unsupported, op, key).because("the mount is not a transit engine");
        return Err(error.next_step("correct the path of the mount"));
    }
    let document: Option<Document> = read(body);
    document.and_then(|document| document.data).ok_or_else(|| key.unexpected(op))
}

pub(super) fn refusal(key: &Transit, op: Op, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let texts = refusal.errors.into_iter().chain(refusal.warnings.unwrap_or_default());
    // Some come as a list in a text.
    let text = texts.collect::<Vec<_>>().join("; ");
    let text = text.lines().map(|line| line.trim().trim_start_matches("* ")).filter(|line| {
        !line.is_empty() && !line.ends_with("error occurred:") && !line.ends_with("errors occurred:")
    });
    let text = words(&text.collect::<Vec<_>>().join("; "));
    let (kind, step) = classify(key, op, status, &text);
    let why = match text.as_str() {
        "" => format!("{} (status {})", kind.summary(), status.as_u16()),
        text => format!("{} (status {}): {text}", kind.summary(), status.as_u16()),
    };
    let wait = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let error = Error::new(kind, op, key).because(why).with_retry_after(wait.map(Duration::from_secs));
    match step {
        Some(step) => error.next_step(step),
        None => error,
    }
}

fn classify(key: &Transit, op: Op, status: StatusCode, text: &str) -> (ErrorKind, Option<String>) {
    let step = |text: &str| Some(text.to_owned());
    let (mount, name) = (&key.mount, &key.key);
    let action = match op {
        Op::Unwrap => "decrypt",
        Op::Generate => "datakey/plaintext",
        Op::Rewrap => "rewrap",
        Op::Look => "keys",
        _ => "encrypt",
    };
    let has = |part: &str| text.contains(part);
    match status.as_u16() {
        403 => {
            let right = if op == Op::Look { "read" } else { "update" };
            let step = format!("check the token, and allow it `{right}` on {mount}/{action}/{name}");
            (ErrorKind::Denied, Some(step))
        }
        400 if has("encryption key not found") && matches!(op, Op::Unwrap | Op::Rewrap) => {
            (ErrorKind::KeyGone, step("restore the key from a backup, or correct its name"))
        }
        400 if has("encryption key not found") => {
            let step = format!("create it with `bao write -f {mount}/keys/{name}`, or correct its name");
            (ErrorKind::NotFound, Some(step))
        }
        400 if has("disallowed by policy") => {
            let step =
                format!("lower it with `bao write {mount}/keys/{name}/config min_decryption_version=N`");
            (ErrorKind::KeyDisabled, Some(format!("`min_decryption_version` of the key was raised: {step}")))
        }
        400 if has("version is too new") => {
            (ErrorKind::BadCiphertext, step("the key was restored from an older backup: restore a newer one"))
        }
        400 if has("message authentication failed") => {
            (ErrorKind::BadCiphertext, step("check the key and the associated data, or bring back a backup"))
        }
        400 if has("invalid ciphertext") || has("no prefix") => {
            (ErrorKind::BadCiphertext, step("bring back a backup"))
        }
        404 if op == Op::Look && text.is_empty() => (ErrorKind::NotFound, None),
        404 => (ErrorKind::NotFound, step("check the mount, the namespace and the name of the key")),
        405 => (ErrorKind::Unsupported, step("correct the path of the mount, which is no transit engine")),
        412 => (ErrorKind::Unavailable, None),
        429 => (ErrorKind::Throttled, None),
        501 => (ErrorKind::Unsupported, None),
        503 if has("sealed") => (ErrorKind::Unavailable, step("unseal it with `bao operator unseal`")),
        500.. => (ErrorKind::Unavailable, None),
        300..400 => (ErrorKind::Unavailable, step("name the address of the active node")),
        _ => (ErrorKind::Invalid, None),
    }
}
