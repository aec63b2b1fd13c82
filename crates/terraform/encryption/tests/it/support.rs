//! Configurations, states and keys of the tests.

use groundstate_encryption::common::{Entropy, EntropyError};
use groundstate_encryption::{
    BoxError, Chain, Configuration, EnvelopeLayout, Key, KeyRequest, KeySource, KeyUse, OpenError, Opened,
    PassphraseKeys, Plaintext, ProgramRequest, ProvidedKey, Scope, Target,
};

pub(crate) const STATE: &[u8] =
    br#"{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{},"resources":[]}"#;

/// 0, 1, 2 … in every answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting;

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        bytes.iter_mut().zip(0..).for_each(|(byte, number)| *byte = number);
        Ok(())
    }
}

pub(crate) fn configuration(text: &str) -> Configuration {
    Configuration::parse("TF_ENCRYPTION", text, &Scope::new()).unwrap().unwrap()
}

pub(crate) fn chain(text: &str) -> Chain {
    configuration(text).chain(&Target::State).unwrap().unwrap()
}

/// A chain with two providers `pbkdf2`, and a target.
pub(crate) fn two(target: &str) -> Chain {
    chain(&format!(
        r#"
        key_provider "pbkdf2" "new" {{
          passphrase = "the-new-passphrase"
          iterations = 200000
        }}
        key_provider "pbkdf2" "old" {{
          passphrase = "the-old-passphrase"
          iterations = 200000
        }}
        method "aes_gcm" "new" {{ keys = key_provider.pbkdf2.new }}
        method "aes_gcm" "old" {{ keys = key_provider.pbkdf2.old }}
        method "unencrypted" "plain" {{}}
        state {{
{target}
}}
        "#
    ))
}

pub(crate) fn seal(chain: &Chain, state: &[u8]) -> Vec<u8> {
    chain.seal(state, EnvelopeLayout::Compact, &mut PassphraseKeys::new(Counting), &Counting).unwrap()
}

pub(crate) fn open(chain: &Chain, stored: &[u8]) -> Result<Opened, OpenError> {
    chain.open(stored, &mut PassphraseKeys::new(Counting))
}

/// Keys of a service in which every provider has one key, by its name, unless it is down.
#[derive(Debug, Default)]
pub(crate) struct Service {
    pub(crate) keys: Vec<(&'static str, Vec<u8>)>,
    pub(crate) asked: Vec<String>,
}

impl Service {
    pub(crate) fn with(name: &'static str, key: &[u8]) -> Self {
        Self { keys: vec![(name, key.to_vec())], asked: Vec::new() }
    }
}

impl KeySource for Service {
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        if let Some(derived) = request.derive(&Counting) {
            return Ok(derived?);
        }
        let name = request.provider().id().name();
        self.asked.push(name.to_owned());
        let (_, key) = self.keys.iter().find(|(known, _)| *known == name).ok_or("the service is down")?;
        let key = Key::new(key.clone());
        Ok(match request.key_use() {
            KeyUse::Encrypt => ProvidedKey::with_metadata(key, br#"{"ciphertext":"AA=="}"#.to_vec()),
            KeyUse::Decrypt(_) => ProvidedKey::new(key),
        })
    }

    fn run(&mut self, request: &ProgramRequest) -> Result<Plaintext, BoxError> {
        // The "program" turns every byte around, and back.
        let input = String::from_utf8(request.input().expose().to_vec())?;
        let payload = input.rsplit_once("\"payload\":\"").ok_or("no payload")?.1.trim_end_matches("\"}");
        let bytes = crate::vectors::decode(payload);
        Ok(Plaintext::new(bytes.into_iter().map(|byte| !byte).collect()))
    }
}
