//! The XML interface.

use bytes::Bytes;

use super::error::{Refused, Result};
use super::precondition::Preconditions;
use super::resource::{METADATA, digests_fit, generation};
use super::{State, encryption, json, parts};
use crate::digest::{base64, from_base64};
use crate::http::{Answer, Request, decode};
use crate::store::{After, Object, Page, page, rfc3339};
use crate::xml::element;

/// No page is longer, whatever is asked for.
const LONGEST: usize = 1000;

/// Where a request goes: a bucket, and an object in it.
pub(super) struct Target {
    pub(super) bucket: String,
    pub(super) key: String,
}

pub(super) fn answer(state: &mut State, request: &Request) -> Result<Answer> {
    let path = request.raw_path().trim_start_matches('/');
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    let target = Target { bucket: decode(bucket), key: decode(key) };
    if target.bucket.is_empty() {
        return Err(Refused::invalid("no bucket is named"));
    }
    if target.key.is_empty() && request.method == "PUT" {
        state.store.create(&target.bucket);
        return Ok(Answer::new(200));
    }
    state.need_bucket(&target.bucket)?;
    if target.key.is_empty() {
        return list(state, request, &target);
    }
    let upload = request.parameter("uploadId");
    match (request.method.as_str(), upload) {
        ("GET" | "HEAD", None) => read(state, request, &target),
        ("PUT", None) => put(state, request, &target),
        ("DELETE", None) => delete(state, request, &target),
        ("POST", None) if request.has_parameter("uploads") => parts::begin(state, request, &target),
        ("PUT", Some(id)) => parts::put(state, request, &id),
        ("POST", Some(id)) => parts::complete(state, request, &target, &id),
        ("DELETE", Some(id)) => parts::abort(state, &id),
        _ => Err(Refused::new(405, "MethodNotAllowed", "The method is not allowed against this resource.")),
    }
}

fn find<'a>(state: &'a State, target: &Target) -> Result<&'a Object> {
    let found = state.store.object(&target.bucket, &target.key);
    found.ok_or_else(|| Refused::no_object(&target.bucket, &target.key))
}

fn read(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let object = find(state, target)?;
    if request.parameter("generation").is_some_and(|wanted| wanted != object.generation.to_string()) {
        return Err(Refused::no_object(&target.bucket, &target.key));
    }
    Preconditions::of(request)?.check_read(object)?;
    json::media(request, object)
}

/// An object with the headers of the request that writes it.
pub(super) fn draft(request: &Request, bytes: Bytes) -> Result<Object> {
    let mut object = Object::new(bytes);
    object.keep_headers(request, &[METADATA]);
    object.key_digest = encryption::customer_key(request)?;
    let key = request.header("x-goog-encryption-kms-key-name");
    object.headers.extend(key.map(|key| ("kms-key-name".to_owned(), key.to_owned())));
    Ok(object)
}

fn put(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let source = request.header("x-goog-copy-source");
    let object = match source {
        None => {
            check_digests(request)?;
            draft(request, request.body.clone())?
        }
        Some(source) => copied(state, request, &decode(source))?,
    };
    Preconditions::of(request)?.check_write(state.store.object(&target.bucket, &target.key))?;
    let stored = state.store.put(&target.bucket, &target.key, object).ok_or_else(Refused::no_bucket)?;
    let answer = generation(stored, encryption::describe(stored, Answer::new(200)));
    if source.is_none() {
        return Ok(answer);
    }
    let (modified, etag) =
        (element("LastModified", &rfc3339(stored.modified)), element("ETag", &stored.etag));
    Ok(answer.xml(&format!("<CopyObjectResult>{modified}{etag}</CopyObjectResult>")))
}

fn copied(state: &State, request: &Request, source: &str) -> Result<Object> {
    let (bucket, key) = source.trim_start_matches('/').split_once('/').unwrap_or((source, ""));
    let found = state.store.object(bucket, key).ok_or_else(|| Refused::no_object(bucket, key))?;
    let mut object = draft(request, found.bytes.clone())?;
    if request.header("x-goog-metadata-directive") != Some("REPLACE") {
        object.headers.extend(found.headers.clone());
    }
    Ok(object)
}

fn check_digests(request: &Request) -> Result<()> {
    let hash = |name: &str| {
        let list = request.header("x-goog-hash")?;
        list.split(',').find_map(|hash| hash.trim().strip_prefix(name)?.strip_prefix('='))
    };
    let md5 = request.header("content-md5").or_else(|| hash("md5"));
    if digests_fit(&request.body, md5, hash("crc32c")) {
        return Ok(());
    }
    let message = "The MD5 or CRC32C you specified did not match the computed value.";
    Err(Refused::new(400, "BadDigest", message))
}

fn delete(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    Preconditions::of(request)?.check_write(Some(find(state, target)?))?;
    state.store.remove(&target.bucket, &target.key);
    Ok(Answer::new(204))
}

fn list(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let bucket = state.store.buckets.get(&target.bucket).ok_or_else(Refused::no_bucket)?;
    if request.method == "HEAD" {
        return Ok(Answer::new(200));
    }
    let ask = |parameter: &str| request.parameter(parameter).unwrap_or_default();
    let max = ask("max-keys").parse().map_or(LONGEST, |max: usize| max.min(LONGEST));
    let (token, start) = (ask("continuation-token"), ask("start-after"));
    let last = from_base64(&token).and_then(|bytes| String::from_utf8(bytes).ok());
    let after = match &last {
        Some(entry) if !token.is_empty() => After::Entry(entry),
        _ if start.is_empty() => After::Start,
        _ => After::Key(&start),
    };
    let page = page(&bucket.objects, &ask("prefix"), &ask("delimiter"), after, max);
    let mut document = element("Name", &target.bucket) + &element("Prefix", &ask("prefix"));
    document += &element("IsTruncated", &page.truncated.to_string());
    document += &element("KeyCount", &page.entries.len().to_string());
    if let Some(next) = page.next() {
        document += &element("NextContinuationToken", &base64(next.as_bytes()));
    }
    document += &contents(&bucket.objects, &page);
    Ok(Answer::new(200).xml(&format!("<ListBucketResult>{document}</ListBucketResult>")))
}

fn contents(objects: &std::collections::BTreeMap<String, Object>, page: &Page) -> String {
    let mut text = String::new();
    for (key, object) in page.keys().filter_map(|key| Some((key, objects.get(key)?))) {
        text += &format!(
            "<Contents>{}{}{}{}{}</Contents>",
            element("Key", key),
            element("LastModified", &rfc3339(object.modified)),
            element("ETag", &object.etag),
            element("Size", &object.bytes.len().to_string()),
            element("Generation", &object.generation.to_string()),
        );
    }
    for prefix in page.prefixes() {
        text += &format!("<CommonPrefixes>{}</CommonPrefixes>", element("Prefix", prefix));
    }
    text
}
