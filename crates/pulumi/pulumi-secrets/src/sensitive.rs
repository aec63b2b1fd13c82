//! Values that must not be seen: redacted in every text, zeroed when they are dropped.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use groundstate_common::{Entropy, EntropyError};

/// What stands in the place of a secret wherever one is shown.
pub const REDACTED: &str = "[secret]";

/// A value that was decrypted, or is to be encrypted.
///
/// It has no `Display`, its `Debug` shows [`REDACTED`], and its memory is zeroed when it is dropped.
/// [`expose`](Self::expose) is the one way to the text.
///
/// ```
/// let plaintext = groundstate_pulumi_secrets::Plaintext::new("hunter2");
/// assert_eq!(format!("{plaintext:?}"), "Plaintext([secret])");
/// assert_eq!(plaintext.expose(), "hunter2");
/// ```
///
/// ```compile_fail
/// println!("{}", groundstate_pulumi_secrets::Plaintext::new("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    /// A secret value. A `String` is moved in, not copied.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. A caller who copies it has to zero the copy.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintext({REDACTED})")
    }
}

/// The text that stands in a state in the place of a secret.
///
/// It is redacted in `Debug` too: what the crypters for tests and for nested secrets write is no better than the plaintext.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ciphertext(Arc<str>);

impl Ciphertext {
    /// A ciphertext as it stands in a state.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, byte for byte.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared with this one.
    pub fn into_text(self) -> Arc<str> {
        self.0
    }
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext({} bytes)", self.0.len())
    }
}

/// What a user knows, and keys are derived from.
///
/// ```
/// let passphrase = groundstate_pulumi_secrets::Passphrase::new("correct horse");
/// assert_eq!(format!("{passphrase:?}"), "Passphrase([secret])");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// A passphrase of exactly these bytes, which may be none. Environment variables of Unix need not be UTF-8.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The passphrase in a file's contents: what is left without white space at both ends.
    pub fn from_file_contents(contents: impl Into<Vec<u8>>) -> Self {
        let contents = Zeroizing::new(contents.into());
        let trimmed = match std::str::from_utf8(&contents) {
            Ok(text) => text.trim().as_bytes(),
            Err(_) => trim_bytes(&contents),
        };
        Self::new(trimmed)
    }

    /// The bytes themselves. A caller who copies them has to zero the copy.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

/// White space around bytes that are not UTF-8 can only be told in ASCII.
fn trim_bytes(bytes: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b'\t'..=b'\r' | b' ');
    match (bytes.iter().position(is_text), bytes.iter().rposition(is_text)) {
        (Some(first), Some(last)) => &bytes[first..=last],
        _ => &[],
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Passphrase({REDACTED})")
    }
}

/// A key of AES-256.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; Self::LENGTH]>);

impl Key {
    /// How many bytes a key has.
    pub const LENGTH: usize = 32;

    /// The key of these bytes. The caller's own copy is the caller's to zero.
    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new random key, such as the data key of a stack.
    ///
    /// # Errors
    ///
    /// When the source of randomness does not answer.
    pub fn generate(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        Self::filled(|bytes| entropy.fill(bytes))
    }

    /// A key whose bytes are written where they stay, so that no copy is left on the stack.
    pub(crate) fn filled<E>(fill: impl FnOnce(&mut [u8; Self::LENGTH]) -> Result<(), E>) -> Result<Self, E> {
        let mut key = Self(Zeroizing::new([0; Self::LENGTH]));
        fill(&mut key.0)?;
        Ok(key)
    }

    /// The bytes themselves. A caller who copies them has to zero the copy.
    pub fn expose(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({REDACTED})")
    }
}
