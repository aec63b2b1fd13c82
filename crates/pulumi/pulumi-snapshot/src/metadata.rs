//! What a snapshot says about itself, and its experimental parts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groundstate_json::Extra;

use crate::text::SnippetId;
use crate::type_token::TypeToken;
use crate::urn::Urn;

/// What a snapshot says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SnapshotMetadata {
    /// The integrity error that was found when it was written.
    pub integrity_error: Option<IntegrityErrorMetadata>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// The record of an integrity error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct IntegrityErrorMetadata {
    /// The schema version of the deployment, in decimal.
    pub version: Arc<str>,
    /// The command line that wrote the snapshot.
    pub command: Arc<str>,
    /// What is wrong.
    pub error: Arc<str>,
    /// Variables of the environment that was written in, quoted as Go quotes strings.
    pub env_vars: BTreeMap<Arc<str>, Arc<str>>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// A piece of program that made resources (experimental). `Debug` shows the length of the code only.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Snippet {
    /// Its identifier.
    pub uuid: SnippetId,
    /// What it is called.
    pub name: Arc<str>,
    /// What it is.
    pub kind: TypeToken,
    /// The code.
    pub code: Arc<str>,
    /// What it is made for.
    pub descriptor: SnippetDescriptor,
    /// The resources it refers to, by the names it gives them.
    pub references: BTreeMap<Arc<str>, Urn>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// The package that a [`Snippet`] is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SnippetDescriptor {
    /// The name of the package.
    pub name: Arc<str>,
    /// Its version.
    pub version: Option<Arc<str>>,
    /// Where to get it from.
    pub download_url: Option<Arc<str>>,
    /// What it was parameterized with.
    pub parameterization: Option<Extension>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// A package that was made of another one by parameters.
///
/// `Debug` shows the length of the parameters only.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Extension {
    /// The name of the package.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
    /// The parameters, which only the package understands.
    pub value: Arc<[u8]>,
    /// Members that are not understood.
    pub extra: Extra,
}

impl fmt::Debug for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snippet")
            .field("uuid", &self.uuid)
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("code", &self.code.len())
            .field("references", &self.references)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("value", &self.value.len())
            .finish_non_exhaustive()
    }
}
