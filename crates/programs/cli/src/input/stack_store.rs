//! A stack in a Pulumi backend, read, written and locked as any other state.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, BlobVersion, DeleteOptions, Key, Precondition};
use groundstate_common::{Timestamp, shell_command, shell_word};
use groundstate_pulumi_backends::OpenedStore;
use groundstate_pulumi_diy::{
    Backend as Bucket, Error as StackFailure, ErrorKind as StackKind, FoundLock, Guard, HeldLock, Holder,
    LockConflict, LockContent, LockOptions, Options, Stack, StackFilter, StackRef, StackRefError, Unguarded,
    Warning,
};
use groundstate_pulumi_snapshot::ProjectName;
use groundstate_statemgr::{
    Backend, Capabilities, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, Exclusion, Expect,
    FencingToken, History, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore, Stored, Version,
    WorkspaceName, WriteOptions,
};
use groundstate_statemgr_fs::Process;
use tokio::sync::OnceCell;

use crate::input::remote::warn_once;
use crate::input::stack::context;
use crate::input::stack_history::StackHistory;
use crate::report::error::chain;
use crate::report::text::{did_you_mean, similar};

/// Where our own objects are, leases among them.
const OWN: &str = ".pulumi/groundstate/";

/// How many stacks are named where one is missing.
const MAX_NAMED: usize = 10;

/// Which stack of a bucket is meant, and how it is written.
#[derive(Clone, Debug)]
pub(crate) struct StackPlace {
    /// Its name, as the user wrote it.
    pub(crate) stack: String,
    /// The project that is meant where the name has none.
    pub(crate) project: Option<ProjectName>,
    pub(crate) options: Options,
    /// What is compressed stays so, because no variable says otherwise.
    pub(crate) keeps_compression: bool,
}

impl StackPlace {
    /// Opens the bucket. Nothing is written.
    pub(crate) async fn bucket(&self, store: &Arc<dyn BlobStore>) -> Result<Bucket, StackFailure> {
        Bucket::open_existing(Arc::clone(store), context(), self.options.clone()).await
    }

    /// The name of the stack, as the layout of the bucket has it.
    pub(crate) fn reference(&self, bucket: &Bucket) -> Result<StackRef, StackRefError> {
        bucket.reference(&self.stack, self.project.as_ref())
    }

    /// Its name with organisation and project: the same for every way to write it, and another one for another project.
    fn full_name(&self) -> String {
        let reference = StackRef::parse(&self.stack, self.project.as_ref());
        reference.map_or_else(|_| self.stack.clone(), |reference| reference.to_string())
    }

    /// The stack, which is written in the compression that it has.
    pub(crate) async fn stack(&self, bucket: &Bucket, reference: &StackRef) -> Result<Stack, StackFailure> {
        let stack = bucket.stack(reference);
        if !self.keeps_compression {
            return Ok(stack);
        }
        let found = stack.select().await?.active.map(|active| active.compression);
        match found.filter(|found| *found != self.options.compression) {
            None => Ok(stack),
            Some(found) => {
                let options = self.options.clone().compression(found);
                let store = Arc::clone(bucket.store());
                Ok(Bucket::open_existing(store, context(), options).await?.stack(reference))
            }
        }
    }
}

/// A bucket of which one stack is meant. Clones are one client.
#[derive(Clone, Debug)]
pub(crate) struct StackBackend {
    opened: Arc<OpenedStore>,
    place: StackPlace,
    /// The command line names the stack of the directory.
    is_named: bool,
    client: Arc<Client>,
}

/// What a client knows and holds.
#[derive(Debug, Default)]
struct Client {
    stack: OnceCell<Stack>,
    held: Mutex<Option<Arc<HeldLock>>>,
}

impl StackBackend {
    pub(crate) fn new(opened: Arc<OpenedStore>, place: StackPlace) -> Self {
        Self { opened, place, is_named: false, client: Arc::default() }
    }

    /// Sets whether the command line names the stack of the directory.
    #[must_use]
    pub(crate) fn named(self, is_named: bool) -> Self {
        Self { is_named, ..self }
    }

    /// The name of the stack alone, without its organization and project.
    pub(crate) fn stack_name(&self) -> &str {
        self.place.stack.rsplit('/').next().unwrap_or(&self.place.stack)
    }

    /// The name of the stack as it was given, which may have an organization and a project.
    pub(crate) fn full_name(&self) -> &str {
        &self.place.stack
    }

    /// Its place in words, which tells it from the stacks of other projects in the bucket.
    pub(crate) fn identity(&self) -> String {
        format!("stack {} in {}", self.place.full_name(), self.opened.store)
    }

