//! Output values.

use std::fmt;
use std::sync::Arc;

use crate::{Extra, Type, Value};

/// An output value of a module; only the root's are stored in files.
///
/// `Debug` hides the value if it is sensitive.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
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

impl OutputValue {
    /// An output that is neither sensitive nor deprecated.
    #[must_use]
    pub fn new(value: Value, value_type: Type) -> Self {
        Self { value, value_type, sensitive: false, deprecated: None, extra: Extra::new() }
    }
}

impl fmt::Debug for OutputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("OutputValue");
        if self.sensitive {
            output.field("value", &format_args!("(sensitive)"));
        } else {
            output.field("value", &self.value);
        }
        output
            .field("value_type", &self.value_type)
            .field("sensitive", &self.sensitive)
            .field("deprecated", &self.deprecated)
            .field("extra", &self.extra)
            .finish()
    }
}
