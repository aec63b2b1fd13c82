//! Instance keys: what `count` and `for_each` put in brackets.

use std::sync::Arc;

/// The key of one instance of a module or resource.
///
/// The derived order is the one lists use: no key, then integers by value, then strings bytewise.
/// `Int(0)` and `String("0")` are different keys.
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
