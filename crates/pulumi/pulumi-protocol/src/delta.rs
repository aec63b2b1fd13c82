//! Differences of checkpoints: edits by byte offsets, and the hash of the result.

use std::fmt;
use std::ops::Range;

use groundstate_common::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::lenient::or_default;

/// One edit: the bytes from `start` to `end` of the old text become `text`. Its `Debug` does not show the text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// The first byte that is replaced.
    pub start: u64,
    /// The byte behind the last one that is replaced. Equal to `start` if the text is inserted.
    pub end: u64,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// An edit of these bytes.
    pub fn new(range: Range<u64>, text: impl Into<String>) -> Self {
        Self { start: range.start, end: range.end, text: text.into() }
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edit({}..{}, {} bytes)", self.start, self.end, self.text.len())
    }
}

/// The form in documents. Lines and columns are always 1.
#[derive(Serialize, Deserialize)]
struct WireEdit {
    #[serde(rename = "Span", default, deserialize_with = "or_default")]
    span: WireSpan,
    #[serde(rename = "NewText", default, deserialize_with = "or_default")]
    new_text: String,
}

/// What is written of an edit, without a copy of its text.
#[derive(Serialize)]
struct WireEditRef<'a> {
    #[serde(rename = "Span")]
    span: WireSpan,
    #[serde(rename = "NewText")]
    new_text: &'a str,
}

#[derive(Default, Serialize, Deserialize)]
struct WireSpan {
    #[serde(default, deserialize_with = "or_default")]
    uri: String,
    #[serde(default, deserialize_with = "or_default")]
    start: WirePoint,
    #[serde(default, deserialize_with = "or_default")]
    end: WirePoint,
}

#[derive(Default, Serialize, Deserialize)]
struct WirePoint {
    #[serde(default, deserialize_with = "or_default")]
    line: i64,
    #[serde(default, deserialize_with = "or_default")]
    column: i64,
    #[serde(default, deserialize_with = "or_default")]
    offset: u64,
}

impl WirePoint {
    fn at(offset: u64) -> Self {
        Self { line: 1, column: 1, offset }
    }
}

impl Serialize for Edit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let span =
            WireSpan { uri: String::new(), start: WirePoint::at(self.start), end: WirePoint::at(self.end) };
        WireEditRef { span, new_text: &self.text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Edit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let edit = WireEdit::deserialize(deserializer)?;
        Ok(Self { start: edit.span.start.offset, end: edit.span.end.offset, text: edit.new_text })
    }
}

/// Why a difference cannot be applied. Edits are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// An edit ends before it begins.
    #[error("edit {edit} ends at byte {end}, before it begins at byte {start}")]
    Reversed {
        /// Which edit.
        edit: usize,
        /// Where it begins.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// An edit begins before the end of the one before it.
    #[error("edit {edit} begins at byte {start}, before the end of the one before it at byte {previous_end}")]
    Overlap {
        /// Which edit.
        edit: usize,
        /// Where it begins.
        start: u64,
        /// Where the one before it ends.
        previous_end: u64,
    },
    /// An edit ends behind the old text.
    #[error("edit {edit} ends at byte {end}, behind the old text of {length} bytes")]
    OutOfRange {
        /// Which edit.
        edit: usize,
        /// Where it ends.
        end: u64,
        /// How long the old text is.
        length: usize,
    },
    /// An edit begins or ends inside a character.
    #[error("edit {edit} would split a character of the old text at byte {offset}")]
    SplitCharacter {
        /// Which edit.
        edit: usize,
        /// Where it would split one.
        offset: usize,
    },
    /// The new text would be too long.
    #[error("the new text would have more than {limit} bytes")]
    TooLong {
        /// The limit that the caller gave.
        limit: usize,
    },
    /// The new text is not the one that the client has.
    #[error("the SHA-256 of the new text is {found}, not {expected:?}")]
    Hash {
        /// The hash that the client sent, cut to the length of one.
        expected: String,
        /// The hash of the text.
        found: String,
    },
}

/// Applies edits to the old text, all of whose offsets refer to it.
///
/// Edits ascend, do not overlap, stay in the text, and split no UTF-8 sequence. An insertion may be where the edit before it ends. The
/// new text has at most `limit` bytes; no memory is taken for a longer one.
///
/// ```
/// use groundstate_pulumi_protocol::{Edit, apply_delta};
///
/// let new = apply_delta("a café".as_bytes(), &[Edit::new(0..1, "the"), Edit::new(7..7, "s")], 100)?;
/// assert_eq!(new, "the cafés".as_bytes());
/// # Ok::<(), groundstate_pulumi_protocol::DeltaError>(())
/// ```
///
/// # Errors
///
/// The first edit that breaks a rule, and [`DeltaError::TooLong`].
pub fn apply_delta(old: &[u8], edits: &[Edit], limit: usize) -> Result<Vec<u8>, DeltaError> {
    let ranges = check(old, edits)?;
    let removed: usize = ranges.iter().map(Range::len).sum();
    let added = edits.iter().try_fold(0_usize, |sum, edit| sum.checked_add(edit.text.len()));
    // Checked ranges lie side by side in the old text, so that what they remove is no more than it has.
    let length = added.and_then(|added| (old.len() - removed).checked_add(added));
    let length = length.filter(|length| *length <= limit).ok_or(DeltaError::TooLong { limit })?;
    let mut new = Vec::with_capacity(length);
    let mut rest = 0;
    for (range, edit) in ranges.into_iter().zip(edits) {
        new.extend_from_slice(&old[rest..range.start]);
        new.extend_from_slice(edit.text.as_bytes());
        rest = range.end;
    }
    new.extend_from_slice(&old[rest..]);
    Ok(new)
}

fn check(old: &[u8], edits: &[Edit]) -> Result<Vec<Range<usize>>, DeltaError> {
    let mut previous_end = 0;
    let checked = edits.iter().enumerate().map(|(edit, &Edit { start, end, .. })| {
        if end < start {
            return Err(DeltaError::Reversed { edit, start, end });
        }
        if start < previous_end {
            return Err(DeltaError::Overlap { edit, start, previous_end });
        }
        let out_of_range = DeltaError::OutOfRange { edit, end, length: old.len() };
        let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
            return Err(out_of_range);
        };
        if to > old.len() {
            return Err(out_of_range);
        }
        if let Some(offset) = [from, to].into_iter().find(|offset| splits_character(old, *offset)) {
            return Err(DeltaError::SplitCharacter { edit, offset });
        }
        previous_end = end;
        Ok(from..to)
    });
    checked.collect()
}

/// Whether the byte continues a UTF-8 sequence.
fn splits_character(text: &[u8], offset: usize) -> bool {
    text.get(offset).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
}

/// The SHA-256 of a text, in lower-case hexadecimal digits.
pub fn sha256(text: &[u8]) -> String {
    hex(&Sha256::digest(text))
}

/// Verifies that a text has the SHA-256 that the client sent in lower-case hexadecimal digits.
///
/// # Errors
///
/// [`DeltaError::Hash`]
pub fn verify_sha256(text: &[u8], expected: &str) -> Result<(), DeltaError> {
    let found = sha256(text);
    if found == expected {
        return Ok(());
    }
    Err(DeltaError::Hash { expected: expected.chars().take(found.len()).collect(), found })
}
