//! Keys of key services: the types `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`, with the options and variables of OpenTofu.

#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "gcp")]
mod gcp;
mod metadata;
mod settings;
#[cfg(feature = "vault")]
mod vault;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Entropy;
use groundstate_encryption::{BoxError, Key, KeyError, KeyRequest, KeyUse, Options, ProvidedKey};
use groundstate_key_services::{DataKey, KeyContext, WrappedKey};

use crate::keyring::KeyService;

/// Looks up variables of the environment.
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Gets keys from AWS KMS, Google Cloud KMS, Azure Key Vault and OpenBao, as far as this build has their features.
///
/// A key is made when a state is encrypted, and not before: who only reads needs the right to unwrap alone.
#[derive(Clone)]
pub struct KeyServices {
    context: KeyContext,
    variable: Variables,
}

impl KeyServices {
    /// `variable` looks up variables of the environment, which stand in for options.
    pub fn new(
        context: KeyContext,
        variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { context, variable: Arc::new(variable) }
    }

    /// A variable that is set to something.
    fn given(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|text| !text.is_empty())
    }
}

impl fmt::Debug for KeyServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyServices").finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyService for KeyServices {
    fn handles(&self, kind: &str) -> bool {
        let known = [
            ("aws_kms", cfg!(feature = "aws")),
            ("gcp_kms", cfg!(feature = "gcp")),
            ("azure_vault", cfg!(feature = "azure")),
            ("openbao", cfg!(feature = "vault")),
        ];
        known.contains(&(kind, true))
    }

    async fn key(&self, request: &KeyRequest, _: &dyn Entropy) -> Result<ProvidedKey, BoxError> {
        let kind = request.provider().id().kind();
        let unsupported = || KeyError::Unsupported { kind: kind.to_owned() };
        let options = request.provider().options().ok_or_else(unsupported)?;
        let stored = match request.key_use() {
            KeyUse::Encrypt => None,
            KeyUse::Decrypt(metadata) => Some(metadata.as_slice()),
        };
        match kind {
            #[cfg(feature = "aws")]
            "aws_kms" => self.aws(options, stored).await,
            #[cfg(feature = "gcp")]
            "gcp_kms" => self.gcp(options, stored).await,
            #[cfg(feature = "azure")]
            "azure_vault" => self.azure(options, stored).await,
            #[cfg(feature = "vault")]
            "openbao" => self.vault(options, stored).await,
            _ => Err(unsupported().into()),
        }
    }
}

/// A new key and what it is found again by.
fn made((key, wrapped): (DataKey, WrappedKey), metadata: impl FnOnce(WrappedKey) -> String) -> ProvidedKey {
    ProvidedKey::with_metadata(Key::new(key.expose().to_vec()), metadata(wrapped).into_bytes())
}

fn found(key: &DataKey) -> ProvidedKey {
    ProvidedKey::new(Key::new(key.expose().to_vec()))
}

/// The length of keys that the options ask for.
#[cfg(any(feature = "azure", feature = "gcp"))]
fn key_length(options: &Options) -> Result<usize, BoxError> {
    let length = options.number("key_length")?.ok_or_else(|| options.missing("key_length"))?;
    let length = usize::try_from(length).ok().filter(|length| (1..=1024).contains(length));
    Ok(length.ok_or_else(|| options.wrong("key_length", "it has to be 1 to 1024; 32 is meant"))?)
}

/// A text that has to be given.
fn needed(options: &Options, name: &str) -> Result<String, BoxError> {
    let text = options.text(name)?.filter(|text| !text.is_empty());
    Ok(text.map(|text| text.to_string()).ok_or_else(|| options.missing(name))?)
}
