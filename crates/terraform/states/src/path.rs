//! Paths into an object's attributes, as `sensitive_attributes` lists them.

use std::fmt;
use std::sync::Arc;

use crate::{Extra, Type, Value};

/// A path from an object's root to one of its attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AttributePath {
    /// The steps, outermost first.
    pub steps: Vec<PathStep>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PathStep {
    /// What the step does.
    pub kind: PathStepKind,
    /// Members of the step that are not understood.
    pub extra: Extra,
}

/// What a step does. `Debug` hides index keys: in a set the key is the sensitive element itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum PathStepKind {
    /// Takes the attribute of this name.
    Attribute(Arc<str>),
    /// Takes the element with this key; a set's key is the element itself.
    Index {
        /// The key's type.
        key_type: Type,
        /// The key.
        key: Value,
    },
}

impl PathStep {
    /// A step to the attribute of this name.
    #[must_use]
    pub fn attribute(name: &str) -> Self {
        Self { kind: PathStepKind::Attribute(name.into()), extra: Extra::new() }
    }

    /// A step to the element with this key.
    #[must_use]
    pub fn index(key_type: Type, key: Value) -> Self {
        Self { kind: PathStepKind::Index { key_type, key }, extra: Extra::new() }
    }
}

impl FromIterator<PathStep> for AttributePath {
    fn from_iter<I: IntoIterator<Item = PathStep>>(steps: I) -> Self {
        Self { steps: steps.into_iter().collect() }
    }
}

impl fmt::Debug for PathStepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(name) => f.debug_tuple("Attribute").field(name).finish(),
            Self::Index { key_type, .. } => {
                f.debug_struct("Index").field("key_type", key_type).finish_non_exhaustive()
            }
        }
    }
}
