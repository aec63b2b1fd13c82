//! What the cursor says of values and of damage.

use groundstate_json::{Cursor, SyntaxError, describe};

use SyntaxError::{ControlInString, End, Escape, TooDeep, Unexpected, Utf8};

#[test]
fn kinds_are_described_without_their_content() {
    let cases: [(&[u8], &str); 8] = [
        (b"null", "null"),
        (b"true", "bool"),
        (b"\"hunter2\"", "string"),
        (b"[1]", "array"),
        (b"{}", "object"),
        (b"-1.50", "number -1.50"),
        (b"1234567890123456789012345678901234567890", "number 1234567890123456789012345678901234567890"),
        (b"12345678901234567890123456789012345678901", "number of 41 digits"),
    ];
    for (text, expected) in cases {
        assert_eq!(describe(Cursor::new(text).kind().unwrap(), text), expected);
    }
}

#[test]
fn reasons_are_said_in_words() {
    let cases = [
        (End, "the file ends too early"),
        (Unexpected, "this character is not allowed here"),
        (ControlInString, "a control character must be escaped in a string"),
        (Escape, "JSON has no such escape sequence"),
        (TooDeep, "arrays and objects nest deeper than 10000 levels"),
        (Utf8, "this is not UTF-8"),
    ];
    for (why, expected) in cases {
        assert_eq!(why.to_string(), expected);
    }
}

#[test]
fn damage_of_known_origin_comes_with_advice() {
    let bom = "; the file begins with a byte-order mark: save it as UTF-8 without one";
    let utf16 = "; the file looks like UTF-16: convert it to UTF-8 without a byte-order mark";
    let nul = "; NUL bytes are what a crash leaves of a file: restore a backup or an older version";
    let cut = "; it was probably cut off while it was written: restore a backup or an older version";
    let cases: [(&[u8], &str); 10] = [
        (b"\xef\xbb\xbf{}", bom),
        (b"\xff\xfe{\0}\0", utf16),
        (b"\xfe\xff\0{\0}", utf16),
        (b"\0{\0}", utf16),
        (b"{\0}\0", utf16),
        (b"{\"a\":\0\0\0", nul),
        (b"\0\0\0\0", nul),
        (b"{\"a\": [1, ", cut),
        (b"{\"a\" 1}", ""),
        (b"{\"a\": \"\n\"}", ""),
    ];
    for (text, expected) in cases {
        let stop = Cursor::new(text).skip().unwrap_err();
        assert_eq!(stop.advice(text), expected, "{}", String::from_utf8_lossy(text));
    }
}