    /// The name of the stack, if the command line has it.
    pub(crate) fn name_given(&self) -> Option<&str> {
        self.is_named.then_some(self.place.stack.as_str())
    }

    /// The stack, in a bucket that was opened: its layout is known.
    pub(crate) async fn stack(&self, op: Op) -> Result<&Stack> {
        self.client.stack.get_or_try_init(|| self.open(op)).await
    }

    async fn open(&self, op: Op) -> Result<Stack> {
        let failed = |error| failed(op, self, error);
        let bucket = self.place.bucket(&self.opened.store).await.map_err(failed)?;
        warn(bucket.warnings());
        let reference = self.place.reference(&bucket).map_err(|error| {
            Error::new(ErrorKind::Invalid, op, self).because(error.to_string()).with_source(error)
        })?;
        self.place.stack(&bucket, &reference).await.map_err(failed)
    }

    /// That there is no such stack; only its project makes one.
    pub(crate) async fn missing(&self, op: Op, stack: &Stack) -> Error {
        Error::new(ErrorKind::NotFound, op, self).because(missing(stack).await)
    }

    /// A command on the stack that this argument names, as messages show it.
    pub(crate) fn command(&self, verb: &str, argument: &str) -> String {
        let command = shell_command(&format!("groundstate {verb}"), &[argument]);
        match self.name_given() {
            Some(stack) => format!("{command} --stack {}", shell_word(stack)),
            None => command,
        }
    }

    /// Says that the stored state lacks what a killed update did, or that this cannot be told.
    pub(crate) async fn warn_of_journal(&self, name: &str, argument: &str) {
        // That there is no such stack shows when the state is read.
        let Ok(stack) = self.stack(Op::Read).await else { return };
        let warning = match stack.has_journal().await {
            Ok(false) => return,
            Err(error) if error.kind() == StackKind::NotFound => return,
            Ok(true) => {
                let recover = self.command("recover", argument);
                format!("{name} lacks the changes of a killed update; `{recover}` stores them")
            }
            Err(error) => format!("{name} may lack the changes of a killed update: {}", chain(&error)),
        };
        warn_once(&[warning]);
    }

    fn held(&self) -> Option<Arc<HeldLock>> {
        self.client.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold(&self, lock: Option<Arc<HeldLock>>) {
        *self.client.held.lock().unwrap_or_else(PoisonError::into_inner) = lock;
    }

    /// What writers ask before each write: the lock of this client. Without one, no other process may hold it.
    pub(crate) async fn guard(&self, op: Op) -> Result<Arc<dyn Guard>> {
        if let Some(lock) = self.held() {
            return Ok(lock);
        }
        match self.locks(op).await?.first() {
            Some(lock) => Err(Error::locked(op, self, Some(holder(lock)))),
            None => Ok(Arc::new(Unguarded)),
        }
    }

    /// The locks of the stack, the one of this client included.
    async fn locks(&self, op: Op) -> Result<Vec<FoundLock>> {
        self.stack(op).await?.locks().await.map_err(|error| failed(op, self, error))
    }
}

impl fmt::Display for StackBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stack {} in {}", self.place.stack, self.opened.store)
    }
}

#[async_trait]
impl Backend for StackBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        Err(no_workspaces(Op::ListWorkspaces, self))
    }

    fn store(&self, _: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(StackStore { backend: self.clone() }))
    }

    async fn create(&self, _: &WorkspaceName, _: &CreateWorkspace) -> Result<()> {
        Err(no_workspaces(Op::CreateWorkspace, self))
    }

    async fn delete(&self, _: &WorkspaceName, _: &DeleteWorkspace) -> Result<()> {
        Err(no_workspaces(Op::DeleteWorkspace, self))
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(Some(Arc::new(StackHistory::new(self.clone()))))
    }
}

fn no_workspaces(op: Op, place: &StackBackend) -> Error {
    Error::unsupported(op, place)
        .because("Pulumi has stacks in place of workspaces, see `groundstate stacks list`")
}

/// The checkpoint of a stack as the state in a store.
struct StackStore {
    backend: StackBackend,
}

impl StackStore {
    /// What to say to a release with an id that no lock has.
    fn no_such_lock(&self, op: Op, locks: &[FoundLock]) -> Error {
        match locks.first() {
            Some(lock) => Error::locked(op, self, Some(holder(lock))),
            None => Error::new(ErrorKind::NotFound, op, self).because("it is not locked"),
        }
    }
}

impl fmt::Display for StackStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.backend.fmt(f)
    }
}

