//! Decrypting, in steps: what needs a key service or a program is the caller's to do.

use std::fmt;

use crate::chain::{Chain, Content};
use crate::envelope::{Envelope, StateHead};
use crate::error::{BoxError, KeyError, MethodError, MethodFailure, OpenError};
use crate::keys::KeyWalk;
use crate::method::{Cipher, Method, ProgramRequest, open};
use crate::provider::{BlockId, KeyRequest, ProvidedKey};
use crate::sensitive::Plaintext;

/// Whether what is stored is as the configuration wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The primary method encrypted it.
    Satisfied,
    /// A fallback did, or it was in the clear: the next write changes that.
    Migration,
}

/// What decrypting gives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// The state or the plan.
    pub plaintext: Plaintext,
    /// Whether the next write changes how it is encrypted.
    pub status: Status,
    /// The method that opened it; nothing if it was in the clear.
    pub method: Option<BlockId>,
    /// The provider of its key.
    pub key_provider: Option<BlockId>,
    /// A passphrase is hashed fewer times than OpenTofu allows for new keys.
    pub is_weak: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Get this key, and hand it to `provide`.
    Key(KeyRequest),
    /// Run this program, and hand its output to `complete`.
    Program(ProgramRequest),
    /// Nothing: this is the result.
    Done(T),
}

