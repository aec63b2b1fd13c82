//! A stack of a Pulumi service, read, written and locked as any other state.
//!
//! The protocol has no lock and no condition for imports. A lock is a look here: no update runs. Where a command asks for it, our own server
//! locks the stack for it. Every write looks again, and compares the version. Our own server checks in one with the import that the state is the one that was read. At another service an update
//! that begins and ends between the look and the import is replaced; its state is in the history then.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::Timestamp;
use groundstate_pulumi_backends::pulumi_http::protocol::{Stack, StackLock, sha256};
use groundstate_pulumi_backends::pulumi_http::{
    Error as ServiceError, ErrorKind as ServiceKind, HistoryEntry as Update, ServiceStack,
};
use groundstate_pulumi_deployment::{DecodeOptions, decode};
use groundstate_statemgr::{
    Backend, Capabilities, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, Exclusion, Expect, History,
    HistoryEntry, HistoryId, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore, Stored,
    Version, WorkspaceName, WriteOptions,
};
use serde_json::Value;

use crate::input::service::{FoundService, missing};

/// The id of a lock that is a look.
const LOOK: &str = "none";

/// How many entries of a history are read at a time.
const PAGE: usize = 100;

/// A service of which one stack is meant.
#[derive(Clone, Debug)]
pub(crate) struct ServiceBackend(pub(crate) FoundService);

impl ServiceBackend {
    async fn stack(&self, op: Op) -> Result<&ServiceStack> {
        self.0.stack().await.map_err(|error| failed(op, self, error))
    }

    async fn get(&self, op: Op) -> Result<(&ServiceStack, Stack)> {
        let stack = self.stack(op).await?;
        match stack.get().await {
            Ok(known) => Ok((stack, known)),
            Err(error) => Err(self.explained(op, stack, error).await),
        }
    }

    async fn explained(&self, op: Op, stack: &ServiceStack, error: ServiceError) -> Error {
        match error.kind() {
            ServiceKind::NotFound if op != Op::ReadHistory => {
                Error::new(ErrorKind::NotFound, op, self).because(missing(stack).await)
            }
            _ => failed(op, self, error),
        }
    }

    /// Refuses while an update runs.
    fn refuse_running(&self, op: Op, known: &Stack) -> Result<()> {
        match holder(known) {
            Some(holder) => Err(Error::locked(op, self, Some(holder))),
            None => Ok(()),
        }
    }

    /// Whether the service has what an import was to store, whose outcome is not known.
    async fn is_stored(&self, stack: &ServiceStack, bytes: &[u8]) -> bool {
        let Ok(found) = stack.export().await else { return false };
        let read = |bytes: &[u8]| decode(bytes, &DecodeOptions::default()).ok().map(|file| file.snapshot);
        matches!((read(&found), read(bytes)), (Some(found), Some(sent)) if found == sent)
    }
}

impl fmt::Display for ServiceBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What stands between the count of a version and the digest of its state.
const DIGEST: &str = " sha256:";

/// Which version a stack has: its count, and the update that runs, which will make another state of the same count.
fn count(known: &Stack) -> String {
    match known.current_operation {
        Some(_) => format!("{} while {} runs", known.version, known.active_update),
        None => known.version.to_string(),
    }
}

/// The version of a state: the count alone does not tell, since imports into buckets do not change it.
fn version(known: &Stack, digest: Option<&str>) -> Version {
    let digest = digest.map(|digest| format!("{DIGEST}{digest}")).unwrap_or_default();
    Version::new(&(count(known) + &digest))
}

/// The update that runs, as the holder of a lock.
pub(crate) fn holder(known: &Stack) -> Option<LockHolder> {
    let running = known.current_operation.as_ref()?;
    let info = LockInfo {
        id: LockId::new(&known.active_update),
        operation: running.kind.to_string(),
        who: running.author.clone(),
        created: Timestamp::from_unix(running.started, 0).unwrap_or(LockInfo::default().created),
        ..LockInfo::default()
    };
    Some(LockHolder::of(info))
}

#[async_trait]
impl Backend for ServiceBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        Err(no_workspaces(Op::ListWorkspaces, self))
    }

    fn store(&self, _: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.clone()))
    }

    async fn create(&self, _: &WorkspaceName, _: &CreateWorkspace) -> Result<()> {
        Err(no_workspaces(Op::CreateWorkspace, self))
    }

    async fn delete(&self, _: &WorkspaceName, _: &DeleteWorkspace) -> Result<()> {
        Err(no_workspaces(Op::DeleteWorkspace, self))
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(Some(Arc::new(self.clone())))
    }
}

