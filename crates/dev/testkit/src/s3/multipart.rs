//! Uploads in parts.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::error::{Refused, Result};
use super::route::Target;
use super::rules::Rules;
use super::{State, checksum, chunked, encryption, write};
use crate::digest::{hex, md5, md5_hex};
use crate::http::{Answer, Request};
use crate::store::{Object, same};
use crate::xml::{element, inside, text};

/// All parts but the last have at least this size.
const SMALLEST: usize = 5 << 20;

/// The uploads that were begun, by their names.
pub(super) type Uploads = BTreeMap<String, Upload>;

/// An upload that is neither complete nor given up.
pub(super) struct Upload {
    bucket: String,
    key: String,
    /// The object without its bytes.
    object: Object,
    parts: BTreeMap<u32, Bytes>,
}

pub(super) fn begin(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let object = write::new_object(request, Bytes::new())?;
    let answer = encryption::describe(&object, Answer::new(200));
    let id = state.store.fresh_name();
    let (bucket, key) = (target.bucket.clone(), target.key.clone());
    state.uploads.insert(id.clone(), Upload { bucket, key, object, parts: BTreeMap::new() });
    Ok(answer.xml(&format!(
        "<InitiateMultipartUploadResult>{}{}{}</InitiateMultipartUploadResult>",
        element("Bucket", &target.bucket),
        element("Key", &target.key),
        element("UploadId", &id),
    )))
}

fn find<'a>(state: &'a mut State, target: &Target, id: &str) -> Result<&'a mut Upload> {
    let upload = state.uploads.get_mut(id);
    upload
        .filter(|upload| upload.bucket == target.bucket && upload.key == target.key)
        .ok_or_else(|| Refused::no_upload(id))
}

pub(super) fn put_part(state: &mut State, request: &Request, target: &Target, id: &str) -> Result<Answer> {
    let payload = chunked::payload(request)?;
    let checksums = checksum::verify(request, &payload)?;
    let number = request.parameter("partNumber").and_then(|number| number.parse().ok());
    let number: u32 = number.filter(|number| (1..=10_000).contains(number)).ok_or_else(|| {
        Refused::argument("partNumber", "Part number must be an integer between 1 and 10000, inclusive")
    })?;
    let upload = find(state, target, id)?;
    if encryption::customer_key(request)? != upload.object.key_digest {
        return Err(Refused::invalid(
            "The provided encryption parameters did not match the ones used originally.",
        ));
    }
    let etag = format!("\"{}\"", md5_hex(&payload.bytes));
    upload.parts.insert(number, payload.bytes);
    let answer = Answer::new(200).header("etag", etag);
    Ok(checksums.into_iter().fold(answer, |answer, (name, value)| answer.header(&name, value)))
}

pub(super) fn complete(
    state: &mut State,
    rules: &Rules,
    request: &Request,
    target: &Target,
    id: &str,
) -> Result<Answer> {
    let document = std::str::from_utf8(&request.body).map_err(|_| Refused::malformed())?;
    let (bytes, etag) = join(find(state, target, id)?, document)?;
    write::check(state, rules, request, target)?;
    let upload = state.uploads.remove(id).ok_or_else(|| Refused::no_upload(id))?;
    let object = Object { bytes, etag: etag.clone(), ..upload.object };
    let stored = write::store(state, target, object)?;
    let answer = encryption::describe(stored, Answer::new(200));
    Ok(answer.maybe("x-amz-version-id", stored.version.as_deref()).xml(&format!(
        "<CompleteMultipartUploadResult>{}{}{}</CompleteMultipartUploadResult>",
        element("Bucket", &target.bucket),
        element("Key", &target.key),
        element("ETag", &etag),
    )))
}

/// Joins the parts that the document names, and makes the ETag of the whole of theirs.
fn join(upload: &Upload, document: &str) -> Result<(Bytes, String)> {
    let invalid =
        || Refused::new(400, "InvalidPart", "One or more of the specified parts could not be found.");
    let named = inside(document, "Part");
    let (mut bytes, mut digests, mut last) = (BytesMut::new(), Vec::new(), 0);
    for (at, part) in named.iter().enumerate() {
        let number: u32 =
            text(part, "PartNumber").and_then(|number| number.parse().ok()).ok_or_else(Refused::malformed)?;
        if number <= last {
            let message = "The list of parts was not in ascending order.";
            return Err(Refused::new(400, "InvalidPartOrder", message));
        }
        last = number;
        let found = upload.parts.get(&number).ok_or_else(invalid)?;
        if !text(part, "ETag").is_some_and(|etag| same(&etag, &md5_hex(found))) {
            return Err(invalid());
        }
        if at + 1 < named.len() && found.len() < SMALLEST {
            let message = "Your proposed upload is smaller than the minimum allowed size";
            return Err(Refused::new(400, "EntityTooSmall", message));
        }
        bytes.extend_from_slice(found);
        digests.extend(md5(found));
    }
    if named.is_empty() {
        return Err(Refused::malformed());
    }
    Ok((bytes.freeze(), format!("\"{}-{}\"", hex(&md5(&digests)), named.len())))
}

pub(super) fn abort(state: &mut State, target: &Target, id: &str) -> Result<Answer> {
    find(state, target, id)?;
    state.uploads.remove(id);
    Ok(Answer::new(204))
}

pub(super) fn list_parts(state: &mut State, target: &Target, id: &str) -> Result<Answer> {
    let parts: String = find(state, target, id)?
        .parts
        .iter()
        .map(|(number, bytes)| {
            let etag = format!("\"{}\"", md5_hex(bytes));
            let number = element("PartNumber", &number.to_string());
            format!(
                "<Part>{number}{}{}</Part>",
                element("ETag", &etag),
                element("Size", &bytes.len().to_string())
            )
        })
        .collect();
    Ok(Answer::new(200)
        .xml(&format!("<ListPartsResult>{}{parts}</ListPartsResult>", element("UploadId", id))))
}

pub(super) fn list_uploads(state: &State, target: &Target) -> Answer {
    let here = state.uploads.iter().filter(|(_, upload)| upload.bucket == target.bucket);
    let uploads: String = here
        .map(|(id, upload)| {
            format!("<Upload>{}{}</Upload>", element("Key", &upload.key), element("UploadId", id))
        })
        .collect();
    let list = format!("<IsTruncated>false</IsTruncated>{uploads}");
    Answer::new(200).xml(&format!("<ListMultipartUploadsResult>{list}</ListMultipartUploadsResult>"))
}
