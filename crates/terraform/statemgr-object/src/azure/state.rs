//! Reading, writing and deleting the state, each change in place of exactly what was seen.

use std::collections::BTreeMap;

use bytes::Bytes;
use groundstate_blobs::{
    Attributes, DeleteOptions, ErrorKind as BlobErrorKind, GetOptions, LeaseId, Precondition, PutOptions,
};
use groundstate_statemgr::{Error, ErrorKind, Expect, Op, Result, Stored, Version, WriteOptions};

use super::seen::{Content, Seen, version_of};
use super::store::{ATTEMPTS, AzureStore};
use crate::failure::failed;

const WRITE: Op = Op::Write;
const DELETE: Op = Op::Delete;

/// What came of one try to change the blob.
enum Tried<T> {
    Done(T),
    /// The blob is not what was seen: look at it anew.
    Changed,
}

impl AzureStore {
    pub(super) async fn read_state(&self) -> Result<Option<Stored>> {
        Ok(self.read_as(Op::Read).await?.and_then(|(seen, bytes)| match seen.content {
            Content::State(version) => Some(Stored::new(bytes.to_vec(), version)),
            Content::Empty | Content::Unread => None,
        }))
    }

    pub(super) async fn write_state(&self, bytes: &Bytes, options: &WriteOptions) -> Result<Version> {
        if bytes.is_empty() {
            let why = "there is nothing to write, delete the state instead";
            return Err(self.error(ErrorKind::Invalid, WRITE).because(why));
        }
        self.check(WRITE, options)?;
        for _ in 0..ATTEMPTS {
            let seen = self.expected(WRITE, &options.expect).await?;
            if let Tried::Done(version) = self.try_to_write(bytes, seen.as_ref()).await? {
                return Ok(version);
            }
        }
        Err(self.busy(WRITE))
    }

    pub(super) async fn delete_state(&self, options: &WriteOptions) -> Result<()> {
        self.check(DELETE, options)?;
        for _ in 0..ATTEMPTS {
            let Some(seen) = self.expected(DELETE, &options.expect).await? else { return Ok(()) };
            let lease = self.mine().lease.clone();
            let tried = match lease {
                // The lease would go with the blob, and with it the lock.
                Some(lease) => self.try_to_empty(&seen, Some(&lease)).await?,
                None => self.try_to_delete(&seen).await?,
            };
            if let Tried::Done(()) = tried {
                return Ok(());
            }
        }
        Err(self.busy(DELETE))
    }

    /// Refuses what the options ask for and the store does not have.
    fn check(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let why = match options {
            WriteOptions { force: true, .. } => "the store makes no checks that force overrides",
            WriteOptions { fence: Some(_), .. } => "the store gives no tokens, its leases replace them",
            _ => return Ok(()),
        };
        Err(Error::unsupported(op, self).because(why))
    }

    /// The blob, if it is there and what is stored in it is expected. Asks only for what is not known yet.
    async fn expected(&self, op: Op, expect: &Expect) -> Result<Option<Seen>> {
        let known = self.mine().seen.clone();
        if let (Expect::Version(version), Some(seen)) = (expect, &known)
            && seen.version() == Some(version)
        {
            return Ok(known);
        }
        let seen = match (expect, known) {
            (Expect::Absent, Some(seen)) if seen.content == Content::Empty => return Ok(Some(seen)),
            (Expect::Absent | Expect::Any, _) => self.describe(op).await?,
            (Expect::Version(_), _) => self.read_as(op).await?.map(|(seen, _)| seen),
        };
        let content = seen.as_ref().map_or(&Content::Empty, |seen| &seen.content);
        let (is_met, found) = match content {
            Content::Empty => (expect.is_met_by(None), "nothing".to_owned()),
            Content::State(version) => (expect.is_met_by(Some(version)), format!("version {version}")),
            Content::Unread => (*expect == Expect::Any, "a state".to_owned()),
        };
        if is_met { Ok(seen) } else { Err(Error::conflict(op, self, expect, found)) }
    }

    async fn try_to_write(&self, body: &Bytes, seen: Option<&Seen>) -> Result<Tried<Version>> {
        let lease = self.mine().lease.clone();
        if self.snapshot && seen.is_some_and(|seen| seen.content != Content::Empty) {
            match self.leases(WRITE)?.snapshot(&self.key, lease.as_ref()).await {
                Ok(_) => {}
                Err(error) if error.kind() == BlobErrorKind::NotFound => {
                    self.mine().seen = None;
                    return Ok(Tried::Changed);
                }
                // One snapshot too many does no harm, and the state has not been touched.
                Err(error) if error.kind() == BlobErrorKind::Ambiguous => {
                    let why = "it is not known whether the snapshot before the write was taken, so nothing was written";
                    return Err(self.error(ErrorKind::Unavailable, WRITE).because(why).with_source(error));
                }
                Err(error) => return self.sort(WRITE, error, lease.as_ref()).await,
            }
        }
        match self.put(body.clone(), seen, lease.as_ref()).await {
            Ok(mut now) => {
                let version = version_of(body);
                now.content = Content::State(version.clone());
                let mut mine = self.mine();
                mine.seen = Some(now);
                mine.deleted = false;
                Ok(Tried::Done(version))
            }
            Err(error) => self.sort(WRITE, error, lease.as_ref()).await,
        }
    }

