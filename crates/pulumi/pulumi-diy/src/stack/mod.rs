//! A handle to a stack.

mod checkpoint;
mod copies;
mod history;
mod tags;
mod writer;

use std::fmt;

use groundstate_blobs::Key;

pub use checkpoint::{Checkpoint, Selection, Variant};
pub(crate) use copies::time_of;
pub use copies::{CopySource, StateCopy};
pub use history::{History, HistoryEntry, Recorded, Update};
pub use tags::Tags;
pub use writer::{Saved, Writer};

use crate::{Backend, Compression, Error, ErrorKind, Layout, Op, Result, StackRef};

/// A stack of a backend, which need not exist. Making one asks nothing of the store.
#[derive(Clone, Debug)]
pub struct Stack {
    backend: Backend,
    reference: StackRef,
}

impl Stack {
    pub(crate) fn new(backend: Backend, reference: StackRef) -> Self {
        Self { backend, reference }
    }

    /// The bucket it is in.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The project and the name of the stack.
    pub fn reference(&self) -> &StackRef {
        &self.reference
    }

    /// The key of its checkpoint in a compression.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`] if its name has a project and the layout has none, or the other way round.
    pub fn checkpoint_key(&self, op: Op, compression: Compression) -> Result<Key> {
        let base = self.backend.layout().checkpoint(self.checked(op)?);
        self.backend.key(op, &format!("{base}{}", compression.ending()))
    }

    /// Its name, where it is one of this layout.
    pub(crate) fn checked(&self, op: Op) -> Result<&StackRef> {
        let why = match (self.backend.layout(), self.reference.project()) {
            (Layout::Legacy, Some(_)) => "the bucket has no projects, so the name of a stack has none",
            (Layout::Projects, None) => "the bucket has projects, so the name of a stack has one",
            _ => return Ok(&self.reference),
        };
        Err(self.failed(ErrorKind::Invalid, op).because(why))
    }

    /// An error about this stack.
    pub(crate) fn failed(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self)
    }
}

impl fmt::Display for Stack {
    /// The stack and its bucket, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stack {} in {}", self.reference, self.backend)
    }
}
