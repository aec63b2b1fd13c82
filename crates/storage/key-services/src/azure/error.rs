//! What the refusals of Key Vault mean, and what to do about them.

use groundstate_blobs_cloud::Reply;
use serde::Deserialize;

use super::AzureKeyVault;
use crate::error::{Error, ErrorKind};
use crate::message::words;
use crate::op::Op;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    error: Cause,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cause {
    code: String,
    message: String,
    innererror: Option<Inner>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Inner {
    code: String,
}

pub(super) fn refusal(key: &AzureKeyVault, op: Op, reply: &Reply) -> Error {
    let document: Document = serde_json::from_slice(&reply.body).unwrap_or_default();
    let Cause { code, message, innererror } = document.error;
    let inner = innererror.unwrap_or_default().code;
    let (kind, step) = classify((&code, reply.status), &inner, &message, op);
    let mut why = kind.summary().to_owned();
    match [inner.as_str(), code.as_str()].into_iter().find(|code| !code.is_empty()) {
        Some(code) => why.push_str(&format!(" ({})", words(code))),
        None => why.push_str(&format!(" (status {})", reply.status)),
    }
    if !message.is_empty() {
        why.push_str(&format!(": {}", words(&message)));
    }
    let error = Error::new(kind, op, key).because(why).with_retry_after(reply.retry_after());
    match step {
        Some(step) => error.next_step(step),
        None => error,
    }
}

fn classify(
    (code, status): (&str, u16),
    inner: &str,
    message: &str,
    op: Op,
) -> (ErrorKind, Option<&'static str>) {
    let is_unwrap = op == Op::Unwrap;
    let is_disabled = inner == "KeyDisabled" || message.to_ascii_lowercase().contains("disabled key");
    match (status, code) {
        (401, _) => {
            (ErrorKind::Unauthenticated, Some("check the tenant and the credentials, or run `az login`"))
        }
        (403, _) if is_disabled => (
            ErrorKind::KeyDisabled,
            Some("enable its version with `az keyvault key set-attributes --enabled true`"),
        ),
        (403, _) if inner == "ForbiddenByConnection" => {
            (ErrorKind::Denied, Some("let the firewall of the vault pass this machine"))
        }
        (403, _) if op == Op::Look => {
            (ErrorKind::Denied, Some("allow these credentials keys/list on the vault"))
        }
        (403, _) if is_unwrap => (ErrorKind::Denied, Some("allow these credentials keys/decrypt on the key")),
        (403, _) => (ErrorKind::Denied, Some("allow these credentials keys/encrypt on the key")),
        (404, _) if is_unwrap => (
            ErrorKind::KeyGone,
            Some("recover it with `az keyvault key recover` if it was deleted, or correct its name"),
        ),
        (404, _) => (ErrorKind::NotFound, Some("check the vault and the name of the key, or create it")),
        (400, _) if is_unwrap => (
            ErrorKind::BadCiphertext,
            Some("name the version of the key that wrapped it, or bring back a backup"),
        ),
        (400, _) => (
            ErrorKind::Invalid,
            Some("check that the algorithm fits the key, and that the data key is short enough for it"),
        ),
        (409, "ObjectIsBeingDeleted" | "ObjectIsDeletedButRecoverable") => {
            (ErrorKind::KeyPendingDeletion, Some("recover it with `az keyvault key recover`"))
        }
        (429, _) => (ErrorKind::Throttled, None),
        (501, _) => (ErrorKind::Unsupported, None),
        (408 | 500.., _) => (ErrorKind::Unavailable, None),
        _ => (ErrorKind::Invalid, None),
    }
}
