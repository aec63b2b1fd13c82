//! Writing and deleting: under conditions, under the lock, and with the digest behind.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobStore, BlobVersion, DeleteOptions, Error as BlobFailure, ErrorKind as BlobError, GetOptions,
    Key, Precondition, PutOptions,
};
use groundstate_statemgr::{Error, ErrorKind, Expect, Op, Result, Version, WriteOptions};

use crate::digest::Digests;
use crate::failure::failed;
use crate::store::ObjectStateStore;

/// The name of the metadata that holds a write's mark: letters only, which every service takes.
const MARK: &str = "groundstatewrite";
/// How often a digest is brought up with states that others have written meanwhile. The writer of the last digest looks whether it
/// is right, so giving up would leave a wrong one: it takes another writer in each round to get so far.
const ROUNDS: u32 = 1000;

/// A version of another store, in an operation of this name.
struct Unknown(Op);

impl ObjectStateStore {
    pub(crate) async fn replace(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        const OP: Op = Op::Write;
        if bytes.is_empty() {
            let message = "there is nothing to write, delete the state instead";
            return Err(Error::new(ErrorKind::Invalid, OP, self).because(message));
        }
        self.check(OP, options)?;
        let precondition = match precondition(OP, &options.expect) {
            Ok(precondition) => precondition,
            Err(unknown) => return Err(self.never_met(unknown, &options.expect).await),
        };
        self.verify().await?;
        let (change, how) = (self.change(), self.put_options()?);
        let written = match &self.digests {
            None => change.put(&bytes, &how, precondition).await.map_err(Failed::Store),
            Some(digests) => {
                let digests = digests.clone();
                to_the_end(async move { change.put_and_follow(&bytes, &how, precondition, &digests).await })
                    .await
            }
        };
        match written {
            Ok(version) => Ok(Version::new(&version.to_string())),
            Err(Failed::Digest(error)) => Err(error),
            Err(Failed::Store(error)) => {
                let error = self.refused(OP, &options.expect, error).await;
                Err(match &self.digests {
                    Some(digests) => digests.missed(error),
                    None => error,
                })
            }
        }
    }

    pub(crate) async fn remove(&self, options: &WriteOptions) -> Result<()> {
        const OP: Op = Op::Delete;
        self.check(OP, options)?;
        if options.expect == Expect::Absent {
            return match self.get(OP).await? {
                None => Ok(()),
                Some(found) => Err(self.conflict(OP, &options.expect, Some(found.version()))),
            };
        }
        let mut how = DeleteOptions::default();
        how.precondition = match precondition(OP, &options.expect) {
            Ok(precondition) => precondition,
            Err(unknown) => return Err(self.never_met(unknown, &options.expect).await),
        };
        self.verify().await?;
        how.lease = self.lease();
        let change = self.change();
        let removed = match &self.digests {
            None => change.delete(&how).await.map_err(Failed::Store),
            Some(digests) => {
                let digests = digests.clone();
                to_the_end(async move { change.delete_and_forget(&how, &digests).await }).await
            }
        };
        match removed {
            Ok(false) if options.expect != Expect::Any => Err(self.conflict(OP, &options.expect, None)),
            Ok(_) => Ok(()),
            Err(Failed::Digest(error)) => Err(error),
            Err(Failed::Store(error)) => Err(self.refused(OP, &options.expect, error).await),
        }
    }

    /// What a change needs that goes on without this client.
    fn change(&self) -> Change {
        Change {
            blobs: Arc::clone(&self.blobs),
            key: self.key.clone(),
            target: Arc::clone(&self.target),
            is_locked: self.held().is_some(),
        }
    }

    /// Refuses what needs a capability that is not there.
    fn check(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let why = if options.force {
            "the store makes no checks that force overrides"
        } else if options.fence.is_some() {
            "the store has no tokens"
        } else if options.expect != Expect::Any && !self.blobs.capabilities().conditional_put {
            "the service has no conditional writes, or they are switched off"
        } else {
            return Ok(());
        };
        Err(Error::unsupported(op, self).because(why))
    }

    /// How to write; all attempts of one write go under the same mark.
    fn put_options(&self) -> Result<PutOptions> {
        let mut options = PutOptions::default().attributes(self.attributes.clone());
        options.lease = self.lease();
        // Without a mark, equal bytes say nothing of who wrote them, so a refusal is believed.
        options.contended = self.marks.is_none();
        if let Some(ids) = &self.marks {
            let mark = ids.uuid().map_err(|error| {
                let error = Error::new(ErrorKind::Internal, Op::Write, self).with_source(error);
                error.because("there is no id to mark the write with")
            })?;
            options.attributes = options.attributes.with_metadata(MARK, &mark);
        }
        Ok(options)
    }

    /// The error of a write or deletion; a conflict says what is there.
    async fn refused(&self, op: Op, expect: &Expect, error: BlobFailure) -> Error {
        if error.kind() != BlobError::PreconditionFailed {
            return failed(op, self, error);
        }
        let version = match error.found() {
            Some(blob) => Some(blob.version().clone()).filter(|_| !blob.bytes.is_empty()),
            None => match self.blobs.head(&self.key).await {
                Ok(meta) => meta.filter(|meta| meta.size > 0).map(|meta| meta.version),
                Err(_) => return failed(op, self, error),
            },
        };
        self.conflict(op, expect, version.as_ref()).with_source(error)
    }

