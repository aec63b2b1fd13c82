//! Secrets of stacks: a data key for each stack, wrapped by a key of the service.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::Entropy;
use groundstate_pulumi_secrets::Key;
use groundstate_versioned::BoxError;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::bucket::no_service_secrets;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::path::StackPath;
use crate::record::WrappedDataKey;
use crate::stack::Stack;
use crate::stacks::Stacks;

/// The form of ciphertexts: this byte, the nonce, the value with its tag. The id of the stack is authenticated with them.
const FORM: u8 = 1;
const NONCE: usize = 12;
const TAG: usize = 16;

/// What wraps the data keys of stacks: a key in a file, or that of a key service.
#[async_trait]
pub trait ServiceKey: fmt::Debug + Send + Sync + 'static {
    /// What tells this key from others, without secrets; it is stored with what it wraps.
    fn name(&self) -> String;

    /// Makes a data key, and gives it with its wrapped form.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    async fn generate(&self) -> Result<(Key, Vec<u8>), BoxError>;

    /// Unwraps a data key that a key of this name has wrapped.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    async fn unwrap(&self, name: &str, wrapped: &[u8]) -> Result<Key, BoxError>;

    /// Returns `true` if the key can unwrap what a key of this name has wrapped.
    fn opens(&self, name: &str) -> bool;

    /// Where nonces and data keys come from.
    fn entropy(&self) -> &dyn Entropy;
}

/// A key of 32 bytes that is at hand, such as one of a file.
pub struct LocalKey {
    cipher: Aes256Gcm,
    name: String,
    entropy: Arc<dyn Entropy>,
}

impl LocalKey {
    /// A key. Its name is the beginning of its SHA-256.
    pub fn new(key: &Key, entropy: Arc<dyn Entropy>) -> Self {
        let digest = Sha256::digest(key.expose());
        let name = format!("local:{}", groundstate_common::hex(&digest[..8]));
        Self { cipher: Aes256Gcm::new(key.expose().into()), name, entropy }
    }
}

#[async_trait]
impl ServiceKey for LocalKey {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn generate(&self) -> Result<(Key, Vec<u8>), BoxError> {
        let key = Key::generate(&*self.entropy)?;
        let wrapped = seal(&self.cipher, key.expose(), self.name.as_bytes(), &*self.entropy)?;
        Ok((key, wrapped))
    }

    async fn unwrap(&self, name: &str, wrapped: &[u8]) -> Result<Key, BoxError> {
        if name != self.name {
            return Err(format!("it was wrapped by the key {name}, and the service has {}", self.name).into());
        }
        let opened = open(&self.cipher, wrapped, self.name.as_bytes())
            .ok_or("it is damaged, or the key is another one")?;
        let bytes: [u8; Key::LENGTH] = opened[..].try_into().map_err(|_| "it has not the length of a key")?;
        Ok(Key::new(bytes))
    }

    fn opens(&self, name: &str) -> bool {
        name == self.name
    }

    fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }
}

impl fmt::Debug for LocalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The secrets of one stack.
pub struct StackSecrets {
    cipher: Aes256Gcm,
    stack: String,
    key: Arc<dyn ServiceKey>,
}

impl Stack {
    /// What encrypts and decrypts the secrets of the stack. Its data key is made when it is asked for the first time.
    ///
    /// # Errors
    ///
    /// `Invalid` for a stack in a bucket, `NoKey` if the service has none, or lacks the one that other stacks have, `Unavailable` if its key service does not answer, `Corrupt` for a
    /// damaged data key, and those of the store.
    pub async fn secrets(&self, by: &str) -> Result<StackSecrets> {
        const OP: Op = Op::Decrypt;
        if self.bucket().is_some() {
            return Err(no_service_secrets(OP, self.path()));
        }
        let Some(key) = self.stacks.key() else {
            let failure = self.error(ErrorKind::NoKey, OP);
            return Err(failure.next_step(
                "give the service a key for secrets, or use another secrets provider for the stack",
            ));
        };
        let mut stack = self.clone();
        if stack.record().key.is_none() {
            // With a second key, the secrets of some stacks could not be read by who has the first.
            let known = self.stacks.wrapping_keys().await?;
            if let Some(lost) = known.iter().find(|name| !key.opens(name)) {
                let failure = self.error(ErrorKind::NoKey, OP);
                return Err(failure
                    .because(format!("the keys of other stacks are wrapped by {lost}, which the service lacks, so no new key is made"))
                    .next_step("restore that key"));
            }
            let failed = |error| unwrapping(self.path(), error);
            let (_, wrapped) = key.generate().await.map_err(failed)?;
            self.stacks.note_wrapping_key(OP, &key.name(), by).await?;
            let wrapped = WrappedDataKey { by: key.name(), wrapped: STANDARD.encode(wrapped) };
            // If another node was faster, its key counts.
            let keep = move |record: &mut crate::record::StackRecord| {
                record.key.get_or_insert_with(|| wrapped.clone());
            };
            stack = stack.change_record(OP, by, keep).await?;
        }
        let damaged = || self.error(ErrorKind::Corrupt, OP).because("its data key is damaged");
        let wrapped = stack.record().key.as_ref().ok_or_else(damaged)?;
        self.stacks.unwrapped(self.path(), self.id(), wrapped).await
    }
}

