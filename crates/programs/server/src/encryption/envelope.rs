//! Envelope of one blob: encrypted by a key of its own, which is derived from a data key and a random salt.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | four zeros and `GSE1` |
//! | 16 | ID of the data key |
//! | 32 | salt |
//! | as many as the plaintext | ciphertext |
//! | 16 | tag |
//!
//! HKDF with SHA-256 derives the key of the blob from the data key, the salt and the key under which the blob is stored. AES-256-GCM
//! authenticates everything before the ciphertext, and the key under which the blob is stored. No two blobs have one key, so the nonce is zero.

use bytes::Bytes;
use groundstate_common::Entropy;
use groundstate_pulumi_service::BoxError;
use groundstate_pulumi_service::pulumi_secrets::Key;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

/// Zeros, which no JSON has, and the form of the envelope.
const MAGIC: [u8; 8] = *b"\0\0\0\0GSE1";
const ZEROS: usize = 4;
const ID: usize = 16;
const SALT: usize = 32;
const HEADER: usize = MAGIC.len() + ID + SALT;
const TAG: usize = 16;

/// ID of a data key.
pub(super) type KeyId = [u8; ID];

/// Returns `true` for an envelope, also if one bit of its beginning is flipped. What the server stores readable is JSON, which has no zeros.
pub(super) fn is_sealed(bytes: &[u8]) -> bool {
    bytes.iter().take(ZEROS).filter(|byte| **byte == 0).count() >= ZEROS - 1
}

/// Returns the ID of the data key of an envelope, or `None` if it is none of this form.
pub(super) fn key_id(bytes: &[u8]) -> Option<KeyId> {
    let is_whole = bytes.len() >= HEADER + TAG && bytes.starts_with(&MAGIC);
    let id = bytes.get(MAGIC.len()..MAGIC.len() + ID).filter(|_| is_whole)?;
    id.try_into().ok()
}

/// Encrypts a blob that is stored under a name.
///
/// # Errors
///
/// Returns an error if there is no random salt, or the blob is too long.
pub(super) fn seal(
    data: &Key,
    id: &KeyId,
    name: &str,
    plain: &[u8],
    entropy: &dyn Entropy,
) -> Result<Vec<u8>, BoxError> {
    let mut salt = [0; SALT];
    entropy.fill(&mut salt)?;
    let mut sealed = Vec::with_capacity(HEADER + plain.len() + TAG);
    sealed.extend_from_slice(&MAGIC);
    sealed.extend_from_slice(id);
    sealed.extend_from_slice(&salt);
    let aad = Aad::from([&sealed[..], name.as_bytes()].concat());
    sealed.extend_from_slice(plain);
    let key = blob_key(data, &salt, name).ok_or("no key can be derived")?;
    let text = sealed.get_mut(HEADER..).unwrap_or_default();
    let tag = key.seal_in_place_separate_tag(nonce(), aad, text).map_err(|_| "it is too long")?;
    sealed.extend_from_slice(tag.as_ref());
    Ok(sealed)
}

/// Decrypts a blob that is stored under a name. Returns `None` if it is damaged, or stored under another name.
pub(super) fn open(data: &Key, name: &str, sealed: Bytes) -> Option<Bytes> {
    let mut sealed = Vec::from(sealed);
    let (header, text) = sealed.split_at_mut_checked(HEADER)?;
    let salt: [u8; SALT] = header.get(MAGIC.len() + ID..)?.try_into().ok()?;
    let aad = Aad::from([&*header, name.as_bytes()].concat());
    let size = blob_key(data, &salt, name)?.open_in_place(nonce(), aad, text).ok()?.len();
    Some(Bytes::from(sealed).slice(HEADER..HEADER + size))
}

fn blob_key(data: &Key, salt: &[u8; SALT], name: &str) -> Option<LessSafeKey> {
    let info = [name.as_bytes()];
    let derived = Salt::new(HKDF_SHA256, salt).extract(data.expose());
    let key = derived.expand(&info, &AES_256_GCM).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(key)))
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use groundstate_common::OsEntropy;
    use groundstate_pulumi_service::pulumi_secrets::Key;

    use super::{HEADER, TAG, is_sealed, key_id, open, seal};

    const NAME: &str = "documents/data/a!/versions/1";
    const PLAIN: &[u8] = b"{\"password\":\"hunter2\"}";

    fn sealed() -> (Key, Vec<u8>) {
        let key = Key::new([7; Key::LENGTH]);
        let sealed = seal(&key, &[3; 16], NAME, PLAIN, &OsEntropy).unwrap();
        (key, sealed)
    }

    #[test]
    fn blob_is_opened_by_its_key_under_its_name_alone() {
        let (key, sealed) = sealed();
        assert_eq!(sealed.len(), HEADER + PLAIN.len() + TAG);
        assert!(is_sealed(&sealed) && !is_sealed(PLAIN) && key_id(&sealed) == Some([3; 16]));
        let sealed = Bytes::from(sealed);
        assert_eq!(open(&key, NAME, sealed.clone()).as_deref(), Some(PLAIN));
        assert_eq!(open(&key, "documents/data/b!/versions/1", sealed.clone()), None);
        assert_eq!(open(&Key::new([8; Key::LENGTH]), NAME, sealed.clone()), None);
        assert!(!sealed.windows(7).any(|part| part == b"hunter2"));
        let again = seal(&key, &[3; 16], NAME, PLAIN, &OsEntropy).unwrap();
        assert_ne!(again, sealed);
        let nothing = seal(&key, &[3; 16], NAME, b"", &OsEntropy).unwrap();
        assert_eq!(open(&key, NAME, nothing.into()).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn flipped_bit_and_cut_envelope_are_never_opened_or_taken_for_readable() {
        let (key, sealed) = sealed();
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(is_sealed(&damaged), "bit {bit}");
            let is_known = key_id(&damaged) == Some([3; 16]);
            assert!(!is_known || open(&key, NAME, damaged.into()).is_none(), "bit {bit}");
        }
        for end in 3..sealed.len() {
            let cut = Bytes::from(sealed[..end].to_vec());
            assert!(is_sealed(&cut), "{end}");
            assert!(key_id(&cut).is_none() || open(&key, NAME, cut).is_none(), "{end}");
        }
    }
}
