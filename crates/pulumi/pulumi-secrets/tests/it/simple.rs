//! Crypters without a key.

use groundstate_pulumi_secrets::{
    Base64Crypter, BlindingCrypter, Ciphertext, CryptError, Crypter, Decrypter, ErrorCrypter,
    NoSecretsCrypter, NopCrypter, Plaintext,
};

fn texts(crypter: &dyn Crypter) -> [Result<String, String>; 4] {
    let (plaintext, ciphertext) = (Plaintext::new("YQ=="), Ciphertext::new("YQ=="));
    let words = |error: CryptError| error.to_string();
    [
        crypter.encrypt(&plaintext).map(|ciphertext| ciphertext.as_str().to_owned()).map_err(words),
        crypter.encrypt_batch(&[&plaintext]).map(|mut all| all.remove(0).as_str().to_owned()).map_err(words),
        crypter.decrypt(&ciphertext).map(|plaintext| plaintext.expose().to_owned()).map_err(words),
        crypter.decrypt_batch(&[&ciphertext]).map(|all| all[0].expose().to_owned()).map_err(words),
    ]
}

#[test]
fn each_crypter_does_what_its_name_says() {
    let cases: [(&dyn Crypter, [&str; 4]); 4] = [
        (&NopCrypter, ["YQ==", "YQ==", "YQ==", "YQ=="]),
        (&BlindingCrypter::new(), ["[secret]"; 4]),
        (&BlindingCrypter::json(), ["\"[secret]\""; 4]),
        (&Base64Crypter, ["WVE9PQ==", "WVE9PQ==", "a", "a"]),
    ];
    for (crypter, expected) in cases {
        assert_eq!(texts(crypter), expected.map(|text| Ok(text.to_owned())), "{crypter:?}");
    }
}

#[test]
fn crypters_that_refuse_say_what_was_asked_of_them() {
    let operations = ["encrypt", "batch encrypt", "decrypt", "batch decrypt"];
    let refused = texts(&ErrorCrypter::new("no key"));
    assert_eq!(refused, operations.map(|operation| Err(format!("failed to {operation}: no key"))));
    for (found, operation) in texts(&NoSecretsCrypter).into_iter().zip(operations) {
        let error = found.unwrap_err();
        assert!(
            error.starts_with(&format!("attempt to {operation} a value where no secrets manager")),
            "{error}"
        );
    }
    let error = ErrorCrypter::new(ErrorCrypter::NO_MANAGER).decrypt(&Ciphertext::new("x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to decrypt: snapshot contains encrypted secrets but no secrets manager could be found"
    );
}

#[test]
fn damaged_base64_is_refused_with_its_place() {
    for (ciphertext, expected) in [
        ("YQ", "bad value: illegal base64 data at input byte 0 of the ciphertext;"),
        ("YWJj!", "bad value: illegal base64 data at input byte 4 of the ciphertext;"),
        ("/w==", "bad value: what was decrypted is not UTF-8;"),
    ] {
        let error = Base64Crypter.decrypt(&Ciphertext::new(ciphertext)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{ciphertext}: {error}");
    }
}

#[test]
fn crypters_work_behind_pointers() {
    let boxed: Box<dyn Crypter> = Box::new(NopCrypter);
    let shared: std::sync::Arc<dyn Crypter> = std::sync::Arc::new(NopCrypter);
    for crypter in [&boxed as &dyn Crypter, &shared, &&NopCrypter] {
        assert_eq!(texts(crypter), ["YQ=="; 4].map(|text| Ok(text.to_owned())));
    }
}
