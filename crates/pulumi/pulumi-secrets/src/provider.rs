//! From the `secrets_providers` object of a deployment to a manager.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use crate::error::BoxError;
use crate::manager::{CachePolicy, Manager};
use crate::passphrase::{self, PassphraseSource, Salt, UnlockError};
use crate::simple::BlindingCrypter;
use crate::state::SecretsProviders;
use crate::symmetric::SymmetricCrypter;
use groundstate_common::Entropy;

/// Opens managers by type and state. It is asked once, when a deployment is first loaded.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Opens the manager of this type and state.
    ///
    /// # Errors
    ///
    /// When the type is not known or not supported, or the manager cannot be opened. The object is as good as before: a
    /// deployment can be written again with it, if no secret has to be encrypted.
    fn of_type(&self, providers: &SecretsProviders) -> Result<Manager, ProviderError>;
}

/// Why there is no manager.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The type is unknown.
    #[error("no known secrets provider for type {kind:?}; known ones are {known}")]
    Unknown {
        /// The type.
        kind: String,
        /// The types that are known, in words.
        known: String,
    },
    /// The type is known, and its managers cannot be opened here: a service keeps the key.
    #[error(
        "constructing secrets manager of type {kind:?}: its key is not at hand; the state of the manager is kept as it \
         is: work without decrypted values, or encrypt anew by `pulumi stack export --show-secrets` and \
         `pulumi stack import`"
    )]
    NotSupportedYet {
        /// The type.
        kind: String,
    },
    /// The manager cannot be opened.
    #[error("constructing secrets manager of type {kind:?}")]
    Construct {
        /// The type.
        kind: String,
        /// Why not.
        source: BoxError,
    },
}

impl ProviderError {
    /// An error of opening a manager of this type.
    pub fn construct(kind: &str, source: impl Into<BoxError>) -> Self {
        Self::Construct { kind: kind.to_owned(), source: source.into() }
    }
}

/// The types that Pulumi knows and this crate does not open by itself.
pub(crate) const ELSEWHERE: [&str; 2] = ["cloud", "service"];

/// Opens managers of the type `passphrase`, and of other types through providers that are added.
///
/// [`for_stack`](Self::for_stack) gives the named variant, which differs in the question for the passphrase only. Keys are
/// remembered by salt, so that deployments of one stack ask and derive once; clones share that memory.
#[derive(Clone)]
pub struct DefaultProvider {
    source: Arc<dyn PassphraseSource>,
    entropy: Arc<dyn Entropy>,
    stack: Option<String>,
    policy: CachePolicy,
    others: BTreeMap<String, Arc<dyn Provider>>,
    unlocked: Arc<Mutex<HashMap<String, Arc<SymmetricCrypter>>>>,
}

impl DefaultProvider {
    /// A provider that takes passphrases from `source`, and what must be random from `entropy`.
    pub fn new(source: Arc<dyn PassphraseSource>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            source,
            entropy,
            stack: None,
            policy: CachePolicy::default(),
            others: BTreeMap::new(),
            unlocked: Arc::default(),
        }
    }

    /// The same for one of several stacks, whose name the question for the passphrase says.
    #[must_use]
    pub fn for_stack(&self, name: impl Into<String>) -> Self {
        Self { stack: Some(name.into()), ..self.clone() }
    }

    /// The same with this policy for the caches of the managers.
    #[must_use]
    pub fn with_cache_policy(mut self, policy: CachePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The same with a provider for another type, such as that of a key service.
    #[must_use]
    pub fn with_provider(mut self, kind: impl Into<String>, provider: Arc<dyn Provider>) -> Self {
        self.others.insert(kind.into(), provider);
        self
    }

    fn unlock(&self, salt: &Salt) -> Result<Arc<SymmetricCrypter>, UnlockError> {
        let known = || self.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(crypter) = known().get(salt.as_str()) {
            return Ok(Arc::clone(crypter));
        }
        let stack = self.stack.as_deref();
        let crypter = Arc::new(passphrase::unlock(salt, &*self.source, stack, Arc::clone(&self.entropy))?);
        known().insert(salt.as_str().to_owned(), Arc::clone(&crypter));
        Ok(crypter)
    }

    fn known(&self) -> String {
        let mut kinds = vec![passphrase::TYPE];
        kinds.extend(ELSEWHERE);
        kinds.extend(self.others.keys().map(String::as_str).filter(|kind| !ELSEWHERE.contains(kind)));
        kinds.join(", ")
    }
}

impl Provider for DefaultProvider {
    fn of_type(&self, providers: &SecretsProviders) -> Result<Manager, ProviderError> {
        let kind = providers.kind();
        let manager = if let Some(other) = self.others.get(kind) {
            other.of_type(providers)?
        } else if kind == passphrase::TYPE {
            passphrase::open_with(providers, |salt| self.unlock(salt))
                .map_err(|error| ProviderError::construct(kind, error))?
        } else if ELSEWHERE.contains(&kind) {
            return Err(ProviderError::NotSupportedYet { kind: kind.to_owned() });
        } else {
            return Err(ProviderError::Unknown { kind: kind.to_owned(), known: self.known() });
        };
        Ok(manager.with_cache_policy(self.policy))
    }
}

impl fmt::Debug for DefaultProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultProvider")
            .field("source", &self.source)
            .field("stack", &self.stack)
            .field("policy", &self.policy)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

/// Opens managers of the type `b64`, which hide nothing: for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base64Provider;

impl Provider for Base64Provider {
    fn of_type(&self, providers: &SecretsProviders) -> Result<Manager, ProviderError> {
        match providers.kind() {
            Manager::BASE64_TYPE => Ok(Manager::base64_from(providers.clone())),
            kind => {
                Err(ProviderError::Unknown { kind: kind.to_owned(), known: Manager::BASE64_TYPE.to_owned() })
            }
        }
    }
}

/// Opens a manager for any type, which shows each value as [`REDACTED`](crate::REDACTED): for listings without credentials.
///
/// What such a manager encrypts is lost, so a deployment that it has decrypted is not to be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlindingProvider;

impl Provider for BlindingProvider {
    fn of_type(&self, providers: &SecretsProviders) -> Result<Manager, ProviderError> {
        Ok(Manager::new(providers.clone(), Arc::new(BlindingCrypter::json())))
    }
}
