//! Reading objects.

use super::State;
use super::encryption;
use super::error::{Refused, Result};
use super::route::Target;
use crate::http::{Answer, Request};
use crate::store::{Found, Object};

pub(super) fn read(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let object = find(state, request, target)?;
    encryption::check(request, object)?;
    match Found::read(request, object) {
        Found::Answer(answer) => Ok(describe(request, object, answer)),
        Found::NotModified => Ok(Answer::new(304).header("etag", &object.etag)),
        Found::Precondition => Err(Refused::precondition("If-Match")),
        Found::Range => {
            let size = object.bytes.len().to_string();
            Err(Refused::new(416, "InvalidRange", "The requested range is not satisfiable")
                .with("ActualObjectSize", &size))
        }
    }
}

fn find<'a>(state: &'a State, request: &Request, target: &Target) -> Result<&'a Object> {
    let bucket = state.store.buckets.get(&target.bucket).ok_or_else(|| Refused::no_bucket(&target.bucket))?;
    match request.parameter("versionId") {
        None => bucket.objects.get(&target.key).ok_or_else(|| Refused::no_key(&target.key)),
        Some(version) => bucket.version(&target.key, &version).ok_or_else(|| {
            Refused::new(404, "NoSuchVersion", "The specified version does not exist.")
                .with("Key", &target.key)
                .with("VersionId", &version)
        }),
    }
}

fn describe(request: &Request, object: &Object, mut answer: Answer) -> Answer {
    let checksums =
        request.header("x-amz-checksum-mode").is_some_and(|mode| mode == "ENABLED") && answer.status() == 200;
    for (name, value) in &object.headers {
        // How the object is encrypted is said below, its access list never.
        let is_checksum = name.starts_with("x-amz-checksum-");
        let shown =
            !name.starts_with("x-amz-") || name.starts_with("x-amz-meta-") || (is_checksum && checksums);
        if shown {
            answer = answer.header(name, value);
        }
    }
    if object.header("content-type").is_none() {
        answer = answer.header("content-type", "binary/octet-stream");
    }
    encryption::describe(object, answer).maybe("x-amz-version-id", object.version.as_deref())
}
