//! An opened bucket.

mod listing;
mod meta;
mod objects;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use groundstate_blobs::{BlobStore, BlobVersion, Context, DeleteOptions, Key, Precondition, PutOptions};
use groundstate_pulumi_snapshot::ProjectName;

use crate::stack::Stack;
use crate::{Compression, Error, Layout, Op, Options, Result, StackRef, StackRefError};

/// A bucket that was opened: its layout is known. Clones are cheap, and share everything.
///
/// The store is asked once for each request: hand in one that asks again, such as [`Retry`](groundstate_blobs::Retry).
#[derive(Clone)]
pub struct Backend(Arc<Inner>);

struct Inner {
    store: Arc<dyn BlobStore>,
    context: Context,
    options: Options,
    layout: Layout,
    warnings: Vec<Warning>,
    /// The last time that went into the name of an object, in nanoseconds.
    last_stamp: AtomicU64,
}

/// What a person should know and no program needs. `Display` says it in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A bucket with projects has stacks of the layout before, which `pulumi` does not see.
    LegacyStacks(Vec<String>),
    /// It is not known whether there are stacks of the layout before, since listing failed.
    LegacyUnknown(String),
    /// A checkpoint exists in more than one compression; the newest counts.
    Variants {
        /// The one that counts.
        active: String,
        /// The others.
        others: Vec<String>,
    },
    /// Of several variants of a checkpoint one is dated in the future, so that it counts until then.
    FutureTime {
        /// The key of it.
        key: String,
    },
    /// An object that is no longer needed could not be removed.
    Leftover {
        /// The key of it.
        key: String,
        /// What the store said.
        reason: String,
    },
    /// A new stack has the name of one that had resources: the copy of that one is kept under another name.
    Remains {
        /// The key of the copy.
        key: String,
        /// The key under which it is kept.
        kept: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LegacyStacks(names) => write!(
                f,
                "stacks of the layout before projects are in this bucket and not visible: {}; run `pulumi state upgrade`, or set \
                 PULUMI_DIY_BACKEND_NO_LEGACY_WARNING=1",
                names.join(", ")
            ),
            Self::LegacyUnknown(why) => {
                write!(f, "stacks of the layout before projects could not be looked for: {why}")
            }
            Self::Variants { active, others } => {
                write!(f, "{active} is read since it is the newest; {} are ignored", others.join(" and "))
            }
            Self::FutureTime { key } => {
                write!(
                    f,
                    "{key} was written in the future by the clock of this machine, so it counts as the newest"
                )
            }
            Self::Remains { key, kept } => write!(
                f,
                "a stack of this name had resources, and {key} is what is left of it; the copy is kept as {kept} too"
            ),
            Self::Leftover { key, reason } => write!(f, "{key} could not be removed: {reason}"),
        }
    }
}

impl Backend {
    /// Opens a bucket for reading and writing. A bucket that holds nothing gets a `meta.yaml`, as `pulumi` writes it.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a `meta.yaml` that cannot be read or has no version,
    /// [`Unsupported`](crate::ErrorKind::Unsupported) for an unknown version, [`Legacy`](crate::ErrorKind::Legacy) for the layout of
    /// Pulumi before 3.61 unless [`Options::legacy_allowed`], and those of requests.
    pub async fn open(store: Arc<dyn BlobStore>, context: Context, options: Options) -> Result<Self> {
        Self::with(store, context, options, true).await
    }

