//! Values of a configuration, and where they stand.

use std::fmt;
use std::sync::Arc;

use groundstate_common::one_line;
use zeroize::Zeroizing;

/// Where something stands in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) source: Arc<str>,
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", one_line(&self.source), self.line)
    }
}

/// A value, as far as it is known without evaluating more than literals, variables and locals.
///
/// Values may be secrets: `Debug` shows their kind only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// `null`, which counts as not given.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, by its digits.
    Number(String),
    /// A text.
    Text(Zeroizing<String>),
    /// A list.
    List(Vec<Self>),
    /// An object, or a block; members in the order of the file.
    Map(Vec<(String, Self)>),
    /// The address of a key provider or a method.
    Reference(String),
    /// It depends on something that is not known, and on what.
    Unknown(String),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Zeroizing::new(text.into()))
    }

    /// What kind of value it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
            Self::Reference(_) => "a reference",
            Self::Unknown(_) => "not known",
        }
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        const EACH: usize = 64;
        EACH + match self {
            Self::Null | Self::Bool(_) => 0,
            Self::Number(text) | Self::Reference(text) | Self::Unknown(text) => text.len(),
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(Self::size).sum(),
            Self::Map(members) => members.iter().map(|(name, value)| name.len() + value.size()).sum(),
        }
    }

    /// A text from a value that is inserted into one.
    pub(super) fn inserted(&self) -> Option<String> {
        match self {
            Self::Bool(flag) => Some(flag.to_string()),
            Self::Number(digits) => Some(digits.clone()),
            Self::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(address) => write!(f, "Reference({address})"),
            Self::Unknown(why) => write!(f, "Unknown({why})"),
            other => f.write_str(other.kind()),
        }
    }
}
