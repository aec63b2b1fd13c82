//! What Pulumi wrote is read, and what it wrote is written, byte for byte.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_pulumi_secrets::passphrase::{GivenPassphrase, Salt, create, open};
use groundstate_pulumi_secrets::{
    Ciphertext, Decrypter, DefaultProvider, Encrypter, Manager, Passphrase, Plaintext, Provider,
    SecretsProviders, SymmetricCrypter,
};
use serde_json::Value;

use crate::support::{Replay, chain, counting, key, list, ours, pulumi, symmetric, text};

fn assert_decrypts(decrypter: &dyn Decrypter, values: &[Value]) {
    assert!(!values.is_empty());
    for value in values {
        let plaintext = decrypter.decrypt(&Ciphertext::new(text(value, "ciphertext"))).unwrap();
        assert_eq!(plaintext.expose(), text(value, "plaintext"));
    }
}

fn nonce(ciphertext: &str) -> Vec<u8> {
    STANDARD.decode(ciphertext.split(':').nth(1).unwrap()).unwrap()
}

fn provider(passphrase: &str) -> DefaultProvider {
    DefaultProvider::new(Arc::new(GivenPassphrase::new().with_variable(Some(passphrase))), counting())
}

fn states(file: &Value) -> Vec<(String, SecretsProviders, Vec<Value>)> {
    let states = list(file, "states").to_vec();
    let state = |state: &Value| {
        let providers = SecretsProviders::new("passphrase", Some(&state["state"].to_string())).unwrap();
        (text(state, "passphrase").to_owned(), providers, list(state, "values").to_vec())
    };
    states.iter().map(state).collect()
}

#[test]
fn values_that_pulumi_or_an_earlier_release_encrypted_are_decrypted() {
    for file in [pulumi(), ours()] {
        assert_decrypts(&symmetric(), list(&file, "symmetric"));
    }
}

#[test]
fn with_pulumis_nonce_a_value_is_encrypted_to_pulumis_bytes() {
    let vectors = pulumi();
    for value in list(&vectors, "symmetric") {
        let expected = text(value, "ciphertext");
        let crypter = SymmetricCrypter::new(&key(), Replay::of([&nonce(expected)]));
        assert_eq!(crypter.encrypt(&Plaintext::new(text(value, "plaintext"))).unwrap().as_str(), expected);
    }
}

#[test]
fn states_of_both_are_opened_with_all_kinds_of_passphrases() {
    for (passphrase, providers, values) in [pulumi(), ours()].iter().flat_map(states) {
        let manager = provider(&passphrase).of_type(&providers).unwrap();
        assert_eq!(manager.lock_reason(), None);
        assert_decrypts(manager.decrypter(), &values);
    }
}

#[test]
fn keys_are_derived_as_pulumi_derives_them() {
    let vectors = pulumi();
    for derived in list(&vectors, "derived") {
        // The salt text of such a key is made by encrypting the word `pulumi` with it, under any nonce.
        let (salt, passphrase) = (text(derived, "salt"), Passphrase::new(text(derived, "passphrase")));
        let bytes = STANDARD.decode(salt).unwrap();
        if bytes.len() != 8 {
            let broken =
                Salt::parse(&format!("v1:{salt}:v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzA==")).unwrap();
            assert!(broken.unlock(&passphrase, counting()).unwrap_err().is_locked());
            continue;
        }
        let (made, manager) = create(&passphrase, Replay::of([&bytes, &[7; 12]])).unwrap();
        assert!(made.as_str().starts_with(&format!("v1:{salt}:v1:BwcHBwcHBwcHBwcH:")), "{}", made.as_str());
        assert_decrypts(manager.decrypter(), list(derived, "values"));
    }
}

#[test]
fn with_pulumis_randomness_a_state_is_made_of_pulumis_bytes() {
    let (passphrase, providers, _) = states(&pulumi()).remove(0);
    let state: Value = serde_json::from_str(providers.state().unwrap()).unwrap();
    let expected = text(&state, "salt");
    let parts: Vec<&str> = expected.splitn(3, ':').collect();
    let entropy = Replay::of([&STANDARD.decode(parts[1]).unwrap(), &nonce(parts[2])]);

    let (salt, manager) = create(&Passphrase::new(passphrase), entropy).unwrap();

    assert_eq!(salt.as_str(), expected);
    assert_eq!(manager.providers().as_json(), providers.as_json());
    assert_eq!(manager.providers().as_json(), format!(r#"{{"type":"passphrase","state":{state}}}"#));
}

#[test]
fn damaged_ciphertexts_fail_in_pulumis_words() {
    let (vectors, crypter) = (pulumi(), symmetric());
    let cases = list(&vectors, "decrypt");
    assert!(cases.len() > 40);
    for case in cases {
        let input = text(case, "input");
        let found = crypter.decrypt(&Ciphertext::new(input));
        match case["error"].as_str() {
            None => assert_eq!(found.unwrap().expose(), text(case, "plaintext"), "{input}"),
            Some(expected) => {
                let error = found.unwrap_err().to_string();
                assert!(error.starts_with(expected), "{input}: {error} is not {expected}");
                assert!(error.len() > expected.len() + 20, "{input}: {error} says no next step");
            }
        }
    }
}

#[test]
fn damaged_salts_fail_in_pulumis_words() {
    let vectors = pulumi();
    for case in list(&vectors, "open") {
        let input = text(case, "input");
        let unlock = |salt: Salt| salt.unlock(&Passphrase::new("password"), counting());
        match (Salt::parse(input).and_then(unlock), case["error"].as_str()) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => {
                assert!(error.to_string().starts_with(expected), "{input}: {error} is not {expected}");
            }
            (found, expected) => panic!("{input}: {found:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn providers_fail_in_pulumis_words() {
    let vectors = pulumi();
    for case in list(&vectors, "of_type") {
        let input = text(case, "input");
        let found = provider("wrong").of_type(&SecretsProviders::parse(input).unwrap());
        let Some(expected) = case["error"].as_str() else {
            assert!(found.unwrap().lock_reason().is_some(), "{input}");
            continue;
        };
        let error = chain(&found.unwrap_err());
        // Behind this, Go's parser of JSON names types of Go.
        let expected = match expected.find("unmarshalling state: ") {
            Some(at) => &expected[..at + "unmarshalling state: ".len()],
            None => expected,
        };
        assert!(error.starts_with(expected), "{input}: {error} is not {expected}");
    }
}

#[test]
fn locked_managers_refuse_in_pulumis_words() {
    let vectors = pulumi();
    let (_, providers, values) = states(&vectors).remove(0);
    let source = GivenPassphrase::new().with_variable(Some("wrong"));
    let manager: Manager = open(&providers, &source, None, counting()).unwrap();
    let (plaintext, ciphertext) = (Plaintext::new("a"), Ciphertext::new(text(&values[0], "ciphertext")));
    let errors = [
        manager.encrypter().encrypt(&plaintext).unwrap_err(),
        manager.decrypter().decrypt(&ciphertext).unwrap_err(),
        manager.encrypter().encrypt_batch(&[&plaintext]).unwrap_err(),
        manager.decrypter().decrypt_batch(&[&ciphertext]).unwrap_err(),
    ];
    assert_eq!(errors.map(|error| error.to_string()).as_slice(), list(&vectors, "locked"));
}
