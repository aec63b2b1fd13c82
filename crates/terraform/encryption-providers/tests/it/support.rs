//! Configurations of the tests.

use std::sync::Arc;

use groundstate_encryption_providers::common::OsEntropy;
use groundstate_encryption_providers::encryption::{Chain, Configuration, Scope, Target};
use groundstate_encryption_providers::{Encryption, KeyRing};

pub(crate) const STATE: &[u8] =
    br#"{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{},"resources":[]}"#;

pub(crate) fn chain(text: &str) -> Chain {
    let configuration = Configuration::parse("TF_ENCRYPTION", text, &Scope::new()).unwrap().unwrap();
    configuration.chain(&Target::State).unwrap().unwrap()
}

/// A chain with a passphrase; `target` is the inside of the block `state`.
pub(crate) fn by_passphrase(passphrase: &str, target: &str) -> Chain {
    chain(&format!(
        r#"
        key_provider "pbkdf2" "main" {{
          passphrase = "{passphrase}"
          iterations = 200000
        }}
        method "aes_gcm" "main" {{ keys = key_provider.pbkdf2.main }}
        method "unencrypted" "plain" {{}}
        state {{
          {target}
        }}
        "#
    ))
}

pub(crate) fn encryption(chain: Chain) -> Encryption {
    Encryption::new(chain, Arc::new(KeyRing::new(Arc::new(OsEntropy))))
}