    async fn try_to_empty(&self, seen: &Seen, lease: Option<&LeaseId>) -> Result<Tried<()>> {
        if seen.content == Content::Empty {
            return Ok(Tried::Done(()));
        }
        match self.put(Bytes::new(), Some(seen), lease).await {
            Ok(now) => {
                let mut mine = self.mine();
                mine.seen = Some(now);
                mine.deleted = lease.is_some();
                Ok(Tried::Done(()))
            }
            Err(error) => self.sort(DELETE, error, lease).await,
        }
    }

    async fn try_to_delete(&self, seen: &Seen) -> Result<Tried<()>> {
        match self.blobs.delete(&self.key, &DeleteOptions::version(&seen.blob)).await {
            Ok(was_there) => {
                self.mine().seen = None;
                // Of two deletions of one state, the second finds nothing where it expects that state.
                Ok(if was_there { Tried::Done(()) } else { Tried::Changed })
            }
            // A blob with snapshots cannot be removed without them; zero bytes are not a state either.
            Err(error) if error.kind() == BlobErrorKind::Invalid => self.try_to_empty(seen, None).await,
            Err(error) => self.sort(DELETE, error, None).await,
        }
    }

    /// Makes the blob, of zero bytes and with this metadata, unless there is one.
    pub(super) async fn put_empty(
        &self,
        metadata: BTreeMap<String, String>,
    ) -> Result<Seen, groundstate_blobs::Error> {
        let mut attributes = Attributes::content_type("application/json");
        attributes.metadata = metadata.clone();
        let options = PutOptions::expecting(Precondition::Absent).attributes(attributes).contended();
        let blob = self.blobs.put(&self.key, Bytes::new(), &options).await?;
        Ok(Seen { blob, metadata, content: Content::Empty })
    }

    /// Replaces the content of what was seen and keeps its metadata, which a write would erase.
    pub(super) async fn put(
        &self,
        body: Bytes,
        seen: Option<&Seen>,
        lease: Option<&LeaseId>,
    ) -> Result<Seen, groundstate_blobs::Error> {
        let mut attributes = Attributes::content_type("application/json");
        attributes.metadata = seen.map(|seen| seen.metadata.clone()).unwrap_or_default();
        let metadata = attributes.metadata.clone();
        let condition = Precondition::of(seen.map(|seen| &seen.blob));
        let mut options = PutOptions::expecting(condition).attributes(attributes).contended();
        // A lease on a blob that is not there cannot be; asking under one would only hide that.
        options.lease = lease.filter(|_| seen.is_some()).cloned();
        let blob = self.blobs.put(&self.key, body, &options).await?;
        Ok(Seen { blob, metadata, content: Content::Empty })
    }

    /// What to do about a change that failed.
    async fn sort<T>(
        &self,
        op: Op,
        error: groundstate_blobs::Error,
        lease: Option<&LeaseId>,
    ) -> Result<Tried<T>> {
        // What was found in the way need not be read again.
        let found = error.found().filter(|blob| blob.bytes.len() as u64 == blob.meta.size);
        self.mine().seen = found.map(Seen::read);
        match error.kind() {
            BlobErrorKind::PreconditionFailed => Ok(Tried::Changed),
            BlobErrorKind::LeaseHeld => Err(self.held(op, error).await),
            BlobErrorKind::LeaseLost => {
                let id = lease.map(ToString::to_string).unwrap_or_default();
                let why = format!(
                    "the lease {id} was broken, so the lock is not held any more; take it again and refresh"
                );
                Err(self.error(ErrorKind::LockLost, op).because(why).with_source(error))
            }
            _ => Err(failed(op, self, error)),
        }
    }

    /// The refusal of a change because another client holds the lease.
    async fn held(&self, op: Op, error: groundstate_blobs::Error) -> Error {
        let holder = self.look_for_holder(op).await.ok().flatten().filter(|holder| holder.documented);
        let why = "the blob is under a lease, so only the holder of the lock can change it; it is held";
        Error::locked(op, self, holder).because(why).with_source(error)
    }

    /// The refusal after another client was quicker each time.
    fn busy(&self, op: Op) -> Error {
        let why = "other clients change it all the time; lock it, or try again later";
        self.error(ErrorKind::Unavailable, op).because(why)
    }

    /// Reads the content.
    async fn read_as(&self, op: Op) -> Result<Option<(Seen, Bytes)>> {
        let blob = self.blobs.get(&self.key, &GetOptions::default()).await;
        let blob = blob.map_err(|error| failed(op, self, error))?;
        let found = blob.map(|blob| (Seen::read(&blob), blob.bytes));
        self.mine().seen = found.as_ref().map(|(seen, _)| seen.clone());
        Ok(found)
    }

    /// Reads the description.
    pub(super) async fn describe(&self, op: Op) -> Result<Option<Seen>> {
        Ok(self.look(op).await?.map(|(seen, _)| seen))
    }

    /// Reads the description, and whether the lease is held.
    pub(super) async fn look(&self, op: Op) -> Result<Option<(Seen, bool)>> {
        let meta = self.blobs.head(&self.key).await.map_err(|error| failed(op, self, error))?;
        let mut mine = self.mine();
        let found = meta.map(|meta| {
            let is_held = meta.lease.is_some_and(|lease| lease.is_held());
            (Seen::described(&meta, mine.seen.as_ref()), is_held)
        });
        mine.seen = found.as_ref().map(|(seen, _)| seen.clone());
        Ok(found)
    }
}
