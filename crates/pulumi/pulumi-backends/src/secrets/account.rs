//! Secrets that a Pulumi service encrypts and decrypts, for the user who has logged in there.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::{Sleeper, one_line};
use groundstate_pulumi_http::ServiceStack;
use groundstate_pulumi_protocol::{CipherBytes, PlainBytes, StackPath};
use groundstate_pulumi_secrets::{Ciphertext, Plaintext, SecretsProviders};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::home::PulumiHome;
use crate::service_login::{ServiceLoginError, connect};
use crate::service_url::ServiceUrl;

/// Why a service does not encrypt or decrypt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceSecretsError {
    /// The state of the manager is not what Pulumi writes.
    #[error("constructing secrets manager of type \"service\": {0}")]
    State(String),
    /// The address of the service cannot be used.
    #[error("the secrets are encrypted by the service {url}, which is no address")]
    Address {
        /// The address, as the state has it.
        url: String,
    },
    /// The user has not logged in there, or the login cannot be read.
    #[error("the secrets are encrypted by the service {url}")]
    Login {
        /// The address.
        url: String,
        /// Why it cannot be asked.
        source: ServiceLoginError,
    },
    /// The service refuses, or does not answer.
    #[error(transparent)]
    Service(#[from] groundstate_pulumi_http::Error),
    /// A value is none that the service has encrypted.
    #[error("value {} is no ciphertext of the service", .index + 1)]
    Value {
        /// Its place among those that were asked for; the first is 0.
        index: usize,
    },
    /// The service gives something else than text.
    #[error("value {} is not text", .index + 1)]
    NotText {
        /// Its place among those that were asked for; the first is 0.
        index: usize,
    },
}

/// What the state of the manager has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct State {
    url: String,
    owner: String,
    project: String,
    stack: String,
    insecure: bool,
}

/// The same as Pulumi writes it for a new stack.
#[derive(Serialize)]
struct NewState {
    url: String,
    owner: String,
    project: String,
    stack: String,
}

/// The manager of the type `service`: a stack of a service, and the token of the user.
pub struct ServiceSecrets(ServiceStack);

impl ServiceSecrets {
    /// The type of the manager.
    pub const TYPE: &'static str = "service";

    /// The service that the state of a manager names. Its address may be a stranger's: which token goes where is what
    /// [`ServiceChoice::open`](crate::ServiceChoice::open) says. `sleeper` waits between repetitions.
    ///
    /// # Errors
    ///
    /// When the state is malformed, there is no token, or the login cannot be read.
    pub fn open(
        providers: &SecretsProviders,
        home: &PulumiHome,
        variable: &dyn Fn(&str) -> Option<String>,
        sleeper: Arc<dyn Sleeper>,
    ) -> Result<Self, ServiceSecretsError> {
        let wrong = |why: &str| ServiceSecretsError::State(why.to_owned());
        let state: State = match providers.state() {
            Some(text) => {
                serde_json::from_str(text).map_err(|_| wrong("its state is not an object of texts"))?
            }
            None => return Err(wrong("it has no state")),
        };
        if [&state.owner, &state.project, &state.stack].into_iter().any(|name| name.is_empty()) {
            return Err(wrong("its state does not name the stack"));
        }
        let text = if state.url.trim_end_matches('/').is_empty() { ServiceUrl::DEFAULT } else { &state.url };
        let url = ServiceUrl::parse(text)
            .map_err(|_| ServiceSecretsError::Address { url: one_line(text).into_owned() })?;
        let service = connect(&url, state.insecure, home, variable, sleeper)
            .map_err(|source| ServiceSecretsError::Login { url: url.to_string(), source })?;
        Ok(Self(service.stack(StackPath::new(state.owner, state.project, state.stack))))
    }

    /// The manager of a stack that is open, such as the one that secrets move to.
    pub fn of_stack(stack: ServiceStack) -> Self {
        Self(stack)
    }

    /// What a state has of this manager: the object `secrets_providers`.
    ///
    /// # Errors
    ///
    /// Never for names that a service has; they are texts.
    pub fn providers(&self) -> Result<SecretsProviders, ServiceSecretsError> {
        let StackPath { owner, project, stack } = self.0.path().clone();
        let url = self.0.service().address().to_string();
        let wrong = |error: &dyn fmt::Display| ServiceSecretsError::State(error.to_string());
        let state = serde_json::to_string(&NewState { url, owner, project, stack });
        let state = state.map_err(|error| wrong(&error))?;
        SecretsProviders::new(Self::TYPE, Some(&state)).map_err(|error| wrong(&error))
    }

    /// Returns `true` if the state of a manager names this stack at this address of the service.
    pub fn is_named_by(&self, providers: &SecretsProviders) -> bool {
        let state = providers.state().and_then(|text| serde_json::from_str::<State>(text).ok());
        let Some(state) = state.filter(|_| providers.kind() == Self::TYPE) else { return false };
        let path = self.0.path();
        let url = if state.url.is_empty() { ServiceUrl::DEFAULT } else { &state.url };
        url.trim_end_matches('/') == self.0.service().address().to_string().trim_end_matches('/')
            && [&state.owner, &state.project, &state.stack] == [&path.owner, &path.project, &path.stack]
    }

    /// Decrypts values by one request.
    ///
    /// # Errors
    ///
    /// When a ciphertext is not Base64, when a value is not UTF-8 text, and when the service refuses or does not answer.
    pub async fn decrypt(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, ServiceSecretsError> {
        let sealed = ciphertexts.iter().enumerate().map(|(index, ciphertext)| {
            let bytes = STANDARD.decode(ciphertext.as_str());
            bytes.map(CipherBytes::new).map_err(|_| ServiceSecretsError::Value { index })
        });
        let sealed = sealed.collect::<Result<Vec<CipherBytes>, _>>()?;
        let opened = self.0.decrypt(sealed.clone()).await?;
        let text = |(index, value): (usize, &CipherBytes)| {
            let bytes = opened.get(value).map(PlainBytes::expose).unwrap_or_default();
            let text = std::str::from_utf8(bytes).map_err(|_| ServiceSecretsError::NotText { index })?;
            Ok(Plaintext::new(text))
        };
        sealed.iter().enumerate().map(text).collect()
    }

    /// Encrypts values in their order.
    ///
    /// # Errors
    ///
    /// When the service refuses or does not answer.
    pub async fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, ServiceSecretsError> {
        let values = plaintexts.iter().map(|plaintext| PlainBytes::new(plaintext.expose().as_bytes()));
        let sealed = self.0.encrypt(values.collect()).await?;
        Ok(sealed.iter().map(|value| Ciphertext::new(STANDARD.encode(value.as_bytes()))).collect())
    }
}

impl fmt::Debug for ServiceSecrets {
    /// Shows no token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServiceSecrets").field(&self.0).finish()
    }
}
