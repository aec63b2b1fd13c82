//! Randomness that is none, crypters that are watched, and what Pulumi wrote.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use groundstate_pulumi_secrets::passphrase::{
    Answer, PassphraseRequest, PassphraseSource, PassphraseSourceError,
};
use groundstate_pulumi_secrets::{
    Ciphertext, CryptError, Decrypter, Encrypter, Entropy, EntropyError, Key, Passphrase, Plaintext,
    SymmetricCrypter,
};
use serde_json::Value;

/// Gives other bytes each time, by counting.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        bytes.fill(0x5a);
        for (to, from) in bytes.iter_mut().zip(number) {
            *to = from;
        }
        Ok(())
    }
}

/// Gives these bytes, piece by piece, and then fails.
#[derive(Debug)]
pub(crate) struct Replay(Mutex<VecDeque<Vec<u8>>>);

impl Replay {
    pub(crate) fn of<const N: usize>(pieces: [&[u8]; N]) -> Arc<dyn Entropy> {
        Arc::new(Self(Mutex::new(pieces.into_iter().map(<[u8]>::to_vec).collect())))
    }
}

impl Entropy for Replay {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        let piece = self.0.lock().unwrap().pop_front().ok_or_else(|| EntropyError::new("used up"))?;
        bytes.copy_from_slice(&piece);
        Ok(())
    }
}

pub(crate) fn counting() -> Arc<dyn Entropy> {
    Arc::new(Counting::default())
}

/// The key of the test vectors: 00 to 1f.
pub(crate) fn key() -> Key {
    Key::new(std::array::from_fn(|at| u8::try_from(at).unwrap()))
}

pub(crate) fn symmetric() -> SymmetricCrypter {
    SymmetricCrypter::new(&key(), counting())
}

/// A crypter that notes the size of each batch.
#[derive(Debug)]
pub(crate) struct Watched<C> {
    pub(crate) inner: C,
    pub(crate) encrypted: Mutex<Vec<usize>>,
    pub(crate) decrypted: Mutex<Vec<usize>>,
}

impl<C> Watched<C> {
    pub(crate) fn new(inner: C) -> Arc<Self> {
        Arc::new(Self { inner, encrypted: Mutex::default(), decrypted: Mutex::default() })
    }

    pub(crate) fn encrypted(&self) -> Vec<usize> {
        self.encrypted.lock().unwrap().clone()
    }

    pub(crate) fn decrypted(&self) -> Vec<usize> {
        self.decrypted.lock().unwrap().clone()
    }
}

impl<C: Encrypter> Encrypter for Watched<C> {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        self.encrypted.lock().unwrap().push(1);
        self.inner.encrypt(plaintext)
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        self.encrypted.lock().unwrap().push(plaintexts.len());
        self.inner.encrypt_batch(plaintexts)
    }
}

impl<C: Decrypter> Decrypter for Watched<C> {
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, CryptError> {
        self.decrypted.lock().unwrap().push(1);
        self.inner.decrypt(ciphertext)
    }

    fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>, CryptError> {
        self.decrypted.lock().unwrap().push(ciphertexts.len());
        self.inner.decrypt_batch(ciphertexts)
    }
}

/// A prompt that gives these answers, one after the other, and ends after the last.
#[derive(Debug)]
pub(crate) struct Typing {
    answers: Mutex<VecDeque<&'static str>>,
    /// What was said and asked.
    pub(crate) heard: Mutex<Vec<String>>,
}

impl Typing {
    pub(crate) fn new<const N: usize>(answers: [&'static str; N]) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into()), heard: Mutex::default() })
    }
}

impl PassphraseSource for Typing {
    fn passphrase(&self, request: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError> {
        let mut heard = self.heard.lock().unwrap();
        heard.extend(request.complaint().map(str::to_owned));
        heard.push(request.prompt());
        let answer = self.answers.lock().unwrap().pop_front();
        let passphrase =
            Passphrase::new(answer.ok_or_else(|| PassphraseSourceError::Prompt("gave up".into()))?);
        Ok(Answer { passphrase, interactive: true })
    }
}

/// An error and its causes, as programs print them.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// What Pulumi wrote.
pub(crate) fn pulumi() -> Value {
    serde_json::from_str(include_str!("../fixtures/pulumi/sdk-3.200.0.json")).unwrap()
}

/// What this crate wrote, and Pulumi read.
pub(crate) fn ours() -> Value {
    serde_json::from_str(include_str!("../fixtures/pulumi/groundstate-0.1.0.json")).unwrap()
}

pub(crate) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("no text `{member}` in {value}"))
}

pub(crate) fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().unwrap_or_else(|| panic!("no list `{member}`"))
}
