//! JSON text that is carried, not understood.

use std::fmt;
use std::sync::Arc;

use crate::cursor::Kind;
use crate::escape::Escapes;
use crate::paths::{path_steps, value_span};
use crate::scan;
use crate::tape::Tape;

/// One JSON value as compact text: no white space outside strings, everything else as it was written.
///
/// Number spellings, member order, duplicate members and string escapes survive. What else is escaped depends on how the
/// text came in: [`RawJson::parse`] escapes what Go's encoder escapes by default, so that equal objects are equal texts
/// whatever file they come from; [`RawJson::parse_as_written`] leaves every string as it is. `Debug` shows the length only:
/// such values hold secrets.
///
/// ```
/// use groundstate_json::RawJson;
///
/// let raw = RawJson::parse(r#"{ "id": "a<b", "size": 1.0 }"#)?;
/// assert_eq!(raw.as_str(), r#"{"id":"a\u003cb","size":1.0}"#);
/// # Ok::<(), groundstate_json::RawJsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// How deep containers may nest.
    pub const MAX_DEPTH: usize = 10_000;

    /// Checks that `text` is exactly one JSON value and brings it into the compact, escaped form.
    ///
    /// # Errors
    /// The place of the first byte that cannot continue a JSON value; containers nested deeper than
    /// [`RawJson::MAX_DEPTH`] are refused as well.
    pub fn parse(text: &str) -> Result<Self, RawJsonError> {
        scan::compact(text, Self::MAX_DEPTH, Escapes::Html).map(|compact| Self(compact.into()))
    }

    /// Checks that `text` is exactly one JSON value and takes out its white space, and nothing else.
    ///
    /// ```
    /// use groundstate_json::RawJson;
    ///
    /// let raw = RawJson::parse_as_written(r#"[ "<", "\u003c" ]"#)?;
    /// assert_eq!(raw.as_str(), r#"["<","\u003c"]"#);
    /// # Ok::<(), groundstate_json::RawJsonError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`RawJson::parse`].
    pub fn parse_as_written(text: &str) -> Result<Self, RawJsonError> {
        scan::compact(text, Self::MAX_DEPTH, Escapes::Plain).map(|compact| Self(compact.into()))
    }

    /// Takes text as it stands; the caller has validated and compacted it, for example by slicing a larger
    /// [`RawJson`].
    ///
    /// Nothing is checked. Other text than [`RawJson::parse`] would return compares unequal and is written
    /// to files as it is.
    #[must_use]
    pub fn from_validated(text: &str) -> Self {
        Self(text.into())
    }

    /// The empty object, which stands for absent attributes.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The JSON as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The content of a string, without quotes and escapes; nothing for another value.
    ///
    /// ```
    /// use groundstate_json::RawJson;
    ///
    /// assert_eq!(RawJson::parse(r#""a\u0062""#)?.to_text().as_deref(), Some("ab"));
    /// assert_eq!(RawJson::parse("1.50")?.to_text(), None);
    /// # Ok::<(), groundstate_json::RawJsonError>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let tape = Tape::new(&self.0);
        let root = tape.root()?;
        (tape.kind(root) == Kind::String).then(|| tape.string(root))
    }

    /// The value to which a path such as `tags.Name` or `disks[0].size` leads, as it is spelled.
    ///
    /// ```
    /// use groundstate_json::RawJson;
    ///
    /// let attributes = RawJson::parse(r#"{"tags":{"Name":"web"},"disks":[{"size":1.50}]}"#)?;
    /// assert_eq!(attributes.at("disks[0].size").unwrap().as_str(), "1.50");
    /// assert_eq!(attributes.at("tags.Owner"), None);
    /// # Ok::<(), groundstate_json::RawJsonError>(())
    /// ```
    #[must_use]
    pub fn at(&self, path: &str) -> Option<Self> {
        let span = value_span(self.0.as_bytes(), 0, &path_steps(path))?;
        self.0.get(span).map(Self::from_validated)
    }

    /// The same text with another value where the path leads; nothing if it leads nowhere.
    #[must_use]
    pub fn replaced(&self, path: &str, value: &Self) -> Option<Self> {
        let span = value_span(self.0.as_bytes(), 0, &path_steps(path))?;
        let (before, after) = (self.0.get(..span.start)?, self.0.get(span.end..)?);
        Some(Self::from_validated(&format!("{before}{value}{after}", value = value.0)))
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

impl std::str::FromStr for RawJson {
    type Err = RawJsonError;

    fn from_str(text: &str) -> Result<Self, RawJsonError> {
        Self::parse(text)
    }
}

/// Text that is not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid json at byte {offset}: {problem}")]
#[non_exhaustive]
pub struct RawJsonError {
    /// Number of bytes before the problem; the text's length if it ends too early.
    pub offset: usize,
    /// What is wrong there.
    pub problem: &'static str,
}

impl RawJsonError {
    pub(crate) const fn new(offset: usize, problem: &'static str) -> Self {
        Self { offset, problem }
    }
}

/// Members that no known release writes, kept with their values in the order they were read.
///
/// Takes one word when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::box_collection, reason = "one word instead of three in every object")]
pub struct Extra(Option<Box<Vec<Member>>>);

/// A name and its value.
type Member = (Arc<str>, RawJson);

impl Extra {
    /// No members.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |members| members.len())
    }

    /// Names and values in the order they were read.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &RawJson)> {
        let members = self.0.as_ref().map_or(&[][..], |members| members.as_slice());
        members.iter().map(|(name, value)| (&**name, value))
    }

    /// The value of the member of this name; the last one, as JSON readers do.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        let members = self.0.as_ref()?;
        members.iter().rev().find(|(candidate, _)| &**candidate == name).map(|(_, value)| value)
    }

    /// Appends a member.
    pub fn push(&mut self, name: impl Into<Arc<str>>, value: RawJson) {
        self.0.get_or_insert_default().push((name.into(), value));
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, RawJson)> for Extra {
    fn from_iter<I: IntoIterator<Item = (N, RawJson)>>(members: I) -> Self {
        let members: Vec<_> = members.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}