    fn conflict(&self, op: Op, expect: &Expect, found: Option<&BlobVersion>) -> Error {
        let found = found.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
        Error::conflict(op, self, expect, found)
    }

    /// A version that the service cannot have given is not what is stored.
    async fn never_met(&self, unknown: Unknown, expect: &Expect) -> Error {
        match self.get(unknown.0).await {
            Ok(found) => self.conflict(unknown.0, expect, found.as_ref().map(Blob::version)),
            Err(error) => error,
        }
    }
}

/// A write or deletion on its way.
struct Change {
    blobs: Arc<dyn BlobStore>,
    key: Key,
    target: Arc<str>,
    is_locked: bool,
}

/// Which part of a change has failed.
enum Failed {
    /// The state, and then nothing was done to the digest.
    Store(BlobFailure),
    /// The digest, after the state.
    Digest(Error),
}

impl Change {
    async fn put(
        &self,
        bytes: &Bytes,
        how: &PutOptions,
        precondition: Precondition,
    ) -> Result<BlobVersion, BlobFailure> {
        let is_first = precondition == Precondition::Absent;
        let error = match self.put_once(bytes, how, precondition).await {
            Err(error) if is_first && error.kind() == BlobError::PreconditionFailed => error,
            outcome => return outcome,
        };
        // Zero bytes are nothing, too.
        let found = match error.found() {
            Some(blob) => Some(blob.clone()),
            None => self.blobs.get(&self.key, &GetOptions::default()).await?,
        };
        match found {
            Some(blob) if blob.bytes.is_empty() => {
                self.put_once(bytes, how, Precondition::Version(blob.version().clone())).await
            }
            found => Err(error.with_found(found)),
        }
    }

    async fn put_once(
        &self,
        bytes: &Bytes,
        how: &PutOptions,
        precondition: Precondition,
    ) -> Result<BlobVersion, BlobFailure> {
        let mut options = how.clone();
        options.precondition = precondition;
        self.blobs.put(&self.key, bytes.clone(), &options).await
    }

    async fn delete(&self, how: &DeleteOptions) -> Result<bool, BlobFailure> {
        self.blobs.delete(&self.key, how).await
    }

    async fn put_and_follow(
        &self,
        bytes: &Bytes,
        how: &PutOptions,
        precondition: Precondition,
        digests: &Digests,
    ) -> Result<BlobVersion, Failed> {
        let version = self.put(bytes, how, precondition).await.map_err(Failed::Store)?;
        digests.follow(bytes, &self.target).await.map_err(Failed::Digest)?;
        self.settle(digests, Some(version.clone())).await.map_err(Failed::Digest)?;
        Ok(version)
    }

    async fn delete_and_forget(&self, how: &DeleteOptions, digests: &Digests) -> Result<bool, Failed> {
        let was_there = self.delete(how).await.map_err(Failed::Store)?;
        digests.forget(&self.target).await.map_err(Failed::Digest)?;
        self.settle(digests, None).await.map_err(Failed::Digest)?;
        Ok(was_there)
    }

    /// Sees to it that the digest is that of what is stored, after it was made that of `version` or removed.
    ///
    /// Two writers without a lock may write their states in one order and their digests in the other. So each looks whether
    /// its state is still there, and the writer of the last digest finds that it is right. Under a lock no other client comes between.
    async fn settle(&self, digests: &Digests, version: Option<BlobVersion>) -> Result<()> {
        let mut version = version;
        for _ in 0..ROUNDS {
            if self.is_locked {
                return Ok(());
            }
            // The write itself is done and followed; a stale digest would be said by the next reader.
            let Ok(meta) = self.blobs.head(&self.key).await else { return Ok(()) };
            let stored = meta.filter(|meta| meta.size > 0).map(|meta| meta.version);
            let is_same = match (&stored, &version) {
                (Some(stored), Some(version)) => stored.same_as(version),
                (stored, version) => stored.is_none() && version.is_none(),
            };
            if is_same {
                return Ok(());
            }
            let Ok(blob) = self.blobs.get(&self.key, &GetOptions::default()).await else { return Ok(()) };
            let blob = blob.filter(|blob| !blob.bytes.is_empty());
            match &blob {
                Some(blob) => digests.follow(&blob.bytes, &self.target).await?,
                None => digests.forget(&self.target).await?,
            }
            version = blob.map(|blob| blob.version().clone());
        }
        Ok(())
    }
}

/// Has a change that consists of two steps go on when its caller gives up between them: a state without its digest is one
/// without a reader. Only the end of the process stops it, or that of the runtime, where there is one.
async fn to_the_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, Failed>> + Send + 'static,
) -> Result<T, Failed> {
    #[cfg(feature = "dynamodb")]
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        return runtime.spawn(change).await.unwrap_or_else(|error| {
            let stopped = BlobFailure::new(
                BlobError::Ambiguous,
                groundstate_blobs::Op::Write,
                "the state and its digest",
            );
            Err(Failed::Store(stopped.because("the runtime has stopped meanwhile").with_source(error)))
        });
    }
    change.await
}

fn precondition(op: Op, expect: &Expect) -> Result<Precondition, Unknown> {
    Ok(match expect {
        Expect::Any => Precondition::Any,
        Expect::Absent => Precondition::Absent,
        Expect::Version(version) => {
            Precondition::Version(version.as_str().parse::<BlobVersion>().map_err(|_| Unknown(op))?)
        }
    })
}
