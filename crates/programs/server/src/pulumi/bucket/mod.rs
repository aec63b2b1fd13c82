//! Buckets of the CLI's own backends, whose stacks this server serves.

mod error;
mod history;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, Context, Precondition};
use groundstate_common::one_line;
use groundstate_pulumi_backends::pulumi_diy::pulumi_snapshot::{ProjectName, StackName};
use groundstate_pulumi_backends::pulumi_diy::{
    Backend, Checkpoint, HeldLock, Holder, JournalOptions, LockOptions, Options, RelocateOptions,
    RemoveOptions, Stack, StackFilter, StackRef, Unguarded,
};
use groundstate_pulumi_backends::{BackendChoice, BackendUrl, OpenContext, OpenedStore};
use groundstate_pulumi_service::{
    BucketLock, BucketState, BucketUpdate, Error, ErrorKind, Op, Result, StackBucket, StackPath,
};
use tokio::sync::OnceCell;
use tracing::{info, warn};

use self::error::failed;

pub(crate) use self::error::is_of_bucket;

/// How long a lock in the bucket lasts unless it is renewed, for programs of this family that take over what has ended. Those of the CLI have
/// no end. It is longer than every lease that a client of the service gets.
const LEASE: Duration = Duration::from_secs(900);
/// How often tags are written when other programs are faster.
const ATTEMPTS: usize = 4;

/// A bucket of the CLI's own backends, whose stacks this server serves as those of one owner.
///
/// Nothing is asked of it before the first request for one of its stacks, so a bucket that does not answer keeps no server from its start.
pub struct PulumiBucket {
    place: String,
    store: Arc<dyn BlobStore>,
    /// Where it comes from, unless it was handed in.
    opened: Option<OpenedStore>,
    context: Context,
    holder: Holder,
    backend: OnceCell<Backend>,
    /// Names that this process has taken away while it held their locks.
    gone: Mutex<BTreeSet<StackPath>>,
}

