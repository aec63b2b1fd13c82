//! A secrets manager: a crypter, the state it is opened from, and a cache that keeps ciphertexts the same.

use std::sync::Arc;

use crate::batch::{DecryptBatch, EncryptBatch};
use crate::cache::SecretCache;
use crate::crypter::{Crypter, Decrypter, Encrypter};
use crate::error::{CryptError, Operation};
use crate::sensitive::{Ciphertext, Plaintext};
use crate::simple::{Base64Crypter, ErrorCrypter};
use crate::state::SecretsProviders;

/// What a manager does with secrets that it has seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CachePolicy {
    /// A secret that did not change since it was decrypted or encrypted keeps its ciphertext.
    #[default]
    KeepUnchanged,
    /// A secret that did not change since it was encrypted keeps its ciphertext; what was only decrypted gets a new one.
    /// This is what Pulumi does: each operation encrypts each secret once.
    ReencryptOnce,
    /// Nothing is kept, as `PULUMI_DISABLE_SECRET_CACHE` asks for.
    Off,
}

/// A secrets manager. Clones share the cache.
///
/// A manager is opened once, when a state is first loaded, and travels with the state from then on. What is specific to a
/// kind of manager is in its crypter and its state, so a key service is one more [`Crypter`].
#[derive(Clone, Debug)]
pub struct Manager {
    providers: SecretsProviders,
    crypter: Arc<dyn Crypter>,
    locked: Option<Arc<str>>,
    policy: CachePolicy,
    cache: Arc<SecretCache>,
}

impl Manager {
    /// The type of [`base64`](Self::base64) in `secrets_providers`.
    pub const BASE64_TYPE: &str = "b64";

    /// A manager with this state and crypter.
    pub fn new(providers: SecretsProviders, crypter: Arc<dyn Crypter>) -> Self {
        let (policy, cache) = (CachePolicy::default(), Arc::new(SecretCache::new()));
        Self { providers, crypter, locked: None, policy, cache }
    }

    /// A manager that carries its state along, and refuses all work for this reason.
    pub fn locked(providers: SecretsProviders, reason: &str) -> Self {
        let crypter = Arc::new(LockedCrypter(ErrorCrypter::new(reason)));
        Self { locked: Some(reason.into()), ..Self::new(providers, crypter) }
    }

    /// A manager that hides nothing, of the type `b64` and the state `{}`: for tests.
    pub fn base64() -> Self {
        let providers =
            SecretsProviders::new(Self::BASE64_TYPE, Some("{}")).expect("an empty object is JSON");
        Self::base64_from(providers)
    }

    pub(crate) fn base64_from(providers: SecretsProviders) -> Self {
        Self::new(providers, Arc::new(Base64Crypter))
    }

    /// The same manager with an empty cache of this policy.
    #[must_use]
    pub fn with_cache_policy(mut self, policy: CachePolicy) -> Self {
        self.policy = policy;
        self.cache = Arc::new(SecretCache::new());
        self
    }

    /// The `secrets_providers` object that the manager was opened from, to write into the deployment.
    pub fn providers(&self) -> &SecretsProviders {
        &self.providers
    }

    /// What encrypts single values, past the cache.
    pub fn encrypter(&self) -> &dyn Encrypter {
        &*self.crypter
    }

    /// What decrypts single values, past the cache.
    pub fn decrypter(&self) -> &dyn Decrypter {
        &*self.crypter
    }

    /// Why the manager refuses all work, if it does: its passphrase was wrong. A deployment with no ciphertext in it does
    /// not care; for all others it is better said at once than at the first secret.
    pub fn lock_reason(&self) -> Option<&str> {
        self.locked.as_deref()
    }

    /// Tells whether `other` decrypts what this one encrypts: types are equal, and so are the bytes of the states.
    pub fn is_compatible(&self, other: &Self) -> bool {
        self.providers.is_compatible(&other.providers)
    }

    /// Begins to encrypt many secrets. `T` says where a ciphertext belongs.
    pub fn begin_encrypt<T>(&self) -> EncryptBatch<'_, T> {
        EncryptBatch::new(&*self.crypter, self.cache_if(self.policy != CachePolicy::Off))
    }

    /// Begins to decrypt many secrets. `T` says where a plaintext belongs.
    pub fn begin_decrypt<T>(&self) -> DecryptBatch<'_, T> {
        DecryptBatch::new(&*self.crypter, self.cache_if(self.policy == CachePolicy::KeepUnchanged))
    }

    fn cache_if(&self, used: bool) -> Option<&SecretCache> {
        used.then_some(&*self.cache)
    }
}

/// Refuses batches in the same words as single values, as the original does for a wrong passphrase.
#[derive(Debug)]
struct LockedCrypter(ErrorCrypter);

impl Encrypter for LockedCrypter {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        self.0.encrypt(plaintext)
    }

    fn encrypt_batch(&self, _: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        self.0.refuse(Operation::Encrypt)
    }
}

impl Decrypter for LockedCrypter {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        self.0.decrypt(ciphertext)
    }

    fn decrypt_batch(&self, _: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        self.0.refuse(Operation::Decrypt)
    }
}
