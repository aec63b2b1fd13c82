//! The end of an update: what it stored becomes a version, whichever client or node ends it.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::one_line;
use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
use groundstate_pulumi_journal::{Entry, EntryKind, ReplayError, Replayed, Replayer};
use groundstate_pulumi_snapshot::{Feature, Manifest, Snapshot, Time, is_default_provider};
use groundstate_versioned::{Head, Lock, NewLock, Step};
use tracing::{info, warn};

use crate::bucket::{names_service, with_provider};
use crate::checkpoint::StoredCheckpoint;
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Holder, Running, UpdateResult, VersionNote};
use crate::room::{OF_REPLAY, Slot};
use crate::stack::{Stack, holder};
use crate::update::Update;

/// How long a node has for what a client left. Another one goes on behind that.
const SETTLING: Duration = Duration::from_secs(60);
/// How often a settlement begins again because others changed the stack.
const ATTEMPTS: usize = 16;

/// What an update made.
struct Outcome {
    state: Bytes,
    changes: BTreeMap<String, u64>,
    /// What is odd, to be kept with the version.
    remark: Option<String>,
    /// The memory that all of it takes.
    _slot: Slot,
}

impl Stack {
    /// Finishes what the holder of a lock that is over has left: an update becomes a version with what it had stored, a change of names
    /// is carried through. Gives the head without that lock.
    pub(crate) async fn settle(&self, op: Op) -> Result<Head> {
        for _ in 0..ATTEMPTS {
            let head = self.head(op).await?;
            let Some(lock) = head.recorded_lock().filter(|_| head.lock().is_none()) else { return Ok(head) };
            match holder(lock) {
                Some(Holder::Update(running) | Holder::Settle(running)) => {
                    let Some(own) = self.take_over(op, lock, &running).await? else { continue };
                    let update = self.update(&running.update);
                    if update.gives_up(op, &running, &own.id).await? {
                        continue;
                    }
                    let reason = match &running.cancelled {
                        Some(by) => format!("{by} cancelled the update"),
                        None => "the lease expired".to_owned(),
                    };
                    info!(stack = %self.path(), update = %running.update, reason, "an update is ended");
                    match update.finish(op, &running, &own, UpdateResult::Failed, Some(reason)).await {
                        Err(error) if error.kind() == ErrorKind::LeaseLost => {}
                        other => drop(other?),
                    }
                }
                Some(Holder::Bucket { lock: id, place }) => self.settle_edit(op, lock, [&id, &place]).await?,
                Some(Holder::Lock(record)) => self.settle_lock(op, lock, &record).await?,
                Some(Holder::Rename { from, to }) => self.resume_rename(op, lock, [&from, &to]).await?,
                None => {
                    let failure = self.error(ErrorKind::Corrupt, op);
                    let why = "its lock is over, and what it was for cannot be read; a later release may have taken it";
                    return Err(failure.because(why).next_step("upgrade the service"));
                }
            }
        }
        Err(self.error(ErrorKind::Unavailable, op).because("other clients change it all the time"))
    }

    /// Becomes the one that ends an update. From then on its client is refused, and nothing that it sends is acknowledged.
    async fn take_over(&self, op: Op, over: &Lock, running: &Running) -> Result<Option<Lock>> {
        let id = format!("settle-{}", self.stacks.new_id(op, self.path())?);
        let document = serde_json::to_vec(&Holder::Settle(running.clone()))
            .map_err(|error| self.error(ErrorKind::Internal, op).with_source(error))?;
        let lock = NewLock::new(&id).document(document).lease(Some(SETTLING)).by(&over.by);
        let decide = |head: &Head| match head.recorded_lock() {
            Some(held) if held.id == over.id && head.lock().is_none() => {
                Ok::<_, Error>(Step::lock(lock.clone()))
            }
            _ => Ok(Step::nothing()),
        };
        let stepped = self.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.failed(op, error))??.head;
        Ok(head.lock_of(&id).cloned())
    }
}

