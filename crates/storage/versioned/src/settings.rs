//! How documents are stored.

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// The longest root; the rest of a key is for the name and what is put behind it.
const LONGEST_ROOT: usize = 200;

/// How documents are stored. Clients of one store may have different sizes here, but the same root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    root: String,
    inline_limit: usize,
    part_size: usize,
}

impl Default for Settings {
    /// At the top of the container, with contents up to 64 KiB in the records of versions, and others in parts of 4 MiB.
    fn default() -> Self {
        Self { root: String::new(), inline_limit: 64 << 10, part_size: 4 << 20 }
    }
}

impl Settings {
    /// Puts all keys below a folder of the container, such as `states`; at most 200 bytes.
    #[must_use]
    pub fn root(mut self, folder: &str) -> Self {
        self.root = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self
    }

    /// The largest content that becomes a part of its version's record, in bytes. Writing it takes one request less, and lists of
    /// versions may read it. At most 1 MiB.
    #[must_use]
    pub fn with_inline_limit(mut self, bytes: usize) -> Self {
        self.inline_limit = bytes.min(1 << 20);
        self
    }

    /// The size of the parts of a larger content in bytes. An upload has one of them in memory. At least 1.
    #[must_use]
    pub fn with_part_size(mut self, bytes: usize) -> Self {
        self.part_size = bytes.max(1);
        self
    }

    pub(crate) fn inline_limit(&self) -> usize {
        self.inline_limit
    }

    pub(crate) fn part_size(&self) -> usize {
        self.part_size
    }

    /// What all keys begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.root
    }

    pub(crate) fn check(&self, place: &dyn std::fmt::Display) -> Result<()> {
        let invalid = |error: Error| Err(error.next_step("choose another folder"));
        if self.root.len() > LONGEST_ROOT {
            let error = Error::new(ErrorKind::Invalid, Op::Open, place);
            return invalid(error.because("the folder is longer than 200 bytes"));
        }
        match groundstate_blobs::Key::parse(&format!("{}a", self.root)) {
            Ok(_) => Ok(()),
            Err(error) => invalid(Error::of_store(Op::Open, place, error)),
        }
    }
}
