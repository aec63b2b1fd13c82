//! Writing objects in one request, under conditions.

use bytes::Bytes;

use super::error::{Refused, Result};
use super::route::Target;
use super::rules::Rules;
use super::{State, checksum, chunked, encryption};
use crate::http::{Answer, Request, decode};
use crate::store::{Object, http_date, rfc3339, same};
use crate::xml::element;

pub(super) fn put(state: &mut State, rules: &Rules, request: &Request, target: &Target) -> Result<Answer> {
    if let Some(source) = request.header("x-amz-copy-source") {
        return copy(state, rules, request, target, source);
    }
    let payload = chunked::payload(request)?;
    let checksums = checksum::verify(request, &payload)?;
    let mut object = new_object(request, payload.bytes)?;
    object.headers.extend(checksums.iter().cloned());
    check(state, rules, request, target)?;
    let stored = store(state, target, object)?;
    let mut answer = encryption::describe(stored, Answer::new(200).header("etag", &stored.etag));
    for (name, value) in checksums {
        answer = answer.header(&name, value);
    }
    Ok(answer.maybe("x-amz-version-id", stored.version.as_deref()))
}

/// An object with the headers of the request that writes it.
pub(super) fn new_object(request: &Request, bytes: Bytes) -> Result<Object> {
    let mut object = Object::new(bytes);
    object.keep_headers(request, &["x-amz-meta-", "x-amz-tagging", "x-amz-acl", "x-amz-storage-class"]);
    // This one only says how the body was sent.
    let encoding = object.headers.remove("content-encoding");
    let encodings: Vec<&str> = encoding
        .iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| *name != "aws-chunked")
        .collect();
    if !encodings.is_empty() {
        object.headers.insert("content-encoding".to_owned(), encodings.join(","));
    }
    encryption::apply(request, &mut object)?;
    Ok(object)
}

/// Checks `If-None-Match` and `If-Match` of a write.
pub(super) fn check(state: &State, rules: &Rules, request: &Request, target: &Target) -> Result<()> {
    let current = state.store.object(&target.bucket, &target.key);
    if let Some(condition) = request.header("if-none-match") {
        if rules.unconditional || condition.trim() != "*" {
            return Err(Refused::unsupported("If-None-Match"));
        }
        if current.is_some() {
            return Err(Refused::precondition("If-None-Match"));
        }
    }
    if let Some(condition) = request.header("if-match") {
        if rules.unconditional {
            return Err(Refused::unsupported("If-Match"));
        }
        let current = current.ok_or_else(|| Refused::no_key(&target.key))?;
        if condition.trim() != "*" && !same(condition, &current.etag) {
            return Err(Refused::precondition("If-Match"));
        }
    }
    Ok(())
}

pub(super) fn store<'a>(state: &'a mut State, target: &Target, object: Object) -> Result<&'a Object> {
    let stored = state.store.put(&target.bucket, &target.key, object);
    stored.ok_or_else(|| Refused::no_bucket(&target.bucket))
}

fn copy(
    state: &mut State,
    rules: &Rules,
    request: &Request,
    target: &Target,
    source: &str,
) -> Result<Answer> {
    let source = decode(source.split('?').next().unwrap_or_default());
    let (bucket, key) = source.trim_start_matches('/').split_once('/').unwrap_or((&source, ""));
    let found = state.store.object(bucket, key).cloned().ok_or_else(|| Refused::no_key(key))?;
    let differs = |etag: &str| etag.trim() != "*" && !same(etag, &found.etag);
    if request.header("x-amz-copy-source-if-match").is_some_and(differs) {
        return Err(Refused::precondition("x-amz-copy-source-If-Match"));
    }
    check(state, rules, request, target)?;
    let mut object = new_object(request, found.bytes)?;
    if request.header("x-amz-metadata-directive") != Some("REPLACE") {
        object.headers.extend(found.headers);
    }
    let stored = store(state, target, object)?;
    let result = format!(
        "<CopyObjectResult>{}{}</CopyObjectResult>",
        element("LastModified", &rfc3339(stored.modified)),
        element("ETag", &stored.etag)
    );
    Ok(Answer::new(200)
        .header("last-modified", http_date(stored.modified))
        .maybe("x-amz-version-id", stored.version.as_deref())
        .xml(&result))
}
