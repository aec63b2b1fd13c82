//! The names of documents, and how they are written in keys.

/// The longest file name everywhere is 255 bytes, and something is put behind the last segment.
const LONGEST_SEGMENT: usize = 240;
/// Keys have 1024 bytes; the rest is for the root and what is put behind the name.
const LONGEST_NAME: usize = 700;

groundstate_common::string_id! {
    /// The name of a document: segments between slashes, such as `team/prod/network`.
    ///
    /// Any text without control characters is a segment, unless it is empty or begins or ends with a dot. Lengths are those of
    /// the escaped text: lower-case letters, digits, `-`, `.`, `_` and `` ` `` count as one byte, upper-case letters as two, every
    /// other byte as three. A segment has at most 240 of them, a name 700. Names are compared byte by byte: `Prod` and `prod`
    /// are two, on every store.
    ///
    /// ```
    /// use groundstate_versioned::Name;
    ///
    /// assert_eq!(Name::parse("team/Prod état")?.segments().count(), 2);
    /// let error = Name::parse("team/../prod").unwrap_err();
    /// assert_eq!(error.reason(), "a segment begins or ends with a dot");
    /// # Ok::<(), groundstate_versioned::common::InvalidId>(())
    /// ```
    pub struct Name: "document name" = |text: &str| problem(text).map_or(Ok(()), Err);
}

impl Name {
    /// The parts between the slashes.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.as_str().split('/')
    }

    /// The name as it is written in keys: other bytes, the same order.
    pub(crate) fn escaped(&self) -> String {
        escape(self.as_str())
    }

    /// The name that is written so, if it is one.
    pub(crate) fn unescape(text: &str) -> Option<Self> {
        let name = Self::parse(&unescape(text)?).ok()?;
        // Another spelling of a name is no name of this layout.
        (name.escaped() == text).then_some(name)
    }
}

fn problem(text: &str) -> Option<&'static str> {
    if text.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    if text.split('/').any(str::is_empty) {
        return Some("it is empty or has an empty segment");
    }
    if text.split('/').any(|segment| segment.starts_with('.') || segment.ends_with('.')) {
        return Some("a segment begins or ends with a dot");
    }
    if text.split('/').any(|segment| escape(segment).len() > LONGEST_SEGMENT) {
        return Some("a segment is longer than 240 bytes, escaped");
    }
    (escape(text).len() > LONGEST_NAME).then_some("it is longer than 700 bytes, escaped")
}

/// Writes a text, or its beginning, so that file systems without upper case and services with rules of their own keep it.
///
/// Each byte has a code of its own, no code begins with another one, and codes are ordered as their bytes are. So
/// lists of keys are in the order of names, and the beginning of a name is written as the beginning of its key. `!` comes in no
/// code and before all of them.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let mark = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'/' | b'_' | b'`' => {
                out.push(char::from(byte));
                continue;
            }
            b'A'..=b'Z' => {
                out.push('=');
                out.push(char::from(byte.to_ascii_lowercase()));
                continue;
            }
            ..=b',' => '+',
            b':'..=b'@' => '=',
            b'['..=b'^' => '^',
            b'{'.. => '~',
        };
        out.push_str(&format!("{mark}{byte:02x}"));
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' | b'=' | b'^' | b'~' => match rest.next()? {
                letter @ b'a'..=b'z' if byte == b'=' => bytes.push(letter.to_ascii_uppercase()),
                high => {
                    let digit = |digit: u8| char::from(digit).to_digit(16);
                    let code = digit(high)? * 16 + digit(rest.next()?)?;
                    bytes.push(u8::try_from(code).ok()?);
                }
            },
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Name, escape};

    #[test]
    fn names_read_as_they_are_written_where_that_is_safe() {
        for (name, key) in [
            ("team/prod-eu_1.net", "team/prod-eu_1.net"),
            ("Team/PROD", "=team/=p=r=o=d"),
            ("a b+c", "a+20b+2bc"),
            ("a:b@c", "a=3ab=40c"),
            ("[x]^`", "^5bx^5d^5e`"),
            ("é~", "~c3~a9~7e"),
        ] {
            let name = Name::parse(name).unwrap();
            assert_eq!(name.escaped(), key);
            assert_eq!(Name::unescape(key), Some(name));
        }
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "empty"),
            ("a//b", "empty"),
            ("/a", "empty"),
            ("a/", "empty"),
            (".", "dot"),
            ("a/../b", "dot"),
            (".groundstate-lock", "dot"),
            ("a./b", "dot"),
            ("a\nb", "control"),
            ("a\u{9b}b", "control"),
        ] {
            let error = Name::parse(text).unwrap_err();
            assert!(error.reason().contains(why), "{text:?}: {error}");
        }
        assert!(Name::parse(&"é".repeat(40)).is_ok());
        assert!(Name::parse(&"é".repeat(41)).unwrap_err().reason().contains("segment"));
        assert!(Name::parse(&vec!["a".repeat(99); 7].join("/")).is_ok());
        assert!(Name::parse(&vec!["a".repeat(99); 8].join("/")).unwrap_err().reason().contains("700"));
    }

    #[test]
    fn other_spellings_of_a_name_are_none() {
        for key in ["+61", "~61", "=4", "=A", "+2", "Prod", "a b", "=5b", "~C3~A9", "a!", "~ff"] {
            assert_eq!(Name::unescape(key), None, "{key}");
        }
    }

    proptest! {
        #[test]
        fn keys_are_reversible_and_have_the_order_of_names(a in "\\PC{0,12}(/\\PC{1,8}){0,2}", b in "\\PC{0,12}(/\\PC{1,8}){0,2}") {
            prop_assert_eq!(escape(&a).cmp(&escape(&b)), a.cmp(&b));
            // What ends a name comes before everything that continues it.
            prop_assert_eq!((escape(&a) + "!").cmp(&(escape(&b) + "!")), a.cmp(&b));
            prop_assert_eq!(escape(&b).starts_with(&escape(&a)), b.starts_with(&a));
            prop_assert!(escape(&a).bytes().all(|byte| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase()));
            if let Ok(name) = Name::parse(&a) {
                prop_assert_eq!(Name::unescape(&name.escaped()), Some(name));
            }
        }

        #[test]
        fn nothing_else_is_read_as_a_name(text in "[!-~]{0,12}") {
            if let Some(name) = Name::unescape(&text) {
                prop_assert_eq!(name.escaped(), text);
            }
        }
    }
}
