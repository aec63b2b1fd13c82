//! Root output values.

use std::sync::Arc;

use crate::{Extra, Type, Value};

/// An output value of the root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputValue {
    /// The value, conforming to `value_type`.
    pub value: Value,
    /// The type.
    pub value_type: Type,
    /// Whether configuration marks it sensitive.
    pub sensitive: bool,
    /// Deprecation message (OpenTofu); absent if there is none.
    pub deprecated: Option<Arc<str>>,
    /// Members that are not understood.
    pub extra: Extra,
}
