//! Many secrets at once.

use std::sync::Arc;

use groundstate_pulumi_secrets::{
    BATCH, CachePolicy, Ciphertext, CryptError, Crypter, Decrypter, Encrypter, Manager, Plaintext,
    SecretCache, SecretId, SecretsProviders, SymmetricCrypter,
};

use crate::support::{Watched, symmetric};

fn manager(crypter: Arc<dyn Crypter>) -> Manager {
    Manager::new(SecretsProviders::new("test", None).unwrap(), crypter)
}

fn watched() -> (Arc<Watched<SymmetricCrypter>>, Manager) {
    let crypter = Watched::new(symmetric());
    let manager = manager(Arc::<Watched<SymmetricCrypter>>::clone(&crypter));
    (crypter, manager)
}

fn encrypt(manager: &Manager, secrets: &[(SecretId, String)]) -> Vec<Ciphertext> {
    let mut batch = manager.begin_encrypt();
    for (at, (id, text)) in secrets.iter().enumerate() {
        batch.enqueue(Some(id), Plaintext::new(text.clone()), at).unwrap();
    }
    let results = batch.complete().unwrap();
    assert!(results.iter().map(|(at, _)| *at).eq(0..secrets.len()), "the order is kept");
    results.into_iter().map(|(_, ciphertext)| ciphertext).collect()
}

fn decrypt(manager: &Manager, secrets: &[(SecretId, Ciphertext)]) -> Vec<String> {
    let mut batch = manager.begin_decrypt();
    for (at, (id, ciphertext)) in secrets.iter().enumerate() {
        batch.enqueue(Some(id), ciphertext.clone(), at).unwrap();
    }
    let results = batch.complete().unwrap();
    assert!(results.iter().map(|(at, _)| *at).eq(0..secrets.len()), "the order is kept");
    results.into_iter().map(|(_, plaintext)| plaintext.expose().to_owned()).collect()
}

fn secrets(count: usize) -> Vec<(SecretId, String)> {
    (0..count).map(|number| (SecretId::new(), format!("\"{number}\""))).collect()
}

#[test]
fn unchanged_values_keep_their_ciphertext() {
    let (crypter, manager) = watched();
    let mut secrets = secrets(3);
    let first = encrypt(&manager, &secrets);
    assert_eq!(encrypt(&manager.clone(), &secrets), first);
    assert_eq!(crypter.encrypted(), [3]);

    secrets[1].1 = "changed".to_owned();
    let third = encrypt(&manager, &secrets);
    assert_eq!((&third[0], &third[2]), (&first[0], &first[2]));
    assert_ne!(third[1], first[1]);
    // The others of the batch are not encrypted again, as they would be by the original.
    assert_eq!(crypter.encrypted(), [3, 1]);
}

#[test]
fn secrets_beyond_a_batch_go_into_a_second_request() {
    let (crypter, manager) = watched();
    let secrets = secrets(BATCH + 1);
    let ciphertexts = encrypt(&manager, &secrets);
    assert_eq!(crypter.encrypted(), [1000, 1]);

    let stored: Vec<_> = ciphertexts.into_iter().map(|ciphertext| (SecretId::new(), ciphertext)).collect();
    assert!(decrypt(&manager, &stored).iter().eq(secrets.iter().map(|(_, text)| text)));
    assert_eq!(crypter.decrypted(), [1000, 1]);
}

#[test]
fn full_and_empty_batches_ask_no_more_than_they_must() {
    let (crypter, manager) = watched();
    assert!(encrypt(&manager, &[]).is_empty());
    assert!(decrypt(&manager, &[]).is_empty());
    encrypt(&manager, &secrets(BATCH));
    assert_eq!(crypter.encrypted(), [1000]);
    assert!(crypter.decrypted().is_empty());
}

#[test]
fn what_was_decrypted_and_did_not_change_keeps_its_ciphertext() {
    let (crypter, manager) = watched();
    let id = SecretId::new();
    let stored = crypter.inner.encrypt(&Plaintext::new("x")).unwrap();
    assert_eq!(decrypt(&manager, &[(id.clone(), stored.clone())]), ["x"]);
    assert_eq!(encrypt(&manager, &[(id.clone(), "x".to_owned())]), std::slice::from_ref(&stored));
    assert!(crypter.encrypted().is_empty());

    assert_ne!(encrypt(&manager, &[(id.clone(), "y".to_owned())]), std::slice::from_ref(&stored));
    // What was before the last change is forgotten.
    assert_ne!(encrypt(&manager, &[(id, "x".to_owned())]), [stored]);
    assert_eq!(crypter.encrypted(), [1, 1]);
}

#[test]
fn policies_decide_what_is_encrypted_again() {
    for (policy, calls) in [
        (CachePolicy::KeepUnchanged, &[][..]),
        (CachePolicy::ReencryptOnce, &[1]),
        (CachePolicy::Off, &[1, 1]),
    ] {
        let (crypter, manager) = watched();
        let manager = manager.with_cache_policy(policy);
        let id = SecretId::new();
        let stored = crypter.inner.encrypt(&Plaintext::new("x")).unwrap();
        decrypt(&manager, &[(id.clone(), stored)]);
        let secret = [(id, "x".to_owned())];
        encrypt(&manager, &secret);
        encrypt(&manager, &secret);
        assert_eq!(crypter.encrypted(), calls, "{policy:?}");
    }
}