fn no_workspaces(op: Op, place: &ServiceBackend) -> Error {
    Error::unsupported(op, place)
        .because("Pulumi has stacks in place of workspaces, see `groundstate stacks list`")
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for ServiceBackend {
    fn capabilities(&self) -> Capabilities {
        let exclusion = if self.0.excludes() { Exclusion::Global } else { Exclusion::Look };
        Capabilities::none().locking(exclusion).holder().force_unlock().conditional_write()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        const OP: Op = Op::Read;
        // The version is read first: should another state follow, a write that expects this version is refused.
        let (stack, known) = self.get(OP).await?;
        match stack.export().await {
            Ok(bytes) => Ok(Some(Stored::new(bytes.to_vec(), version(&known, Some(&sha256(&bytes)))))),
            Err(error) => Err(self.explained(OP, stack, error).await),
        }
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        const OP: Op = Op::Write;
        let (stack, known) = self.get(OP).await?;
        self.refuse_running(OP, &known)?;
        let changed = |why: String| Error::new(ErrorKind::Conflict, OP, self).because(why);
        let digest = match &options.expect {
            Expect::Any => None,
            Expect::Absent => return Err(changed("the stack exists already".to_owned())),
            Expect::Version(read) => {
                let (read, digest) = read.as_str().split_once(DIGEST).unwrap_or((read.as_str(), ""));
                if read != count(&known) {
                    let why = format!("it has version {} now, and version {read} was read", known.version);
                    return Err(changed(why));
                }
                Some(digest).filter(|digest| !digest.is_empty())
            }
        };
        let imported = match digest {
            Some(digest) => stack.import_over(bytes.clone(), digest).await,
            None => stack.import(bytes.clone()).await,
        };
        let imported = match imported {
            Ok(imported) => imported.sha256,
            Err(error) if error.kind() == ServiceKind::Ambiguous && self.is_stored(stack, &bytes).await => {
                None
            }
            Err(error) if error.kind() == ServiceKind::Changed => {
                return Err(
                    changed("another state was stored after it was read".to_owned()).with_source(error)
                );
            }
            Err(error) if error.kind() == ServiceKind::Running => {
                let running = stack.get().await.ok().as_ref().and_then(holder);
                return Err(Error::locked(OP, self, running).with_source(error));
            }
            Err(error) => return Err(self.explained(OP, stack, error).await),
        };
        let now = stack.get().await.unwrap_or(Stack { version: known.version + 1, ..known });
        Ok(version(&now, imported.as_deref()))
    }

    async fn delete(&self, _: &WriteOptions) -> Result<()> {
        Err(Error::unsupported(Op::Delete, self)
            .because("a stack is removed with `groundstate stacks remove`"))
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        let (stack, known) = self.get(OP).await?;
        self.refuse_running(OP, &known)?;
        if !self.0.excludes() {
            return Ok(LockGrant::new(LockId::new(LOOK)));
        }
        match stack.lock(info.id.as_str()).await {
            Ok(lock) => Ok(granted(&info.id, lock)),
            Err(error) if error.kind() == ServiceKind::Running => {
                let running = stack.get().await.ok().as_ref().and_then(holder);
                Err(Error::locked(OP, self, running).with_source(error))
            }
            Err(error) => Err(self.explained(OP, stack, error).await),
        }
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        const OP: Op = Op::RenewLock;
        if id.as_str() == LOOK {
            return Ok(LockGrant::new(id.clone()));
        }
        let renewed = self.stack(OP).await?.renew_lock(id.as_str()).await;
        renewed.map(|lock| granted(id, lock)).map_err(|error| failed(OP, self, error))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::Unlock;
        if id.as_str() == LOOK {
            return Ok(());
        }
        if !self.0.excludes() {
            return Err(
                Error::new(ErrorKind::NotFound, OP, self).because("only the service ends its updates")
            );
        }
        self.stack(OP).await?.unlock(id.as_str()).await.map_err(|error| failed(OP, self, error))
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::ForceUnlock;
        let (stack, known) = self.get(OP).await?;
        let Some(running) = holder(&known) else {
            return Err(Error::new(ErrorKind::NotFound, OP, self).because("no update runs"));
        };
        if running.id != *id {
            return Err(Error::locked(OP, self, Some(running)));
        }
        stack.cancel(id.as_str()).await.map_err(|error| failed(OP, self, error))
    }

    fn lock_name(&self) -> String {
        format!("the update of {self}")
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        Ok(holder(&self.get(Op::FindHolder).await?.1))
    }
}

fn granted(id: &LockId, lock: StackLock) -> LockGrant {
    let grant = LockGrant::new(id.clone());
    match Timestamp::from_unix(lock.expires, 0) {
        Ok(end) => grant.expires(end),
        Err(_) => grant,
    }
}

/// All updates of a stack, the newest first.
pub(crate) async fn updates(stack: &ServiceStack) -> Result<Vec<Update>, ServiceError> {
    let (mut updates, mut page) = (Vec::new(), 1);
    loop {
        let found = stack.history(page, PAGE).await?;
        // A service may have pages of another size, so only an empty one is the last. One that does not count pages gives the same again.
        let is_again = found.first().is_some_and(|first: &Update| {
            updates.iter().rev().take(found.len()).any(|known: &Update| known.text == first.text)
        });
        if found.is_empty() || is_again {
            return Ok(updates);
        }
        updates.extend(found);
        page += 1;
    }
}

#[async_trait]
impl History for ServiceBackend {
    async fn list(&self) -> Result<Vec<HistoryEntry>> {
        const OP: Op = Op::ListHistory;
        let (stack, _) = self.get(OP).await?;
        let updates = updates(stack).await.map_err(|error| failed(OP, self, error))?;
        let unreadable = |why: String| Error::new(ErrorKind::Corrupt, OP, self).because(why);
        let entry = |update: Update| {
            let number =
                update.version.ok_or_else(|| unreadable("an update in it has no number".to_owned()))?;
            let wrong =
                |why: &dyn fmt::Display| unreadable(format!("version {number} cannot be read: {why}"));
            // A service may have kinds of updates that this release does not know; the time says when one ended nevertheless.
            let ended = match &update.update {
                Ok(update) => update.end_time,
                Err(error) => {
                    let read: Value = update.text.read().map_err(|error| wrong(&error))?;
                    read.get("endTime").and_then(Value::as_i64).ok_or_else(|| wrong(error))?
                }
            };
            let time = Timestamp::from_unix(ended, 0).map_err(|error| wrong(&error))?;
            Ok(HistoryEntry::new(HistoryId::new(&number.to_string()), time, 0))
        };
        updates.into_iter().map(entry).collect()
    }

    async fn read(&self, id: &HistoryId) -> Result<Stored> {
        const OP: Op = Op::ReadHistory;
        let not_kept =
            || Error::new(ErrorKind::NotFound, OP, self).because(format!("there is no version {id}"));
        let number: u64 = id.as_str().parse().map_err(|_| not_kept())?;
        match self.stack(OP).await?.export_version(number).await {
            Ok(bytes) => Ok(Stored::new(bytes.to_vec(), Version::new(id.as_str()))),
            Err(error) if error.kind() == ServiceKind::NotFound => Err(not_kept().with_source(error)),
            Err(error) => Err(failed(OP, self, error)),
        }
    }
}

/// What a service says, as the kinds that managers of states act on.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: ServiceError) -> Error {
    let kind = match error.kind() {
        ServiceKind::NotFound => ErrorKind::NotFound,
        ServiceKind::Exists | ServiceKind::Changed => ErrorKind::Conflict,
        ServiceKind::Running => ErrorKind::Locked,
        ServiceKind::LockLost => ErrorKind::LockLost,
        ServiceKind::NotLoggedIn | ServiceKind::Denied => ErrorKind::Denied,
        ServiceKind::Invalid | ServiceKind::HasResources | ServiceKind::TooLarge => ErrorKind::Invalid,
        ServiceKind::Unsupported => ErrorKind::Unsupported,
        ServiceKind::NotService | ServiceKind::Unavailable => ErrorKind::Unavailable,
        ServiceKind::Ambiguous => ErrorKind::Ambiguous,
        _ => ErrorKind::Internal,
    };
    Error::new(kind, op, target).because(error.reason()).with_source(error)
}