    /// Opens a bucket and writes nothing, for commands that only read.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub async fn open_existing(
        store: Arc<dyn BlobStore>,
        context: Context,
        options: Options,
    ) -> Result<Self> {
        Self::with(store, context, options, false).await
    }

    async fn with(
        store: Arc<dyn BlobStore>,
        context: Context,
        options: Options,
        may_write: bool,
    ) -> Result<Self> {
        let layout = meta::layout(&*store, &options, may_write).await?;
        let mut warnings = Vec::new();
        match layout {
            Layout::Legacy if !options.legacy_allowed => return Err(meta::deprecated(&*store)),
            Layout::Projects if options.legacy_warning => {
                warnings.extend(meta::forgotten_stacks(&*store).await);
            }
            Layout::Legacy | Layout::Projects => {}
        }
        let last_stamp = AtomicU64::new(0);
        Ok(Self(Arc::new(Inner { store, context, options, layout, warnings, last_stamp })))
    }

    /// The same bucket, looked at as one of another layout.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        let Inner { store, context, options, warnings, last_stamp, .. } = &*self.0;
        let (store, context) = (Arc::clone(store), context.clone());
        let last_stamp = AtomicU64::new(last_stamp.load(Ordering::Acquire));
        let (options, warnings) = (options.clone(), warnings.clone());
        Self(Arc::new(Inner { store, context, options, layout, warnings, last_stamp }))
    }

    /// The same bucket, where what is written is compressed in this way.
    #[must_use]
    pub fn compressed(&self, compression: Compression) -> Self {
        let mut backend = self.with_layout(self.layout());
        if let Some(inner) = Arc::get_mut(&mut backend.0) {
            inner.options.compression = compression;
        }
        backend
    }

    /// Writes down that the bucket has projects.
    pub(crate) async fn write_layout(&self) -> Result<()> {
        meta::write_projects(&**self.store()).await
    }

    /// How the bucket is laid out.
    pub fn layout(&self) -> Layout {
        self.0.layout
    }

    /// The bucket.
    pub fn store(&self) -> &Arc<dyn BlobStore> {
        &self.0.store
    }

    /// The clock, the sleeper and the source of ids.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// How it was opened.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// What was noticed when it was opened.
    pub fn warnings(&self) -> &[Warning] {
        &self.0.warnings
    }

    /// A handle to a stack, which need not exist.
    pub fn stack(&self, reference: &StackRef) -> Stack {
        Stack::new(self.clone(), reference.clone())
    }

    /// Reads the name of a stack as this layout has it: `STACK` where there are no projects, else the forms of
    /// [`StackRef::parse`].
    ///
    /// # Errors
    ///
    /// Names that cannot be those of a stack in this layout.
    pub fn reference(&self, text: &str, current: Option<&ProjectName>) -> Result<StackRef, StackRefError> {
        match self.layout() {
            Layout::Projects => StackRef::parse(text, current),
            Layout::Legacy => StackRef::legacy(text),
        }
    }

    /// The time for the name of an object, in nanoseconds since 1970. No two calls give the same.
    pub fn stamp(&self) -> u64 {
        let now = self.0.context.clock.now();
        let seconds = u64::try_from(now.seconds()).unwrap_or_default();
        let now = seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(now.nanos()));
        let next = |last: u64| Some(now.max(last.saturating_add(1)));
        let last = self.0.last_stamp.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        now.max(last.unwrap_or_default().saturating_add(1))
    }

    /// The place of a key, for messages.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.0.store)
    }

    /// Writes an object under a name that nothing has yet; `false` if something has it.
    pub(crate) async fn create(&self, key: &Key, bytes: Bytes) -> groundstate_blobs::Result<bool> {
        let store = self.store();
        if !store.capabilities().conditional_put {
            if store.head(key).await?.is_some() {
                return Ok(false);
            }
            return store.put(key, bytes, &PutOptions::default()).await.map(|_| true);
        }
        match store.put(key, bytes, &PutOptions::expecting(Precondition::Absent)).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == groundstate_blobs::ErrorKind::PreconditionFailed => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes this version only, where the store knows conditions of deletions.
    pub(crate) fn deletion_of(&self, version: &BlobVersion) -> DeleteOptions {
        match self.store().capabilities().conditional_delete {
            true => DeleteOptions::version(version),
            false => DeleteOptions::default(),
        }
    }

    /// Checks a key.
    pub(crate) fn key(&self, op: Op, text: &str) -> Result<Key> {
        Key::parse(text).map_err(|error| Error::from_store(op, self.place(text), error))
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("store", &self.0.store)
            .field("layout", &self.0.layout)
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Backend {
    /// The bucket, without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.store.fmt(f)
    }
}

pub use listing::{StackDetails, StackFilter, StackSummary};
pub(crate) use objects::{all_in_folder, all_objects, folder, objects};
