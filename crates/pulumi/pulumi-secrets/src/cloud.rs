//! Managers of the type `cloud`: one data key for a stack, wrapped by a key service that a URL names.
//!
//! A service is asked outside, for the data key. [`CloudState`] says which and with what, [`data_key`] checks what came back, and
//! [`manager`] does the rest.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use groundstate_common::Entropy;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::base64::{ENGINE, decode};
use crate::manager::Manager;
use crate::sensitive::Key;
use crate::state::{SecretsProviders, SecretsProvidersError, members};
use crate::symmetric::SymmetricCrypter;

/// The type of such managers.
pub const TYPE: &str = "cloud";

/// The alphabet for addresses, without padding, and with spare bits of any value.
const TEXT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_encode_padding(false)
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::RequireNone),
);

/// The state of such a manager: which service has wrapped the data key, and the wrapped key.
///
/// ```
/// use groundstate_pulumi_secrets::cloud::CloudState;
///
/// let state = CloudState::new("awskms://alias/x?region=eu-west-1&fips=true", b"wrapped".to_vec());
/// let providers = state.providers();
/// // As Pulumi writes it.
/// assert_eq!(
///     providers.as_json(),
///     r#"{"type":"cloud","state":{"url":"awskms://alias/x?region=eu-west-1\u0026fips=true","encryptedkey":"d3JhcHBlZA=="}}"#,
/// );
/// assert_eq!(CloudState::parse(&providers)?, state);
/// # Ok::<(), groundstate_pulumi_secrets::cloud::CloudStateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudState {
    url: String,
    encrypted_key: Vec<u8>,
}

/// Why there is no manager of the type `cloud`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CloudStateError {
    /// The state is not an object with two texts.
    #[error(
        "unmarshalling state: `secrets_providers.state` of a cloud manager is not \
         `{{\"url\":…,\"encryptedkey\":…}}`; take it from a backup"
    )]
    State(#[source] Option<SecretsProvidersError>),
    /// The wrapped key is not base64.
    #[error(
        "illegal base64 data at input byte {at} of `encryptedkey`; take it from a backup, or from the configuration of the \
         stack"
    )]
    Base64 {
        /// The byte in that text.
        at: usize,
    },
    /// The data key is not one of AES-256.
    #[error(
        "the data key has {found} bytes instead of {expected}; another program wrote it: take `encryptedkey` from a backup"
    )]
    Length {
        /// How many bytes it has.
        found: usize,
        /// How many bytes it has to have.
        expected: usize,
    },
    /// The service gave back another data key than it was given.
    #[error("the key service gives back another data key than it was given; use another one")]
    Different,
}

impl CloudState {
    /// A state of this URL and this wrapped key.
    pub fn new(url: impl Into<String>, encrypted_key: impl Into<Vec<u8>>) -> Self {
        Self { url: url.into(), encrypted_key: encrypted_key.into() }
    }

    /// The same from the configuration of a stack, which has the wrapped key as text.
    ///
    /// # Errors
    ///
    /// When the text is not base64.
    pub fn of_texts(url: &str, encrypted_key: &str) -> Result<Self, CloudStateError> {
        let encrypted_key = decode(encrypted_key).map_err(|at| CloudStateError::Base64 { at })?;
        Ok(Self::new(url, encrypted_key))
    }

    /// Reads the state of a deployment, whose type has to be [`TYPE`].
    ///
    /// # Errors
    ///
    /// When the state is not an object with the two texts, or the wrapped key is not base64.
    pub fn parse(providers: &SecretsProviders) -> Result<Self, CloudStateError> {
        let state = providers.state().ok_or(CloudStateError::State(None))?;
        let members = members(state).map_err(|error| CloudStateError::State(Some(error)))?;
        let text = |name: &str| {
            let value = members.get(name).ok_or(CloudStateError::State(None))?;
            serde_json::from_str::<String>(value.get()).map_err(|_| CloudStateError::State(None))
        };
        Self::of_texts(&text("url")?, &text("encryptedkey")?)
    }

    /// The URL of the service.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The wrapped key.
    pub fn encrypted_key(&self) -> &[u8] {
        &self.encrypted_key
    }

    /// The wrapped key as it stands in states and configurations.
    pub fn encrypted_key_text(&self) -> String {
        ENGINE.encode(&self.encrypted_key)
    }

    /// The object for a deployment, written as Pulumi writes it: in URLs, three characters are escaped.
    pub fn providers(&self) -> SecretsProviders {
        let text = |text: &str| {
            let quoted = serde_json::Value::from(text).to_string();
            let quoted = quoted.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
            quoted.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
        };
        let state =
            format!(r#"{{"url":{},"encryptedkey":{}}}"#, text(&self.url), text(&self.encrypted_key_text()));
        SecretsProviders::new(TYPE, Some(&state)).expect("two quoted texts in an object are JSON")
    }
}

/// The data key that a service has unwrapped.
///
/// # Errors
///
/// When it is not one of AES-256.
pub fn data_key(bytes: &[u8]) -> Result<Key, CloudStateError> {
    let wrong = |_| CloudStateError::Length { found: bytes.len(), expected: Key::LENGTH };
    let bytes: Zeroizing<[u8; Key::LENGTH]> = Zeroizing::new(bytes.try_into().map_err(wrong)?);
    Ok(Key::new(*bytes))
}

/// The manager of a deployment or a configuration with this data key.
pub fn manager(providers: SecretsProviders, key: &Key, entropy: Arc<dyn Entropy>) -> Manager {
    Manager::new(providers, Arc::new(SymmetricCrypter::new(key, entropy)))
}

/// What Azure Key Vault has wrapped, without the text that Pulumi keeps around it.
///
/// Pulumi stores the ciphertext as text in base64 for addresses, once more in base64. Some of its releases left out the inner
/// one; what is not wholly such a text is the ciphertext itself.
pub fn azure_ciphertext(encrypted_key: &[u8]) -> Cow<'_, [u8]> {
    let text: Vec<u8> = encrypted_key.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    match TEXT.decode(&text) {
        Ok(ciphertext) if !text.is_empty() => Cow::Owned(ciphertext),
        _ => Cow::Borrowed(encrypted_key),
    }
}

/// The text that Pulumi keeps around what Azure Key Vault has wrapped.
pub fn azure_encrypted_key(ciphertext: &[u8]) -> Vec<u8> {
    TEXT.encode(ciphertext).into_bytes()
}
