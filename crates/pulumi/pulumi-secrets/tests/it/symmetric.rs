//! The text form of symmetric ciphertexts.

use groundstate_pulumi_secrets::{Ciphertext, CryptError, Decrypter, Encrypter, Plaintext, SymmetricCrypter};

use crate::support::{Replay, counting, key, symmetric};

const NONCE: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

#[test]
fn values_encrypt_to_the_bytes_of_the_original() {
    for (plaintext, ciphertext) in [
        ("\"hunter2\"", "v1:AAECAwQFBgcICQoL:ZWqjdbGAsCmvsqhugrfh7nRCrK1JhjRmaQ=="),
        ("", "v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzA=="),
    ] {
        let crypter = SymmetricCrypter::new(&key(), Replay::of([&NONCE]));
        assert_eq!(crypter.encrypt(&Plaintext::new(plaintext)).unwrap().as_str(), ciphertext);
        assert_eq!(crypter.decrypt(&Ciphertext::new(ciphertext)).unwrap().expose(), plaintext);
    }
}

#[test]
fn malformed_ciphertexts_name_the_part_that_is_wrong() {
    for (ciphertext, original, ours) in [
        ("hunter2", "bad value", "there is 1 part instead of the three of `v1:nonce:value`"),
        ("v1:a:b:c", "bad value", "there are 4 parts"),
        ("v2:AAECAwQFBgcICQoL:AAAA", "unknown value version", "does not begin with `v1:`"),
        ("v1:A!AA:AAAA", "bad value: illegal base64 data at input byte 1", "of the nonce, its second part"),
        ("v1:AAAA:AAA!", "bad value: illegal base64 data at input byte 3", "of the encrypted value"),
        ("v1:AAAA:AAAA", "bad value: nonce size is incorrect", "it has 3 bytes instead of 12"),
        (
            "v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzQ==",
            "cipher: message authentication failed",
            "another stack or passphrase",
        ),
    ] {
        let error = symmetric().decrypt(&Ciphertext::new(ciphertext)).unwrap_err().to_string();
        assert!(error.starts_with(original) && error.contains(ours), "{ciphertext}: {error}");
    }
}

#[test]
fn errors_quote_nothing_of_what_stands_in_the_place_of_a_ciphertext() {
    for secret in ["correct-horse", "correct-horse:x:y", "v1:correct-horse:", "v1:AAAA:correct-horse"] {
        let error = symmetric().decrypt(&Ciphertext::new(secret)).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("horse"), "{error:?}");
    }
}

#[test]
fn equal_values_get_different_ciphertexts() {
    let crypter = symmetric();
    let plaintext = Plaintext::new("same");
    let ciphertexts = crypter.encrypt_batch(&[&plaintext, &plaintext]).unwrap();
    assert_ne!(ciphertexts[0], ciphertexts[1]);
    let borrowed: Vec<&Ciphertext> = ciphertexts.iter().collect();
    assert_eq!(crypter.decrypt_batch(&borrowed).unwrap(), [plaintext.clone(), plaintext]);
}

#[test]
fn a_batch_says_which_of_its_values_is_damaged() {
    let crypter = symmetric();
    let good = crypter.encrypt(&Plaintext::new("x")).unwrap();
    let error = crypter.decrypt_batch(&[&good, &Ciphertext::new("v1"), &good]).unwrap_err();
    assert_eq!(error.index(), Some(1));
    assert_eq!(error.to_string(), "value 2 of the batch cannot be processed");
    let CryptError::Item { source, .. } = error else { panic!("{error:?}") };
    assert!(matches!(*source, CryptError::Parts { found: 1 }), "{source:?}");
}

#[test]
fn without_randomness_nothing_is_encrypted_but_all_is_decrypted() {
    let good = symmetric().encrypt(&Plaintext::new("x")).unwrap();
    let crypter = SymmetricCrypter::new(&key(), Replay::of([]));
    let error = crypter.encrypt(&Plaintext::new("x")).unwrap_err();
    assert_eq!(error.to_string(), "the random generator does not answer, so nothing can be encrypted");
    assert_eq!(crypter.decrypt(&good).unwrap().expose(), "x");
}

#[test]
fn what_is_not_text_is_refused() {
    // The byte ff, encrypted with the key of the other vectors.
    let ciphertext = Ciphertext::new("v1:AAECAwQFBgcICQoL:uJs0RhnLaMJ9r4+bOTWG7GM=");
    assert!(matches!(symmetric().decrypt(&ciphertext), Err(CryptError::NotText)));
}

#[test]
fn a_crypter_shows_nothing_of_its_key() {
    let crypter = SymmetricCrypter::new(&key(), counting());
    assert_eq!(format!("{crypter:?}"), "SymmetricCrypter { .. }");
}
