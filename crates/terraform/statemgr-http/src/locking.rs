//! Taking and releasing the lock, and asking who holds it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::Timestamp;
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};
use tracing::{Instrument, warn};

use crate::exchange::Outgoing;
use crate::failure::Unanswered;
use crate::lock_body::holder_in;
use crate::status::{Call, Meaning, meaning};
use crate::store::{HeldLock, HttpStore, Shared};

/// What the lock is for by which this client finds out whether it is held.
const LOOK: &str = "groundstate-locks";
/// A lock of that kind is released at once. One that is older was left by a process that was killed.
const LOOK_LASTS: Duration = Duration::from_secs(60);
/// How often to ask again where another client looks.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// What came of the request for the lock.
enum Taken {
    Granted,
    /// Another client's, and whose it is if the server says so.
    Held(Option<LockInfo>),
}

/// The document by which a lock is taken. The originals leave the path empty.
fn document(info: &LockInfo) -> Bytes {
    LockInfo { path: String::new(), ..info.clone() }.to_json().into()
}

/// The document of OpenTofu's `force-unlock`: the id, and nothing else.
fn only_id(id: &LockId) -> Bytes {
    LockInfo { id: id.clone(), ..LockInfo::default() }.to_json().into()
}

impl HttpStore {
    pub(crate) async fn take(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        self.shared.locks(OP)?;
        if info.id.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, OP, self).because("the lock has no id"));
        }
        // A server grants the same id again, so the holder must not ask for it a second time.
        if self.holds(&info.id) {
            match self.find_holder(OP).await? {
                Some(holder) if holder.id == info.id => return Err(Error::locked(OP, self, Some(holder))),
                _ => *self.held() = None,
            }
        }
        let document = document(info);
        match self.shared.lock_past_looks(OP, &info.id, &document).await? {
            Taken::Granted => {
                *self.held() = Some(HeldLock { id: info.id.clone(), document, is_proven: false });
                Ok(LockGrant::new(info.id.clone()))
            }
            Taken::Held(Some(holder)) if self.shared.is_look(&holder) => Err(Error::raced(OP, self)),
            Taken::Held(holder) => Err(Error::locked(OP, self, holder.map(LockHolder::of))),
        }
    }

    fn holds(&self, id: &LockId) -> bool {
        self.held().as_ref().is_some_and(|held| held.id == *id)
    }

    pub(crate) async fn free(&self, op: Op, id: &LockId) -> Result<()> {
        self.shared.locks(op)?;
        let own = self.held().clone().filter(|held| held.id == *id);
        let Some(own) = own else { return self.free_other(op, id).await };
        let document = if op == Op::ForceUnlock { only_id(id) } else { own.document.clone() };
        let released = match self.is_lost(op, &own).await {
            Some(lost) => Err(lost),
            None => self.shared.release(op, id, &document, true).await,
        };
        let is_over = match &released {
            Ok(()) => true,
            Err(error) => matches!(error.kind(), ErrorKind::LockLost | ErrorKind::NotFound),
        };
        if is_over {
            self.held().take_if(|held| held.id == *id);
        }
        released
    }

    /// Whether a lock went away under its holder. Servers answer the release of what is not locked as they answer any other, so that
    /// they are asked before; where a change was made under the lock, they have said so already.
    async fn is_lost(&self, op: Op, own: &HeldLock) -> Option<Error> {
        if own.is_proven || op != Op::Unlock {
            return None;
        }
        match self.find_holder(op).await {
            Ok(None) => Some(self.shared.lost(op, &own.id, None)),
            Ok(Some(holder)) if holder.documented && holder.id != own.id => {
                Some(self.shared.lost(op, &own.id, Some(holder)))
            }
            // What cannot be told is left to the release.
            Ok(Some(_)) | Err(_) => None,
        }
    }

    /// Releases a lock that this client does not remember. The protocol leaves it to the server to compare the id, and not every one does: so
    /// the holder is asked for first.
    async fn free_other(&self, op: Op, id: &LockId) -> Result<()> {
        match self.find_holder(op).await? {
            None => Err(Error::new(ErrorKind::NotFound, op, self).because("it is not locked")),
            Some(holder) if holder.documented && holder.id != *id => {
                Err(Error::locked(op, self, Some(holder)))
            }
            // A release without an id would free any lock.
            Some(_) if id.is_empty() => {
                Err(Error::new(ErrorKind::Invalid, op, self).because("the lock has an id, name it"))
            }
            Some(holder) => match self.shared.release(op, id, &only_id(id), false).await {
                // Some servers compare the whole document, which is the holder's to send.
                Err(error) if error.kind() == ErrorKind::Invalid && holder.documented => {
                    let whole = self.shared.release(op, id, &document(&holder.info), false).await;
                    whole.map_err(|_| error)
                }
                released => released,
            },
        }
    }

    /// Who holds the lock. A caller that gives up leaves no lock behind: the look goes on to its end.
    pub(crate) async fn find_holder(&self, op: Op) -> Result<Option<LockHolder>> {
        let shared = Arc::clone(&self.shared);
        let look = tokio::spawn(async move { shared.look(op).await }.in_current_span());
        look.await.map_err(|error| Error::new(ErrorKind::Internal, op, self).with_source(error))?
    }
}

