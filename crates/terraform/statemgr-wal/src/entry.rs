//! The text of a journal beside a state: what it builds on, and its records.

use groundstate_statefile::{
    DecodeOptions, Dialect, EncodeError, EncodeOptions, File, ReadError, decode, encode,
};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, AddrError};
use groundstate_states::{Lineage, Serial};
use groundstate_wal::Record;
use serde::{Deserialize, Serialize};

use crate::change::Change;

const FORMAT: &str = "groundstate-state-journal";
const VERSION: u32 = 1;
/// The version of bases with a checkpoint, which older releases would lose.
const VERSION_WITH_CHECKPOINT: u32 = 2;

/// What an epoch builds on.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) line: BaseLine,
    /// The bytes that were stored, unless they were left out.
    pub(crate) state: Option<Vec<u8>>,
    /// The state of the run when the journal was compacted, as a change.
    pub(crate) checkpoint: Option<Record>,
}

/// The first line of a base.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct BaseLine {
    format: String,
    version: u32,
    /// The digest of the bytes that were stored.
    pub(crate) digest: String,
    pub(crate) lineage: String,
    pub(crate) serial: u64,
    /// The lock, its token and its holder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) lock: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fence: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) who: String,
    /// Whether the bytes follow.
    state: bool,
    /// How many bytes at the end are the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<u64>,
    /// The digests that were announced before the checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) writes: Vec<String>,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Change(Box<Change>),
    /// The ordinary object is about to become bytes of this digest.
    Writing(String),
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Change(ChangeLine),
    Writing { digest: String },
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct ChangeLine {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    checks: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
}

/// Why a text is no base or record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum EntryError {
    #[error("it has no line that says what it is")]
    NoLine,
    #[error("its first line is not what this program writes")]
    Line(#[source] serde_json::Error),
    #[error("it is a journal of another kind, or of a version that this release does not know")]
    Version,
    #[error("it is shorter than its first line says")]
    Short,
    #[error("the document in it is not a state")]
    Document(#[source] Box<ReadError>),
    #[error("an address in it is none")]
    Address(#[from] AddrError),
}

impl std::fmt::Debug for Base {
    /// Shows the size of the state only: states hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.as_ref().map(Vec::len);
        f.debug_struct("Base").field("line", &self.line).field("state", &state).finish()
    }
}

impl Base {
    /// The snapshot of this digest, lineage and serial.
    pub(crate) fn new(digest: &str, lineage: &Lineage, serial: Serial) -> Self {
        let line = BaseLine {
            format: FORMAT.to_owned(),
            version: VERSION,
            digest: digest.to_owned(),
            lineage: lineage.to_string(),
            serial: serial.get(),
            lock: String::new(),
            fence: None,
            who: String::new(),
            state: false,
            checkpoint: None,
            writes: Vec::new(),
        };
        Self { line, state: None, checkpoint: None }
    }

    /// Adds the bytes.
    pub(crate) fn with_state(mut self, state: Option<Vec<u8>>) -> Self {
        self.line.state = state.is_some();
        self.state = state;
        self
    }

    /// Adds the state of the run, and what was announced before.
    pub(crate) fn with_checkpoint(mut self, checkpoint: Record, writes: Vec<String>) -> Self {
        self.line.version = VERSION_WITH_CHECKPOINT;
        self.line.checkpoint = Some(checkpoint.as_bytes().len() as u64);
        self.line.writes = writes;
        self.checkpoint = Some(checkpoint);
        self
    }

    /// What the records of the epoch stand behind.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, EntryError> {
        let mut entries: Vec<Entry> = self.line.writes.iter().cloned().map(Entry::Writing).collect();
        entries.extend(self.checkpoint.as_ref().map(Entry::decode).transpose()?);
        Ok(entries)
    }

    pub(crate) fn encode(&self) -> Result<Record, serde_json::Error> {
        let mut text = serde_json::to_vec(&self.line)?;
        text.push(b'\n');
        text.extend_from_slice(self.state.as_deref().unwrap_or_default());
        text.extend_from_slice(self.checkpoint.as_ref().map(Record::as_bytes).unwrap_or_default());
        Ok(text.into())
    }

    pub(crate) fn decode(record: &Record) -> Result<Self, EntryError> {
        let (line, rest) = split(record)?;
        let line: BaseLine = serde_json::from_slice(line).map_err(EntryError::Line)?;
        let version = if line.checkpoint.is_some() { VERSION_WITH_CHECKPOINT } else { VERSION };
        if line.format != FORMAT || line.version != version {
            return Err(EntryError::Version);
        }
        let len = usize::try_from(line.checkpoint.unwrap_or(0)).map_err(|_| EntryError::Short)?;
        let at = rest.len().checked_sub(len).ok_or(EntryError::Short)?;
        let (state, checkpoint) = rest.split_at(at);
        let state = line.state.then(|| state.to_vec());
        let checkpoint = line.checkpoint.map(|_| Record::from(checkpoint));
        Ok(Self { line, state, checkpoint })
    }
}

impl Entry {
    pub(crate) fn encode(&self) -> Result<Record, EncodeError> {
        let (line, document) = match self {
            Self::Writing(digest) => (Line::Writing { digest: digest.clone() }, None),
            Self::Change(change) => {
                let line = ChangeLine {
                    removed: change.removed.iter().map(ToString::to_string).collect(),
                    resources: change.resources.iter().map(ToString::to_string).collect(),
                    outputs: change.outputs.iter().map(ToString::to_string).collect(),
                    checks: change.checks,
                    whole: change.whole,
                };
                // OpenTofu's format has a place for everything that Terraform's has.
                let mut file = File::new(Dialect::OpenTofu, Lineage::default());
                file.state = change.document.clone();
                (Line::Change(line), Some(encode(&file, &EncodeOptions::default().indented(false))?))
            }
        };
        let mut text = serde_json::to_vec(&line).map_err(std::io::Error::other)?;
        text.push(b'\n');
        text.extend(document.unwrap_or_default());
        Ok(text.into())
    }

    pub(crate) fn decode(record: &Record) -> Result<Self, EntryError> {
        let (line, rest) = split(record)?;
        let line = match serde_json::from_slice(line).map_err(EntryError::Line)? {
            Line::Writing { digest } => return Ok(Self::Writing(digest)),
            Line::Change(line) => line,
        };
        let file =
            decode(rest, &DecodeOptions::default()).map_err(|error| EntryError::Document(Box::new(error)))?;
        let parse = |text: &String| AbsResourceInstance::parse(text);
        Ok(Self::Change(Box::new(Change {
            document: file.state,
            removed: line.removed.iter().map(parse).collect::<Result<_, _>>()?,
            resources: line
                .resources
                .iter()
                .map(|text| AbsResource::parse(text))
                .collect::<Result<_, _>>()?,
            outputs: line.outputs.iter().map(|name| name.as_str().into()).collect(),
            checks: line.checks,
            whole: line.whole,
        })))
    }
}

/// The first line, and what follows it.
fn split(record: &Record) -> Result<(&[u8], &[u8]), EntryError> {
    let bytes = record.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'\n').ok_or(EntryError::NoLine)?;
    Ok((&bytes[..at], &bytes[at + 1..]))
}
