//! What must hold for any input: the fuzz targets call it, and so do ordinary tests with the corpora.

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
