//! Digests of contents.

use std::fmt;
use std::str::FromStr;

use groundstate_common::{InvalidId, hex, unhex};
use md5::Md5 as Md5Hasher;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256 as Sha256Hasher};

macro_rules! digest {
    ($(#[$meta:meta])* $name:ident($length:literal) = $hasher:ident, $kind:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; $length]);

        impl $name {
            #[doc = concat!("The ", $kind, " of `bytes`.")]
            pub fn of(bytes: &[u8]) -> Self {
                Self($hasher::digest(bytes).into())
            }

            /// The bytes.
            pub fn as_bytes(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl From<[u8; $length]> for $name {
            fn from(bytes: [u8; $length]) -> Self {
                Self(bytes)
            }
        }

        impl fmt::Display for $name {
            /// Lower-case hexadecimal digits.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let bytes = unhex(text).and_then(|bytes| bytes.try_into().ok());
                bytes.map(Self).ok_or_else(|| InvalidId::new($kind, text, "it is not lower-case hexadecimal digits"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

digest! {
    /// The SHA-256 of a content, which decides whether it is whole.
    Sha256(32) = Sha256Hasher, "SHA-256 digest"
}
digest! {
    /// The MD5 of a content, which some HTTP clients send and expect. It protects against nothing.
    Md5(16) = Md5Hasher, "MD5 digest"
}

/// Both digests of a content that comes in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digests {
    sha256: Sha256Hasher,
    md5: Md5Hasher,
    pub(crate) size: u64,
}

impl Digests {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.md5.update(bytes);
        self.size += bytes.len() as u64;
    }

    pub(crate) fn finish(self) -> (Sha256, Md5) {
        (Sha256(self.sha256.finalize().into()), Md5(self.md5.finalize().into()))
    }
}
