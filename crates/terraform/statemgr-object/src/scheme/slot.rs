//! The lock that is a document in a slot, made only where there is none: how it is taken, released and looked up.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Backoff, Sleeper};
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};
use tracing::debug;

use crate::document;
use crate::failure::left_behind;

/// How often a step is repeated whose outcome is unknown, or that others came between.
const TRIES: u32 = 4;
/// The waits between two tries.
const WAITS: Backoff = Backoff::new(Duration::from_millis(500), Duration::MAX);

/// A place for one document.
#[async_trait]
pub(crate) trait Slot: fmt::Debug + fmt::Display + Send + Sync {
    /// What tells this document from another one in the slot.
    type Token: Send + Sync;

    /// Puts the document there if there is none.
    async fn create(&self, document: &str) -> Result<Created>;

    /// What is there.
    async fn look(&self, op: Op) -> Result<Option<Seen<Self::Token>>>;

    /// Empties the slot if this is what is there.
    async fn remove(&self, token: &Self::Token) -> Result<Removed>;

    /// The token of a document that was put there, where that is known without looking.
    fn token(&self, document: &str) -> Option<Self::Token>;
}

/// What came of putting a document into a slot.
pub(crate) enum Created {
    Done,
    /// There is one, which the answer may have shown.
    Taken(Option<Vec<u8>>),
    /// Unknown.
    Unknown(Error),
}

/// What came of emptying a slot.
pub(crate) enum Removed {
    /// It is empty.
    Done,
    /// Something else was there, or nothing.
    Changed,
    /// Unknown.
    Unknown(Error),
}

/// What is in a slot.
pub(crate) struct Seen<T> {
    pub(crate) holder: LockHolder,
    pub(crate) token: T,
}

impl<T> Seen<T> {
    pub(crate) fn new(document: &[u8], token: T) -> Self {
        Self { holder: document::holder(document), token }
    }
}

/// A lock by a slot, for one client.
#[derive(Debug)]
pub(crate) struct SlotLock<S> {
    slot: S,
    path: Arc<str>,
    sleeper: Arc<dyn Sleeper>,
    /// What this client has put into the slot, and under which id.
    mine: Mutex<Option<(LockId, String)>>,
}

/// What came of an attempt to take the lock.
enum Attempt {
    Mine,
    /// Another client's was in the way and is gone.
    Raced,
    /// The slot is empty, and the document may still arrive.
    Unknown(Error),
}

impl<S: Slot> SlotLock<S> {
    /// `path` goes into the documents, where the original programs show it.
    pub(crate) fn new(slot: S, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { slot, path: path.into(), sleeper, mine: Mutex::default() }
    }