fn unwrapping(path: &StackPath, error: BoxError) -> Error {
    let failure = Error::new(ErrorKind::Unavailable, Op::Decrypt, path);
    failure.because(format!("its data key cannot be unwrapped: {error}"))
}

impl Stacks {
    /// Returns what encrypts and decrypts by the data key of a stack.
    pub(crate) async fn unwrapped(
        &self,
        path: &StackPath,
        id: &str,
        wrapped: &WrappedDataKey,
    ) -> Result<StackSecrets> {
        const OP: Op = Op::Decrypt;
        let none = || Error::new(ErrorKind::NoKey, OP, path);
        let key = self.key().ok_or_else(none)?;
        let damaged = || Error::new(ErrorKind::Corrupt, OP, path).because("its data key is damaged");
        let bytes = STANDARD.decode(&wrapped.wrapped).map_err(|error| damaged().with_source(error))?;
        let data = key.unwrap(&wrapped.by, &bytes).await.map_err(|error| unwrapping(path, error))?;
        let cipher = Aes256Gcm::new(data.expose().into());
        Ok(StackSecrets { cipher, stack: id.to_owned(), key: Arc::clone(key) })
    }
}

impl StackSecrets {
    /// Encrypts a value.
    ///
    /// # Errors
    ///
    /// If there is no random nonce, or the value is too long.
    pub fn encrypt(&self, value: &[u8]) -> Result<Vec<u8>> {
        let sealed = seal(&self.cipher, value, self.stack.as_bytes(), self.key.entropy());
        sealed.map_err(|error| Error::new(ErrorKind::Internal, Op::Encrypt, &self.stack).with_source(error))
    }

    /// Decrypts a value.
    ///
    /// # Errors
    ///
    /// `Invalid` for what this stack has not encrypted.
    pub fn decrypt(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        open(&self.cipher, sealed, self.stack.as_bytes()).ok_or_else(|| {
            let failure = Error::new(ErrorKind::Invalid, Op::Decrypt, &self.stack);
            failure.because("the ciphertext is damaged, or another stack has encrypted it")
        })
    }
}

impl fmt::Debug for StackSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackSecrets").field("stack", &self.stack).finish_non_exhaustive()
    }
}

fn seal(cipher: &Aes256Gcm, value: &[u8], of: &[u8], entropy: &dyn Entropy) -> Result<Vec<u8>, BoxError> {
    let mut nonce = [0; NONCE];
    entropy.fill(&mut nonce)?;
    let sealed =
        cipher.encrypt(&nonce.into(), Payload { msg: value, aad: of }).map_err(|_| "it is too long")?;
    let mut out = Vec::with_capacity(1 + NONCE + sealed.len());
    out.push(FORM);
    out.extend_from_slice(&nonce);
    out.extend_from_slice(&sealed);
    Ok(out)
}

fn open(cipher: &Aes256Gcm, sealed: &[u8], of: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (form, rest) = sealed.split_first()?;
    if *form != FORM || rest.len() < NONCE + TAG {
        return None;
    }
    let (nonce, value) = rest.split_at(NONCE);
    let nonce: [u8; NONCE] = nonce.try_into().ok()?;
    cipher.decrypt(&nonce.into(), Payload { msg: value, aad: of }).ok().map(Zeroizing::new)
}
