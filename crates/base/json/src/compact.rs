//! Taking the white space out of JSON that has been read before.

use crate::RawJson;

use crate::skip::plain_end;

/// The value that a cursor has accepted, without its white space and with the escapes of [`RawJson::parse`].
///
/// Nothing if the text is not UTF-8. It checks no more than that: for text that no cursor has accepted there is
/// [`RawJson::parse`].
pub fn compact(raw: &[u8]) -> Option<RawJson> {
    if memchr::memchr3(b'<', b'>', b'&', raw).is_some() || memchr::memmem::find(raw, b"\xe2\x80").is_some() {
        return RawJson::parse(str::from_utf8(raw).ok()?).ok();
    }
    compact_as_written(raw)
}

/// The value that a cursor has accepted, without its white space: what [`RawJson::parse_as_written`] gives.
///
/// Nothing if the text is not UTF-8.
pub fn compact_as_written(raw: &[u8]) -> Option<RawJson> {
    let text = str::from_utf8(raw).ok()?;
    let mut out = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(&b) = raw.get(at) {
        match b {
            b'"' => at = string_end(raw, at + 1),
            b' ' | b'\n' | b'\r' | b'\t' => {
                if out.capacity() == 0 {
                    out.reserve_exact(raw.len());
                }
                out.push_str(text.get(from..at)?);
                while matches!(raw.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
                    at += 1;
                }
                from = at;
            }
            _ => at += 1,
        }
    }
    if from == 0 {
        return Some(RawJson::from_validated(text));
    }
    out.push_str(text.get(from..)?);
    Some(RawJson::from_validated(&out))
}

/// Index behind the closing quote of the string whose inside begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = plain_end(bytes, at, &mut 0);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(_) => return at + 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_careful_way() {
        let texts = [
            "{}",
            " [ ] ",
            "{\n  \"a b\" : [ 1 , 2.50 , \"x \\\" y\" ] ,\r\n\t\"c\":null}",
            "[\"a<b\", \"\u{2028}\", \"\\u003c\"]",
            "\"\\\\\"",
            "12",
        ];
        for text in texts {
            assert_eq!(compact(text.as_bytes()), RawJson::parse(text).ok(), "{text}");
            assert_eq!(compact_as_written(text.as_bytes()), RawJson::parse_as_written(text).ok(), "{text}");
        }
    }
}
