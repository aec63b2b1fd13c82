//! Hashes as snapshots write them.

use groundstate_common::hex;
use sha2::{Digest, Sha256};

/// The SHA-256 of the bytes in lowercase hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
