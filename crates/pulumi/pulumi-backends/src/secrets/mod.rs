//! The key services of Pulumi stacks: from the URL of a secrets provider to the data key of a stack.

#[cfg(feature = "service")]
mod account;
mod service;
mod url;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_key_services::{DataKey, KeyContext, KeyService, WrappedKey};
use groundstate_pulumi_secrets::cloud::{self, CloudState, CloudStateError};
use groundstate_pulumi_secrets::{Key, Manager, SecretsProviders};
use thiserror::Error;

#[cfg(feature = "service")]
pub use account::{ServiceSecrets, ServiceSecretsError};
pub use url::{KeyUrl, KeyUrlError};

/// The variable with the URL by which data keys are unwrapped in place of that of the stack.
const OVERRIDE: &str = "PULUMI_CLOUD_SECRET_OVERRIDE";

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
    /// A transit engine refuses, and the URL does not name it: the data key may be that of another one.
    #[error(
        "the data key of the stack is not at hand; if an earlier URL of the stack named an engine, pulumi may have wrapped the \
         data key there, and {OVERRIDE}='hashivault://KEY?engine=MOUNT' opens it"
    )]
    Mount(#[source] groundstate_key_services::Error),
    /// The service of the URL in `PULUMI_CLOUD_SECRET_OVERRIDE` does not give the data key.
    #[error("the URL in {OVERRIDE} does not open the stack; unset it to use that of the stack")]
    Override(#[source] Box<Self>),
    /// The URL leads to another address or chooses credentials, and only a state or a stack configuration says so, which may be a
    /// stranger's.
    #[error(
        "the secrets provider {url} has {what}, which neither a state nor a stack configuration may choose"
    )]
    Untrusted {
        /// The URL without its parameters.
        url: String,
        /// What it has, such as "the parameter `endpoint`".
        what: String,
    },
    /// There is no randomness for a new data key.
    #[error(transparent)]
    Entropy(#[from] groundstate_pulumi_secrets::EntropyError),
}

/// Opens managers of the type `cloud`, and makes new ones. It remembers data keys by URL and wrapped key, so that each is unwrapped once.
///
/// The URL of a state may be a stranger's: one that leads to another address or chooses credentials
/// ([`KeyUrl::leads_elsewhere`]) is refused unless [`trusting`](Self::trusting) knows it.
pub struct CloudSecrets {
    context: KeyContext,
    variable: Variables,
    trusts: Box<dyn Fn(&str) -> bool + Send + Sync>,
    keys: Mutex<HashMap<(String, Vec<u8>), Key>>,
}

impl CloudSecrets {
    /// `variable` looks up variables of the environment, by which the services find their credentials.
    pub fn new(
        context: KeyContext,
        variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { context, variable: Arc::new(variable), trusts: Box::new(|_| false), keys: Mutex::default() }
    }

    /// Says which URLs are the user's own, such as those in the configuration of the stack.
    #[must_use]
    pub fn trusting(mut self, trusts: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.trusts = Box::new(trusts);
        self
    }

    /// The manager that a deployment or a configuration names. `PULUMI_CLOUD_SECRET_OVERRIDE` says by which URL its data key is
    /// unwrapped, and is stored nowhere.
    ///
    /// # Errors
    ///
    /// When the state is malformed, the URL cannot be used or is not trusted, or the service refuses.
    pub async fn open(&self, providers: &SecretsProviders) -> Result<Manager, CloudSecretsError> {
        let state = CloudState::parse(providers)?;
        let key = self.data_key(&state).await?;
        Ok(cloud::manager(providers.clone(), &key, Arc::clone(&self.context.entropy)))
    }

    /// The same by this URL, which is the user's own, whatever the variable says.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub async fn open_by(
        &self,
        url: &str,
        providers: &SecretsProviders,
    ) -> Result<Manager, CloudSecretsError> {
        let state = CloudState::parse(providers)?;
        let key = self.unwrapped(url, state.encrypted_key()).await?;
        Ok(cloud::manager(providers.clone(), &key, Arc::clone(&self.context.entropy)))
    }

    /// The data key of this state.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub async fn data_key(&self, state: &CloudState) -> Result<Key, CloudSecretsError> {
        if let Some(url) = (self.variable)(OVERRIDE).filter(|url| !url.is_empty()) {
            let key = self.unwrapped(&url, state.encrypted_key()).await;
            return key.map_err(|error| CloudSecretsError::Override(Box::new(error)));
        }
        let url = KeyUrl::parse(state.url())?;
        match url.leads_elsewhere() {
            Some(what) if !(self.trusts)(state.url()) => {
                Err(CloudSecretsError::Untrusted { url: url::shown(state.url()), what })
            }
            _ => self.unwrapped(state.url(), state.encrypted_key()).await,
        }
    }

    /// The data key that the service of this URL unwraps.
    async fn unwrapped(&self, url: &str, encrypted_key: &[u8]) -> Result<Key, CloudSecretsError> {
        let name = (url.to_owned(), encrypted_key.to_vec());
        let known = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        if let Some(key) = known {
            return Ok(key);
        }
        let url = KeyUrl::parse(url)?;
        let wrapped = match url.is_azure() {
            true => WrappedKey::new(cloud::azure_ciphertext(encrypted_key)),
            false => WrappedKey::new(encrypted_key),
        };
        let service = service::open(&url, &self.variable, &self.context)?;
        let plain = service.unwrap(&wrapped).await.map_err(|error| {
            match url.lacks_engine() && is_of_another(&error) {
                true => CloudSecretsError::Mount(error),
                false => error.into(),
            }
        })?;
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
        let again = self.unwrapped(url, state.encrypted_key()).await?;
        if again.expose() != key.expose() {
            return Err(CloudStateError::Different.into());
        }
        let manager = cloud::manager(state.providers(), &key, Arc::clone(&self.context.entropy));
        Ok((state, manager, notes))
    }
}

/// Whether a service refuses as it does what another key or another engine wrapped.
fn is_of_another(error: &groundstate_key_services::Error) -> bool {
    use groundstate_key_services::ErrorKind::{BadCiphertext, KeyGone, NotFound, WrongKey};
    matches!(error.kind(), BadCiphertext | KeyGone | NotFound | WrongKey)
}

impl fmt::Debug for CloudSecrets {
    /// Shows nothing: it has keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudSecrets").finish_non_exhaustive()
    }
}
