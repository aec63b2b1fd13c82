//! The digest by which a journal knows states again.

use groundstate_common::hex;
use sha2::{Digest, Sha256};

/// The SHA-256 digest of the bytes, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
