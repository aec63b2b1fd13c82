//! What to do about files that are damaged as a whole.

const UTF_16: &str =
    "convert the file with `groundstate salvage` or `iconv -f UTF-16 -t UTF-8`; nothing in it is lost";
const BYTE_ORDER_MARK: &str = "save the file without a byte-order mark (its first three bytes), as `groundstate salvage` does; what follows was \
     checked nevertheless";
const GZIP: &str = "unpack the file first, it is compressed with gzip";
const ZIP: &str = "unpack the file first; a ZIP archive may be a plan, which is not a state";
const BLANK: &str = "nothing can be recovered from this file: restore a backup or an older version";
const NUL_BYTES: &str = "a crash left NUL bytes at the end: restore a backup or an older version; if there is none, what stands \
             before them can be saved by cutting there and closing the open brackets";
const CUT_OFF: &str = "the file was cut off: restore a backup, an older version or errored.tfstate; if there is none, what is \
             left can be saved by cutting behind the last whole resource and closing the open brackets";
const MERGE_CONFLICT: &str = "take the sides and their ancestor from version control, and merge them with `groundstate merge-errored --base`; \
     `groundstate salvage` reads what one of the sides has";
const MARKUP: &str =
    "this is an HTML or XML page, most likely an error message of a server: fetch the state again";
const SECOND_DOCUMENT: &str = "remove what follows the first document, once it is known to be the right one, or let `groundstate salvage` do so";
const UNKNOWN: &str = "restore a backup or an older version; `groundstate salvage` reads what is complete";
#[cfg(any(test, feature = "serde"))]
const ALL: [&str; 11] = [
    UTF_16,
    BYTE_ORDER_MARK,
    GZIP,
    ZIP,
    BLANK,
    NUL_BYTES,
    CUT_OFF,
    MERGE_CONFLICT,
    MARKUP,
    SECOND_DOCUMENT,
    UNKNOWN,
];

/// What to do with a file that stops being JSON at `offset`.
pub(super) fn for_damage(text: &[u8], offset: usize) -> &'static str {
    let rest = text.get(offset..).unwrap_or_default();
    let blank = |bytes: &[u8]| bytes.iter().all(|b| matches!(b, 0 | b' ' | b'\t' | b'\r' | b'\n'));
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, b'{', ..] | [b'{', 0, ..] => UTF_16,
        [0xef, 0xbb, 0xbf, ..] => BYTE_ORDER_MARK,
        [0x1f, 0x8b, ..] => GZIP,
        [b'P', b'K', 3, 4, ..] => ZIP,
        _ if blank(text) => BLANK,
        _ if rest.first() == Some(&0) && blank(rest) => NUL_BYTES,
        _ if rest.is_empty() => CUT_OFF,
        _ if conflicted(rest) => MERGE_CONFLICT,
        _ if text.trim_ascii_start().first() == Some(&b'<') => MARKUP,
        _ if ends_before(text, offset) => SECOND_DOCUMENT,
        _ => UNKNOWN,
    }
}

/// The advice that has these words.
#[cfg(feature = "serde")]
pub(super) fn known(text: &str) -> Option<&'static str> {
    ALL.into_iter().find(|help| *help == text)
}

/// Whether the text goes on with the markers that version control leaves in conflicting files.
fn conflicted(rest: &[u8]) -> bool {
    [b"<<<<<<<", b"=======", b">>>>>>>"].iter().any(|marker| rest.starts_with(*marker))
}

/// Whether a whole document ends before the offset.
fn ends_before(text: &[u8], offset: usize) -> bool {
    let mut cursor = groundstate_json::Cursor::new(text);
    cursor.space();
    cursor.skip().is_ok() && cursor.offset() <= offset && cursor.end().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_apart() {
        let cases: [(&[u8], usize, &str); 11] = [
            (b"\xff\xfe{\0", 0, "convert"),
            (b"{\0\"\0", 1, "convert"),
            (b"\xef\xbb\xbf{}", 0, "save the file without"),
            (b"\x1f\x8b\x08", 0, "unpack"),
            (b"PK\x03\x04", 0, "unpack"),
            (b"\0\0\0", 0, "nothing can"),
            (b"{\"a\": [1\0\0\n", 8, "a crash"),
            (b"{\"a\": [1", 8, "the file was cut"),
            (b"<<<<<<< HEAD", 0, "take the sides"),
            (b" <html>", 1, "this is an HTML"),
            (b"{}\n{}", 3, "remove what follows"),
        ];
        for (text, offset, expected) in cases {
            let help = for_damage(text, offset);
            assert!(help.starts_with(expected), "{text:?}: {help}");
            assert!(ALL.contains(&help), "{help}");
        }
        assert!(for_damage(b"{\"a\" 1}", 5).starts_with("restore a backup"));
    }
}
