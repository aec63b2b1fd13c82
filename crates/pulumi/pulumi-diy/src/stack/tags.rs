//! The tags of a stack.

use std::collections::BTreeMap;

use bytes::Bytes;
use groundstate_blobs::{BlobVersion, ErrorKind as BlobKind, GetOptions, Precondition, PutOptions};
use groundstate_pulumi_snapshot::check_tag;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Stack;
use crate::{Error, ErrorKind, Guard, Op, Result, traced};

/// The only version of the file.
const VERSION: i64 = 1;

/// The tags of a stack, as they were read. What the file has beside them is kept.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    tags: BTreeMap<String, String>,
    extra: BTreeMap<String, Box<RawValue>>,
    version: Option<BlobVersion>,
}

#[derive(Serialize)]
struct File<'a> {
    version: i64,
    tags: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    extra: &'a BTreeMap<String, Box<RawValue>>,
}

/// The part of the file that is known.
#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    version: i64,
    #[serde(default)]
    tags: Option<BTreeMap<String, String>>,
}

impl Tags {
    /// All of them, by name.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.tags
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.tags.get(name).map(String::as_str)
    }

    /// Sets a tag. Those that are there already are not looked at.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for a name that is not one of 1 to 40 letters, digits, `-`, `_`, `.` and `:`, and for a value
    /// of more than 256 characters.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        check_tag(name, value).map_err(|error| {
            let failure = Error::new(ErrorKind::Invalid, Op::Tag, format_args!("tag {name:?}"));
            failure.because(error.to_string())
        })?;
        self.tags.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Removes a tag; `false` if there is none of this name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tags.remove(name).is_some()
    }

    /// Whether there is a tag of this name, of this value, or one that has both.
    pub(crate) fn matches(&self, name: Option<&str>, value: Option<&str>) -> bool {
        match (name, value) {
            (Some(name), value) => {
                self.get(name).is_some_and(|found| value.is_none_or(|value| found == value))
            }
            (None, Some(value)) => self.tags.values().any(|found| found == value),
            (None, None) => true,
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let known: Known = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if known.version != VERSION {
            return Err(format!("unsupported stack tags version: {} (expected {VERSION})", known.version));
        }
        let mut extra: BTreeMap<String, Box<RawValue>> =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        extra.retain(|name, _| !matches!(name.as_str(), "version" | "tags"));
        Ok(Self { tags: known.tags.unwrap_or_default(), extra, version: None })
    }
}

impl Stack {
    /// Reads the tags; none where there is no file.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) for a file that is damaged or of another version, and those of requests.
    pub async fn tags(&self) -> Result<Tags> {
        let key = self.tags_key(Op::Read)?;
        let place = self.backend().place(key.as_str());
        let got = self.backend().store().get(&key, &GetOptions::default()).await;
        let got = got.map_err(|error| Error::from_store(Op::Read, &place, error))?;
        let Some(blob) = got else { return Ok(Tags::default()) };
        let tags = Tags::parse(&blob.bytes)
            .map_err(|why| Error::new(ErrorKind::Corrupt, Op::Read, place).because(why))?;
        Ok(Tags { version: Some(blob.meta.version), ..tags })
    }

    /// Stores tags that were read before. Without any, the file is removed.
    ///
    /// # Errors
    ///
    /// [`Changed`](ErrorKind::Changed) if another process stored some since they were read, where the store has conditions;
    /// [`LockLost`](ErrorKind::LockLost); those of requests.
    pub async fn save_tags(&self, tags: &Tags, guard: &dyn Guard) -> Result<()> {
        traced::run(Op::Tag.as_str(), self, self.replace_tags(tags, guard)).await
    }

    async fn replace_tags(&self, tags: &Tags, guard: &dyn Guard) -> Result<()> {
        let key = self.tags_key(Op::Tag)?;
        let place = self.backend().place(key.as_str());
        let store = self.backend().store();
        let condition = Precondition::of(tags.version.as_ref());
        guard.check().await?;
        if tags.tags.is_empty() && tags.extra.is_empty() {
            let Precondition::Version(version) = &condition else { return Ok(()) };
            let deleted = store.delete(&key, &self.backend().deletion_of(version)).await;
            return deleted.map(drop).map_err(|error| self.tags_failed(place, error));
        }
        let condition = if store.capabilities().conditional_put { condition } else { Precondition::Any };
        let file = File { version: VERSION, tags: &tags.tags, extra: &tags.extra };
        let text = serde_json::to_vec(&file).map_err(|error| {
            Error::new(ErrorKind::Internal, Op::Tag, &place)
                .because("the tags have no text")
                .with_source(error)
        })?;
        let put = store.put(&key, Bytes::from(text), &PutOptions::expecting(condition)).await;
        put.map(drop).map_err(|error| self.tags_failed(place, error))
    }

    fn tags_key(&self, op: Op) -> Result<groundstate_blobs::Key> {
        let key = self.backend().layout().tags(self.checked(op)?);
        self.backend().key(op, &key)
    }

    fn tags_failed(&self, place: String, error: groundstate_blobs::Error) -> Error {
        if error.kind() == BlobKind::PreconditionFailed {
            let failure = Error::new(ErrorKind::Changed, Op::Tag, place).with_source(error);
            return failure.next_step("read the tags again, and repeat the change");
        }
        Error::from_store(Op::Tag, place, error)
    }
}
