//! The lock: a lease without end, whose document is written into the blob's metadata afterwards.
//!
//! Azure takes the lease and the metadata in two requests, and tells no one the id of a lease. So who is about to take it
//! writes its document as an intent before: should it be cut off in between, the intent has the id that releases the lease.

use groundstate_blobs::{ErrorKind as BlobErrorKind, LeaseDuration, LeaseId, Op as BlobOp, Precondition};
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use super::seen::{Seen, with_document, with_intent};
use super::store::{ATTEMPTS, AzureStore};
use crate::failure::failed;

const LOCK: Op = Op::Lock;

/// What the ids of leases without a document begin with; the entity tag of the blob follows.
const BREAK: &str = "break-lease";

impl AzureStore {
    pub(super) async fn take(&self, info: &LockInfo) -> Result<LockGrant> {
        let id = LeaseId::parse(info.id.as_str()).map_err(|error| {
            let why =
                format!("the lock id {:?} cannot be that of a lease, which is a GUID", info.id.as_str());
            self.error(ErrorKind::Invalid, LOCK).because(why).with_source(error)
        })?;
        let info = LockInfo { path: self.path.clone(), ..info.clone() };
        let mut raced = Error::raced(LOCK, self);
        for _ in 0..ATTEMPTS {
            let Some((seen, is_held)) = self.blob_to_lock(&info).await? else { continue };
            if !self.acquire(&id).await? {
                if is_held {
                    return Err(self.held_already(&seen));
                }
                // Another client was quicker; the next look tells which.
                continue;
            }
            match self.describe_lock(&info, &id, seen).await {
                Ok(true) => {
                    let mut mine = self.mine();
                    mine.lease = Some(id);
                    mine.deleted = false;
                    return Ok(LockGrant::new(info.id));
                }
                Ok(false) => raced = Error::raced(LOCK, self),
                Err(error) => return Err(self.give_back(&id, error).await),
            }
        }
        Err(raced)
    }

    /// The blob, made if it is missing, and whether it is under a lease that may be ours; `None` to look again.
    async fn blob_to_lock(&self, info: &LockInfo) -> Result<Option<(Seen, bool)>> {
        match self.look(LOCK).await? {
            Some((seen, false)) => self.announce(info, seen).await,
            Some((seen, true)) => {
                // Taking a lease under the id that it has succeeds, so a lock of ours whose answer got lost goes on there.
                let may_be_ours = seen.document().is_none_or(|document| document.id == info.id);
                let is_known =
                    self.mine().lease.as_ref().is_some_and(|lease| lease.as_str() == info.id.as_str());
                if may_be_ours && !is_known { Ok(Some((seen, true))) } else { Err(self.held_already(&seen)) }
            }
            None => match self.put_empty(with_intent(&Seen::nothing(), info)).await {
                Ok(seen) => {
                    self.mine().seen = Some(seen.clone());
                    Ok(Some((seen, false)))
                }
                // Another client made it first, and has perhaps stored a state already.
                Err(error)
                    if matches!(
                        error.kind(),
                        BlobErrorKind::PreconditionFailed | BlobErrorKind::LeaseHeld
                    ) =>
                {
                    Ok(None)
                }
                // Empty or missing, it is not a state; the next lock finds out.
                Err(error) if error.kind() == BlobErrorKind::Ambiguous => Ok(None),
                Err(error) => Err(failed(LOCK, self, error)),
            },
        }
    }

    /// Writes into the metadata of a blob without a lease that one is about to be taken; `None` to look again.
    async fn announce(&self, info: &LockInfo, seen: Seen) -> Result<Option<(Seen, bool)>> {
        if seen.intents().first() == Some(info) {
            return Ok(Some((seen, false)));
        }
        match self.set_metadata(LOCK, &seen, with_intent(&seen, info), None).await {
            Ok(()) => Ok(self.mine().seen.clone().map(|seen| (seen, false))),
            Err(error) => match error.kind() {
                BlobErrorKind::PreconditionFailed
                | BlobErrorKind::LeaseHeld
                | BlobErrorKind::NotFound
                | BlobErrorKind::Ambiguous => Ok(None),
                _ => Err(failed(LOCK, self, error)),
            },
        }
    }

    /// The refusal because another client holds the lease. Only a document proves who that is; an intent may be that of one
    /// that came too late.
    fn held_already(&self, seen: &Seen) -> Error {
        if seen.document().is_some() {
            return Error::locked(LOCK, self, Some(self.holder_of(seen)));
        }
        let why = format!(
            "it is under a lease without a lock document, so its holder is unknown: a client is just locking it, or was \
             cut off; if it stays so, break the lease by releasing it by force under the id {}",
            break_id(seen)
        );
        Error::locked(LOCK, self, None).because(why)
    }

