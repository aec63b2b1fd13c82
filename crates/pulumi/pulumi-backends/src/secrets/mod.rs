//! The key services of Pulumi stacks: from the URL of a secrets provider to the data key of a stack.

mod service;
mod url;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_key_services::{DataKey, KeyContext, KeyService, WrappedKey};
use groundstate_pulumi_secrets::cloud::{self, CloudState, CloudStateError};
use groundstate_pulumi_secrets::{Key, Manager, SecretsProviders};
use thiserror::Error;

pub use url::{KeyUrl, KeyUrlError};

/// Looks up variables of the environment.
pub(crate) type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Why the data key of a stack is not at hand.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CloudSecretsError {
    /// The state of the manager, or the data key, is not what Pulumi writes.
    #[error("constructing secrets manager of type \"cloud\"")]
    State(#[from] CloudStateError),
    /// The URL cannot be used.
    #[error(transparent)]
    Url(#[from] KeyUrlError),
    /// The service refuses, or does not answer.
    #[error("the data key of the stack is not at hand")]
    Service(#[from] groundstate_key_services::Error),
    /// There is no randomness for a new data key.
    #[error(transparent)]
    Entropy(#[from] groundstate_pulumi_secrets::EntropyError),
}

/// Opens managers of the type `cloud`, and makes new ones. It remembers data keys by URL and wrapped key, so that each is unwrapped once.
pub struct CloudSecrets {
    context: KeyContext,
    variable: Variables,
    keys: Mutex<HashMap<(String, Vec<u8>), Key>>,
}

impl CloudSecrets {
    /// `variable` looks up variables of the environment, by which the services find their credentials.
    pub fn new(
        context: KeyContext,
        variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { context, variable: Arc::new(variable), keys: Mutex::default() }
    }

    /// The manager that a deployment names.
    ///
    /// # Errors
    ///
    /// When the state is malformed, the URL cannot be used, or the service refuses.
    pub async fn open(&self, providers: &SecretsProviders) -> Result<Manager, CloudSecretsError> {
        let state = CloudState::parse(providers)?;
        let key = self.data_key(&state).await?;
        Ok(cloud::manager(providers.clone(), &key, Arc::clone(&self.context.entropy)))
    }

    /// The data key of this state.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub async fn data_key(&self, state: &CloudState) -> Result<Key, CloudSecretsError> {
        let name = (state.url().to_owned(), state.encrypted_key().to_vec());
        let known = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        if let Some(key) = known {
            return Ok(key);
        }
        let url = KeyUrl::parse(state.url())?;
        let wrapped = match url.is_azure() {
            true => WrappedKey::new(cloud::azure_ciphertext(state.encrypted_key())),
            false => WrappedKey::new(state.encrypted_key()),
        };
        let service = service::open(&url, &self.variable, &self.context)?;
        let plain = service.unwrap(&wrapped).await?;
        let key = cloud::data_key(plain.expose())?;
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(name, key.clone());
        Ok(key)
    }

    /// Makes a data key and has the service of this URL wrap it; unwraps it again before it is used for anything. Gives what is to be
    /// stored, the manager, and notes for the user.
    ///
    /// # Errors
    ///
    /// When the URL cannot be used, the service refuses, or what it has wrapped does not come back.
    pub async fn create(&self, url: &str) -> Result<(CloudState, Manager, Vec<String>), CloudSecretsError> {
        let parsed = KeyUrl::parse(url)?;
        let service = service::open(&parsed, &self.variable, &self.context)?;
        let key = Key::generate(&*self.context.entropy)?;
        let wrapped = service.wrap(&DataKey::new(key.expose().to_vec())).await?;
        let mut notes = Vec::new();
        let stored = match parsed.is_azure() {
            true => {
                notes.extend(parsed.advice(wrapped.key_version.as_deref()));
                cloud::azure_encrypted_key(&wrapped.ciphertext)
            }
            false => wrapped.ciphertext,
        };
        let state = CloudState::new(url, stored);
        let again = self.data_key(&state).await?;
        if again.expose() != key.expose() {
            return Err(CloudStateError::Different.into());
        }
        let manager = cloud::manager(state.providers(), &key, Arc::clone(&self.context.entropy));
        Ok((state, manager, notes))
    }
}

impl fmt::Debug for CloudSecrets {
    /// Shows nothing: it has keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudSecrets").finish_non_exhaustive()
    }
}