impl fmt::Debug for StackStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackStore").field("backend", &self.backend).finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for StackStore {
    fn capabilities(&self) -> Capabilities {
        let can = Capabilities::none().locking(Exclusion::Global).holder().force_unlock();
        match self.backend.opened.store.capabilities().conditional_put {
            true => can.conditional_write().lease(),
            false => can,
        }
    }

    async fn read(&self) -> Result<Option<Stored>> {
        const OP: Op = Op::Read;
        let stack = self.backend.stack(OP).await?;
        let read = stack.read().await.map_err(|error| failed(OP, self, error))?;
        let Some(read) = read else { return Err(self.backend.missing(OP, stack).await) };
        warn(&read.warnings);
        Ok(Some(Stored::new(read.bytes.to_vec(), Version::new(&read.version.to_string()))))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        const OP: Op = Op::Write;
        let stack = self.backend.stack(OP).await?;
        let guard = self.backend.guard(OP).await?;
        let expected = match &options.expect {
            Expect::Any => Precondition::Any,
            Expect::Absent => Precondition::Absent,
            Expect::Version(version) => {
                Precondition::Version(version.as_str().parse::<BlobVersion>().map_err(|error| {
                    Error::new(ErrorKind::Internal, OP, self)
                        .because("its version is none of this store")
                        .with_source(error)
                })?)
            }
        };
        // The commands have checked it, and know which of those that are broken may be stored.
        let mut writer = stack.writer(guard).expecting(expected).unchecked();
        let saved = writer.save(bytes).await;
        let saved = saved.map_err(|error| failed(OP, self, error))?;
        warn(&saved.warnings);
        Ok(Version::new(&saved.version.to_string()))
    }

    async fn delete(&self, _: &WriteOptions) -> Result<()> {
        Err(Error::unsupported(Op::Delete, self).because("a stack is removed with `pulumi stack rm`"))
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        let stack = self.backend.stack(OP).await?;
        match stack.lock(&this_process(&info.who), &LockOptions::default()).await {
            Ok(lock) => {
                let mut grant = LockGrant::new(id_of(lock.key().as_str()));
                grant.expires = lock.expires();
                grant.fence = lock.token().map(FencingToken::new);
                self.backend.hold(Some(Arc::new(lock)));
                Ok(grant)
            }
            Err(error) if error.kind() == StackKind::Locked => {
                let conflict = find::<LockConflict>(&error).and_then(|found| first(found.locks()));
                Err(Error::locked(OP, self, conflict).with_source(error))
            }
            Err(error) => Err(failed(OP, self, error)),
        }
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        const OP: Op = Op::RenewLock;
        let lock = self.backend.held().filter(|lock| id_of(lock.key().as_str()) == *id);
        let lock = lock.ok_or_else(|| Error::new(ErrorKind::LockLost, OP, self))?;
        lock.renew().await.map_err(|error| failed(OP, self, error))?;
        let mut grant = LockGrant::new(id.clone());
        grant.expires = lock.expires();
        grant.fence = lock.token().map(FencingToken::new);
        Ok(grant)
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::Unlock;
        match self.backend.held().filter(|lock| id_of(lock.key().as_str()) == *id) {
            Some(lock) => {
                let kept = lock.kept().await;
                lock.release().await.map_err(|error| failed(OP, self, error))?;
                self.backend.hold(None);
                // What cannot be asked is no loss: the lock was released.
                match kept {
                    Err(error) if error.kind() == StackKind::LockLost => Err(failed(OP, self, error)),
                    _ => Ok(()),
                }
            }
            None => Err(self.no_such_lock(OP, &self.backend.locks(OP).await?)),
        }
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::ForceUnlock;
        let locks = self.backend.locks(OP).await?;
        // A lease of ours goes with the lock that it belongs to.
        let (leases, locks): (Vec<_>, Vec<_>) = locks.into_iter().partition(|lock| lock.key.starts_with(OWN));
        let is_meant = |lock: &&FoundLock| lock.id == id.as_str();
        let meant = locks.iter().chain(&leases).find(is_meant);
        let Some(meant) = meant else {
            return Err(self.no_such_lock(OP, if locks.is_empty() { &leases } else { &locks }));
        };
        let stack = self.backend.stack(OP).await?;
        if locks.iter().all(|lock| is_meant(&lock)) {
            let cancelled = stack.cancel().await.map_err(|error| failed(OP, self, error))?;
            return match cancelled.failed.into_iter().next() {
                None => Ok(()),
                Some((left, error)) => Err(failed(OP, format_args!("{self} ({})", left.key), error)),
            };
        }
        // The others are not meant.
        match stack.release_lock(id.as_str()).await {
            Err(error) if error.kind() == StackKind::Invalid => {}
            released => return released.map_err(|error| failed(OP, self, error)),
        }
        let key = Key::parse(&meant.key).map_err(|error| blobs_failed(OP, self, error))?;
        let deleted = stack.backend().store().delete(&key, &DeleteOptions::default()).await;
        deleted.map(drop).map_err(|error| blobs_failed(OP, self, error))
    }

    fn lock_name(&self) -> String {
        format!("the lock of {self}")
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let locks = self.backend.locks(Op::FindHolder).await?;
        Ok(first(&locks))
    }
}

