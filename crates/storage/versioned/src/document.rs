//! One document: its head, and the step that replaces it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{
    BlobStore, BlobVersion, DeleteOptions, ErrorKind as BlobKind, GetOptions, Key, Precondition, PutOptions,
};
use groundstate_common::{Backoff, IdSourceError, Timestamp, one_line};

use crate::content::Content;
use crate::documents::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::head::{Head, Pin, Unreadable};
use crate::ids::{AttemptId, UploadId, VersionId};
use crate::layout::{Layout, RecordKey};
use crate::lock::Lock;
use crate::name::Name;
use crate::op::Op;
use crate::reader::{Reader, read_record};
use crate::record::{self, Body};
use crate::settings::Settings;
use crate::step::{PinStep, Refused, Step, VersionStep};
use crate::upload::Upload;
use crate::version::Version;
use crate::wire::Extra;

/// How often a step is evaluated before it gives up.
const ATTEMPTS: usize = 100;
/// How many of them follow each other at once.
const QUICK: usize = 2;
const WAITS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));
/// How often a write that may be repeated is tried when its answer gets lost.
const WRITES: usize = 3;

/// A client of one document. Any number of clients may use it at a time, in one process or many.
#[derive(Clone)]
pub struct Document {
    shared: Arc<Shared>,
    name: Name,
    layout: Arc<Layout>,
}

/// A step that was carried out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stepped {
    /// The head behind the step.
    pub head: Head,
    /// The version that the step wrote.
    pub version: Option<Version>,
    /// The lock that the step took, renewed, released or broke.
    pub lock: Option<Lock>,
    /// Whether anything changed; a step may change nothing.
    pub changed: bool,
}

/// A head as it is stored.
pub(crate) struct Stored {
    pub(crate) head: Head,
    pub(crate) version: Option<BlobVersion>,
}

/// An attempt whose outcome is not known.
struct Attempt {
    id: AttemptId,
    stepped: Stepped,
    record: Option<Key>,
    /// Whether it may be carried out later, since its answer got lost.
    may_arrive: bool,
}

/// What became of an attempt.
enum Attempted {
    Done(Stepped),
    Unknown(Attempt),
}

impl Document {
    pub(crate) fn new(shared: Arc<Shared>, name: Name) -> Self {
        let layout = Arc::new(Layout::new(shared.settings.prefix(), &name));
        Self { shared, name, layout }
    }

    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What is true of the document now.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a head that is damaged, `Unsupported` for one of a later release, and those of the store.
    pub async fn head(&self) -> Result<Head> {
        Ok(self.load(Op::Read).await?.head)
    }

    /// Carries out one step: `decide` sees the head, and says what is to be changed of it, or refuses.
    ///
    /// Steps of all clients come one after the other. If another client was faster, `decide` is called again with what is there
    /// now, so it may be called several times, and its last answer counts. A step whose answer got lost is recognised and not made twice.
    ///
    /// # Errors
    ///
    /// What `decide` refuses with is the inner error. `Invalid` for a step that this head does not allow, `TooLarge`,
    /// `NotKept`, `Expired`, `Busy`, `Ambiguous` and those of [`head`](Self::head).
    pub async fn step<E>(&self, decide: impl FnMut(&Head) -> Result<Step, E>) -> Result<Result<Stepped, E>> {
        self.step_as(Op::Step, decide).await
    }

