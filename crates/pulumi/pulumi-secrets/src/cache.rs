//! Which ciphertext a secret had, and which plaintext.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::crypter::{Crypter, Decrypter, Encrypter};
use crate::error::CryptError;
use crate::sensitive::{Ciphertext, Plaintext};

/// Which secret this is, whatever its value: clones are the same secret, and nothing else is.
///
/// A model keeps one beside each secret value. It survives copies of the state, and a value that is made anew gets a new one.
///
/// ```
/// use groundstate_pulumi_secrets::SecretId;
///
/// let id = SecretId::new();
/// assert_eq!(id, id.clone());
/// assert_ne!(id, SecretId::new());
/// ```
#[derive(Clone, Debug)]
pub struct SecretId(Arc<u8>);

impl SecretId {
    /// The identity of a new secret.
    #[expect(clippy::new_without_default, reason = "a default that never equals itself would mislead")]
    pub fn new() -> Self {
        // The place in memory is the identity, so it must be a place of its own: something has to be there.
        Self(Arc::new(0))
    }
}

impl PartialEq for SecretId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SecretId {}

impl Hash for SecretId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// The last plaintext and ciphertext of each secret.
///
/// Two secrets never share an entry, equal as their values may be: equal ciphertexts would tell that the values are equal.
/// Secrets of which nothing is left but the entry are forgotten in time.
#[derive(Debug, Default)]
pub struct SecretCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_secret: HashMap<SecretId, (Plaintext, Ciphertext)>,
    sweep_at: usize,
}

/// How many entries there are at least before a look at which of them are of use.
const SWEEP: usize = 1024;

impl SecretCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The ciphertext of a secret, if its value is still this one.
    pub fn ciphertext(&self, secret: &SecretId, plaintext: &Plaintext) -> Option<Ciphertext> {
        let entries = lock(&self.0);
        let (known, ciphertext) = entries.by_secret.get(secret)?;
        (known == plaintext).then(|| ciphertext.clone())
    }

    /// Remembers the value and the ciphertext of a secret in place of what was known of it.
    pub fn remember(&self, secret: &SecretId, plaintext: Plaintext, ciphertext: Ciphertext) {
        let mut entries = lock(&self.0);
        if entries.by_secret.len() >= entries.sweep_at.max(SWEEP) {
            entries.by_secret.retain(|secret, _| Arc::strong_count(&secret.0) > 1);
            entries.sweep_at = entries.by_secret.len().saturating_mul(2);
        }
        entries.by_secret.insert(secret.clone(), (plaintext, ciphertext));
    }

    /// How many secrets are remembered.
    pub fn len(&self) -> usize {
        lock(&self.0).by_secret.len()
    }

    /// Tells whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A crypter that remembers the plaintext of each ciphertext that it has seen in either direction.
///
/// It spares a key service the same question twice. It is also how asynchronous services meet this crate, which is not:
/// ask the service ahead for all ciphertexts of a state, [`remember`](Self::remember) the answers around an
/// [`ErrorCrypter`](crate::ErrorCrypter), and decode with that.
#[derive(Debug)]
pub struct CachedCrypter<C> {
    inner: C,
    plaintexts: Mutex<HashMap<Ciphertext, Plaintext>>,
}

impl<C: Crypter> CachedCrypter<C> {
    /// A crypter around `inner` that knows nothing yet.
    pub fn new(inner: C) -> Self {
        Self { inner, plaintexts: Mutex::default() }
    }

    /// Remembers what a ciphertext says.
    pub fn remember(&self, ciphertext: Ciphertext, plaintext: Plaintext) {
        lock(&self.plaintexts).insert(ciphertext, plaintext);
    }

    fn known(&self, ciphertext: &Ciphertext) -> Option<Plaintext> {
        lock(&self.plaintexts).get(ciphertext).cloned()
    }
}

impl<C: Crypter> Encrypter for CachedCrypter<C> {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        let ciphertext = self.inner.encrypt(plaintext)?;
        self.remember(ciphertext.clone(), plaintext.clone());
        Ok(ciphertext)
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        let ciphertexts = self.inner.encrypt_batch(plaintexts)?;
        check_count(plaintexts.len(), ciphertexts.len())?;
        for (ciphertext, plaintext) in ciphertexts.iter().zip(plaintexts) {
            self.remember(ciphertext.clone(), (*plaintext).clone());
        }
        Ok(ciphertexts)
    }
}

impl<C: Crypter> Decrypter for CachedCrypter<C> {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        if let Some(plaintext) = self.known(ciphertext) {
            return Ok(plaintext);
        }
        let plaintext = self.inner.decrypt(ciphertext)?;
        self.remember(ciphertext.clone(), plaintext.clone());
        Ok(plaintext)
    }

    /// Asks for those only that are not known, each once.
    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        let mut asked = HashMap::new();
        let mut unknown = Vec::new();
        for (index, ciphertext) in ciphertexts.iter().copied().enumerate() {
            if self.known(ciphertext).is_none() && !asked.contains_key(ciphertext) {
                asked.insert(ciphertext, unknown.len());
                unknown.push((index, ciphertext));
            }
        }
        let answers = if unknown.is_empty() { Vec::new() } else { self.ask(&unknown)? };
        let plaintext = |ciphertext: &&Ciphertext| match asked.get(*ciphertext) {
            Some(&at) => answers.get(at).cloned(),
            None => self.known(ciphertext),
        };
        let plaintexts: Vec<Plaintext> = ciphertexts.iter().filter_map(plaintext).collect();
        check_count(ciphertexts.len(), plaintexts.len())?;
        Ok(plaintexts)
    }
}

impl<C: Crypter> CachedCrypter<C> {
    fn ask(&self, unknown: &[(usize, &Ciphertext)]) -> Result<Vec<Plaintext>, CryptError> {
        let ciphertexts: Vec<&Ciphertext> = unknown.iter().map(|(_, ciphertext)| *ciphertext).collect();
        let answers = self.inner.decrypt_batch(&ciphertexts).map_err(|error| match error {
            // The place among those that were asked for is not the place in the batch.
            CryptError::Item { index, source } => {
                CryptError::Item { index: unknown.get(index).map_or(index, |(index, _)| *index), source }
            }
            error => error,
        })?;
        check_count(ciphertexts.len(), answers.len())?;
        for (ciphertext, plaintext) in ciphertexts.into_iter().zip(&answers) {
            self.remember(ciphertext.clone(), plaintext.clone());
        }
        Ok(answers)
    }
}

/// Checks the contract of batches: as many values come back as went in.
pub(crate) fn check_count(expected: usize, found: usize) -> Result<(), CryptError> {
    if expected == found { Ok(()) } else { Err(CryptError::Count { expected, found }) }
}

/// A panic elsewhere leaves a map that is whole: each change of it is a single call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
