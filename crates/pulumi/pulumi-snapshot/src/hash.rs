//! Hashes as snapshots write them.

use sha2::{Digest, Sha256};

/// The SHA-256 of the bytes in lowercase hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
