//! The key provider `pbkdf2`: keys from passphrases.

use std::fmt;
use std::sync::Arc;

use groundstate_common::Entropy;
use groundstate_json::{Cursor, Kind, Stop};
use pbkdf2::pbkdf2_hmac;
use sha2::{Sha256, Sha512};

use crate::base64;
use crate::error::KeyError;
use crate::provider::KeyProvider;
use crate::sensitive::Key;

/// More iterations than this are refused in metadata, where anybody may have written them.
pub(crate) const MAX_ITERATIONS: u32 = 10_000_000;

/// Longer keys than this are refused.
pub(crate) const MAX_KEY_LENGTH: usize = 1024;

/// Fewer iterations than this are refused in a configuration, and noted in metadata.
pub(crate) const MIN_ITERATIONS: u32 = 200_000;

/// Shorter passphrases, and keys of other providers in their place, are refused.
pub(crate) const MIN_PASSPHRASE: usize = 16;

/// Longer salts than this are refused.
const MAX_SALT: usize = 64 << 10;

/// How often PBKDF2 hashes at most, over all blocks of a long key.
const MAX_WORK: u64 = 2 * MAX_ITERATIONS as u64;

/// The hash function of PBKDF2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HashFunction {
    /// SHA-256.
    Sha256,
    /// SHA-512, which is used where nothing is said.
    #[default]
    Sha512,
}

impl HashFunction {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    fn block(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

/// What a passphrase is, or which provider gives a key in its place.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    Passphrase(Key),
    Chain(Arc<KeyProvider>),
}

/// Options of the provider.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Pbkdf2Options {
    pub(crate) secret: Secret,
    pub(crate) key_length: usize,
    pub(crate) iterations: u32,
    pub(crate) hash_function: HashFunction,
    pub(crate) salt_length: usize,
}

impl fmt::Debug for Pbkdf2Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pbkdf2Options")
            .field("key_length", &self.key_length)
            .field("iterations", &self.iterations)
            .field("hash_function", &self.hash_function)
            .field("salt_length", &self.salt_length)
            .finish_non_exhaustive()
    }
}

/// What the provider stores in an envelope.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Pbkdf2Metadata {
    salt: Vec<u8>,
    iterations: u32,
    hash_function: HashFunction,
    key_length: usize,
}

impl Pbkdf2Metadata {
    /// Metadata with a new salt.
    pub(crate) fn generate(options: &Pbkdf2Options, entropy: &dyn Entropy) -> Result<Self, KeyError> {
        let mut salt = vec![0; options.salt_length];
        entropy.fill(&mut salt)?;
        let metadata = Self {
            salt,
            iterations: options.iterations,
            hash_function: options.hash_function,
            key_length: options.key_length,
        };
        metadata.check()?;
        Ok(metadata)
    }

    /// Reads stored metadata, and refuses those whose key would take too long.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, KeyError> {
        let mut found = Found::default();
        found.read(text).map_err(|_| KeyError::Metadata { why: "they are not a JSON object" })?;
        if let Some(member) = found.unknown {
            return Err(KeyError::Later { member });
        }
        let absent = |why| KeyError::Metadata { why };
        let number = |text: Option<&str>| text.map(str::parse::<u64>).transpose();
        let whole = |_| KeyError::Metadata { why: "a number in them is not a whole one" };
        let salt = found.salt.as_deref().and_then(base64::decode).unwrap_or_default();
        let (iterations, key_length) =
            (number(found.iterations).map_err(whole)?, number(found.key_length).map_err(whole)?);
        let name = found.hash_function.unwrap_or_default();
        let hash_function =
            HashFunction::parse(&name).ok_or(absent("the hash function is neither sha256 nor sha512"))?;
        let (Some(iterations @ 1..), Some(key_length @ 1..), false) =
            (iterations, key_length, salt.is_empty())
        else {
            return Err(absent("salt, iterations or key length are absent or zero"));
        };
        if iterations > u64::from(MAX_ITERATIONS) {
            return Err(KeyError::Iterations { found: iterations });
        }
        if key_length > MAX_KEY_LENGTH as u64 {
            return Err(KeyError::KeyLength { found: key_length });
        }
        let iterations = u32::try_from(iterations).unwrap_or(MAX_ITERATIONS);
        let key_length = usize::try_from(key_length).unwrap_or(MAX_KEY_LENGTH);
        let metadata = Self { salt, iterations, hash_function, key_length };
        metadata.check()?;
        Ok(metadata)
    }

    fn check(&self) -> Result<(), KeyError> {
        if self.salt.len() > MAX_SALT {
            return Err(KeyError::Metadata { why: "the salt is longer than 64 KiB" });
        }
        let blocks = self.key_length.div_ceil(self.hash_function.block());
        match u64::from(self.iterations) * blocks as u64 {
            work if work > MAX_WORK => Err(KeyError::Iterations { found: work }),
            _ => Ok(()),
        }
    }

    /// The JSON text, with the members in the order of the original.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let Self { salt, iterations, hash_function, key_length } = self;
        let (salt, hash) = (base64::encode(salt), hash_function.as_str());
        format!(
            r#"{{"salt":"{salt}","iterations":{iterations},"hash_function":"{hash}","key_length":{key_length}}}"#
        )
        .into_bytes()
    }

    /// The key of a passphrase. It takes a noticeable part of a second.
    pub(crate) fn derive(&self, passphrase: &[u8]) -> Key {
        let filled = Key::filled(self.key_length, |key| {
            match self.hash_function {
                HashFunction::Sha256 => pbkdf2_hmac::<Sha256>(passphrase, &self.salt, self.iterations, key),
                HashFunction::Sha512 => pbkdf2_hmac::<Sha512>(passphrase, &self.salt, self.iterations, key),
            }
            Ok::<(), std::convert::Infallible>(())
        });
        match filled {
            Ok(key) => key,
            Err(never) => match never {},
        }
    }

    /// Whether passphrases are tried faster than OpenTofu allows for new keys.
    pub(crate) fn is_weak(&self) -> bool {
        self.iterations < MIN_ITERATIONS
    }
}

#[derive(Default)]
struct Found<'a> {
    salt: Option<String>,
    iterations: Option<&'a str>,
    hash_function: Option<String>,
    key_length: Option<&'a str>,
    unknown: Option<String>,
}

impl<'a> Found<'a> {
    fn read(&mut self, text: &'a [u8]) -> Result<(), Stop> {
        let mut cursor = Cursor::new(text);
        cursor.kind()?;
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let name = name.decode();
            let is = |member: &str| name.eq_ignore_ascii_case(member);
            match cursor.kind()? {
                Kind::String if is("salt") => self.salt = Some(cursor.string()?.decode().into_owned()),
                Kind::String if is("hash_function") => {
                    self.hash_function = Some(cursor.string()?.decode().into_owned());
                }
                Kind::Number if is("iterations") => self.iterations = Some(cursor.number()?),
                Kind::Number if is("key_length") => self.key_length = Some(cursor.number()?),
                _ => {
                    cursor.skip()?;
                    if !["salt", "iterations", "hash_function", "key_length"].into_iter().any(is) {
                        self.unknown = Some(name.into_owned());
                    }
                }
            }
        }
        cursor.end()
    }
}
