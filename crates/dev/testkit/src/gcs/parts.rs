//! Uploads in parts of the XML interface.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::State;
use super::error::{Refused, Result};
use super::precondition::Preconditions;
use super::resource::generation;
use super::xml::{Target, draft};
use crate::digest::{hex, md5, md5_hex};
use crate::http::{Answer, Request};
use crate::store::{Object, same};
use crate::xml::{element, inside, text};

/// The uploads that were begun, by their names.
pub(super) type Uploads = BTreeMap<String, Upload>;

/// An upload that is neither complete nor given up.
pub(super) struct Upload {
    object: Object,
    parts: BTreeMap<u32, Bytes>,
}

pub(super) fn begin(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let object = draft(request, Bytes::new())?;
    let id = state.store.fresh_name();
    state.uploads.insert(id.clone(), Upload { object, parts: BTreeMap::new() });
    Ok(Answer::new(200).xml(&format!(
        "<InitiateMultipartUploadResult>{}{}{}</InitiateMultipartUploadResult>",
        element("Bucket", &target.bucket),
        element("Key", &target.key),
        element("UploadId", &id),
    )))
}

fn find<'a>(state: &'a mut State, id: &str) -> Result<&'a mut Upload> {
    let unknown = || Refused::new(404, "NoSuchUpload", "The requested upload was not found.");
    state.uploads.get_mut(id).ok_or_else(unknown)
}

pub(super) fn put(state: &mut State, request: &Request, id: &str) -> Result<Answer> {
    let number = request.parameter("partNumber").and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| Refused::invalid("partNumber is not a number"))?;
    let etag = format!("\"{}\"", md5_hex(&request.body));
    find(state, id)?.parts.insert(number, request.body.clone());
    Ok(Answer::new(200).header("etag", etag))
}

pub(super) fn complete(state: &mut State, request: &Request, target: &Target, id: &str) -> Result<Answer> {
    let document = String::from_utf8_lossy(&request.body);
    let (bytes, etag) = join(find(state, id)?, &document)?;
    Preconditions::of(request)?.check_write(state.store.object(&target.bucket, &target.key))?;
    let Some(upload) = state.uploads.remove(id) else { return Err(Refused::invalid("the upload is gone")) };
    let object = Object { bytes, etag: etag.clone(), ..upload.object };
    let stored = state.store.put(&target.bucket, &target.key, object).ok_or_else(Refused::no_bucket)?;
    Ok(generation(stored, Answer::new(200)).xml(&format!(
        "<CompleteMultipartUploadResult>{}{}{}</CompleteMultipartUploadResult>",
        element("Bucket", &target.bucket),
        element("Key", &target.key),
        element("ETag", &etag),
    )))
}

fn join(upload: &Upload, document: &str) -> Result<(Bytes, String)> {
    let invalid =
        || Refused::new(400, "InvalidPart", "One or more of the specified parts could not be found.");
    let named = inside(document, "Part");
    let (mut bytes, mut digests) = (BytesMut::new(), Vec::new());
    for part in &named {
        let number = text(part, "PartNumber").and_then(|number| number.parse().ok()).ok_or_else(invalid)?;
        let found = upload.parts.get(&number).ok_or_else(invalid)?;
        if !text(part, "ETag").is_some_and(|etag| same(&etag, &md5_hex(found))) {
            return Err(invalid());
        }
        bytes.extend_from_slice(found);
        digests.extend(md5(found));
    }
    if named.is_empty() {
        return Err(invalid());
    }
    Ok((bytes.freeze(), format!("\"{}-{}\"", hex(&md5(&digests)), named.len())))
}

pub(super) fn abort(state: &mut State, id: &str) -> Result<Answer> {
    find(state, id)?;
    state.uploads.remove(id);
    Ok(Answer::new(204))
}
