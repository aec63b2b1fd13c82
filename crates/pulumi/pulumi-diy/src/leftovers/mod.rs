//! What crashed and foreign processes left in a bucket.

mod kind;
mod names;
mod scan;

use std::fmt::{self, Write as _};

use groundstate_blobs::Listed;
use groundstate_common::Timestamp;

pub use kind::LeftoverKind;

use crate::{Backend, Error, Layout, Op, Result, Stack, StackRef};
use scan::Scan;

/// Something that was left in a bucket. `Display` says where, with its size and time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// What it is.
    pub kind: LeftoverKind,
    /// The stack that it belongs to or once did.
    pub stack: Option<StackRef>,
    /// Its key; of several objects the folder that has them, with the slash at its end, or the first key.
    pub key: String,
    /// Its place, without credentials.
    pub place: String,
    /// How many objects it is.
    pub objects: usize,
    /// Their size in bytes, as they are stored.
    pub size: u64,
    /// When the newest of them was written, if the store says.
    pub modified: Option<Timestamp>,
    /// What is known beside that, such as the holder of a lock.
    pub detail: Option<String>,
}

/// What was left, and what could not be looked at.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Leftovers {
    /// In the order of kinds, then of keys.
    pub found: Vec<Leftover>,
    /// Folders and locks that could not be listed or read.
    pub failed: Vec<Error>,
}

impl Leftover {
    fn of(kind: LeftoverKind, stack: Option<StackRef>, backend: &Backend, listed: &Listed) -> Self {
        let (key, place) = (listed.name.clone(), backend.place(&listed.name));
        let (size, modified) = (listed.meta.size, listed.meta.last_modified);
        Self { kind, stack, key, place, objects: 1, size, modified, detail: None }
    }

    /// Counts one more object.
    fn add(&mut self, listed: &Listed) {
        self.objects += 1;
        self.size = self.size.saturating_add(listed.meta.size);
        self.modified = self.modified.max(listed.meta.last_modified);
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.detail {
            Some(detail) if detail.starts_with(&self.place) => detail.clone(),
            Some(detail) => format!("{}: {detail}", self.place),
            None => self.place.clone(),
        };
        // Names are what other programs chose.
        for c in text.chars() {
            match c.is_control() {
                true => write!(f, "{}", c.escape_default())?,
                false => f.write_char(c)?,
            }
        }
        f.write_str(" (")?;
        if self.objects > 1 {
            write!(f, "{} objects, ", self.objects)?;
        }
        write!(f, "{} bytes", self.size)?;
        if let Some(modified) = self.modified {
            write!(f, ", written {modified}")?;
        }
        f.write_str(")")
    }
}

impl Backend {
    /// What was left in the bucket. No checkpoint, copy or entry is read: there is one list of the stacks, of the locks, of the leases, of
    /// the journals and of the moves each, one for each project that has a history or backups, and one read for each lock. Temporary files in the
    /// histories and backups of stacks that exist are found by [`Stack::leftovers`] only.
    ///
    /// # Errors
    ///
    /// Those of the list of the stacks. What else cannot be listed or read is in [`Leftovers::failed`].
    pub async fn leftovers(&self) -> Result<Leftovers> {
        let mut scan = Scan::of_bucket(self).await?;
        scan.locks(Layout::LOCKS).await;
        scan.leases().await;
        scan.begun(Layout::MARKS, Layout::MARKS, LeftoverKind::UnrecoveredUpdate).await;
        scan.begun(Layout::MOVES, Layout::MOVES, LeftoverKind::UnfinishedMove).await;
        scan.copies_without_stack(Layout::HISTORY, LeftoverKind::HistoryWithoutStack).await;
        scan.copies_without_stack(Layout::BACKUPS, LeftoverKind::CopiesWithoutStack).await;
        Ok(scan.ended())
    }
}

impl Stack {
    /// What was left of this stack, which need not exist. No checkpoint, copy or entry is read: there is one list of its files,
    /// history, backups, locks, journal and move each, and one read for each lock.
    ///
    /// # Errors
    ///
    /// Those of the list of its files. What else cannot be listed or read is in [`Leftovers::failed`].
    pub async fn leftovers(&self) -> Result<Leftovers> {
        let (backend, reference) = (self.backend(), self.checked(Op::List)?);
        let layout = backend.layout();
        let mut scan = Scan::of_stack(backend, reference).await?;
        scan.locks(&layout.locks(reference)).await;
        scan.lease(reference).await;
        scan.begun(Layout::MARKS, &layout.marks(reference), LeftoverKind::UnrecoveredUpdate).await;
        scan.begun(Layout::MOVES, &layout.moved(reference), LeftoverKind::UnfinishedMove).await;
        scan.copies_of(reference, &layout.history(reference), LeftoverKind::HistoryWithoutStack).await;
        scan.copies_of(reference, &layout.backups(reference), LeftoverKind::CopiesWithoutStack).await;
        Ok(scan.ended())
    }
}
