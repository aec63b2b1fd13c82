//! The start of an update: it takes the lease.

use std::time::Duration;

use groundstate_blobs::PutOptions;
use groundstate_common::{IdSource as _, Timestamp, hex};
use groundstate_versioned::{Head, Step};
use zeroize::Zeroizing;

use crate::error::{ErrorKind, Result};
use crate::lease::{Lease, LeaseToken, StartOptions};
use crate::op::Op;
use crate::record::{Holder, PreviewRecord, Running};
use crate::traced;
use crate::update::Update;

/// How long an update may wait between its creation and its start.
pub(crate) const UNSTARTED: Duration = Duration::from_secs(3600);
/// After how long without a word an update is one whose client never got the answer to its start. The CLI sends its first events within
/// seconds, and begins no step before what it does is stored.
const SPEECHLESS: Duration = Duration::from_secs(60);

impl Update {
    /// Starts it: takes the lease of the stack. A preview takes none.
    ///
    /// Under the same id it succeeds again while the update has stored nothing; the token of before is not valid any more then.
    ///
    /// # Errors
    ///
    /// `Running` if another update has the lease, `Conflict` for an update that has ended or stored something, `NotFound`.
    pub async fn start(&self, options: &StartOptions) -> Result<Lease> {
        Box::pin(traced::on_update(Op::Update, self, async {
            let lease = self.starting(options).await?;
            traced::version(lease.version);
            Ok(lease)
        }))
        .await
    }

    async fn starting(&self, options: &StartOptions) -> Result<Lease> {
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
            let version = match self.stack.bucket() {
                Some(bucket) => bucket.updates(self.stack.path()).await?,
                None => crate::stack::number(self.stack.current(OP, &head)?),
            };
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
            bucket: None,
        };
        let version = match self.stack.bucket() {
            Some(bucket) => self.take_lease_in_bucket(OP, bucket, running, lease, again).await?,
            None => self.take_lease(OP, &running, lease, again).await?.number(),
        };
        Ok(Lease { token, expires, version, journal })
    }

    /// Takes the lock of the stack.
    pub(crate) async fn take_lease(
        &self,
        op: Op,
        running: &Running,
        lease: Duration,
        again: bool,
    ) -> Result<Head> {
        let lock = self.lock(op, &Holder::Update(running.clone()), lease, &running.author)?;
        let decide = |head: &Head| {
            self.stack.current(op, head)?;
            match head.recorded_lock() {
                Some(held) if held.id != self.id => Err(self.stack.is_running(op)),
                Some(_) if !again => Err(self.conflict(op, "it has been started")),
                None if head.ended(&self.id).is_some() => Err(self.conflict(op, "it has ended")),
                _ => Ok(Step::lock(lock.clone())),
            }
        };
        let stepped = self.stack.versions_document().step(decide).await;
        Ok(stepped.map_err(|error| self.stack.failed(op, error))??.head)
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

    /// Whether the client has stored entries or checkpoints.
    async fn has_stored(&self, op: Op) -> Result<bool> {
        Ok(self.checkpoint_size(op).await?.is_some() || self.journal_is_begun(op).await?)
    }
}
