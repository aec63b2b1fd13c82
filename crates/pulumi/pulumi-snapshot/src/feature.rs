//! Features: what a reader must understand to use a snapshot.

use std::collections::BTreeSet;
use std::fmt;

use crate::properties::{Properties, StoredValue};
use crate::resource::Resource;

/// Something in a snapshot that older readers would overlook.
///
/// The order is that of the names' bytes, in which files list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// A text that is not UTF-8.
    ByteString,
    /// Packages made by parameters.
    ExtensionParameterization,
    /// Hooks of resources.
    Hooks,
    /// Resources that are refreshed before each update.
    RefreshBeforeUpdate,
    /// Resources that are replaced together with others.
    ReplaceWith,
    /// Pieces of program that made resources.
    SnippetsPrototype,
    /// Resources that are to be replaced.
    Taint,
    /// Views of other resources.
    Views,
}

impl Feature {
    /// All features there are.
    pub const ALL: [Self; 8] = [
        Self::ByteString,
        Self::ExtensionParameterization,
        Self::Hooks,
        Self::RefreshBeforeUpdate,
        Self::ReplaceWith,
        Self::SnippetsPrototype,
        Self::Taint,
        Self::Views,
    ];

    /// The name that files use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByteString => "byteString",
            Self::ExtensionParameterization => "extensionParameterization",
            Self::Hooks => "hooks",
            Self::RefreshBeforeUpdate => "refreshBeforeUpdate",
            Self::ReplaceWith => "replaceWith",
            Self::SnippetsPrototype => "snippets-prototype",
            Self::Taint => "taint",
            Self::Views => "views",
        }
    }

    /// The feature of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == name)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Resource {
    /// The features that a reader of this resource needs.
    ///
    /// Of properties that are still text, [`Feature::ByteString`] is the codec's to find; inside sealed secrets it cannot
    /// see it.
    pub fn features(&self) -> BTreeSet<Feature> {
        let conditions = [
            (Feature::ByteString, self.contains_bytes()),
            (Feature::ExtensionParameterization, self.extension_ref.as_ref().is_some_and(|r| !r.is_empty())),
            (Feature::Hooks, !self.resource_hooks.is_empty()),
            (Feature::RefreshBeforeUpdate, self.refresh_before_update),
            (Feature::ReplaceWith, !self.replace_with.is_empty()),
            (Feature::SnippetsPrototype, self.snippet_id.as_ref().is_some_and(|id| !id.is_empty())),
            (Feature::Taint, self.taint),
            (Feature::Views, self.view_of.as_ref().is_some_and(|urn| !urn.is_empty())),
        ];
        conditions.into_iter().filter_map(|(feature, holds)| holds.then_some(feature)).collect()
    }

    fn contains_bytes(&self) -> bool {
        let inside = |properties: &Properties| {
            properties.as_map().is_some_and(|map| map.values().any(|value| value.contains_bytes()))
        };
        let trigger = match &self.replacement_trigger {
            Some(StoredValue::Value(value)) => value.contains_bytes(),
            _ => false,
        };
        inside(&self.inputs) || inside(&self.outputs) || trigger
    }
}
