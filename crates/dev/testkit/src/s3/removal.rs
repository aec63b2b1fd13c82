//! Removing objects, one or many at once, and buckets.

use super::error::{Refused, Result};
use super::route::Target;
use super::{State, checksum, chunked};
use crate::http::{Answer, Request};
use crate::store::same;
use crate::xml::{element, inside, text};

/// How many keys one request may name.
const MOST: usize = 1000;

pub(super) fn object(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    if let Some(condition) = request.header("if-match") {
        check(state, &target.bucket, &target.key, condition)?;
    }
    if let Some(version) = request.parameter("versionId") {
        if let Some(bucket) = state.store.buckets.get_mut(&target.bucket) {
            bucket.forget(&target.key, &version);
        }
        return Ok(Answer::new(204).header("x-amz-version-id", version));
    }
    let removed = state.store.remove(&target.bucket, &target.key);
    let marked = removed.is_some_and(|object| object.version.is_some());
    Ok(Answer::new(204).maybe("x-amz-delete-marker", marked.then_some("true")))
}

fn check(state: &State, bucket: &str, key: &str, condition: &str) -> Result<()> {
    let current = state.store.object(bucket, key).ok_or_else(|| Refused::no_key(key))?;
    if condition.trim() == "*" || same(condition, &current.etag) {
        return Ok(());
    }
    Err(Refused::precondition("If-Match"))
}

pub(super) fn bulk(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let payload = chunked::payload(request)?;
    let checksums = checksum::verify(request, &payload)?;
    if checksums.is_empty() && request.header("content-md5").is_none() {
        return Err(Refused::invalid("Missing required header for this request: Content-MD5"));
    }
    let document = std::str::from_utf8(&payload.bytes).map_err(|_| Refused::malformed())?;
    let objects = inside(document, "Object");
    if objects.is_empty() || objects.len() > MOST {
        return Err(Refused::malformed());
    }
    let quiet = text(document, "Quiet").as_deref() == Some("true");
    let mut result = String::new();
    for object in objects {
        let key = text(object, "Key").ok_or_else(Refused::malformed)?;
        let condition = text(object, "ETag");
        let fits = condition.map_or(Ok(()), |condition| check(state, &target.bucket, &key, &condition));
        if fits.is_err() {
            result += &format!(
                "<Error>{}<Code>PreconditionFailed</Code><Message>a condition did not hold</Message></Error>",
                element("Key", &key)
            );
            continue;
        }
        drop(state.store.remove(&target.bucket, &key));
        if !quiet {
            result += &format!("<Deleted>{}</Deleted>", element("Key", &key));
        }
    }
    Ok(Answer::new(200).xml(&format!("<DeleteResult>{result}</DeleteResult>")))
}

pub(super) fn bucket(state: &mut State, target: &Target) -> Result<Answer> {
    if state.store.buckets.get(&target.bucket).is_some_and(|bucket| !bucket.objects.is_empty()) {
        let message = "The bucket you tried to delete is not empty";
        return Err(Refused::new(409, "BucketNotEmpty", message).with("BucketName", &target.bucket));
    }
    state.store.buckets.remove(&target.bucket);
    Ok(Answer::new(204))
}
