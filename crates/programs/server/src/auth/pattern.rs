//! Patterns of names: `*` stands for any text, also for none and for slashes.

use std::fmt;
use std::str::FromStr;

use groundstate_common::InvalidId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest pattern, in bytes.
const LONGEST: usize = 256;

/// A pattern of names of projects, states or claims.
///
/// ```
/// use groundstate_server::auth::Pattern;
///
/// let pattern = Pattern::parse("prod-*")?;
/// assert!(pattern.matches("prod-network") && pattern.matches("prod-network/blue"));
/// assert!(!pattern.matches("test-network"));
/// assert!(Pattern::any().matches(""));
/// # Ok::<(), groundstate_server::common::InvalidId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that every name matches.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than 256 bytes, or has a character that cannot be seen: a control character, a zero-width or a
    /// bidirectional one.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let why = if text.is_empty() {
            "it is empty, write `*` for every name"
        } else if text.len() > LONGEST {
            "it is longer than 256 bytes"
        } else if text.chars().any(groundstate_common::is_hidden) {
            "it has a character that cannot be seen"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InvalidId::new("pattern", text, why))
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that it matches, if that is the only one.
    pub fn literal(&self) -> Option<&str> {
        (!self.as_str().contains('*')).then(|| self.as_str())
    }

    /// Whether every name matches.
    pub fn is_any(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'*')
    }

    /// Returns `true` if a name that begins so may match.
    pub fn may_begin(&self, beginning: &str) -> bool {
        let fixed = self.0.split('*').next().unwrap_or_default();
        if fixed.len() == self.0.len() {
            return fixed.starts_with(beginning);
        }
        // Behind the first star any text may stand.
        beginning.starts_with(fixed) || fixed.starts_with(beginning)
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Behind the last star: where to go on in the pattern, and in the name if the star takes one byte more.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            if pattern.get(p) == Some(&b'*') {
                star = Some((p + 1, n));
                p += 1;
            } else if pattern.get(p) == name.get(n) {
                (p, n) = (p + 1, n + 1);
            } else if let Some((behind, taken)) = star {
                star = Some((behind, taken + 1));
                (p, n) = (behind, taken + 1);
            } else {
                return false;
            }
        }
        pattern.iter().skip(p).all(|byte| *byte == b'*')
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Pattern {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "a/b", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a", "", false),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("*a", "ab", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
            ("**", "x", true),
            ("network/*", "network/dev", true),
            ("network/*", "network", false),
            ("u*", "über", false),
            ("ü*", "üb", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn beginning_of_a_name_may_match_or_not() {
        for (pattern, beginning, expected) in [
            ("*", "shop/", true),
            ("shop/dev", "shop/", true),
            ("shop/*", "shop/", true),
            ("sh*", "shop/", true),
            ("*/dev", "shop/", true),
            ("shop", "shop/", false),
            ("bank/dev", "shop/", false),
            ("bank/*", "shop/", false),
            ("shopping/*", "shop/", false),
        ] {
            assert_eq!(
                Pattern::parse(pattern).unwrap().may_begin(beginning),
                expected,
                "{pattern} {beginning}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        let pattern = Pattern::parse(&"*a".repeat(120)).unwrap();
        assert!(!pattern.matches(&"a".repeat(10_000).replace("aa", "ab")));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(10_000))));
    }

    #[test]
    fn empty_long_and_hidden_texts_are_refused() {
        for text in ["", &"a".repeat(257), "a\nb", "a\u{200b}"] {
            assert!(Pattern::parse(text).is_err(), "{text:?}");
        }
    }
}
