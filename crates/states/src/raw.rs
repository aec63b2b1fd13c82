//! JSON text that is carried, not understood.

use std::sync::Arc;

/// One JSON value as compact text: no white space outside strings, everything else as it was written.
///
/// Number spellings, member order, duplicate members and string escapes survive.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawJson(Arc<str>);

/// Members that no known release writes, kept with their values in the order they were read.
///
/// Takes one word when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::box_collection, reason = "one word instead of three in every object")]
pub struct Extra(Option<Box<Vec<(Arc<str>, RawJson)>>>);

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

/// Text that is not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid json at byte {offset}: {problem}")]
#[non_exhaustive]
pub struct RawJsonError {
    /// Number of bytes before the problem.
    pub offset: usize,
    /// What is wrong there.
    pub problem: &'static str,
}
