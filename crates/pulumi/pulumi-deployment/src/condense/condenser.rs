//! Which values of a resource are left out.

use groundstate_json::{Cursor, Extremes, Stop};
use groundstate_pulumi_snapshot::Properties;
use memchr::memmem::Finder;

use crate::property::{MAX_DEPTH, SIGNATURE};
use crate::reader::raw_json;

/// Levels that values may have without being looked at; those that Pulumi loads may have a few more.
const SAFE_LEVELS: usize = MAX_DEPTH / 2;

/// Tells the values that surely can be loaded from others.
#[derive(Debug)]
pub(crate) struct Condenser {
    signature: Finder<'static>,
    escape: Finder<'static>,
}

impl Condenser {
    pub(crate) fn new() -> Self {
        Self { signature: Finder::new(SIGNATURE), escape: Finder::new("\\u00") }
    }

    /// Reads an object of which only doubtful members are kept. The cursor is before its brace.
    pub(crate) fn properties(&self, cursor: &mut Cursor<'_>) -> Result<Properties, Stop> {
        let before = cursor.clone();
        let extremes = cursor.skip_measured()?;
        let raw = cursor.since(before.offset());
        if self.is_loadable(raw, extremes) {
            return Ok(Properties::default());
        }
        let doubtful = self.doubtful(before)?;
        Ok(Properties::Raw(raw_json(doubtful.as_deref().unwrap_or(raw))))
    }

    /// An object of the members of which it is not sure that they can be loaded; nothing if they cannot be told from others.
    fn doubtful(&self, mut cursor: Cursor<'_>) -> Result<Option<Vec<u8>>, Stop> {
        let (mut out, mut kept, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            if name.escaped {
                return Ok(None);
            }
            let start = cursor.offset();
            let extremes = cursor.skip_measured()?;
            if self.is_loadable(cursor.since(name.offset), extremes) {
                left_out.push(name.raw);
                continue;
            }
            kept.push(name.raw);
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.push(b'"');
            out.extend_from_slice(name.raw);
            out.extend_from_slice(b"\":");
            out.extend_from_slice(cursor.since(start));
        }
        // Of two members of one name the last counts, so none of them can be left out alone.
        if kept.is_empty() || has_common(&mut kept, &left_out) {
            return Ok(None);
        }
        out.push(b'}');
        Ok(Some(out))
    }

    /// Whether there is nothing in a text that can keep a value from being loaded: no signature, nothing that nests deep,
    /// and no number that may be beyond the range of a double.
    fn is_loadable(&self, raw: &[u8], extremes: Extremes) -> bool {
        extremes.levels <= SAFE_LEVELS
            && !extremes.large_number
            && self.signature.find(raw).is_none()
            && !self.has_escaped_digit(raw)
    }

    /// Whether a character is escaped that can be in a signature: signatures are hexadecimal, and escapes can hide one.
    fn has_escaped_digit(&self, raw: &[u8]) -> bool {
        let is_digit =
            |at: usize| matches!(raw.get(at + 4..at + 6), Some([b'3', b'0'..=b'9'] | [b'6', b'1'..=b'6']));
        self.escape.find_iter(raw).any(is_digit)
    }
}

fn has_common(some: &mut [&[u8]], others: &[&[u8]]) -> bool {
    some.sort_unstable();
    others.iter().any(|name| some.binary_search(name).is_ok())
}
