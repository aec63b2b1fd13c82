//! An object as each interface describes it.

use serde_json::{Map, Value, json};

use super::encryption;
use crate::digest::{base64, crc32c, from_base64, md5};
use crate::http::{Answer, Request};
use crate::store::{Object, http_date, rfc3339};

/// How the names of metadata begin in headers.
pub(super) const METADATA: &str = "x-goog-meta-";

/// The resource of the JSON interface, in which numbers of 64 bits are text.
pub(super) fn resource(bucket: &str, key: &str, object: &Object) -> Value {
    let mut resource = json!({
        "kind": "storage#object",
        "id": format!("{bucket}/{key}/{}", object.generation),
        "name": key,
        "bucket": bucket,
        "generation": object.generation.to_string(),
        "metageneration": object.metageneration.to_string(),
        "contentType": content_type(object),
        "storageClass": "STANDARD",
        "size": object.bytes.len().to_string(),
        "etag": base64(&object.generation.to_be_bytes()),
        "timeCreated": rfc3339(object.modified),
        "updated": rfc3339(object.modified),
    });
    match &object.key_digest {
        // The digests of the plain bytes are not told without the key.
        Some(digest) => {
            resource["customerEncryption"] = json!({ "encryptionAlgorithm": "AES256", "keySha256": digest });
        }
        None => {
            resource["md5Hash"] = base64(&md5(&object.bytes)).into();
            resource["crc32c"] = base64(&crc32c(&object.bytes).to_be_bytes()).into();
        }
    }
    if let Some(key) = object.header("kms-key-name") {
        resource["kmsKeyName"] = key.into();
    }
    let metadata: Map<String, Value> = object
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(METADATA)?.to_owned(), value.as_str().into())))
        .collect();
    if !metadata.is_empty() {
        resource["metadata"] = metadata.into();
    }
    resource
}

/// Takes over what the resource of an upload says.
pub(super) fn apply(object: &mut Object, resource: &Value) {
    const FIELDS: [(&str, &str); 5] = [
        ("cacheControl", "cache-control"),
        ("contentDisposition", "content-disposition"),
        ("contentEncoding", "content-encoding"),
        ("contentLanguage", "content-language"),
        ("contentType", "content-type"),
    ];
    for (field, header) in FIELDS {
        if let Some(value) = resource[field].as_str() {
            object.headers.insert(header.to_owned(), value.to_owned());
        }
    }
    for (name, value) in resource["metadata"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        object.headers.insert(format!("{METADATA}{}", name.to_ascii_lowercase()), value.to_owned());
    }
}

/// Tells whether the digests that a client declares are those of the bytes.
pub(super) fn digests_fit(bytes: &[u8], md5_declared: Option<&str>, crc32c_declared: Option<&str>) -> bool {
    let fits = |declared: Option<&str>, computed: &[u8]| {
        declared.is_none_or(|declared| from_base64(declared).as_deref() == Some(computed))
    };
    fits(md5_declared, &md5(bytes)) && fits(crc32c_declared, &crc32c(bytes).to_be_bytes())
}

fn content_type(object: &Object) -> &str {
    object.header("content-type").unwrap_or("application/octet-stream")
}

/// Adds the headers by which reads of either interface describe an object.
pub(super) fn describe(request: &Request, object: &Object, mut answer: Answer) -> Answer {
    for (name, value) in
        object.headers.iter().filter(|(name, _)| !matches!(name.as_str(), "kms-key-name" | "content-type"))
    {
        answer = answer.header(name, value);
    }
    let whole = answer.status() == 200 && object.key_digest.is_none();
    if whole || request.method == "HEAD" {
        let digests = format!(
            "crc32c={},md5={}",
            base64(&crc32c(&object.bytes).to_be_bytes()),
            base64(&md5(&object.bytes))
        );
        answer = answer.header("x-goog-hash", digests);
    }
    answer = answer.header("content-type", content_type(object));
    generation(object, encryption::describe(object, answer))
}

/// Adds the headers that every answer about an object has.
pub(super) fn generation(object: &Object, answer: Answer) -> Answer {
    let answer = answer
        .header("x-goog-generation", object.generation.to_string())
        .header("x-goog-metageneration", object.metageneration.to_string())
        .header("x-goog-stored-content-length", object.bytes.len().to_string());
    if answer.get("etag").is_some() {
        return answer;
    }
    answer.header("etag", &object.etag).header("last-modified", http_date(object.modified))
}
