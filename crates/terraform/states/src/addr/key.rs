//! Instance keys: what `count` and `for_each` put in brackets.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::quote::{normalized, write_escaped};

/// The key of one instance of a module or resource.
///
/// The derived order is the one lists use: no key, then integers by value, then strings bytewise.
/// `Int(0)` and `String("0")` are different keys.
///
/// It prints as it stands in an address: nothing, `[0]` or `["key"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    /// Neither `count` nor `for_each`.
    #[default]
    None,
    /// A `count` index. Never above `i64::MAX`.
    Int(u64),
    /// A `for_each` key, in Unicode normalization form C.
    String(Arc<str>),
}

impl InstanceKey {
    /// A `for_each` key, brought into normalization form C.
    ///
    /// ```
    /// use groundstate_states::addr::InstanceKey;
    ///
    /// assert_eq!(InstanceKey::string("e\u{301}"), InstanceKey::string("é"));
    /// ```
    #[must_use]
    pub fn string(key: &str) -> Self {
        Self::String(normalized(Cow::Borrowed(key)).into())
    }

    /// A `count` index; nothing above `i64::MAX`, which no address can name.
    #[must_use]
    pub fn int(index: u64) -> Option<Self> {
        i64::try_from(index).is_ok().then_some(Self::Int(index))
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Int(n) => write!(f, "[{n}]"),
            Self::String(key) => {
                f.write_str("[\"")?;
                write_escaped(f, key)?;
                f.write_str("\"]")
            }
        }
    }
}
