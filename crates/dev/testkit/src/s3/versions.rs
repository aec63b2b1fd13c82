//! Buckets that keep versions.

use super::State;
use super::error::{Refused, Result};
use super::route::Target;
use crate::http::{Answer, Request};
use crate::store::{Object, rfc3339};
use crate::xml::{element, text};

pub(super) fn set(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let document = std::str::from_utf8(&request.body).map_err(|_| Refused::malformed())?;
    let status = text(document, "Status").ok_or_else(Refused::malformed)?;
    if let Some(bucket) = state.store.buckets.get_mut(&target.bucket) {
        bucket.versioned = status == "Enabled";
    }
    Ok(Answer::new(200))
}

pub(super) fn get(state: &State, target: &Target) -> Answer {
    let versioned = state.store.buckets.get(&target.bucket).is_some_and(|bucket| bucket.versioned);
    let status = if versioned { element("Status", "Enabled") } else { String::new() };
    Answer::new(200).xml(&format!("<VersioningConfiguration>{status}</VersioningConfiguration>"))
}

/// All versions in one page, which is enough for tests.
pub(super) fn list(state: &State, request: &Request, target: &Target) -> Answer {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let Some(bucket) = state.store.buckets.get(&target.bucket) else { return Answer::new(404) };
    let current = bucket.objects.iter().map(|(key, object)| (key, object, true));
    let old = bucket.old.iter().rev().map(|(key, object)| (key, object, false));
    let mut versions: Vec<_> = current.chain(old).filter(|(key, ..)| key.starts_with(&prefix)).collect();
    versions.sort_by(|a, b| a.0.cmp(b.0));
    let versions: String =
        versions.into_iter().map(|(key, object, latest)| version(key, object, latest)).collect();
    Answer::new(200).xml(&format!(
        "<ListVersionsResult>{}{}<IsTruncated>false</IsTruncated>{versions}</ListVersionsResult>",
        element("Name", &target.bucket),
        element("Prefix", &prefix),
    ))
}

fn version(key: &str, object: &Object, latest: bool) -> String {
    format!(
        "<Version>{}{}{}{}{}{}</Version>",
        element("Key", key),
        element("VersionId", object.version.as_deref().unwrap_or("null")),
        element("IsLatest", &latest.to_string()),
        element("LastModified", &rfc3339(object.modified)),
        element("ETag", &object.etag),
        element("Size", &object.bytes.len().to_string()),
    )
}
