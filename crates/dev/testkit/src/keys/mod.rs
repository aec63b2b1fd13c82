//! Key services: stand-ins where there is no emulator (Google Cloud KMS, Azure Key Vault), and new keys in the peers.

mod google;
mod peers;
mod vault;

pub use google::GoogleKmsServer;
pub use peers::{new_kms_key, new_transit_key, write_to_openbao};
pub use vault::KeyVaultServer;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

const NONCE: usize = 12;

fn cipher(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("the key has 32 bytes"))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the machine has randomness");
    bytes
}

/// Encrypts: ciphertext and tag.
fn seal(key: &[u8; 32], nonce: [u8; NONCE], associated: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let mut bytes = plaintext.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let sealed = cipher(key).seal_in_place_append_tag(nonce, Aad::from(associated), &mut bytes);
    sealed.expect("the text is short");
    bytes
}

/// Decrypts ciphertext and tag, if they are of this key, nonce and associated data.
fn open(key: &[u8; 32], nonce: &[u8], associated: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut bytes = sealed.to_vec();
    let plain = cipher(key).open_in_place(nonce, Aad::from(associated), &mut bytes).ok()?;
    Some(plain.to_vec())
}
