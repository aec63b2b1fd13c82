//! The names of blobs, kept byte for byte.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::op::Op;

/// The longest name that S3, Google and Azure all take, in bytes.
const LONGEST: usize = 1024;

/// The name of a blob in its container.
///
/// Services and their clients normalise names in different ways, and a name that was changed on its way addresses another
/// blob than Terraform's. So a key is a name that passes everywhere unchanged, and any other is refused: it has no
/// empty parts between slashes (so none at its ends), no parts `.` and `..`, no control characters, and
/// 1 to 1024 bytes. Everything else is kept as it is, `:`, `%`, `~`, spaces and all of Unicode among it.
///
/// ```
/// use groundstate_blobs::Key;
///
/// let key = Key::parse("env:/my ~key%20/terraform.tfstate")?;
/// assert_eq!(key.as_str(), "env:/my ~key%20/terraform.tfstate");
/// assert!(Key::parse("a//b").is_err());
/// # Ok::<(), groundstate_blobs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidKey`] for a name that would not pass everywhere unchanged.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match problem(text) {
            None => Ok(Self(text.into())),
            Some(problem) => {
                Err(Error::new(ErrorKind::InvalidKey, Op::Use, format_args!("the key {text:?}"))
                    .because(problem)
                    .next_step("choose another key"))
            }
        }
    }

    /// The key as stores use it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with a suffix, such as that of a lock beside a state.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn with_suffix(&self, suffix: &str) -> Result<Self, Error> {
        Self::parse(&format!("{self}{suffix}"))
    }
}

/// Why a name is refused, if it is.
fn problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > LONGEST {
        return Some("it is longer than the 1024 bytes that object stores take");
    }
    if text.starts_with('/') {
        return Some("it begins with a slash, which clients of object stores drop");
    }
    if text.ends_with('/') {
        return Some("it ends with a slash, which clients of object stores drop");
    }
    if text.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    text.split('/').find_map(|part| match part {
        "" => Some("it has two slashes in a row, which not every client keeps"),
        "." | ".." => Some("it has a part `.` or `..`, which clients resolve to another key"),
        _ => None,
    })
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl Borrow<str> for Key {
    /// Keys compare like their names.
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Key;
    use crate::ErrorKind;

    #[test]
    fn odd_keys_are_kept_byte_for_byte() {
        for text in [
            "a",
            "env:/dev/a",
            "my~key",
            "a b",
            "100%",
            "a%2Fb",
            "a+b",
            "ü/ö",
            "状態",
            "a/...",
            "~",
            "a#1",
            "b?c",
            "..a",
            "\\",
        ] {
            assert_eq!(Key::parse(text).unwrap().as_str(), text);
        }
        assert!(Key::parse(&"a".repeat(1024)).is_ok());
    }

    #[test]
    fn keys_that_would_not_arrive_unchanged_are_refused_with_the_reason() {
        for (text, why) in [
            ("", "it is empty"),
            ("/a", "begins with a slash"),
            ("a/", "ends with a slash"),
            ("a//b", "two slashes"),
            ("a/../b", "a part"),
            (".", "a part"),
            ("a\nb", "control"),
            ("a\u{85}b", "control"),
        ] {
            let error = Key::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidKey, "{text:?}");
            assert!(error.to_string().contains(why), "{error}");
        }
        assert!(Key::parse(&"a".repeat(1025)).is_err());
    }

    #[test]
    fn a_suffix_is_checked_like_a_key() {
        let key = Key::parse("a").unwrap();
        assert_eq!(key.with_suffix(".tflock").unwrap().as_str(), "a.tflock");
        assert!(key.with_suffix("/").is_err());
    }
}
