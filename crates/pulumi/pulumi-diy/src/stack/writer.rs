//! Saving checkpoints while a lock is held.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobVersion, ErrorKind as BlobKind, GetOptions, Key, Precondition, PutOptions,
};
use groundstate_pulumi_deployment::{DecodeOptions, EnvelopeKind, decode};
use groundstate_pulumi_integrity::{Accepted, IntegrityError, IntegrityOperation, pass_gate};

use super::Stack;
use super::checkpoint::{Selection, Variant};
use crate::{Compression, Error, ErrorKind, Guard, Op, Result, Warning, traced};

/// Stores tell times to the second at worst.
const TICK: Duration = Duration::from_secs(1);

/// Saves the checkpoints of one update, or of one edit, while its lock is held.
///
/// The first save finds out which checkpoint counts and copies it to `.bak`, so `.bak` is the state before the update until the
/// next one. Each later save is one write. Every write is refused if another process has written meanwhile, where the store
/// has conditions; where it has none, versions are compared before.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_pulumi_diy::blobs::{Context, MemoryBlobs};
/// use groundstate_pulumi_diy::common::{FixedClock, SequenceIds, Timestamp};
/// use groundstate_pulumi_diy::{Backend, Options, StackRef, Unguarded};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
/// let context = Context::new(clock.clone(), clock, Arc::new(SequenceIds::new()));
/// let backend = Backend::open(Arc::new(MemoryBlobs::new("b")), context, Options::default()).await?;
/// let stack = backend.stack(&StackRef::parse("organization/shop/prod", None)?);
///
/// stack.writer(Arc::new(Unguarded)).save(stack.new_document()).await?;
/// let read = stack.read().await?.expect("it was saved");
/// assert_eq!(read.bytes, r#"{"version":0,"checkpoint":{"stack":"organization/shop/prod"}}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Writer {
    stack: Stack,
    guard: Arc<dyn Guard>,
    expected: Precondition,
    checks: bool,
    /// Whether this writer saves what a journal says.
    is_journaled: bool,
    /// What counts since the last save of this writer.
    current: Option<(Key, BlobVersion)>,
    /// A write whose answer got lost.
    in_doubt: Option<Bytes>,
}

/// What a save did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// Where the checkpoint is stored.
    pub key: Key,
    /// Which content it is.
    pub version: BlobVersion,
    /// Where the checkpoint before was copied to, if this save did that.
    pub backup: Option<Key>,
    /// What should not be so.
    pub warnings: Vec<Warning>,
}

impl Stack {
    /// A writer of checkpoints that holds the lock of the stack.
    pub fn writer(&self, guard: Arc<dyn Guard>) -> Writer {
        Writer {
            stack: self.clone(),
            guard,
            expected: Precondition::Any,
            checks: true,
            is_journaled: false,
            current: None,
            in_doubt: None,
        }
    }

    /// Refuses what could not be read again, or is not valid.
    pub(crate) fn check_document(&self, document: &[u8]) -> Result<()> {
        let broken = |error: crate::BoxError| {
            let reason = format!("the new state is not valid, and was not written: {error}");
            self.failed(ErrorKind::Broken, Op::Save).because(reason).with_source(error)
        };
        let options = DecodeOptions::default().envelope(EnvelopeKind::Checkpoint);
        let file = decode(document, &options).map_err(|error| broken(error.into()))?;
        let Some(snapshot) = &file.snapshot else { return Ok(()) };
        IntegrityError::check(snapshot, IntegrityOperation::Write).map_err(|error| broken(error.into()))
    }

    /// Refuses what may not become the state of the stack: what cannot be read again, what Pulumi cannot load, what is not valid, and
    /// readable secrets.
    pub(crate) fn check_gate(&self, document: &[u8], accepted: &Accepted) -> Result<()> {
        let broken = |error: crate::BoxError| {
            let reason = format!("the new state is not valid, and was not written: {error}");
            self.failed(ErrorKind::Broken, Op::Save).because(reason).with_source(error)
        };
        let options = DecodeOptions::default().envelope(EnvelopeKind::Checkpoint);
        let file = decode(document, &options).map_err(|error| broken(error.into()))?;
        let Some(snapshot) = &file.snapshot else { return Ok(()) };
        pass_gate(snapshot, accepted).map(drop).map_err(|error| broken(error.into()))
    }
}