impl PulumiBucket {
    /// The bucket of a URL as `pulumi login` takes it. `node` names this process in locks, and `variable` looks up variables of the
    /// environment, which have credentials.
    ///
    /// # Errors
    ///
    /// For a URL with parameters that cannot be honoured, and a directory that is not there.
    pub fn open(
        url: &BackendUrl,
        node: &str,
        context: &Context,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, groundstate_blobs::Error> {
        let with = OpenContext { context, variable, directory: Path::new("/") };
        let opened = BackendChoice::of_user(url.clone()).open(with)?;
        let bucket = Self::of_store(Arc::clone(&opened.store), url.to_string(), node, context);
        Ok(Self { opened: Some(opened), ..bucket })
    }

    /// A bucket that is open already, and asks again by itself; `place` names it, without secrets.
    pub fn of_store(
        store: Arc<dyn BlobStore>,
        place: impl Into<String>,
        node: &str,
        context: &Context,
    ) -> Self {
        let host = format!("{SERVER} at {}", one_line(node));
        let holder = Holder { pid: std::process::id(), user: String::new(), host, started: None };
        let (place, context) = (place.into(), context.clone());
        Self { place, store, opened: None, context, holder, backend: OnceCell::new(), gone: Mutex::default() }
    }

    /// What is to be said of the URL and the settings, one line each.
    pub fn notes(&self) -> &[String] {
        self.opened.as_ref().map_or(&[], |opened| &opened.notes)
    }

    async fn backend(&self) -> Result<&Backend> {
        let open = async || {
            if let Some(opened) = &self.opened {
                opened.prepare().await.map_err(|error| {
                    let failure = Error::new(ErrorKind::Unavailable, Op::Open, self);
                    failure.because(error.message()).with_source(error)
                })?;
            }
            let opened = Backend::open(Arc::clone(&self.store), self.context.clone(), Options::default());
            let backend = opened.await.map_err(|error| failed(Op::Open, self, error))?;
            for warning in backend.warnings() {
                warn!(bucket = %self, "{warning}");
            }
            Ok(backend)
        };
        self.backend.get_or_try_init(open).await
    }

    async fn stack(&self, path: &StackPath) -> Result<Stack> {
        let invalid = |error: groundstate_common::InvalidId| {
            Error::new(ErrorKind::Invalid, Op::Read, path).because(error.to_string())
        };
        let project = ProjectName::parse(path.project()).map_err(invalid)?;
        let stack = StackName::parse(path.stack()).map_err(invalid)?;
        Ok(self.backend().await?.stack(&StackRef::new(project, stack)))
    }

    fn gone(&self) -> MutexGuard<'_, BTreeSet<StackPath>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock of this id, which has to be held.
    async fn held(&self, op: Op, path: &StackPath, stack: &Stack, id: &str) -> Result<HeldLock> {
        let held = stack.held_lock(id, LEASE).await.map_err(|error| failed(op, path, error))?;
        held.ok_or_else(|| {
            let failure = Error::new(ErrorKind::LeaseLost, op, path);
            failure.because(format!("another program has removed its lock in {self}"))
        })
    }

    /// The checkpoint that counts, and the stack with its compression.
    async fn present(&self, op: Op, path: &StackPath, stack: &Stack) -> Result<Option<(Checkpoint, Stack)>> {
        let read = stack.read().await.map_err(|error| failed(op, path, error))?;
        Ok(read.map(|checkpoint| {
            let backend = stack.backend().compressed(state::compression(checkpoint.key.as_str()));
            let stack = backend.stack(stack.reference());
            (checkpoint, stack)
        }))
    }

    /// Finishes what a program of this family could not, which was killed while it updated the stack.
    async fn recover(&self, path: &StackPath, stack: &Stack, held: HeldLock) -> Result<()> {
        if !stack.has_journal().await.map_err(|error| failed(Op::Update, path, error))? {
            return Ok(());
        }
        let options = JournalOptions::new(self.holder.host.as_str(), "", "groundstate serve");
        let recovered = stack.recover(Arc::new(held), &options).await;
        let recovered = recovered.map_err(|error| failed(Op::Update, path, error))?;
        info!(stack = %path, entries = recovered.map_or(0, |one| one.entries), "an update that was killed is recovered");
        Ok(())
    }
}

/// What the holder of a lock is called, behind the user.
const SERVER: &str = "groundstate-server";

#[async_trait]
impl StackBucket for PulumiBucket {
    async fn names(&self, project: Option<&str>) -> Result<Vec<(String, String)>> {
        let filter = match project.map(ProjectName::parse) {
            // There is no such project.
            Some(Err(_)) => return Ok(Vec::new()),
            Some(Ok(project)) => StackFilter::default().project(project),
            None => StackFilter::default(),
        };
        let names = self.backend().await?.stack_names(&filter).await;
        let names = names.map_err(|error| failed(Op::List, self, error))?;
        let mut names: Vec<(String, String)> = names
            .iter()
            .filter_map(|name| Some((name.project()?.to_string(), name.stack().to_string())))
            .collect();
        names.sort();
        Ok(names)
    }

    async fn exists(&self, path: &StackPath) -> Result<bool> {
        self.stack(path).await?.exists().await.map_err(|error| failed(Op::Read, path, error))
    }

    async fn read(&self, path: &StackPath) -> Result<Option<BucketState>> {
        let read = self.stack(path).await?.read().await.map_err(|error| failed(Op::Read, path, error))?;
        read.map(|checkpoint| state::of_checkpoint(path, &checkpoint)).transpose()
    }

    fn holds(&self, path: &StackPath, read: &BucketState, state: &Bytes) -> bool {
        state::document(Op::Save, path, state).is_ok_and(|document| state::sha256(&document) == read.sha256)
    }

    async fn tags(&self, path: &StackPath) -> Result<BTreeMap<String, String>> {
        let tags = self.stack(path).await?.tags().await.map_err(|error| failed(Op::Read, path, error))?;
        Ok(tags.all().clone())
    }

