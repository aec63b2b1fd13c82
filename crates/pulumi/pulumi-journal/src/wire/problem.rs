//! What can be wrong with the text of a journal, each with a stable code and a place.

use std::fmt;

use groundstate_json::{Coded, SourcePos};
use groundstate_pulumi_deployment::Code as PartCode;

/// What is wrong, as a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// Not JSON.
    Syntax = 1,
    /// Neither entries one after the other, nor a list of them, nor an object that has one.
    NotEntries = 2,
    /// The version of an entry is not one that is known.
    Version = 3,
    /// A member has a value of the wrong type.
    WrongType = 11,
    /// A time is not written as RFC 3339 has it.
    Time = 12,
    /// Bytes are not written in base64.
    Base64 = 13,
    /// The version of a plugin is not a version.
    PluginVersion = 14,
    /// An entry has no kind, or no number.
    Missing = 21,
    /// A member appears more than once.
    Repeated = 22,
    /// Two members say which state is meant.
    TwoTargets = 23,
    /// Something would be lost on writing the entry again.
    Loss = 24,
}

impl Code {
    /// The printed form, `GS0701` for [`Code::Syntax`].
    pub fn id(self) -> String {
        format!("GS{:04}", 700 + self as u16)
    }

    /// A few words that name the problem.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Syntax | Self::NotEntries => "not a journal",
            Self::Version => "unsupported version of a journal entry",
            Self::WrongType => "invalid journal entry",
            Self::Time => "invalid time in a journal entry",
            Self::Base64 => "invalid bytes in a journal entry",
            Self::PluginVersion => "invalid plugin version in a journal entry",
            Self::Missing => "incomplete journal entry",
            Self::Repeated | Self::TwoTargets => "ambiguous journal entry",
            Self::Loss => "journal entry that cannot be kept",
        }
    }
}

impl From<PartCode> for Code {
    fn from(code: PartCode) -> Self {
        match code {
            PartCode::Syntax => Self::Syntax,
            PartCode::Time => Self::Time,
            PartCode::Base64 => Self::Base64,
            PartCode::PluginVersion => Self::PluginVersion,
            _ => Self::WrongType,
        }
    }
}

/// One thing that is wrong with a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Which kind of problem.
    pub code: Code,
    /// What exactly is wrong and what to do, without values of inputs or outputs.
    pub detail: String,
    /// Name of the resource it belongs to, if there is one.
    pub urn: Option<String>,
    /// The entry it stands in, counted from 0 in the order of the text.
    pub entry: usize,
    /// Where it stands. The path begins at the list of entries, as in `[3].state.urn`.
    pub place: SourcePos,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.summary(), self.detail)?;
        if let Some(urn) = &self.urn {
            write!(f, " [{urn}]")?;
        }
        write!(f, " at {}", self.place)
    }
}

impl Coded for Problem {
    type Code = Code;

    fn code(&self) -> Code {
        self.code
    }
}

/// All that is wrong with a journal.
pub type Problems = groundstate_json::Problems<Problem>;

/// Why the text of a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unusable journal: {0}")]
pub struct DecodeError(pub Problems);

impl DecodeError {
    /// What is wrong.
    pub fn problems(&self) -> &[Problem] {
        self.0.as_slice()
    }
}

/// A problem before its place is worked out.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) code: Code,
    pub(super) detail: String,
    pub(super) urn: Option<String>,
    pub(super) offset: usize,
}

/// Gives problems their places. `starts` are the offsets at which entries begin.
pub(super) fn placed(
    text: &[u8],
    starts: &[usize],
    prefix: &str,
    mut found: Vec<Found>,
) -> Option<DecodeError> {
    found.sort_by_key(|found| found.offset);
    let problems = found.into_iter().map(|f| {
        let entry = starts.partition_point(|start| *start <= f.offset).saturating_sub(1);
        let place = place(text, starts.get(entry).copied(), prefix, entry, f.offset);
        Problem { code: f.code, detail: f.detail, urn: f.urn, entry, place }
    });
    Problems::new(problems.collect()).map(DecodeError)
}

/// Entries may stand one after the other, so the path is looked for inside of one.
fn place(text: &[u8], start: Option<usize>, prefix: &str, entry: usize, offset: usize) -> SourcePos {
    let Some(start) = start.filter(|start| *start <= offset) else { return SourcePos::of(text, offset) };
    let inner = SourcePos::of(text.get(start..).unwrap_or_default(), offset - start);
    let before = text.get(..start).unwrap_or_default();
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let columns = String::from_utf8_lossy(before.get(line_start..).unwrap_or_default()).chars().count();
    let mut place = inner;
    if place.line == 1 {
        place.column += columns;
    }
    place.line += lines;
    place.offset = offset;
    let dot = if place.path.is_empty() || place.path.starts_with('[') { "" } else { "." };
    place.path = format!("{prefix}[{entry}]{dot}{}", place.path);
    place
}
