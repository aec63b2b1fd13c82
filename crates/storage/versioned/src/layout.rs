//! The keys of a store of documents.
//!
//! - `heads/NAME!.json`: the head of a document.
//! - `data/NAME!/versions/NUMBER.ID.PREVIOUS.UPLOAD`: the record of a version, `-` where there is no previous one or no upload.
//! - `data/NAME!/parts/UPLOAD/NUMBER`: a part of a content.
//! - `lost/NAME!.json.ID`: a damaged head that was replaced.

use crate::ids::{AttemptId, UploadId, VersionId};
use crate::name::{Name, escape};
use crate::version::Version;

pub(crate) const HEADS: &str = "heads/";
pub(crate) const DATA: &str = "data/";
const LOST: &str = "lost/";
/// What ends the name of a head. It sorts before everything that may continue a name.
const HEAD_END: &str = "!.json";
/// What ends the name in the keys of a document's data.
const NAME_END: &str = "!/";
const VERSIONS: &str = "versions/";
const PARTS: &str = "parts/";
/// Digits of the number of a version in keys.
const DIGITS: usize = 12;
/// The largest number that has a key.
pub(crate) const LAST_NUMBER: u64 = 999_999_999_999;
/// How many versions share all digits but the last two, by which they are listed.
pub(crate) const BLOCK: u64 = 100;
/// Digits of the number of a part in keys.
const PART_DIGITS: usize = 6;

/// What the key of a record says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordKey {
    pub(crate) number: u64,
    pub(crate) id: VersionId,
    /// The version before. It is the true one even where this record is of a version that was never accepted.
    pub(crate) previous: Option<VersionId>,
    pub(crate) upload: Option<UploadId>,
}

impl RecordKey {
    pub(crate) fn of(version: &Version) -> Self {
        let Version { number, id, previous, upload, .. } = version;
        Self { number: *number, id: id.clone(), previous: previous.clone(), upload: upload.clone() }
    }

    fn file_name(&self) -> String {
        let previous = self.previous.as_ref().map_or("-", VersionId::as_str);
        let upload = self.upload.as_ref().map_or("-", UploadId::as_str);
        format!("{:0DIGITS$}.{}.{previous}.{upload}", self.number, self.id)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut next = || parts.next();
        let (number, id, previous, upload) = (next()?, next()?, next()?, next()?);
        let is_number = number.len() == DIGITS
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && number.parse() != Ok(0);
        if next().is_some() || !is_number {
            return None;
        }
        Some(Self {
            number: number.parse().ok()?,
            id: VersionId::parse(id).ok()?,
            previous: (previous != "-")
                .then(|| VersionId::parse(previous).ok())
                .map_or(Some(None), |id| id.map(Some))?,
            upload: (upload != "-")
                .then(|| UploadId::parse(upload).ok())
                .map_or(Some(None), |id| id.map(Some))?,
        })
    }
}

/// What a key below the data of a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataKey {
    Record(RecordKey),
    Part(UploadId),
}

/// The keys of one document.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    head: String,
    data: String,
    lost: String,
}

impl Layout {
    pub(crate) fn new(root: &str, name: &Name) -> Self {
        let escaped = name.escaped();
        Self {
            head: format!("{root}{HEADS}{escaped}{HEAD_END}"),
            data: format!("{root}{DATA}{escaped}{NAME_END}"),
            lost: format!("{root}{LOST}{escaped}{HEAD_END}"),
        }
    }

    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    /// The key under which a damaged head is kept that was replaced.
    pub(crate) fn lost_head(&self, replaced_by: &AttemptId) -> String {
        format!("{}.{replaced_by}", self.lost)
    }

    /// What all keys of the document's data begin with.
    pub(crate) fn data(&self) -> &str {
        &self.data
    }

    pub(crate) fn record(&self, record: &RecordKey) -> String {
        format!("{}{VERSIONS}{}", self.data, record.file_name())
    }

    /// What the keys of the records of a block of versions begin with.
    pub(crate) fn block(&self, block: u64) -> String {
        let digits = DIGITS - 2;
        format!("{}{VERSIONS}{block:0digits$}", self.data)
    }

    pub(crate) fn part(&self, upload: &UploadId, index: usize) -> String {
        format!("{}{PARTS}{upload}/{index:0PART_DIGITS$}", self.data)
    }

    /// What a key of the document's data is; none for a key that this layout does not write.
    pub(crate) fn parse(&self, key: &str) -> Option<DataKey> {
        let rest = key.strip_prefix(&self.data)?;
        if let Some(record) = rest.strip_prefix(VERSIONS) {
            return RecordKey::parse(record).map(DataKey::Record);
        }
        let (upload, index) = rest.strip_prefix(PARTS)?.split_once('/')?;
        let is_index = index.len() == PART_DIGITS && index.bytes().all(|byte| byte.is_ascii_digit());
        is_index.then(|| UploadId::parse(upload).ok().map(DataKey::Part))?
    }
}

/// What the keys of heads begin with whose names begin with `prefix`.
pub(crate) fn heads(root: &str, prefix: &str) -> String {
    format!("{root}{HEADS}{}", escape(prefix))
}

/// The document whose data has this key.
pub(crate) fn name_of_data(root: &str, key: &str) -> Option<Name> {
    let rest = key.strip_prefix(root)?.strip_prefix(DATA)?;
    Name::unescape(rest.split_once(NAME_END)?.0)
}

/// The document whose head has this key.
pub(crate) fn name_of_head(root: &str, key: &str) -> Option<Name> {
    Name::unescape(key.strip_prefix(root)?.strip_prefix(HEADS)?.strip_suffix(HEAD_END)?)
}
