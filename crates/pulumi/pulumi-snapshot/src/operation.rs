//! Operations that were under way when a snapshot was written.

use std::fmt;
use std::sync::Arc;

use groundstate_json::Extra;

use crate::resource::Resource;

/// An operation whose outcome is not known.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Operation {
    /// The resource as the operation would have it.
    pub resource: Arc<Resource>,
    /// What was being done to it.
    pub kind: OperationType,
    /// Members that are not understood.
    pub extra: Extra,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OperationType {
    /// Creates the resource.
    Creating,
    /// Changes it.
    Updating,
    /// Deletes it.
    Deleting,
    /// Reads it.
    Reading,
    /// Takes it over.
    Importing,
    /// A word no known release writes.
    Other(Arc<str>),
}

impl Operation {
    /// An operation on a resource.
    pub fn new(resource: impl Into<Arc<Resource>>, kind: OperationType) -> Self {
        Self { resource: resource.into(), kind, extra: Extra::new() }
    }
}

impl OperationType {
    /// The word that files use.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Creating => "creating",
            Self::Updating => "updating",
            Self::Deleting => "deleting",
            Self::Reading => "reading",
            Self::Importing => "importing",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for OperationType {
    fn from(word: &str) -> Self {
        match word {
            "creating" => Self::Creating,
            "updating" => Self::Updating,
            "deleting" => Self::Deleting,
            "reading" => Self::Reading,
            "importing" => Self::Importing,
            other => Self::Other(other.into()),
        }
    }
}

impl fmt::Display for OperationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