/// That there is no such stack, with those that may be meant.
pub(crate) async fn missing(stack: &Stack) -> String {
    let names = stack.backend().stack_names(&StackFilter::default()).await.unwrap_or_default();
    missing_among(&stack.reference().to_string(), names.iter().map(ToString::to_string).collect())
}

/// That a stack is not among these.
pub(crate) fn missing_among(wanted: &str, mut names: Vec<String>) -> String {
    let meant = did_you_mean(&similar(wanted, names.iter().cloned()));
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let there = match (names.is_empty(), more) {
        (true, _) => "there are no stacks here".to_owned(),
        (false, 0) => format!("the stacks here are {}", names.join(", ")),
        (false, more) => format!("the stacks here are {} and {more} more", names.join(", ")),
    };
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    format!("there is no such stack; {there}{meant}")
}

pub(crate) fn warn(warnings: &[Warning]) {
    warn_once(&warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
}

/// This process, which runs for `user@host`, as a holder of locks.
pub(crate) fn this_process(who: &str) -> Holder {
    let (user, host) = who.split_once('@').unwrap_or((who, ""));
    Holder { pid: std::process::id(), user: user.to_owned(), host: host.to_owned(), started: None }
}

/// The id of a lock: the name of its object without the ending.
fn id_of(key: &str) -> LockId {
    let name = key.rsplit('/').next().unwrap_or(key);
    LockId::new(name.strip_suffix(".json").unwrap_or(name))
}

/// The holder to name: of a lock that `pulumi` sees rather than of a lease.
fn first(locks: &[FoundLock]) -> Option<LockHolder> {
    locks.iter().find(|lock| !lock.key.starts_with(OWN)).or(locks.first()).map(holder)
}

/// A lock, as `locks` and `unlock` show it.
pub(crate) fn holder(lock: &FoundLock) -> LockHolder {
    let mut info = LockInfo { id: LockId::new(&lock.id), path: lock.key.clone(), ..LockInfo::default() };
    let (mut process, mut alive) = (None, None);
    match &lock.content {
        LockContent::Held { pid, user, host, since } => {
            info.who = format!("{user}@{host}");
            info.created = Timestamp::parse(since).unwrap_or(info.created);
            process = u32::try_from(*pid).ok();
            // The lock has no more than the number, so nothing is said of a number that is in use.
            alive = process.filter(|pid| Process::is_gone(*pid, host)).map(|_| false);
        }
        LockContent::Unreadable(why) => info.info = format!("unreadable lock: {why}"),
        LockContent::Temporary => info.info = "temporary file of a killed write".to_owned(),
        other => info.info = format!("{other:?}"),
    }
    LockHolder::of(info).with_process(process, alive).with_expiry(lock.expires)
}

fn find<E: std::error::Error + 'static>(error: &StackFailure) -> Option<&E> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        source = cause.source();
    }
    None
}

fn blobs_failed(op: Op, target: impl fmt::Display, error: groundstate_blobs::Error) -> Error {
    failed(op, target, StackFailure::from_store(groundstate_pulumi_diy::Op::Lock, "the lock", error))
}

/// What the store of stacks says, as the kinds that managers of states act on.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: StackFailure) -> Error {
    let kind = match error.kind() {
        StackKind::NotFound => ErrorKind::NotFound,
        StackKind::Exists | StackKind::Changed => ErrorKind::Conflict,
        StackKind::Locked => ErrorKind::Locked,
        StackKind::LockLost => ErrorKind::LockLost,
        StackKind::Corrupt => ErrorKind::Corrupt,
        StackKind::Broken | StackKind::Legacy | StackKind::Invalid => ErrorKind::Invalid,
        StackKind::Unsupported => ErrorKind::Unsupported,
        StackKind::Denied => ErrorKind::Denied,
        StackKind::Unavailable => ErrorKind::Unavailable,
        StackKind::Ambiguous => ErrorKind::Ambiguous,
        _ => ErrorKind::Internal,
    };
    Error::new(kind, op, target).because(error.reason()).with_source(error)
}
