//! Terraform's backend `s3`: the states of a bucket, locked by objects, by rows of a table, or by both.

#[cfg(feature = "dynamodb")]
mod maintenance;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{Context, Key, Retry};
use groundstate_blobs_cloud::S3Blobs;
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, Exclusion, History, Result, StateStore, WorkspaceName,
};

use crate::backend::{Equipment, ObjectBackend};
#[cfg(feature = "dynamodb")]
use crate::digest::Digests;
#[cfg(feature = "dynamodb")]
use crate::dynamo::{DynamoDigest, DynamoLock, DynamoTable};
use crate::history::Keeping;
use crate::layout::S3Layout;
#[cfg(feature = "dynamodb")]
use crate::scheme::{BothLocks, StrictLock};
use crate::scheme::{LockObject, LockScheme, LookLock};
use crate::store::ObjectStateStore;
#[cfg(feature = "dynamodb")]
pub use maintenance::{FoundLock, MigratedLock};

/// How the states of a bucket are locked: options of Terraform's backend, and two of our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct S3Options {
    /// `use_lockfile`: lock by an object beside the state.
    pub use_lockfile: bool,
    /// `dynamodb_table`: lock by a row of this table, and keep the digest of the state there.
    #[cfg(feature = "dynamodb")]
    pub dynamodb_table: Option<String>,
    /// With one of the two: refuses every client while the lock of the other mechanism is held. With a table, that is the lock
    /// object; without, it needs [`strict_table`](Self::strict_table).
    pub strict: bool,
    /// The table whose locks are respected though it is not used.
    #[cfg(feature = "dynamodb")]
    pub strict_table: Option<String>,
    /// Without one of the two: refuses every client while a lock object lies there, or the lock in
    /// [`strict_table`](Self::strict_table) is held.
    pub look: bool,
    /// Writes under a lock without asking for the lock before each.
    pub trust_lock: bool,
    /// How long readers wait for a digest that is not that of the state, and how long between two looks: ten seconds and two,
    /// if nothing else is set.
    pub digest_timeout: Option<(Duration, Duration)>,
}

impl S3Options {
    /// Without any lock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether to lock by an object.
    #[must_use]
    pub fn use_lockfile(mut self, yes: bool) -> Self {
        self.use_lockfile = yes;
        self
    }

    /// Sets the table of locks and digests.
    #[cfg(feature = "dynamodb")]
    #[must_use]
    pub fn dynamodb_table(mut self, table: &str) -> Self {
        self.dynamodb_table = Some(table.to_owned()).filter(|table| !table.is_empty());
        self
    }

    /// Sets whether the other mechanism's lock is respected.
    #[must_use]
    pub fn strict(mut self, yes: bool) -> Self {
        self.strict = yes;
        self
    }

    /// Respects the locks of a table that is not used otherwise.
    #[cfg(feature = "dynamodb")]
    #[must_use]
    pub fn strict_table(mut self, table: &str) -> Self {
        self.strict = true;
        self.strict_table = Some(table.to_owned()).filter(|table| !table.is_empty());
        self
    }

    /// Sets whether locks of other clients are respected where none is taken.
    #[must_use]
    pub fn look(mut self, yes: bool) -> Self {
        self.look = yes;
        self
    }

    /// Sets whether writes go without asking for the lock first.
    #[must_use]
    pub fn trust_lock(mut self, yes: bool) -> Self {
        self.trust_lock = yes;
        self
    }

    /// Sets how long readers wait for a digest, and how long between two looks.
    #[must_use]
    pub fn digest_timeout(mut self, timeout: Duration, pause: Duration) -> Self {
        self.digest_timeout = Some((timeout, pause));
        self
    }
}

/// The states of Terraform's backend `s3`.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use groundstate_blobs::Context;
/// use groundstate_blobs_cloud::{S3Blobs, S3Settings};
/// use groundstate_statemgr::Backend;
/// use groundstate_statemgr_object::{S3Backend, S3Layout, S3Options};
///
/// # async fn list(context: Context) -> Result<(), Box<dyn std::error::Error>> {
/// let settings = S3Settings::new().with("bucket", "states")?.with("region", "eu-west-1")?;
/// let blobs = S3Blobs::open(&settings, &context)?;
/// let layout = S3Layout::new("network/prod.tfstate")?;
/// let backend = S3Backend::new(blobs, layout, S3Options::new().use_lockfile(true), context);
/// for workspace in backend.list().await? {
///     println!("{workspace}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct S3Backend {
    objects: ObjectBackend,
    #[cfg_attr(not(feature = "dynamodb"), expect(dead_code, reason = "only what a table needs asks for it"))]
    locks: Arc<S3Locks>,
}

