//! Dates as HTTP and the services write them.

use groundstate_common::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An instant in RFC 3339, as in most lists, or in the form of HTTP headers; `None` for anything else.
pub(crate) fn timestamp(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).ok().or_else(|| http_date(text))
}

/// `Sat, 21 Nov 2026 00:32:24 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let (time, zone) = (parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    (zone == "GMT").then(|| Timestamp::parse(&format!("{year}-{month:02}-{day:0>2}T{time}Z")).ok())?
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
