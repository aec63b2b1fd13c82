//! Many secrets at once: in batches for key services, and only those that changed.

use std::fmt;

use crate::cache::{SecretCache, SecretId, check_count};
use crate::crypter::{Crypter, Decrypter, Encrypter};
use crate::error::CryptError;
use crate::sensitive::{Ciphertext, Plaintext};

/// How many values go into one batch.
pub const BATCH: usize = 1000;

/// A running encryption of many secrets.
///
/// Secrets whose value is in the cache keep their ciphertext. The others wait until there are [`BATCH`] of them, or until
/// [`complete`](Self::complete).
#[must_use = "what was not completed is not encrypted"]
pub struct EncryptBatch<'a, T> {
    crypter: &'a dyn Crypter,
    cache: Option<&'a SecretCache>,
    waiting: Vec<Waiting<Plaintext>>,
    results: Vec<(T, Option<Ciphertext>)>,
}

/// A running decryption of many secrets, in batches of [`BATCH`].
#[must_use = "what was not completed is not decrypted"]
pub struct DecryptBatch<'a, T> {
    crypter: &'a dyn Crypter,
    cache: Option<&'a SecretCache>,
    waiting: Vec<Waiting<Ciphertext>>,
    results: Vec<(T, Option<Plaintext>)>,
}

/// A value in the queue, and its place among the results.
struct Waiting<V> {
    secret: Option<SecretId>,
    value: V,
    at: usize,
}

impl<'a, T> EncryptBatch<'a, T> {
    pub(crate) fn new(crypter: &'a dyn Crypter, cache: Option<&'a SecretCache>) -> Self {
        Self { crypter, cache, waiting: Vec::new(), results: Vec::new() }
    }

    /// Adds a secret. `target` comes back with its ciphertext. Of a secret without identity nothing is remembered.
    ///
    /// # Errors
    ///
    /// When the queue was full and could not be encrypted. The secret was not added then, and what waits waits on.
    pub fn enqueue(
        &mut self,
        secret: Option<&SecretId>,
        plaintext: Plaintext,
        target: T,
    ) -> Result<(), BatchError> {
        let known = self.cache.zip(secret).and_then(|(cache, secret)| cache.ciphertext(secret, &plaintext));
        if known.is_none() {
            if self.waiting.len() >= BATCH {
                self.flush()?;
            }
            self.waiting.push(Waiting { secret: secret.cloned(), value: plaintext, at: self.results.len() });
        }
        self.results.push((target, known));
        Ok(())
    }

    /// Encrypts what waits, and gives all targets with their ciphertexts, in the order they were added.
    ///
    /// # Errors
    ///
    /// When a batch cannot be encrypted.
    pub fn complete(mut self) -> Result<Vec<(T, Ciphertext)>, BatchError> {
        self.flush()?;
        finish(self.results)
    }

    fn flush(&mut self) -> Result<(), BatchError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let values: Vec<&Plaintext> = self.waiting.iter().map(|waiting| &waiting.value).collect();
        let ciphertexts = Encrypter::encrypt_batch(&self.crypter, &values)
            .and_then(|found| check_count(values.len(), found.len()).map(|()| found))
            .map_err(|error| BatchError::new(error, &self.waiting))?;
        for (waiting, ciphertext) in self.waiting.drain(..).zip(ciphertexts) {
            if let Some((cache, secret)) = self.cache.zip(waiting.secret) {
                cache.remember(&secret, waiting.value, ciphertext.clone());
            }
            put(&mut self.results, waiting.at, ciphertext);
        }
        Ok(())
    }
}

impl<'a, T> DecryptBatch<'a, T> {
    pub(crate) fn new(crypter: &'a dyn Crypter, cache: Option<&'a SecretCache>) -> Self {
        Self { crypter, cache, waiting: Vec::new(), results: Vec::new() }
    }

    /// Adds a secret. `target` comes back with its plaintext. Of a secret without identity nothing is remembered.
    ///
    /// # Errors
    ///
    /// When the queue was full and could not be decrypted. The secret was not added then, and what waits waits on.
    pub fn enqueue(
        &mut self,
        secret: Option<&SecretId>,
        ciphertext: Ciphertext,
        target: T,
    ) -> Result<(), BatchError> {
        if self.waiting.len() >= BATCH {
            self.flush()?;
        }
        self.waiting.push(Waiting { secret: secret.cloned(), value: ciphertext, at: self.results.len() });
        self.results.push((target, None));
        Ok(())
    }

    /// Decrypts what waits, and gives all targets with their plaintexts, in the order they were added.
    ///
    /// # Errors
    ///
    /// When a batch cannot be decrypted.
    pub fn complete(mut self) -> Result<Vec<(T, Plaintext)>, BatchError> {
        self.flush()?;
        finish(self.results)
    }

    fn flush(&mut self) -> Result<(), BatchError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let values: Vec<&Ciphertext> = self.waiting.iter().map(|waiting| &waiting.value).collect();
        let plaintexts = Decrypter::decrypt_batch(&self.crypter, &values)
            .and_then(|found| check_count(values.len(), found.len()).map(|()| found))
            .map_err(|error| BatchError::new(error, &self.waiting))?;
        for (waiting, plaintext) in self.waiting.drain(..).zip(plaintexts) {
            if let Some((cache, secret)) = self.cache.zip(waiting.secret) {
                cache.remember(&secret, plaintext.clone(), waiting.value);
            }
            put(&mut self.results, waiting.at, plaintext);
        }
        Ok(())
    }
}

fn put<T, V>(results: &mut [(T, Option<V>)], at: usize, value: V) {
    if let Some((_, slot)) = results.get_mut(at) {
        *slot = Some(value);
    }
}

/// All slots are filled: each was either known or waiting, and nothing waits any more.
fn finish<T, V>(results: Vec<(T, Option<V>)>) -> Result<Vec<(T, V)>, BatchError> {
    let expected = results.len();
    let done: Vec<(T, V)> =
        results.into_iter().filter_map(|(target, value)| Some((target, value?))).collect();
    let checked = check_count(expected, done.len());
    checked.map_err(|error| BatchError { position: None, error })?;
    Ok(done)
}

impl<T> fmt::Debug for EncryptBatch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "EncryptBatch", self.waiting.len(), self.results.len())
    }
}

impl<T> fmt::Debug for DecryptBatch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "DecryptBatch", self.waiting.len(), self.results.len())
    }
}

fn debug(f: &mut fmt::Formatter<'_>, name: &str, waiting: usize, all: usize) -> fmt::Result {
    f.debug_struct(name).field("waiting", &waiting).field("all", &all).finish_non_exhaustive()
}

/// A batch that could not be encrypted or decrypted. The text is that of the cause.
#[derive(Debug)]
pub struct BatchError {
    position: Option<usize>,
    error: CryptError,
}

impl BatchError {
    fn new<V>(error: CryptError, waiting: &[Waiting<V>]) -> Self {
        match error {
            CryptError::Item { index, source } => {
                Self { position: waiting.get(index).map(|waiting| waiting.at), error: *source }
            }
            error => Self { position: None, error },
        }
    }

    /// Which of the secrets is to blame, counted in the order they were added, from 0. `None` if it is none of them.
    pub fn position(&self) -> Option<usize> {
        self.position
    }

    /// What is wrong.
    pub fn error(&self) -> &CryptError {
        &self.error
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