impl S3Backend {
    /// The states of this layout in a bucket. Requests are repeated as the settings of the bucket say.
    pub fn new(blobs: S3Blobs, layout: S3Layout, options: S3Options, context: Context) -> Self {
        let bucket = blobs.bucket().to_owned();
        let retries = blobs.retry_policy();
        let denied = layout.has_default_prefix();
        #[cfg(feature = "dynamodb")]
        let api = Arc::new(blobs.clone());
        let blobs = Arc::new(Retry::new(blobs, retries, context.clone()));
        #[cfg(feature = "dynamodb")]
        let table = |name: &Option<String>| {
            let name = name.as_deref()?;
            Some(DynamoTable::new(Arc::<S3Blobs>::clone(&api), name, Arc::clone(&context.sleeper)))
        };
        let locks = Arc::new(S3Locks {
            bucket,
            #[cfg(feature = "dynamodb")]
            table: table(&options.dynamodb_table),
            #[cfg(feature = "dynamodb")]
            strict_table: table(&options.strict_table),
            options,
            context,
        });
        let equipment: Arc<dyn Equipment> = Arc::<S3Locks>::clone(&locks);
        let objects = ObjectBackend::new(blobs, Arc::new(layout));
        // The original takes a forbidden list for an empty one where workspaces have the default prefix.
        Self { objects: objects.equip(equipment).denied_list_is_empty(denied), locks }
    }

    /// The states of a bucket whose default workspace has this key, with the clock, the timer and the randomness of the system.
    /// It runs on tokio. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` for settings that make no client of a bucket, and for what is no key.
    #[cfg(feature = "os")]
    pub fn connect(
        settings: &groundstate_blobs_cloud::S3Settings,
        key: &str,
        options: S3Options,
    ) -> Result<Self> {
        use groundstate_common::{OsIds, SystemClock};
        use groundstate_statemgr::{Error, ErrorKind, Op, TokioSleeper};

        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
        let blobs = S3Blobs::open(settings, &context).map_err(|error| {
            let bucket = format!("s3://{}", settings.get("bucket").unwrap_or_default());
            Error::new(ErrorKind::Invalid, Op::Other("open"), bucket).with_source(error)
        })?;
        Ok(Self::new(blobs, S3Layout::new(key)?, options, context))
    }

    /// A client of a workspace's state, as its own type.
    ///
    /// # Errors
    ///
    /// `Invalid` when the name and the settings make no key.
    pub fn open(&self, workspace: &WorkspaceName) -> Result<ObjectStateStore> {
        self.objects.open(workspace)
    }

    /// Keeps every snapshot that is written, beside its state.
    #[must_use]
    pub fn keep_history(mut self, keeping: impl Into<Option<Keeping>>) -> Self {
        self.objects = self.objects.keep_history(keeping);
        self
    }

    /// The backend without its name.
    pub fn objects(&self) -> &ObjectBackend {
        &self.objects
    }
}

/// What locks the states of a bucket.
#[derive(Debug)]
pub(crate) struct S3Locks {
    bucket: String,
    options: S3Options,
    #[cfg(feature = "dynamodb")]
    table: Option<DynamoTable>,
    #[cfg(feature = "dynamodb")]
    strict_table: Option<DynamoTable>,
    context: Context,
}

impl S3Locks {
    /// Whom the lock keeps out.
    fn exclusion(&self) -> Exclusion {
        match self.takes_lock() {
            true => Exclusion::Global,
            false => Exclusion::Look,
        }
    }

    #[cfg(feature = "dynamodb")]
    fn takes_lock(&self) -> bool {
        self.options.use_lockfile || self.table.is_some()
    }

    #[cfg(not(feature = "dynamodb"))]
    fn takes_lock(&self) -> bool {
        self.options.use_lockfile
    }