    /// As with the CLI, tags have no lock; a condition keeps writers apart.
    async fn set_tags(&self, path: &StackPath, tags: &BTreeMap<String, String>) -> Result<()> {
        use groundstate_pulumi_backends::pulumi_diy::ErrorKind as Kind;
        let stack = self.stack(path).await?;
        let mut attempt = 1;
        loop {
            let mut stored = stack.tags().await.map_err(|error| failed(Op::Tag, path, error))?;
            if stored.all() == tags {
                return Ok(());
            }
            let gone: Vec<String> =
                stored.all().keys().filter(|name| !tags.contains_key(*name)).cloned().collect();
            for name in gone {
                stored.remove(&name);
            }
            for (name, value) in tags {
                stored.set(name, value).map_err(|error| failed(Op::Tag, path, error))?;
            }
            match stack.save_tags(&stored, &Unguarded).await {
                Err(error) if error.kind() == Kind::Changed && attempt < ATTEMPTS => attempt += 1,
                saved => return saved.map_err(|error| failed(Op::Tag, path, error)),
            }
        }
    }

    async fn lock(&self, path: &StackPath, lock: &BucketLock) -> Result<()> {
        let stack = self.stack(path).await?;
        let holder = Holder { user: one_line(&lock.by).into_owned(), ..self.holder.clone() };
        let options = LockOptions::default().id(&lock.id).lease(LEASE);
        let held = stack.lock(&holder, &options).await.map_err(|error| failed(Op::Update, path, error))?;
        let recovered = self.recover(path, &stack, held).await;
        if recovered.is_err()
            && let Err(left) = stack.release_lock(&lock.id).await
        {
            warn!(stack = %path, error = %left, "a lock is not released yet");
        }
        recovered
    }

    async fn renew(&self, path: &StackPath, id: &str) -> Result<()> {
        let stack = self.stack(path).await?;
        let held = self.held(Op::Renew, path, &stack, id).await?;
        held.renew().await.map_err(|error| failed(Op::Renew, path, error))
    }

    async fn unlock(&self, path: &StackPath, id: &str) -> Result<()> {
        let stack = self.stack(path).await?;
        stack.release_lock(id).await.map_err(|error| failed(Op::Complete, path, error))?;
        if self.gone().remove(path) {
            // The lease of a stack that is gone would stay for ever. It blocks no client, so its error is not reported.
            drop(stack.forget_lease().await);
        }
        Ok(())
    }

    async fn create(&self, path: &StackPath, id: &str, state: Option<&Bytes>) -> Result<()> {
        const OP: Op = Op::Create;
        let stack = self.stack(path).await?;
        let held = self.held(OP, path, &stack, id).await?;
        if stack.exists().await.map_err(|error| failed(OP, path, error))? {
            let exists = Error::new(ErrorKind::Exists, OP, path);
            return Err(exists.because(format!("stack {path} already exists in {self}")));
        }
        let document = match state {
            Some(state) => state::document(OP, path, state)?,
            None => stack.new_document(),
        };
        let mut writer = stack.writer(Arc::new(held)).expecting(Precondition::Absent).unchecked();
        writer.save(document).await.map(drop).map_err(|error| failed(OP, path, error))
    }

    async fn save(&self, path: &StackPath, id: &str, state: &Bytes, read: &BucketState) -> Result<()> {
        const OP: Op = Op::Complete;
        let stack = self.stack(path).await?;
        let held = self.held(OP, path, &stack, id).await?;
        let document = state::document(OP, path, state)?;
        let changed = || {
            let failure = Error::new(ErrorKind::Conflict, OP, path);
            failure.because(format!("another program has changed it in {self} since it was read"))
        };
        let (present, stack) = self.present(OP, path, &stack).await?.ok_or_else(changed)?;
        if state::token(&present) != read.token {
            return Err(changed());
        }
        // What an update did is stored even if it is not valid, as with the CLI; it is marked in it.
        let expected = Precondition::Version(present.version);
        let mut writer = stack.writer(Arc::new(held)).expecting(expected).unchecked();
        let saved = writer.save(document).await.map_err(|error| failed(OP, path, error))?;
        for warning in saved.warnings {
            warn!(stack = %path, "{warning}");
        }
        Ok(())
    }

