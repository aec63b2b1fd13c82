//! The keys of a process: derived, got from services and programs, and kept.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Entropy;
use groundstate_durable::offload;
use groundstate_encryption::{
    BoxError, Chain, EnvelopeLayout, KeyError, KeyRequest, OpenError, Opened, Plaintext, ProgramRequest,
    ProvidedKey, SealError, Step,
};
use groundstate_statemgr::{Error, Op};
use tokio::sync::Mutex;

use crate::program::Programs;

/// What gets keys of some types of key providers, such as `aws_kms`.
#[async_trait]
pub trait KeyService: fmt::Debug + Send + Sync {
    /// Whether it gets keys of this type.
    fn handles(&self, kind: &str) -> bool;

    /// The key that is asked for. It is asked once for each request and process.
    ///
    /// # Errors
    ///
    /// Of any type; its text and its causes are shown, and must have no secret.
    async fn key(&self, request: &KeyRequest, entropy: &dyn Entropy) -> Result<ProvidedKey, BoxError>;
}

/// Gets keys, and keeps them until it is dropped.
///
/// A key for encrypting is made when the first state is encrypted, and used for all states of that provider; a key for
/// decrypting is got once for the metadata that lead to it. What failed is asked for again.
pub struct KeyRing {
    entropy: Arc<dyn Entropy>,
    services: Vec<Arc<dyn KeyService>>,
    programs: Option<Programs>,
    /// Held while a key is got, so that no key is got twice.
    known: Mutex<Vec<(KeyRequest, ProvidedKey)>>,
}

impl KeyRing {
    /// Without services and programs: keys of passphrases only. Salts and nonces come from `entropy`.
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, services: Vec::new(), programs: None, known: Mutex::default() }
    }

    /// With a service; of two for one type the first counts.
    #[must_use]
    pub fn service(mut self, service: Arc<dyn KeyService>) -> Self {
        self.services.push(service);
        self
    }

    /// With programs, which a configuration names and this process runs.
    #[must_use]
    pub fn programs(mut self, programs: Programs) -> Self {
        self.programs = Some(programs);
        self
    }

    /// The same services and programs, without the keys that are known.
    #[must_use]
    pub fn without_keys(&self) -> Self {
        let Self { entropy, services, programs, .. } = self;
        let (entropy, services, programs) = (Arc::clone(entropy), services.clone(), programs.clone());
        Self { entropy, services, programs, known: Mutex::default() }
    }

    /// Decrypts what is stored.
    ///
    /// # Errors
    ///
    /// Those of [`Chain::open`].
    pub async fn open(&self, chain: &Chain, stored: &[u8]) -> Result<Opened, OpenError> {
        let mut opening = chain.opening(stored)?;
        loop {
            match opening.step()? {
                Step::Key(request) => opening.provide(self.key(request).await),
                Step::Program(request) => opening.complete(self.run(&request).await),
                Step::Done(opened) => return Ok(opened),
            }
        }
    }

    /// Encrypts.
    ///
    /// # Errors
    ///
    /// Those of [`Chain::seal`].
    pub async fn seal(
        &self,
        chain: &Chain,
        plaintext: &[u8],
        layout: EnvelopeLayout,
    ) -> Result<Vec<u8>, SealError> {
        let mut sealing = chain.sealing(plaintext, layout);
        loop {
            match sealing.step(&*self.entropy)? {
                Step::Key(request) => sealing.provide(self.key(request).await),
                Step::Program(request) => sealing.complete(self.run(&request).await),
                Step::Done(stored) => return Ok(stored),
            }
        }
    }

    async fn key(&self, request: KeyRequest) -> Result<ProvidedKey, BoxError> {
        let mut known = self.known.lock().await;
        if let Some((_, key)) = known.iter().find(|(known, _)| *known == request) {
            return Ok(key.clone());
        }
        let key = self.get(&request).await?;
        known.push((request, key.clone()));
        Ok(key)
    }

    async fn get(&self, request: &KeyRequest) -> Result<ProvidedKey, BoxError> {
        let kind = request.provider().id().kind();
        if kind == "pbkdf2" {
            return derived(request.clone(), Arc::clone(&self.entropy)).await;
        }
        if kind == "external" {
            let programs = self.programs.as_ref().ok_or(ProgramsRefused)?;
            return programs.key(request).await;
        }
        match self.services.iter().find(|service| service.handles(kind)) {
            Some(service) => service.key(request, &*self.entropy).await,
            None => Err(KeyError::Unsupported { kind: kind.to_owned() }.into()),
        }
    }

    async fn run(&self, request: &ProgramRequest) -> Result<Plaintext, BoxError> {
        let programs = self.programs.as_ref().ok_or(ProgramsRefused)?;
        programs.method(request).await
    }
}

/// Derives on a thread of its own: it takes a noticeable part of a second.
async fn derived(request: KeyRequest, entropy: Arc<dyn Entropy>) -> Result<ProvidedKey, BoxError> {
    let target = request.provider().id().to_string();
    let derive = move || {
        let unsupported = || KeyError::Unsupported { kind: request.provider().id().kind().to_owned() };
        Ok(request.derive(&entropy).ok_or_else(unsupported).and_then(|key| key))
    };
    Ok(offload::<_, Error>(OP, &target, derive).await??)
}

const OP: Op = Op::Other("derive the key of");

/// Programs are named by a configuration, and not allowed to run.
#[derive(Debug, thiserror::Error)]
#[error("programs that a configuration names are not run here")]
struct ProgramsRefused;

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing")
            .field("services", &self.services)
            .field("programs", &self.programs)
            .finish_non_exhaustive()
    }
}