#[test]
fn equal_values_of_different_secrets_share_no_ciphertext() {
    let (_, manager) = watched();
    let same = |id: &SecretId| (id.clone(), "x".to_owned());
    let (a, b) = (SecretId::new(), SecretId::new());
    let first = encrypt(&manager, &[same(&a), same(&b)]);
    assert_ne!(first[0], first[1]);
    assert_eq!(encrypt(&manager, &[same(&b), same(&a)]), [first[1].clone(), first[0].clone()]);
}

#[test]
fn another_manager_encrypts_all_anew() {
    let (_, manager) = watched();
    let (crypter, other) = watched();
    let secrets = secrets(2);
    encrypt(&manager, &secrets);
    encrypt(&other, &secrets);
    assert_eq!(crypter.encrypted(), [2]);
}

#[test]
fn the_secret_that_is_to_blame_is_named_also_in_a_later_batch() {
    let (_, manager) = watched();
    let good = manager.encrypter().encrypt(&Plaintext::new("x")).unwrap();
    let mut batch = manager.begin_decrypt();
    for at in 0..1500 {
        let ciphertext = if at == 1234 { Ciphertext::new("v1") } else { good.clone() };
        batch.enqueue(Some(&SecretId::new()), ciphertext, at).unwrap();
    }
    let error = batch.complete().unwrap_err();
    assert_eq!(error.position(), Some(1234));
    assert!(matches!(error.error(), CryptError::Parts { found: 1 }), "{error:?}");
    assert!(error.to_string().starts_with("bad value: there is 1 part"), "{error}");
}

/// Fails while it is away, and forgets the last value of a batch when it is careless.
#[derive(Debug)]
struct Unreliable {
    away: std::sync::atomic::AtomicBool,
    careless: bool,
}

impl Encrypter for Unreliable {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        Ok(Ciphertext::new(plaintext.expose()))
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        if self.away.swap(false, std::sync::atomic::Ordering::Relaxed) {
            return Err(CryptError::other("no answer"));
        }
        let kept = plaintexts.len() - usize::from(self.careless);
        plaintexts[..kept].iter().map(|plaintext| self.encrypt(plaintext)).collect()
    }
}

impl Decrypter for Unreliable {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        Ok(Plaintext::new(ciphertext.as_str()))
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        let kept = ciphertexts.len() - usize::from(self.careless);
        ciphertexts[..kept].iter().map(|ciphertext| self.decrypt(ciphertext)).collect()
    }
}

#[test]
fn a_batch_that_failed_waits_and_may_be_tried_again() {
    let manager = manager(Arc::new(Unreliable { away: true.into(), careless: false }));
    let mut batch = manager.begin_encrypt();
    for (at, (id, text)) in secrets(BATCH).into_iter().enumerate() {
        batch.enqueue(Some(&id), Plaintext::new(text), at).unwrap();
    }
    let late = SecretId::new();
    let error = batch.enqueue(Some(&late), Plaintext::new("late"), BATCH).unwrap_err();
    assert_eq!(error.position(), None);
    assert_eq!(crate::support::chain(&error), "the key service failed: no answer");
    batch.enqueue(Some(&late), Plaintext::new("late"), BATCH).unwrap();
    let results = batch.complete().unwrap();
    assert_eq!(results.len(), BATCH + 1);
    assert_eq!(results[BATCH], (BATCH, Ciphertext::new("late")));
    assert_eq!(results[7], (7, Ciphertext::new("\"7\"")));
}

#[test]
fn a_crypter_that_loses_values_is_found_out() {
    let manager = manager(Arc::new(Unreliable { away: false.into(), careless: true }));
    let mut encrypting = manager.begin_encrypt();
    encrypting.enqueue(Some(&SecretId::new()), Plaintext::new("x"), ()).unwrap();
    let mut decrypting = manager.begin_decrypt();
    decrypting.enqueue(Some(&SecretId::new()), Ciphertext::new("x"), ()).unwrap();
    for error in [encrypting.complete().unwrap_err(), decrypting.complete().unwrap_err()] {
        assert!(matches!(error.error(), CryptError::Count { expected: 1, found: 0 }), "{error:?}");
    }
}

#[test]
fn secrets_that_are_gone_are_forgotten() {
    let cache = SecretCache::new();
    assert!(cache.is_empty());
    let kept = SecretId::new();
    cache.remember(&kept, Plaintext::new("kept"), Ciphertext::new("c"));
    for _ in 0..10_000 {
        cache.remember(&SecretId::new(), Plaintext::new("gone"), Ciphertext::new("c"));
    }
    assert!(cache.len() <= 1024, "{}", cache.len());
    assert_eq!(cache.ciphertext(&kept, &Plaintext::new("kept")), Some(Ciphertext::new("c")));
}

#[test]
fn batches_show_no_values() {
    let (_, manager) = watched();
    let mut encrypting = manager.begin_encrypt();
    encrypting.enqueue(Some(&SecretId::new()), Plaintext::new("hunter2"), ()).unwrap();
    let mut decrypting = manager.begin_decrypt();
    decrypting.enqueue(Some(&SecretId::new()), Ciphertext::new("hunter2"), ()).unwrap();
    assert_eq!(format!("{encrypting:?}"), "EncryptBatch { waiting: 1, all: 1, .. }");
    assert_eq!(format!("{decrypting:?}"), "DecryptBatch { waiting: 1, all: 1, .. }");
    encrypting.complete().unwrap();
    assert!(!format!("{manager:?}").contains("hunter2"));
}
