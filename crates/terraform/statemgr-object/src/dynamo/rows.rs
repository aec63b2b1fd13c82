//! The two rows of a state: the lock, and the digest.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Sleeper;
use groundstate_statemgr::{Error, ErrorKind, Op, Result};

use crate::digest::DigestRow;
use crate::dynamo::table::{DynamoTable, Outcome, Row};
use crate::scheme::slot::{Created, Removed, Seen, Slot, SlotLock, scheme_of_slot};

const INFO: &str = "Info";
const DIGEST: &str = "Digest";

/// A lock by a row, whose key is the bucket and the key of the state.
///
/// The row is removed against the very text that is in it, so that only the lock that was looked at is removed.
#[derive(Debug)]
pub struct DynamoLock(SlotLock<LockRow>);

impl DynamoLock {
    /// The lock of the state at `path`, such as `bucket/key`.
    pub fn new(table: DynamoTable, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self::over(LockRow { table, key: path.into(), looks_first: true }, path, sleeper)
    }

    /// The same for a lock that is released only after another one turned out to be held still, as [`BothLocks`] do.
    ///
    /// Its own row is removed without a look before, which saves a request. If it is gone by then, it is unknown whether
    /// the lock was broken or the request arrived twice; the other lock has told that already.
    ///
    /// [`BothLocks`]: crate::BothLocks
    pub fn second(table: DynamoTable, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self::over(LockRow { table, key: path.into(), looks_first: false }, path, sleeper)
    }

    fn over(row: LockRow, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self(SlotLock::new(row, path, sleeper))
    }
}

scheme_of_slot!(DynamoLock);

/// A row as the slot of a lock.
#[derive(Debug)]
struct LockRow {
    table: DynamoTable,
    key: Arc<str>,
    looks_first: bool,
}

impl fmt::Display for LockRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the row {} in {}", self.key, self.table)
    }
}

#[async_trait]
impl Slot for LockRow {
    type Token = Row;

    async fn create(&self, document: &str) -> Result<Created> {
        Ok(match self.table.put(Op::Lock, &self.key, (INFO, document), true).await? {
            Outcome::Done => Created::Done,
            Outcome::Refused(row) => {
                Created::Taken(row.map(|Row(info)| info.unwrap_or_default().into_bytes()))
            }
            Outcome::Unknown(error) => Created::Unknown(error),
        })
    }

    async fn look(&self, op: Op) -> Result<Option<Seen<Row>>> {
        let row = self.table.get(op, &self.key, INFO).await?;
        Ok(row.map(|row| {
            let info = row.0.clone().unwrap_or_default();
            Seen::new(info.as_bytes(), row)
        }))
    }

    async fn remove(&self, token: &Row) -> Result<Removed> {
        Ok(match self.table.delete(Op::Unlock, &self.key, INFO, Some(token)).await? {
            Outcome::Done => Removed::Done,
            Outcome::Refused(_) => Removed::Changed,
            Outcome::Unknown(error) => Removed::Unknown(error),
        })
    }

    fn token(&self, document: &str) -> Option<Row> {
        (!self.looks_first).then(|| Row(Some(document.to_owned())))
    }
}

/// The digest of a state by a row, whose key is the bucket, the key of the state, and `-md5`.
#[derive(Clone, Debug)]
pub struct DynamoDigest {
    table: DynamoTable,
    key: Arc<str>,
}

impl DynamoDigest {
    /// The digest of the state at `path`, such as `bucket/key`.
    pub fn new(table: DynamoTable, path: &str) -> Self {
        Self { table, key: format!("{path}-md5").into() }
    }
}

impl fmt::Display for DynamoDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the attribute {DIGEST} of the row {} in {}", self.key, self.table)
    }
}

/// The outcome of a change without a condition.
fn settled(outcome: Outcome, op: Op, target: &DynamoDigest) -> Result<()> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Unknown(error) => Err(error),
        Outcome::Refused(_) => {
            let why = "a change without a condition was refused for its condition";
            Err(Error::new(ErrorKind::Internal, op, target).because(why))
        }
    }
}

#[async_trait]
impl DigestRow for DynamoDigest {
    async fn get(&self) -> Result<Option<String>> {
        Ok(self
            .table
            .get(Op::Other("read the digest in"), &self.key, DIGEST)
            .await?
            .and_then(|Row(digest)| digest))
    }

    async fn put(&self, digest: &str) -> Result<()> {
        const OP: Op = Op::Other("write the digest in");
        settled(self.table.put(OP, &self.key, (DIGEST, digest), false).await?, OP, self)
    }

    async fn delete(&self) -> Result<()> {
        const OP: Op = Op::Other("delete the digest in");
        settled(self.table.delete(OP, &self.key, DIGEST, None).await?, OP, self)
    }
}
