//! Checksums that a request declares, compared with what arrived.

use super::chunked::Payload;
use super::error::{Refused, Result};
use crate::digest::{base64, crc32, crc32c, crc64nvme, hex, md5, sha1, sha256};
use crate::http::Request;

const PREFIX: &str = "x-amz-checksum-";

/// Compares all checksums that the request declares, and returns those that the object keeps.
pub(super) fn verify(request: &Request, payload: &Payload) -> Result<Vec<(String, String)>> {
    let bytes = &payload.bytes;
    if request.header("content-md5").is_some_and(|declared| declared != base64(&md5(bytes))) {
        let message = "The Content-MD5 you specified did not match what we received.";
        return Err(Refused::new(400, "BadDigest", message));
    }
    if let Some(declared) = request.header("x-amz-content-sha256") {
        // Other values, such as UNSIGNED-PAYLOAD, are no digests.
        if declared.len() == 64 && declared != hex(&sha256(&request.body)) {
            let message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
            return Err(Refused::new(400, "XAmzContentSHA256Mismatch", message));
        }
    }
    let headers = request.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut kept = Vec::new();
    for (name, declared) in headers.chain(payload.trailers.iter().cloned()) {
        let Some(computed) = name.strip_prefix(PREFIX).and_then(|algorithm| compute(algorithm, bytes)) else {
            continue;
        };
        if declared != computed {
            let algorithm = name[PREFIX.len()..].to_ascii_uppercase();
            let message = format!("The {algorithm} you specified did not match the calculated checksum.");
            return Err(Refused::new(400, "BadDigest", &message));
        }
        kept.push((name, declared));
    }
    Ok(kept)
}

/// The checksum in base64, if the algorithm is one.
fn compute(algorithm: &str, bytes: &[u8]) -> Option<String> {
    Some(match algorithm {
        "crc32" => base64(&crc32(bytes).to_be_bytes()),
        "crc32c" => base64(&crc32c(bytes).to_be_bytes()),
        "crc64nvme" => base64(&crc64nvme(bytes).to_be_bytes()),
        "sha1" => base64(&sha1(bytes)),
        "sha256" => base64(&sha256(bytes)),
        _ => return None,
    })
}
