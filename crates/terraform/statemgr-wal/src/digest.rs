//! The digest by which a journal knows states again.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The SHA-256 digest of the bytes, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a text does not fail.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}
