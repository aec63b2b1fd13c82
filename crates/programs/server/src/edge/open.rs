//! From the place of a store to an open one that a server can be trusted to keep everything in.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{
    BlobStore, Context, DeleteOptions, Error as BlobError, ErrorKind, GetOptions, Key, MemoryBlobs,
    Precondition, Prefixed, PutOptions,
};
use groundstate_blobs_fs::FileBlobs;
use groundstate_common::Timestamp;
use serde::Deserialize;
use thiserror::Error;

use crate::config::{StorePlace, key_prefix};

/// The blob that says how everything is laid out.
const LAYOUT: &str = "groundstate/layout.json";

/// The layout of this server. It grows when an older server would misread what a newer one has written.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Mark {
    layout: u64,
}

/// How far the clock of the machine may be from that of the store before it is said.
const SKEW: Duration = Duration::from_secs(60);

/// Before this the clock of the machine has not been set: 2026-01-01.
const EARLIEST: i64 = 1_767_225_600;

/// Why a server cannot use a store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory cannot be made.
    #[error("cannot make the directory {}", path.display())]
    Directory {
        /// The directory.
        path: std::path::PathBuf,
        /// What the system said of the folder or file.
        source: std::io::Error,
    },
    /// The store cannot be opened, or does not answer.
    #[error("cannot use the store {place}")]
    Store {
        /// The store, without secrets.
        place: String,
        /// What the store said.
        source: BlobError,
    },
    /// Nothing can be written there.
    #[error("cannot write to the store {place}")]
    ReadOnly {
        /// The store, without secrets.
        place: String,
        /// What the store said.
        source: BlobError,
    },
    /// No server has used it.
    #[error("{place} is not the store of a server: {reason}")]
    NoServer {
        /// The store, without secrets.
        place: String,
        /// What is missing.
        reason: String,
    },
    /// Two writers would overwrite each other there.
    #[error("the store {place} has no conditional writes, so two writers would overwrite each other")]
    NotConditional {
        /// The store, without secrets.
        place: String,
    },
    /// Another version of the server has written it.
    #[error(
        "the store {place} has the layout {}, and this server knows {VERSION}",
        layout.map_or_else(|| "of no server".to_owned(), |layout| layout.to_string())
    )]
    Layout {
        /// The store, without secrets.
        place: String,
        /// The layout, if it can be read.
        layout: Option<u64>,
    },
    /// The clock of the machine has not been set.
    #[error("the clock of this machine says {now}, which is in the past; set it")]
    Clock {
        /// What it says.
        now: Timestamp,
    },
}

/// A store that can be written to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenedStore {
    /// The store, retried, and below the prefix of its URL.
    pub store: Arc<dyn BlobStore>,
    /// What should be known of it, one line each.
    pub notes: Vec<String>,
    /// No server had used it before [`check`](Self::check).
    pub is_new: bool,
}

impl OpenedStore {
    /// Opens a store, which makes its directory if that is where it is. Nothing else is written.
    ///
    /// # Errors
    ///
    /// When it is not there, or lacks conditional writes.
    pub fn open(
        place: &StorePlace,
        context: &Context,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let mut notes = Vec::new();
        let store: Arc<dyn BlobStore> = match place {
            StorePlace::Directory(path) => {
                make_private(path).map_err(|source| OpenError::Directory { path: path.clone(), source })?;
                notes.extend(others_can_read(path));
                Arc::new(FileBlobs::open(path).map_err(failed)?)
            }
            StorePlace::Memory => Arc::new(MemoryBlobs::with_clock("memory", Arc::clone(&context.clock))),
            StorePlace::Bucket(url) => {
                Prefixed::wrap(url.open(context, variable).map_err(failed)?, key_prefix(url))
            }
            #[cfg(feature = "postgres")]
            StorePlace::Postgres(url) => {
                use groundstate_blobs::{Retry, RetryPolicy};
                use groundstate_blobs_postgres::{TableBlobs, TableSettings};
                let settings = TableSettings::parse(url.secret_text(), variable).map_err(failed)?;
                let table = TableBlobs::open(&settings).map_err(failed)?;
                Arc::new(Retry::new(table, RetryPolicy::default(), context.clone()))
            }
            #[cfg(not(feature = "postgres"))]
            StorePlace::Postgres(_) => {
                let error = BlobError::unsupported(groundstate_blobs::Op::Open, place);
                return Err(failed(
                    error.because("this build has no store for postgres").next_step("use a build with it"),
                ));
            }
        };
        if !store.capabilities().conditional_put {
            return Err(OpenError::NotConditional { place: place.to_string() });
        }
        Ok(Self { store, notes, is_new: false })
    }

