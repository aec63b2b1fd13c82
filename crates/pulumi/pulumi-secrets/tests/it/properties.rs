//! What holds for all values.

use std::collections::HashMap;

use groundstate_pulumi_secrets::passphrase::Salt;
use groundstate_pulumi_secrets::{
    Base64Crypter, Ciphertext, Decrypter, Encrypter, Key, Manager, NopCrypter, Plaintext, SecretId,
    SecretsProviders, SymmetricCrypter,
};
use proptest::prelude::*;

use crate::support::{counting, symmetric};

proptest! {
    #[test]
    fn what_is_encrypted_is_decrypted(texts in prop::collection::vec(any::<String>(), 0..8), key: [u8; 32]) {
        let symmetric = SymmetricCrypter::new(&Key::new(key), counting());
        let plaintexts: Vec<Plaintext> = texts.iter().map(Plaintext::new).collect();
        let borrowed: Vec<&Plaintext> = plaintexts.iter().collect();
        for crypter in [&symmetric as &dyn groundstate_pulumi_secrets::Crypter, &NopCrypter, &Base64Crypter] {
            let ciphertexts = crypter.encrypt_batch(&borrowed).unwrap();
            let ciphertexts: Vec<&Ciphertext> = ciphertexts.iter().collect();
            prop_assert_eq!(crypter.decrypt_batch(&ciphertexts).unwrap(), plaintexts.clone());
        }
    }

    #[test]
    fn no_changed_byte_goes_unnoticed(text: String, at: prop::sample::Index, byte in b' '..=b'~') {
        let crypter = symmetric();
        let ciphertext = crypter.encrypt(&Plaintext::new(&*text)).unwrap().as_str().to_owned();
        let mut changed = ciphertext.clone().into_bytes();
        *at.get_mut(&mut changed) = byte;
        let changed = String::from_utf8(changed).unwrap();
        // Spare bits of the last symbol before the padding are the one thing that does not count.
        match crypter.decrypt(&Ciphertext::new(&*changed)) {
            Ok(plaintext) => {
                prop_assert_eq!(plaintext.expose(), &*text);
                let differing = ciphertext.bytes().zip(changed.bytes()).rposition(|(a, b)| a != b);
                let last = ciphertext.trim_end_matches('=').len() - 1;
                prop_assert!(differing.is_none_or(|at| at == last && ciphertext.ends_with('=')));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn another_key_decrypts_nothing(text: String, key: [u8; 32], other: [u8; 32]) {
        prop_assume!(key != other);
        let [key, other] = [key, other].map(|key| SymmetricCrypter::new(&Key::new(key), counting()));
        let ciphertext = key.encrypt(&Plaintext::new(text)).unwrap();
        prop_assert!(other.decrypt(&ciphertext).is_err());
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,40}|v1:[A-Za-z0-9+/=:\n]{0,40}|[{}\\[\\]\",:a-z0-9 ]{0,40}") {
        let ciphertext = Ciphertext::new(&*text);
        prop_assert!(symmetric().decrypt(&ciphertext).is_err());
        let base64 = Base64Crypter.decrypt(&ciphertext);
        prop_assert!(base64.is_err() || text.bytes().all(|byte| byte.is_ascii()));
        if let Ok(salt) = Salt::parse(&text) {
            prop_assert_eq!(salt.as_str(), &*text);
        }
        if let Ok(providers) = SecretsProviders::parse(&text) {
            prop_assert_eq!(providers.as_json(), &*text);
            let again = SecretsProviders::new(providers.kind(), providers.state()).unwrap();
            prop_assert!(again.is_compatible(&providers));
        }
    }

    #[test]
    fn truncated_ciphertexts_are_refused(text: String, at: prop::sample::Index) {
        let crypter = symmetric();
        let ciphertext = crypter.encrypt(&Plaintext::new(text)).unwrap();
        let cut = &ciphertext.as_str()[..at.index(ciphertext.as_str().len())];
        prop_assert!(crypter.decrypt(&Ciphertext::new(cut)).is_err());
    }

    /// Each step writes all secrets after some of them got other values or were made anew.
    #[test]
    fn ciphertexts_change_exactly_with_values(
        steps in prop::collection::vec(prop::collection::vec((0_usize..6, 0_u8..3, any::<bool>()), 0..4), 1..8),
    ) {
        let providers = SecretsProviders::new("test", None).unwrap();
        let manager = Manager::new(providers, std::sync::Arc::new(symmetric()));
        let mut secrets: Vec<(SecretId, u8)> = (0..6).map(|_| (SecretId::new(), 0)).collect();
        let mut before: HashMap<SecretId, (u8, Ciphertext)> = HashMap::new();
        for step in steps {
            for (at, value, anew) in step {
                let id = if anew { SecretId::new() } else { secrets[at].0.clone() };
                secrets[at] = (id, value);
            }
            let mut batch = manager.begin_encrypt();
            for (id, value) in &secrets {
                batch.enqueue(Some(id), Plaintext::new(value.to_string()), (id.clone(), *value)).unwrap();
            }
            let written = batch.complete().unwrap();
            let mut seen = Vec::new();
            for ((id, value), ciphertext) in written {
                let kept = before.get(&id).is_some_and(|(old, known)| *old == value && *known == ciphertext);
                let should = before.get(&id).is_some_and(|(old, _)| *old == value);
                prop_assert_eq!(kept, should);
                prop_assert!(!seen.contains(&ciphertext));
                let plaintext = manager.decrypter().decrypt(&ciphertext).unwrap();
                prop_assert_eq!(plaintext.expose(), value.to_string());
                seen.push(ciphertext.clone());
                before.insert(id, (value, ciphertext));
            }
        }
    }
}