impl Update {
    /// Writes the version and releases the lock, in one step; a stack in a bucket is written there first. Gives why it is not the state
    /// there, if it is not.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if the lock is another one meanwhile.
    pub(crate) async fn finish(
        &self,
        op: Op,
        running: &Running,
        lock: &Lock,
        result: UpdateResult,
        reason: Option<String>,
    ) -> Result<Option<String>> {
        let stack = &self.stack;
        let head = stack.head(op).await?;
        let base = stack.current(op, &head)?.clone();
        let before = VersionNote::of(&base);
        let outcome = self.outcome(op, running, base.size).await?;
        let counts = Counts::of(op, stack.path(), &outcome.state)?;
        let mut note =
            VersionNote::new(&running.kind, result, running.started, stack.stacks.now()).counted(&counts);
        note.update = Some(self.id.clone());
        note.changes = outcome.changes;
        note.reason = match (reason, outcome.remark) {
            (Some(reason), Some(remark)) => Some(format!("{reason}; {remark}")),
            (reason, remark) => reason.or(remark),
        };
        let document = stack.versions_document();
        let state = outcome.state;
        let content = document.content(state.clone()).await.map_err(|error| stack.failed(op, error))?;
        if stack.bucket().is_some() {
            let apart = self.finish_in_bucket(op, running, lock, (state, content), note).await?;
            self.finished(op, result, before).await;
            return Ok(apart);
        }
        let options = note.options(op, stack.path(), &running.author)?.lock(&lock.id);
        let decide = |head: &Head| {
            // A lock that was renewed is the same; one that was cancelled has another document.
            let is_held = head.lock_of(&lock.id).is_some_and(|held| held.document == lock.document);
            match is_held {
                true => Ok(Step::write(content.clone(), options.clone()).and(Step::release())),
                false => {
                    Err(stack.error(ErrorKind::LeaseLost, op).because("another client has ended the update"))
                }
            }
        };
        document.step(decide).await.map_err(|error| stack.failed(op, error))??;
        self.finished(op, result, before).await;
        Ok(None)
    }

    /// Forgets what is not needed any more when an update has ended.
    async fn finished(&self, op: Op, result: UpdateResult, before: VersionNote) {
        self.stack.stacks.live().forget(&self.id);
        if result == UpdateResult::Succeeded
            && let Some(previous) = before.update.filter(|previous| *previous != self.id)
        {
            self.stack.update(&previous).forget_entries(op).await;
        }
    }

    /// What the update has stored so far, as a state: its checkpoint, or its journal on what it began with.
    async fn outcome(&self, op: Op, running: &Running, base: u64) -> Result<Outcome> {
        let mut outcome = match self.checkpoint(op).await? {
            Some(StoredCheckpoint { text, slot, .. }) => {
                Outcome { state: text, changes: BTreeMap::new(), remark: None, _slot: slot }
            }
            None => self.replayed(op, running, base).await?,
        };
        let path = self.stack.path();
        if self.stack.bucket().is_some() && names_service(op, path, &outcome.state)? {
            let base = deployment::read(op, path, &self.base(op).await?)?;
            let own = base.snapshot.and_then(|base| base.secrets_provider);
            outcome.state = with_provider(op, path, &outcome.state, own)?;
        }
        if let Some(changes) = self.summary(op).await? {
            outcome.changes = changes;
        }
        Ok(outcome)
    }

    /// The state that it began with.
    async fn base(&self, op: Op) -> Result<Bytes> {
        let stack = &self.stack;
        let reader = stack.versions_document().read().await.map_err(|error| stack.failed(op, error))?;
        let reader = reader.ok_or_else(|| stack.error(ErrorKind::NotFound, op))?;
        reader.collect(usize::MAX).await.map_err(|error| stack.failed(op, error))
    }

