//! Managers of the type `cloud`, with what Pulumi has written.

use std::sync::Arc;

use groundstate_pulumi_secrets::cloud::{
    CloudState, CloudStateError, azure_ciphertext, azure_encrypted_key, data_key, manager,
};
use groundstate_pulumi_secrets::{Ciphertext, Plaintext, SecretsProviders, decode_base64};

use crate::support::Counting;

/// URL, data key, secure value, plaintext, wrapped key: written by Pulumi 3.259.
const WRITTEN: [(&str, &str, &str, &str, &str); 4] = [
    (
        "awskms://alias/pulumi?region=us-east-1",
        "s2XdKnb7zdDrBgkQ/mSJqUK4AMoJpkwu8gFYO2EFhqQ=",
        "v1:G/CXo2BBYYxARTzs:2u2ffkVwEzF7knIPyTgMnlov8z5UXf0=",
        "hunter2",
        "ODVhYmIzNDEtY2UyNy00ZTY5LWEwOWYtYjk5NTcwNDMxNWNjYXbeAFRh2mTIa3wyQNZMHSP+T3iOzlRp/oWpB+QHLMGfyY/n2Mw+S4nw09FiDQQZTeVWdErEvdhZKxG+",
    ),
    (
        "hashivault://pulumi",
        "YebaLPgCUfJU3OuKbwT0Yob0CdYIxcpe8+73oe7+WqY=",
        "v1:DJE6OosROrcE725p:jWEaNGz+LfPAIslkOhXH3eGkg4Fwazs=",
        "hunter2",
        "dmF1bHQ6djE6ajJVYStaSjZISklWT1pDZGpWbnd1VFRGTDE0MGpPNU9sZ2g4THl4MjlWQm5BeGhHdjNORXQzTUQyMVJUbkxhNVd6SnQyQXhJT29Md3NDWlk=",
    ),
    (
        "gcpkms://projects/p/locations/global/keyRings/r/cryptoKeys/k",
        "u5pP20U7OwNoBtCF6JugRvon+gKBSwJW1LtjbXoYxQs=",
        "v1:ieZM8pOUx3psAsnf:pDpPdRAYtcg+L855bL0hguWXZAHFDPs=",
        "gsecret",
        "CnYxlbbputjniS9KxdTkcvTlzx6mkZ1if3J4S1tEg1kQSQg5Btsg4KJJGOZj444kq+EsYtKValvw3wAz+tLf",
    ),
    (
        "azurekeyvault://pulumi-testing.vault.azure.net/keys/k1",
        "aaWdirrNzi+OypmSKNoYD8lAkx2EcB7XDW3A4HNDCg0=",
        "v1:SrBqVe1/57yiouxJ:h2LnDSifK2ki/rsnC0Yo0fm9QULX2dq6",
        "azsecret",
        "cUhmUXFpY1pCenZUN1c2SGk2UEdzUHp4N2Z0dENVUGpKMl9PUHZUU1JRNnJvQ2hXMnNUQmMzZEZjYm1Fcm1OcWR6Qm1IQ21NRXlpc0VqckZWQ3B1UUFoVEdjTjlKejhFMTlxMlpVa2hpeHAtemdhRU95THRjY1RZamxpSU1uWUs0Ri1RRndiU0lNTmRuNjdZYl84V2tYVHl6cmU2RlN1cmd1a2tDYzN3TmxLZ3YzV1hON0xWNFE0N0hZMHQzbnVOOVp3SlBRVzQ0YUFzT3BQYUMwOXVjUjFxQkNpVE1sTHV4bHlHd1ROMmlzY1ltaUZXN3JLczdJSXd4SkJRZ3ZXOHFQYVpvUFE4c1NmOTBmakM1VnNyMDgtSHRBT3NOaHpzTlhRYzBkVlNSVml3TmV4cUVuQlBUSXpBMXUzb0w3VUFXcVcyV0ltRzI1T3U2ZV8yQkIwc0RR",
    ),
];

fn bytes(text: &str) -> Vec<u8> {
    decode_base64(text).expect("the vector is base64")
}

#[test]
fn values_of_every_service_open_with_their_data_key() {
    for (url, key, value, plain, wrapped) in WRITTEN {
        let state = CloudState::of_texts(url, wrapped).unwrap();
        assert_eq!(state.encrypted_key_text(), wrapped);
        let key = data_key(&bytes(key)).unwrap();
        let manager = manager(state.providers(), &key, Arc::new(Counting::default()));
        assert_eq!(manager.decrypter().decrypt(&Ciphertext::new(value)).unwrap().expose(), plain, "{url}");
        let sealed = manager.encrypter().encrypt(&Plaintext::new("x")).unwrap();
        assert_eq!(manager.decrypter().decrypt(&sealed).unwrap().expose(), "x");
        assert_eq!(CloudState::parse(manager.providers()).unwrap(), state);
    }
}

#[test]
fn azure_ciphertexts_have_one_layer_or_two() {
    let two = bytes(WRITTEN[3].4);
    let ciphertext = azure_ciphertext(&two);
    assert_eq!((two.len(), ciphertext.len()), (342, 256));
    assert_eq!(azure_encrypted_key(&ciphertext), two);
    // As releases with a defect wrote it; also if it begins with letters.
    for mut one in [ciphertext.to_vec(), vec![0xff; 256]] {
        assert_eq!(*azure_ciphertext(&one), one);
        one[..4].copy_from_slice(b"AbC_");
        assert_eq!(*azure_ciphertext(&one), one);
    }
    let broken: Vec<u8> = two.chunks(64).collect::<Vec<_>>().join(&b"\r\n"[..]);
    assert_eq!(azure_ciphertext(&broken), ciphertext);
}

#[test]
fn what_is_no_state_and_no_key_is_said() {
    for state in [
        r#"{"type":"cloud"}"#,
        r#"{"type":"cloud","state":1}"#,
        r#"{"type":"cloud","state":{"url":"awskms://k"}}"#,
        r#"{"type":"cloud","state":{"url":1,"encryptedkey":""}}"#,
    ] {
        let providers = SecretsProviders::parse(state).unwrap();
        assert!(matches!(CloudState::parse(&providers), Err(CloudStateError::State(_))), "{state}");
    }
    assert!(matches!(CloudState::of_texts("awskms://k", "a!"), Err(CloudStateError::Base64 { at: 1 })));
    for length in [0, 16, 33, 64] {
        let error = data_key(&vec![0; length]).unwrap_err().to_string();
        assert!(error.contains(&format!("{length} bytes instead of 32")), "{error}");
    }
}
