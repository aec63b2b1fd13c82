//! What can be read of a truncated or damaged file, and a list of what cannot.
//!
//! Nothing is invented: every object of the result stands whole in the text, under the resource that it has there.
//! Where damage may hide that a resource ended and another began, what follows up to the next resource is given up.
//!
//! Where the text is no JSON, what writers never leave out counts as a sign of damage: `instances` of a resource and `schema_version` of an object.
//! In an indented file every bracket has to stand where its kind does; in a compact one, which only known releases
//! write, pieces with unknown members are given up. Two ends that happen to fit together cannot be told from a whole.

mod anchors;
mod assemble;
mod conflicts;
mod duplicates;
mod encoding;
mod entries;
mod lenient;
mod old;
mod pieces;
mod resource;
mod walk;

use std::ops::Range;

use groundstate_states::Serial;

use crate::decode::{DecodeOptions, decode};
use crate::encode::{EncodeError, EncodeOptions, encode};
use crate::file::File;
use crate::json::{SourcePos, SyntaxError, places};
use crate::problem::{Code, ReadError};
use assemble::assemble;
use conflicts::Conflicts;
use entries::fill;
use walk::Walk;

pub use duplicates::{Duplicate, DuplicateObject, duplicates, without_bad_serial, without_objects};
pub use encoding::from_utf16;

/// What was read of a file, and what was not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Salvaged {
    /// The state: valid, of the lineage that the file names. If anything was lost, its serial is one above that of the
    /// file, since it is not the snapshot which has that one.
    pub file: File,
    /// What was lost, in the order of the file; nothing if the file is whole.
    pub lost: Vec<Lost>,
    /// Number of merge conflicts in the file, as version control marks them.
    pub conflicts: usize,
}

/// A part of a file that is not in the salvaged state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The bytes; none at the end of a file that is cut off between two parts.
    pub range: Range<usize>,
    /// Where they begin.
    pub place: SourcePos,
    /// What they are, or are a part of, as far as that is known: the address of a resource or the name of a section.
    pub what: Option<String>,
    /// Why they are lost, without values of attributes or outputs.
    pub reason: String,
}

/// Why nothing was salvaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SalvageError {
    /// There is nothing of a state in it.
    #[error("nothing of a state can be read here; restore a backup or an older version")]
    Nothing,
    /// It is not damaged, but cannot be used for another reason.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// A loss before its place is worked out.
#[derive(Debug)]
struct Gap {
    range: Range<usize>,
    what: Option<String>,
    reason: String,
}

impl Salvaged {
    /// The new state as text.
    ///
    /// # Errors
    ///
    /// As [`encode`]; what the file cannot hold is already among the losses.
    pub fn to_vec(&self) -> Result<Vec<u8>, EncodeError> {
        encode(&self.file, &EncodeOptions::default().allow_loss(!self.lost.is_empty()))
    }
}

