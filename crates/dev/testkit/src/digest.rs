//! Digests in the spellings of the services.

pub(crate) use groundstate_common::hex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crc::{CRC_32_ISCSI, CRC_32_ISO_HDLC, CRC_64_NVME, Crc};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a text in base64.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok()
}

pub(crate) fn md5(bytes: &[u8]) -> Vec<u8> {
    Md5::digest(bytes).to_vec()
}

pub(crate) fn md5_hex(bytes: &[u8]) -> String {
    hex(&md5(bytes))
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(crate) fn sha1(bytes: &[u8]) -> Vec<u8> {
    Sha1::digest(bytes).to_vec()
}

pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(bytes)
}

pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
    CRC.checksum(bytes)
}

pub(crate) fn crc64nvme(bytes: &[u8]) -> u64 {
    const CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);
    CRC.checksum(bytes)
}

/// The keyed digest that signatures are made of.
pub(crate) fn hmac_sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of any length will do");
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::{crc32, crc32c, crc64nvme, hex, hmac_sha256, md5_hex, sha1, sha256};

    #[test]
    fn digests_are_those_of_their_standards() {
        let text = b"123456789";
        assert_eq!(crc32(text), 0xcbf4_3926);
        assert_eq!(crc32c(text), 0xe306_9283);
        assert_eq!(crc64nvme(text), 0xae8b_1486_0a79_9888);
        assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&sha1(b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert!(hex(&sha256(b"")).starts_with("e3b0c44298fc1c149afb"));
        let keyed = hmac_sha256(b"key", b"The quick brown fox jumps over the lazy dog");
        assert!(hex(&keyed).starts_with("f7bc83f430538424b13298e6aa6fb143"));
    }
}
