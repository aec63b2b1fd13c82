//! What to do about files that are damaged as a whole.

/// What to do with a file that stops being JSON at `offset`.
pub(super) fn for_damage(text: &[u8], offset: usize) -> &'static str {
    let rest = text.get(offset..).unwrap_or_default();
    let blank = |bytes: &[u8]| bytes.iter().all(|b| matches!(b, 0 | b' ' | b'\t' | b'\r' | b'\n'));
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, b'{', ..] | [b'{', 0, ..] => {
            "convert the file, for example with `iconv -f UTF-16 -t UTF-8`; nothing in it is lost"
        }
        [0xef, 0xbb, 0xbf, ..] if offset == 0 => {
            "save the file without a byte-order mark (its first three bytes); what follows was checked nevertheless"
        }
        [0x1f, 0x8b, ..] => "unpack the file first, it is compressed with gzip",
        [b'P', b'K', 3, 4, ..] => "unpack the file first; a ZIP archive may be a plan, which is not a state",
        _ if blank(text) => "nothing can be recovered from this file: restore a backup or an older version",
        _ if rest.first() == Some(&0) && blank(rest) => {
            "a crash left NUL bytes at the end: restore a backup or an older version; if there is none, what stands \
             before them can be saved by cutting there and closing the open brackets"
        }
        _ if rest.is_empty() => {
            "the file was cut off: restore a backup, an older version or errored.tfstate; if there is none, what is \
             left can be saved by cutting behind the last whole resource and closing the open brackets"
        }
        _ if conflicted(rest) => {
            "resolve the merge conflict; the sides are two states, of which only one is right"
        }
        _ if text.trim_ascii_start().first() == Some(&b'<') => {
            "this is an HTML or XML page, most likely an error message of a server: fetch the state again"
        }
        _ if ends_before(text, offset) => {
            "remove what follows the first document, once it is known to be the right one"
        }
        _ => "correct the place that is named, or restore a backup or an older version",
    }
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
            (b"<<<<<<< HEAD", 0, "resolve"),
            (b" <html>", 1, "this is an HTML"),
            (b"{}\n{}", 3, "remove what follows"),
        ];
        for (text, offset, expected) in cases {
            let help = for_damage(text, offset);
            assert!(help.starts_with(expected), "{text:?}: {help}");
        }
        assert!(for_damage(b"{\"a\" 1}", 5).starts_with("correct the place"));
    }
}
