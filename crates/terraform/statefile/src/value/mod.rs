//! Types and values of outputs and of keys in attribute paths: from JSON and back.

mod decode;
mod encode;
mod remarks;
mod type_expr;

use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::json::{Kind, Stop, Str};

pub(crate) use decode::decode_value;
pub(crate) use encode::encode_value;
pub(crate) use type_expr::{encode_type, read_type};

/// Why a type or a value cannot be read. Never says what the value is: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueError {
    /// Index of the first byte of the offending inner value.
    pub(crate) offset: usize,
    /// The cause.
    pub(crate) detail: String,
}

/// Why reading ended: the text is no JSON, or it is not what it has to be.
#[derive(Debug)]
enum Fail {
    Stop(Stop),
    Value(ValueError),
}

impl From<Stop> for Fail {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl Fail {
    fn value(offset: usize, detail: impl Into<String>) -> Self {
        Self::Value(ValueError { offset, detail: detail.into() })
    }

    fn wanted(offset: usize, kind: Kind, wanted: &str) -> Self {
        Self::value(offset, format!("expected {wanted}, found {}", name_of(kind)))
    }
}

/// Names a kind of JSON value, without its content.
pub(crate) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a bool",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

/// A string's value in normalization form C, and whether that changed it.
fn normalized(text: &Str<'_>) -> (Arc<str>, bool) {
    let decoded = text.decode();
    if is_nfc_quick(decoded.chars()) == IsNormalized::Yes {
        return (decoded.into(), false);
    }
    let composed: String = decoded.nfc().collect();
    let changed = composed != decoded;
    (composed.into(), changed)
}

#[cfg(test)]
mod tests;