impl Shared {
    /// Asks for the lock, as often as the options say. The same document is sent each time, so that a server which has granted it knows
    /// it again, and this client knows a refusal in its own name.
    async fn request_lock(&self, op: Op, id: &LockId, document: &Bytes) -> Result<Taken> {
        let (endpoint, context) = (&self.locks(op)?.lock, self.context(op));
        let outgoing = Outgoing { call: Call::Lock, endpoint, body: Some(document), condition: None };
        let mut schedule = self.exchange.schedule();
        let mut is_doubtful = false;
        loop {
            let unanswered = match self.exchange.send(&outgoing).await {
                Ok(reply) => match meaning(Call::Lock, reply.status) {
                    Meaning::Done => return Ok(Taken::Granted),
                    Meaning::Held => match holder_in(&reply.body) {
                        Some(holder) if holder.id == *id => return Ok(Taken::Granted),
                        None if is_doubtful => {
                            return Err(self.may_be_left(context.locked(None), id));
                        }
                        holder => return Ok(Taken::Held(holder)),
                    },
                    Meaning::Later => Unanswered::Later(reply),
                    Meaning::Unclear => {
                        let why = format!(
                            "{}; only 200 says that the lock is taken",
                            context.answered(endpoint.method.as_str(), &reply)
                        );
                        let error = context.error(ErrorKind::Invalid).because(why);
                        return Err(match self.release(op, id, document, false).await {
                            Ok(()) => error,
                            Err(_) => self.may_be_left(error, id),
                        });
                    }
                    Meaning::Refused(kind) => {
                        let error = context.refused(kind, Call::Lock, endpoint.method.as_str(), &reply);
                        return Err(if is_doubtful { self.may_be_left(error, id) } else { error });
                    }
                    _ => {
                        let (kind, verb) = (ErrorKind::Invalid, endpoint.method.as_str());
                        return Err(context.refused(kind, Call::Lock, verb, &reply));
                    }
                },
                Err(error) => Unanswered::Failed(error),
            };
            is_doubtful |= unanswered.may_be_done();
            if !unanswered.is_passing() || !schedule.again(unanswered.retry_after()).await {
                let (verb, url) = (endpoint.method.as_str(), &endpoint.url);
                let error = context.unanswered(ErrorKind::Unavailable, verb, url, unanswered, schedule.made);
                return Err(if is_doubtful { self.may_be_left(error, id) } else { error });
            }
        }
    }

    /// That the lock may have been taken although the request for it failed.
    fn may_be_left(&self, error: Error, id: &LockId) -> Error {
        let why = format!(
            "{}; {} may be left behind, look at it and unlock it by force under the id {id}",
            error.reason(),
            self.lock_name()
        );
        Error::new(ErrorKind::Ambiguous, error.op(), &self.target).because(why).with_source(error)
    }