    async fn record(&self, path: &StackPath, id: &str, update: &BucketUpdate) -> Result<()> {
        const OP: Op = Op::Complete;
        let stack = self.stack(path).await?;
        let held = self.held(OP, path, &stack, id).await?;
        let stack = self.present(OP, path, &stack).await?.map_or(stack, |(_, stack)| stack);
        let recorded = stack.record(&history::entry(update), &held).await;
        recorded.map(drop).map_err(|error| failed(OP, path, error))
    }

    async fn record_apart(&self, path: &StackPath, update: &BucketUpdate, state: &Bytes) -> Result<()> {
        const OP: Op = Op::Complete;
        let document = state::document(OP, path, state)?;
        let (stack, entry) = (self.stack(path).await?, history::entry(update));
        // The lock may be gone, and nothing is replaced: no other entry has this time.
        let stamp = stack.backend().stamp();
        let recorded = stack.record_past(&entry, Some(&document), stamp, &Unguarded).await;
        recorded.map_err(|error| failed(OP, path, error))
    }

    async fn is_recorded(&self, path: &StackPath, update: &str) -> Result<bool> {
        /// As many other programs may have recorded updates since.
        const NEWEST: usize = 16;
        let stack = self.stack(path).await?;
        let found = stack.history_before(None, NEWEST).await;
        let found = found.map_err(|error| failed(Op::Read, path, error))?;
        Ok(found.entries.iter().any(|entry| history::update_of(entry).as_deref() == Some(update)))
    }

    async fn updates(&self, path: &StackPath) -> Result<u64> {
        let found = self.stack(path).await?.history_before(None, 0).await;
        Ok(found.map_err(|error| failed(Op::Read, path, error))?.total as u64)
    }

    async fn history(
        &self,
        path: &StackPath,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, BucketUpdate)>> {
        let before = before.map(|before| usize::try_from(before).unwrap_or(usize::MAX));
        let found = self.stack(path).await?.history_before(before, limit).await;
        let found = found.map_err(|error| failed(Op::Read, path, error))?;
        Ok(found.entries.into_iter().map(|entry| (entry.number as u64, history::update(entry))).collect())
    }

    async fn history_state(&self, path: &StackPath, number: u64) -> Result<Option<Bytes>> {
        let Some(before) = usize::try_from(number).ok().and_then(|number| number.checked_add(1)) else {
            return Ok(None);
        };
        let stack = self.stack(path).await?;
        let found = stack.history_before(Some(before), 1).await;
        let entry = found.map_err(|error| failed(Op::Read, path, error))?.entries.pop();
        let Some(entry) = entry.filter(|entry| entry.number as u64 == number) else { return Ok(None) };
        let checkpoint = stack.history_checkpoint(&entry).await;
        match checkpoint.map_err(|error| failed(Op::Read, path, error))? {
            Some(checkpoint) => Ok(state::of_checkpoint(path, &checkpoint)?.export),
            None => Ok(None),
        }
    }

    async fn remove(&self, path: &StackPath, id: &str) -> Result<()> {
        let stack = self.stack(path).await?;
        let held = self.held(Op::Remove, path, &stack, id).await?;
        let removed = stack.remove(&held, &RemoveOptions::default().force()).await;
        removed.map_err(|error| failed(Op::Remove, path, error))?;
        self.gone().insert(path.clone());
        Ok(())
    }

    async fn rename(&self, from: &StackPath, to: &StackPath, id: &str) -> Result<()> {
        const OP: Op = Op::Rename;
        let failed = |error| failed(OP, from, error);
        let [source, target] = [self.stack(from).await?, self.stack(to).await?];
        let locks = (self.held(OP, from, &source, id).await?, self.held(OP, to, &target, id).await?);
        let planned = source.relocation(&target, RelocateOptions::default()).await;
        let relocation = match planned {
            // It was carried out before.
            Err(_) if !source.exists().await.map_err(failed)? && target.exists().await.map_err(failed)? => {
                return Ok(());
            }
            planned => planned.map_err(failed)?,
        };
        for warning in relocation.carry_out(&locks).await.map_err(failed)?.warnings {
            warn!(stack = %to, "{}", one_line(&warning));
        }
        self.gone().insert(from.clone());
        Ok(())
    }
}

impl fmt::Display for PulumiBucket {
    /// Without user info and parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Debug for PulumiBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PulumiBucket({self})")
    }
}
