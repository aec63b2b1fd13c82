//! Which method opens what, which encrypts, and what is refused.

use std::time::Duration;

use groundstate_encryption::{
    BoxError, ConfigurationError, EnvelopeLayout, Key, KeyRequest, KeySource, OpenError, PassphraseKeys,
    Plaintext, ProgramRequest, ProvidedKey, SealError, Status, Step, Target,
};

use crate::support::{Counting, STATE, Service, chain, configuration, open, seal, two};

/// A chain with one key provider of these options.
fn one(options: &str, method: &str) -> groundstate_encryption::Chain {
    chain(&format!(
        r#"
        key_provider "pbkdf2" "main" {{
          passphrase = "correct-horse-battery"
          {options}
        }}
        method "aes_gcm" "main" {{
          keys = key_provider.pbkdf2.main
          {method}
        }}
        state {{ method = method.aes_gcm.main }}
        "#
    ))
}

/// An envelope with these metadata of the provider `key_provider.pbkdf2.main`.
fn with_metadata(metadata: &str) -> Vec<u8> {
    use base64::Engine;
    let metadata = base64::engine::general_purpose::STANDARD.encode(metadata);
    format!(
        r#"{{"serial":7,"lineage":"l-1","meta":{{"key_provider.pbkdf2.main":"{metadata}"}},"encrypted_data":"AAAA","encryption_version":"v0"}}"#
    )
    .into_bytes()
}

#[test]
fn both_hash_functions_and_all_lengths_of_keys_and_salts_open_again() {
    for hash in ["sha256", "sha512"] {
        for (length, salt) in [(16, 16), (24, 32), (32, 1)] {
            let options = format!(
                "iterations = 200000\nhash_function = \"{hash}\"\nkey_length = {length}\nsalt_length = {salt}"
            );
            let chain = one(&options, "");
            assert_eq!(open(&chain, &seal(&chain, STATE)).unwrap().plaintext.expose(), STATE, "{options}");
        }
    }
}

#[test]
fn a_key_that_aes_does_not_take_is_refused_with_its_length() {
    let chain = one("iterations = 200000\nkey_length = 20", "");
    let error = chain.seal(STATE, EnvelopeLayout::Compact, &mut PassphraseKeys::new(Counting), &Counting);
    let SealError::Method { source, .. } = error.unwrap_err() else { panic!("the method refuses it") };
    assert!(source.to_string().contains("this one has 20"), "{source}");
}

#[test]
fn aad_is_needed_to_decrypt() {
    let with = one("iterations = 200000", "aad = [1, 2, 255]");
    let stored = seal(&with, STATE);
    assert_eq!(open(&with, &stored).unwrap().plaintext.expose(), STATE);
    let error = open(&one("iterations = 200000", ""), &stored).unwrap_err();
    assert!(error.to_string().contains("message authentication failed"), "{error}");
}

#[test]
fn a_fallback_opens_what_the_primary_does_not_and_the_next_write_uses_the_primary() {
    let stored = seal(&two("method = method.aes_gcm.old"), STATE);
    let chain = two("method = method.aes_gcm.new\nfallback { method = method.aes_gcm.old }");
    let opened = open(&chain, &stored).unwrap();
    assert_eq!(opened.status, Status::Migration);
    assert_eq!(opened.method.unwrap().to_string(), "method.aes_gcm.old");
    let again = seal(&chain, opened.plaintext.expose());
    let text = String::from_utf8(again.clone()).unwrap();
    assert!(text.contains("key_provider.pbkdf2.new") && !text.contains("key_provider.pbkdf2.old"));
    assert_eq!(open(&two("method = method.aes_gcm.new"), &again).unwrap().status, Status::Satisfied);
}

#[test]
fn plaintext_is_accepted_only_with_a_method_that_leaves_states_in_the_clear() {
    let error = open(&two("method = method.aes_gcm.new"), STATE).unwrap_err();
    assert!(matches!(error, OpenError::Unencrypted));
    let rollout = two("method = method.aes_gcm.new\nfallback { method = method.unencrypted.plain }");
    assert_eq!(open(&rollout, STATE).unwrap().status, Status::Migration);
    let rollback = two("method = method.unencrypted.plain\nfallback { method = method.aes_gcm.new }");
    assert_eq!(open(&rollback, STATE).unwrap().status, Status::Satisfied);
    assert_eq!(open(&rollback, &seal(&rollout, STATE)).unwrap().status, Status::Migration);
    assert_eq!(seal(&rollback, STATE), STATE);
}

