//! From the place of a store to an open one that a server can be trusted to keep everything in.

use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{
    BlobStore, Context, DeleteOptions, Error as BlobError, ErrorKind, Key, MemoryBlobs, Precondition,
    Prefixed, PutOptions,
};
use groundstate_blobs_fs::FileBlobs;
use groundstate_common::Timestamp;
use thiserror::Error;

use super::directory::{close_to_others, make_private};
use super::guarded::Guarded;
use super::mark::{LAYOUT, Mark, READABLE, StoreId, StoredMark, VERSION, has_data};
use super::note::StoreNote;
use crate::config::{StorePlace, key_prefix};
use crate::encryption::KEYRING;

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
    /// Other users of the machine can use the directory.
    #[error("other users of this machine can use the directory {} (its mode is {mode:03o})", path.display())]
    Open {
        /// The directory.
        path: std::path::PathBuf,
        /// Its mode.
        mode: u32,
        /// Cause if the mode cannot be changed; `None` if others can write to it.
        source: Option<std::io::Error>,
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
    /// There is no store, and none was asked for.
    #[error("there is no store of a server at {place}")]
    Absent {
        /// The store, without secrets.
        place: String,
    },
    /// The store that was there is not there any more.
    #[error("the store at {place} has gone: {} remembers it with the id {id}", note.display())]
    Gone {
        /// The store, without secrets.
        place: String,
        /// The id that it had.
        id: StoreId,
        /// The file that remembers it.
        note: std::path::PathBuf,
    },
    /// Another store lies where one is remembered.
    #[error("the store at {place} is another one: its id is {found}, and {} remembers {id}", note.display())]
    Other {
        /// The store, without secrets.
        place: String,
        /// The id that it has.
        found: StoreId,
        /// The id that is remembered.
        id: StoreId,
        /// The file that remembers it.
        note: std::path::PathBuf,
    },
    /// There are states, and not the mark of their store.
    #[error("{place} has the data of a server, and its {LAYOUT} is missing")]
    Unmarked {
        /// The store, without secrets.
        place: String,
    },
    /// The note on stores cannot be read.
    #[error("cannot use the note on stores {}: {reason}", path.display())]
    Note {
        /// The file.
        path: std::path::PathBuf,
        /// Damage, in words.
        reason: String,
    },
    /// No store can get an id.
    #[error("there are no random numbers")]
    Random(#[source] groundstate_common::IdSourceError),
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

/// How a server comes to its store.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Opening {
    /// `true` if a new store is made where there is none.
    pub init: bool,
    /// The file that remembers which store lies where.
    pub note: Option<StoreNote>,
}

impl Opening {
    /// Makes a new store where there is none.
    #[must_use]
    pub fn init(mut self, init: bool) -> Self {
        self.init = init;
        self
    }

    /// Remembers the store in a file.
    #[must_use]
    pub fn note(mut self, note: Option<StoreNote>) -> Self {
        self.note = note;
        self
    }
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
    /// `true` if [`open`](Self::open) made the directory.
    is_made: bool,
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
        let mut is_made = false;
        let store: Arc<dyn BlobStore> = match place {
            StorePlace::Directory(path) => {
                is_made = make_private(path)
                    .map_err(|source| OpenError::Directory { path: path.clone(), source })?;
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
        Ok(Self { store, notes: Vec::new(), is_new: false, is_made })
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
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        match Mark::read(&opened.store).await {
            Ok(Some(stored)) => drop(known(place, stored)?),
            Ok(None) if has_data(&opened.store).await.map_err(failed)? => {
                return Err(OpenError::Unmarked { place: place.to_string() });
            }
            Ok(None) => return Err(no_server(&format!("it has no {LAYOUT}"))),
            Err(source) if source.kind() == ErrorKind::NotFound => return Err(no_server(source.message())),
            Err(source) => return Err(failed(source)),
        }
        Ok(opened)
    }

    /// Opens the store of a server whose mark may be damaged or missing, and says what is wrong with the mark. Nothing is made and nothing is
    /// written.
    ///
    /// # Errors
    ///
    /// Errors of [`open_used`](Self::open_used), except those of a mark that [`mark_anew`](Self::mark_anew) can write.
    pub async fn open_damaged(
        place: &StorePlace,
        context: &Context,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Option<String>), OpenError> {
        match Self::open_used(place, context, variable).await {
            Ok(opened) => Ok((opened, None)),
            Err(error @ (OpenError::Unmarked { .. } | OpenError::Layout { layout: None, .. })) => {
                Ok((Self::open(place, context, variable)?, Some(error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a mark in the place of one that is damaged or missing: with the id that the note remembers, or a new one.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn mark_anew(
        store: &dyn BlobStore,
        place: &StorePlace,
        context: &Context,
        note: Option<&StoreNote>,
    ) -> Result<StoreId, OpenError> {
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let found = Mark::read(store).await.map_err(failed)?;
        let id = match note.map(|note| note.id(place)).transpose()?.flatten() {
            Some(id) => id,
            None => new_id(context)?,
        };
        let keyring = store.head(&Key::parse(KEYRING).map_err(failed)?).await.map_err(failed)?;
        let layout = if keyring.is_some() { VERSION } else { READABLE };
        let mark = Mark { layout, id: Some(id.clone()) };
        mark.write(store, found.as_ref().map(|found| &found.version)).await.map_err(failed)?;
        Ok(id)
    }

    /// Writes a blob, reads it and deletes it; compares the clocks; and marks the store with the version of its layout.
    ///
    /// # Errors
    ///
    /// When there is no store and none may be made, or another one than is remembered; when nothing can be written, the store does not answer, a
    /// newer server has changed its layout, or the clock of this machine is not set.
    pub async fn check(
        &mut self,
        place: &StorePlace,
        context: &Context,
        opening: &Opening,
    ) -> Result<(), OpenError> {
        let now = context.clock.now();
        if now.seconds() < EARLIEST {
            return Err(OpenError::Clock { now });
        }
        let checked = self.identify(place, context, opening).await;
        if checked.is_err()
            && self.is_made
            && let StorePlace::Directory(path) = place
        {
            // Only if nothing is in it.
            drop(std::fs::remove_dir(path));
        }
        let id = checked?;
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
        if let StorePlace::Directory(path) = place {
            self.notes.extend(close_to_others(path)?);
        }
        if let Some(stored) = meta.and_then(|meta| meta.last_modified) {
            let apart = stored.seconds().abs_diff(now.seconds());
            if apart > SKEW.as_secs() {
                self.notes.push(format!(
                    "the clocks of this machine and of the store {place} are {apart} seconds apart; set them by NTP"
                ));
            }
        }
        if let Some(note) = &opening.note
            && !place.is_volatile()
            && let Err(error) = note.remember(place, &id)
        {
            self.notes.push(format!(
                "{error}; so an empty place is not told from a store that is not mounted when this server starts again"
            ));
        }
        if !place.is_volatile() {
            let each_write = !matches!(place, StorePlace::Bucket(_));
            self.store = Arc::new(Guarded::new(Arc::clone(&self.store), id, each_write));
        }
        Ok(())
    }

    /// Finds the id of the store, which the first server writes with the version of the layout.
    async fn identify(
        &mut self,
        place: &StorePlace,
        context: &Context,
        opening: &Opening,
    ) -> Result<StoreId, OpenError> {
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let remembered = match &opening.note {
            Some(note) if !place.is_volatile() => note.id(place)?.map(|id| (id, note.path().to_owned())),
            _ => None,
        };
        let found = match Mark::read(&self.store).await {
            // The first write makes the table.
            Err(source) if is_table(place) && source.kind() == ErrorKind::NotFound => None,
            found => found.map_err(failed)?,
        };
        let found = match found {
            Some(stored) => stored,
            None => {
                self.refuse_unmarked(place).await?;
                if let Some((id, note)) = remembered {
                    return Err(OpenError::Gone { place: place.to_string(), id, note });
                }
                match self.make(place, context, opening).await? {
                    Some(id) => return Ok(id),
                    // Another node was quicker, and its mark is read.
                    None => match Mark::read(&self.store).await.map_err(failed)? {
                        Some(stored) => stored,
                        None => return Err(OpenError::Layout { place: place.to_string(), layout: None }),
                    },
                }
            }
        };
        let version = found.version.clone();
        let id = match known(place, found)?.id {
            Some(id) => id,
            None => self.name(place, context, &version).await?,
        };
        match remembered.filter(|(known, _)| *known != id) {
            Some((known, note)) => {
                Err(OpenError::Other { place: place.to_string(), found: id, id: known, note })
            }
            None => Ok(id),
        }
    }

    /// Refuses a store that has data and no mark.
    async fn refuse_unmarked(&self, place: &StorePlace) -> Result<(), OpenError> {
        match has_data(&self.store).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(OpenError::Unmarked { place: place.to_string() }),
            Err(source) if is_table(place) && source.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(OpenError::Store { place: place.to_string(), source }),
        }
    }

    /// Marks a new store; nothing if another node was quicker.
    async fn make(
        &mut self,
        place: &StorePlace,
        context: &Context,
        opening: &Opening,
    ) -> Result<Option<StoreId>, OpenError> {
        if !(opening.init || self.is_made || place.is_volatile()) {
            return Err(OpenError::Absent { place: place.to_string() });
        }
        let id = new_id(context)?;
        let mark = Mark { layout: READABLE, id: Some(id.clone()) };
        match mark.write(&self.store, None).await {
            Ok(()) => {
                self.is_new = true;
                Ok(Some(id))
            }
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(None),
            Err(source) => Err(OpenError::ReadOnly { place: place.to_string(), source }),
        }
    }

    /// Gives an id to the store of an earlier release.
    async fn name(
        &self,
        place: &StorePlace,
        context: &Context,
        version: &groundstate_blobs::BlobVersion,
    ) -> Result<StoreId, OpenError> {
        let failed = |source| OpenError::Store { place: place.to_string(), source };
        let id = new_id(context)?;
        let mark = Mark { layout: READABLE, id: Some(id.clone()) };
        match mark.write(&self.store, Some(version)).await {
            Ok(()) => Ok(id),
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => {
                // Another node was quicker.
                let found = Mark::read(&self.store).await.map_err(failed)?;
                let id = found.and_then(|stored| stored.mark).and_then(|mark| mark.id);
                id.ok_or_else(|| OpenError::Layout { place: place.to_string(), layout: None })
            }
            Err(source) => Err(OpenError::ReadOnly { place: place.to_string(), source }),
        }
    }
}

fn is_table(place: &StorePlace) -> bool {
    matches!(place, StorePlace::Postgres(_))
}

fn new_id(context: &Context) -> Result<StoreId, OpenError> {
    context.ids.uuid().map(StoreId::new).map_err(OpenError::Random)
}

/// The mark, if this server knows the layout.
fn known(place: &StorePlace, stored: StoredMark) -> Result<Mark, OpenError> {
    match stored.mark {
        Some(mark) if (1..=VERSION).contains(&mark.layout) => Ok(mark),
        mark => Err(OpenError::Layout { place: place.to_string(), layout: mark.map(|mark| mark.layout) }),
    }
}