    /// What documents and rows call the state.
    fn path(&self, store: &ObjectStateStore) -> String {
        format!("{}/{}", self.bucket, store.key())
    }

    pub(crate) fn file(&self, store: &ObjectStateStore, lock: Key) -> Arc<dyn LockScheme> {
        let (path, sleeper) = (self.path(store), Arc::clone(&self.context.sleeper));
        Arc::new(LockObject::new(Arc::clone(store.blobs()), lock, &path, sleeper))
    }

    #[cfg(feature = "dynamodb")]
    pub(crate) fn table(&self) -> Option<&DynamoTable> {
        self.table.as_ref()
    }

    /// The tables that may have a lock of the state, also one that is only respected.
    #[cfg(feature = "dynamodb")]
    pub(crate) fn tables(&self) -> impl Iterator<Item = &DynamoTable> {
        self.table.iter().chain(&self.strict_table)
    }

    #[cfg(feature = "dynamodb")]
    pub(crate) fn row(&self, store: &ObjectStateStore, table: &DynamoTable) -> Arc<dyn LockScheme> {
        Arc::new(DynamoLock::new(table.clone(), &self.path(store), Arc::clone(&self.context.sleeper)))
    }

    #[cfg(feature = "dynamodb")]
    pub(crate) fn digests(&self, store: &ObjectStateStore, table: &DynamoTable) -> Digests {
        let row = Arc::new(DynamoDigest::new(table.clone(), &self.path(store)));
        let digests = Digests::new(row, Arc::clone(&self.context.clock), Arc::clone(&self.context.sleeper));
        match self.options.digest_timeout {
            Some((timeout, pause)) => digests.waiting(timeout, pause),
            None => digests,
        }
    }

    #[cfg(not(feature = "dynamodb"))]
    fn scheme(&self, store: &ObjectStateStore, lock: Key) -> Option<Arc<dyn LockScheme>> {
        let file = self.file(store, lock);
        match self.options.use_lockfile {
            true => Some(file),
            false => self.options.look.then(|| Arc::new(LookLock::new(vec![file])) as Arc<dyn LockScheme>),
        }
    }

    #[cfg(feature = "dynamodb")]
    fn scheme(&self, store: &ObjectStateStore, lock: Key) -> Option<Arc<dyn LockScheme>> {
        let file = self.file(store, lock);
        let row = self.table.as_ref();
        let strict_row = self.strict_table.as_ref().map(|table| self.row(store, table));
        match (self.options.use_lockfile, row) {
            (false, None) if self.options.look => {
                let others = std::iter::once(file).chain(strict_row).collect();
                Some(Arc::new(LookLock::new(others)))
            }
            (false, None) => None,
            (true, Some(table)) => {
                let (path, sleeper) = (self.path(store), Arc::clone(&self.context.sleeper));
                let row = Arc::new(DynamoLock::second(table.clone(), &path, sleeper));
                Some(Arc::new(BothLocks::new(file, row)))
            }
            (false, Some(table)) if self.options.strict => {
                Some(Arc::new(StrictLock::new(self.row(store, table), file)))
            }
            (false, Some(table)) => Some(self.row(store, table)),
            (true, None) => Some(match strict_row {
                Some(row) => Arc::new(StrictLock::new(file, row)),
                None => file,
            }),
        }
    }
}

impl Equipment for S3Locks {
    fn equip(&self, store: ObjectStateStore, lock: Key) -> Result<ObjectStateStore> {
        let scheme = self.scheme(&store, lock);
        let store = store.verify_lock(!self.options.trust_lock).mark_writes(Arc::clone(&self.context.ids));
        #[cfg(feature = "dynamodb")]
        let store = match &self.table {
            Some(table) => {
                let digests = self.digests(&store, table);
                store.digests(digests)
            }
            None => store,
        };
        Ok(match scheme {
            Some(scheme) => store.lock_with(scheme, self.exclusion()),
            None => store,
        })
    }
}

impl fmt::Display for S3Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Backend for S3Backend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        self.objects.list().await
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        self.objects.store(name)
    }

    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        self.objects.create(name, options).await
    }

    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        self.objects.delete(name, options).await
    }

    fn history(&self, name: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        self.objects.history(name)
    }
}
