//! What is known of a version, and its JSON.

use std::fmt;
use std::sync::Arc;

use groundstate_common::Timestamp;
use groundstate_json::RawJson;
use serde_json::value::RawValue;

use crate::digest::{Md5, Sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{UploadId, VersionId};
use crate::op::Op;
use crate::wire::{self, Extra, members};

/// A JSON value that a caller keeps with a version, such as what lists show of it: at most 16 KiB of compact text.
///
/// ```
/// use groundstate_versioned::Note;
///
/// let note = Note::parse(r#"{ "serial": 12345678901234567890 }"#)?;
/// assert_eq!(note.as_str(), r#"{"serial":12345678901234567890}"#);
/// # Ok::<(), groundstate_versioned::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Note(Arc<str>);

impl Note {
    /// The longest note in bytes.
    pub const LONGEST: usize = 16 << 10;

    /// Checks that a text is one JSON value, and takes out its white space; everything else stays as it is written.
    ///
    /// # Errors
    ///
    /// `Invalid` for another text, `TooLarge`.
    pub fn parse(text: &str) -> Result<Self> {
        let json = RawJson::parse_as_written(text)
            .map_err(|error| Error::new(ErrorKind::Invalid, Op::Write, "a note").with_source(error))?;
        if json.as_str().len() > Self::LONGEST {
            let error = Error::new(ErrorKind::TooLarge, Op::Write, "a note");
            return Err(error.because("it is longer than 16 KiB"));
        }
        Ok(Self(json.as_str().into()))
    }

    /// The JSON text, compact.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Note {
    /// Shows the size only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Note({} bytes)", self.0.len())
    }
}

/// An accepted version of a document: a content, or a deletion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Version {
    /// Its number. The first version of a document has 1, each further one the next number, deletions too.
    pub number: u64,
    /// Its id, which no other version has.
    pub id: VersionId,
    /// The id of the version before.
    pub previous: Option<VersionId>,
    /// When it was written, by the clock of its writer.
    pub time: Timestamp,
    /// Who wrote it, as the caller says.
    pub by: String,
    /// Whether it is a deletion, which has no content.
    pub deleted: bool,
    /// The size of the content in bytes.
    pub size: u64,
    /// The SHA-256 of the content.
    pub sha256: Sha256,
    /// The MD5 of the content.
    pub md5: Md5,
    /// The id of the lock under which it was written.
    pub lock: Option<String>,
    /// The fencing token of that lock.
    pub token: Option<u64>,
    /// The number of the version whose content it has again.
    pub restored: Option<u64>,
    /// What the caller keeps with it.
    pub note: Option<Note>,
    pub(crate) upload: Option<UploadId>,
    pub(crate) extra: Extra,
}

members! {
    struct Wire {
        number: u64,
        id: VersionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous: Option<VersionId>,
        time: Timestamp,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
        #[serde(default, skip_serializing_if = "is_false")]
        deleted: bool,
        size: u64,
        sha256: Sha256,
        md5: Md5,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upload: Option<UploadId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lock: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restored: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Box<RawValue>>,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Version {
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let (wire, extra) = wire::read::<Wire>(text).map_err(|error| error.to_string())?;
        let note =
            wire.note.map(|note| Note::parse(note.get())).transpose().map_err(|error| error.to_string())?;
        if wire.number == 0 || wire.number > crate::layout::LAST_NUMBER {
            return Err(format!("a version has the number {}", wire.number));
        }
        Ok(Self {
            number: wire.number,
            id: wire.id,
            previous: wire.previous,
            time: wire.time,
            by: wire.by,
            deleted: wire.deleted,
            size: wire.size,
            sha256: wire.sha256,
            md5: wire.md5,
            lock: wire.lock,
            token: wire.token,
            restored: wire.restored,
            note,
            upload: wire.upload,
            extra,
        })
    }

    pub(crate) fn write(&self) -> serde_json::Result<Box<RawValue>> {
        let note =
            self.note.as_ref().map(|note| RawValue::from_string(note.as_str().to_owned())).transpose()?;
        let wire = Wire {
            number: self.number,
            id: self.id.clone(),
            previous: self.previous.clone(),
            time: self.time,
            by: self.by.clone(),
            deleted: self.deleted,
            size: self.size,
            sha256: self.sha256,
            md5: self.md5,
            upload: self.upload.clone(),
            lock: self.lock.clone(),
            token: self.token,
            restored: self.restored,
            note,
        };
        wire::write(&wire, &self.extra)
    }
}
