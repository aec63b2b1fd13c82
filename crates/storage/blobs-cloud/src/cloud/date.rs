//! Dates as HTTP and the services write them.

use std::time::UNIX_EPOCH;

use groundstate_common::Timestamp;

/// An instant in RFC 3339, as in most lists, or in the form of HTTP headers; `None` for anything else.
pub(crate) fn timestamp(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).ok().or_else(|| http_date(text))
}

/// `Sat, 21 Nov 2026 00:32:24 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_unix(since.as_secs().try_into().ok()?, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn both_forms_are_read_and_nothing_else() {
        for text in ["Sat, 21 Nov 2026 00:32:24 GMT", "2026-11-21T00:32:24Z", "2026-11-21T00:32:24.000Z"] {
            assert_eq!(timestamp(text).unwrap().to_string(), "2026-11-21T00:32:24Z", "{text}");
        }
        for text in ["", "Sat, 21 Foo 2026 00:32:24 GMT", "Sat, 21 Nov 2026 00:32:24 CET", "yesterday"] {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }
}
