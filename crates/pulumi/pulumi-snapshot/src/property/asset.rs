//! Assets, archives and references to other resources.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::hash::hex_sha256;
use crate::property::{PropertyMap, PropertyValue};
use crate::text::ResourceId;
use crate::urn::Urn;

/// A file or a text that is handed to a provider.
///
/// All members may be absent: an asset of which only the hash is known is valid. `Debug` shows no text.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Asset {
    /// Lowercase hexadecimal SHA-256 of the content.
    pub hash: Option<Arc<str>>,
    /// The content itself.
    pub text: Option<Arc<str>>,
    /// A file that holds the content.
    pub path: Option<Arc<str>>,
    /// A place that holds the content.
    pub uri: Option<Arc<str>>,
    /// Members that are not understood.
    pub extra: PropertyMap,
}

/// Several files that are handed to a provider as one.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Archive {
    /// Lowercase hexadecimal SHA-256 of the content.
    pub hash: Option<Arc<str>>,
    /// What is inside.
    pub content: ArchiveContent,
    /// Members that are not understood.
    pub extra: PropertyMap,
}

/// What is inside an [`Archive`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ArchiveContent {
    /// Only the hash is known.
    #[default]
    Unknown,
    /// An archive file or a folder.
    Path(Arc<str>),
    /// A place that holds an archive.
    Uri(Arc<str>),
    /// Assets and archives by their names inside.
    Assets(BTreeMap<Arc<str>, PropertyValue>),
}

/// A reference to another resource as a value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ResourceReference {
    /// The resource.
    pub urn: Urn,
    /// Its identifier, if it is a custom resource; none for a component. Empty while it is not known.
    pub id: Option<ResourceId>,
    /// The version of the package the resource belongs to, which may be empty.
    pub package_version: Arc<str>,
    /// Members that are not understood.
    pub extra: PropertyMap,
}

impl Asset {
    /// An asset that is a text, with its hash.
    ///
    /// ```
    /// let asset = groundstate_pulumi_snapshot::Asset::from_text("");
    /// assert!(asset.hash.unwrap().starts_with("e3b0c44298fc1c14"));
    /// ```
    pub fn from_text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let hash = hex_sha256(text.as_bytes()).into();
        Self { hash: Some(hash), text: Some(text), ..Self::default() }
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asset")
            .field("hash", &self.hash)
            .field("text", &self.text.as_ref().map(|text| text.len()))
            .field("path", &self.path)
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}
