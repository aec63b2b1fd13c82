//! Reading what is in a bucket: the state and the history as they are there now.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::UntypedDeployment;
use groundstate_versioned::{self as versioned, Head, Reader};

use super::{BucketState, StackBucket};
use crate::deployment;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::stack::{Stack, StackVersion, StackVersions, number};

/// A state that is read part by part. `Debug` shows no content.
pub struct Export {
    number: u64,
    source: Source,
}

enum Source {
    Version(Box<Reader>),
    Bytes(Option<Bytes>),
}

impl Export {
    pub(crate) fn of_version(reader: Reader) -> Self {
        Self { number: number(reader.version()), source: Source::Version(Box::new(reader)) }
    }

    pub(crate) fn of_bytes(number: u64, bytes: Bytes) -> Self {
        Self { number, source: Source::Bytes(Some(bytes)) }
    }

    /// The number of the version; 0 for the state that a stack begins with.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        match &self.source {
            Source::Version(reader) => reader.version().size,
            Source::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
        }
    }

    /// The next part; none behind the last one.
    ///
    /// # Errors
    ///
    /// Those of [`Reader::next_part`].
    pub async fn next_part(&mut self) -> versioned::Result<Option<Bytes>> {
        match &mut self.source {
            Source::Version(reader) => reader.next_part().await,
            Source::Bytes(bytes) => Ok(bytes.take()),
        }
    }

    /// The whole state, of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Reader::collect`]. A state of a bucket is in memory already, and has no limit.
    pub async fn collect(self, limit: usize) -> versioned::Result<Bytes> {
        match self.source {
            Source::Version(reader) => reader.collect(limit).await,
            Source::Bytes(bytes) => Ok(bytes.unwrap_or_default()),
        }
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The state of a stack that has none yet.
pub(super) fn empty() -> Bytes {
    deployment::assemble(3, &[], &RawJson::from_validated(UntypedDeployment::EMPTY))
}

impl Stack {
    /// A head from which the stack can be read. An update that cannot be ended as long as another program holds the stack in its bucket
    /// does not keep others from reading what is there.
    pub(crate) async fn readable(&self, op: Op) -> Result<Head> {
        match self.settled(op).await {
            Err(error) if self.bucket().is_some() && error.kind() == ErrorKind::Locked => self.head(op).await,
            settled => settled,
        }
    }

    /// The state in the bucket, and the same as it is kept here.
    pub(crate) async fn bucket_export(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
    ) -> Result<(BucketState, Bytes)> {
        let state = bucket.read(self.path()).await?.ok_or_else(|| self.missing_in(op, bucket))?;
        let export = match &state.export {
            Some(export) => deployment::normal(op, self.path(), export).map_err(|error| {
                let failure = self.error(ErrorKind::Corrupt, op);
                failure.because(format!("in {bucket}: {}", error.message())).with_source(error)
            })?,
            None => empty(),
        };
        Ok((state, export))
    }

    pub(crate) fn missing_in(&self, op: Op, bucket: &Arc<dyn StackBucket>) -> Error {
        let failure = self.error(ErrorKind::NotFound, op);
        failure.because(format!("there is no stack {} in {bucket}", self.path()))
    }

    fn no_version(&self, op: Op, version: u64) -> Error {
        self.error(ErrorKind::NotFound, op).because(format!("it has no version {version}"))
    }

    /// The state that an update of the history has left.
    pub(crate) async fn export_history(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        version: u64,
    ) -> Result<Export> {
        let state = bucket.history_state(self.path(), version).await?;
        let state = state.ok_or_else(|| self.no_version(op, version))?;
        Ok(Export::of_bytes(version, deployment::normal(op, self.path(), &state)?))
    }

    /// An update of the history.
    pub(crate) async fn history_version(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        version: u64,
    ) -> Result<StackVersion> {
        let found = match version.checked_add(1) {
            Some(before) => self.history_page(bucket, Some(before), 1).await?.versions.pop(),
            None => None,
        };
        found.filter(|found| found.number == version).ok_or_else(|| self.no_version(op, version))
    }

    /// A page of the history, the newest update first.
    pub(crate) async fn history_page(
        &self,
        bucket: &Arc<dyn StackBucket>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<StackVersions> {
        let found = bucket.history(self.path(), before, limit).await?;
        let next = found.last().map(|(number, _)| *number).filter(|number| *number > 1);
        let versions = found.into_iter().map(|(number, update)| StackVersion {
            number,
            by: update.request.author.clone(),
            note: update.note,
            request: Some(update.request),
        });
        Ok(StackVersions { versions: versions.collect(), unreadable: Vec::new(), next })
    }
}
