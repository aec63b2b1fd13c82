//! String literals as Go's encoder spells them, in its two modes.

use crate::skip::{HIGHS, plain_end};

/// Which characters a writer escapes beyond what JSON asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Escapes {
    /// `<`, `>` and `&`, which is the default of Go's encoder.
    #[default]
    Html,
    /// None of these.
    Plain,
}

/// Writes `text` as a JSON string with the escapes of Go's default mode, [`Escapes::Html`].
///
/// `<`, `>`, `&` and the two line separators of Unicode are escaped, and `\b` and `\f` have their short forms, as
/// current releases of both products write them. Everything else above the blank stands as it is.
///
/// ```
/// let mut out = String::new();
/// groundstate_json::push_json_string(&mut out, "a<b \"c\"");
/// assert_eq!(out, r#""a\u003cb \"c\"""#);
/// ```
pub fn push_json_string(out: &mut String, text: &str) {
    push_json_string_as(out, text, Escapes::Html);
}

/// Writes `text` as a JSON string with the escapes of either mode.
///
/// The two line separators of Unicode are escaped in both.
///
/// ```
/// use groundstate_json::{Escapes, push_json_string_as};
///
/// let mut out = String::new();
/// push_json_string_as(&mut out, "a<b\u{2028}", Escapes::Plain);
/// assert_eq!(out, r#""a<b\u2028""#);
/// ```
pub fn push_json_string_as(out: &mut String, text: &str, escapes: Escapes) {
    out.push('"');
    if is_plain(text.as_bytes(), escapes) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut rest = text;
    // Everything to escape is ASCII, but for the separators, which both begin with the byte 0xe2.
    while let Some(at) = rest.bytes().position(needs_care) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            push_char(out, c, escapes);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether nothing has to be escaped: nearly all names are so. Only ASCII is told apart here.
fn is_plain(text: &[u8], escapes: Escapes) -> bool {
    let mut high = 0;
    plain_end(text, 0, &mut high) == text.len()
        && high & HIGHS == 0
        && (escapes == Escapes::Plain || memchr::memchr3(b'<', b'>', b'&', text).is_none())
}

/// Whether a character that begins with this byte may have to be escaped.
fn needs_care(byte: u8) -> bool {
    matches!(byte, 0..=0x1f | b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2)
}

fn push_char(out: &mut String, c: char, escapes: Escapes) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '<' | '>' | '&' if escapes == Escapes::Plain => out.push(c),
        '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::push_json_string;
    use crate::Cursor;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        push_json_string(&mut out, text);
        out
    }

    #[test]
    fn escapes_what_the_original_tools_escape() {
        let cases = [
            ("", r#""""#),
            ("plain é ☃ 😀", r#""plain é ☃ 😀""#),
            ("a\"b\\c/d", r#""a\"b\\c/d""#),
            ("\n\r\t\u{8}\u{c}", r#""\n\r\t\b\f""#),
            ("\0\u{1}\u{b}\u{1f}\u{7f}", "\"\\u0000\\u0001\\u000b\\u001f\u{7f}\""),
            ("a<b>&c", r#""a\u003cb\u003e\u0026c""#),
            ("\u{2027}\u{2028}\u{2029}\u{202a}", "\"\u{2027}\\u2028\\u2029\u{202a}\""),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn is_read_back_as_the_same_text(text in any::<String>()) {
            let literal = escaped(&text);
            let mut cursor = Cursor::new(literal.as_bytes());
            let read = cursor.string().unwrap();
            prop_assert_eq!(read.decode(), text.as_str());
            prop_assert!(cursor.end().is_ok());
        }
    }
}
