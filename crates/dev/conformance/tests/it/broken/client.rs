//! A client that does everything right, except for its one flaw.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Clock, Timestamp};
use groundstate_conformance::Disturbance;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Exclusion, Expect, FencingToken, LockGrant, LockHolder, LockId, LockInfo,
    Op, Result, StateStore, Stored, Version, WriteOptions,
};

use super::flaw::Flaw;
use super::place::{Held, Inner, PASSWORD, Shared};

pub(super) struct Client {
    shared: Arc<Shared>,
    number: usize,
    container_is_missing: bool,
    mine: Mutex<Option<LockId>>,
    cache: Mutex<Option<Option<Stored>>>,
}

impl Client {
    pub(super) fn new(shared: Arc<Shared>, number: usize) -> Self {
        Self { shared, number, container_is_missing: false, mine: Mutex::default(), cache: Mutex::default() }
    }

    pub(super) fn without_container(self, missing: bool) -> Self {
        Self { container_is_missing: missing, ..self }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.shared.flaw == Some(flaw)
    }

    fn mine(&self) -> MutexGuard<'_, Option<LockId>> {
        self.mine.lock().expect("nothing panics inside")
    }

    fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self)
    }

    fn version(&self, inner: &Inner) -> Option<Version> {
        let bytes = inner.bytes.as_ref()?;
        if bytes.is_empty() && !self.has(Flaw::ZeroBytesAreAState) && !self.has(Flaw::DeleteLeavesZeroBytes) {
            return None;
        }
        let text = match self.shared.flaw {
            Some(Flaw::VersionIsTheLength) => bytes.len().to_string(),
            _ => inner.writes.to_string(),
        };
        Some(Version::new(&text))
    }

    fn stored(&self, inner: &Inner) -> Option<Stored> {
        let version = self.version(inner)?;
        Some(Stored::new(inner.bytes.clone().unwrap_or_default(), version))
    }

    /// The lock in force.
    fn held(&self, inner: &Inner) -> Option<Held> {
        let now = self.shared.clock.now();
        inner.lock.clone().filter(|held| now < held.expires || self.has(Flaw::LeaseNeverEnds))
    }

    fn check_token(&self, op: Op, inner: &Inner, options: &WriteOptions) -> Result<()> {
        let ignored =
            self.has(Flaw::IgnoresTokens) || self.has(Flaw::DeleteIgnoresTokens) && op == Op::Delete;
        match options.fence {
            Some(token) if token.get() < inner.token && !ignored => {
                if self.has(Flaw::RefusalFreesTheLock) {
                    self.shared.inner().lock = None;
                }
                Err(self.error(ErrorKind::LockLost, op))
            }
            _ => Ok(()),
        }
    }

    fn check_expectation(&self, op: Op, inner: &Inner, options: &WriteOptions) -> Result<()> {
        let found = self.version(inner);
        let earlier =
            |version: &Version| version.as_str().parse().is_ok_and(|number: u64| number <= inner.writes);
        let met = options.expect.is_met_by(found.as_ref())
            || match &options.expect {
                Expect::Absent => self.has(Flaw::IgnoresExpectAbsent),
                Expect::Version(_) if self.has(Flaw::IgnoresExpectVersion) => true,
                Expect::Version(version) => self.has(Flaw::TakesAnyEarlierVersion) && earlier(version),
                Expect::Any => true,
            }
            || op == Op::Delete && self.has(Flaw::DeleteIgnoresExpectations);
        if met {
            return Ok(());
        }
        if self.has(Flaw::HidesTheMismatch) {
            return Err(self.error(ErrorKind::Conflict, op));
        }
        let found = found.map_or("nothing".to_owned(), |version| version.to_string());
        Err(Error::conflict(op, self, &options.expect, found))
    }

    fn check(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let lacks = self.capabilities();
        let quiet = self.has(Flaw::QuietlyIgnoresWhatItLacks);
        if options.force && !self.has(Flaw::QuietlyIgnoresForce) {
            return Err(self.error(ErrorKind::Unsupported, op));
        }
        if options.expect != Expect::Any && !lacks.conditional_write && !quiet {
            return Err(self.error(ErrorKind::Unsupported, op));
        }
        if options.fence.is_some() && !lacks.fencing {
            return Err(self.error(ErrorKind::Unsupported, op));
        }
        let checked = {
            let inner = self.shared.inner();
            let holder = self.held(&inner).map(|held| held.client);
            let strange = holder.is_some_and(|client| client != self.number);
            let snapshot = Inner {
                bytes: inner.bytes.clone(),
                writes: inner.writes,
                token: inner.token,
                ..Inner::default()
            };
            drop(inner);
            let locked = self.has(Flaw::RefusesItsHolder) && holder.is_some();
            if locked {
                Err(self.error(ErrorKind::Locked, op))
            } else if strange && self.has(Flaw::DeniesWritesWithoutTheLock) {
                Err(self.error(ErrorKind::Denied, op))
            } else if self.has(Flaw::ChecksExpectationsFirst) {
                self.check_expectation(op, &snapshot, options)
                    .and_then(|()| self.check_token(op, &snapshot, options))
            } else {
                self.check_token(op, &snapshot, options)
                    .and_then(|()| self.check_expectation(op, &snapshot, options))
            }
        };
        if checked.is_err() && self.has(Flaw::RefusalChangesTheVersion) {
            self.shared.inner().writes += 1;
        }
        checked
    }

    /// Whether the request is refused at the door; and what disturbance its answer meets.
    fn disturbance(&self, op: Op) -> Result<Option<Disturbance>> {
        match self.shared.inner().disturbance.take() {
            Some(Disturbance::RefuseRequest) => Err(self.error(ErrorKind::Unavailable, op)),
            other => Ok(other),
        }
    }

    fn answer<T>(&self, op: Op, disturbance: Option<Disturbance>, value: T) -> Result<T> {
        match disturbance {
            Some(_) if self.has(Flaw::CallsALostAnswerAFailure) => {
                Err(self.error(ErrorKind::Unavailable, op))
            }
            Some(_) => Err(self.error(ErrorKind::Ambiguous, op)),
            None => Ok(value),
        }
    }

    /// What some do before the bytes are where they belong, with a point of waiting behind it.
    async fn begin_to_put(&self, bytes: &[u8]) {
        let half = bytes.len() / 2;
        let begun = match self.shared.flaw {
            Some(Flaw::TruncatesFirst) => Vec::new(),
            Some(Flaw::WritesInTwoHalves) => {
                let old = self.shared.inner().bytes.clone().unwrap_or_default();
                [&bytes[..half], old.get(half..).unwrap_or_default()].concat()
            }
            _ => return,
        };
        self.shared.inner().bytes = Some(begun);
        pause().await;
    }

    /// Puts the bytes where they belong.
    fn put(&self, bytes: &[u8]) -> Version {
        let mut bytes = bytes.to_vec();
        if self.has(Flaw::KeepsTextOnly) {
            bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
        }
        if self.has(Flaw::CutsLongStates) {
            bytes.truncate(1 << 20);
        }
        if self.has(Flaw::FormatsStates) {
            bytes.retain(|byte| !b" \n".contains(byte));
        }
        let mut inner = self.shared.inner();
        if self.has(Flaw::DropsWrites) && inner.writes % 3 == 2 {
            inner.writes += 1;
            return self.version(&inner).expect("earlier writes were stored");
        }
        if self.has(Flaw::OverlaysTheOldBytes)
            && let Some(tail) = inner.bytes.as_ref().and_then(|old| old.get(bytes.len()..))
        {
            bytes.extend_from_slice(tail);
        }
        if !self.has(Flaw::AnswersBeforeItIsDurable) {
            inner.durable = Some(bytes.clone());
        }
        inner.bytes = Some(bytes);
        inner.writes += 1;
        self.version(&inner).expect("bytes were stored above")
    }

    fn holder_of(&self, held: &Held) -> LockHolder {
        LockHolder::of(held.info.clone()).with_id(held.id.clone()).with_expiry(Some(held.expires))
    }

    fn refusal(&self, op: Op, held: &Held, asker: Option<&LockInfo>) -> Error {
        let holder = match asker {
            Some(info) if self.has(Flaw::RefusalNamesTheAsker) => Some(LockHolder::of(info.clone())),
            Some(_) if self.has(Flaw::RefusalNamesNobody) => None,
            _ if self.has(Flaw::CutsTheDocument) => {
                let document = held.info.to_json();
                let cut = &document.as_bytes()[..document.len().min(255)];
                LockInfo::parse(cut).ok().map(LockHolder::of)
            }
            _ => Some(self.holder_of(held)),
        };
        Error::locked(op, self, holder)
    }

    fn end(&self) -> Timestamp {
        self.shared.clock.now().checked_add(self.shared.lease).expect("the clock is far from its end")
    }

    fn grant(&self, held: &Held) -> LockGrant {
        let grant = LockGrant::new(held.id.clone()).expires(held.expires);
        let fencing = self.capabilities().fencing || self.has(Flaw::GrantsTokensItDoesNotCheck);
        if fencing { grant.fence(FencingToken::new(held.token)) } else { grant }
    }

    /// Takes the lock if it is free, in one step.
    fn take(&self, info: &LockInfo, id: &LockId) -> Result<LockGrant> {
        let _gate = self.shared.gate();
        let mut inner = self.shared.inner();
        if let Some(held) = self.held(&inner) {
            let let_in = self.has(Flaw::LocksForEveryone)
                || self.has(Flaw::LooksThenLocks)
                || self.has(Flaw::LocksTwiceForTheHolder) && held.client == self.number;
            if !let_in {
                return Err(self.refusal(Op::Lock, &held, Some(info)));
            }
        }
        if !self.has(Flaw::TokensStandStill) {
            inner.token += 1;
        }
        if self.has(Flaw::LockChangesTheVersion) {
            inner.writes += 1;
        }
        if self.has(Flaw::LockCreatesAState) && inner.bytes.is_none() {
            inner.bytes = Some(b"{}".to_vec());
        }
        let token = inner.token;
        let mut info = info.clone();
        if self.has(Flaw::DropsTheInfo) {
            info.info.clear();
        }
        let held =
            Held { id: id.clone(), info: info.clone(), client: self.number, token, expires: self.end() };
        inner.lock = Some(held.clone());
        inner.ghost = Some(info);
        *self.mine() = Some(id.clone());
        Ok(self.grant(&held))
    }

    fn lost(&self, op: Op) -> Error {
        let kind = if self.has(Flaw::LostIsCalledLocked) { ErrorKind::Locked } else { ErrorKind::LockLost };
        self.error(kind, op)
    }
}