/// Reads what can be read of a file.
///
/// Of format 4 everything that is whole is kept, before and behind the damage; of older formats what comes before it,
/// without the entries that cannot be upgraded. Lines in front of the document and behind it are listed as lost.
///
/// A text in UTF-16 is read as [`from_utf16`] gives it, and losses are ranges of that. Of a file with merge conflicts both
/// sides are read: what is equal or on one side only is kept, the ancestor between them is not, and the serial is the higher
/// one.
///
/// ```
/// use groundstate_statefile::salvage;
///
/// let cut = br#"{"version": 4, "serial": 7, "lineage": "a", "resources": [
///     {"mode": "managed", "type": "null_resource", "name": "a", "provider": "provider[\"hashicorp/null\"]",
///      "instances": [{"index_key": 0, "schema_version": 1}, {"index_key": 1, "sche"#;
/// let salvaged = salvage(cut)?;
/// assert_eq!(salvaged.file.serial.get(), 8);
/// assert_eq!(salvaged.file.state.objects().count(), 1);
/// assert_eq!(salvaged.lost[0].what.as_deref(), Some("null_resource.a"));
/// # Ok::<(), groundstate_statefile::SalvageError>(())
/// ```
///
/// # Errors
///
/// [`SalvageError::Nothing`] if nothing of a state is there; [`SalvageError::Read`] for encrypted states and unknown
/// formats.
pub fn salvage(text: &[u8]) -> Result<Salvaged, SalvageError> {
    let converted = encoding::converted(text);
    let text = converted.as_deref().unwrap_or(text);
    let error = match decode(text, &DecodeOptions::default()) {
        Ok(file) => return Ok(Salvaged { file, lost: Vec::new(), conflicts: 0 }),
        Err(error) => error,
    };
    let hopeless = [Code::Encrypted, Code::BinaryFormat, Code::VersionUnsupported, Code::NotAnObject];
    if error.problems().iter().any(|problem| hopeless.contains(&problem.code)) {
        return Err(error.into());
    }
    if let Some(conflicts) = Conflicts::find(text) {
        let (file, gaps) = conflicts.salvage(text)?;
        return Ok(Salvaged { conflicts: conflicts.count, ..finish(text, file, gaps) });
    }
    let Some(noise) = encoding::noise(text) else {
        let (file, gaps) = damaged(text, error)?;
        return Ok(finish(text, file, gaps));
    };
    let (file, mut gaps) =
        match decode(text.get(noise.range.end..).unwrap_or_default(), &DecodeOptions::default()) {
            Ok(file) => (file, Vec::new()),
            Err(error) => {
                let mut body = text.to_vec();
                fill(&mut body, noise.range.clone());
                damaged(&body, error)?
            }
        };
    gaps.push(noise);
    Ok(finish(text, file, gaps))
}

/// Reads what is damaged itself.
fn damaged(text: &[u8], error: ReadError) -> Result<(File, Vec<Gap>), SalvageError> {
    let pieces = Walk::new(text).run();
    let version = pieces.version(text);
    let (file, mut gaps) = match version {
        Some(1..=3) => old::salvage(text)?,
        Some(4) | None if pieces.is_recognized() => assemble(text, pieces)?,
        Some(4) | None => return Err(SalvageError::Nothing),
        Some(_) => return Err(error.into()),
    };
    if version.is_none() {
        let reason = "there is no version that can be read; what was found looks like format 4".to_owned();
        gaps.push(Gap { range: 0..0, what: Some("version".to_owned()), reason });
    }
    Ok((file, gaps))
}

/// Gives the file its serial and the losses their places.
fn finish(text: &[u8], mut file: File, mut gaps: Vec<Gap>) -> Salvaged {
    gaps.sort_by_key(|gap| (gap.range.start, gap.range.end));
    if !gaps.is_empty() {
        // The last serial of all has no successor; writing the state reports it.
        file.serial = file.serial.next().unwrap_or(Serial::new(u64::MAX));
    }
    let starts: Vec<usize> = gaps.iter().map(|gap| gap.range.start).collect();
    let lost = gaps
        .into_iter()
        .zip(places(text, &starts))
        .map(|(Gap { range, what, reason }, place)| Lost { range, place, what, reason })
        .collect();
    Salvaged { file, lost, conflicts: 0 }
}

/// Says why reading stopped at a byte.
fn why(text: &[u8], offset: usize, why: SyntaxError) -> &'static str {
    match why {
        _ if text.get(offset) == Some(&0) => "NUL bytes, as a crash leaves them in a file",
        SyntaxError::End if offset >= text.len() => "the file ends before this does",
        SyntaxError::End => "another part begins before this one has ended",
        SyntaxError::Unexpected => "an unexpected character",
        SyntaxError::ControlInString => "a control character in a string",
        SyntaxError::Escape => "JSON has no such escape sequence",
        SyntaxError::TooDeep => "arrays and objects nest too deep in it",
        SyntaxError::Utf8 => "invalid UTF-8 in a string",
    }
}
