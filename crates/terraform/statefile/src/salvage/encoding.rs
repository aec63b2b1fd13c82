//! Sound documents in an unusual wrapping: UTF-16, a byte-order mark, and lines of other programs around them.

use super::Gap;
use super::entries::fill;
use crate::json::{Cursor, Stop};

/// The mark at the begin of a text in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Objects that are tried as the document, at most.
const MOST_TRIES: usize = 1000;

/// The text in UTF-8, if it is UTF-16, with a byte-order mark or without one. The mark is left out; what is not UTF-16
/// becomes U+FFFD.
///
/// ```
/// use groundstate_statefile::from_utf16;
///
/// assert_eq!(from_utf16(b"\xff\xfe{\0}\0").as_deref(), Some(&b"{}"[..]));
/// assert_eq!(from_utf16(b"{}"), None);
/// ```
pub fn from_utf16(text: &[u8]) -> Option<Vec<u8>> {
    type ReadUnit = fn([u8; 2]) -> u16;
    let (body, read): (&[u8], ReadUnit) = match text {
        [0xff, 0xfe, body @ ..] => (body, u16::from_le_bytes),
        [0xfe, 0xff, body @ ..] => (body, u16::from_be_bytes),
        [0x20..0x7f, 0, 0x01..0x7f, 0, ..] => (text, u16::from_le_bytes),
        [0, 0x20..0x7f, 0, 0x01..0x7f, ..] => (text, u16::from_be_bytes),
        _ => return None,
    };
    let units = body.chunks(2).map(|pair| match pair {
        [a, b] => read([*a, *b]),
        // Half a unit is left of a file that was cut off.
        _ => 0xfffd,
    });
    let decoded: String =
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(decoded.into_bytes())
}

/// The text without its encoding, if that is not plain UTF-8: everything after a mark stands where it stood.
pub(super) fn converted(text: &[u8]) -> Option<Vec<u8>> {
    if let Some(converted) = from_utf16(text) {
        return Some(converted);
    }
    text.starts_with(MARK).then(|| {
        let mut converted = text.to_vec();
        fill(&mut converted, 0..MARK.len());
        converted
    })
}

/// Lines of other programs in front of a document, and the document; nothing if it begins the text.
///
/// The document begins a line: an object in the middle of one may be a part of a state whose begin is lost.
pub(super) fn noise(text: &[u8]) -> Option<Gap> {
    let is_begin = |start: &usize| begins_line(text, *start) && is_document(text, *start);
    let start = memchr::memchr_iter(b'{', text).take(MOST_TRIES).find(is_begin)?;
    let range = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(start)..start;
    let reason = "this stands in front of the document".to_owned();
    (!range.is_empty()).then_some(Gap { range, what: None, reason })
}

/// Returns `true` if nothing but the colours of a terminal stands in front of a byte on its line.
fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = memchr::memrchr2(b'\n', b'\r', before)
        .map_or(before, |end| before.get(end + 1..).unwrap_or_default());
    let mut rest = line;
    while let Some(sequence) = rest.strip_prefix(b"\x1b[") {
        let Some(end) = sequence.iter().position(u8::is_ascii_alphabetic) else { return false };
        rest = sequence.get(end + 1..).unwrap_or_default();
    }
    rest.is_empty()
}

/// Returns `true` if the object at `start` has members of a document, of which one says where a state comes from.
fn is_document(text: &[u8], start: usize) -> bool {
    let mut cursor = Cursor::at(text, start, 0);
    let mut has_origin = || {
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            if matches!(name.raw, b"serial" | b"lineage" | b"terraform_version") {
                return Ok(true);
            }
            if name.raw != b"version" {
                break;
            }
            cursor.skip()?;
        }
        Ok::<_, Stop>(false)
    };
    has_origin().unwrap_or(false)
}
