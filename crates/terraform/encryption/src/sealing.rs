//! Encrypting, in steps: what needs a key service or a program is the caller's to do.

use std::fmt;

use groundstate_common::Entropy;

use crate::chain::{Chain, Content};
use crate::envelope::{EnvelopeLayout, StateHead, write};
use crate::error::{BoxError, KeyError, SealError};
use crate::keys::KeyWalk;
use crate::method::{Cipher, Method, ProgramRequest, seal};
use crate::opening::Step;
use crate::provider::ProvidedKey;
use crate::sensitive::Plaintext;

/// Encrypts one state or plan with the primary method of a chain.
pub struct Sealing<'a> {
    method: &'a Method,
    content: Content,
    plaintext: &'a [u8],
    layout: EnvelopeLayout,
    keys: KeyWalk,
    failure: Option<SealError>,
    output: Option<Plaintext>,
}

impl<'a> Sealing<'a> {
    pub(crate) fn new(chain: &'a Chain, plaintext: &'a [u8], layout: EnvelopeLayout) -> Self {
        let method = chain.primary();
        let (content, keys) = (chain.content, KeyWalk::new(method.keys()));
        Self { method, content, plaintext, layout, keys, failure: None, output: None }
    }

    /// Goes on as far as it can. The result is what to store; nonces come from `entropy`.
    ///
    /// # Errors
    ///
    /// When there is no key, or the method fails. Nothing is to be stored then.
    pub fn step(&mut self, entropy: &dyn Entropy) -> Result<Step<Vec<u8>>, SealError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.method.is_unencrypted() {
            return Ok(Step::Done(self.plaintext.to_vec()));
        }
        match self.keys.next(None) {
            Some(Ok(request)) => return Ok(Step::Key(request)),
            Some(Err(source)) => return Err(self.no_key(source.into())),
            None => {}
        }
        let data = match (&self.method.cipher, self.output.take()) {
            (_, Some(output)) => output.into_bytes(),
            (Cipher::AesGcm { aad, .. }, None) => {
                let key =
                    self.keys.key.as_ref().ok_or_else(|| self.no_key(KeyError::Unrecoverable.into()))?;
                seal(key, aad, self.plaintext, entropy).map_err(|error| self.failed(error.into()))?
            }
            (Cipher::External { encrypt, .. }, None) => {
                let (method, command) = (self.method.id.clone(), encrypt.clone());
                let (key, payload) = (self.keys.key.clone(), Plaintext::new(self.plaintext.to_vec()));
                return Ok(Step::Program(ProgramRequest { method, command, key, payload }));
            }
            (Cipher::Unencrypted, None) => return Ok(Step::Done(self.plaintext.to_vec())),
        };
        let head = match self.content {
            Content::Plan => None,
            // Formats are checked above stores: what is not a JSON object has neither serial nor lineage.
            Content::State => Some(StateHead::read(self.plaintext).unwrap_or_default()),
        };
        Ok(Step::Done(write(head.as_ref(), &self.keys.metadata, &data, self.layout).into_bytes()))
    }

    /// Takes the answer to [`Step::Key`].
    pub fn provide(&mut self, answer: Result<ProvidedKey, BoxError>) {
        let asked = self.keys.asked().cloned();
        if let Err(source) = answer.and_then(|provided| self.keys.provide(provided, true)) {
            let provider = asked.unwrap_or_else(|| self.method.id.clone());
            self.failure = Some(SealError::Key { provider, source });
        }
    }

    /// Takes the answer to [`Step::Program`].
    pub fn complete(&mut self, answer: Result<Plaintext, BoxError>) {
        match answer {
            Ok(output) => self.output = Some(output),
            Err(source) => self.failure = Some(self.failed(source)),
        }
    }

    fn no_key(&self, source: BoxError) -> SealError {
        let provider = self.keys.asked().unwrap_or(&self.method.id).clone();
        SealError::Key { provider, source }
    }

    fn failed(&self, source: BoxError) -> SealError {
        SealError::Method { method: self.method.id.clone(), source }
    }
}

impl fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing").field("method", &self.method.id).finish_non_exhaustive()
    }
}
