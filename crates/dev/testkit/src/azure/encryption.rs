//! Customers' keys, which have to fit.

use super::error::{Refused, Result};
use crate::digest::{base64, from_base64, sha256};
use crate::http::{Answer, Request};
use crate::store::Object;

const ALGORITHM: &str = "x-ms-encryption-algorithm";
const KEY: &str = "x-ms-encryption-key";
const DIGEST: &str = "x-ms-encryption-key-sha256";

/// The digest of the customer's key in a request, whose three headers have to agree.
pub(super) fn customer_key(request: &Request) -> Result<Option<String>> {
    let (algorithm, key, digest) = (request.header(ALGORITHM), request.header(KEY), request.header(DIGEST));
    if algorithm.is_none() && key.is_none() && digest.is_none() {
        return Ok(None);
    }
    if algorithm != Some("AES256") {
        return Err(Refused::header(ALGORITHM));
    }
    let key = key.and_then(from_base64).filter(|key| key.len() == 32).ok_or_else(|| Refused::header(KEY))?;
    let computed = base64(&sha256(&key));
    if digest != Some(computed.as_str()) {
        return Err(Refused::header(DIGEST));
    }
    Ok(Some(computed))
}

/// Refuses to work on a blob without its key.
pub(super) fn check(request: &Request, object: &Object) -> Result<()> {
    let given = customer_key(request)?;
    if given == object.key_digest {
        return Ok(());
    }
    if given.is_none() {
        let message = "The blob is encrypted with customer specified encryption, but it was not provided in the request.";
        return Err(Refused::new(409, "BlobUsesCustomerSpecifiedEncryption", message));
    }
    let message =
        "The given customer specified encryption does not match the encryption used to encrypt the blob.";
    Err(Refused::new(409, "BlobCustomerSpecifiedEncryptionMismatch", message))
}

/// Adds what an answer says about the key.
pub(super) fn describe(object: &Object, answer: Answer) -> Answer {
    answer.maybe(DIGEST, object.key_digest.as_deref())
}
