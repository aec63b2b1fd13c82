//! Updates: created, started under a lease, renewed, and ended.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{ErrorKind as BlobKind, GetOptions, Precondition, PutOptions};
use groundstate_common::{IdSource as _, Timestamp, hex};
use groundstate_versioned::{Ending, Head, Lock, NewLock, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Holder, PreviewRecord, Running, UpdateRequest, UpdateResult, VersionNote};
use crate::stack::{Stack, holder};

/// How long an update may wait between its creation and its start.
const UNSTARTED: Duration = Duration::from_secs(3600);
/// After how long without a word an update is one whose client never got the answer to its start. The CLI sends its first events within
/// seconds, and begins no step before what it does is stored.
const SPEECHLESS: Duration = Duration::from_secs(60);
/// The shortest and the longest lease that a client may ask for.
const LEASES: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(600));

/// The secret by which the client of an update says who it is. `Debug` does not show it.
pub struct LeaseToken(Zeroizing<String>);

impl LeaseToken {
    /// A token that a client sends.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Its text, to be sent to the client.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn digest(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes()))
    }

    fn is(&self, digest: &str) -> bool {
        self.digest().as_bytes().ct_eq(digest.as_bytes()).into()
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseToken(…)")
    }
}

/// A lease on a stack, or a preview, which has none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lease {
    /// What the client has to send from now on.
    pub token: LeaseToken,
    /// When it is over.
    pub expires: Timestamp,
    /// The number of the version that the update will make; for a preview that of the present one.
    pub version: u64,
    /// The version of the journal that the client may send; none if it has to send checkpoints.
    pub journal: Option<u32>,
}

/// What a client says when it starts an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StartOptions {
    /// The newest version of journals that the client speaks.
    pub journal: Option<u32>,
    /// The version of the engine, such as `v3.259.0`.
    pub engine: String,
}

impl StartOptions {
    /// Says which journals the client speaks, and of which version its engine is.
    pub fn new(journal: Option<u32>, engine: impl Into<String>) -> Self {
        Self { journal, engine: engine.into() }
    }
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStatus {
    /// It was created.
    NotStarted,
    /// It runs.
    Running,
    /// It has ended.
    Ended(UpdateResult),
}

impl Stack {
    /// A client of one update.
    pub fn update(&self, id: &str) -> Update {
        // What is no id becomes one that no update has: it stands in keys.
        let is_id = !id.is_empty()
            && id.len() <= 64
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        Update { stack: self.clone(), id: if is_id { id.to_owned() } else { "none".to_owned() } }
    }

    /// Creates an update. It holds nothing until it is started.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn create_update(&self, request: &UpdateRequest) -> Result<Update> {
        const OP: Op = Op::Update;
        let update = self.update(&self.stacks.new_id(OP, self.path())?);
        update.put(OP, "request", request, &PutOptions::default()).await?;
        Ok(update)
    }
}

/// A client of one update of a stack.
#[derive(Clone, Debug)]
pub struct Update {
    pub(crate) stack: Stack,
    pub(crate) id: String,
}