/// Decrypts one state or plan.
///
/// Methods are tried from the primary on. One that cannot be set up is passed over like one that has the wrong key, so
/// that a key service that is down does not close what a fallback opens.
pub struct Opening<'a> {
    chain: &'a Chain,
    text: &'a [u8],
    envelope: Option<Envelope<'a>>,
    data: Vec<u8>,
    at: usize,
    keys: Option<KeyWalk>,
    output: Option<Plaintext>,
    failures: Vec<MethodFailure>,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(chain: &'a Chain, text: &'a [u8]) -> Result<Self, OpenError> {
        let envelope = match Envelope::parse(text) {
            Ok(envelope) => envelope,
            Err(_) if chain.content == Content::Plan && text.starts_with(b"PK") => None,
            Err(_) if chain.content == Content::Plan && !text.starts_with(b"{") => {
                return Err(OpenError::NotPlan);
            }
            Err(error) => return Err(error.into()),
        };
        let data = match &envelope {
            None => Vec::new(),
            Some(envelope) if envelope.version() != crate::envelope::VERSION => {
                return Err(OpenError::Version { found: envelope.version().to_owned() });
            }
            Some(envelope) => envelope.data()?,
        };
        let (keys, output, failures) = (None, None, Vec::new());
        Ok(Self { chain, text, envelope, data, at: 0, keys, output, failures })
    }

    /// Goes on as far as it can.
    ///
    /// # Errors
    ///
    /// When no method opens the envelope, or it is none and the chain does not allow that.
    pub fn step(&mut self) -> Result<Step<Opened>, OpenError> {
        let Some(envelope) = &self.envelope else { return self.plain().map(Step::Done) };
        let chain = self.chain;
        while let Some(method) = chain.method(self.at) {
            if method.is_unencrypted() {
                self.at += 1;
                continue;
            }
            let keys = self.keys.get_or_insert_with(|| KeyWalk::new(method.keys()));
            match keys.next(Some(envelope.metadata())) {
                Some(Ok(request)) => return Ok(Step::Key(request)),
                Some(Err(error)) => {
                    let provider = keys.asked().cloned();
                    fail(&mut self.failures, method, provider, error.into());
                    (self.keys, self.at) = (None, self.at + 1);
                    continue;
                }
                None => {}
            }
            let opened = match (&method.cipher, self.output.take()) {
                (_, Some(output)) => Ok(output),
                (Cipher::AesGcm { aad, .. }, None) => decrypt(keys, aad, &self.data),
                (Cipher::External { decrypt, .. }, None) => {
                    let (method, command) = (method.id.clone(), decrypt.clone());
                    let (key, payload) = (keys.key.clone(), Plaintext::new(self.data.clone()));
                    return Ok(Step::Program(ProgramRequest { method, command, key, payload }));
                }
                (Cipher::Unencrypted, None) => Err(MethodError::Authentication.into()),
            };
            match opened {
                Ok(plaintext) => {
                    let is_weak = keys.is_weak;
                    self.check(envelope, &plaintext)?;
                    return Ok(Step::Done(self.done(method, plaintext, is_weak)));
                }
                Err(error) => {
                    fail(&mut self.failures, method, None, error);
                    (self.keys, self.at) = (None, self.at + 1);
                }
            }
        }
        match std::mem::take(&mut self.failures) {
            failures if failures.is_empty() => Err(OpenError::NoMethod),
            failures => Err(OpenError::Failed { failures }),
        }
    }

    /// Takes the answer to [`Step::Key`]; an error leads to the next method.
    pub fn provide(&mut self, answer: Result<ProvidedKey, BoxError>) {
        let (Some(method), Some(keys)) = (self.chain.method(self.at), &mut self.keys) else { return };
        let provider = keys.asked().cloned();
        if let Err(error) = answer.and_then(|provided| keys.provide(provided, false)) {
            fail(&mut self.failures, method, provider, error);
            (self.keys, self.at) = (None, self.at + 1);
        }
    }

    /// Takes the answer to [`Step::Program`]; an error leads to the next method.
    pub fn complete(&mut self, answer: Result<Plaintext, BoxError>) {
        let Some(method) = self.chain.method(self.at) else { return };
        match answer {
            Ok(output) => self.output = Some(output),
            Err(error) => {
                fail(&mut self.failures, method, None, error);
                (self.keys, self.at) = (None, self.at + 1);
            }
        }
    }

    /// Why the methods failed that were passed over until now.
    pub fn failures(&self) -> &[MethodFailure] {
        &self.failures
    }

    fn plain(&self) -> Result<Opened, OpenError> {
        let is_plan = self.chain.content == Content::Plan;
        if is_plan && !self.text.starts_with(b"PK") {
            return Err(OpenError::NotPlan);
        }
        if !is_plan && !StateHead::read(self.text).is_ok_and(|head| head.has_writer) {
            return Err(OpenError::NotState);
        }
        if !self.chain.methods().any(Method::is_unencrypted) {
            return Err(OpenError::Unencrypted);
        }
        let is_first = self.chain.primary().is_unencrypted();
        let status = if is_first { Status::Satisfied } else { Status::Migration };
        let plaintext = Plaintext::new(self.text.to_vec());
        Ok(Opened { plaintext, status, method: None, key_provider: None, is_weak: false })
    }

    /// What stands outside has to be what stands inside.
    fn check(&self, envelope: &Envelope<'_>, plaintext: &Plaintext) -> Result<(), OpenError> {
        if self.chain.content == Content::Plan {
            return Ok(());
        }
        let inside = StateHead::read(plaintext.expose()).unwrap_or_default();
        if let (Some(outside), Some(inside)) = (envelope.serial(), &inside.serial)
            && outside != inside
        {
            return Err(OpenError::Serial { outside: outside.to_owned(), inside: inside.clone() });
        }
        if !envelope.lineage().is_empty() && envelope.lineage() != inside.lineage {
            return Err(OpenError::Lineage);
        }
        Ok(())
    }

    fn done(&self, method: &Method, plaintext: Plaintext, is_weak: bool) -> Opened {
        let status = if self.at == 0 { Status::Satisfied } else { Status::Migration };
        let key_provider = method.keys().map(|provider| provider.id.clone());
        Opened { plaintext, status, method: Some(method.id.clone()), key_provider, is_weak }
    }
}

fn decrypt(keys: &KeyWalk, aad: &[u8], data: &[u8]) -> Result<Plaintext, BoxError> {
    let key = keys.key.as_ref().ok_or(KeyError::Unrecoverable)?;
    Ok(open(key, aad, data)?)
}

fn fail(failures: &mut Vec<MethodFailure>, method: &Method, provider: Option<BlockId>, source: BoxError) {
    failures.push(MethodFailure { method: method.id.clone(), provider, source });
}

impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening")
            .field("envelope", &self.envelope)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
