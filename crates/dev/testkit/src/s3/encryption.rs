//! Encryption as far as clients notice it: headers that come back, and customers' keys that have to fit.

use super::error::{Refused, Result};
use crate::digest::{base64, from_base64, md5};
use crate::http::{Answer, Request};
use crate::store::Object;

const ALGORITHM: &str = "x-amz-server-side-encryption-customer-algorithm";
const KEY: &str = "x-amz-server-side-encryption-customer-key";
const DIGEST: &str = "x-amz-server-side-encryption-customer-key-md5";
/// What the other kinds of encryption are called by.
const MANAGED: [&str; 3] = [
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
];

/// The digest of the customer's key in a request, whose three headers have to agree.
pub(super) fn customer_key(request: &Request) -> Result<Option<String>> {
    let (algorithm, key, digest) = (request.header(ALGORITHM), request.header(KEY), request.header(DIGEST));
    if algorithm.is_none() && key.is_none() && digest.is_none() {
        return Ok(None);
    }
    if algorithm != Some("AES256") {
        return Err(Refused::argument(ALGORITHM, "The encryption algorithm has to be AES256"));
    }
    let key = key.and_then(from_base64).filter(|key| key.len() == 32);
    let key =
        key.ok_or_else(|| Refused::argument(KEY, "The secret key was invalid for the specified algorithm."))?;
    let computed = base64(&md5(&key));
    if digest != Some(computed.as_str()) {
        let message = "The calculated MD5 hash of the key did not match the hash that was provided.";
        return Err(Refused::argument(DIGEST, message));
    }
    Ok(Some(computed))
}

/// Refuses to read an object without its key.
pub(super) fn check(request: &Request, object: &Object) -> Result<()> {
    match (customer_key(request)?, &object.key_digest) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(Refused::invalid(
            "The object was stored using a form of Server Side Encryption. \
             The correct parameters must be provided to retrieve the object.",
        )),
        (Some(_), None) => {
            Err(Refused::invalid("The encryption parameters are not applicable to this object."))
        }
        (Some(given), Some(digest)) if given == *digest => Ok(()),
        (Some(_), Some(_)) => Err(Refused::denied()),
    }
}

/// Notes how a new object is encrypted. Only without a key of anybody is the ETag the MD5 of the bytes.
pub(super) fn apply(request: &Request, object: &mut Object) -> Result<()> {
    object.key_digest = customer_key(request)?;
    for name in MANAGED {
        if let Some(value) = request.header(name) {
            object.headers.insert(name.to_owned(), value.to_owned());
        }
    }
    let by_service = object.header(MANAGED[0]).is_some_and(|kind| kind.starts_with("aws:kms"));
    if by_service && object.key_digest.is_some() {
        return Err(Refused::argument(
            KEY,
            "Server Side Encryption with a customer key excludes that with KMS",
        ));
    }
    if by_service || object.key_digest.is_some() {
        let salted = [&b"encrypted"[..], &object.bytes[..]].concat();
        object.etag = format!("\"{}\"", crate::digest::md5_hex(&salted));
    }
    Ok(())
}

/// Adds what an answer says about the encryption of an object.
pub(super) fn describe(object: &Object, mut answer: Answer) -> Answer {
    for name in MANAGED {
        answer = answer.maybe(name, object.header(name));
    }
    match &object.key_digest {
        None => answer,
        Some(digest) => answer.header(ALGORITHM, "AES256").header(DIGEST, digest),
    }
}
