//! The journal of a folder.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    Cursor, Epoch, Error, ErrorKind, Head, JournalStore, JournalWriter, Op, OpenOptions, Page, Result, traced,
};
use async_trait::async_trait;
use groundstate_durable::offload;

use super::epoch::{Keeper, failure_at, missing};
use super::group::Line;
use super::names::Listing;
use super::scan::{Outcome, page};
use super::segment::{ReadFailure, read_base, read_head};
use super::writer::FsWriter;

/// How often to look again when a writer replaces files while they are read.
const ATTEMPTS: usize = 64;

/// A journal in a folder of its own. Clones are clients of the same journal.
#[derive(Clone, Debug)]
pub struct FsJournal {
    folder: PathBuf,
    options: FsJournalOptions,
}

/// How a journal is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsJournalOptions {
    /// Another segment begins when one has more bytes than this.
    pub segment_bytes: u64,
    /// How many bytes a page has, about.
    pub page_bytes: usize,
}

impl Default for FsJournalOptions {
    fn default() -> Self {
        Self { segment_bytes: 8 << 20, page_bytes: 1 << 20 }
    }
}

impl FsJournalOptions {
    /// Begins another segment when one has more bytes than this.
    #[must_use]
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// Reads pages of about so many bytes.
    #[must_use]
    pub fn page_bytes(mut self, bytes: usize) -> Self {
        self.page_bytes = bytes;
        self
    }
}

impl FsJournal {
    /// The journal in this folder, which is made by the first write.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::with_options(folder, FsJournalOptions::default())
    }

    /// The journal in this folder, laid out like this.
    pub fn with_options(folder: impl Into<PathBuf>, options: FsJournalOptions) -> Self {
        Self { folder: folder.into(), options }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Does something on a thread, again while files are being replaced.
    async fn look<T: Send + 'static>(
        &self,
        look: impl Fn(&Path, &Listing) -> Result<T, ReadFailure> + Send + 'static,
    ) -> Result<T> {
        let folder = self.folder.clone();
        let work = move || {
            let mut before = None;
            for _ in 0..ATTEMPTS {
                let listing = Listing::read(&folder);
                let listing = listing.map_err(|error| failure_at(&folder, Op::Read, error.into()))?;
                match look(&folder, &listing) {
                    Err(ReadFailure::Gone) if before.as_ref() != Some(&listing) => before = Some(listing),
                    Err(ReadFailure::Gone) => return Err(missing(&folder, Op::Read, &listing)),
                    outcome => return outcome.map_err(|failure| failure_at(&folder, Op::Read, failure)),
                }
            }
            let error = Error::new(ErrorKind::Unavailable, Op::Read, folder.display());
            Err(error.because("its files are replaced faster than they can be read"))
        };
        offload(Op::Read, &self.to_string(), work).await
    }
}

/// The epoch that counts.
fn current(folder: &Path, listing: &Listing) -> Result<Option<u64>, ReadFailure> {
    if listing.is_headless() {
        return Err(ReadFailure::Gone);
    }
    listing.heads.last().map_or(Ok(None), |writer| read_head(folder, *writer))
}

impl fmt::Display for FsJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.folder.display().fmt(f)
    }
}

#[async_trait]
impl JournalStore for FsJournal {
    async fn open(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        traced::open(self, options, self.writer(options)).await
    }

    async fn head(&self) -> Result<Option<Head>> {
        let work = self.look(|folder, listing| {
            let Some(epoch) = current(folder, listing)? else { return Ok(None) };
            Ok(Some(Head::new(Epoch::new(epoch), read_base(folder, epoch)?)))
        });
        traced::head(self, work).await
    }

    async fn read(&self, from: &Cursor) -> Result<Page> {
        traced::read(self, from, self.page_at(from)).await
    }
}

impl FsJournal {
    async fn writer(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        let (target, folder) = (self.to_string(), self.folder.clone());
        let (bytes, options) = (self.options.segment_bytes, options.clone());
        let open = move || Keeper::open(&folder, bytes, &options.owner, options.take_over);
        let keeper = offload(Op::Open, &target, open).await?;
        traced::opened_as(keeper.number());
        let line = Line::open(keeper, &target)?;
        Ok(Arc::new(FsWriter { target: target.into(), line }))
    }

    async fn page_at(&self, from: &Cursor) -> Result<Page> {
        let (cursor, bytes) = (*from, self.options.page_bytes);
        let found = self.look(move |folder, listing| {
            if current(folder, listing)? != Some(cursor.epoch().get()) {
                return Ok(None);
            }
            page(folder, listing, &cursor, bytes).map(Some)
        });
        match found.await? {
            Some(Outcome::Page(page)) => Ok(page),
            Some(Outcome::Behind(end)) => {
                let message = format!("it has {end} records, and was asked for number {}", from.position());
                Err(Error::new(ErrorKind::Invalid, Op::Read, self).because(message))
            }
            None => Err(Error::new(ErrorKind::NoEpoch, Op::Read, self)),
        }
    }
}
