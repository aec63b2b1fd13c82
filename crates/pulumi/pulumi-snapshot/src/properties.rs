//! Inputs and outputs of resources: text until values are asked for.

use std::fmt;

use groundstate_json::RawJson;

use crate::property::{PropertyMap, PropertyValue};

/// The inputs or outputs of a resource.
///
/// What was read from a file stays text, because most commands never look inside. The codec turns one form into the other.
/// `Debug` shows sizes only.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Properties {
    /// There is no map. Files say the same of an empty one.
    #[default]
    Absent,
    /// An object in the form of the file, which the codec has checked to be one.
    Raw(RawJson),
    /// Values.
    Map(PropertyMap),
}

/// A value of a resource that stands alone, such as its replacement trigger.
///
/// `Debug` shows the size only.
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StoredValue {
    /// A value in the form of the file.
    Raw(RawJson),
    /// A value.
    Value(PropertyValue),
}

impl Properties {
    /// Whether there is nothing inside. Text is taken at its word: `{}` is nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Raw(raw) => raw.as_str() == "{}",
            Self::Map(map) => map.is_empty(),
        }
    }

    /// The text, if it is still text.
    pub fn as_raw(&self) -> Option<&RawJson> {
        match self {
            Self::Raw(raw) => Some(raw),
            _ => None,
        }
    }

    /// The values, if they have been decoded.
    pub fn as_map(&self) -> Option<&PropertyMap> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }
}

impl StoredValue {
    /// Whether it is the null value.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.as_str() == "null",
            Self::Value(value) => *value == PropertyValue::Null,
        }
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::Raw(raw) => f.debug_tuple("Raw").field(raw).finish(),
            Self::Map(map) => write!(f, "Map({} values)", map.len()),
        }
    }
}

impl fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw(raw) => f.debug_tuple("Raw").field(raw).finish(),
            Self::Value(_) => f.write_str("Value"),
        }
    }
}

impl From<PropertyMap> for Properties {
    fn from(map: PropertyMap) -> Self {
        Self::Map(map)
    }
}

impl From<RawJson> for Properties {
    fn from(raw: RawJson) -> Self {
        Self::Raw(raw)
    }
}
