//! Paths into an object's attributes, as `sensitive_attributes` lists them.

use std::sync::Arc;

use crate::{Extra, Type, Value};

/// A path from an object's root to one of its attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributePath {
    /// The steps, outermost first.
    pub steps: Vec<PathStep>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// What the step does.
    pub kind: PathStepKind,
    /// Members of the step that are not understood.
    pub extra: Extra,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
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
