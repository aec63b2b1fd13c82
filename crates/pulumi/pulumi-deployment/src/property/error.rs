//! What can be wrong with a property.

use std::fmt;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{PropertyPath, PropertyPathStep};

/// A property that cannot be read or written, with its place.
///
/// No value stands in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    /// The steps to the property, the innermost first.
    steps: Vec<PropertyPathStep>,
    kind: PropertyErrorKind,
}

/// What is wrong with a property.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyErrorKind {
    /// The text is not JSON.
    #[error("not valid json at byte {0}")]
    Syntax(usize),
    /// The text is JSON, but no object.
    #[error("an object is needed")]
    NotAnObject,
    /// Values nest deeper than anybody means them to.
    #[error("values nest deeper than 256 levels")]
    TooDeep,
    /// A secret without, or with both, of its forms.
    #[error("malformed secret value: exactly one of `ciphertext` or `plaintext` must be supplied")]
    Secret,
    /// What a secret holds is not a value.
    #[error("malformed secret value: what is inside is not a value")]
    SecretContent,
    /// A secret could not be decrypted.
    #[error("decrypting secret value: {0}")]
    Decrypt(String),
    /// A secret could not be encrypted.
    #[error("encrypting secret value: {0}")]
    Encrypt(String),
    /// A reference to a resource whose version is not text.
    #[error("malformed resource reference: packageVersion must be a string")]
    ReferenceVersion,
    /// A reference to a resource that does not name it.
    #[error("malformed resource reference: missing urn")]
    ReferenceUrn,
    /// A reference to a resource whose identifier is not text.
    #[error("malformed resource reference: id must be a string")]
    ReferenceId,
    /// A text that is not UTF-8, without its bytes.
    #[error("malformed byte string: missing or non-string 'value' field")]
    BytesMissing,
    /// A text that is not UTF-8, with bytes that are not in base64.
    #[error("malformed byte string: unable to parse 'value' field: not standard base64")]
    Bytes,
    /// A number that JSON has no form for, without its bits.
    #[error("malformed float value: missing or non-string 'value' field")]
    FloatMissing,
    /// A number that JSON has no form for, with bits that are not in hexadecimal.
    #[error("malformed float value: unable to parse 'value' field: not 16 hexadecimal digits")]
    Float,
    /// An unknown signature.
    #[error("unrecognized signature '{0}' in property map")]
    Signature(String),
    /// A member of an asset or archive that is not text.
    #[error("malformed {what}: {member} must be a string")]
    Content {
        /// Asset or archive.
        what: &'static str,
        /// The member.
        member: &'static str,
        /// What it is instead, as Go names its type; nothing if that is not known.
        found: Option<&'static str>,
    },
    /// The assets of an archive are not an object.
    #[error("malformed archive: assets must be an object")]
    Assets {
        /// What they are instead, as Go names its type; nothing if that is not known.
        found: Option<&'static str>,
    },
    /// Something in an archive that is no asset and no archive.
    #[error("malformed archive: {0:?} is not an asset or archive")]
    ArchiveMember(String),
    /// A number beyond the range of a double.
    #[error("the number is beyond the range of a double")]
    NumberRange,
    /// A secret that is encrypted, where the deployment names no secrets manager.
    #[error("the secret is encrypted, and the deployment names no secrets provider")]
    NoManager,
    /// A ciphertext that no secrets manager of the deployment's kind has written.
    #[error("the ciphertext cannot be decrypted by any key: {0}")]
    Ciphertext(String),
    /// A secret without its ciphertext, where values are written encrypted.
    #[error("the secret has not been encrypted; seal it first")]
    Unsealed,
    /// A secret that is not decrypted, where values are written readable.
    #[error("the secret has not been decrypted; open it first")]
    Sealed,
    /// A text that would be taken for something else.
    #[error("the value cannot be told from an unknown value or a signature, and has no other form")]
    Ambiguous,
}

impl PropertyError {
    pub(crate) fn new(kind: PropertyErrorKind) -> Self {
        Self { steps: Vec::new(), kind }
    }

    /// The same error, seen from the object that has the value under this name.
    pub(crate) fn inside(mut self, name: &Arc<str>) -> Self {
        self.steps.push(PropertyPathStep::Name(Arc::clone(name)));
        self
    }

    /// The same error, seen from the list that has the value at this place.
    pub(crate) fn at(mut self, index: usize) -> Self {
        self.steps.push(PropertyPathStep::Index(index as u64));
        self
    }

    /// The same error, seen from where this path begins that leads to the value.
    pub(crate) fn below(mut self, path: &[PropertyPathStep]) -> Self {
        self.steps.extend(path.iter().rev().cloned());
        self
    }

    /// Which property it is.
    pub fn path(&self) -> PropertyPath {
        PropertyPath::new(self.steps.iter().rev().cloned().collect())
    }

    /// What is wrong.
    pub fn kind(&self) -> &PropertyErrorKind {
        &self.kind
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() { self.kind.fmt(f) } else { write!(f, "{}: {}", self.path(), self.kind) }
    }
}

impl std::error::Error for PropertyError {}

impl From<PropertyErrorKind> for PropertyError {
    fn from(kind: PropertyErrorKind) -> Self {
        Self::new(kind)
    }
}
