//! The one who may append: each step is an object with the next number.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::FrameKind;
use crate::store::{OpenOptions, is_base, is_batch};
use crate::{Ack, Cursor, Epoch, Error, ErrorKind, JournalWriter, Op, Position, Record, Result, traced};
use async_trait::async_trait;
use groundstate_blobs::{self as blobs, GetOptions, Precondition, PutOptions};
use tracing::debug;

use super::failure::failed;
use super::floor::Standing;
use super::object::{Tip, encode, known_takeovers, remember, takeover_records};
use super::queue::{Either, Queue, let_others_in};
use super::reading::Objects;

/// A writer of a journal in an object store.
#[derive(Debug)]
pub(crate) struct BlobWriter {
    objects: Objects,
    /// Tells this writer's objects from those of others.
    id: String,
    /// Whether nothing behind the base is ever removed.
    single_epoch: bool,
    /// The takeovers that objects told of, this writer's among them.
    takeovers: Vec<u64>,
    queue: Queue,
    /// Held across requests; `state` never is.
    store_access: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tip: Tip,
    over: Option<ErrorKind>,
    /// An object that was sent and may not have arrived.
    doubt: Option<Attempt>,
}

/// An object on its way.
#[derive(Clone)]
struct Attempt {
    tip: Tip,
    bytes: Vec<u8>,
    /// The batches in it, with how many records each has.
    shares: Vec<(u64, u64)>,
}

impl fmt::Debug for Attempt {
    /// Shows the size of the object only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("tip", &self.tip)
            .field("bytes", &self.bytes.len())
            .field("shares", &self.shares)
            .finish()
    }
}

impl BlobWriter {
    /// Takes over from the current writer.
    pub(crate) async fn open(objects: Objects, id: String, options: &OpenOptions) -> Result<Self> {
        const OP: Op = Op::Open;
        let (mut tip, mut takeovers) = Self::place(&objects, OP).await?;
        loop {
            let number = tip.number.saturating_add(1);
            let mine = Tip { number, takeover: number, ..tip };
            let records = takeover_records(&options.owner, &takeovers);
            let bytes = encode(FrameKind::Fence, mine, &records.each_ref(), &id);
            let bytes = bytes.map_err(|_| Error::new(ErrorKind::Invalid, OP, &objects))?;
            if !create(&objects, OP, number, &bytes).await? {
                debug!(number, "another writer was faster, trying again");
                // The journal goes on behind what it made.
                (tip, takeovers) = Self::place(&objects, OP).await?;
                continue;
            }
            // Since the end was found, others may have gone on, and removed what stood under this number.
            if objects.floor(OP).await?.0.number > number {
                objects.remove(OP, number).await;
                (tip, takeovers) = Self::place(&objects, OP).await?;
                continue;
            }
            remember(&mut takeovers, &[number]);
            traced::opened_as(number);
            let state = Mutex::new(State { tip: mine, over: None, doubt: None });
            return Ok(Self {
                objects,
                id,
                single_epoch: options.single_epoch,
                takeovers,
                queue: Queue::default(),
                store_access: tokio::sync::Mutex::default(),
                state,
            });
        }
    }

