//! The crypter that remembers.

use groundstate_pulumi_secrets::{
    CachedCrypter, Ciphertext, CryptError, Decrypter, Encrypter, ErrorCrypter, Plaintext,
};

use crate::support::{Watched, symmetric};

#[test]
fn no_ciphertext_is_asked_for_twice() {
    let watched = Watched::new(symmetric());
    let stored = ["a", "b"].map(|text| watched.inner.encrypt(&Plaintext::new(text)).unwrap());
    let [a, b] = &stored;
    let cached = CachedCrypter::new(&*watched);
    assert_eq!(cached.decrypt(a).unwrap().expose(), "a");
    assert_eq!(cached.decrypt(a).unwrap().expose(), "a");
    let all = cached.decrypt_batch(&[b, a, b]).unwrap();
    assert_eq!(all.iter().map(Plaintext::expose).collect::<Vec<_>>(), ["b", "a", "b"]);
    cached.decrypt_batch(&[a, b]).unwrap();
    assert_eq!(watched.decrypted(), [1, 1]);
}

#[test]
fn what_was_encrypted_is_known() {
    let watched = Watched::new(symmetric());
    let cached = CachedCrypter::new(&*watched);
    let one = cached.encrypt(&Plaintext::new("one")).unwrap();
    let two = cached.encrypt_batch(&[&Plaintext::new("two")]).unwrap().remove(0);
    assert_eq!(cached.decrypt(&one).unwrap().expose(), "one");
    assert_eq!(cached.decrypt(&two).unwrap().expose(), "two");
    assert!(watched.decrypted().is_empty());
    // Encrypting again is never answered from memory: equal ciphertexts would tell that values are equal.
    assert_ne!(cached.encrypt(&Plaintext::new("one")).unwrap(), one);
}

#[test]
fn answers_fetched_ahead_are_enough() {
    let cached = CachedCrypter::new(ErrorCrypter::new("not fetched"));
    cached.remember(Ciphertext::new("c"), Plaintext::new("p"));
    assert_eq!(cached.decrypt_batch(&[&Ciphertext::new("c")]).unwrap(), [Plaintext::new("p")]);
    let error = cached.decrypt(&Ciphertext::new("d")).unwrap_err();
    assert_eq!(error.to_string(), "failed to decrypt: not fetched");
    assert!(!format!("{cached:?}").contains("\"p\""));
}

#[test]
fn the_place_of_a_damaged_value_is_that_in_the_whole_batch() {
    let crypter = symmetric();
    let stored: Vec<Ciphertext> =
        ["a", "b", "c"].iter().map(|text| crypter.encrypt(&Plaintext::new(*text)).unwrap()).collect();
    let cached = CachedCrypter::new(&crypter);
    cached.decrypt(&stored[0]).unwrap();
    let damaged = Ciphertext::new("v1");
    let batch = [&stored[0], &stored[1], &stored[1], &damaged, &stored[2]];
    let error = cached.decrypt_batch(&batch).unwrap_err();
    assert_eq!(error.index(), Some(3));
    let CryptError::Item { source, .. } = error else { panic!("{error:?}") };
    assert!(matches!(*source, CryptError::Parts { .. }), "{source:?}");
}
