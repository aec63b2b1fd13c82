//! What must hold for any input: the fuzz targets call it, and so do ordinary tests with the corpora.

use base64::Engine;
use groundstate_encryption::common::{Entropy, EntropyError};
use groundstate_encryption::external::{key_input, key_output, method_output};
use groundstate_encryption::{
    BoxError, Chain, Configuration, Envelope, EnvelopeLayout, Key, KeyRequest, KeySource, KeyUse, Plaintext,
    ProgramRequest, ProvidedKey, Scope, SourceFile, Sources, Target, Value,
};

/// Always the same bytes: what is encrypted once in a test needs no more.
#[derive(Debug)]
struct Constant;

impl Entropy for Constant {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        bytes.fill(7);
        Ok(())
    }
}

/// One key for everything, without deriving any, which takes too long for a fuzzer. Metadata are read nevertheless.
struct OneKey;

impl KeySource for OneKey {
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        let key = Key::new(vec![1; 32]);
        Ok(match request.key_use() {
            KeyUse::Encrypt => ProvidedKey::with_metadata(key, b"{}".to_vec()),
            KeyUse::Decrypt(_) => {
                drop(key_input(request.key_use()));
                ProvidedKey::new(key)
            }
        })
    }

    fn run(&mut self, _: &ProgramRequest) -> Result<Plaintext, BoxError> {
        Err("no programs".into())
    }
}

fn chain() -> Chain {
    let text = r#"
        key_provider "aws_kms" "k" {}
        method "aes_gcm" "m" { keys = key_provider.aws_kms.k }
        method "external" "e" {
          encrypt_command = ["e"]
          decrypt_command = ["d"]
        }
        method "unencrypted" "u" {}
        state {
          method = method.aes_gcm.m
          fallback {
            method = method.external.e
            fallback { method = method.unencrypted.u }
          }
        }
    "#;
    let configuration = Configuration::parse("TF_ENCRYPTION", text, &Scope::new());
    let configuration = configuration.expect("it is well formed").expect("it is not blank");
    configuration.chain(&Target::State).expect("all blocks are there").expect("there is a state block")
}

/// Envelopes are read or refused; what was opened, encrypts to what opens again.
pub(crate) fn envelope_open(data: &[u8]) {
    let chain = chain();
    if let Ok(Some(envelope)) = Envelope::parse(data) {
        assert!(!envelope.version().is_empty());
        drop(envelope.data());
    }
    if let Ok(opened) = chain.open(data, &mut OneKey) {
        let plain = opened.plaintext.expose();
        let sealed =
            chain.seal(plain, EnvelopeLayout::Indented, &mut OneKey, &Constant).expect("it is a state");
        let again = chain.open(&sealed, &mut OneKey).expect("it was just written");
        assert_eq!(again.plaintext.expose(), plain);
    }
    let decrypt = KeyUse::Decrypt(data.to_vec());
    drop((key_input(&decrypt), key_output(&decrypt, data)));
    drop((key_output(&KeyUse::Encrypt, data), method_output(data)));
}

/// Metadata of key providers are read or refused, and in bounded time: they stand in an envelope that nothing else of is wrong.
pub(crate) fn metadata_open(data: &[u8]) {
    let text = r#"
        key_provider "pbkdf2" "p" { passphrase = "correct-horse-battery" }
        key_provider "pbkdf2" "c" { chain = key_provider.external.e }
        key_provider "external" "e" { command = ["e"] }
        method "aes_gcm" "p" { keys = key_provider.pbkdf2.p }
        method "aes_gcm" "c" { keys = key_provider.pbkdf2.c }
        method "aes_gcm" "e" { keys = key_provider.external.e }
        state {
          method = method.aes_gcm.p
          fallback {
            method = method.aes_gcm.c
            fallback { method = method.aes_gcm.e }
          }
        }
    "#;
    let configuration = Configuration::parse("TF_ENCRYPTION", text, &Scope::new());
    let configuration = configuration.expect("it is well formed").expect("it is not blank");
    let chain =
        configuration.chain(&Target::State).expect("all blocks are there").expect("there is a state block");
    let metadata = base64::prelude::BASE64_STANDARD.encode(data);
    let stored =
        ["pbkdf2.p", "pbkdf2.c", "external.e"].map(|id| format!(r#""key_provider.{id}":"{metadata}""#));
    let envelope = format!(
        r#"{{"serial":1,"lineage":"l","meta":{{{}}},"encrypted_data":"{}","encryption_version":"v0"}}"#,
        stored.join(","),
        "A".repeat(64)
    );
    let parsed = Envelope::parse(envelope.as_bytes()).expect("it is well formed").expect("it has a version");
    if let Some(version) = parsed.key_version("key_provider.external.e") {
        assert!(!version.is_empty());
    }
    // No key that metadata lead to has encrypted zeroes.
    assert!(chain.open(envelope.as_bytes(), &mut Derived).is_err());
    // What is written of metadata that are kept leads a program to the same.
    if let Ok(input) = key_input(&KeyUse::Decrypt(data.to_vec())) {
        assert_eq!(key_input(&KeyUse::Decrypt(input.clone())).as_deref(), Ok(&*input));
    }
}

/// Keys as the metadata ask for, as far as they ask for so little work that a fuzzer can wait for it.
struct Derived;

/// How many iterations are derived here; those of honest metadata are some thousand times as many.
const FEW: u64 = 1000;

impl KeySource for Derived {
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        let KeyUse::Decrypt(stored) = request.key_use() else {
            return Err("nothing is encrypted here".into());
        };
        if request.provider().id().kind() == "external" {
            drop(key_input(request.key_use())?);
            return Ok(ProvidedKey::new(Key::new(vec![1; 32])));
        }
        let digits = |byte: &u8| byte.is_ascii_digit();
        let numbers =
            stored.split(|byte| !digits(byte)).filter_map(|digits| std::str::from_utf8(digits).ok());
        let most = numbers
            .filter(|digits| !digits.is_empty())
            .map(|digits| digits.parse().unwrap_or(u64::MAX))
            .max();
        // Beyond what is allowed at all, refusing has to be quick.
        if most.is_some_and(|most| (FEW..=10_000_000).contains(&most)) {
            return Err("that takes too long for a fuzzer".into());
        }
        request.derive(&Constant).ok_or("it is no passphrase")?.map_err(BoxError::from)
    }

    fn run(&mut self, _: &ProgramRequest) -> Result<Plaintext, BoxError> {
        Err("no programs".into())
    }
}

/// Configurations are read or refused, and merging one with itself changes no chain.
pub(crate) fn configuration_read(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scope = Scope::new().variable("passphrase", Value::text("correct-horse-battery"));
    let sources = [SourceFile { name: "main.tf", text }, SourceFile { name: "main.tf.json", text }];
    for file in &sources {
        let sources = Sources(std::slice::from_ref(file));
        if let Ok(scope) = sources.scope(scope.clone()) {
            drop(sources.configuration(&scope));
        }
    }
    let Ok(Some(configuration)) = Configuration::parse("TF_ENCRYPTION", text, &scope) else { return };
    let merged = configuration.clone().merged(configuration.clone());
    for target in [Target::State, Target::Plan, Target::RemoteState("x".to_owned())] {
        assert_eq!(configuration.chain(&target), merged.chain(&target));
    }
}