/// A point at which others may come in between, on this thread or another one.
async fn pause() {
    std::thread::yield_now();
    let mut paused = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut paused, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shared.flaw {
            Some(Flaw::DisplayDiffersByClient) => write!(f, "flawed:{}", self.number),
            Some(Flaw::DisplayShowsThePassword) => write!(f, "flawed:ann:{PASSWORD}@place"),
            _ => f.write_str("flawed:place"),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.has(Flaw::DebugShowsTheState) { self.shared.inner().bytes.clone() } else { None };
        f.debug_struct("Client").field("number", &self.number).field("bytes", &shown).finish()
    }
}

#[async_trait]
impl StateStore for Client {
    fn capabilities(&self) -> Capabilities {
        let exclusion = match self.shared.flaw {
            Some(Flaw::LocksInsideTheProcess) => Exclusion::Global,
            _ => Exclusion::Process,
        };
        let all = Capabilities::none().locking(exclusion).force_unlock().holder().delete().lease();
        match self.shared.flaw {
            Some(Flaw::QuietlyIgnoresWhatItLacks) => all.fencing(),
            Some(Flaw::GrantsTokensItDoesNotCheck) => all.conditional_write(),
            _ => all.conditional_write().fencing(),
        }
    }

    async fn read(&self) -> Result<Option<Stored>> {
        if self.container_is_missing {
            return Err(self.error(ErrorKind::NotFound, Op::Read));
        }
        if self.has(Flaw::CachesReads)
            && let Some(cached) = self.cache.lock().expect("nothing panics inside").clone()
        {
            return Ok(cached);
        }
        pause().await;
        if self.has(Flaw::ReadNeedsTheLock)
            && self.held(&self.shared.inner()).is_some_and(|h| h.client != self.number)
        {
            return Err(self.error(ErrorKind::Locked, Op::Read));
        }
        let mut stored = self.stored(&self.shared.inner());
        if stored.is_none() && self.has(Flaw::AbsentIsAnError) {
            return Err(self.error(ErrorKind::NotFound, Op::Read));
        }
        if self.has(Flaw::VersionsChangeWithoutAWrite) {
            self.shared.inner().writes += 1;
        }
        if self.has(Flaw::ReadsInTwoHalves) {
            pause().await;
            if let (Some(first), Some(second)) = (&mut stored, self.stored(&self.shared.inner())) {
                let half = first.bytes.len() / 2;
                first.bytes.truncate(half);
                first.bytes.extend_from_slice(second.bytes.get(half..).unwrap_or_default());
            }
        }
        if self.has(Flaw::CachesReads) {
            *self.cache.lock().expect("nothing panics inside") = Some(stored.clone());
        }
        Ok(stored)
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        if bytes.is_empty() {
            if self.has(Flaw::TakesZeroBytes) {
                self.shared.inner().bytes = None;
                return Ok(Version::new("0"));
            }
            return Err(self.error(ErrorKind::Invalid, Op::Write));
        }
        pause().await;
        let disturbance = match self.disturbance(Op::Write) {
            Err(error) if self.has(Flaw::LeavesHalfAfterAnError) => {
                self.shared.inner().bytes = Some(bytes[..bytes.len() / 2].to_vec());
                return Err(error);
            }
            disturbance => disturbance?,
        };
        let slow_token = options.fence.is_some() && self.has(Flaw::ChecksTokensThenWrites);
        let slow_race = options.expect != Expect::Any && self.has(Flaw::LosesUpdatesInARace);
        let slow = slow_token || slow_race || self.has(Flaw::ChecksThenWrites);
        if slow {
            self.check(Op::Write, options)?;
            pause().await;
        }
        if matches!(self.shared.flaw, Some(Flaw::TruncatesFirst | Flaw::WritesInTwoHalves)) {
            self.check(Op::Write, options)?;
            self.begin_to_put(&bytes).await;
        }
        let version = {
            let _gate = self.shared.gate();
            if !slow && self.shared.flaw != Some(Flaw::TruncatesFirst) {
                self.check(Op::Write, options)?;
            }
            self.put(&bytes)
        };
        if self.has(Flaw::CachesReads) {
            *self.cache.lock().expect("nothing panics inside") = Some(self.stored(&self.shared.inner()));
        }
        pause().await;
        self.answer(Op::Write, disturbance, version)
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        pause().await;
        let disturbance = self.disturbance(Op::Delete)?;
        if self.shared.inner().bytes.is_none() && self.has(Flaw::DeleteNeedsAState) {
            return Err(self.error(ErrorKind::NotFound, Op::Delete));
        }
        {
            let _gate = self.shared.gate();
            self.check(Op::Delete, options)?;
            let mut inner = self.shared.inner();
            inner.bytes = self.has(Flaw::DeleteLeavesZeroBytes).then(Vec::new);
            inner.durable = None;
            if self.has(Flaw::DeleteRemovesTheLock) {
                inner.lock = None;
            }
            if self.has(Flaw::VersionsBeginAgainAfterDelete) {
                inner.writes = 0;
            }
        }
        self.answer(Op::Delete, disturbance, ())
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        pause().await;
        let disturbance = self.disturbance(Op::Lock)?;
        let asked = Instant::now();
        while self.has(Flaw::WaitsThreeSeconds)
            && self.held(&self.shared.inner()).is_some()
            && asked.elapsed() < Duration::from_secs(3)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        while self.has(Flaw::WaitsForTheHolder) && self.held(&self.shared.inner()).is_some() {
            pause().await;
        }
        if self.has(Flaw::LooksThenLocks) {
            if let Some(held) = self.held(&self.shared.inner()) {
                return Err(self.refusal(Op::Lock, &held, Some(info)));
            }
            pause().await;
        }
        let id = if self.has(Flaw::GrantsTheSameId) { LockId::new("lock") } else { info.id.clone() };
        if self.has(Flaw::LocksUnderAnotherIdFirst) {
            let first = LockInfo { id: LockId::new("pending"), ..info.clone() };
            self.take(&first, &first.id)?;
            pause().await;
            self.shared.inner().lock = None;
        }
        let grant = self.take(info, &id)?;
        pause().await;
        self.answer(Op::Lock, disturbance, grant)
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        pause().await;
        let was_mine = self.mine().as_ref() == Some(id);
        let mut inner = self.shared.inner();
        let end = self.end();
        match inner.lock.clone() {
            Some(mut held) if held.id == *id => {
                if !self.has(Flaw::RenewKeepsTheEnd) {
                    held.expires = end;
                }
                if self.has(Flaw::RenewGivesANewToken) {
                    held.token += 1;
                    inner.token += 1;
                }
                inner.lock = Some(held.clone());
                Ok(self.grant(&held))
            }
            Some(mut held) if was_mine && self.has(Flaw::RenewTakesTheLockBack) => {
                held.id = id.clone();
                held.client = self.number;
                inner.lock = Some(held.clone());
                Ok(self.grant(&held))
            }
            _ if was_mine => Err(self.lost(Op::RenewLock)),
            Some(held) => Err(self.refusal(Op::RenewLock, &held, None)),
            None => Err(self.error(ErrorKind::NotFound, Op::RenewLock)),
        }
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        pause().await;
        let was_mine = self.mine().as_ref() == Some(id);
        let mut inner = self.shared.inner();
        if inner.lock.is_some() && self.held(&inner).is_none() && self.has(Flaw::LateReleaseFails) {
            return Err(self.error(ErrorKind::NotFound, Op::Unlock));
        }
        let lock = inner.lock.clone();
        match lock {
            Some(held)
                if held.id == *id
                    || self.has(Flaw::UnlocksUnderAnyId)
                    || id.is_empty() && self.has(Flaw::UnlocksUnderAnEmptyId)
                    || was_mine && self.has(Flaw::LateReleaseFreesTheOther) =>
            {
                if self.has(Flaw::UnlockFreesForItselfOnly) {
                    // The lock goes to the client itself, under an id that only it would know.
                    inner.lock = Some(Held { id: LockId::new("kept"), ..held });
                } else {
                    inner.lock = None;
                }
                if self.has(Flaw::TokensFallWithUnlock) {
                    inner.token = inner.token.saturating_sub(1);
                }
                *self.mine() = None;
                Ok(())
            }
            _ if was_mine => {
                *self.mine() = None;
                Err(self.lost(Op::Unlock))
            }
            Some(held) => Err(self.refusal(Op::Unlock, &held, None)),
            None if self.has(Flaw::UnlockTwiceIsFine) => Ok(()),
            None => Err(self.error(ErrorKind::NotFound, Op::Unlock)),
        }
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        pause().await;
        let mut inner = self.shared.inner();
        match inner.lock.clone() {
            Some(held) if held.id != *id && !self.has(Flaw::ForceTakesAnyId) => {
                Err(self.refusal(Op::ForceUnlock, &held, None))
            }
            Some(held) if held.client != self.number && self.has(Flaw::ForceFreesItsOwnOnly) => {
                Err(self.error(ErrorKind::Denied, Op::ForceUnlock))
            }
            Some(_) if self.has(Flaw::ForceIsQuiet) => Ok(()),
            Some(_) => {
                inner.lock = None;
                if !self.has(Flaw::ForceDoesNotFence) {
                    inner.token += 1;
                }
                Ok(())
            }
            None if self.has(Flaw::ForceWithoutALockIsFine) => Ok(()),
            None => Err(self.error(ErrorKind::NotFound, Op::ForceUnlock)),
        }
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        pause().await;
        let inner = self.shared.inner();
        let held = self.held(&inner);
        if held.is_none() && self.has(Flaw::HolderIsKnownForever) {
            return Ok(inner.ghost.clone().map(LockHolder::of));
        }
        let seen = |held: &Held| held.client == self.number || !self.has(Flaw::HolderIsKnownToItselfOnly);
        Ok(held.filter(seen).map(|held| self.holder_of(&held)))
    }
}
