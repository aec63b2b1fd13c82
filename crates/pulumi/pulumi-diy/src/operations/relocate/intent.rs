//! What is written down before a stack is moved, so that a process that was killed is followed by one that goes on.

use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{BlobStore, DeleteOptions, ErrorKind as BlobKind, GetOptions, Key, PutOptions};
use serde::{Deserialize, Serialize};

use super::OP;
use crate::backend::objects;
use crate::journal::digest;
use crate::{Backend, Error, ErrorKind, Layout, Result, Stack};

/// A move that has begun. It lies in the bucket that the stack comes to, under the name that the stack gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    version: u32,
    /// The stack that is moved.
    pub(crate) from: String,
    /// The bucket it comes from, unless it stays in the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bucket: Option<String>,
    /// The stack that it becomes.
    pub(crate) to: String,
    /// The SHA-256 of the checkpoint that is moved, as it was stored.
    pub(crate) source: String,
    /// The SHA-256 of the checkpoint that it becomes, as it is stored.
    pub(crate) target: String,
    /// The number in names of copies that would collide, in nanoseconds since 1970.
    pub(crate) stamp: u64,
}

impl Intent {
    const VERSION: u32 = 1;

    pub(super) fn new(source: &Stack, target: &Stack, stored: [&[u8]; 2], stamp: u64) -> Self {
        let bucket = source.backend().to_string();
        Self {
            version: Self::VERSION,
            from: source.reference().to_string(),
            bucket: Some(bucket).filter(|bucket| *bucket != target.backend().to_string()),
            to: target.reference().to_string(),
            source: digest(stored[0]),
            target: digest(stored[1]),
            stamp,
        }
    }

    /// Whether the checkpoint gets other bytes.
    pub(super) fn is_rewritten(&self) -> bool {
        self.source != self.target
    }

    /// Whether it is about this stack.
    pub(super) fn is_from(&self, source: &Stack, target: &Backend) -> bool {
        let bucket = source.backend().to_string();
        let is_there = match &self.bucket {
            Some(known) => *known == bucket,
            None => bucket == target.to_string(),
        };
        is_there && self.from == source.reference().to_string()
    }

    /// The one under the name that a stack gets, if a move to there has begun.
    pub(super) async fn of(target: &Stack) -> Result<Option<Self>> {
        let key = key(target)?;
        Self::read(target.backend(), &key).await
    }

    /// All of a bucket, in the order of names.
    pub(crate) async fn all(backend: &Backend) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for listed in objects(&**backend.store(), Layout::MOVES).await? {
            let key = backend.key(OP, &listed.name)?;
            all.extend(Self::read(backend, &key).await?);
        }
        Ok(all)
    }

    /// Reads one; none if it was removed meanwhile.
    pub(super) async fn read(backend: &Backend, key: &Key) -> Result<Option<Self>> {
        let place = backend.place(key.as_str());
        let got = backend.store().get(key, &GetOptions::default()).await;
        let got = got.map_err(|error| Error::from_store(OP, &place, error))?;
        let Some(blob) = got else { return Ok(None) };
        let damaged = |why: String| {
            let failure = Error::new(ErrorKind::Corrupt, OP, &place).because(why);
            failure.next_step("look which of the two stacks is whole, then remove this object")
        };
        let intent: Self = serde_json::from_slice(&blob.bytes)
            .map_err(|error| damaged(format!("it is not the record of a move: {error}")))?;
        match intent.version {
            Self::VERSION => Ok(Some(intent)),
            other => Err(damaged(format!("its version is {other}, and not {}", Self::VERSION))),
        }
    }

    pub(super) async fn write(&self, target: &Stack) -> Result<()> {
        let (backend, key) = (target.backend(), key(target)?);
        let text = serde_json::to_vec(self)
            .map_err(|error| target.failed(ErrorKind::Internal, OP).with_source(error))?;
        let put = backend.store().put(&key, Bytes::from(text), &PutOptions::default()).await;
        put.map(drop).map_err(|error| Error::from_store(OP, backend.place(key.as_str()), error))
    }

    pub(super) async fn remove(target: &Stack) -> Result<()> {
        let (backend, key) = (target.backend(), key(target)?);
        let Err(error) = backend.store().delete(&key, &DeleteOptions::default()).await else { return Ok(()) };
        // An answer that got lost is found out by what is there.
        if error.kind() == BlobKind::Ambiguous && Self::read(backend, &key).await?.is_none() {
            return Ok(());
        }
        Err(Error::from_store(OP, backend.place(key.as_str()), error))
    }
}

impl fmt::Display for Intent {
    /// Which stack it is, and what it becomes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a move of {}", self.from)?;
        if let Some(bucket) = &self.bucket {
            write!(f, " in {bucket}")?;
        }
        write!(f, " to {} has begun", self.to)
    }
}

fn key(target: &Stack) -> Result<Key> {
    target.backend().key(OP, &target.backend().layout().moved(target.checked(OP)?))
}
