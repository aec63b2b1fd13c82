//! One object and what is known about it.

use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;
use groundstate_common::Timestamp;

use crate::digest::md5_hex;
use crate::http::{Answer, Request};

/// An object as the server keeps it.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) bytes: Bytes,
    /// Headers that are given back: content type and the like, metadata, checksums. Names are in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// With its quotes.
    pub(crate) etag: String,
    pub(crate) generation: u64,
    /// Grows when headers change and bytes do not.
    pub(crate) metageneration: u64,
    pub(crate) version: Option<String>,
    pub(crate) modified: SystemTime,
    /// The digest of the customer's key, if the object is encrypted by one.
    pub(crate) key_digest: Option<String>,
}

impl Object {
    /// An object whose ETag is the MD5 of its bytes. The store adds generation and time.
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self {
            etag: format!("\"{}\"", md5_hex(&bytes)),
            bytes,
            headers: BTreeMap::new(),
            generation: 0,
            metageneration: 1,
            version: None,
            modified: SystemTime::UNIX_EPOCH,
            key_digest: None,
        }
    }

    /// Keeps the headers that are given back, and those that begin with one of the prefixes.
    pub(crate) fn keep_headers(&mut self, request: &Request, prefixes: &[&str]) {
        const KEPT: [&str; 6] = [
            "cache-control",
            "content-disposition",
            "content-encoding",
            "content-language",
            "content-type",
            "expires",
        ];
        for (name, value) in request.headers() {
            if KEPT.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                self.headers.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// A look at an object of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// What it holds.
    pub bytes: Bytes,
    /// The headers that are given back with it, metadata among them; names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its ETag, with quotes.
    pub etag: String,
    /// Its generation, which is larger for every write to the server.
    pub generation: u64,
    /// Its version, where versions are kept.
    pub version: Option<String>,
    /// The digest of the customer's key that it is encrypted by.
    pub key_digest: Option<String>,
}

impl From<&Object> for Stored {
    fn from(object: &Object) -> Self {
        Self {
            bytes: object.bytes.clone(),
            headers: object.headers.clone(),
            etag: object.etag.clone(),
            generation: object.generation,
            version: object.version.clone(),
            key_digest: object.key_digest.clone(),
        }
    }
}

/// What a conditional read with a range comes to.
pub(crate) enum Found {
    /// The object, or the range of it.
    Answer(Answer),
    NotModified,
    Precondition,
    Range,
}

impl Found {
    /// Reads an object as `If-Match`, `If-None-Match` and the range say. The range may have a header of its own.
    pub(crate) fn read(request: &Request, object: &Object) -> Self {
        let fits =
            |list: &str| list.split(',').any(|etag| matches!(etag.trim(), "*") || same(etag, &object.etag));
        if request.header("if-match").is_some_and(|list| !fits(list)) {
            return Self::Precondition;
        }
        if request.header("if-none-match").is_some_and(fits) {
            return Self::NotModified;
        }
        let range = request.header("x-ms-range").or_else(|| request.header("range"));
        let size = object.bytes.len();
        let answer = match range.and_then(|range| parse_range(range, size)) {
            None => Answer::new(200).body(object.bytes.clone()),
            Some(None) => return Self::Range,
            Some(Some((start, end))) => Answer::new(206)
                .header("content-range", format!("bytes {start}-{}/{size}", end - 1))
                .body(object.bytes.slice(start..end)),
        };
        let answer = answer
            .header("accept-ranges", "bytes")
            .header("etag", &object.etag)
            .header("last-modified", http_date(object.modified));
        Self::Answer(if request.method == "HEAD" { answer.head() } else { answer })
    }
}

/// Tells whether two ETags are the same; some clients leave out the quotes.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.trim().trim_matches('"') == other.trim_matches('"')
}

/// The bytes of a range: nothing if it is not one to honour, `Some(None)` if it lies outside of the object.
fn parse_range(range: &str, size: usize) -> Option<Option<(usize, usize)>> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count: usize = last.parse().ok()?;
        return Some((count > 0 && size > 0).then(|| (size.saturating_sub(count), size)));
    }
    let start: usize = first.parse().ok()?;
    let end = if last.is_empty() { size } else { last.parse::<usize>().ok()?.checked_add(1)?.min(size) };
    Some((start < size && start < end).then_some((start, end)))
}

/// A moment as headers have it.
pub(crate) fn http_date(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}

/// A moment as XML and JSON have it, in milliseconds.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let whole = Timestamp::from_unix(seconds, 0).map(|time| time.to_string()).unwrap_or_default();
    format!("{}.{:03}Z", whole.trim_end_matches('Z'), since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{parse_range, rfc3339};

    #[test]
    fn ranges_are_read_as_http_has_them() {
        for (range, expected) in [
            ("bytes=0-4", Some(Some((0, 5)))),
            ("bytes=2-", Some(Some((2, 10)))),
            ("bytes=-3", Some(Some((7, 10)))),
            ("bytes=5-99", Some(Some((5, 10)))),
            ("bytes=10-", Some(None)),
            ("bytes=-0", Some(None)),
            ("bytes=4-2", Some(None)),
            ("lines=1-2", None),
            ("bytes=a-b", None),
        ] {
            assert_eq!(parse_range(range, 10), expected, "{range}");
        }
    }

    #[test]
    fn moments_have_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_042);
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.042Z");
    }
}