    /// Where the journal ends, and the takeovers as far as objects tell them; the floor has those before.
    async fn place(objects: &Objects, op: Op) -> Result<(Tip, Vec<u64>)> {
        let tip = objects.tip(op).await?.unwrap_or_default();
        if tip.takeover == 0 {
            return Ok((tip, Vec::new()));
        }
        // Where it was removed, another object may stand under its number, made by a writer that slept.
        let object = objects.get(op, tip.takeover).await?.filter(|object| object.kind == FrameKind::Fence);
        let mut known = object.as_ref().map(known_takeovers).unwrap_or_default();
        remember(&mut known, &[tip.takeover]);
        Ok((tip, known))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if this writer is over.
    fn check(&self, op: Op) -> Result<()> {
        self.state().over.map_or(Ok(()), |kind| Err(self.error(kind, op)))
    }

    fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, &self.objects)
    }

    /// Creates the object that leads to `tip`. The caller has the turn.
    async fn commit(
        &self,
        op: Op,
        kind: FrameKind,
        tip: Tip,
        records: &[&Record],
        shares: Vec<(u64, u64)>,
    ) -> Result<()> {
        let bytes = encode(kind, tip, records, &self.id)
            .map_err(|_| self.error(ErrorKind::Invalid, op).because("it is too long, split it"))?;
        self.state().doubt = Some(Attempt { tip, bytes, shares });
        self.settle(op).await
    }

    /// Sends what is on its way, once more if need be: under its condition it arrives once.
    async fn settle(&self, op: Op) -> Result<()> {
        let Some(attempt) = self.state().doubt.clone() else { return Ok(()) };
        let key = self.objects.key(op, attempt.tip.number)?;
        let put = PutOptions::expecting(Precondition::Absent);
        let sent = self.objects.store.put(&key, attempt.bytes.clone().into(), &put).await;
        let Err(error) = sent else { return self.arrived(op, attempt).await };
        if !matches!(error.kind(), blobs::ErrorKind::PreconditionFailed | blobs::ErrorKind::Ambiguous) {
            // It did not happen, and no caller waits for it any more.
            self.state().doubt = None;
            return Err(failed(op, &self.objects, error));
        }
        match self.objects.store.get(&key, &GetOptions::default()).await {
            Ok(Some(blob)) if blob.bytes[..] == attempt.bytes[..] => self.arrived(op, attempt).await,
            Ok(Some(_)) => {
                let mut state = self.state();
                (state.doubt, state.over) = (None, Some(ErrorKind::Fenced));
                drop(state);
                Err(self.error(ErrorKind::Fenced, op))
            }
            // It may still arrive, so it stays what comes next.
            Ok(None) | Err(_) => Err(self.error(ErrorKind::Ambiguous, op).with_source(error)),
        }
    }

    /// An object was created. It counts unless another writer had taken over before, and removed what stood there.
    async fn arrived(&self, op: Op, attempt: Attempt) -> Result<()> {
        if self.single_epoch && !attempt.shares.is_empty() {
            // A batch is behind the base, where nothing is ever removed.
            self.acknowledge(attempt);
            return Ok(());
        }
        let Tip { number, takeover, .. } = attempt.tip;
        let standing = match self.objects.floor(op).await {
            Ok((floor, _)) => floor.standing(number, takeover),
            // It stays what comes next, so that this is asked again.
            Err(error) => return Err(self.error(ErrorKind::Ambiguous, op).with_source(error)),
        };
        let error = match standing {
            Standing::Counts => {
                self.acknowledge(attempt);
                return Ok(());
            }
            Standing::Overtaken => {
                self.objects.remove(op, number).await;
                self.error(ErrorKind::Fenced, op)
            }
            Standing::Unknown => {
                let message =
                    "so many writers have taken over since that it is not known whether it was in time";
                self.error(ErrorKind::Ambiguous, op).because(message)
            }
        };
        let mut state = self.state();
        (state.doubt, state.over) = (None, Some(ErrorKind::Fenced));
        Err(error)
    }

    fn acknowledge(&self, attempt: Attempt) {
        let counted: u64 = attempt.shares.iter().map(|(_, count)| count).sum();
        let mut first = Position::new(attempt.tip.next.get().saturating_sub(counted));
        let mut state = self.state();
        (state.tip, state.doubt) = (attempt.tip, None);
        drop(state);
        for (ticket, count) in attempt.shares {
            let next = first.plus(count);
            self.queue.tell(ticket, Ok(Ack::new(Epoch::new(attempt.tip.epoch), first, next)));
            first = next;
        }
    }

    /// Sends all that waits, as one object.
    async fn send_group(&self) -> Result<()> {
        let group = self.queue.take_group();
        let sent = self.try_send(&group).await;
        if let Err(error) = &sent {
            group.iter().for_each(|(ticket, _)| self.queue.tell(*ticket, Err(error.again())));
        }
        sent
    }

    async fn try_send(&self, group: &[(u64, Vec<Record>)]) -> Result<()> {
        self.check(Op::Append)?;
        self.settle(Op::Append).await?;
        let tip = self.state().tip;
        if tip.base == 0 {
            return Err(self.error(ErrorKind::NoEpoch, Op::Append));
        }
        let records: Vec<&Record> = group.iter().flat_map(|(_, batch)| batch).collect();
        let shares = group.iter().map(|(ticket, batch)| (*ticket, batch.len() as u64)).collect();
        if records.is_empty() {
            self.acknowledge(Attempt { tip, bytes: Vec::new(), shares });
            return Ok(());
        }
        let next = tip.next.plus(records.len() as u64);
        let tip = Tip { number: tip.number.saturating_add(1), next, ..tip };
        self.commit(Op::Append, FrameKind::Batch, tip, &records, shares).await
    }

    /// Removes objects that count for nothing any more. Those that stay go with a later attempt.
    async fn sweep(&self, op: Op, before: u64) {
        // Before anything is removed, so that no writer that sleeps takes a number that is free again for one that is new.
        if self.objects.raise_floor(op, before, &self.takeovers).await.is_err() {
            return;
        }
        let Ok(numbers) = self.objects.numbers(op).await else { return };
        for number in numbers.into_iter().filter(|number| *number < before) {
            self.objects.remove(op, number).await;
        }
    }
}

