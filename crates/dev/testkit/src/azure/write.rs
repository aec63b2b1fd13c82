//! Writing, describing, copying and deleting blobs.

use bytes::Bytes;

use super::error::{Refused, Result};
use super::lease::check_write;
use super::route::Target;
use super::{State, encryption};
use crate::digest::{base64, md5};
use crate::http::{Answer, Request, decode};
use crate::store::{Object, http_date, same};

/// How the names of metadata begin.
const METADATA: &str = "x-ms-meta-";
/// The properties of a blob, by the header that sets them and the one that gives them back.
const PROPERTIES: [(&str, &str); 5] = [
    ("x-ms-blob-cache-control", "cache-control"),
    ("x-ms-blob-content-disposition", "content-disposition"),
    ("x-ms-blob-content-encoding", "content-encoding"),
    ("x-ms-blob-content-language", "content-language"),
    ("x-ms-blob-content-type", "content-type"),
];

/// Checks the conditions on the blob that is there.
pub(super) fn check_conditions(request: &Request, current: Option<&Object>) -> Result<()> {
    let fits = |list: &str| {
        current
            .is_some_and(|object| list.split(',').any(|etag| etag.trim() == "*" || same(etag, &object.etag)))
    };
    if request.header("if-match").is_some_and(|list| !fits(list)) {
        return Err(Refused::condition());
    }
    match request.header("if-none-match") {
        Some("*") if current.is_some() => Err(Refused::exists()),
        Some(list) if fits(list) => Err(Refused::condition()),
        _ => Ok(()),
    }
}

/// Checks the conditions and the lease of a write.
pub(super) fn check(state: &State, request: &Request, target: &Target) -> Result<()> {
    check_conditions(request, state.store.object(&target.container, &target.blob))?;
    check_write(state.leases.get(&target.name()), request.header("x-ms-lease-id"), state.now())
}

/// A blob with the headers of the request that writes it.
pub(super) fn new_object(request: &Request, bytes: Bytes) -> Result<Object> {
    let mut object = Object::new(bytes);
    object.keep_headers(request, &[METADATA]);
    set(request, &mut object);
    object.key_digest = encryption::customer_key(request)?;
    Ok(object)
}

fn set(request: &Request, object: &mut Object) {
    for (from, to) in PROPERTIES {
        if let Some(value) = request.header(from) {
            object.headers.insert(to.to_owned(), value.to_owned());
        }
    }
}

/// An answer about a blob that was written.
pub(super) fn written(status: u16, object: &Object) -> Answer {
    let answer = Answer::new(status)
        .header("etag", &object.etag)
        .header("last-modified", http_date(object.modified))
        .header("x-ms-request-server-encrypted", "true");
    encryption::describe(object, answer).maybe("x-ms-version-id", object.version.as_deref())
}

pub(super) fn put(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    if request.header("x-ms-blob-type") != Some("BlockBlob") {
        return Err(Refused::header("x-ms-blob-type"));
    }
    check_digest(request)?;
    let object = new_object(request, request.body.clone())?;
    check(state, request, target)?;
    state.blocks.forget(&target.name());
    let stored = state.put(target.borrowed(), object).ok_or_else(Refused::no_container)?;
    Ok(written(201, stored).header("content-md5", base64(&md5(&request.body))))
}

fn check_digest(request: &Request) -> Result<()> {
    let differs = |declared: &str| declared != base64(&md5(&request.body));
    if request.header("content-md5").is_some_and(differs) {
        let message = "The MD5 value specified in the request did not match with the MD5 value calculated by the server.";
        return Err(Refused::new(400, "Md5Mismatch", message));
    }
    Ok(())
}

fn find<'a>(state: &'a mut State, target: &Target) -> Result<&'a mut Object> {
    let container = state.store.buckets.get_mut(&target.container).ok_or_else(Refused::no_container)?;
    container.objects.get_mut(&target.blob).ok_or_else(Refused::no_blob)
}

pub(super) fn set_metadata(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    find(state, target)?;
    check(state, request, target)?;
    let object = find(state, target)?;
    encryption::check(request, object)?;
    object.headers.retain(|name, _| !name.starts_with(METADATA));
    let given = request.headers().filter(|(name, _)| name.starts_with(METADATA));
    object.headers.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let stored = state.touch(target.borrowed()).ok_or_else(Refused::no_blob)?;
    Ok(written(200, stored))
}

pub(super) fn set_properties(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    find(state, target)?;
    check(state, request, target)?;
    let object = find(state, target)?;
    object.headers.retain(|name, _| PROPERTIES.iter().all(|(_, kept)| kept != name));
    set(request, object);
    let stored = state.touch(target.borrowed()).ok_or_else(Refused::no_blob)?;
    Ok(written(200, stored))
}

pub(super) fn delete(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    find(state, target)?;
    check(state, request, target)?;
    let snapshots = request.header("x-ms-delete-snapshots");
    if snapshots.is_none() && state.snapshots.count(target.borrowed()) > 0 {
        let message = "This operation is not permitted because the blob has snapshots.";
        return Err(Refused::new(409, "SnapshotsPresent", message));
    }
    state.snapshots.forget(target.borrowed());
    if snapshots != Some("only") {
        state.blocks.forget(&target.name());
        state.remove(target.borrowed());
    }
    Ok(Answer::new(202).header("x-ms-delete-type-permanent", "true"))
}

/// Copies a blob of this server. The source is an address, of which the end counts.
pub(super) fn copy(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let source = request.header("x-ms-copy-source").unwrap_or_default();
    let path =
        source.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let path = path.split('?').next().unwrap_or_default();
    let named = |path: &str| path.split_once('/').map(|(container, blob)| (decode(container), decode(blob)));
    let direct = named(path).filter(|(container, _)| state.store.buckets.contains_key(container));
    let (container, blob) = direct
        .or_else(|| path.split_once('/').and_then(|(_, path)| named(path)))
        .ok_or_else(|| Refused::header("x-ms-copy-source"))?;
    let found = state.store.object(&container, &blob).cloned().ok_or_else(Refused::no_blob)?;
    let mut object = new_object(request, found.bytes)?;
    if !object.headers.keys().any(|name| name.starts_with(METADATA)) {
        object.headers.extend(found.headers);
    }
    check(state, request, target)?;
    let stored = state.put(target.borrowed(), object).ok_or_else(Refused::no_container)?;
    Ok(written(202, stored).header("x-ms-copy-id", "testkit").header("x-ms-copy-status", "success"))
}