#[test]
fn other_json_and_other_text_are_neither_plaintext_nor_an_envelope() {
    let chain = two("method = method.unencrypted.plain");
    assert!(matches!(open(&chain, b"{}"), Err(OpenError::NotState)));
    assert!(matches!(open(&chain, br#"{"terraform_version":""}"#), Err(OpenError::NotState)));
    assert!(matches!(open(&chain, b"resource"), Err(OpenError::Envelope(_))));
    assert!(matches!(
        open(&chain, &seal(&two("method = method.aes_gcm.new"), STATE)),
        Err(OpenError::NoMethod)
    ));
}

#[test]
fn enforced_targets_refuse_methods_that_leave_states_in_the_clear() {
    let text = r#"
        key_provider "pbkdf2" "main" { passphrase = "correct-horse-battery" }
        method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
        method "unencrypted" "plain" {}
        state {
          enforced = true
          method   = method.aes_gcm.main
          fallback { method = method.unencrypted.plain }
        }
    "#;
    let error = configuration(text).chain(&Target::State).unwrap_err();
    assert!(
        matches!(&error, ConfigurationError::Forbidden { address, .. } if address == "method.unencrypted.plain")
    );
    assert!(
        error.to_string().starts_with("TF_ENCRYPTION, line 8: unencrypted method is forbidden"),
        "{error}"
    );
}

#[test]
fn a_serial_or_a_lineage_that_was_changed_outside_is_refused() {
    let chain = two("method = method.aes_gcm.new");
    let stored = String::from_utf8(seal(&chain, STATE)).unwrap();
    let serial = stored.replace(r#""serial":7"#, r#""serial":8"#);
    let error = open(&chain, serial.as_bytes()).unwrap_err();
    assert!(
        matches!(&error, OpenError::Serial { outside, inside } if outside == "8" && inside == "7"),
        "{error}"
    );
    let lineage = stored.replace("l-1", "l-2");
    assert!(matches!(open(&chain, lineage.as_bytes()), Err(OpenError::Lineage)));
    // Envelopes of the first releases have neither.
    let absent = stored.replace(r#""serial":7,"lineage":"l-1","#, "");
    assert_eq!(open(&chain, absent.as_bytes()).unwrap().plaintext.expose(), STATE);
}

#[test]
fn a_provider_with_an_alias_finds_its_metadata_under_it() {
    let text = |name: &str, alias: &str| {
        chain(&format!(
            r#"
            key_provider "pbkdf2" "{name}" {{
              passphrase = "correct-horse-battery"
              {alias}
            }}
            method "aes_gcm" "main" {{ keys = key_provider.pbkdf2.{name} }}
            state {{ method = method.aes_gcm.main }}
            "#
        ))
    };
    let stored = seal(&text("before", ""), STATE);
    let error = open(&text("after", ""), &stored).unwrap_err();
    assert!(error.to_string().contains("no metadata `key_provider.pbkdf2.after`"), "{error}");
    let renamed = text("after", r#"encrypted_metadata_alias = "key_provider.pbkdf2.before""#);
    assert_eq!(open(&renamed, &stored).unwrap().plaintext.expose(), STATE);
}

#[test]
fn a_fallback_with_the_provider_of_the_primary_is_tried() {
    // Other `aad`, same key: OpenTofu ends in "Duplicate metadata key".
    let text = |target: &str| {
        chain(&format!(
            r#"
            key_provider "pbkdf2" "main" {{ passphrase = "correct-horse-battery" }}
            method "aes_gcm" "new" {{
              keys = key_provider.pbkdf2.main
              aad  = [1]
            }}
            method "aes_gcm" "old" {{ keys = key_provider.pbkdf2.main }}
            state {{
{target}
}}
            "#
        ))
    };
    let stored = seal(&text("method = method.aes_gcm.old"), STATE);
    let opened =
        open(&text("method = method.aes_gcm.new\nfallback { method = method.aes_gcm.old }"), &stored);
    assert_eq!(opened.unwrap().status, Status::Migration);
}

#[test]
fn a_provider_that_is_down_does_not_stop_the_fallbacks() {
    let text = |target: &str| {
        chain(&format!(
            r#"
            key_provider "aws_kms" "down" {{ kms_key_id = "alias/gone" }}
            key_provider "aws_kms" "up" {{ kms_key_id = "alias/here" }}
            method "aes_gcm" "down" {{ keys = key_provider.aws_kms.down }}
            method "aes_gcm" "up" {{ keys = key_provider.aws_kms.up }}
            state {{
{target}
}}
            "#
        ))
    };
    let mut service = Service::with("up", &[1; 32]);
    let up = text("method = method.aes_gcm.up");
    let stored = up.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap();
    let both = text("method = method.aes_gcm.down\nfallback { method = method.aes_gcm.up }");
    // Without metadata the service is not asked at all.
    assert_eq!(both.open(&stored, &mut service).unwrap().status, Status::Migration);
    assert_eq!(service.asked, ["up", "up"]);
    // With them it is asked, and its failure stands beside that of the others.
    let metadata = String::from_utf8(stored).unwrap();
    let metadata = metadata.replace(r#""meta":{"#, r#""meta":{"key_provider.aws_kms.down":"e30=","#);
    assert_eq!(both.open(metadata.as_bytes(), &mut service).unwrap().status, Status::Migration);
    assert_eq!(service.asked[2..], ["down", "up"]);
    let error = both.open(metadata.as_bytes(), &mut Service::with("up", &[2; 32])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("method.aes_gcm.down with key_provider.aws_kms.down: the service is down; "),
        "{text}"
    );
    assert!(text.contains("method.aes_gcm.up: message authentication failed"), "{text}");
    // Writing needs the primary.
    let error = both.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap_err();
    assert!(matches!(&error, SealError::Key { provider, .. } if provider.name() == "down"), "{error}");
}

#[test]
fn chained_providers_give_their_keys_to_each_other() {
    let chain = chain(
        r#"
        key_provider "openbao" "inner" { key_name = "k" }
        key_provider "pbkdf2" "outer" { chain = key_provider.openbao.inner }
        method "aes_gcm" "main" { keys = key_provider.pbkdf2.outer }
        state { method = method.aes_gcm.main }
        "#,
    );
    let mut service = Service::with("inner", &[3; 32]);
    let stored = chain.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap();
    let text = String::from_utf8(stored.clone()).unwrap();
    assert!(
        text.contains(r#""meta":{"key_provider.openbao.inner":""#)
            && text.contains("key_provider.pbkdf2.outer")
    );
    assert_eq!(chain.open(&stored, &mut service).unwrap().plaintext.expose(), STATE);
    let error = chain.open(&stored, &mut Service::with("inner", &[3; 8])).unwrap_err();
    assert!(error.to_string().contains("the chained key has 8 bytes"), "{error}");
}

#[test]
fn programs_encrypt_and_decrypt_in_the_place_of_a_cipher() {
    let chain = chain(
        r#"
        method "external" "hsm" {
          encrypt_command = ["hsm", "encrypt"]
          decrypt_command = ["hsm", "decrypt"]
        }
        state { method = method.external.hsm }
        "#,
    );
    let mut service = Service::default();
    let stored = chain.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap();
    assert!(stored.starts_with(br#"{"serial":7,"lineage":"l-1","meta":{},"encrypted_data":""#));
    assert_eq!(chain.open(&stored, &mut service).unwrap().plaintext.expose(), STATE);
    let error = open(&chain, &stored).unwrap_err();
    assert!(error.to_string().contains("method.external.hsm"), "{error}");
}

#[test]
fn hostile_metadata_are_refused_before_any_work() {
    let chain = one("", "");
    let started = std::time::Instant::now();
    for (metadata, expected) in [
        (
            r#"{"salt":"AA==","iterations":1000000000,"hash_function":"sha512","key_length":32}"#,
            "1000000000 iterations",
        ),
        (
            r#"{"salt":"AA==","iterations":99999999999999999999,"hash_function":"sha512","key_length":32}"#,
            "not a whole",
        ),
        (r#"{"salt":"AA==","iterations":-1,"hash_function":"sha512","key_length":32}"#, "not a whole"),
        (
            r#"{"salt":"AA==","iterations":600000,"hash_function":"sha512","key_length":4294967296}"#,
            "a key of 4294967296",
        ),
        (r#"{"salt":"AA==","iterations":10000000,"hash_function":"sha256","key_length":1024}"#, "iterations"),
        (r#"{"salt":"AA==","iterations":600000,"hash_function":"md5","key_length":32}"#, "hash function"),
        (r#"{"salt":"","iterations":600000,"hash_function":"sha512","key_length":32}"#, "absent or zero"),
        (r#"{"salt":"AA==","iterations":0,"hash_function":"sha512","key_length":32}"#, "absent or zero"),
        (
            r#"{"salt":"AA==","iterations":600000,"hash_function":"sha512","key_length":32,"pepper":1}"#,
            "later release",
        ),
        ("[]", "not a JSON object"),
        ("", "not a JSON object"),
    ] {
        let error = open(&chain, &with_metadata(metadata)).unwrap_err().to_string();
        assert!(error.contains(expected), "{metadata}: {error}");
    }
    // A single honest derivation takes longer on a slow machine than all refusals.
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn few_iterations_in_metadata_are_noted() {
    const FEW: &str = r#"{"salt":"AA==","iterations":1000,"hash_function":"sha512","key_length":32}"#;
    /// Encrypts with the key that these metadata lead to.
    struct Weak(Key);
    impl KeySource for Weak {
        fn key(&mut self, _: &KeyRequest) -> Result<ProvidedKey, BoxError> {
            Ok(ProvidedKey::with_metadata(self.0.clone(), FEW.as_bytes().to_vec()))
        }
        fn run(&mut self, _: &ProgramRequest) -> Result<Plaintext, BoxError> {
            Err("no programs".into())
        }
    }
    let chain = one("iterations = 200000", "");
    let stored = with_metadata(FEW);
    let mut opening = chain.opening(&stored).unwrap();
    let Step::Key(request) = opening.step().unwrap() else { panic!("a key is needed") };
    let mut weak = Weak(request.derive(&Counting).unwrap().unwrap().key().clone());
    let stored = chain.seal(STATE, EnvelopeLayout::Compact, &mut weak, &Counting).unwrap();
    assert!(open(&chain, &stored).unwrap().is_weak);
}