    /// Releases the lock of this id. `is_own` says whether this client believes to hold it.
    async fn release(&self, op: Op, id: &LockId, document: &Bytes, is_own: bool) -> Result<()> {
        let (endpoint, context) = (&self.locks(op)?.unlock, self.context(op));
        let outgoing = Outgoing { call: Call::Unlock, endpoint, body: Some(document), condition: None };
        let verb = endpoint.method.as_str();
        let mut schedule = self.exchange.schedule();
        let mut is_doubtful = false;
        loop {
            let unanswered = match self.exchange.send(&outgoing).await {
                Ok(reply) => match (meaning(Call::Unlock, reply.status), holder_in(&reply.body)) {
                    (Meaning::Done, _) => return Ok(()),
                    (Meaning::DoneOddly, _) => {
                        warn!(
                            "{} is released, but {verb} was answered with {}: terraform takes no status but 200, and fails there",
                            self.lock_name(),
                            reply.status
                        );
                        return Ok(());
                    }
                    // The request before this one has released it.
                    (Meaning::Absent, _) if is_doubtful => return Ok(()),
                    (Meaning::Held, Some(holder)) if is_doubtful && holder.id != *id => return Ok(()),
                    (Meaning::Absent, _) if is_own => return Err(self.lost(op, id, None)),
                    (Meaning::Absent, _) => {
                        return Err(context.error(ErrorKind::NotFound).because("it is not locked"));
                    }
                    (Meaning::Held, Some(holder)) if is_own && holder.id != *id => {
                        return Err(self.lost(op, id, Some(LockHolder::of(holder))));
                    }
                    (Meaning::Held, Some(holder)) => return Err(context.locked(Some(LockHolder::of(holder)))),
                    (Meaning::Held, None) => {
                        return Err(context.locked(None).because(context.answered(verb, &reply)));
                    }
                    (Meaning::Later, _) => Unanswered::Later(reply),
                    (Meaning::Refused(kind), _) => {
                        return Err(context.refused(kind, Call::Unlock, verb, &reply));
                    }
                    _ => return Err(context.refused(ErrorKind::Invalid, Call::Unlock, verb, &reply)),
                },
                Err(error) => Unanswered::Failed(error),
            };
            is_doubtful |= unanswered.may_be_done();
            if !unanswered.is_passing() || !schedule.again(unanswered.retry_after()).await {
                let kind = if is_doubtful { ErrorKind::Ambiguous } else { ErrorKind::Unavailable };
                return Err(context.unanswered(kind, verb, &endpoint.url, unanswered, schedule.made));
            }
        }
    }

    fn lost(&self, op: Op, id: &LockId, holder: Option<LockHolder>) -> Error {
        let now = holder.map_or_else(String::new, |holder| format!(", and it is held by {holder}"));
        let why = format!("the lock {id} was released by another client while it was held{now}");
        Error::new(ErrorKind::LockLost, op, &self.target).because(why)
    }

    /// Who holds the lock. The protocol has no question for it but the request for the lock: a refusal names the holder, and a lock
    /// that is granted is released at once.
    async fn look(&self, op: Op) -> Result<Option<LockHolder>> {
        self.locks(op)?;
        let info = LockInfo::new(&*self.ids, self.clock.now(), LOOK)?;
        let info =
            LockInfo { info: "held for a moment, to see whether the state is locked".to_owned(), ..info };
        let document = document(&info);
        match self.lock_past_looks(op, &info.id, &document).await? {
            Taken::Granted => {
                let released = self.release(op, &info.id, &document, true).await;
                released.map(|()| None).map_err(|error| self.may_be_left(error, &info.id))
            }
            Taken::Held(Some(holder)) => Ok(Some(LockHolder::of(holder))),
            Taken::Held(None) => Ok(Some(LockHolder::of(LockInfo::default()).without_document())),
        }
    }

    /// Asks for the lock, some times more where another client only looks who holds it.
    async fn lock_past_looks(&self, op: Op, id: &LockId, document: &Bytes) -> Result<Taken> {
        for _ in 0..LOOKS {
            match self.request_lock(op, id, document).await? {
                Taken::Held(Some(holder)) if self.is_look(&holder) => {
                    self.exchange.sleeper.sleep(BETWEEN_LOOKS).await;
                }
                taken => return Ok(taken),
            }
        }
        self.request_lock(op, id, document).await
    }

    /// Whether a lock is that of a client that looks who holds it, and is released in a moment.
    fn is_look(&self, holder: &LockInfo) -> bool {
        let age = |now: Timestamp| now.duration_since(holder.created).unwrap_or_default();
        holder.operation == LOOK && age(self.clock.now()) < LOOK_LASTS
    }
}
