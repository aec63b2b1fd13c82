//! Where a log is, and the names of its objects.

use std::fmt;
use std::sync::Arc;

use groundstate_blobs::{
    Blob, BlobStore, BlobVersion, DeleteOptions, Error as BlobError, ErrorKind as BlobErrorKind, GetOptions,
    Key, ListOptions, Precondition, PutOptions,
};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// The store and the prefix of a log's objects.
#[derive(Clone, Debug)]
pub struct Location {
    store: Arc<dyn BlobStore>,
    prefix: Arc<str>,
}

/// A batch in a list: the run, and the number of its first record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchName {
    pub(crate) run: String,
    pub(crate) first: u64,
}

/// What became of a conditional write.
#[derive(Debug)]
pub(crate) enum Written {
    Yes(BlobVersion),
    /// Something else is stored than was expected.
    No,
}

impl Location {
    /// The log whose objects have this prefix, such as `audit/`. The store repeats what fails, as
    /// [`Retry`](groundstate_blobs::Retry) does.
    ///
    /// # Errors
    ///
    /// `Invalid` for a prefix that cannot stand before a key, `Unsupported` for a store without conditional writes.
    pub fn new(store: Arc<dyn BlobStore>, prefix: &str) -> Result<Self> {
        let location = Self { store, prefix: prefix.into() };
        location.key(Op::Use, "head.json")?;
        if location.store.capabilities().conditional_put {
            Ok(location)
        } else {
            Err(Error::new(ErrorKind::Unsupported, Op::Use, &location))
        }
    }

    fn key(&self, op: Op, name: &str) -> Result<Key> {
        Key::parse(&format!("{}{name}", self.prefix)).map_err(|error| self.failed(op, error))
    }

    pub(crate) fn failed(&self, op: Op, error: BlobError) -> Error {
        Error::of_store(op, self, error)
    }

    pub(crate) fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self)
    }

    pub(crate) async fn get(&self, op: Op, name: &str) -> Result<Option<Blob>> {
        let key = self.key(op, name)?;
        self.store.get(&key, &GetOptions::default()).await.map_err(|error| self.failed(op, error))
    }

    /// Writes if the condition holds. A write of which nothing is known is looked at: it has happened if its bytes are stored.
    pub(crate) async fn put(
        &self,
        op: Op,
        name: &str,
        bytes: &[u8],
        expected: Option<&BlobVersion>,
    ) -> Result<Written> {
        let key = self.key(op, name)?;
        let options = PutOptions::expecting(Precondition::of(expected));
        let error = match self.store.put(&key, bytes.to_vec().into(), &options).await {
            Ok(version) => return Ok(Written::Yes(version)),
            Err(error) => error,
        };
        if !matches!(error.kind(), BlobErrorKind::PreconditionFailed | BlobErrorKind::Ambiguous) {
            return Err(self.failed(op, error));
        }
        match self.get(op, name).await? {
            Some(blob) if blob.bytes[..] == *bytes => Ok(Written::Yes(blob.meta.version)),
            _ if error.kind() == BlobErrorKind::PreconditionFailed => Ok(Written::No),
            _ => Err(self.failed(op, error)),
        }
    }

    /// Removes an object that counts for nothing any more.
    pub(crate) async fn delete(&self, op: Op, name: &str) -> Result<()> {
        let key = self.key(op, name)?;
        let deleted = self.store.delete(&key, &DeleteOptions::default()).await;
        deleted.map(drop).map_err(|error| self.failed(op, error))
    }

    /// The names behind the prefix and `under`, in order.
    async fn names(&self, op: Op, under: &str) -> Result<Vec<String>> {
        let prefix = format!("{}{under}", self.prefix);
        let (mut names, mut options) = (Vec::new(), ListOptions::default());
        loop {
            let page = self.store.list(&prefix, &options).await.map_err(|error| self.failed(op, error))?;
            names.extend(
                page.blobs.iter().filter_map(|blob| blob.name.strip_prefix(&prefix).map(str::to_owned)),
            );
            match page.next {
                Some(token) => options.page = Some(token),
                None => return Ok(names),
            }
        }
    }

    /// The batches that wait, in order, and the names below theirs that are not names of batches.
    pub(crate) async fn batches(&self, op: Op) -> Result<(Vec<BatchName>, Vec<String>)> {
        let names = self.names(op, "batches/").await?;
        Ok(sorted(names, "batches/", |name| {
            let (run, digits) = name.strip_suffix(".jsonl")?.split_once('/')?;
            let first = numbered(digits)?;
            (!run.is_empty()).then(|| BatchName { run: run.to_owned(), first })
        }))
    }

    /// The numbers of the segments, in order, and the names below theirs that are not names of segments.
    pub(crate) async fn segments(&self, op: Op) -> Result<(Vec<u64>, Vec<String>)> {
        let names = self.names(op, "segments/").await?;
        Ok(sorted(names, "segments/", |name| numbered(name.strip_suffix(".jsonl")?)))
    }
}

/// The names that are of the right form, in order, and the others.
fn sorted<T: Ord>(
    names: Vec<String>,
    under: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> (Vec<T>, Vec<String>) {
    let (mut right, mut other) = (Vec::new(), Vec::new());
    for name in names {
        match parse(&name) {
            Some(value) => right.push(value),
            None => other.push(format!("{under}{name}")),
        }
    }
    right.sort();
    (right, other)
}

/// The number that [`segment_name`] and [`BatchName`] write.
fn numbered(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number| format!("{number:020}") == digits)
}

/// The name of a segment behind the prefix.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segments/{number:020}.jsonl")
}

/// The name of the object that says how far the chain goes.
pub(crate) const HEAD: &str = "head.json";

impl fmt::Display for BatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batches/{}/{:020}.jsonl", self.run, self.first)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the audit log {}/{}", self.store, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groundstate_blobs::MemoryBlobs;

    use super::{BatchName, Location, numbered, segment_name};
    use crate::ErrorKind;

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(segment_name(7), "segments/00000000000000000007.jsonl");
        assert_eq!(numbered("00000000000000000007"), Some(7));
        assert_eq!((numbered("7"), numbered("+0000000000000000007")), (None, None));
        let name = BatchName { run: "r".to_owned(), first: 1 };
        assert_eq!(name.to_string(), "batches/r/00000000000000000001.jsonl");
    }

    #[test]
    fn a_prefix_that_cannot_begin_a_key_is_refused() {
        let store = Arc::new(MemoryBlobs::new("b"));
        let error = Location::new(store, "/audit/").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with("cannot use the audit log"), "{error}");
    }
}