impl Writer {
    /// Refuses the first save unless this is stored: the version that was read before, or nothing.
    #[must_use]
    pub fn expecting(mut self, expected: Precondition) -> Self {
        self.expected = expected;
        self
    }

    /// Saves deployments that are not valid, too.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.checks = false;
        self
    }

    /// Saves what the journal of an update says, where other writers are refused.
    pub(crate) fn journaled(mut self) -> Self {
        self.is_journaled = true;
        self
    }

    /// The stack it writes.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// Saves a checkpoint, whose bytes stay as they are.
    ///
    /// # Errors
    ///
    /// [`Broken`](ErrorKind::Broken) for a document that could not be read again, or is not valid, before anything is written;
    /// [`LockLost`](ErrorKind::LockLost); [`Changed`](ErrorKind::Changed) if another process has written, and while the journal of a
    /// killed update waits to be [recovered](Stack::recover); those of requests. After an
    /// error the checkpoint before is stored, or this one if the error is [`Ambiguous`](ErrorKind::Ambiguous).
    pub async fn save(&mut self, document: Bytes) -> Result<Saved> {
        let stack = self.stack.clone();
        let work = async {
            let saved = self.replace(document).await?;
            traced::version(&saved.version);
            Ok(saved)
        };
        traced::run(Op::Save.as_str(), &stack, work).await
    }

    async fn replace(&mut self, document: Bytes) -> Result<Saved> {
        if self.checks {
            self.stack.check_document(&document)?;
        }
        let compression = self.stack.backend().options().compression;
        let packed = match compression {
            Compression::Plain => document,
            _ => {
                Bytes::from(compression.pack(&document).map_err(|error| self.unpackable(error))?.into_owned())
            }
        };
        let target = self.stack.checkpoint_key(Op::Save, compression)?;
        let (replaced, mut saved) = match self.current.clone() {
            Some((key, version)) => {
                let saved = Saved {
                    key: target.clone(),
                    version: version.clone(),
                    backup: None,
                    warnings: Vec::new(),
                };
                (vec![(key, version)], saved)
            }
            None => self.prepare(&target).await?,
        };
        let expected = replaced.iter().find(|(key, _)| *key == target).map(|(_, version)| version);
        saved.version = self.put(&target, packed.clone(), expected).await?;
        self.current = Some((target.clone(), saved.version.clone()));
        for (key, version) in replaced.iter().filter(|(key, _)| *key != target) {
            saved.warnings.extend(self.remove(key, version, &target).await?);
        }
        if self.stack.backend().options().retain_checkpoints {
            self.retain(&target, packed).await?;
        }
        Ok(saved)
    }

    /// Finds out what is stored, and copies it. Gives every variant with its version.
    async fn prepare(&self, target: &Key) -> Result<(Vec<(Key, BlobVersion)>, Saved)> {
        if !self.is_journaled && self.stack.has_journal().await? {
            return Err(self.stack.unrecovered(Op::Save));
        }
        let Selection { active, others, warnings } = self.stack.select().await?;
        let mut replaced = Vec::new();
        let mut backup = None;
        for (variant, is_active) in
            active.iter().map(|one| (one, true)).chain(others.iter().map(|one| (one, false)))
        {
            let blob = self.get(&variant.key).await?.ok_or_else(|| self.changed())?;
            if is_active && !self.expected.is_met_by(Some(blob.version())) {
                return Err(self.changed());
            }
            let copy = self.stack.backend().key(Op::BackUp, &format!("{}.bak", variant.key))?;
            self.put_copy(&copy, blob.bytes.clone()).await?;
            backup = backup.or(Some(copy));
            replaced.push((variant.key.clone(), blob.meta.version));
        }
        if active.is_none() && matches!(self.expected, Precondition::Version(_)) {
            return Err(self.changed());
        }
        self.outlive(active.as_ref(), target).await;
        let saved = Saved { key: target.clone(), version: BlobVersion::default(), backup, warnings };
        Ok((replaced, saved))
    }

    /// Of two variants with one time the last by name counts. So a target that is not the last waits until its time is later,
    /// since a crash may leave both.
    async fn outlive(&self, active: Option<&Variant>, target: &Key) {
        let Some(active) = active.filter(|active| active.key > *target) else { return };
        let context = self.stack.backend().context();
        let Some(after) = active.modified.and_then(|modified| modified.checked_add(TICK)) else { return };
        if let Some(wait) = after.duration_since(context.clock.now()).filter(|wait| *wait <= TICK * 2) {
            context.sleeper.sleep(wait).await;
        }
    }

    async fn get(&self, key: &Key) -> Result<Option<Blob>> {
        let backend = self.stack.backend();
        let got = backend.store().get(key, &GetOptions::default()).await;
        got.map_err(|error| Error::from_store(Op::BackUp, backend.place(key.as_str()), error))
    }

    async fn put_copy(&self, key: &Key, bytes: Bytes) -> Result<()> {
        self.guard.check().await?;
        let backend = self.stack.backend();
        let put = backend.store().put(key, bytes, &PutOptions::default()).await;
        put.map_err(|error| Error::from_store(Op::BackUp, backend.place(key.as_str()), error))?;
        Ok(())
    }

    /// Replaces the target, unless it is not what was expected.
    async fn put(
        &mut self,
        target: &Key,
        bytes: Bytes,
        expected: Option<&BlobVersion>,
    ) -> Result<BlobVersion> {
        self.guard.check().await?;
        let backend = self.stack.backend().clone();
        let (store, place) = (backend.store(), backend.place(target.as_str()));
        let mut condition = Precondition::of(expected);
        if !store.capabilities().conditional_put {
            let head =
                store.head(target).await.map_err(|error| Error::from_store(Op::Save, &place, error))?;
            if !condition.is_met_by(head.as_ref().map(|head| &head.version)) {
                self.adopt(target).await?;
            }
            condition = Precondition::Any;
        }
        let put = store.put(target, bytes.clone(), &PutOptions::expecting(condition)).await;
        let put = match put {
            Err(error) if error.kind() == BlobKind::PreconditionFailed => {
                let found = self.adopt(target).await?;
                store.put(target, bytes.clone(), &PutOptions::expecting(Precondition::Version(found))).await
            }
            put => put,
        };
        match put {
            Ok(version) => {
                self.in_doubt = None;
                Ok(version)
            }
            Err(error) if error.kind() == BlobKind::PreconditionFailed => Err(self.changed()),
            Err(error) => {
                if error.kind() == BlobKind::Ambiguous {
                    self.in_doubt = Some(bytes);
                }
                Err(Error::from_store(Op::Save, place, error))
            }
        }
    }

    /// What is stored is not what was expected: it is this writer's own if it is the write whose answer got lost.
    async fn adopt(&self, target: &Key) -> Result<BlobVersion> {
        let Some(sent) = &self.in_doubt else { return Err(self.changed()) };
        match self.get(target).await? {
            Some(blob) if blob.bytes == *sent => Ok(blob.meta.version),
            _ => Err(self.changed()),
        }
    }

    /// Removes a variant that was replaced. One that stays is a warning, unless it would still count.
    async fn remove(&self, key: &Key, version: &BlobVersion, target: &Key) -> Result<Option<Warning>> {
        let backend = self.stack.backend();
        let deleted = backend.store().delete(key, &backend.deletion_of(version)).await;
        let Err(error) = deleted else { return Ok(None) };
        if error.kind() == BlobKind::PreconditionFailed {
            return Err(self.changed());
        }
        let counts = self.stack.select().await?.active.is_some_and(|active| active.key != *target);
        if counts {
            let step = format!("remove {key}, since {target} has the state");
            let failure = Error::from_store(Op::Remove, backend.place(key.as_str()), error);
            return Err(failure.next_step(step));
        }
        Ok(Some(Warning::Leftover { key: key.to_string(), reason: error.to_string() }))
    }

    /// Keeps a copy under a name with the time.
    async fn retain(&self, target: &Key, bytes: Bytes) -> Result<()> {
        let backend = self.stack.backend();
        loop {
            let key = backend.key(Op::BackUp, &format!("{target}.{}", backend.stamp()))?;
            match backend.create(&key, bytes.clone()).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(Error::from_store(Op::BackUp, backend.place(key.as_str()), error)),
            }
        }
    }

    fn changed(&self) -> Error {
        let failure = self.stack.failed(ErrorKind::Changed, Op::Save);
        failure.next_step("read it again, and repeat the change on what it says now")
    }

    fn unpackable(&self, error: std::io::Error) -> Error {
        self.stack.failed(ErrorKind::Internal, Op::Save).because("it cannot be compressed").with_source(error)
    }
}
