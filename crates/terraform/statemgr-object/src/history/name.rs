//! The names of entries: when a snapshot was kept, its serial, its digest and its lineage, so that a list needs no reads.

use std::fmt;

use groundstate_common::{Timestamp, hex};
use groundstate_states::{Lineage, Serial};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// Behind each name, so that no other program takes an entry for a state.
const SUFFIX: &str = ".snapshot";

/// The longest lineage, as it is spelt in a name, that goes into one. Terraform's have 36 bytes; keys of S3 and Google may
/// have 1,024 in all.
const LONGEST_LINEAGE: usize = 200;

/// What is told of a snapshot by its name alone: `TIME_SERIAL_DIGEST_LINEAGE.snapshot`.
///
/// Serial and lineage are empty where a document has none that can be read. Times are in UTC and of fixed width, so names
/// sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryName {
    /// When the snapshot was kept.
    pub(crate) kept_at: Timestamp,
    pub(crate) serial: Option<Serial>,
    pub(crate) digest: Digest,
    pub(crate) lineage: Option<Lineage>,
}

/// The first half of a snapshot's SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest(String);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)[..16]))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 32 && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }
}

/// The two members at the top of a document that names carry; envelopes of encrypted states have them as well.
#[derive(Default, Deserialize)]
struct Head {
    serial: Option<u64>,
    lineage: Option<String>,
}

impl EntryName {
    /// The name of a snapshot that is kept at `kept_at`.
    pub(crate) fn of(bytes: &[u8], kept_at: Timestamp) -> Self {
        let head: Head = serde_json::from_slice(bytes).unwrap_or_default();
        Self {
            kept_at,
            serial: head.serial.map(Serial::new),
            digest: Digest::of(bytes),
            lineage: head
                .lineage
                .filter(|text| spell(text).len() <= LONGEST_LINEAGE)
                .map(|text| Lineage::new(&text)),
        }
    }

    /// Reads a name; nothing where it is none of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_suffix(SUFFIX)?.splitn(4, '_');
        let (time, serial, digest, lineage) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let serial = match serial {
            "" => None,
            digits => Some(Serial::new(digits.parse().ok()?)),
        };
        let lineage = unspell(lineage)?;
        let lineage = (!lineage.is_empty()).then(|| Lineage::new(&lineage));
        let name = Self { kept_at: parse_time(time)?, serial, digest: Digest::parse(digest)?, lineage };
        // One spelling for one entry, so that ids can be compared as texts.
        (name.to_string() == text).then_some(name)
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept_at, serial, digest: Digest(digest), lineage } = self;
        let serial = serial.map(|serial| serial.to_string()).unwrap_or_default();
        let lineage = lineage.as_ref().map(|lineage| spell(lineage.as_str())).unwrap_or_default();
        write!(f, "{}_{serial}_{digest}_{lineage}{SUFFIX}", show_time(*kept_at))
    }
}

/// The time without separators and with all nine digits of its fraction: `20261121T201500.000000001Z`.
fn show_time(time: Timestamp) -> String {
    let whole = Timestamp::from_unix(time.seconds(), 0).unwrap_or(time).to_string();
    let digits: String = whole.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("{digits}.{:09}Z", time.nanos())
}

fn parse_time(text: &str) -> Option<Timestamp> {
    if text.len() != 26 || !text.is_ascii() {
        return None;
    }
    let (year, month, day) = (&text[..4], &text[4..6], &text[6..8]);
    let (hour, minute, rest) = (&text[9..11], &text[11..13], &text[13..]);
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{rest}")).ok()
}

/// The text with letters, digits, `-` and `.` as they are, and all else as `=` and two digits for each byte.
fn spell(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => spelt.push(char::from(byte)),
            byte => spelt.push_str(&format!("={byte:02x}")),
        }
    }
    spelt
}

fn unspell(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'=' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_name_tells_time_serial_digest_and_lineage() {
        let state = br#"{"version":4,"serial":42,"lineage":"3f1c-a","outputs":{},"resources":[]}"#;
        let name = EntryName::of(state, at("2026-11-21T20:15:00.5Z"));
        let text = name.to_string();
        assert!(text.starts_with("20261121T201500.500000000Z_42_"), "{text}");
        assert!(text.ends_with("_3f1c-a.snapshot"), "{text}");
        assert_eq!(EntryName::parse(&text), Some(name));
    }

    #[test]
    fn names_sort_by_time() {
        let times = [
            "2026-11-21T20:15:00Z",
            "2026-11-21T20:15:00.000000001Z",
            "2026-11-21T20:15:00.1Z",
            "2027-01-01T00:00:00Z",
        ];
        let names: Vec<String> =
            times.iter().map(|time| EntryName::of(b"{}", at(time)).to_string()).collect();
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn anything_that_is_stored_has_a_name() {
        let long = format!(r#"{{"serial":1,"lineage":"{}"}}"#, "é".repeat(500));
        let rows: [(&[u8], Option<u64>, Option<&str>); 7] = [
            (b"not JSON", None, None),
            (b"[1]", None, None),
            (b"{}", None, None),
            (br#"{"serial":"7","lineage":"a"}"#, None, None),
            (
                br#"{"lineage":"a/b_c=d%\u00e9 \n","serial":18446744073709551615}"#,
                Some(u64::MAX),
                Some("a/b_c=d%é \n"),
            ),
            (br#"{"encrypted_data":"x","serial":3,"lineage":"l","meta":{}}"#, Some(3), Some("l")),
            (long.as_bytes(), Some(1), None),
        ];
        for (bytes, serial, lineage) in rows {
            let name = EntryName::of(bytes, at("2026-11-21T20:15:00Z"));
            assert_eq!(name.serial.map(Serial::get), serial);
            assert_eq!(name.lineage.as_ref().map(Lineage::as_str), lineage);
            let text = name.to_string();
            assert!(
                text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b'%'),
                "{text}"
            );
            assert!(text.len() < 320, "{text}");
            assert_eq!(EntryName::parse(&text), Some(name));
        }
    }

    #[test]
    fn other_names_are_none_of_ours() {
        let ours = EntryName::of(br#"{"serial":7,"lineage":"a"}"#, at("2026-11-21T20:15:00Z")).to_string();
        let others = [
            String::new(),
            "default.tfstate".to_owned(),
            ours.replace(SUFFIX, ""),
            ours.replace("_7_", "_07_"),
            ours.replace("_7_", "_+7_"),
            ours.replace("_a.", "_=61."),
            ours.replace("_a.", "_=."),
            ours.replace("_a.", "_=ff."),
            ours.replacen("2026", "20é", 1),
            ours.replacen("T20", "x20", 1),
            ours.replacen("1121", "1331", 1),
            ours.to_uppercase(),
        ];
        for other in others {
            assert_eq!(EntryName::parse(&other), None, "{other}");
        }
    }
}