/// Creates an object unless another one has its number, whose bytes are then others.
async fn create(objects: &Objects, op: Op, number: u64, bytes: &[u8]) -> Result<bool> {
    let key = objects.key(op, number)?;
    let put = PutOptions::expecting(Precondition::Absent);
    let Err(error) = objects.store.put(&key, bytes.to_vec().into(), &put).await else { return Ok(true) };
    if !matches!(error.kind(), blobs::ErrorKind::PreconditionFailed | blobs::ErrorKind::Ambiguous) {
        return Err(failed(op, objects, error));
    }
    let found = objects.store.get(&key, &GetOptions::default()).await;
    match found.map_err(|error| failed(op, objects, error))? {
        Some(blob) => Ok(blob.bytes[..] == *bytes),
        None if error.kind() == blobs::ErrorKind::PreconditionFailed => Ok(false),
        None => Err(failed(op, objects, error)),
    }
}

#[async_trait]
impl JournalWriter for BlobWriter {
    fn position(&self) -> Option<Cursor> {
        let tip = self.state().tip;
        Some(Cursor::new(tip.stored()?, tip.next))
    }

    async fn begin(&self, base: &Record) -> Result<Epoch> {
        traced::begin(&self.objects, base, self.begin_epoch(base)).await
    }

    async fn append(&self, batch: &[Record]) -> Result<Ack> {
        traced::append(&self.objects, batch, self.append_batch(batch)).await
    }

    async fn clear(&self) -> Result<()> {
        traced::end(Op::Clear, &self.objects, self.clear_epoch()).await
    }

    async fn close(&self) -> Result<()> {
        let _access = self.store_access.lock().await;
        self.state().over.get_or_insert(ErrorKind::Closed);
        Ok(())
    }
}

impl BlobWriter {
    async fn begin_epoch(&self, base: &Record) -> Result<Epoch> {
        let _access = self.store_access.lock().await;
        self.check(Op::Begin)?;
        if !is_base(base) {
            return Err(self.error(ErrorKind::Invalid, Op::Begin).because("its base is too long"));
        }
        self.settle(Op::Begin).await?;
        let tip = self.state().tip;
        let (number, epoch) = (tip.number.saturating_add(1), tip.epoch.saturating_add(1));
        let next = Tip { number, base: number, epoch, next: Position::START, ..tip };
        self.commit(Op::Begin, FrameKind::Base, next, &[base], Vec::new()).await?;
        self.sweep(Op::Begin, number).await;
        Ok(Epoch::new(epoch))
    }

    async fn append_batch(&self, batch: &[Record]) -> Result<Ack> {
        self.check(Op::Append)?;
        if !is_batch(batch) {
            return Err(self
                .error(ErrorKind::Invalid, Op::Append)
                .because("the batch is too long, split it"));
        }
        let ticket = self.queue.enter(batch);
        let _access = match ticket.outcome_or_turn(&self.store_access).await {
            Either::Outcome(outcome) => return outcome,
            Either::Turn(turn) => turn,
        };
        // The callers of the last object have more to send by now.
        let_others_in().await;
        // One that gave up in the middle may have sent this batch, and more may wait than fit one object.
        loop {
            if let Some(outcome) = ticket.outcome() {
                return outcome;
            }
            let sent = self.send_group().await;
            if let Some(outcome) = ticket.outcome() {
                return outcome;
            }
            sent?;
        }
    }

    async fn clear_epoch(&self) -> Result<()> {
        let _access = self.store_access.lock().await;
        self.check(Op::Clear)?;
        self.settle(Op::Clear).await?;
        let tip = self.state().tip;
        if tip.base == 0 {
            return Ok(());
        }
        let number = tip.number.saturating_add(1);
        let next = Tip { number, base: 0, ..tip };
        self.commit(Op::Clear, FrameKind::Clear, next, &[], Vec::new()).await?;
        self.sweep(Op::Clear, number).await;
        Ok(())
    }
}