    /// Takes the lease; `false` if another client has it, or the blob is gone.
    async fn acquire(&self, id: &LeaseId) -> Result<bool> {
        let mut in_doubt = None;
        for _ in 0..ATTEMPTS {
            let Err(error) = self.leases(LOCK)?.acquire(&self.key, id, LeaseDuration::Infinite).await else {
                return Ok(true);
            };
            match error.kind() {
                BlobErrorKind::LeaseHeld | BlobErrorKind::NotFound => return Ok(false),
                BlobErrorKind::Ambiguous => in_doubt = Some(error),
                // The first request may have been carried out although this one was refused.
                _ if in_doubt.is_some() => break,
                _ => return Err(failed(LOCK, self, error)),
            }
        }
        match in_doubt {
            Some(error) => Err(self.give_back(id, failed(LOCK, self, error)).await),
            None => Ok(false),
        }
    }

    /// Writes the document into the metadata, all else of which stays; `false` if the lease was broken meanwhile.
    async fn describe_lock(&self, info: &LockInfo, id: &LeaseId, mut seen: Seen) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let metadata = with_document(&seen.metadata, info);
            match self.set_metadata(LOCK, &seen, metadata, Some(id)).await {
                Ok(()) => return Ok(true),
                Err(error) => match error.kind() {
                    BlobErrorKind::PreconditionFailed | BlobErrorKind::Ambiguous => {}
                    BlobErrorKind::LeaseLost | BlobErrorKind::LeaseHeld | BlobErrorKind::NotFound => {
                        return Ok(false);
                    }
                    _ => return Err(failed(LOCK, self, error)),
                },
            }
            let Some((now, is_held)) = self.look(LOCK).await? else { return Ok(false) };
            if !is_held {
                return Ok(false);
            }
            if now.document().is_some_and(|document| document == *info) {
                return Ok(true);
            }
            seen = now;
        }
        Err(self.error(ErrorKind::Unavailable, LOCK).because("the lock document could not be stored"))
    }

    /// Replaces the metadata of what was seen, and nothing else.
    pub(super) async fn set_metadata(
        &self,
        op: Op,
        seen: &Seen,
        metadata: std::collections::BTreeMap<String, String>,
        id: Option<&LeaseId>,
    ) -> Result<(), groundstate_blobs::Error> {
        let Some(leases) = self.blobs.leases() else {
            return Err(groundstate_blobs::Error::unsupported(BlobOp::Other(op.as_str()), self));
        };
        let condition = Precondition::Version(seen.blob.clone());
        let blob = leases.set_metadata(&self.key, &metadata, &condition, id).await?;
        // The condition held, so the content is the one that was seen.
        self.mine().seen = Some(Seen { blob, metadata, content: seen.content.clone() });
        Ok(())
    }

    /// Releases a lease that got no document, so that no client is locked out by an unreadable lock.
    async fn give_back(&self, id: &LeaseId, error: Error) -> Error {
        match self.end_lease(LOCK, id).await {
            Ok(_) => error,
            Err(_) => {
                let why = format!(
                    "it could not be locked to the end, and the lease {id} may be left behind without a lock document; \
                     release it by force under the id {id}"
                );
                self.error(ErrorKind::Ambiguous, LOCK).because(why).with_source(error)
            }
        }
    }

    /// Gives a lease up, asking again where the answer gets lost; `false` if it is not in force.
    pub(super) async fn end_lease(&self, op: Op, id: &LeaseId) -> Result<bool> {
        let mut in_doubt = false;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Err(error) = self.leases(op)?.release(&self.key, id).await else { return Ok(true) };
            match error.kind() {
                BlobErrorKind::LeaseLost | BlobErrorKind::LeaseHeld | BlobErrorKind::NotFound => {
                    return Ok(in_doubt);
                }
                BlobErrorKind::Ambiguous => in_doubt = true,
                BlobErrorKind::Unavailable | BlobErrorKind::Throttled => {}
                _ => return Err(failed(op, self, error)),
            }
            last = Some(error);
        }
        Err(last.map_or_else(|| self.error(ErrorKind::Unavailable, op), |error| failed(op, self, error)))
    }

    pub(super) async fn look_for_holder(&self, op: Op) -> Result<Option<LockHolder>> {
        Ok(match self.look(op).await? {
            Some((seen, true)) => Some(self.holder_of(&seen)),
            _ => None,
        })
    }

    /// Who holds the lease of a blob. Without a document it is the client that was last about to take it, under the id that this one
    /// chose; without that it is unknown, under an id that breaks the lease.
    pub(super) fn holder_of(&self, seen: &Seen) -> LockHolder {
        match seen.document() {
            Some(info) => LockHolder::of(info),
            None => self.candidate(seen, None),
        }
    }

    /// Who may hold a lease without a document, after the intent of this id turned out not to be the lease's.
    pub(super) fn candidate(&self, seen: &Seen, after: Option<&LockId>) -> LockHolder {
        let mut intents = seen.intents().into_iter();
        if let Some(id) = after {
            intents.find(|intent| intent.id.as_str().eq_ignore_ascii_case(id.as_str()));
        }
        match intents.next() {
            Some(intent) => LockHolder::of(intent).without_document(),
            None => LockHolder::of(LockInfo::default()).with_id(break_id(seen)).without_document(),
        }
    }
}

/// The id under which a lease without a document is broken. It tells this blob as it is from every later one.
pub(super) fn break_id(seen: &Seen) -> LockId {
    let tag: String = seen.blob.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    LockId::new(&format!("{BREAK}-{tag}"))
}
