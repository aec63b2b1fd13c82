//! Uploads of the JSON interface: bytes alone, bytes after a description, or the beginning of a session.

use bytes::Bytes;
use serde_json::Value;

use super::error::{Refused, Result};
use super::precondition::Preconditions;
use super::resource::{apply, digests_fit, resource};
use super::session::Session;
use super::{State, encryption};
use crate::digest::md5_hex;
use crate::http::{Answer, Request};
use crate::store::Object;

pub(super) fn begin(state: &mut State, request: &Request, bucket: &str) -> Result<Answer> {
    match request.parameter("uploadType").as_deref() {
        Some("multipart") => {
            let (description, content_type, bytes) = related(request)?;
            let draft = Draft::new(request, bucket, description, content_type)?;
            draft.store(state, bytes)
        }
        Some("resumable") => {
            let description = if request.body.is_empty() { Value::Null } else { parse(&request.body)? };
            let content_type = request.header("x-upload-content-type").map(str::to_owned);
            let draft = Draft::new(request, bucket, description, content_type)?;
            // It may fail at its end again: until then the object may have been written by others.
            draft.preconditions.check_write(state.store.object(bucket, &draft.key))?;
            Ok(Session::begin(state, request, draft))
        }
        _ => {
            let content_type = request.header("content-type").map(str::to_owned);
            let draft = Draft::new(request, bucket, Value::Null, content_type)?;
            draft.store(state, request.body.clone())
        }
    }
}

/// An object of which all but the bytes is known.
pub(super) struct Draft {
    pub(super) bucket: String,
    key: String,
    object: Object,
    preconditions: Preconditions,
    description: Value,
}

impl Draft {
    fn new(
        request: &Request,
        bucket: &str,
        description: Value,
        content_type: Option<String>,
    ) -> Result<Self> {
        let key = request.parameter("name").or_else(|| description["name"].as_str().map(str::to_owned));
        let key = key.filter(|key| !key.is_empty()).ok_or_else(|| Refused::invalid("Required: name"))?;
        let mut object = Object::new(Bytes::new());
        object.headers.extend(content_type.map(|value| ("content-type".to_owned(), value)));
        apply(&mut object, &description);
        object.headers.extend(request.parameter("kmsKeyName").map(|name| ("kms-key-name".to_owned(), name)));
        object.key_digest = encryption::customer_key(request)?;
        let (bucket, preconditions) = (bucket.to_owned(), Preconditions::of(request)?);
        Ok(Self { bucket, key, object, preconditions, description })
    }

    /// Stores the object, unless a condition does not hold.
    pub(super) fn store(self, state: &mut State, bytes: Bytes) -> Result<Answer> {
        let Self { bucket, key, mut object, preconditions, description } = self;
        if !digests_fit(&bytes, description["md5Hash"].as_str(), description["crc32c"].as_str()) {
            return Err(Refused::invalid("Provided digests do not match the calculated ones."));
        }
        preconditions.check_write(state.store.object(&bucket, &key))?;
        object.etag = format!("\"{}\"", md5_hex(&bytes));
        object.bytes = bytes;
        let stored = state.store.put(&bucket, &key, object).ok_or_else(Refused::no_bucket)?;
        Ok(Answer::new(200).json(&resource(&bucket, &key, stored)))
    }
}

fn parse(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|_| Refused::invalid("Parse Error"))
}

/// The description, the type and the bytes in a body of the type `multipart/related`.
fn related(request: &Request) -> Result<(Value, Option<String>, Bytes)> {
    let malformed = || Refused::invalid("Malformed multipart body.");
    let kind = request.header("content-type").unwrap_or_default();
    let boundary =
        kind.split(';').find_map(|part| part.trim().strip_prefix("boundary=")).ok_or_else(malformed)?;
    let delimiter = format!("\r\n--{}", boundary.trim_matches('"'));
    // The first delimiter has no line before it.
    let body = [b"\r\n", &request.body[..]].concat();
    let mut parts = split(&body, delimiter.as_bytes()).into_iter().skip(1).filter_map(part);
    let (_, description) = parts.next().ok_or_else(malformed)?;
    let (content_type, bytes) = parts.next().ok_or_else(malformed)?;
    Ok((parse(description)?, content_type, Bytes::copy_from_slice(bytes)))
}

fn split<'a>(mut bytes: &'a [u8], delimiter: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = find(bytes, delimiter) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + delimiter.len()..];
    }
    parts.push(bytes);
    parts
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    // Line ends are rare in states, so most places are left after one comparison.
    (0..bytes.len()).find(|&at| bytes[at] == wanted[0] && bytes[at..].starts_with(wanted))
}

/// The type and the bytes of one part.
fn part(part: &[u8]) -> Option<(Option<String>, &[u8])> {
    let part = part.strip_prefix(b"\r\n")?;
    let (head, bytes) = if let Some(bytes) = part.strip_prefix(b"\r\n") {
        (&[][..], bytes)
    } else {
        let at = find(part, b"\r\n\r\n")?;
        (&part[..at], &part[at + 4..])
    };
    let content_type = std::str::from_utf8(head).ok()?.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
    });
    Some((content_type, bytes))
}
