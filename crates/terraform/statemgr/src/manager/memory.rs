//! What a manager remembers: the transient snapshot, what it knows to be stored, and the lock it holds.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_statefile::{File, WriterVersion, encode_equally};
use groundstate_states::{Lineage, State};

use crate::holder::{FencingToken, LockGrant};
use crate::manager::ManagerOptions;
use crate::meta::SnapshotMeta;
use crate::store::{Expect, Version};

pub(super) struct Memory {
    /// The transient snapshot.
    pub(super) state: Option<State>,
    /// Everything that a file has around its state; the state in it is empty.
    pub(super) frame: File,
    /// Counts changes of the transient snapshot.
    pub(super) writes: u64,
    /// The count when the snapshot was last the same as the stored one.
    pub(super) clean_at: u64,
    /// Counts imports, so that a persist that was under way does not undo one.
    pub(super) imports: u64,
    /// Lineage and serial come from an import that has not been persisted.
    pub(super) imported: bool,
    /// An import was forced; it stays, as it does in the originals.
    pub(super) force: bool,
    /// What is known of the store.
    pub(super) seen: Seen,
    /// The snapshot that is stored as far as is known: the last one read or written.
    pub(super) reference: Option<Arc<File>>,
    /// A write whose answer has not come.
    pub(super) attempt: Option<Attempt>,
    /// The lock that is held.
    pub(super) grant: Option<LockGrant>,
}

/// What is stored, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Not read yet.
    Never,
    Nothing,
    Version(Version),
}

/// What was sent to the store.
#[derive(Clone)]
pub(super) struct Attempt {
    pub(super) bytes: Bytes,
    pub(super) file: Arc<File>,
    /// The counts of writes and imports when it was made.
    pub(super) at: (u64, u64),
}

impl Seen {
    /// What a write has to expect; nothing is expected to be known before anybody has looked.
    pub(super) fn expect(&self) -> Expect {
        match self {
            Self::Never | Self::Nothing => Expect::Absent,
            Self::Version(version) => Expect::Version(version.clone()),
        }
    }
}

impl Memory {
    pub(super) fn new(options: &ManagerOptions) -> Self {
        Self {
            state: None,
            frame: File::new(options.dialect, Lineage::default()),
            writes: 0,
            clean_at: 0,
            imports: 0,
            imported: false,
            force: false,
            seen: Seen::Never,
            reference: None,
            attempt: None,
            grant: None,
        }
    }

    /// Whether the transient snapshot may differ from what is stored.
    pub(super) fn is_to_be_stored(&self) -> bool {
        self.state.is_some() && (self.imported || self.writes != self.clean_at)
    }

    /// The transient snapshot as a file.
    pub(super) fn file(&self) -> Option<File> {
        let mut file = self.frame.clone();
        file.state = self.state.clone()?;
        Some(file)
    }

    /// The metadata of what is stored; before anything is known, of what was imported.
    pub(super) fn meta(&self) -> SnapshotMeta {
        SnapshotMeta::of(self.reference.as_deref().unwrap_or(&self.frame))
    }

    /// What writes carry while a lock is held.
    pub(super) fn token(&self) -> Option<FencingToken> {
        self.grant.as_ref().and_then(|grant| grant.fence)
    }

    /// Knows nothing but the lock, as if it were new.
    pub(super) fn forget(&mut self, options: &ManagerOptions) {
        let (writes, imports, grant) = (self.writes, self.imports, self.grant.take());
        *self = Self { writes, clean_at: writes, imports, grant, ..Self::new(options) };
    }

    /// Takes over what a refresh found.
    pub(super) fn refreshed(&mut self, file: Option<File>, seen: Seen, options: &ManagerOptions) {
        self.attempt = None;
        self.seen = seen;
        let Some(file) = file else {
            self.reference = None;
            // What was imported waits to be stored, and so does what was written; nothing else outlives the place.
            if !self.imported {
                self.frame = File::new(options.dialect, Lineage::default());
                if self.writes == self.clean_at {
                    self.state = None;
                }
            }
            return;
        };
        self.state = Some(file.state.clone());
        self.clean_at = self.writes;
        self.imported = false;
        self.set_frame(&file);
        self.reference = Some(Arc::new(file));
    }

    /// Takes over what was written, or turned out to have been. The transient snapshot goes on from there, unless an import
    /// has given it another place to be meanwhile.
    pub(super) fn stored(&mut self, attempt: &Attempt, version: Version) {
        self.seen = Seen::Version(version);
        self.reference = Some(Arc::clone(&attempt.file));
        self.attempt = None;
        if self.imports == attempt.at.1 {
            self.set_frame(&attempt.file);
            // What reading has changed or lost is stored that way now, in format 4.
            self.frame.notes.clear();
            self.frame.style.source_version = 4;
        }
        self.unchanged(attempt.at);
    }

    /// What was to be persisted is stored already.
    pub(super) fn unchanged(&mut self, at: (u64, u64)) {
        let (writes, imports) = at;
        if self.imports == imports {
            self.imported = false;
            self.clean_at = writes;
        }
    }

    /// The transient snapshot is to be written as this file is.
    pub(super) fn set_frame(&mut self, file: &File) {
        self.frame = file.clone();
        self.frame.state = State::new();
    }
}

/// Whether storing `file` in place of `stored` would change anything but the serial and the writer.
pub(super) fn says_the_same(file: &File, stored: &File) -> bool {
    file.lineage == stored.lineage && file.extra == stored.extra && encode_equally(&file.state, &stored.state)
}

/// Whether what is stored is the snapshot that was read or written last, whatever its version is called.
pub(super) fn is_same_snapshot(found: &File, reference: &File) -> bool {
    found.serial == reference.serial && says_the_same(found, reference)
}

/// The release to write as.
pub(super) fn writer(options: &ManagerOptions, file: &File) -> Option<WriterVersion> {
    options.writer.clone().or_else(|| file.terraform_version.clone())
}