    /// A step that errors call by this name.
    pub(crate) async fn step_as<E>(
        &self,
        op: Op,
        mut decide: impl FnMut(&Head) -> Result<Step, E>,
    ) -> Result<Result<Stepped, E>> {
        let mut unknown: Vec<Attempt> = Vec::new();
        let mut waits = Backoff::new(WAITS.0, WAITS.1);
        let mut stored = self.load(op).await?;
        for round in 0..ATTEMPTS {
            if round > QUICK {
                self.pause(waits.wait()).await;
            }
            if let Some(done) = self.settle(op, &mut unknown, &stored.head).await? {
                return Ok(Ok(done));
            }
            let may_arrive = unknown.iter().any(|attempt| attempt.may_arrive);
            let step = match decide(&stored.head) {
                Ok(step) if !step.is_nothing() => step,
                // An attempt that is on its way may still arrive, and then the answer would be another one.
                _ if may_arrive => return Err(Error::new(ErrorKind::Ambiguous, op, self.place())),
                Ok(_) => {
                    let head = stored.head;
                    return Ok(Ok(Stepped { head, version: None, lock: None, changed: false }));
                }
                Err(refusal) => return Ok(Err(refusal)),
            };
            let attempted = self.attempt(op, &stored, &step).await;
            match attempted.map_err(|error| self.in_doubt(op, &unknown, error))? {
                Attempted::Done(stepped) => {
                    // The head that they asked for is replaced, so they cannot arrive any more.
                    for attempt in unknown {
                        self.forget(attempt.record).await;
                    }
                    return Ok(Ok(stepped));
                }
                Attempted::Unknown(attempt) => unknown.push(attempt),
            }
            stored = self.load(op).await.map_err(|error| self.in_doubt(op, &unknown, error))?;
        }
        Err(self.in_doubt(op, &unknown, Error::new(ErrorKind::Busy, op, self.place())))
    }

    /// Begins to store a content.
    pub fn upload(&self) -> Upload {
        Upload::new(self.clone())
    }

    /// Stores a content that is in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Upload::push`].
    pub async fn content(&self, bytes: impl Into<Bytes>) -> Result<Content> {
        let mut upload = self.upload();
        upload.push(bytes).await?;
        upload.finish().await
    }

    /// Reads the present version; none if the document was never written or is deleted.
    ///
    /// # Errors
    ///
    /// Those of [`head`](Self::head) and of [`open`](Self::open).
    pub async fn read(&self) -> Result<Option<Reader>> {
        for _ in 0..ATTEMPTS {
            let head = self.head().await?;
            let Some(version) = head.current() else { return Ok(None) };
            match self.open(version).await {
                // Newer versions came, and retention was quick. There is a present version all the time.
                Err(error) if error.kind() == ErrorKind::NotKept => {}
                reader => return reader.map(Some),
            }
        }
        Err(Error::new(ErrorKind::Busy, Op::Read, self.place()))
    }

    /// Reads the content of a version.
    ///
    /// # Errors
    ///
    /// `NotKept` for a deletion and for a version that was removed, `Corrupt` for one that is damaged, and those of the store.
    pub async fn open(&self, version: &Version) -> Result<Reader> {
        if version.deleted {
            let error = Error::new(ErrorKind::NotKept, Op::Read, self.place());
            return Err(error.because(format!("version {} is a deletion, it has no content", version.number)));
        }
        Reader::open(self, version).await
    }

    pub(crate) fn store(&self) -> &dyn BlobStore {
        &*self.shared.store
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.context.clock.now()
    }

    /// The document in messages.
    pub(crate) fn place(&self) -> String {
        format!("{} in {}", one_line(self.name.as_str()), self.shared.store)
    }

    pub(crate) fn failed(&self, op: Op, error: groundstate_blobs::Error) -> Error {
        Error::of_store(op, self.place(), error)
    }

    pub(crate) fn key(&self, op: Op, text: &str) -> Result<Key> {
        Key::parse(text).map_err(|error| self.failed(op, error))
    }

