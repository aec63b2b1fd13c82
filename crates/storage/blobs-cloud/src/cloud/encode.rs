//! Percent-encoding as signatures expect it: all bytes but the unreserved ones.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &PART.remove(b'/');

/// Encodes a text; slashes stay if it is a path.
pub(crate) fn encode(text: &str, keeps_slashes: bool) -> String {
    utf8_percent_encode(text, if keeps_slashes { PATH } else { PART }).to_string()
}

/// A query of these pairs.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encode(name, false), encode(value, false)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::{encode, query};

    #[test]
    fn everything_but_the_unreserved_is_encoded() {
        for (text, path, part) in [
            ("env:/a b", "env%3A/a%20b", "env%3A%2Fa%20b"),
            ("100%~+", "100%25~%2B", "100%25~%2B"),
            ("ü状", "%C3%BC%E7%8A%B6", "%C3%BC%E7%8A%B6"),
        ] {
            assert_eq!(encode(text, true), path);
            assert_eq!(encode(text, false), part);
        }
        assert_eq!(query(&[("list-type", "2"), ("prefix", "a/b"), ("x", "")]), "list-type=2&prefix=a%2Fb&x=");
    }
}