    /// Opens the store of a server. Nothing is made and nothing is written, so this is for looking at a store, also where that is all that
    /// is permitted.
    ///
    /// # Errors
    ///
    /// When no server has used it, a newer one has changed its layout, or it does not answer.
    pub async fn open_used(
        place: &StorePlace,
        context: &Context,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let no_server =
            |reason: &str| OpenError::NoServer { place: place.to_string(), reason: reason.to_owned() };
        match place {
            StorePlace::Memory => return Err(no_server("memory is there for one process alone")),
            // Opening would make it.
            StorePlace::Directory(path) => match std::fs::metadata(path) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(no_server("it is not a directory")),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(no_server("there is no such directory"));
                }
                Err(error) => return Err(no_server(&error.to_string())),
            },
            _ => {}
        }
        let opened = Self::open(place, context, variable)?;
        match opened.layout(place).await {
            Ok(Some(layout)) => known(place, layout)?,
            Ok(None) => return Err(no_server(&format!("it has no {LAYOUT}"))),
            Err(OpenError::Store { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Err(no_server(source.message()));
            }
            Err(error) => return Err(error),
        }
        Ok(opened)
    }

    /// Writes a blob, reads it and deletes it; compares the clocks; and marks the store with the version of its layout.
    ///
    /// # Errors
    ///
    /// When nothing can be written, the store does not answer, a newer server has changed its layout, or the clock of this machine
    /// is not set.
    pub async fn check(&mut self, place: &StorePlace, context: &Context) -> Result<(), OpenError> {
        let now = context.clock.now();
        if now.seconds() < EARLIEST {
            return Err(OpenError::Clock { now });
        }
        self.check_layout(place).await?;
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let unique = context.ids.number().unwrap_or_default();
        let key = Key::parse(&format!("groundstate/check-{unique:08x}")).map_err(failed)?;
        let once = PutOptions::expecting(Precondition::Absent);
        let version = match self.store.put(&key, "{}".into(), &once).await {
            Ok(version) => version,
            Err(source) => return Err(OpenError::ReadOnly { place: place.to_string(), source }),
        };
        let meta = self.store.head(&key).await.map_err(failed)?;
        self.store.delete(&key, &DeleteOptions::version(&version)).await.map_err(failed)?;
        if let Some(stored) = meta.and_then(|meta| meta.last_modified) {
            let apart = stored.seconds().abs_diff(now.seconds());
            if apart > SKEW.as_secs() {
                self.notes.push(format!(
                    "the clocks of this machine and of the store {place} are {apart} seconds apart; set them by NTP"
                ));
            }
        }
        Ok(())
    }

    /// Compares the version of the layout, which the first server writes.
    async fn check_layout(&mut self, place: &StorePlace) -> Result<(), OpenError> {
        let mut found = match self.layout(place).await {
            // The first write makes the table.
            Err(OpenError::Store { source, .. })
                if matches!(place, StorePlace::Postgres(_)) && source.kind() == ErrorKind::NotFound =>
            {
                None
            }
            found => found?,
        };
        if found.is_none() {
            let key = layout_key(place)?;
            let text = format!("{{\"layout\":{VERSION}}}\n");
            let once = PutOptions::expecting(Precondition::Absent);
            match self.store.put(&key, text.into(), &once).await {
                Ok(_) => {
                    self.is_new = true;
                    return Ok(());
                }
                // Another node was quicker, and its mark is read.
                Err(error) if error.kind() == ErrorKind::PreconditionFailed => {}
                Err(source) => return Err(OpenError::ReadOnly { place: place.to_string(), source }),
            }
            found = self.layout(place).await?;
        }
        known(place, found.unwrap_or(None))
    }

    /// The layout that is marked in the store; none inside if the mark cannot be read.
    async fn layout(&self, place: &StorePlace) -> Result<Option<Option<u64>>, OpenError> {
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let found = self.store.get(&layout_key(place)?, &GetOptions::default()).await.map_err(failed)?;
        let mark = |bytes: &[u8]| serde_json::from_slice::<Mark>(bytes).ok().map(|mark| mark.layout);
        Ok(found.map(|blob| mark(&blob.bytes)))
    }
}

fn layout_key(place: &StorePlace) -> Result<Key, OpenError> {
    Key::parse(LAYOUT).map_err(|source| OpenError::Store { place: place.to_string(), source })
}

/// Whether this server knows the layout.
fn known(place: &StorePlace, layout: Option<u64>) -> Result<(), OpenError> {
    match layout {
        Some(layout) if (1..=VERSION).contains(&layout) => Ok(()),
        layout => Err(OpenError::Layout { place: place.to_string(), layout }),
    }
}

/// Makes a directory that only its owner can look into. One that is there stays as it is.
fn make_private(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process was quicker.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// States have secrets in them, so others are not to look into the directory.
#[cfg(unix)]
fn others_can_read(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    let shown = path.display();
    (mode & 0o007 != 0)
        .then(|| format!("every user of this machine can look into {shown}; `chmod 700 {shown}` ends that"))
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> Option<String> {
    None
}
