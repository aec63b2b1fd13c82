//! Customers' keys, which have to fit.

use super::error::{Refused, Result};
use crate::digest::{base64, from_base64, sha256};
use crate::http::{Answer, Request};
use crate::store::Object;

const ALGORITHM: &str = "x-goog-encryption-algorithm";
const KEY: &str = "x-goog-encryption-key";
const DIGEST: &str = "x-goog-encryption-key-sha256";

/// The digest of the customer's key in a request, whose three headers have to agree.
pub(super) fn customer_key(request: &Request) -> Result<Option<String>> {
    let (algorithm, key, digest) = (request.header(ALGORITHM), request.header(KEY), request.header(DIGEST));
    if algorithm.is_none() && key.is_none() && digest.is_none() {
        return Ok(None);
    }
    if algorithm != Some("AES256") {
        let message = "The encryption algorithm is not valid; it has to be AES256.";
        return Err(Refused::new(400, "InvalidEncryptionAlgorithm", message));
    }
    let key = key.and_then(from_base64).filter(|key| key.len() == 32);
    let computed = base64(&sha256(&key.ok_or_else(|| {
        Refused::new(
            400,
            "CustomerEncryptionKeyFormatIsInvalid",
            "Missing an encryption key, or it is not of 32 bytes.",
        )
    })?));
    if digest != Some(computed.as_str()) {
        let message = "The provided encryption key's SHA256 hash does not match the key.";
        return Err(Refused::new(400, "CustomerEncryptionKeySha256IsInvalid", message));
    }
    Ok(Some(computed))
}

/// Refuses to read the bytes of an object without its key.
pub(super) fn check(request: &Request, object: &Object) -> Result<()> {
    match (customer_key(request)?, &object.key_digest) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(Refused::new(
            400,
            "ResourceIsEncryptedWithCustomerEncryptionKey",
            "The target object is encrypted by a customer-supplied encryption key.",
        )),
        (Some(_), None) => Err(Refused::new(
            400,
            "ResourceNotEncryptedWithCustomerEncryptionKey",
            "The target object is not encrypted by a customer-supplied encryption key.",
        )),
        (Some(given), Some(digest)) if given == *digest => Ok(()),
        (Some(_), Some(_)) => Err(Refused::new(
            400,
            "CustomerEncryptionKeyIsIncorrect",
            "The provided encryption key is incorrect.",
        )),
    }
}

/// Adds what an answer says about the key.
pub(super) fn describe(object: &Object, answer: Answer) -> Answer {
    match &object.key_digest {
        None => answer,
        Some(digest) => answer.header(ALGORITHM, "AES256").header(DIGEST, digest),
    }
}
