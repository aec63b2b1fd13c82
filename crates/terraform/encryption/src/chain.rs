//! The methods of one target: a primary, and fallbacks that decrypt.

use groundstate_common::Entropy;

use crate::envelope::EnvelopeLayout;
use crate::error::{BoxError, KeyError, OpenError, SealError};
use crate::method::{Method, ProgramRequest};
use crate::opening::{Opened, Opening, Step};
use crate::provider::{KeyRequest, ProvidedKey};
use crate::sealing::Sealing;
use crate::sensitive::Plaintext;

/// What a configuration says about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The states of the configuration itself.
    State,
    /// Its plans.
    Plan,
    /// The state that a `terraform_remote_state` data source reads: its address without `data.terraform_remote_state.` and
    /// without the first `module.`, such as `network` or `child.network[0]`.
    RemoteState(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    State,
    Plan,
}

/// How one target is encrypted and decrypted; see [`Configuration::chain`](crate::Configuration::chain).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub(crate) content: Content,
    pub(crate) primary: Method,
    pub(crate) fallbacks: Vec<Method>,
}

impl Chain {
    /// The method that encrypts.
    pub fn primary(&self) -> &Method {
        &self.primary
    }

    /// All methods, the primary first.
    pub fn methods(&self) -> impl Iterator<Item = &Method> {
        std::iter::once(&self.primary).chain(&self.fallbacks)
    }

    pub(crate) fn method(&self, at: usize) -> Option<&Method> {
        self.methods().nth(at)
    }

    /// Begins to decrypt what is stored.
    ///
    /// # Errors
    ///
    /// When it is neither plaintext nor an envelope of a known version.
    pub fn opening<'a>(&'a self, stored: &'a [u8]) -> Result<Opening<'a>, OpenError> {
        Opening::new(self, stored)
    }

    /// Begins to encrypt.
    pub fn sealing<'a>(&'a self, plaintext: &'a [u8], layout: EnvelopeLayout) -> Sealing<'a> {
        Sealing::new(self, plaintext, layout)
    }

    /// Decrypts with keys that do not have to be waited for.
    ///
    /// # Errors
    ///
    /// Those of [`opening`](Self::opening) and [`Opening::step`].
    pub fn open(&self, stored: &[u8], keys: &mut dyn KeySource) -> Result<Opened, OpenError> {
        let mut opening = self.opening(stored)?;
        loop {
            match opening.step()? {
                Step::Key(request) => opening.provide(keys.key(&request)),
                Step::Program(request) => opening.complete(keys.run(&request)),
                Step::Done(opened) => return Ok(opened),
            }
        }
    }

    /// Encrypts with keys that do not have to be waited for.
    ///
    /// # Errors
    ///
    /// Those of [`Sealing::step`].
    pub fn seal(
        &self,
        plaintext: &[u8],
        layout: EnvelopeLayout,
        keys: &mut dyn KeySource,
        entropy: &dyn Entropy,
    ) -> Result<Vec<u8>, SealError> {
        let mut sealing = self.sealing(plaintext, layout);
        loop {
            match sealing.step(entropy)? {
                Step::Key(request) => sealing.provide(keys.key(&request)),
                Step::Program(request) => sealing.complete(keys.run(&request)),
                Step::Done(stored) => return Ok(stored),
            }
        }
    }
}

/// What gets keys and runs programs without waiting for a network.
pub trait KeySource {
    /// The key that is asked for.
    ///
    /// # Errors
    ///
    /// Of any type: they stand in the message of the method that needs the key.
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError>;

    /// The output of a method's program.
    ///
    /// # Errors
    ///
    /// Of any type.
    fn run(&mut self, request: &ProgramRequest) -> Result<Plaintext, BoxError>;
}

/// Keys from passphrases, each derived once.
#[derive(Debug)]
pub struct PassphraseKeys<E> {
    entropy: E,
    known: Vec<(KeyRequest, ProvidedKey)>,
}

impl<E: Entropy> PassphraseKeys<E> {
    /// With salts from here.
    pub fn new(entropy: E) -> Self {
        Self { entropy, known: Vec::new() }
    }
}

impl<E: Entropy> KeySource for PassphraseKeys<E> {
    fn key(&mut self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        if let Some((_, key)) = self.known.iter().find(|(known, _)| known == request) {
            return Ok(key.clone());
        }
        let kind = || KeyError::Unsupported { kind: request.provider().id().kind().to_owned() };
        let key = request.derive(&self.entropy).ok_or_else(kind)??;
        self.known.push((request.clone(), key.clone()));
        Ok(key)
    }

    fn run(&mut self, request: &ProgramRequest) -> Result<Plaintext, BoxError> {
        Err(KeyError::Unsupported { kind: request.method().kind().to_owned() }.into())
    }
}
