//! Percent-encoding as signatures expect it: all bytes but the unreserved ones.

/// Encodes a text; slashes stay if it is a path.
pub(crate) fn encode(text: &str, keeps_slashes: bool) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            b'/' if keeps_slashes => encoded.push('/'),
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 15] {
                    encoded.push(char::from(DIGITS[usize::from(digit)]));
                }
            }
        }
    }
    encoded
}

/// A query of these pairs.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| match *value {
        "" => format!("{}=", encode(name, false)),
        value => format!("{}={}", encode(name, false), encode(value, false)),
    });
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