    pub(crate) async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        let document = LockInfo { path: self.path.to_string(), ..info.clone() }.to_json();
        let mut waits = WAITS;
        let mut unknown = None;
        // The same document every time, so that an attempt which arrives late is recognised too.
        for attempt in 1..=TRIES {
            match self.attempt(&info.id, &document).await {
                Ok(Attempt::Mine) => {
                    self.remember(Some((info.id.clone(), document)));
                    return Ok(LockGrant::new(info.id.clone()));
                }
                Ok(Attempt::Raced) => self.again(&info.id, attempt, "another lock was released meanwhile"),
                Ok(Attempt::Unknown(error)) => {
                    self.again(&info.id, attempt, "the answer got lost");
                    unknown = Some(error);
                    self.sleeper.sleep(waits.wait()).await;
                }
                // Nothing came of this attempt; what came of the one before is not known any better.
                Err(error) if error.kind() != ErrorKind::Locked && unknown.is_some() => {
                    return Err(left_behind(unknown.unwrap_or(error), &self.slot, &info.id));
                }
                Err(error) => return Err(error),
            }
        }
        match unknown {
            Some(error) => Err(left_behind(error, &self.slot, &info.id)),
            None => Err(Error::raced(Op::Lock, &self.slot)),
        }
    }

    async fn attempt(&self, id: &LockId, document: &str) -> Result<Attempt> {
        const OP: Op = Op::Lock;
        let (shown, unknown) = match self.slot.create(document).await? {
            Created::Done => return Ok(Attempt::Mine),
            Created::Taken(shown) => (shown, None),
            Created::Unknown(error) => (None, Some(error)),
        };
        let holder = match (shown, self.slot.look(OP)) {
            (Some(document), _) => Some(document::holder(&document)),
            (None, look) => match (look.await, unknown.is_some()) {
                (Ok(seen), _) => seen.map(|seen| seen.holder),
                (Err(cause), false) => {
                    let message =
                        format!("it is locked, and who holds it cannot be read: {cause}; it is held");
                    return Err(Error::locked(OP, &self.slot, None).because(message).with_source(cause));
                }
                (Err(_), true) => None,
            },
        };
        match (holder, unknown) {
            // The lock was made although the answer said otherwise, or said nothing.
            (Some(holder), _) if holder.id == *id => Ok(Attempt::Mine),
            (Some(holder), _) => Err(Error::locked(OP, &self.slot, Some(holder))),
            (None, None) => Ok(Attempt::Raced),
            (None, Some(error)) => Ok(Attempt::Unknown(error)),
        }
    }

    pub(crate) async fn unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::Unlock;
        let left = |error| left_behind(error, &self.slot, id);
        let mut token = self.own_token(id);
        let mut waits = WAITS;
        let mut unknown = None;
        let mut was_here = false;
        for attempt in 1..=TRIES {
            let removal = match token.take() {
                Some(token) => self.slot.remove(&token).await,
                None => match self.slot.look(OP).await.map_err(left)? {
                    Some(seen) if seen.holder.id == *id => {
                        was_here = true;
                        self.slot.remove(&seen.token).await
                    }
                    // After a removal whose answer got lost, a lock that is gone is one that was released.
                    _ if unknown.is_some() => Ok(Removed::Done),
                    Some(seen) => return Err(Error::locked(OP, &self.slot, Some(seen.holder))),
                    // It was here a moment ago: a request that arrives twice removes it and finds nothing then.
                    None if was_here => Ok(Removed::Done),
                    None => {
                        let error = Error::new(ErrorKind::NotFound, OP, &self.slot);
                        return Err(error.because("it is not locked"));
                    }
                },
            };
            match removal.map_err(left)? {
                Removed::Done => {
                    self.remember(None);
                    return Ok(());
                }
                // The next look says what is there instead.
                Removed::Changed => self.again(id, attempt, "something else is in its place"),
                Removed::Unknown(error) => {
                    self.again(id, attempt, "the answer got lost");
                    unknown = Some(error);
                    self.sleeper.sleep(waits.wait()).await;
                }
            }
        }
        let changing =
            || Error::new(ErrorKind::Unavailable, OP, &self.slot).because("it changes all the time");
        Err(left(unknown.unwrap_or_else(changing)))
    }

    pub(crate) async fn holder(&self) -> Result<Option<LockHolder>> {
        Ok(self.slot.look(Op::FindHolder).await?.map(|seen| seen.holder))
    }

    pub(crate) async fn verify(&self, id: &LockId) -> Result<()> {
        let seen = self.slot.look(Op::CheckLock).await?;
        held_by(seen.map(|seen| seen.holder), id, &self.slot)
    }

    /// The token of what this client has put there under this id.
    fn own_token(&self, id: &LockId) -> Option<S::Token> {
        let mine = self.mine.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, document) = mine.as_ref().filter(|(own, _)| own == id)?;
        self.slot.token(document)
    }

    /// Tells that another step follows on this one.
    fn again(&self, id: &LockId, attempt: u32, why: &str) {
        debug!(place = self.slot.to_string(), lock = id.as_str(), attempt, why, "trying again");
    }

    fn remember(&self, what: Option<(LockId, String)>) {
        *self.mine.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }
}

impl<S: Slot> fmt::Display for SlotLock<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.slot, f)
    }
}

/// `LockLost` unless the holder's lock is that of `id`.
pub(crate) fn held_by(holder: Option<LockHolder>, id: &LockId, target: impl fmt::Display) -> Result<()> {
    let found = match holder {
        Some(holder) if holder.id == *id => return Ok(()),
        Some(holder) => format!("that of {holder}"),
        None => "none".to_owned(),
    };
    Err(Error::new(ErrorKind::LockLost, Op::Other("write under the lock"), target)
        .because("the lock was released by another client; take it again and refresh")
        .expected_and_found(format!("the lock {id}"), found))
}

/// A lock scheme that is a slot lock under a name of its own.
macro_rules! scheme_of_slot {
    ($name:ident) => {
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        #[::async_trait::async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl $crate::scheme::LockScheme for $name {
            async fn lock(
                &self,
                info: &::groundstate_statemgr::LockInfo,
            ) -> ::groundstate_statemgr::Result<::groundstate_statemgr::LockGrant> {
                self.0.lock(info).await
            }

            async fn unlock(
                &self,
                id: &::groundstate_statemgr::LockId,
            ) -> ::groundstate_statemgr::Result<()> {
                self.0.unlock(id).await
            }

            async fn holder(
                &self,
            ) -> ::groundstate_statemgr::Result<Option<::groundstate_statemgr::LockHolder>> {
                self.0.holder().await
            }

            async fn verify(
                &self,
                id: &::groundstate_statemgr::LockId,
            ) -> ::groundstate_statemgr::Result<()> {
                self.0.verify(id).await
            }

            fn lease(&self, _: &::groundstate_statemgr::LockId) -> Option<::groundstate_blobs::LeaseId> {
                None
            }
        }
    };
}

pub(crate) use scheme_of_slot;