    async fn replayed(&self, op: Op, running: &Running, base_size: u64) -> Result<Outcome> {
        let stack = &self.stack;
        let bytes = base_size.saturating_add(self.stored_bytes(op, "journal/").await?);
        let slot = stack.stacks.take_room(op, stack.path(), bytes, OF_REPLAY)?;
        let base = self.base(op).await?;
        let entries = self.entries(op).await?;
        if entries.is_empty() {
            return Ok(Outcome { state: base, changes: BTreeMap::new(), remark: None, _slot: slot });
        }
        let changes = changes(&entries);
        let file = deployment::read(op, stack.path(), &base)?;
        let manifest = Manifest::new(Time::utc(stack.stacks.now()), running.engine.as_str());
        let (mut replayed, remark) = replay(&file, entries, &manifest).map_err(|error| {
            let failure = stack.error(ErrorKind::Corrupt, op);
            failure
                .because(format!("the journal of the update {} cannot be replayed", self.id))
                .with_source(error)
        })?;
        if let Some(remark) = &remark {
            warn!(stack = %stack.path(), update = %self.id, "{remark}");
        }
        if replayed.record_integrity(&format!("pulumi {}", running.kind)) {
            warn!(stack = %stack.path(), update = %self.id, "the state is not valid; it is stored with its error");
        }
        let state = deployment::write(op, stack.path(), replayed.into_file(Envelope::Deployment))?;
        Ok(Outcome { state, changes, remark, _slot: slot })
    }
}

/// Replays a journal. If entries contradict each other, as many as possible count, in their order: what they tell of exists.
fn replay(
    file: &DeploymentFile,
    mut entries: Vec<Entry>,
    manifest: &Manifest,
) -> Result<(Replayed, Option<String>), ReplayError> {
    entries.sort_by_key(|entry| entry.sequence);
    let error = match replay_some(file, &entries, manifest) {
        Ok(replayed) => return Ok((replayed, None)),
        Err(error) => error,
    };
    // The longest beginning that can be replayed.
    let (mut good, mut bad) = (0, entries.len());
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match replay_some(file, &entries[..middle], manifest) {
            Ok(_) => good = middle,
            Err(_) => bad = middle,
        }
    }
    let replayed = replay_some(file, &entries[..good], manifest)?;
    let left = entries.len() - good;
    let why = one_line(&error.to_string()).into_owned();
    Ok((replayed, Some(format!("the last {left} entries of the journal do not count: {why}"))))
}

fn replay_some(
    file: &DeploymentFile,
    entries: &[Entry],
    manifest: &Manifest,
) -> Result<Replayed, ReplayError> {
    let base: Snapshot = file.snapshot.clone().unwrap_or_default();
    let mut replayer = Replayer::new(base).byte_strings(file.features.contains(&Feature::ByteString));
    for entry in entries {
        replayer.apply(entry.clone())?;
    }
    replayer.snapshot(manifest.clone())
}

/// What the operations of a journal did, by the words of summaries. Clients that lose their events say it nowhere else.
fn changes(entries: &[Entry]) -> BTreeMap<String, u64> {
    let ended = entries.iter().filter(|entry| entry.kind == EntryKind::Success);
    let ended: std::collections::HashSet<_> = ended.map(|entry| entry.operation_id).collect();
    let mut changes = BTreeMap::new();
    let begun =
        entries.iter().filter(|entry| entry.kind == EntryKind::Begin && ended.contains(&entry.operation_id));
    // Providers that the engine made by itself are in no summary.
    let operations = begun.filter_map(|entry| entry.operation.as_ref());
    for operation in operations.filter(|operation| !is_default_provider(&operation.resource.urn)) {
        let word = match operation.kind.as_str() {
            "creating" => "create",
            "updating" => "update",
            "deleting" => "delete",
            "reading" => "read",
            "importing" => "import",
            _ => continue,
        };
        *changes.entry(word.to_owned()).or_insert(0) += 1;
    }
    changes
}
