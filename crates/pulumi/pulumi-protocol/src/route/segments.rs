//! Segments of paths, percent-encoded.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All but the characters that RFC 3986 calls unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Paths with more segments are none of the protocol.
const MOST_SEGMENTS: usize = 8;

/// The decoded segments; `None` if one is empty, has an escape that is none, or is not UTF-8 when decoded.
pub(super) fn segments(path: &str) -> Option<Vec<Cow<'_, str>>> {
    if path.split('/').nth(MOST_SEGMENTS).is_some() {
        return None;
    }
    path.split('/').map(decoded).collect()
}

fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if segment.is_empty() || !segment.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok()
}

/// Adds a slash and the encoded name.
pub(super) fn push_segment(path: &mut String, name: &str) {
    path.push('/');
    path.extend(utf8_percent_encode(name, ENCODED));
}