impl Update {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its stack.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// What the client said when it created it.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn request(&self) -> Result<UpdateRequest> {
        let found = self.get::<UpdateRequest>(Op::Read, "request").await?;
        found.map(|(request, _)| request).ok_or_else(|| self.missing(Op::Read))
    }

    pub(crate) fn missing(&self, op: Op) -> Error {
        self.stack.error(ErrorKind::NotFound, op).because(format!("there is no update {}", self.id))
    }

    /// Starts it: takes the lease of the stack. A preview takes none.
    ///
    /// Under the same id it succeeds again while the update has stored nothing; the token of before is not valid any more then.
    ///
    /// # Errors
    ///
    /// `Running` if another update has the lease, `Conflict` for an update that has ended or stored something, `NotFound`.
    pub async fn start(&self, options: &StartOptions) -> Result<Lease> {
        const OP: Op = Op::Update;
        let request = self.request().await?;
        if request.source.is_some() {
            return Err(self.conflict(OP, "it was appended to the history, and never ran here"));
        }
        let mut head = self.stack.settled(OP).await?;
        let now = self.stack.stacks.now();
        if !request.preview
            && let Some(lost) = self.lost_start(OP, &head).await?
        {
            lost.cancel("the service").await?;
            head = self.stack.settled(OP).await?;
        }
        if now.duration_since(request.created).is_some_and(|age| age > UNSTARTED)
            && head.lock_of(&self.id).is_none()
        {
            return Err(self
                .conflict(OP, "it was created more than an hour ago")
                .next_step("create another"));
        }
        let token = self.new_token(OP)?;
        let lease = self.stack.stacks.options().lease;
        let expires = now.checked_add(lease).unwrap_or(Timestamp::MAX);
        // Version 1 is the only one there is.
        let journal = options.journal.filter(|newest| *newest >= 1).map(|_| 1);
        if request.preview {
            let record = PreviewRecord { token: token.digest(), expires, result: None };
            if let Some((PreviewRecord { result: Some(_), .. }, _)) =
                self.get::<PreviewRecord>(OP, "preview").await?
            {
                return Err(self.conflict(OP, "it has ended"));
            }
            self.put(OP, "preview", &record, &PutOptions::default()).await?;
            let version = crate::stack::number(self.stack.current(OP, &head)?);
            return Ok(Lease { token, expires, version, journal });
        }
        let again = head.lock_of(&self.id).is_some();
        if again && self.has_stored(OP).await? {
            return Err(self.conflict(OP, "it has been started, and has stored something"));
        }
        let running = Running {
            update: self.id.clone(),
            kind: request.kind.clone(),
            author: request.author.clone(),
            started: now,
            journal,
            token: token.digest(),
            engine: options.engine.clone(),
            cancelled: None,
        };
        let lock = self.lock(OP, &Holder::Update(running), lease, &request.author)?;
        let decide = |head: &Head| {
            self.stack.current(OP, head)?;
            match head.recorded_lock() {
                Some(held) if held.id != self.id => Err(self.stack.is_running(OP)),
                Some(_) if !again => Err(self.conflict(OP, "it has been started")),
                None if head.ended(&self.id).is_some() => Err(self.conflict(OP, "it has ended")),
                _ => Ok(Step::lock(lock.clone())),
            }
        };
        let stepped = self.stack.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.stack.failed(OP, error))??.head;
        Ok(Lease { token, expires, version: head.number(), journal })
    }

    /// The update that has the lease if its client never said anything: the answer to its start got lost, and clients do not ask again.
    async fn lost_start(&self, op: Op, head: &Head) -> Result<Option<Self>> {
        let Some(running) = self.stack.running(head).filter(|running| running.update != self.id) else {
            return Ok(None);
        };
        let age = self.stack.stacks.now().duration_since(running.started);
        let lease = self.stack.stacks.options().lease;
        let renewed = head.lock().and_then(|lock| lock.expires) > running.started.checked_add(lease);
        let other = self.stack.update(&running.update);
        let is_lost = age.is_some_and(|age| age > SPEECHLESS)
            && !renewed
            && !other.has_stored(op).await?
            && other.events(0, 1).await?.events.is_empty();
        Ok(is_lost.then_some(other))
    }

    fn new_token(&self, op: Op) -> Result<LeaseToken> {
        let mut bytes = Zeroizing::new([0; 32]);
        self.stack.stacks.context().ids.fill(&mut *bytes).map_err(|error| {
            self.stack.error(ErrorKind::Internal, op).because("there is no random token").with_source(error)
        })?;
        Ok(LeaseToken::new(hex(&*bytes)))
    }

    pub(crate) fn lock(&self, op: Op, holder: &Holder, lease: Duration, by: &str) -> Result<NewLock> {
        let document = serde_json::to_vec(holder)
            .map_err(|error| self.stack.error(ErrorKind::Internal, op).with_source(error))?;
        Ok(NewLock::new(&self.id).document(document).lease(Some(lease)).by(by))
    }

    fn conflict(&self, op: Op, why: &str) -> Error {
        self.stack.error(ErrorKind::Conflict, op).because(format!("the update {}: {why}", self.id))
    }

    /// Whether the client has stored entries or checkpoints.
    async fn has_stored(&self, op: Op) -> Result<bool> {
        Ok(self.checkpoint(op).await?.is_some() || self.journal_is_begun(op).await?)
    }

    /// The update as it runs, if the token is that of its lease.
    ///
    /// # Errors
    ///
    /// `LeaseLost` for another token, an update that has ended, and a lease that is over.
    pub(crate) async fn leased(&self, op: Op, token: &LeaseToken) -> Result<Leased> {
        let head = self.stack.head(op).await?;
        self.told(op, &head, self.leased_by(op, &head, token)).await
    }

    /// A lease that is lost, with what the version says of the end of the update: another user, or time.
    async fn told(&self, op: Op, head: &Head, leased: Result<Leased>) -> Result<Leased> {
        let is_over = head.ended(&self.id).is_some_and(|ended| ended.how != Ending::Released);
        match leased {
            Err(error) if is_over && error.kind() == ErrorKind::LeaseLost => {
                let reason = self.made_version(op).await?.and_then(|note| note.reason);
                Err(match reason {
                    Some(reason) => self.stack.error(ErrorKind::LeaseLost, op).because(reason),
                    None => error,
                })
            }
            leased => leased,
        }
    }

    pub(crate) fn leased_by(&self, op: Op, head: &Head, token: &LeaseToken) -> Result<Leased> {
        let lost = |why: String| self.stack.error(ErrorKind::LeaseLost, op).because(why);
        let Some(lock) = head.lock_of(&self.id) else { return Err(lost(self.how_it_ended(head))) };
        let Some(Holder::Update(running)) = holder(lock) else { return Err(lost(self.how_it_ended(head))) };
        if !token.is(&running.token) {
            return Err(lost("the token is not that of the lease".to_owned()));
        }
        if let Some(by) = &running.cancelled {
            return Err(lost(format!("{by} cancelled the update")));
        }
        if !lock.is_in_force(head.time()) {
            return Err(lost("the lease has expired".to_owned()));
        }
        Ok(Leased { running, lock: lock.clone() })
    }

    fn how_it_ended(&self, head: &Head) -> String {
        match head.ended(&self.id).map(|ended| &ended.how) {
            Some(Ending::Released) => "the update has ended".to_owned(),
            Some(Ending::Broken { by, .. }) => format!("{by} cancelled the update"),
            Some(_) => "the lease has expired, and the update was ended".to_owned(),
            None => "the update does not run".to_owned(),
        }
    }

    /// Whether the token is that of this update: of its lease, or of its preview.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if it is not.
    pub async fn check(&self, token: &LeaseToken) -> Result<()> {
        const OP: Op = Op::Events;
        let head = self.stack.head(OP).await?;
        if head.lock_of(&self.id).is_none()
            && let Some((preview, _)) = self.get::<PreviewRecord>(OP, "preview").await?
        {
            return self.check_preview(OP, &preview, token);
        }
        self.told(OP, &head, self.leased_by(OP, &head, token)).await.map(drop)
    }

    fn check_preview(&self, op: Op, preview: &PreviewRecord, token: &LeaseToken) -> Result<()> {
        let why = match preview {
            preview if !token.is(&preview.token) => "the token is not that of the preview",
            PreviewRecord { result: Some(_), .. } => "the preview has ended",
            preview if preview.expires <= self.stack.stacks.now() => "the preview has expired",
            _ => return Ok(()),
        };
        Err(self.stack.error(ErrorKind::LeaseLost, op).because(why))
    }

    /// Renews the lease, and gives when it is over now. The token stays.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, and those of the store.
    pub async fn renew(&self, token: &LeaseToken, duration: Option<Duration>) -> Result<Timestamp> {
        const OP: Op = Op::Renew;
        let lease = duration.unwrap_or(self.stack.stacks.options().lease).clamp(LEASES.0, LEASES.1);
        let expires = self.stack.stacks.now().checked_add(lease).unwrap_or(Timestamp::MAX);
        let renew = |preview: &mut PreviewRecord| {
            self.check_preview(OP, preview, token)?;
            preview.expires = expires;
            Ok(())
        };
        if self.change_preview(OP, renew).await? {
            return Ok(expires);
        }
        let decide = |head: &Head| {
            self.leased_by(OP, head, token)?;
            Ok::<_, Error>(Step::renew(Some(lease)))
        };
        let stepped = self.stack.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.stack.failed(OP, error))??.head;
        Ok(head.lock().and_then(|lock| lock.expires).unwrap_or(expires))
    }

    /// Ends it. What it did becomes a version of the stack. A second time it succeeds without effect.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, `Conflict` if it has ended in another way, and those of the store.
    pub async fn complete(&self, token: &LeaseToken, result: UpdateResult) -> Result<()> {
        const OP: Op = Op::Complete;
        let end = |preview: &mut PreviewRecord| {
            if preview.result.is_some() && token.is(&preview.token) {
                return self.same_result(preview.result, result);
            }
            self.check_preview(OP, preview, token)?;
            preview.result = Some(result);
            Ok(())
        };
        if self.change_preview(OP, end).await? {
            return Ok(());
        }
        let head = self.stack.head(OP).await?;
        if head.lock_of(&self.id).is_none()
            && head.ended(&self.id).is_some_and(|ended| ended.how == Ending::Released)
        {
            let made = self.made_version(OP).await?;
            return self.same_result(made.map(|note| note.result), result);
        }
        let Leased { running, lock } = self.told(OP, &head, self.leased_by(OP, &head, token)).await?;
        self.finish(OP, &running, &lock, result, None).await
    }

    /// Changes what is kept of a preview; tells whether the update is one.
    async fn change_preview(
        &self,
        op: Op,
        change: impl Fn(&mut PreviewRecord) -> Result<()> + Send,
    ) -> Result<bool> {
        /// A renewal may come between.
        const ATTEMPTS: usize = 4;
        for _ in 0..ATTEMPTS {
            let Some((mut preview, version)) = self.get::<PreviewRecord>(op, "preview").await? else {
                return Ok(false);
            };
            change(&mut preview)?;
            let options = PutOptions::expecting(Precondition::Version(version));
            match self.put(op, "preview", &preview, &options).await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                changed => return changed.map(|()| true),
            }
        }
        Err(self.stack.error(ErrorKind::Unavailable, op).because("other requests change it all the time"))
    }

    fn same_result(&self, stored: Option<UpdateResult>, asked: UpdateResult) -> Result<()> {
        match stored {
            Some(stored) if stored != asked => {
                Err(self.conflict(Op::Complete, "it has ended in another way"))
            }
            _ => Ok(()),
        }
    }

    /// The note of the version that it made, if it is one of the newest.
    async fn made_version(&self, op: Op) -> Result<Option<VersionNote>> {
        /// An update that is older is not asked for again.
        const FAR: usize = 100;
        let page = self.stack.versions_document().versions(None, FAR).await;
        let page = page.map_err(|error| self.stack.failed(op, error))?;
        let mut notes = page.versions.iter().map(VersionNote::of);
        Ok(notes.find(|note| note.update.as_deref() == Some(&self.id)))
    }

    /// How far it is.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn status(&self) -> Result<UpdateStatus> {
        const OP: Op = Op::Read;
        let head = self.stack.settled(OP).await?;
        if head.lock_of(&self.id).is_some() {
            return Ok(UpdateStatus::Running);
        }
        if let Some(note) = self.made_version(OP).await? {
            return Ok(UpdateStatus::Ended(note.result));
        }
        if let Some((preview, _)) = self.get::<PreviewRecord>(OP, "preview").await? {
            return Ok(preview.result.map_or(UpdateStatus::Running, UpdateStatus::Ended));
        }
        self.request().await.map(|_| UpdateStatus::NotStarted)
    }

    /// Ends an update that another client runs: what it has stored counts, and its client is refused from now on. One that has ended
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// `NotFound` for an update that the stack never had, and those of the store.
    pub async fn cancel(&self, by: &str) -> Result<()> {
        const OP: Op = Op::Cancel;
        let head = self.stack.head(OP).await?;
        let Some(Holder::Update(mut running)) = head.lock_of(&self.id).and_then(holder) else {
            return match head.ended(&self.id).is_some() || self.made_version(OP).await?.is_some() {
                true => Ok(()),
                false => self.request().await.map(drop),
            };
        };
        running.cancelled.get_or_insert_with(|| by.to_owned());
        // Who did it is stored, so that whichever node goes on knows; the lease is over at once.
        let lock = self.lock(OP, &Holder::Update(running), Duration::ZERO, by)?;
        let decide = |head: &Head| match head.lock_of(&self.id) {
            Some(_) => Ok::<_, Error>(Step::lock(lock.clone())),
            None => Ok(Step::nothing()),
        };
        let stepped = self.stack.versions_document().step(decide).await;
        stepped.map_err(|error| self.stack.failed(OP, error))??;
        self.stack.settle(OP).await.map(drop)
    }

    pub(crate) fn key_text(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.stack.id(), self.id)
    }

    /// Something small that belongs to the update, and its version.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        op: Op,
        what: &str,
    ) -> Result<Option<(T, groundstate_blobs::BlobVersion)>> {
        let stacks = &self.stack.stacks;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text(what))?;
        let blob = stacks.blobs().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| Error::of_blobs(op, self.stack.path(), error))? else {
            return Ok(None);
        };
        let value = serde_json::from_slice(&blob.bytes).map_err(|error| {
            let failure = self.stack.error(ErrorKind::Corrupt, op);
            failure.because(format!("what is stored of the update {} is damaged", self.id)).with_source(error)
        })?;
        Ok(Some((value, blob.version().clone())))
    }

    pub(crate) async fn put(
        &self,
        op: Op,
        what: &str,
        value: &impl Serialize,
        options: &PutOptions,
    ) -> Result<()> {
        let text = serde_json::to_vec(value)
            .map_err(|error| self.stack.error(ErrorKind::Internal, op).with_source(error))?;
        self.put_bytes(op, what, text.into(), options).await
    }

    pub(crate) async fn put_bytes(
        &self,
        op: Op,
        what: &str,
        bytes: Bytes,
        options: &PutOptions,
    ) -> Result<()> {
        let stacks = &self.stack.stacks;
        let key = stacks.blob_key(op, self.stack.path(), &self.key_text(what))?;
        match stacks.blobs().put(&key, bytes, options).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == BlobKind::PreconditionFailed => {
                Err(self.conflict(op, "another request changed it at the same time"))
            }
            Err(error) => Err(Error::of_blobs(op, self.stack.path(), error)),
        }
    }
}

/// An update that runs, and the lock that says so.
pub(crate) struct Leased {
    pub(crate) running: Running,
    pub(crate) lock: Lock,
}
