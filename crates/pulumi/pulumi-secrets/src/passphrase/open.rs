//! From a salt and a passphrase to a manager.

use std::sync::Arc;

use thiserror::Error;

use super::TYPE;
use super::salt::{Salt, SaltError};
use super::source::{PassphraseRequest, PassphraseSource, PassphraseSourceError, Purpose};
use crate::error::CryptError;
use crate::manager::Manager;
use crate::sensitive::Passphrase;
use crate::state::{SecretsProviders, SecretsProvidersError, members};
use crate::symmetric::SymmetricCrypter;
use groundstate_common::Entropy;

/// Why a passphrase manager refuses when it was opened with a wrong passphrase; the original's text.
const LOCKED: &str = "incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct passphrase or set \
    PULUMI_CONFIG_PASSPHRASE_FILE to a file containing the passphrase";
const DAMAGED: &str = "incorrect passphrase: none can be right, since the salt in secrets_providers is damaged; take it \
    from a backup, or from encryptionsalt in the configuration of the stack";

/// Why there is no key to a salt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UnlockError {
    /// There is no passphrase.
    #[error(transparent)]
    Source(#[from] PassphraseSourceError),
    /// The salt text is malformed, or the passphrase is wrong.
    #[error(transparent)]
    Salt(#[from] SaltError),
    /// A new salt could not be made.
    #[error(transparent)]
    Crypt(#[from] CryptError),
}

/// Why a passphrase manager cannot be opened from its state.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The state is not an object, or its `salt` is not a string.
    #[error(
        "unmarshalling state: `secrets_providers.state` of a passphrase manager is not `{{\"salt\":\"v1:…\"}}`; \
         take it from a backup"
    )]
    State(#[source] Option<SecretsProvidersError>),
    /// There is no key to its salt.
    #[error("constructing secrets manager")]
    Construct(#[from] UnlockError),
}

/// Opens the manager of a deployment from its `secrets_providers` object, whose type must be `passphrase`.
///
/// A wrong passphrase is no error if the source cannot be asked again: the manager is then locked. It carries its state
/// along, and fails each operation on a value.
///
/// # Errors
///
/// When the state is malformed, or there is no passphrase.
pub fn open(
    providers: &SecretsProviders,
    source: &dyn PassphraseSource,
    stack: Option<&str>,
    entropy: Arc<dyn Entropy>,
) -> Result<Manager, OpenError> {
    open_with(providers, |salt| Ok(Arc::new(unlock(salt, source, stack, entropy)?)))
}

/// The same with another way to a crypter, such as one that remembers.
pub(crate) fn open_with(
    providers: &SecretsProviders,
    unlock: impl FnOnce(&Salt) -> Result<Arc<SymmetricCrypter>, UnlockError>,
) -> Result<Manager, OpenError> {
    let salt = Salt::parse(&salt_text(providers)?).map_err(UnlockError::from)?;
    match unlock(&salt) {
        Ok(crypter) => Ok(Manager::new(providers.clone(), crypter)),
        Err(UnlockError::Salt(error)) if error.is_locked() => {
            let reason = if matches!(error, SaltError::Damaged(_)) { DAMAGED } else { LOCKED };
            Ok(Manager::locked(providers.clone(), reason))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a state is one that managers can be opened from, whatever the passphrase.
pub(crate) fn inspect(providers: &SecretsProviders) -> Result<(), OpenError> {
    Salt::parse(&salt_text(providers)?).map_err(UnlockError::from)?;
    Ok(())
}

/// The salt text of a state `{"salt":"v1:…"}`. Without one it is empty, which is then malformed, as in the original.
fn salt_text(providers: &SecretsProviders) -> Result<String, OpenError> {
    let state = providers.state().ok_or(OpenError::State(None))?;
    if state == "null" {
        return Ok(String::new());
    }
    let members = members(state).map_err(|error| OpenError::State(Some(error)))?;
    match members.get("salt").map(|value| value.get()) {
        None | Some("null") => Ok(String::new()),
        Some(value) => serde_json::from_str(value).map_err(|_| OpenError::State(None)),
    }
}

/// The salt in the state of a manager, whose type must be `passphrase`.
///
/// # Errors
///
/// When the state or the salt is malformed.
pub fn salt(providers: &SecretsProviders) -> Result<Salt, OpenError> {
    Ok(Salt::parse(&salt_text(providers)?).map_err(UnlockError::from)?)
}

/// The `secrets_providers` object of the manager with this salt.
pub fn providers(salt: &Salt) -> SecretsProviders {
    let state = serde_json::json!({ "salt": salt.as_str() }).to_string();
    SecretsProviders::new(TYPE, Some(&state)).expect("a string in an object is JSON")
}

/// Unlocks the salt of a stack's configuration, asking again after each wrong answer.
///
/// # Errors
///
/// When there is no passphrase, or it is wrong and the source cannot be asked again.
pub fn unlock(
    salt: &Salt,
    source: &dyn PassphraseSource,
    stack: Option<&str>,
    entropy: Arc<dyn Entropy>,
) -> Result<SymmetricCrypter, UnlockError> {
    let mut request = PassphraseRequest::new(Purpose::Unlock, stack);
    loop {
        let answer = source.passphrase(&request)?;
        match salt.unlock(&answer.passphrase, Arc::clone(&entropy)) {
            Err(SaltError::Incorrect) if answer.interactive => {
                request.failures = request.failures.saturating_add(1);
            }
            result => return Ok(result?),
        }
    }
}

/// Makes a manager with a new salt for this passphrase.
///
/// # Errors
///
/// When the source of randomness does not answer.
pub fn create(passphrase: &Passphrase, entropy: Arc<dyn Entropy>) -> Result<(Salt, Manager), CryptError> {
    let (salt, crypter) = Salt::generate(passphrase, entropy)?;
    let manager = Manager::new(providers(&salt), Arc::new(crypter));
    Ok((salt, manager))
}

/// The passphrase for a new salt, twice the same if it is typed.
///
/// # Errors
///
/// When there is no passphrase.
pub fn choose(purpose: Purpose, source: &dyn PassphraseSource) -> Result<Passphrase, PassphraseSourceError> {
    let mut request = PassphraseRequest::new(purpose, None);
    loop {
        request.confirm = false;
        let first = source.passphrase(&request)?;
        if !first.interactive {
            return Ok(first.passphrase);
        }
        request.confirm = true;
        if source.passphrase(&request)?.passphrase == first.passphrase {
            return Ok(first.passphrase);
        }
        request.failures = request.failures.saturating_add(1);
    }
}

/// Makes a manager with a new salt for a passphrase that `source` gives, twice the same if it is typed.
///
/// # Errors
///
/// When there is no passphrase, or the source of randomness does not answer.
pub fn create_from_source(
    purpose: Purpose,
    source: &dyn PassphraseSource,
    entropy: Arc<dyn Entropy>,
) -> Result<(Salt, Manager), UnlockError> {
    Ok(create(&choose(purpose, source)?, entropy)?)
}