    /// Reads the head.
    pub(crate) async fn load(&self, op: Op) -> Result<Stored> {
        let key = self.key(op, self.layout.head())?;
        let blob = self.store().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| self.failed(op, error))? else {
            return Ok(Stored { head: Head::absent(self.now()), version: None });
        };
        let head = Head::read(&blob.bytes, &self.name, self.now()).map_err(|problem| match problem {
            Unreadable::Damaged(problem) => {
                let error = Error::new(ErrorKind::Corrupt, op, self.place());
                error
                    .because(format!("its head is damaged: {problem}"))
                    .next_step("restore it from a backup of the store")
            }
            Unreadable::Newer(format) => {
                let error = Error::new(ErrorKind::Unsupported, op, self.place());
                error
                    .because(format!("its head has the format {format}, which a later release wrote"))
                    .next_step("upgrade")
            }
        })?;
        Ok(Stored { head, version: Some(blob.meta.version) })
    }

    /// Stores a blob whose key nothing else has.
    pub(crate) async fn put_once(&self, op: Op, key: &str, bytes: Bytes) -> Result<Key> {
        let key = self.key(op, key)?;
        let mut tries = 1;
        loop {
            match self.store().put(&key, bytes.clone(), &PutOptions::default()).await {
                Ok(_) => return Ok(key),
                // Writing the same again changes nothing.
                Err(error) if error.kind() == BlobKind::Ambiguous && tries < WRITES => tries += 1,
                Err(error) => return Err(self.failed(op, error)),
            }
        }
    }

    /// The id of an upload that begins now.
    pub(crate) async fn begin_upload(&self) -> Result<UploadId> {
        let head = self.load(Op::Upload).await?.head;
        UploadId::new(&*self.shared.context.ids, head.uploads.epoch)
            .map_err(|error| self.no_id(Op::Upload, error))
    }

    async fn pause(&self, wait: Duration) {
        // Without a random number all clients wait the same time, which is all that is lost.
        let share = self.shared.context.ids.number().unwrap_or(u32::MAX);
        let jitter = (wait / 2).mul_f64(f64::from(share) / f64::from(u32::MAX));
        self.shared.context.sleeper.sleep(wait / 2 + jitter).await;
    }

    fn no_id(&self, op: Op, error: IdSourceError) -> Error {
        Error::new(ErrorKind::Unavailable, op, self.place())
            .because("there is no random id")
            .with_source(error)
    }

    fn unwritable(&self, op: Op, error: serde_json::Error) -> Error {
        Error::new(ErrorKind::Internal, op, self.place()).with_source(error)
    }

    fn refused(&self, op: Op, refused: &Refused) -> Error {
        let (kind, why) = match refused {
            Refused::Invalid(why) => (ErrorKind::Invalid, why),
            Refused::TooLarge(why) => (ErrorKind::TooLarge, why),
        };
        Error::new(kind, op, self.place()).because(*why)
    }

    /// Tries once to put another head in place of this one.
    async fn attempt(&self, op: Op, stored: &Stored, step: &Step) -> Result<Attempted> {
        let mut attempt = self.prepare(op, &stored.head, step).await?;
        let bytes = attempt.stepped.head.write(&self.name).map_err(|error| self.unwritable(op, error))?;
        let condition = PutOptions::expecting(Precondition::of(stored.version.as_ref()));
        let key = self.key(op, self.layout.head())?;
        match self.store().put(&key, bytes, &condition).await {
            Ok(_) => Ok(Attempted::Done(attempt.stepped)),
            Err(error) if error.kind() == BlobKind::PreconditionFailed => Ok(Attempted::Unknown(attempt)),
            Err(error) if error.kind() == BlobKind::Ambiguous => {
                attempt.may_arrive = true;
                Ok(Attempted::Unknown(attempt))
            }
            Err(error) => Err(self.failed(op, error)),
        }
    }

    /// The error of a step, some attempts of which may have been carried out.
    fn in_doubt(&self, op: Op, unknown: &[Attempt], error: Error) -> Error {
        match unknown.iter().any(|attempt| attempt.may_arrive) {
            true => Error::new(ErrorKind::Ambiguous, op, self.place()).with_source(error),
            false => error,
        }
    }

    /// Finds out which of the attempts was carried out, and forgets those that never will be.
    async fn settle(&self, op: Op, unknown: &mut Vec<Attempt>, head: &Head) -> Result<Option<Stepped>> {
        for attempt in std::mem::take(unknown) {
            let revision = attempt.stepped.head.revision;
            if head.revision < revision {
                // It may still arrive, if its answer got lost.
                unknown.push(attempt);
                continue;
            }
            match head.attempt_at(revision) {
                Some(id) if *id == attempt.id => return Ok(Some(attempt.stepped)),
                Some(_) => self.forget(attempt.record).await,
                None if attempt.may_arrive => return Err(Error::new(ErrorKind::Ambiguous, op, self.place())),
                None => self.forget(attempt.record).await,
            }
        }
        Ok(None)
    }

    /// Removes the record of a version that was not accepted. A sweep does if this fails.
    async fn forget(&self, record: Option<Key>) {
        if let Some(key) = record {
            drop(self.store().delete(&key, &DeleteOptions::default()).await);
        }
    }

    /// Makes the head of an attempt, and stores the record of its version.
    async fn prepare(&self, op: Op, head: &Head, step: &Step) -> Result<Attempt> {
        let refused = |refused: Refused| self.refused(op, &refused);
        step.check().map_err(refused)?;
        let id = AttemptId::new(&*self.shared.context.ids).map_err(|error| self.no_id(op, error))?;
        let mut next = head.next(id.clone());
        step.apply_before(&mut next).map_err(refused)?;
        let (mut written, mut record) = (None, None);
        if let Some(change) = &step.version {
            let (version, body) = self.new_version(op, &next, change).await?;
            let bytes =
                record::write(&self.name, &version, &body).map_err(|error| self.unwritable(op, error))?;
            let key = self.layout.record(&RecordKey::of(&version));
            record = Some(self.put_once(op, &key, bytes).await?);
            written = Some(version.clone());
            Step::apply_version(&mut next, version);
        }
        let lock = step.lock.is_some().then(|| next.lock.clone()).flatten();
        let pin = match step.pin {
            Some(PinStep::Pin(number)) => Some(Pin { number, id: self.version_id(op, &next, number).await? }),
            _ => None,
        };
        step.apply_after(&mut next, pin).map_err(refused)?;
        let stepped = Stepped { head: next, version: written, lock, changed: true };
        Ok(Attempt { id, stepped, record, may_arrive: false })
    }

    async fn new_version(&self, op: Op, head: &Head, change: &VersionStep) -> Result<(Version, Body)> {
        let options = change.options();
        let lock = match &options.lock {
            None => None,
            Some(id) => Some(
                head.lock_of(id)
                    .ok_or(Refused::Invalid("the document has not the lock of this id"))
                    .map_err(|refused| self.refused(op, &refused))?,
            ),
        };
        let (body, restored, upload, size, sha256, md5) = match change {
            VersionStep::Write(content, _) => {
                let content = &*content.0;
                self.check_content(op, head, content)?;
                (
                    content.body.clone(),
                    None,
                    content.upload.clone(),
                    content.size,
                    content.sha256,
                    content.md5,
                )
            }
            VersionStep::Delete(_) => {
                let nothing = crate::digest::Digests::default();
                let (sha256, md5) = nothing.finish();
                (Body::Inline(Bytes::new()), None, None, 0, sha256, md5)
            }
            VersionStep::Restore(number, _) => {
                let old = self.version_of(op, head, *number).await?;
                if old.deleted {
                    let error = Error::new(ErrorKind::Invalid, op, self.place());
                    return Err(error.because(format!("version {number} is a deletion, it has no content")));
                }
                let (old, body) = read_record(self, &old).await?;
                (body, Some(*number), old.upload, old.size, old.sha256, old.md5)
            }
        };
        let id =
            VersionId::new(&*self.shared.context.ids, head.now).map_err(|error| self.no_id(op, error))?;
        let version = Version {
            number: head.number() + 1,
            id,
            previous: head.last().map(|last| last.id.clone()),
            time: head.now,
            by: options.by.clone(),
            deleted: matches!(change, VersionStep::Delete(_)),
            size,
            sha256,
            md5,
            lock: options.lock.clone(),
            token: lock.map(|lock| lock.token),
            restored,
            note: options.note.clone(),
            upload,
            extra: Extra::new(),
        };
        Ok((version, body))
    }

    /// Refuses a content of another document, and one that a sweep may have removed.
    fn check_content(&self, op: Op, head: &Head, content: &crate::content::Inner) -> Result<()> {
        if content.document != self.name {
            let error = Error::new(ErrorKind::Invalid, op, self.place());
            return Err(error.because("the content was uploaded for another document"));
        }
        match &content.upload {
            Some(upload) if upload.epoch() < head.uploads.given_up_before => {
                let error = Error::new(ErrorKind::Expired, op, self.place());
                Err(error.next_step("upload the content again"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("name", &self.name)
            .field("store", &self.shared.store)
            .finish_non_exhaustive()
    }
}
