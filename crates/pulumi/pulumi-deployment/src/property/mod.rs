//! Property values as JSON: plain values as themselves, all others as objects with a signature.

mod decode;
mod encode;
mod error;
mod references;
mod salvage;
mod secrets;

pub use decode::{decode_map, decode_value};
pub use encode::{encode_map, encode_value};
pub use error::{PropertyError, PropertyErrorKind};
pub use references::rewrite_references;
pub(crate) use references::{SecretText, rewrite_sealed};
pub use salvage::{CiphertextCheck, Salvaged, UNREADABLE, salvage_map, salvage_value};
pub(crate) use secrets::forget;
pub use secrets::{open_secrets, seal_secrets, sealed_secrets, unsealed_secrets};

/// How deep values may nest that are built or walked.
pub(crate) const MAX_DEPTH: usize = 256;

/// The name of the member that makes an object something else.
pub(crate) const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
/// A value that is stored encrypted.
pub(crate) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
/// A file or a text.
pub(crate) const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
/// Several files.
pub(crate) const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
/// Another resource.
pub(crate) const REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
/// A text that is not UTF-8.
pub(crate) const BYTES: &str = "803fd3297a5875dc03ca845dda5d2a98";
/// A number that JSON has no form for.
pub(crate) const FLOAT: &str = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
/// A value with what is known about it, which never stands in a file.
pub(crate) const OUTPUT: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
