//! What can be told of providers and ciphertexts without a key.

use crate::base64::decode;
use crate::error::{CryptError, Part};
use crate::passphrase;
use crate::provider::{ELSEWHERE, ProviderError};
use crate::sensitive::Ciphertext;
use crate::state::SecretsProviders;
use crate::symmetric::Sealed;

/// Whether Pulumi knows a secrets manager of the type, and it can be built from its state. No passphrase is needed.
///
/// ```
/// use groundstate_pulumi_secrets::{SecretsProviders, inspect_provider};
///
/// let error = inspect_provider(&SecretsProviders::parse(r#"{"type":"vault"}"#)?).unwrap_err();
/// assert!(error.to_string().starts_with("no known secrets provider for type \"vault\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The type is not known, or the state of a passphrase manager is malformed. States of key services are not looked at.
pub fn inspect_provider(providers: &SecretsProviders) -> Result<(), ProviderError> {
    let kind = providers.kind();
    if kind == passphrase::TYPE {
        return passphrase::inspect(providers).map_err(|error| ProviderError::construct(kind, error));
    }
    if kind.is_empty() || ELSEWHERE.contains(&kind) {
        return Ok(());
    }
    Err(ProviderError::Unknown {
        kind: kind.to_owned(),
        known: [&[passphrase::TYPE], &ELSEWHERE[..]].concat().join(", "),
    })
}

/// Whether a manager of this type can have written a ciphertext. No key is needed, so a clean ciphertext may still be one of
/// another key.
///
/// # Errors
///
/// The ciphertext does not have the form that every ciphertext of the type has.
pub fn inspect_ciphertext(kind: &str, ciphertext: &Ciphertext) -> Result<(), CryptError> {
    match kind {
        passphrase::TYPE | "cloud" => Sealed::parse(ciphertext.as_str()).map(drop),
        "service" => match decode(ciphertext.as_str()) {
            Ok(_) => Ok(()),
            Err(at) => Err(CryptError::Base64 { part: Part::Whole, at }),
        },
        _ => Ok(()),
    }
}
